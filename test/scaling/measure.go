package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/test/slowcluster"
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

// lab is a cluster with relays before its servers, and a proxy of it.
type lab struct {
	*slowcluster.Cluster
	proxy slowcluster.Proxy
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
	defer func() { err = errors.Join(err, l.Close()) }()
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
		l.Slow(relayService)
		if r.Peak, err = l.closed(ctx, 32*n, length, mix); err != nil {
			return err
		}
		capacity := relayWorkers / relayService.Seconds()
		r.Offered = 0.6 * capacity / ((1-mix.Scatter-mix.Copies)/float64(n) + mix.Scatter + mix.Copies)
		if r.One, r.All, err = l.open(ctx, r.Offered, 2*length, mix); err != nil {
			return err
		}
		l.Slow(0)
		fmt.Printf("%+v\n", r)
		m.Runs = append(m.Runs, r)
	}
	return nil
}

// services measures the work of statements, in processor time of the processes.
func (m *measured) services(ctx context.Context, l *lab, length time.Duration) error {
	n := len(l.Keys)
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
			return transfer(l.Keys[0][r.IntN(len(l.Keys[0]))], l.Keys[0][r.IntN(len(l.Keys[0]))])
		})
	case 2:
		var both, proxy float64
		both, proxy, err = cost(func(r *rand.Rand) []string {
			return transfer(l.Keys[0][r.IntN(len(l.Keys[0]))], l.Keys[1][r.IntN(len(l.Keys[1]))])
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
	conns, err := l.connect(ctx, 100*len(l.Keys))
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
		if _, err := c.Exec(q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func (l *lab) connect(ctx context.Context, n int) (conns []*mysqlconn.Conn, err error) {
	for range n {
		c, err := mysqlconn.Dial(ctx, mysqlconn.Config{Addr: l.proxy.Addr, User: "root", DB: "s"})
		if err != nil {
			return nil, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// cpu is the processor time, in seconds, of the servers and of the proxy.
func (l *lab) cpu() (servers, proxy float64) {
	for g := range l.Keys {
		servers += processTime(l.Node(g + 1).Status().Pid)
	}
	return servers, processTime(l.proxy.Pid)
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

func openLab(ctx context.Context, skarv string, n int) (l *lab, err error) {
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
	l = &lab{}
	l.Cluster, err = slowcluster.Open(ctx, slowcluster.Config{
		NodeGroups: n, Skarv: skarv, Relay: slowrelay.Config{Workers: relayWorkers, Exponential: true, Marks: []string{"FROM t WHERE", "UPDATE r SET"}},
		MaxConnections: 600, Statements: statements, Database: "s", Table: "u",
	})
	if err != nil {
		return nil, err
	}
	if l.proxy, err = l.Serve(ctx, "backend: {acquire_timeout: 1m}\n"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func readMeasured(path string) (m measured, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}
