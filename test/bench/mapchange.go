package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/topology"
)

// mapChanges compares how long statements take while the partition map is written again and again with how long they
// take at rest.
func (b *bench) mapChanges(ctx context.Context) error {
	if err := b.startFour(ctx); err != nil {
		return err
	}
	store, err := topology.Open(topology.Config{Endpoints: []string{b.four.Etcd}})
	if err != nil {
		return err
	}
	defer store.Close()
	type result struct{ p50, p99, p999, slowest, changes []float64 }
	var rest, busy result
	for range b.rounds {
		for _, changing := range []bool{false, true} {
			var writer func(context.Context) error
			var changes atomic.Int64
			r := &rest
			if changing {
				r = &busy
				writer = func(ctx context.Context) error { return rewriteMap(ctx, store, &changes) }
			}
			took, err := b.traffic(ctx, writer)
			if err != nil {
				return err
			}
			us := func(p float64) float64 { return float64(percentile(took, p)) / 1e3 }
			r.p50, r.p99, r.p999, r.slowest = append(r.p50, us(0.5)), append(r.p99, us(0.99)), append(r.p999, us(0.999)), append(r.slowest, us(1))
			r.changes = append(r.changes, float64(changes.Load())/float64(b.seconds))
		}
	}
	b.report.text("Point selects of 8 clients over 4 node groups, in microseconds; a changed map is a new version with the same owners.")
	b.report.head("map", "median", "99 %", "99.9 %", "slowest")
	defer b.report.end()
	for _, row := range []struct {
		name string
		r    result
	}{{"at rest", rest}, {fmt.Sprintf("%.0f changes a second", median(busy.changes)), busy}} {
		b.report.row(row.name, fmt.Sprintf("%.0f", median(row.r.p50)), fmt.Sprintf("%.0f", median(row.r.p99)),
			fmt.Sprintf("%.0f", median(row.r.p999)), fmt.Sprintf("%.0f", median(row.r.slowest)))
	}
	b.report.goal("map updates under traffic", "never stall statements", "99 %% of statements within %.0f us with %.0f updates a second, %.0f us without",
		median(busy.p99), median(busy.changes), median(rest.p99))
	return nil
}

// traffic runs point selects for the length of a run, with writer beside them, and returns how long each took.
func (b *bench) traffic(ctx context.Context, writer func(context.Context) error) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.seconds)*time.Second+30*time.Second)
	defer cancel()
	stop := make(chan struct{})
	time.AfterFunc(time.Duration(b.seconds)*time.Second, func() { close(stop) })
	const clients = 8
	took := make([][]time.Duration, clients)
	g, ctx := errgroup.WithContext(ctx)
	for i := range clients {
		g.Go(func() error {
			c, err := dial(ctx, b.scattered)
			if err != nil {
				return err
			}
			defer c.Close()
			defer context.AfterFunc(ctx, c.Interrupt)()
			for id := i; ; id = (id + 7919) % scatterRows {
				select {
				case <-stop:
					return nil
				default:
				}
				one, err := repeat(c, fmt.Sprint("SELECT c FROM bench_four.t WHERE id = ", id), 1)
				if err != nil {
					return err
				}
				took[i] = append(took[i], one...)
			}
		})
	}
	if writer != nil {
		g.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				if err := writer(ctx); err != nil {
					return err
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []time.Duration
	for _, t := range took {
		all = append(all, t...)
	}
	return all, nil
}

// rewriteMap makes the map a version newer.
func rewriteMap(ctx context.Context, store *topology.Store, changes *atomic.Int64) error {
	m, revision, err := store.Map(ctx)
	if err != nil {
		return err
	}
	next, err := m.Apply(nil)
	if err != nil {
		return err
	}
	if _, err := store.Change(nil).PutMap(next, revision).Commit(ctx); err != nil {
		return err
	}
	changes.Add(1)
	return nil
}
