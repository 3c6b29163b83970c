package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// point is a point select of a row of group g.
func (b *bench) point(r *rand.Rand, g int) statement {
	keys := b.cluster.Keys[g]
	return statement{fmt.Sprintf("SELECT v FROM t WHERE id = %d", keys[r.IntN(len(keys))]), g}
}

// heavy is one that keeps a processor of the server busy for a millisecond or two.
func (b *bench) heavy(r *rand.Rand, g int) statement {
	keys := b.cluster.Keys[g]
	return statement{fmt.Sprintf("SELECT BENCHMARK(2500, MD5(v)) FROM t WHERE id = %d", keys[r.IntN(len(keys))]), g}
}

// three offers three times of what is the peak.
func (b *bench) three(ctx context.Context) error {
	b.emit("#### Three times what a node group can do\n\n")
	b.text("One node group, %d sessions, statements at random times; a statement is *good* when it is answered within %s, *refused* with error 1203, "+
		"and *lost* when no session is free to send it. The peak is the best of what is good with 0.8 to 1.2 times the capacity offered. The first "+
		"table: a relay lets %d statements at a time through to the server, each after %s, so the capacity is %.0f a second. The second: no "+
		"relay, statements that keep a processor busy, and the processors of this machine shared by server, proxy and clients. "+
		"*Without limit* is the same binary with `fixed_limit: true`, `acquire_timeout: 1m` and no bound of the queue.",
		sessions, deadline, workers, service, capacity)
	b.cluster.Slow(service)
	if err := b.overload(ctx, "statements that wait in a relay", capacity, b.point); err != nil {
		return err
	}
	b.cluster.Slow(0)
	busy, err := b.calibrate(ctx)
	if err != nil {
		return err
	}
	return b.overload(ctx, "statements that keep processors busy", busy, b.heavy)
}

// calibrate finds how many heavy statements the machine does in a second.
func (b *bench) calibrate(ctx context.Context) (float64, error) {
	var done atomic.Int64
	var g errgroup.Group
	for i := range 4 { // each sends the next when it has the answer
		g.Go(func() error {
			c, err := dial(ctx, b.adapts)
			if err != nil {
				return err
			}
			defer c.Close()
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for end := time.Now().Add(b.length); time.Now().Before(end); done.Add(1) {
				if _, _, err := c.QueryAll(b.heavy(r, 1).sql, 1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := g.Wait()
	return float64(done.Load()) / b.length.Seconds(), err
}

func (b *bench) overload(ctx context.Context, title string, capacity float64, make func(*rand.Rand, int) statement) error {
	b.text("%s:", title)
	b.head("proxy", "offered/s", "good/s", "of the peak", "late", "refused", "lost", "median", "p99")
	defer b.emit("\n")
	for _, p := range []struct{ name, addr string }{{"default", b.adapts}, {"without limit", b.fixed}} {
		c, err := connect(ctx, p.addr)
		if err != nil {
			return err
		}
		next := func(r *rand.Rand) statement { return make(r, 1) }
		peak := 0.0
		for _, load := range []float64{0.8, 1, 1.2, 3} {
			if load > 2 {
				c.offer(ctx, load*capacity, 4*time.Second, next) // until it has settled
			}
			o := c.offer(ctx, load*capacity, b.length, next)[1]
			good := float64(o.good) / b.length.Seconds()
			if load < 2 {
				peak = max(peak, good)
			}
			share := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(max(1, o.offered))) }
			ofPeak := ""
			if load > 2 {
				ofPeak = fmt.Sprintf("%.0f %%", 100*good/peak)
			}
			b.row(p.name, fmt.Sprintf("%.0f", float64(o.offered)/b.length.Seconds()), fmt.Sprintf("%.0f", good), ofPeak,
				share(o.late), share(o.refused), share(o.lost), o.quantile(0.5).String(), o.quantile(0.99).String()+o.trouble())
			if ctx.Err() != nil {
				break
			}
		}
		c.close()
	}
	return ctx.Err()
}

// slowGroup makes one of four groups ten times slower.
func (b *bench) slowGroup(ctx context.Context) error {
	b.emit("#### One node group is ten times slower\n\n")
	const share = 0.5
	b.text("Four node groups with relays as above, each offered %.0f %% of its capacity by %d sessions that all use, which then is five times what the "+
		"slow one can do. Good statements per second of each group before and after the first one has become ten times slower; "+
		"with *scatter*, one of 100 statements needs all four groups.", 100*share, sessions)
	b.head("proxy", "statements", "group 1 before", "others before", "group 1 slow", "others", "others keep", "p99 of the others", "lost")
	defer b.emit("\n")
	for _, p := range []struct{ name, addr string }{{"default", b.adapts}, {"without limit", b.fixed}} {
		for _, scatter := range []bool{false, true} {
			b.cluster.Slow(service)
			c, err := connect(ctx, p.addr)
			if err != nil {
				return err
			}
			next := func(r *rand.Rand) statement {
				if scatter && r.IntN(100) == 0 {
					return statement{"SELECT id FROM t WHERE id > 9 ORDER BY id LIMIT 10", 0} // bound to be as slow as the slowest
				}
				return b.point(r, r.IntN(groups))
			}
			rate := share * capacity * groups
			before := c.offer(ctx, rate, b.length, next)
			b.cluster.Relays[0].SetService(10 * service)
			c.offer(ctx, rate, 4*time.Second, next)
			after := c.offer(ctx, rate, b.length, next)
			sum := func(out []outcome) (n int) {
				for _, o := range out[1:] {
					n += o.good
				}
				return n
			}
			lost, p99, trouble := 0, time.Duration(0), ""
			for _, o := range after {
				lost += o.lost
				trouble += o.trouble()
			}
			for i := range after[1:] {
				p99 = max(p99, after[1+i].quantile(0.99))
			}
			perSecond := func(n int) string { return fmt.Sprintf("%.0f", float64(n)/b.length.Seconds()) }
			kind := "points"
			if scatter {
				kind = "points, scatter"
			}
			b.row(p.name, kind, perSecond(before[0].good), perSecond(sum(before)), perSecond(after[0].good), perSecond(sum(after)),
				fmt.Sprintf("%.0f %%", 100*float64(sum(after))/float64(max(1, sum(before)))), p99.String(), fmt.Sprint(lost)+trouble)
			c.close()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}
