package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/topology"
	"skarv/test/cluster"
	"skarv/test/slowrelay"
)

// measured is what a run of --measure found, kept in testdata/measured.json: the document is made from it.
type measured struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Service service  `json:"service"`
	Runs    []result `json:"runs"`
}

// result is one workload on a cluster whose node groups have a known capacity.
type result struct {
	Groups   int     `json:"groups"`
	Scatter  float64 `json:"scatter"` // shares, as in mix
	Copies   float64 `json:"copies"`
	Peak     float64 `json:"peak"`      // statements a second
	Offered  float64 `json:"offered"`   // for the latencies
	One      float64 `json:"one_ms"`    // mean latency of statements of one group
	All      float64 `json:"all_ms"`    // of those of all groups
	Overhead float64 `json:"direct_ms"` // of a statement that waits for nothing
}

// What the relays make of every server: a station with workers, and exponential service times.
const (
	relayWorkers = 4
	relayService = 20 * time.Millisecond
	rowCount     = 4000
)

func measuredMixes() []mix {
	return []mix{{name: "points"}, {name: "scatter", Scatter: 0.05}, {name: "copies", Copies: 0.05}}
}

// lab is a cluster with relays before its servers, and a proxy in a process of its own.
type lab struct {
	dir     string
	cluster *cluster.Cluster
	relays  []*slowrelay.Relay
	proxy   *exec.Cmd
	addr    string
	keys    [][]int // of each group
}

func measure(ctx context.Context, skarv string, length time.Duration) (measured, error) {
	m := measured{Date: time.Now().Format(time.DateOnly), Machine: fmt.Sprintf("%d processors, %s", runtime.NumCPU(), runtime.Version())}
	for _, n := range []int{1, 2, 4, 8} {
		if err := m.at(ctx, skarv, n, length); err != nil {
			return m, fmt.Errorf("%d groups: %w", n, err)
		}
	}
	return m, nil
}

