package reorg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/mover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// step takes the next step. It may be taken any number of times, by one controller after the other: what it does is done
// again without harm, and the state is written when all of it is done.
func (j *job) step(ctx context.Context) error {
	if j.Wish == WishAbort && !j.Undo {
		switch j.State {
		case Planned:
			return j.refused(ctx, "aborted before it began", Aborted)
		case In, Copy, CatchUp, Verify:
			return j.giveUp(ctx, "aborted on request")
		}
	}
	if j.Paused && j.State != Frozen && j.State != Rollback {
		j.dismiss()
		return j.pauseFor(ctx, time.Minute)
	}
	switch j.State {
	case Planned:
		return j.check(ctx)
	case In:
		return j.announce(ctx)
	case Copy:
		return j.copy(ctx)
	case CatchUp:
		return j.catchUp(ctx)
	case Verify:
		return j.verify(ctx)
	case Frozen, Rollback:
		return j.interrupted(ctx)
	case Reverse:
		return j.reverse(ctx)
	case Cleaning:
		return j.clean(ctx)
	}
	return fmt.Errorf("unknown state %s: a newer version has worked on it", j.State)
}

// check looks for everything that would stop the reorganisation half way, then tells the map.
func (j *job) check(ctx context.Context) error {
	var problems []string
	if err := j.attend(ctx, "the check of all servers and tables", func(ctx context.Context) (err error) {
		problems, err = j.problems(ctx)
		return err
	}); err != nil {
		return err
	}
	if len(problems) > 0 {
		return j.refused(ctx, strings.Join(problems, "\n"), Refused)
	}
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	next, err := m.Next(nil, j.moving(placement.In, 0, 0))
	if err != nil {
		return j.refused(ctx, err.Error(), Refused)
	}
	return j.enter(ctx, In, func(c *topology.Change) *topology.Change { return c.PutMap(next, revision) })
}

func (j *job) problems(ctx context.Context) ([]string, error) {
	m, _, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return nil, err
	}
	for _, mv := range j.moves(false) {
		if m.Owner(mv.Partition) != mv.From {
			return []string{fmt.Sprintf("partition %d belongs to node group %d by now; plan again", mv.Partition, m.Owner(mv.Partition))}, nil
		}
	}
	if len(m.Moving()) > 0 {
		return []string{"partitions of " + m.Moving()[0].Reorg + " are still moving"}, nil
	}
	loose, err := j.unfenced(ctx)
	if err != nil || len(loose) > 0 {
		return loose, err
	}
	c, err := j.assemble(ctx)
	if err != nil {
		return nil, err
	}
	var all []mover.Problem
	for _, mv := range c.forward {
		problems, err := mv.Check(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, problems...)
	}
	return mover.Reasons(all), nil
}

// Refusals are the reasons for which moves would be refused if they were asked for now.
func (r *Runner) Refusals(ctx context.Context, moves []placement.Move) ([]string, error) {
	j := &job{
		Runner: r, Record: Preview("", moves, 0), log: r.cfg.Log, wake: make(chan struct{}, 1),
		settled: func(context.Context) error { return nil },
	}
	j.ID = "dry-run"
	return j.problems(ctx)
}

// refused ends a reorganisation that has not touched anything.
func (j *job) refused(ctx context.Context, why string, outcome Outcome) error {
	old := *j.Record
	j.Outcome, j.Reason = outcome, why
	if err := j.enter(ctx, Done, nil); err != nil {
		*j.Record = old
		return err
	}
	return nil
}

// giveUp begins the way back of a reorganisation that has not cut over: what the targets have is deleted.
func (j *job) giveUp(ctx context.Context, why string) error {
	j.dismiss()
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	next, err := m.Next(nil, j.moving(placement.Cleaning, 0, 0))
	if err != nil {
		return err
	}
	j.Undo, j.Reason = true, why
	j.log.WarnContext(ctx, "reorganisation is given up", "reason", why)
	return j.enter(ctx, Cleaning, func(c *topology.Change) *topology.Change { return c.PutMap(next, revision) })
}

// announce waits until all proxies leave out what the targets will have.
func (j *job) announce(ctx context.Context) error {
	if err := j.attend(ctx, "all processes to know what will move", j.awaitMap); err != nil {
		return err
	}
	if err := j.hit("in.acked"); err != nil {
		return err
	}
	c, err := j.assemble(ctx)
	if err != nil {
		return err
	}
	if err := j.attend(ctx, "what is left over on the targets to be deleted", func(ctx context.Context) error {
		return each(ctx, c.forward, func(ctx context.Context, m Mover) error { return m.Prepare(ctx, j.Again) })
	}, c.forward...); err != nil {
		return err
	}
	j.Again = false
	return j.enter(ctx, Copy, nil)
}

