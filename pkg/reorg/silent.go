package reorg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/topology"
)

// awaitMap waits until no proxy works by an older map than the present one. Those whose process is gone are shut out of the
// servers instead; those that are only slow are waited for.
func (j *job) awaitMap(ctx context.Context) error {
	m, _, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	for {
		acks, stop := context.WithTimeout(ctx, j.cfg.Times.Retry)
		silent, err := j.cfg.Store.AwaitDrained(acks, m.Epoch())
		stop()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("%s: %w", names(silent), err)
		}
		gone := slices.DeleteFunc(slices.Clone(silent), func(s topology.Silent) bool { return !s.Gone })
		if err := j.evictSilent(ctx, gone); err != nil {
			return err
		}
		if len(gone) == 0 {
			if err := j.trouble(ctx, "waiting for statements that began before: "+names(silent)); err != nil {
				return err
			}
			if err := j.refresh(ctx); err != nil {
				return err
			}
			if j.Wish == WishAbort && j.State == In {
				return nil // step sees to it
			}
		}
	}
}

func names(silent []topology.Silent) string {
	var out []string
	for _, s := range silent {
		out = append(out, s.String())
	}
	if len(out) == 0 {
		return "proxies have not acknowledged"
	}
	return strings.Join(out, ", ")
}

// evictTogether is how many proxies are shut out at once.
const evictTogether = 8

// evictSilent shuts proxies out of all servers and gives their slots to others.
func (j *job) evictSilent(ctx context.Context, silent []topology.Silent) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(evictTogether)
	for _, s := range silent {
		g.Go(func() error {
			if err := j.Evict(ctx, j.guard, s.Slot); err != nil {
				return fmt.Errorf("shut out %s: %w", s, err)
			}
			j.log.WarnContext(ctx, "a proxy was shut out of the servers", "member", s.Slot.Member, "slot", s.Slot.N, "gone", s.Gone)
			return nil
		})
	}
	return g.Wait()
}

// evictTimeout bounds shutting a proxy out of one server.
const evictTimeout = 10 * time.Second

// Evict shuts a slot out of all servers and gives it to others. The record comes first: whoever reads it knows that the slot is
// not to be used, and a controller that comes next goes on.
func (r *Runner) Evict(ctx context.Context, guard *topology.Guard, slot topology.Slot) error {
	for !slot.Fenced {
		slot.Fenced = true
		revision, err := r.cfg.Store.Change(guard).PutSlot(&slot, slot.Revision).Commit(ctx)
		if err == nil {
			slot.Revision = revision
			break
		}
		if !errors.Is(err, topology.ErrConflict) {
			return err
		}
		slots, _, err := r.cfg.Store.Slots(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(slots, func(now topology.Slot) bool { return now.N == slot.N && now.Incarnation == slot.Incarnation })
		if i < 0 {
			return nil // its holder has given it back
		}
		slot = slots[i] // somebody else shuts it out as well, and may not have come to its end
	}
	snap, err := r.cfg.Store.Load(ctx)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, group := range snap.Groups {
		if s := group.Switchover; s != nil && s.Lost {
			continue // who becomes its primary is told
		}
		g.Go(func() error {
			ctx, cancel := context.WithTimeout(gctx, evictTimeout)
			defer cancel()
			dial := func(ctx context.Context) (*mysqlconn.Conn, error) { return mysqlconn.Dial(ctx, r.cfg.Login(group)) }
			verify := func(ctx context.Context) error { return r.cfg.Store.Verify(ctx, guard) }
			if err := fence.Evict(ctx, dial, verify, group.Primary.Flavor, slot.N, slot.Incarnation); err != nil {
				return fmt.Errorf("node group %s: %w", group.Name, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	_, err = r.cfg.Store.Change(guard).DeleteSlot(slot.N, slot.Revision).Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return nil
	}
	r.metrics.evictions.Inc()
	return err
}

// reap shuts out processes that have been gone for long, so that their slots can be taken again.
func (r *Runner) reap(ctx context.Context, guard *topology.Guard) error {
	since := map[int64]time.Time{}                               // by incarnation
	tick := time.NewTicker(min(r.cfg.Times.Reap/4, time.Second)) // a snapshot may wait for it (see topology.FenceGone)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		gone, err := r.gone(ctx)
		if err != nil {
			clear(since) // nobody could announce himself
			continue
		}
		seen := map[int64]bool{}
		for _, slot := range gone {
			seen[slot.Incarnation] = true
			if since[slot.Incarnation].IsZero() {
				since[slot.Incarnation] = time.Now()
			}
			if time.Since(since[slot.Incarnation]) < r.cfg.Times.Reap && !slot.Fenced {
				continue
			}
			if err := r.Evict(ctx, guard, slot); err != nil {
				if errors.Is(err, topology.ErrNotLeader) {
					return err
				}
				r.cfg.Log.WarnContext(ctx, "slot of a process that is gone cannot be cleared yet", "slot", slot.N, "error", err)
				continue
			}
			r.cfg.Log.InfoContext(ctx, "a process that is gone was shut out of the servers", "member", slot.Member, "slot", slot.N, "asked_for", slot.Fenced)
		}
		for id := range since {
			if !seen[id] {
				delete(since, id)
			}
		}
	}
}

// gone are the slots that nobody uses, or that are being shut out.
func (r *Runner) gone(ctx context.Context) ([]topology.Slot, error) {
	slots, _, err := r.cfg.Store.Slots(ctx)
	if err != nil {
		return nil, err
	}
	members, err := r.cfg.Store.Members(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slots, func(s topology.Slot) bool { return !s.Fenced && !s.Gone(members) }), nil
}

// loose tells which processes could not be shut out at the moment. It fails when there are only some that are about to be.
func (j *job) loose(ctx context.Context) (out []string, err error) {
	members, err := j.cfg.Store.Members(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch {
		case m.Unfenced:
			out = append(out, fmt.Sprintf("process %s at %s uses a server with Skarv's own account, because it could not make another one there: "+
				"grant all privileges WITH GRANT OPTION to that account and restart the process", m.ID, m.Addr))
		case m.Proxy && m.Incarnation == 0:
			err = fmt.Errorf("waiting for process %s at %s, which has no slot: it is starting, or of an older version", m.ID, m.Addr)
		}
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// unfenced tells what stands in the way of shutting proxies out, now and when they connect to further servers.
func (j *job) unfenced(ctx context.Context) ([]string, error) {
	out, err := j.loose(ctx)
	if err != nil || len(out) > 0 {
		return out, err
	}
	snap, err := j.cfg.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range snap.Groups {
		err := j.probe(ctx, g)
		if fence.IsNoPrivilege(err) {
			out = append(out, fmt.Sprintf("node group %s: %v", g.Name, err))
		} else if err != nil {
			return nil, fmt.Errorf("node group %s: %w", g.Name, err)
		}
	}
	return out, nil
}

// probe finds out whether accounts can be made on a group's server.
func (j *job) probe(ctx context.Context, g *catalog.NodeGroup) error {
	c, err := mysqlconn.Dial(ctx, j.cfg.Login(g))
	if err != nil {
		return err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	return fence.Probe(c)
}
