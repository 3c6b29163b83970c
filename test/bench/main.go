// Command bench measures what Skarv costs beside a direct connection and beside haproxy as a plain TCP relay: all three
// in front of the same database server, over TCP, in turn (A B C A B C ...), with sysbench. It prints the tables of
// docs/performance.md. Figures compare only within one run.
//
//	make bench
//	go run ./test/bench --workloads oltp_point_select --threads 16 --rounds 5 --seconds 5
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	skarv     string
	workloads []string
	threads   []string
	modes     []string
	rounds    int
	seconds   int
	rows      int
}

func run(ctx context.Context) error {
	var o options
	var workloads, threads, modes string
	flag.StringVar(&o.skarv, "skarv", "bin/skarv", "the binary measured")
	flag.StringVar(&workloads, "workloads", "oltp_point_select", "sysbench workloads, separated by commas")
	flag.StringVar(&threads, "threads", "1,16,64", "client threads")
	flag.StringVar(&modes, "ps-modes", "disable,auto", "disable: text protocol, auto: prepared statements")
	flag.IntVar(&o.rounds, "rounds", 5, "runs of each; with 5 or more the best and the worst are dropped")
	flag.IntVar(&o.seconds, "seconds", 5, "length of a run")
	flag.IntVar(&o.rows, "rows", 10000, "rows of the table")
	flag.Parse()
	o.workloads, o.threads, o.modes = strings.Split(workloads, ","), strings.Split(threads, ","), strings.Split(modes, ",")
	for _, tool := range []string{"sysbench", "haproxy", "mariadb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is needed: apt-get install sysbench haproxy mariadb-client-core", tool)
		}
	}
	dir, err := os.MkdirTemp("", "skarv-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	dev, devProcess, err := startDev(ctx, o.skarv, dir)
	if err != nil {
		return err
	}
	defer stopProcess(devProcess)
	server := dev.NodeGroups[0]
	if err := client(ctx, "--socket="+server.Socket, "--user=root", "-e",
		"CREATE USER bench@'127.0.0.1' IDENTIFIED BY 'bench'; GRANT ALL ON *.* TO bench@'127.0.0.1' WITH GRANT OPTION"); err != nil {
		return err
	}
	haproxyAddr, haproxy, err := startHaproxy(ctx, dir, server.Addr)
	if err != nil {
		return err
	}
	defer stopProcess(haproxy)
	skarvAddr, skarv, err := startServe(ctx, o.skarv, dir, dev.Etcd, server.Addr)
	if err != nil {
		return err
	}
	defer stopProcess(skarv)

	targets := []target{
		{"direct", server.Addr, "bench", 0},
		{"haproxy (TCP)", haproxyAddr, "bench", haproxy.Process.Pid},
		{"skarv", skarvAddr, "bench", skarv.Process.Pid},
	}
	if err := client(ctx, append(address(skarvAddr), "--user=bench", "--password=bench", "-e", "CREATE DATABASE sbtest")...); err != nil {
		return err
	}
	if _, err := sysbench(ctx, o, targets[2], "oltp_read_write", "prepare", "auto", "4"); err != nil {
		return err
	}
	fmt.Printf("`go run ./test/bench --workloads %s --threads %s --ps-modes %s --rounds %d --seconds %d`, %s, %s\n\n",
		workloads, threads, modes, o.rounds, o.seconds, dev.ServerVersion, time.Now().Format(time.DateOnly))
	fmt.Println("| workload | protocol | threads | through | queries/s | latency ms (avg) | proxy CPU us/query | ratio to haproxy |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, w := range o.workloads {
		for _, m := range o.modes {
			for _, n := range o.threads {
				if err := measure(ctx, o, targets, w, m, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// target is one way to the server.
type target struct {
	name, addr, user string
	pid              int // of the proxy process; 0: none
}

// result is one run.
type result struct{ qps, latency, cpu float64 }

func measure(ctx context.Context, o options, targets []target, workload, mode, threads string) error {
	results := make([][]result, len(targets))
	for range o.rounds {
		for i, t := range targets {
			before, err := cpuTime(t.pid)
			if err != nil {
				return err
			}
			out, err := sysbench(ctx, o, t, workload, "run", mode, threads)
			if err != nil {
				return err
			}
			after, err := cpuTime(t.pid)
			if err != nil {
				return err
			}
			queries := number(out, `queries:\s+(\d+)`)
			if queries == 0 {
				return fmt.Errorf("sysbench reported no queries:\n%s", out)
			}
			results[i] = append(results[i], result{
				qps: queries / float64(o.seconds), latency: number(out, `avg:\s+([0-9.]+)`),
				cpu: float64((after - before).Microseconds()) / queries,
			})
		}
	}
	protocol := map[string]string{"disable": "text", "auto": "prepared"}[mode]
	base := median(results[1], func(r result) float64 { return r.cpu })
	for i, t := range targets {
		cpu, ratio := "", ""
		if t.pid != 0 {
			c := median(results[i], func(r result) float64 { return r.cpu })
			cpu, ratio = fmt.Sprintf("%.1f", c), fmt.Sprintf("%.2f", c/base)
		}
		fmt.Printf("| %s | %s | %s | %s | %.0f | %.2f | %s | %s |\n", workload, protocol, threads, t.name,
			median(results[i], func(r result) float64 { return r.qps }),
			median(results[i], func(r result) float64 { return r.latency }), cpu, ratio)
	}
	return nil
}

// median is that of the results, without the best and the worst where there are five or more.
func median(rs []result, of func(result) float64) float64 {
	v := make([]float64, len(rs))
	for i, r := range rs {
		v[i] = of(r)
	}
	slices.Sort(v)
	if len(v) >= 5 {
		v = v[1 : len(v)-1]
	}
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}

func sysbench(ctx context.Context, o options, t target, workload, verb, mode, threads string) (string, error) {
	host, port, err := net.SplitHostPort(t.addr)
	if err != nil {
		return "", err
	}
	args := []string{
		workload, "--db-driver=mysql", "--mysql-host=" + host, "--mysql-port=" + port, "--mysql-user=" + t.user, "--mysql-password=bench",
		"--mysql-db=sbtest", "--mysql-ssl=off", "--tables=1", fmt.Sprintf("--table-size=%d", o.rows),
		"--threads=" + threads, "--db-ps-mode=" + mode, fmt.Sprintf("--time=%d", o.seconds), "--mysql-ignore-errors=1062,1213,1205", verb,
	}
	if verb == "prepare" {
		args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, "--threads=") })
	}
	out, err := exec.CommandContext(ctx, "sysbench", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("sysbench %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

func number(text, pattern string) float64 {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// cpuTime is user and system time of a process.
func cpuTime(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux architecture Go runs on
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// cluster is what `skarv dev --json` prints.
type cluster struct {
	Etcd          string `json:"etcd"`
	ServerVersion string `json:"server_version"`
	NodeGroups    []struct {
		Addr   string `json:"addr"`
		Socket string `json:"socket"`
	} `json:"node_groups"`
}

// startDev starts a cluster of one node group for its database server and its etcd, and waits until it is ready.
func startDev(ctx context.Context, binary, dir string) (c cluster, cmd *exec.Cmd, err error) {
	cmd = exec.CommandContext(ctx, binary, "dev", "--json", "--node-groups=1", "--data-dir="+filepath.Join(dir, "dev"),
		"--mysql-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, nil, err
	}
	if err := cmd.Start(); err != nil {
		return c, nil, err
	}
	if err := json.NewDecoder(out).Decode(&c); err != nil {
		stopProcess(cmd)
		return c, nil, fmt.Errorf("skarv dev: %w", err)
	}
	return c, cmd, nil
}

const skarvConfig = `
mysql: {addr: %q}
http: {addr: ""}
admin: {addr: %q}
etcd: {endpoints: [%q], prefix: /bench/}
`

// startServe starts the process measured, `skarv serve` with one bare server as its node group, and waits until it
// serves.
func startServe(ctx context.Context, binary, dir, etcd, server string) (addr string, cmd *exec.Cmd, err error) {
	addr, err = freeAddr()
	if err != nil {
		return "", nil, err
	}
	admin, err := freeAddr()
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, "skarv.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, skarvConfig, addr, admin, etcd), 0o600); err != nil {
		return "", nil, err
	}
	cmd = exec.CommandContext(ctx, binary, "serve", "--config", file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	if err := waitFor(admin); err != nil {
		stopProcess(cmd)
		return "", nil, err
	}
	ctl := filepath.Join(filepath.Dir(binary), "skarvctl")
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte("bench\n"), 0o600); err != nil {
		stopProcess(cmd)
		return "", nil, err
	}
	for _, args := range [][]string{
		{"cluster", "init", "--node-group", "one=" + server, "--user", "bench", "--password-file", password},
		{"user", "add", "bench", "--password-file", password, "--plugin", "mysql_native_password", "--grant", "*:admin"},
	} {
		out, err := exec.CommandContext(ctx, ctl, append([]string{"--addr", admin}, args...)...).CombinedOutput()
		if err != nil {
			stopProcess(cmd)
			return "", nil, fmt.Errorf("skarvctl %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return addr, cmd, waitFor(addr)
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// waitFor waits until something accepts connections at addr.
func waitFor(addr string) error {
	for start := time.Now(); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if time.Since(start) > 10*time.Second {
			return fmt.Errorf("nothing came up: %w", err)
		}
	}
}

const haproxyConfig = `global
  nbthread 1
  maxconn 4096
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen mysql
  bind %s
  server s %s
`

// startHaproxy starts haproxy with one thread in front of server and waits until it accepts.
func startHaproxy(ctx context.Context, dir, server string) (addr string, cmd *exec.Cmd, err error) {
	if addr, err = freeAddr(); err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, haproxyConfig, addr, server), 0o600); err != nil {
		return "", nil, err
	}
	cmd = exec.CommandContext(ctx, "haproxy", "-db", "-f", file)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	if err := waitFor(addr); err != nil {
		stopProcess(cmd)
		return "", nil, err
	}
	return addr, cmd, nil
}

func stopProcess(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

func address(addr string) []string {
	host, port, _ := net.SplitHostPort(addr)
	return []string{"--host=" + host, "--port=" + port}
}

func client(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "mariadb", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mariadb %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}
