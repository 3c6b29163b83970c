package reorg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// crew is the movers of a reorganisation: one for each source, and those that keep the way back open.
type crew struct {
	forward, back []Mover
	sources       []placement.NodeGroupID   // of forward
	targets       [][]placement.NodeGroupID // of forward
	verified      bool
	movers        []Mover // those whose progress counts

	ctx    context.Context //nolint:containedctx // of group
	stop   context.CancelFunc
	group  *errgroup.Group
	once   sync.Once
	failed chan struct{} // closed when one of them has ended

	mu     sync.Mutex
	causes []error // of those that have ended, no text twice
}

// assemble makes the movers, which do nothing yet.
func (j *job) assemble(ctx context.Context) (*crew, error) {
	changed := j.waits.On("a change of the schema to end")
	err := j.settled(ctx) // changes that begin from now on see the reorganisation
	changed()
	if err != nil {
		return nil, err
	}
	snap, err := j.cfg.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if t.Kind != catalog.Sharded {
				continue
			}
			tables = append(tables, t)
			for _, g := range t.Global {
				tables = append(tables, g.Entries)
			}
		}
	}
	slices.SortFunc(tables, (*catalog.Table).Compare)
	c := &crew{failed: make(chan struct{})}
	cfg := mover.Config{Log: j.log, LateWrite: j.lateWrite}
	if j.guard != nil { // else nothing is to be moved
		cfg.Term, cfg.Entitled = uint64(j.guard.Term()), j.entitled
	}
	for _, from := range j.sources() {
		source, err := j.server(snap, from)
		if err != nil {
			return nil, err
		}
		m := mover.Move{
			Reorg: j.OnServers(), Source: source, Targets: map[placement.NodeGroupID]mover.Server{},
			Partitions: map[placement.Partition]placement.NodeGroupID{}, Tables: tables, Owned: len(snap.Map.Owned(from)),
		}
		var targets []placement.NodeGroupID
		for _, t := range j.Transfers {
			if t.From != from {
				continue
			}
			if m.Targets[t.To], err = j.server(snap, t.To); err != nil {
				return nil, err
			}
			targets = append(targets, t.To)
			for _, p := range t.Partitions.Members() {
				m.Partitions[p] = t.To
			}
		}
		groups := append(slices.Clone(targets), from)
		cfg.Throttle = func() string { return j.brake.reason(groups, j.cfg.Times.ReplicaLag) }
		mv, err := j.cfg.NewMover(cfg, m)
		if err != nil {
			return nil, err
		}
		c.forward = append(c.forward, mv)
		c.sources, c.targets = append(c.sources, from), append(c.targets, targets)
		for _, r := range mover.Reverse(m) {
			mv, err := j.cfg.NewMover(cfg, r)
			if err != nil {
				return nil, err
			}
			c.back = append(c.back, mv)
		}
	}
	return c, nil
}

// entitled returns nil while this controller leads.
func (j *job) entitled(ctx context.Context) error {
	err := j.cfg.Store.Verify(ctx, j.guard)
	if errors.Is(err, topology.ErrNotLeader) {
		return fmt.Errorf("%w: %w", mover.ErrSuperseded, err)
	}
	return err
}

func (j *job) server(snap *catalog.Snapshot, id placement.NodeGroupID) (mover.Server, error) {
	g := snap.Group(id)
	if g == nil {
		return mover.Server{}, fmt.Errorf("there is no node group %d any more", id)
	}
	return mover.Server{Group: id, Name: g.Name, Flavor: g.Primary.Flavor, Conn: j.cfg.Login(g)}, nil
}

// hire has the movers running that the state needs.
func (j *job) hire(ctx context.Context) (*crew, error) {
	if j.crew != nil {
		return j.crew, nil
	}
	c, err := j.assemble(ctx)
	if err != nil {
		return nil, err
	}
	if c.movers = c.forward; j.State == Reverse || j.State == Rollback {
		c.movers = c.back
		// The others look for writes that are lost.
		if err := j.attend(ctx, "the movers that look for late writes", func(ctx context.Context) error {
			return each(ctx, c.forward, func(ctx context.Context, m Mover) error { return m.Opened(ctx, j.Epoch) })
		}, c.forward...); err != nil {
			return nil, err
		}
		c.run(ctx, c.forward)
	}
	if j.Epoch != 0 {
		// The last cutover that was tried was taken back, or is that of the other direction. Whoever has taken it back may
		// have died before the movers could be told.
		if err := j.attend(ctx, "the last cutover to be taken back", func(ctx context.Context) error {
			return each(ctx, c.movers, func(ctx context.Context, m Mover) error { return m.Cancel(ctx, j.Epoch) })
		}, c.movers...); err != nil {
			c.dismiss()
			return nil, err
		}
	}
	c.run(ctx, c.movers)
	j.employ(c)
	return c, nil
}