func (m *measured) at(ctx context.Context, skarv string, n int, length time.Duration) (err error) {
	l, err := openLab(ctx, skarv, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if err := m.services(ctx, l, length); err != nil {
		return err
	}
	for _, mix := range measuredMixes() {
		if mix.Copies > 0 && n == 1 {
			continue // no different
		}
		r := result{Groups: n, Scatter: mix.Scatter, Copies: mix.Copies}
		idle, err := l.closed(ctx, 1, length/4, mix)
		if err != nil {
			return err
		}
		r.Overhead = 1000 / idle
		l.slow(relayService)
		if r.Peak, err = l.closed(ctx, 32*n, length, mix); err != nil {
			return err
		}
		capacity := relayWorkers / relayService.Seconds()
		r.Offered = 0.6 * capacity / ((1-mix.Scatter-mix.Copies)/float64(n) + mix.Scatter + mix.Copies)
		if r.One, r.All, err = l.open(ctx, r.Offered, 2*length, mix); err != nil {
			return err
		}
		l.slow(0)
		fmt.Printf("%+v\n", r)
		m.Runs = append(m.Runs, r)
	}
	return nil
}

// services measures the work of statements, in processor time of the processes.
func (m *measured) services(ctx context.Context, l *lab, length time.Duration) error {
	n := len(l.keys)
	cost := func(op func(*rand.Rand) []string) (servers, proxy float64, err error) {
		s0, p0 := l.cpu()
		perSecond, err := l.loop(ctx, 4, length, op)
		s1, p1 := l.cpu()
		count := perSecond * length.Seconds()
		return (s1 - s0) / count * 1e6, (p1 - p0) / count * 1e6, err
	}
	var err error
	switch n {
	case 1:
		if m.Service.Point, m.Service.Proxy, err = cost(func(r *rand.Rand) []string { return l.point(r) }); err != nil {
			return err
		}
		m.Service.Write, _, err = cost(func(r *rand.Rand) []string {
			return transfer(l.keys[0][r.IntN(len(l.keys[0]))], l.keys[0][r.IntN(len(l.keys[0]))])
		})
	case 2:
		var both, proxy float64
		both, proxy, err = cost(func(r *rand.Rand) []string {
			return transfer(l.keys[0][r.IntN(len(l.keys[0]))], l.keys[1][r.IntN(len(l.keys[1]))])
		})
		m.Service.CrossPart, m.Service.Commit = both/2, proxy
	case 4:
		var all, proxy float64
		if _, proxy, err = cost(func(*rand.Rand) []string { return []string{scatterSQL} }); err != nil {
			return err
		}
		m.Service.Fragment = (proxy - m.Service.Proxy) / float64(n)
		all, _, err = cost(func(r *rand.Rand) []string { return copies(r) })
		m.Service.CopyPart = all / float64(n)
	}
	return err
}

const scatterSQL = "SELECT id FROM t WHERE v > 'x' ORDER BY id LIMIT 10"

func (l *lab) point(r *rand.Rand) []string {
	return []string{fmt.Sprintf("SELECT v FROM t WHERE id = %d", r.IntN(rowCount))}
}

func copies(r *rand.Rand) []string {
	return []string{fmt.Sprintf("UPDATE r SET n = n + 1 WHERE id = %d", r.IntN(1000))}
}

func transfer(a, b int) []string {
	a, b = min(a, b), max(a, b) // in one order, so that no two wait for each other
	return []string{"BEGIN", fmt.Sprintf("UPDATE u SET n = n - 1 WHERE id = %d", a), fmt.Sprintf("UPDATE u SET n = n + 1 WHERE id = %d", b), "COMMIT"}
}

// statement draws one of a mix.
func (l *lab) statement(r *rand.Rand, m mix) (op []string, all bool) {
	switch x := r.Float64(); {
	case x < m.Scatter:
		return []string{scatterSQL}, true
	case x < m.Scatter+m.Copies:
		return copies(r), true
	}
	return l.point(r), false
}

func (l *lab) closed(ctx context.Context, sessions int, length time.Duration, m mix) (perSecond float64, err error) {
	return l.loop(ctx, sessions, length, func(r *rand.Rand) []string { op, _ := l.statement(r, m); return op })
}

// loop has sessions send the next statement when they have the answer to the last.
func (l *lab) loop(ctx context.Context, sessions int, length time.Duration, op func(*rand.Rand) []string) (perSecond float64, err error) {
	conns, err := l.connect(ctx, sessions)
	if err != nil {
		return 0, err
	}
	var done atomic.Int64
	var g errgroup.Group
	for i, c := range conns {
		g.Go(func() error {
			defer c.Close()
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; done.Add(1) {
				if err := execute(c, op(r)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = g.Wait()
	return float64(done.Load()) / length.Seconds(), err
}

// open sends statements at random times, and returns the mean latency, in milliseconds, of those of one group and of all.
func (l *lab) open(ctx context.Context, perSecond float64, length time.Duration, m mix) (one, all float64, err error) {
	conns, err := l.connect(ctx, 100*len(l.keys))
	if err != nil {
		return 0, 0, err
	}
	free := make(chan *mysqlconn.Conn, len(conns))
	for _, c := range conns {
		defer c.Close()
		free <- c
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var sums [2]time.Duration
	var counts [2]int
	var failed error
	r := rand.New(rand.NewPCG(3, 4))
	began := time.Now()
	for at := time.Duration(0); at < length && ctx.Err() == nil; at += time.Duration(r.ExpFloat64() / perSecond * 1e9) {
		if wait := at - time.Since(began); wait > 0 {
			time.Sleep(wait)
		}
		op, wide := l.statement(r, m)
		c := <-free
		wg.Go(func() {
			sent := time.Now()
			err := execute(c, op)
			mu.Lock()
			defer mu.Unlock()
			k := 0
			if wide {
				k = 1
			}
			sums[k] += time.Since(sent)
			counts[k]++
			failed = errors.Join(failed, err)
			free <- c
		})
	}
	wg.Wait()
	mean := func(k int) float64 { return sums[k].Seconds() * 1000 / float64(max(1, counts[k])) }
	return mean(0), mean(1), failed
}

func execute(c *mysqlconn.Conn, op []string) error {
	for _, q := range op {
		if _, _, err := c.QueryAll(q, 100); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func (l *lab) connect(ctx context.Context, n int) (conns []*mysqlconn.Conn, err error) {
	for range n {
		c, err := mysqlconn.Dial(ctx, mysqlconn.Config{Addr: l.addr, User: "root", DB: "s"})
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// cpu is the processor time, in seconds, of the servers and of the proxy.
func (l *lab) cpu() (servers, proxy float64) {
	for g := range l.keys {
		servers += processTime(l.cluster.Node(g + 1).Status().Pid)
	}
	return servers, processTime(l.proxy.Process.Pid)
}

// processTime is user and system time from /proc, which counts in hundredths of a second.
func processTime(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(user+system) / 100
}

func (l *lab) slow(d time.Duration) {
	for _, r := range l.relays {
		r.SetService(d)
	}
}

func openLab(ctx context.Context, skarv string, n int) (l *lab, err error) {
	l = &lab{keys: make([][]int, n)}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	if l.dir, err = os.MkdirTemp("", "skarv-scaling-"); err != nil {
		return l, err
	}
	l.cluster, err = cluster.Open(dev.Config{
		NodeGroups: n, Engine: datanode.MariaDB, DataDir: filepath.Join(l.dir, "dev"), Version: "scaling", TCPBackends: true,
		MySQLAddr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", Variables: map[string]string{"max_connections": "600"},
	})
	if err != nil {
		return l, err
	}
	if err := l.fill(ctx); err != nil {
		return l, err
	}
	if err := l.interpose(ctx); err != nil {
		return l, err
	}
	return l, l.serve(ctx, skarv)
}

func (l *lab) fill(ctx context.Context) error {
	db, err := sql.Open("mysql", l.cluster.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	statements := []string{
		"CREATE DATABASE s", "CREATE TABLE s.t (id INT PRIMARY KEY, v VARCHAR(40), KEY (v))", "CREATE TABLE s.u (id INT PRIMARY KEY, n INT)",
		"CREATE TABLE s.r (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference'",
	}
	for from := 0; from < rowCount; from += 500 {
		var t, u []string
		for id := from; id < from+500; id++ {
			t, u = append(t, fmt.Sprintf("(%d,'value %d')", id, id)), append(u, fmt.Sprintf("(%d,0)", id))
		}
		statements = append(statements, "INSERT INTO s.t VALUES "+strings.Join(t, ","), "INSERT INTO s.u VALUES "+strings.Join(u, ","))
		if from < 1000 {
			statements = append(statements, "INSERT INTO s.r VALUES "+strings.Join(u, ","))
		}
	}
	for _, q := range statements {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.60s: %w", q, err)
		}
	}
	for g := range l.keys {
		if err := l.readKeys(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (l *lab) readKeys(ctx context.Context, g int) error {
	db, err := sql.Open("mysql", l.cluster.NodeGroup(g+1, "s"))
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT id FROM u")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		l.keys[g] = append(l.keys[g], id)
	}
	return rows.Err()
}

// interpose puts a relay before every server.
func (l *lab) interpose(ctx context.Context) error {
	store, err := topology.Open(topology.Config{Endpoints: []string{l.cluster.Info().Etcd}})
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	for _, group := range snap.Groups {
		r, err := slowrelay.New(slowrelay.Config{
			To: group.Primary.Addr, Workers: relayWorkers, Exponential: true, Marks: []string{"FROM t WHERE", "UPDATE r SET"},
		})
		if err != nil {
			return err
		}
		l.relays = append(l.relays, r)
		changed, revision, err := store.Group(ctx, group.ID)
		if err != nil {
			return err
		}
		changed.Primary.Addr = r.Addr()
		if _, err := store.Change(nil).PutGroup(changed, revision).Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the proxy that is measured.
func (l *lab) serve(ctx context.Context, skarv string) error {
	var listeners [3]net.Listener
	for i := range listeners {
		var err error
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	for _, free := range listeners {
		_ = free.Close()
	}
	l.addr = listeners[0].Addr().String()
	config := fmt.Sprintf("roles: [proxy]\nmysql: {addr: %q}\nhttp: {addr: %q}\nadmin: {addr: %q}\netcd: {endpoints: [%q]}\nbackend: {acquire_timeout: 1m}\n",
		l.addr, listeners[1].Addr(), listeners[2].Addr(), l.cluster.Info().Etcd)
	file := filepath.Join(l.dir, "skarv.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(l.dir, "skarv.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(skarv, "serve", "--config", file)
	cmd.Stderr, cmd.SysProcAttr = log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.proxy = cmd
	for deadline := time.Now().Add(time.Minute); ; {
		conns, err := l.connect(ctx, 1)
		if err == nil {
			return conns[0].Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("skarv serve: %w\n%s", err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *lab) close() (err error) {
	if l.proxy != nil {
		_ = l.proxy.Process.Signal(syscall.SIGTERM)
		_ = l.proxy.Wait()
	}
	for _, r := range l.relays {
		r.Close()
	}
	if l.cluster != nil {
		err = l.cluster.Stop()
	}
	if l.dir != "" {
		_ = os.RemoveAll(l.dir)
	}
	return err
}

func readMeasured(path string) (m measured, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}
