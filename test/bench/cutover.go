package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

const (
	cutoverRows       = 20_000
	cutoverPartitions = 384 // that move: a tenth
	cutoverClients    = 4   // on moving partitions, and as many on others
	cutoverEvery      = 5 * time.Millisecond
	cutoverAround     = time.Second // of which a cutover is the middle
)

// asked is a statement of a client: when it was due, and how long after that its answer was there. A statement that had to wait for
// the one before it is late by that, too, as it would be for an application.
type asked struct {
	due  time.Time
	took time.Duration
}

// visitors are the clients that use some rows.
type visitors struct {
	name   string
	ids    []int
	asked  [cutoverClients][]asked
	errors [cutoverClients]int // statements that were told to try again
}

// cutovers measures how long statements take while partitions move to and fro, from where clients are.
func (b *bench) cutovers(ctx context.Context) error {
	dev, err := b.startDev(ctx, 2)
	if err != nil {
		return err
	}
	b.report.machine(dev.ServerVersion)
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		b.report.text("Load average before: %s.", strings.Join(strings.Fields(string(load))[:3], ", "))
	}
	proxy, err := b.startServe(ctx, b.options.skarv, "cutover", 0, dev)
	if err != nil {
		return err
	}
	store, err := topology.Open(topology.Config{Endpoints: []string{dev.Etcd}})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := fillCutover(ctx, proxy); err != nil {
		return err
	}
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	home := snap.Map.Owner(placement.PartitionOf([]byte("1")))
	set := placement.SetOf(snap.Map.Owned(home)[:cutoverPartitions]...)
	moving, others := &visitors{name: "moving partitions"}, &visitors{name: "other partitions"}
	for id := range cutoverRows {
		v := others
		if set.Has(placement.PartitionOf(fmt.Append(nil, id))) {
			v = moving
		}
		v.ids = append(v.ids, id)
	}

	working, stop := context.WithCancel(ctx)
	defer stop()
	g, working := errgroup.WithContext(working)
	for _, v := range []*visitors{moving, others} {
		for i := range cutoverClients {
			g.Go(func() error { return v.client(working, proxy, i) })
		}
	}
	var done []*reorg.Record
	var rest, end time.Time
	g.Go(func() error {
		defer stop()
		if err := pause.For(working, 2*time.Second); err != nil { // connections are made
			return err
		}
		rest = time.Now()
		if err := pause.For(working, 10*time.Second); err != nil {
			return err
		}
		end = time.Now()
		for i := range b.cutoverCount {
			to := home
			if i%2 == 0 {
				to = 3 - home
			}
			r, err := reorganise(working, store, reorg.Request{Partitions: set, To: to})
			if err != nil {
				return err
			}
			done = append(done, r)
		}
		return nil
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if len(done) < b.cutoverCount {
		return ctx.Err()
	}
	b.reportCutovers(done, rest, end, moving, others)
	log, err := os.ReadFile(filepath.Join(b.dir, "dev2", "skarv.log"))
	if err != nil {
		return err
	}
	var parts []string
	for _, part := range []string{"freeze", "drain", "recover", "cut", "publish"} {
		var took []float64
		for _, m := range regexp.MustCompile(part+`_ms"?[=:](\d+)`).FindAllStringSubmatch(string(log), -1) {
			ms, _ := strconv.ParseFloat(m[1], 64)
			took = append(took, ms)
		}
		if len(took) > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f (at most %.0f)", part, median(took), slices.Max(took)))
		}
	}
	b.report.text("Its parts, in the median: %s ms. Freezing and publishing are one write to etcd each, draining is one by each process; etcd writes each to "+
		"its disk before it answers.", strings.Join(parts, ", "))
	return nil
}

func fillCutover(ctx context.Context, t target) error {
	statements := []string{"CREATE DATABASE bench_cutover", "CREATE TABLE bench_cutover.t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL)"}
	const batch = 1000
	for first := 0; first < cutoverRows; first += batch {
		var rows []string
		for id := first; id < first+batch; id++ {
			rows = append(rows, fmt.Sprintf("(%d, 0, '%0120d')", id, id))
		}
		statements = append(statements, "INSERT INTO bench_cutover.t VALUES "+strings.Join(rows, ","))
	}
	return execute(ctx, t, statements...)
}

// client reads and writes single rows in turn, one statement every cutoverEvery, until ctx ends.
func (v *visitors) client(ctx context.Context, t target, n int) error {
	c, err := dial(ctx, t)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	due := time.Now()
	for i := 0; ; i++ {
		due = due.Add(cutoverEvery)
		if err := pause.For(ctx, time.Until(due)); err != nil {
			return nil //nolint:nilerr // it is over
		}
		id := v.ids[rand.N(len(v.ids))]
		if i%2 == 0 {
			_, _, err = c.QueryAll(fmt.Sprint("SELECT c FROM bench_cutover.t WHERE id = ", id), 1)
		} else {
			_, err = c.Exec(fmt.Sprint("UPDATE bench_cutover.t SET k = k + 1 WHERE id = ", id))
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case again(err):
			v.errors[n]++
		case err != nil:
			return fmt.Errorf("client of %s: %w", v.name, err)
		}
		v.asked[n] = append(v.asked[n], asked{due, time.Since(due)})
	}
}

