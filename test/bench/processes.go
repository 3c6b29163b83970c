package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"skarv/pkg/datanode"
	"skarv/pkg/mysqlconn"
)

// bench is what one run has started.
type bench struct {
	options
	dir    string
	report *report

	files    int // how many files a process may open
	started  []*exec.Cmd
	profiled chan error
	prepared bool // the tables of sysbench

	one  cluster // of one node group: the server everything is compared on
	four cluster // started by the sections that need it

	direct, haproxy, skarv target
	against                *target // a second skarv, nil if there is none
	scattered              target  // a proxy of four
}

// target is one way to the server.
type target struct {
	name, addr, user, password string
	db                         string // its own, so that writes of one do not get in the others' way
	http                       string // of skarv
	pid                        int    // of the proxy process; 0: none
}

// raiseFileLimit allows this process and those it starts as many open files as idle connections need.
func (b *bench) raiseFileLimit() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	want := uint64(b.idle + 2000)
	if l.Max < want {
		raised := syscall.Rlimit{Cur: want, Max: want}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil { // only root may
			l = raised
		}
	}
	l.Cur = l.Max
	b.files = int(min(l.Max, 1<<20))
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l) // also makes children inherit it
}

// start brings up what all sections need.
func (b *bench) start(ctx context.Context) error {
	var err error
	if b.one, err = b.startDev(ctx, 1); err != nil {
		return err
	}
	server := b.one.NodeGroups[0]
	b.report.machine(b.one.ServerVersion)
	if err := execute(ctx, target{addr: "unix:" + server.Socket, user: "root"},
		"CREATE USER bench@'127.0.0.1' IDENTIFIED BY 'bench'", "GRANT ALL ON *.* TO bench@'127.0.0.1'",
		"CREATE DATABASE bench_direct", "CREATE DATABASE bench_haproxy"); err != nil {
		return err
	}
	b.direct = target{name: "direct", addr: server.Addr, user: "bench", password: "bench", db: "bench_direct"}
	b.haproxy = target{name: "haproxy (TCP)", user: "bench", password: "bench", db: "bench_haproxy"}
	if b.haproxy.addr, b.haproxy.pid, err = b.startHaproxy(ctx, server.Addr); err != nil {
		return err
	}
	if b.skarv, err = b.startServe(ctx, b.options.skarv, "skarv", b.base, b.one); err != nil {
		return err
	}
	switch {
	case b.options.against != "":
		t, err := b.startServe(ctx, b.options.against, "against", b.loops, b.one)
		if err != nil {
			return err
		}
		b.against = &t
	case b.loops != b.base:
		t, err := b.startServe(ctx, b.options.skarv, "loops", b.loops, b.one)
		if err != nil {
			return err
		}
		t.name = fmt.Sprint("skarv, mysql.loops: ", b.loops)
		b.against = &t
	}
	for _, t := range b.proxies() {
		if t.user == "root" {
			if err := execute(ctx, t, "CREATE DATABASE "+t.db); err != nil {
				return err
			}
		}
	}
	if b.profile != "" {
		b.startProfile(ctx)
	}
	return nil
}

// targets is everything that is measured in turn.
func (b *bench) targets() []target { return append([]target{b.direct}, b.proxies()...) }

func (b *bench) proxies() []target {
	t := []target{b.haproxy, b.skarv}
	if b.against != nil {
		t = append(t, *b.against)
	}
	return t
}

func (b *bench) run(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	b.started = append(b.started, cmd)
	return nil
}

// stop ends every process, the last one started first.
func (b *bench) stop() {
	for i := len(b.started) - 1; i >= 0; i-- {
		cmd := b.started[i]
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
}

func (b *bench) log(name string) (*os.File, error) {
	return os.Create(filepath.Join(b.dir, name+".log"))
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

// startDev starts a cluster for its database servers and its etcd, and waits until it is ready.
func (b *bench) startDev(ctx context.Context, groups int) (c cluster, err error) {
	name := fmt.Sprintf("dev%d", groups)
	cmd := exec.Command(b.options.skarv, "dev", "--json", "--engine=mariadb", fmt.Sprintf("--node-groups=%d", groups), "--tcp-backends",
		"--data-dir="+filepath.Join(b.dir, name), "--mysql-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
	log, err := b.log(name)
	if err != nil {
		return c, err
	}
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return c, err
	}
	if err := b.run(cmd); err != nil {
		return c, err
	}
	ready := make(chan error, 1)
	go func() { ready <- json.NewDecoder(out).Decode(&c) }() // ends with the process at the latest
	select {
	case err = <-ready:
	case <-time.After(2 * time.Minute):
		err = fmt.Errorf("not ready after two minutes")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		return c, fmt.Errorf("skarv dev: %w\n%s", err, text)
	}
	return c, nil
}

const skarvConfig = `
roles: [proxy]
mysql: {addr: %q, max_connections: 100000, loops: %d}
http: {addr: %q}
admin: {addr: %q}
etcd: {endpoints: [%q]}
`

// startServe starts a process to measure: one more proxy of the cluster.
func (b *bench) startServe(ctx context.Context, binary, name string, loops int, of cluster) (t target, err error) {
	t = target{name: name, user: "root", db: "bench_" + name}
	var admin string
	for _, addr := range []*string{&t.addr, &t.http, &admin} {
		if *addr, err = freeAddr(); err != nil {
			return t, err
		}
	}
	file := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, skarvConfig, t.addr, loops, t.http, admin, of.Etcd), 0o600); err != nil {
		return t, err
	}
	cmd := exec.Command(binary, "serve", "--config", file)
	log, err := b.log(name)
	if err != nil {
		return t, err
	}
	cmd.Stderr = log
	if err := b.run(cmd); err != nil {
		return t, err
	}
	t.pid = cmd.Process.Pid
	if err := waitFor(ctx, func() error { return execute(ctx, t, "SELECT 1") }); err != nil {
		text, _ := os.ReadFile(log.Name())
		return t, fmt.Errorf("skarv serve: %w\n%s", err, text)
	}
	return t, nil
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

// startHaproxy starts haproxy with one thread in front of server.
func (b *bench) startHaproxy(ctx context.Context, server string) (addr string, pid int, err error) {
	if addr, err = freeAddr(); err != nil {
		return "", 0, err
	}
	file := filepath.Join(b.dir, "haproxy.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, haproxyConfig, addr, server), 0o600); err != nil {
		return "", 0, err
	}
	cmd := exec.Command("haproxy", "-db", "-f", file)
	if cmd.Stderr, err = b.log("haproxy"); err != nil {
		return "", 0, err
	}
	if err := b.run(cmd); err != nil {
		return "", 0, err
	}
	t := target{addr: addr, user: "bench", password: "bench"}
	return addr, cmd.Process.Pid, waitFor(ctx, func() error { return execute(ctx, t, "SELECT 1") })
}

func freeAddr() (string, error) {
	port, err := datanode.FreePort("127.0.0.1")
	return fmt.Sprintf("127.0.0.1:%d", port), err
}

// waitFor repeats f until it succeeds.
func waitFor(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing came up: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// dial logs in to t.
func dial(ctx context.Context, t target) (*mysqlconn.Conn, error) {
	return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: t.addr, User: t.user, Password: t.password})
}

// execute runs statements on a connection of their own.
func execute(ctx context.Context, t target, statements ...string) error {
	c, err := dial(ctx, t)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	for _, s := range statements {
		if _, err := c.Exec(s); err != nil {
			return fmt.Errorf("%.60s: %w", s, err)
		}
	}
	return nil
}
