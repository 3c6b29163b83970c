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
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// cutOver makes the targets the owners. Nothing is lost when it fails, at whatever point: the single write of the map is
// what counts, and it happens only while the freeze stands that everything before it relies on.
//
//	freeze    map: FROZEN              statements on the partitions wait
//	drain     all proxies say that nothing of theirs uses the partitions; who does not ends the attempt
//	recover   transactions that were prepared before are finished
//	cut       the movers bring over everything up to a mark in the sources' logs
//	publish   map: the targets own, if it is still the frozen one
//
// Any process thaws the map after the deadline (see Thaw), which makes the publishing fail.
func (j *job) cutOver(ctx context.Context, c *crew) error {
	if err := j.attend(ctx, "the way back to be prepared", func(ctx context.Context) error {
		return each(ctx, c.back, func(ctx context.Context, m Mover) error { return m.Prepare(ctx, true) })
	}, c.back...); err != nil {
		return fmt.Errorf("the way back cannot be prepared: %w", err)
	}
	if err := j.attend(ctx, "all processes to be ready for the cutover", j.ready); err != nil {
		return err
	}
	return j.cut(ctx, c.forward, false)
}

// cutBack makes the sources the owners again.
func (j *job) cutBack(ctx context.Context, c *crew) error {
	if err := j.attend(ctx, "all processes to be ready for the cutover", j.ready); err != nil {
		return err
	}
	return j.cut(ctx, c.back, true)
}

// ready finds proxies that do not answer, those that could not be shut out if they stopped answering, and clients that would not give
// way, before statements wait for them.
func (j *job) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, j.cfg.Times.Deadline)
	defer cancel()
	loose, err := j.loose(ctx)
	if err == nil && len(loose) > 0 {
		err = errors.New(strings.Join(loose, "\n"))
	}
	if err == nil {
		err = j.locked(ctx)
	}
	if err != nil {
		return err
	}
	return j.awaitMap(ctx)
}

// locked tells of clients that have locked tables and used rows of them. They lose nothing by a cutover, for there is none before
// they have unlocked them; and nobody else is to be held up by trying.
func (j *job) locked(ctx context.Context) error {
	members, answers, err := j.answers(ctx, j.cfg.Times.Ack) // who does not answer is waited for when the partitions are frozen
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.Locked > 0 {
			return fmt.Errorf("waiting for UNLOCK TABLES: %d clients of process %s at %s have locked tables and used them; SHOW PROCESSLIST and KILL help",
				a.Locked, members[i].ID, members[i].Addr)
		}
	}
	return nil
}