// again reports whether a client has to repeat its statement.
func again(err error) bool {
	return !mysqlconn.IsLost(err) && (sqlerr.HasCode(err, sqlerr.LockDeadlock) || sqlerr.HasCode(err, sqlerr.QueryInterrupted) || sqlerr.HasCode(err, sqlerr.LockWaitTimeout))
}

// reorganise carries a reorganisation to its end.
func reorganise(ctx context.Context, store *topology.Store, req reorg.Request) (*reorg.Record, error) {
	snap, err := store.Load(ctx)
	if err != nil {
		return nil, err
	}
	moves, err := reorg.Plan(snap, req)
	if err != nil {
		return nil, err
	}
	r, err := reorg.Create(ctx, store, "bench", moves, 0)
	if err != nil {
		return nil, err
	}
	for {
		if r, err = reorg.Get(ctx, store, r.ID); err != nil {
			return nil, err
		}
		_, running, err := reorg.Current(ctx, store)
		switch {
		case err != nil:
			return nil, err
		case !r.Active() && !running && r.Outcome != reorg.Moved:
			return nil, fmt.Errorf("%s: %s", r.Outcome, r.Problem)
		case !r.Active() && !running:
			return r, nil
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// latencies are those of the statements that which picks.
func (v *visitors) latencies(which func(asked) bool) (all []time.Duration) {
	for i := range v.asked {
		for _, a := range v.asked[i] {
			if which(a) {
				all = append(all, a.took)
			}
		}
	}
	return all
}

func (b *bench) reportCutovers(done []*reorg.Record, rest, end time.Time, moving, others *visitors) {
	attempts, again := 0, 0
	var held []time.Duration
	for _, r := range done {
		attempts += r.Attempts
		held = append(held, r.Pause)
	}
	for i := range cutoverClients {
		again += moving.errors[i] + others.errors[i]
	}
	// A statement belongs to the cutover that it was due nearest to.
	nearest := func(a asked) *reorg.Record {
		i, _ := slices.BinarySearchFunc(done, a.due, func(r *reorg.Record, t time.Time) int { return r.Opened.Compare(t) })
		if i == len(done) || i > 0 && a.due.Sub(done[i-1].Opened) < done[i].Opened.Sub(a.due) {
			i--
		}
		return done[i]
	}
	around := func(a asked) bool {
		r := nearest(a)
		middle := r.Opened.Add(-r.Pause / 2)
		return a.due.Sub(middle).Abs() <= cutoverAround/2
	}
	periods := []struct {
		name  string
		which func(asked) bool
	}{
		{"nothing moves", func(a asked) bool { return a.due.After(rest) && a.due.Before(end) }},
		{"rows are copied, compared, deleted", func(a asked) bool { return a.due.After(done[0].Created) && !around(a) }},
		{"the second around a cutover", around},
		{"under way while partitions are frozen", func(a asked) bool {
			r := nearest(a)
			return a.due.Before(r.Opened) && a.due.Add(a.took).After(r.Opened.Add(-r.Pause))
		}},
	}
	b.report.text("%d moves of %d of 3840 partitions to and fro between two node groups; %d clients on rows of these partitions and as many on rows of "+
		"others, each with a statement every %s, reads and writes of one row in turn, through a process other than the controller's. Milliseconds "+
		"from when a statement was due until its answer was there, so that a client that is held up counts the statements it could not send.",
		len(done), cutoverPartitions, cutoverClients, cutoverEvery)
	b.report.head("statements on", "while", "statements", "median", "99 %", "slowest")
	tails := map[string][]float64{}
	for _, v := range []*visitors{moving, others} {
		for _, p := range periods {
			took := v.latencies(p.which)
			ms := func(share float64) float64 { return float64(percentile(took, share)) / 1e6 }
			tails[v.name] = append(tails[v.name], ms(0.99))
			if len(took) == 0 {
				continue // of a move that takes less than a second, all is around its cutover
			}
			b.report.row(v.name, p.name, fmt.Sprint(len(took)), fmt.Sprintf("%.1f", ms(0.5)), fmt.Sprintf("%.1f", ms(0.99)), fmt.Sprintf("%.1f", ms(1)))
		}
	}
	b.report.end()
	b.report.text("The controller held the partitions for %.0f ms in the median and %.0f ms at most; %d cutovers took %d attempts; %d statements were told to try again.",
		float64(percentile(held, 0.5))/1e6, float64(percentile(held, 1))/1e6, len(done), attempts, again)
	m, o := tails[moving.name], tails[others.name]
	b.report.goal("99 % of statements on moving partitions, in the second around a cutover", "under 100 ms beside the normal", "%.1f ms; %.1f ms when nothing moves; %.1f ms of those under way while partitions are frozen", m[2], m[0], m[3])
	b.report.goal("99 % of statements on other partitions, in the same second", "unaffected", "%.1f ms; %.1f ms when nothing moves; %.1f ms of those under way while partitions are frozen", o[2], o[0], o[3])
}