// each calls f for all movers at once.
func each(ctx context.Context, movers []Mover, f func(context.Context, Mover) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, m := range movers {
		g.Go(func() error { return f(ctx, m) })
	}
	return g.Wait()
}

// copy waits until everything is copied.
func (j *job) copy(ctx context.Context) error {
	c, err := j.hire(ctx)
	if err != nil {
		return err
	}
	for _, m := range c.forward {
		select {
		case <-m.Copied():
		case <-c.failed:
			return j.moverFailed(ctx)
		default:
			return j.pauseFor(ctx, j.cfg.Times.Tick)
		}
	}
	all := sum(c.movers)
	j.Rows, j.Bytes = all.Rows, all.Bytes
	return j.enter(ctx, CatchUp, nil)
}

// moverFailed decides what an error of a mover means that it cannot help itself with.
func (j *job) moverFailed(ctx context.Context) error {
	err := j.crew.err()
	j.dismiss()
	switch {
	case errors.Is(err, mover.ErrRecopy) && j.State != Reverse:
		j.Again = true
		return j.enter(ctx, In, nil)
	case errors.Is(err, mover.ErrLog) && j.State != Reverse: // what it cannot read stays in the log: it begins anew, behind that
		j.Again = true
		return errors.Join(j.enter(ctx, In, nil), err)
	case err == nil:
		return errors.New("the mover has ended")
	}
	return err
}

// catchUp waits until the movers are close behind their sources.
func (j *job) catchUp(ctx context.Context) error {
	c, err := j.hire(ctx)
	if err != nil {
		return err
	}
	select {
	case <-c.failed:
		return j.moverFailed(ctx)
	default:
	}
	if !j.close(ctx, c) {
		return j.pauseFor(ctx, j.cfg.Times.Tick)
	}
	return j.enter(ctx, Verify, nil)
}

// verify compares, then cuts over.
func (j *job) verify(ctx context.Context) error {
	c, err := j.hire(ctx)
	if err != nil {
		return err
	}
	if !c.verified {
		for _, m := range c.forward { // they may have begun only now, after another controller
			select {
			case <-m.Copied():
			case <-c.failed:
				return j.moverFailed(ctx)
			default:
				return j.pauseFor(ctx, j.cfg.Times.Tick)
			}
		}
		if err := j.compare(ctx, c.forward); err != nil {
			select {
			case <-c.failed:
				return j.moverFailed(ctx)
			default:
				return err
			}
		}
		if j.State != Verify {
			return nil
		}
		c.verified = true
	}
	select {
	case <-c.failed:
		return j.moverFailed(ctx)
	default:
	}
	if !j.close(ctx, c) {
		return j.pauseFor(ctx, j.cfg.Times.Tick)
	}
	return j.cutOver(ctx, c)
}

// compare gives up when sources and targets are not equal.
func (j *job) compare(ctx context.Context, movers []Mover) error {
	var mu sync.Mutex
	var reports []mover.Report
	if err := j.attend(ctx, "sources and targets to be compared", func(ctx context.Context) error {
		return each(ctx, movers, func(ctx context.Context, m Mover) error {
			rep, err := m.Verify(ctx)
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, rep)
			return err
		})
	}); err != nil {
		return err
	}
	for _, rep := range reports {
		if !rep.Equal() {
			return j.giveUp(ctx, "the copy is not equal to its source: "+describe(rep))
		}
	}
	return nil
}

func describe(rep mover.Report) string {
	text := fmt.Sprintf("%d rows differ", rep.Differs)
	for i, d := range rep.Differing {
		if i == 3 {
			text += ", ..."
			break
		}
		text += fmt.Sprintf(", %s %s on node group %d: %s", d.Table, d.Key, d.Target, d.What)
	}
	if len(rep.Unverified) > 0 {
		text += "; not compared: " + strings.Join(rep.Unverified, ", ")
	}
	return text
}