// employ makes c the crew that works.
func (j *job) employ(c *crew) {
	j.crew = c
	j.mu.Lock()
	j.shown.movers = c.movers
	j.mu.Unlock()
}

// run has movers running until dismiss.
func (c *crew) run(ctx context.Context, movers []Mover) {
	if c.group == nil {
		c.ctx, c.stop = context.WithCancel(ctx)
		c.group = &errgroup.Group{}
	}
	ctx = c.ctx
	for _, m := range movers {
		c.group.Go(func() error {
			err := m.Run(ctx)
			if ctx.Err() == nil {
				c.blame(err)
				c.once.Do(func() { close(c.failed) })
			}
			return nil
		})
	}
}

// blame notes why a mover has ended, unless another one has ended with the same words.
func (c *crew) blame(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && !slices.ContainsFunc(c.causes, func(said error) bool { return said.Error() == err.Error() }) {
		c.causes = append(c.causes, err)
	}
}

func (c *crew) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.causes...)
}

// behind returns nil when all running movers are at most lag behind: as they have last measured it, then, if that is so, as they
// measure it now.
func (c *crew) behind(ctx context.Context, lag time.Duration) error {
	for _, m := range c.movers {
		switch p := m.Progress(); {
		case p.Err != "":
			return errors.New(p.Err)
		case p.Phase != mover.Following:
			return fmt.Errorf("a mover is %s", p.Phase)
		case p.Lag > lag:
			return fmt.Errorf("a copy is %s behind", p.Lag.Round(time.Millisecond))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, lag+time.Second)
	defer cancel()
	return each(ctx, c.movers, func(ctx context.Context, m Mover) error {
		now, err := m.Lag(ctx)
		if err == nil && now > lag {
			err = fmt.Errorf("a copy is %s behind", now.Round(time.Millisecond))
		}
		return err
	})
}

// close reports whether the movers are so close behind that a cutover may be tried, and has it shown why not.
func (j *job) close(ctx context.Context, c *crew) bool {
	err := c.behind(ctx, j.cfg.Times.MaxLag)
	j.mu.Lock()
	defer j.mu.Unlock()
	switch j.shown.behind = err; {
	case err == nil:
		j.closeEnough()
	case j.shown.close == nil:
		j.shown.close = j.waits.OnText(func() string {
			j.mu.Lock()
			defer j.mu.Unlock()
			return fmt.Sprintf("the copies to be at most %s behind: %v", j.cfg.Times.MaxLag, j.shown.behind)
		})
	}
	return err == nil
}

// closeEnough ends the wait for movers that are behind; mu is held.
func (j *job) closeEnough() {
	if j.shown.close != nil {
		j.shown.close()
		j.shown.close = nil
	}
}

// dismiss ends the movers.
func (c *crew) dismiss() {
	if c.group != nil {
		c.stop()
		_ = c.group.Wait()
	}
}

// dismiss ends the crew that works, if there is one.
func (j *job) dismiss() {
	if j.crew == nil {
		return
	}
	ended := j.waits.On("the movers to end")
	j.crew.dismiss()
	ended()
	j.crew = nil
	j.mu.Lock()
	j.shown.movers = nil
	j.closeEnough()
	j.mu.Unlock()
}

// lateWrite is told of a write to a partition by somebody who went by an old map, or past Skarv: it is lost.
func (j *job) lateWrite(w mover.LateWrite) {
	j.metrics.lateWrites.Inc()
	j.log.Error("a row was written on the node group that has lost its partition", "table", w.Table, "key", w.Key,
		"partition", w.Partition, "gtid", w.GTID)
}