// answers asks all processes with clients what they say of themselves; of those that do not answer in time, which not all can be asked
// everywhere, it is the zero Answer.
func (j *job) answers(ctx context.Context, timeout time.Duration) ([]topology.Member, []Answer, error) {
	members, err := j.cfg.Store.Members(ctx)
	if err != nil {
		return nil, nil, err
	}
	answers := make([]Answer, len(members))
	if j.cfg.Ask == nil {
		return members, answers, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var g errgroup.Group
	for i, m := range members {
		if m.Proxy {
			g.Go(func() error {
				answers[i], _ = j.cfg.Ask(ctx, m, 0)
				return nil
			})
		}
	}
	_ = g.Wait() // none returns an error
	return members, answers, nil
}

// cut is one attempt. An error has left everything as it was before.
func (j *job) cut(ctx context.Context, movers []Mover, back bool) error {
	frozenState, thawedState := Frozen, CatchUp
	if back {
		frozenState, thawedState = Rollback, Reverse
	}
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	t := j.cfg.Times
	frozen, err := m.Next(nil, j.moving(placement.Frozen, t.Drain, t.Deadline))
	if err != nil {
		return err
	}
	servers, err := j.dialLosing(ctx, back)
	if err != nil {
		return err
	}
	defer servers.close()
	heard, stopAsking, err := j.ask(ctx, frozen.Epoch())
	if err != nil {
		return err
	}
	defer stopAsking()
	if err := j.hit("freeze"); err != nil {
		return err
	}
	began := time.Now()
	old := j.Epoch
	j.Epoch, j.Attempts = frozen.Epoch(), j.Attempts+1
	if err := j.enter(ctx, frozenState, func(c *topology.Change) *topology.Change { return c.PutMap(frozen, revision) }); err != nil {
		if errors.Is(err, errCrash) {
			return err
		}
		j.Epoch = old
		return err
	}
	frozenAt := j.Revision // one transaction wrote both
	lap := laps{began: began, last: began}
	lap.done("freeze_ms")
	silent, err := j.handOver(ctx, &handover{movers, frozen, frozenAt, servers, heard, &lap, back})
	if err == nil {
		lap.done("publish_ms")
		j.metrics.pause(time.Since(began))
		j.log.InfoContext(ctx, "cut over", append([]any{"epoch", j.Epoch, "seconds", time.Since(began).Seconds(), "attempts", j.Attempts}, lap.took...)...)
		return j.hit("published")
	}
	if errors.Is(err, errCrash) || errors.Is(err, topology.ErrNotLeader) || ctx.Err() != nil {
		return err
	}
	if terr := j.takeBack(ctx, movers, thawedState); terr != nil {
		return errors.Join(err, terr)
	}
	if errors.Is(err, errOtherWish) {
		return nil
	}
	j.metrics.attemptsFailed.Inc()
	if terr := j.trouble(ctx, "the cutover is tried again: "+err.Error()); terr != nil {
		return terr
	}
	if len(silent) > 0 { // outside of the pause
		if err := j.evictSilent(ctx, silent); err != nil {
			return err
		}
	}
	return j.pauseFor(ctx, min(t.Retry*time.Duration(j.Attempts), 30*time.Second))
}

// laps are how long the parts of a cutover took, for the log.
type laps struct {
	began, last time.Time
	took        []any
}

func (l *laps) done(what string) {
	now := time.Now()
	l.took = append(l.took, what, now.Sub(l.last).Milliseconds())
	l.last = now
}

// handover is one attempt once the partitions are frozen.
type handover struct {
	movers   []Mover
	frozen   *placement.PartitionMap
	frozenAt int64 // the revision of that
	servers  losing
	heard    *topology.Heard
	lap      *laps
	back     bool
}

// handOver is what happens while the partitions are frozen. With an error come the processes that are its reason, if they are.
func (j *job) handOver(ctx context.Context, h *handover) ([]topology.Silent, error) {
	t, frozen, lap := j.cfg.Times, h.frozen, h.lap
	ctx, cancel := context.WithTimeout(ctx, t.Deadline)
	defer cancel()
	acks, stop := context.WithTimeout(ctx, t.Ack)
	silent, err := j.cfg.Store.AwaitDrainedOrHeard(acks, frozen.Epoch(), h.heard)
	stop()
	if err != nil {
		return silent, fmt.Errorf("%s: %w", names(silent), err)
	}
	lap.done("drain_ms")
	if err := j.hit("drained"); err != nil {
		return nil, err
	}
	if err := h.servers.finishPrepared(ctx); err != nil {
		return nil, err
	}
	lap.done("recover_ms")
	if err := j.hit("recovered"); err != nil {
		return nil, err
	}
	if err := each(ctx, h.movers, func(ctx context.Context, m Mover) error { return m.Cut(ctx, frozen.Epoch()) }); err != nil {
		return nil, err
	}
	lap.done("cut_ms")
	if err := j.hit("cut"); err != nil {
		return nil, err
	}
	phase, next := placement.In, Reverse
	if h.back {
		phase, next = placement.Cleaning, Cleaning
	}
	open, err := frozen.Next(j.moves(h.back), j.moving(phase, 0, 0))
	if err != nil {
		return nil, err
	}
	wish := None
	if h.back {
		wish = WishRollback
		j.dismiss() // who watches the sources for late writes must not see those that are about to be allowed
	}
	if j.Wish != wish {
		return nil, errOtherWish
	}
	was := *j.Record
	if h.back {
		j.Undo = true
	} else {
		j.Opened = time.Now().UTC()
	}
	j.decided = &wish
	defer func() { j.decided = nil }()
	j.Wish, j.Pause = None, time.Since(lap.began)
	err = j.enter(ctx, next, func(c *topology.Change) *topology.Change { return c.PutMap(open, h.frozenAt) })
	if err != nil {
		if was.Revision = j.Revision; errors.Is(err, errOtherWish) {
			was.Wish = j.Wish
		}
		*j.Record = was
		return nil, err
	}
	j.dismiss()
	return nil, nil
}

// ask begins to ask all processes to say themselves when nothing works there by a map older than epoch, which is about to be written. It
// ends when stop is called.
func (j *job) ask(ctx context.Context, epoch uint64) (heard *topology.Heard, stop func(), err error) {
	heard = topology.NewHeard()
	if j.cfg.Ask == nil {
		return heard, func() {}, nil
	}
	members, err := j.cfg.Store.Members(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.cfg.Times.Deadline)
	var g errgroup.Group
	for _, m := range members {
		if !m.Proxy {
			continue
		}
		g.Go(func() error {
			// Who does not answer announces it all the same.
			if a, err := j.cfg.Ask(ctx, m, epoch); err == nil && a.Incarnation != 0 {
				heard.Drained(a.Incarnation, a.Drained)
			}
			return nil
		})
	}
	return heard, func() {
		cancel()
		_ = g.Wait() // none returns an error
	}, nil
}

// takeBack thaws the partitions and lets the movers go on.
func (j *job) takeBack(ctx context.Context, movers []Mover, to State) error {
	m, revision, err := j.cfg.Store.Map(ctx)
	if err != nil {
		return err
	}
	next := m
	if m.Frozen() != nil {
		if next, err = m.Next(nil, thawed(m)); err != nil {
			return err
		}
	}
	if err := j.enter(ctx, to, func(c *topology.Change) *topology.Change {
		if next != m {
			c.PutMap(next, revision)
		}
		return c
	}); err != nil {
		return err
	}
	if err := j.hit("thawed"); err != nil {
		return err
	}
	ended := j.watch("the cutover to be taken back on the servers", movers...)
	defer ended()
	if err := each(ctx, movers, func(ctx context.Context, m Mover) error { return m.Cancel(ctx, j.Epoch) }); err != nil {
		j.dismiss() // the next crew begins with that
		return err
	}
	return nil
}

// interrupted is the first step of a controller that finds a cutover begun: the one before it is gone. What it had not
// published is taken back.
func (j *job) interrupted(ctx context.Context) error {
	c, err := j.assemble(ctx)
	if err != nil {
		return err
	}
	if j.State == Rollback {
		return j.takeBack(ctx, c.back, Reverse)
	}
	return j.takeBack(ctx, c.forward, CatchUp)
}

// thawed is what moves in m, with nothing frozen.
func thawed(m *placement.PartitionMap) []placement.Moving {
	out := slices.Clone(m.Moving())
	for i := range out {
		if out[i].Phase == placement.Frozen {
			out[i].Phase, out[i].Drain, out[i].Deadline = placement.In, 0, 0
		}
	}
	return out
}

// Thaw ends a freeze that has lasted for longer than it may: snap is the state in which it was seen. It reports whether it
// did. Anybody may call it: it changes the map only if it is the very one that was seen, and then whoever froze it cannot
// publish another one any more.
func Thaw(ctx context.Context, store *topology.Store, snap *catalog.Snapshot) (bool, error) {
	next, err := snap.Map.Next(nil, thawed(snap.Map))
	if err != nil {
		return false, err
	}
	_, err = store.Change(nil).PutMap(next, snap.MapRevision).Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// ThawAfter is how long the map of snap may stay as it is; 0 if nothing in it is frozen.
func ThawAfter(snap *catalog.Snapshot) (d time.Duration) {
	if snap == nil || snap.Map == nil || snap.Map.Frozen() == nil && snap.Map.CopiesFrozen() == 0 && snap.Map.LocksFrozen() == 0 {
		return 0
	}
	d = max(snap.Map.CopiesFrozen(), snap.Map.LocksFrozen())
	for _, m := range snap.Map.Moving() {
		d = max(d, m.Deadline)
	}
	return max(d, time.Second)
}

// losing are connections to the servers that lose partitions. They are made before the freeze, to be at hand in it.
type losing []*mysqlconn.Conn

func (l losing) close() {
	for _, c := range l {
		_ = c.Close()
	}
}

func (j *job) dialLosing(ctx context.Context, back bool) (l losing, err error) {
	snap, err := j.cfg.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	var groups []placement.NodeGroupID
	for _, t := range j.Transfers {
		id := t.From
		if back {
			id = t.To
		}
		if slices.Contains(groups, id) {
			continue
		}
		groups = append(groups, id)
		var c *mysqlconn.Conn
		if group := snap.Group(id); group == nil {
			err = fmt.Errorf("there is no node group %d any more", id)
		} else {
			c, err = mysqlconn.Dial(ctx, j.cfg.Login(group))
		}
		if err != nil {
			l.close()
			return nil, err
		}
		l = append(l, c)
	}
	return l, nil
}

// finishPrepared waits until no transaction is prepared any more that was when it began. All proxies have acknowledged the freeze:
// what is prepared and uses the partitions belongs to nobody, and is finished by a recoverer; what was prepared later uses other
// partitions.
func (l losing) finishPrepared(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, c := range l {
		g.Go(func() error {
			stop := context.AfterFunc(ctx, c.Interrupt)
			defer stop()
			return awaitFinished(ctx, c)
		})
	}
	return g.Wait()
}

func awaitFinished(ctx context.Context, c *mysqlconn.Conn) error {
	first, err := prepared(c)
	if err != nil {
		return err
	}
	for now := first; ; {
		now = slices.DeleteFunc(now, func(x string) bool { return !slices.Contains(first, x) })
		if len(now) == 0 {
			return nil
		}
		if err := pause.For(ctx, 2*time.Millisecond); err != nil {
			return fmt.Errorf("%d prepared transactions are not finished: %w", len(now), err)
		}
		if now, err = prepared(c); err != nil {
			return err
		}
	}
}

// prepared are the transactions prepared on a server.
func prepared(c *mysqlconn.Conn) ([]string, error) {
	_, rows, err := c.QueryAll("XA RECOVER", 1<<20)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		if len(r) == 4 {
			out = append(out, string(r[0])+"/"+string(r[1])+"/"+string(r[3]))
		}
	}
	return out, nil
}