// reverse keeps the way back open for as long as it is wanted.
func (j *job) reverse(ctx context.Context) error {
	left := j.Window - time.Since(j.Opened)
	if j.Wish == WishComplete || left <= 0 && j.Wish != WishRollback {
		return j.beginCleaning(ctx)
	}
	c, err := j.hire(ctx)
	if err != nil {
		return err
	}
	select {
	case <-c.failed:
		return j.moverFailed(ctx)
	default:
	}
	if j.Wish == WishRollback && j.close(ctx, c) {
		return j.cutBack(ctx, c)
	}
	wait := j.cfg.Times.Tick
	if j.Wish != WishRollback {
		wait = min(left, time.Second)
	}
	return j.pauseFor(ctx, wait)
}

// beginCleaning ends the way back.
func (j *job) beginCleaning(ctx context.Context) error {
	j.dismiss()
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	next, err := m.Next(nil, j.moving(placement.Cleaning, 0, 0))
	if err != nil {
		return err
	}
	return j.enter(ctx, Cleaning, func(c *topology.Change) *topology.Change { return c.PutMap(next, revision) })
}

// clean deletes what is not its group's, and ends.
func (j *job) clean(ctx context.Context) error {
	if err := j.attend(ctx, "all processes to know what is deleted", j.awaitMap); err != nil {
		return err
	}
	if err := j.hit("cleaning.acked"); err != nil {
		return err
	}
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	if len(m.Moving()) > 0 {
		c, err := j.assemble(ctx)
		if err != nil {
			return err
		}
		if err := j.attend(ctx, "rows that are no longer their group's to be deleted", func(ctx context.Context) error { return j.delete(ctx, c) }, c.forward...); err != nil {
			return err
		}
		if err := j.hit("cleaned"); err != nil {
			return err
		}
		all := slices.Concat(c.forward, c.back)
		if err := j.attend(ctx, "the servers to forget the movers", func(ctx context.Context) error {
			return each(ctx, all, func(ctx context.Context, m Mover) error { return m.Forget(ctx) })
		}, all...); err != nil {
			return err
		}
		if err := j.hit("forgotten"); err != nil {
			return err
		}
		next, err := m.Next(nil, nil)
		if err != nil {
			return err
		}
		j.Outcome = Moved
		switch {
		case j.Undo && j.Opened.IsZero():
			j.Outcome = Aborted
		case j.Undo:
			j.Outcome = RolledBack
		}
		marked, err := j.mark(ctx, next.Epoch())
		if err != nil {
			return err
		}
		return j.enter(ctx, Done, func(c *topology.Change) *topology.Change { return marked(c.PutMap(next, revision)) })
	}
	return j.enter(ctx, Done, nil)
}

// mark gives the servers whose rows have changed places marks of epoch, and returns what writes these into the catalog: from then on a server
// that was restored from an earlier backup, with rows that are another's now, is none of its node group's. The servers have them first, so that
// none lacks what the catalog asks for.
func (j *job) mark(ctx context.Context, epoch uint64) (func(*topology.Change) *topology.Change, error) {
	var groups []*catalog.NodeGroup
	var revisions []int64
	for _, id := range j.groups() {
		g, revision, err := j.cfg.Store.Group(ctx, id)
		if err != nil {
			return nil, err
		}
		if g == nil || g.Mark == "" {
			continue
		}
		later := *g
		later.Mark = fence.Later(g.Mark, epoch)
		if err := j.remark(ctx, g, later.Mark); err != nil {
			return nil, err
		}
		groups, revisions = append(groups, &later), append(revisions, revision)
	}
	return func(c *topology.Change) *topology.Change {
		for i, g := range groups {
			c.PutGroup(g, revisions[i])
		}
		return c
	}, nil
}

// remark writes a mark on g's server.
func (j *job) remark(ctx context.Context, g *catalog.NodeGroup, mark string) error {
	c, err := mysqlconn.Dial(ctx, j.cfg.Login(g))
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	_, err = c.Exec(fence.Remarking(g.Mark, mark))
	return err
}

// groups are the node groups that rows go from or to.
func (j *job) groups() []placement.NodeGroupID {
	var ids []placement.NodeGroupID
	for _, t := range j.Transfers {
		ids = append(ids, t.From, t.To)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// delete deletes what is not its group's.
func (j *job) delete(ctx context.Context, c *crew) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, mv := range c.forward {
		on := []placement.NodeGroupID{c.sources[i]}
		if j.Undo {
			on = c.targets[i]
		}
		g.Go(func() error {
			for _, id := range on {
				if err := mv.Clean(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
