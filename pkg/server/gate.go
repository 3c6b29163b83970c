package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/pause"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
)

// The gate for commits. Whoever wants to see all node groups at one moment puts a record into etcd. Every proxy that sees it
// begins no commit, lets those that run end, and says so; then nothing is committed anywhere until the record is removed.
//
//	1 put the record                         with a lease: it goes when its maker dies
//	2 every slot's proxy has acknowledged    one that is gone is to be shut out first; one that is slow makes it fail
//	3 no branch is prepared anywhere         what a process that died had decided is finished
//	4 look
//	5 the record still stands, and not for long: nobody has begun a commit before 4 was over
//	6 remove it
//
// A proxy that loses etcd does not wait for 6 for ever: it goes on after gateLimit, by its clock. That is why 5 also asks
// for the time since 1, by a clock that only has to run about as fast: gateTime is much less.
const (
	gateTime  = 3 * time.Second        // from 1 to 5
	gateAcks  = 400 * time.Millisecond // for 2: longer than that nobody's COMMIT should wait
	gateLimit = 20 * time.Second
	gateTries = 15 * time.Second // until a client is told that it does not work
	gatePause = 200 * time.Millisecond
)

// gatekeeper is what this process knows of gates.
type gatekeeper struct {
	mu       sync.Mutex
	standing map[string]standing
	change   chan struct{} // has a token when standing has changed
}

type standing struct {
	revision int64
	since    time.Time
}

func newGatekeeper() *gatekeeper {
	return &gatekeeper{standing: map[string]standing{}, change: make(chan struct{}, 1)}
}

// see takes notice of a gate's record, closing the gate at once.
func (k *gatekeeper) see(s *Server, r topology.Record) error {
	k.mu.Lock()
	if r.Value == nil {
		delete(k.standing, r.ID)
	} else if k.standing[r.ID].revision != r.Revision {
		k.standing[r.ID] = standing{r.Revision, time.Now()}
		s.barrier.CloseGate()
	}
	k.mu.Unlock()
	signal(k.change)
	return nil
}

// newest returns the newest gate that stands, 0 for none, and when the oldest one is given up.
func (k *gatekeeper) newest() (revision int64, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, g := range k.standing {
		end := g.since.Add(gateLimit)
		if !time.Now().Before(end) {
			delete(k.standing, id)
			continue
		}
		revision = max(revision, g.revision)
		if until.IsZero() || end.Before(until) {
			until = end
		}
	}
	return revision, until
}

// runGates opens and closes the gate for this process's commits as etcd says, until ctx ends.
func (s *Server) runGates(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_ = s.store.WatchRecords(ctx, topology.Gates, func(r topology.Record) error { return s.gates.see(s, r) })
		return nil
	})
	g.Go(func() error {
		defer s.barrier.OpenGate()
		for ctx.Err() == nil {
			s.keepGate(ctx)
		}
		return nil
	})
	return g.Wait()
}

// keepGate does what the gates that stand demand, until they change.
func (s *Server) keepGate(ctx context.Context) {
	revision, until := s.gates.newest()
	if revision == 0 {
		// Under the lock: a gate that is seen now closes it again.
		s.gates.mu.Lock()
		if len(s.gates.standing) == 0 {
			s.barrier.OpenGate()
		}
		s.gates.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-s.gates.change:
		}
		return
	}
	wait, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error {
		err := s.barrier.AwaitCommits(wait)
		if err == nil {
			err = s.pools.AwaitOrphans(wait, s.groups())
		}
		if err == nil {
			s.presence.AckGate(revision)
		}
		return nil //nolint:nilerr // then it is not acknowledged
	})
	select {
	case <-wait.Done():
	case <-s.gates.change:
	}
	cancel()
	_ = g.Wait()
}

// syncGates takes notice of the gates that stand now, before this process may commit anything.
func (s *Server) syncGates(ctx context.Context) error {
	records, _, err := s.store.Records(ctx, topology.Gates)
	for _, r := range records {
		_ = s.gates.see(s, r)
	}
	return err
}

// errGate: the commits of the cluster could not be held, or not for long enough.
var errGate = errors.New("commits could not be held")

// gateTurn is one gate and all who wait for it at the moment: they look while it is closed, each on its own goroutine.
type gateTurn struct {
	closed chan struct{} // is closed when the gate is: all look
	looked chan struct{} // is closed when all have looked
	ended  chan struct{} // is closed behind verdict
	// verdict is of the gate, not of a look.
	verdict error

	// guarded by turns.mu
	sealed  bool // nobody joins any more
	looking int
}

// turns is the gates of this process: one at a time, and one that is waited for.
type turns struct {
	one sync.Mutex // is held while a gate is closed
	// free is when the next gate may be closed; guarded by one.
	free time.Time

	mu   sync.Mutex
	next *gateTurn // that can be joined; nil: none
}

// join returns the turn to wait for; leads says that the caller must close its gate.
func (t *turns) join() (turn *gateTurn, leads bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if leads = t.next == nil; leads {
		t.next = &gateTurn{closed: make(chan struct{}), looked: make(chan struct{}), ended: make(chan struct{})}
	}
	t.next.looking++
	return t.next, leads
}

// seal lets those look who have joined.
func (t *turns) seal(turn *gateTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !turn.sealed {
		turn.sealed = true
		t.next = nil
		close(turn.closed)
	}
}

// fail takes back a turn whose gate could not be closed.
func (t *turns) fail(turn *gateTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !turn.sealed {
		turn.sealed = true
		t.next = nil
	}
}

// leave says that the caller looks no more.
func (t *turns) leave(turn *gateTurn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn.looking--; turn.looking == 0 {
		close(turn.looked) // who leads is among them, so that nobody joins any more
	}
}

// holdCommits runs look, which must be quick, while nothing is committed in the whole cluster. An error of look is returned
// as it is; after any error what look has seen counts for nothing. All of this process who wait at a time look at the same
// time, and after each gate commits go on for as long as they were held: however many ask, half of the time is the writers'.
func (s *Server) holdCommits(ctx context.Context, look func() error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, gateTries)
	defer cancel()
	defer func() { s.countGate(err) }()
	for {
		turn, leads := s.turns.join()
		if leads {
			return s.leadTurn(ctx, turn, look)
		}
		select {
		case <-turn.closed:
			err = look()
			s.turns.leave(turn)
			if err != nil {
				return err
			}
			<-turn.ended
			return turn.verdict
		case <-turn.ended: // who led it has given up, perhaps because he was ended himself
			s.turns.leave(turn)
		case <-ctx.Done():
			s.turns.leave(turn)
			return fmt.Errorf("%w: %w", errGate, ctx.Err())
		}
	}
}

// leadTurn closes the gate of turn, looks, and waits for the others who look.
func (s *Server) leadTurn(ctx context.Context, turn *gateTurn, look func() error) (err error) {
	left := false
	leave := func() {
		if !left {
			left = true
			s.turns.leave(turn)
		}
	}
	turn.verdict = errGate // until it is known, should this end in another way
	defer close(turn.ended)
	defer leave()
	s.turns.one.Lock()
	defer s.turns.one.Unlock()
	_ = pause.For(ctx, time.Until(s.turns.free)) // if ctx ends, so does the attempt
	for wait := gatePause; ; wait = min(2*wait, 10*gatePause) {
		var own error
		began := time.Now()
		looked, err := s.tryGate(ctx, func() error {
			s.turns.seal(turn)
			own = look()
			leave()
			select {
			case <-turn.looked:
			case <-time.After(gateTime): // then it counts for nobody
			}
			return nil
		})
		ended := time.Now()
		s.turns.free = ended.Add(min(ended.Sub(began), gateTime))
		if looked || err == nil {
			turn.verdict = err
			if own != nil {
				return own
			}
			return err
		}
		if pause.For(ctx, wait) != nil {
			turn.verdict = fmt.Errorf("%w: %w", errGate, err)
			s.turns.fail(turn)
			return turn.verdict
		}
	}
}

func (s *Server) countGate(err error) {
	outcome := "held"
	if err != nil {
		outcome = "failed"
	}
	s.gateCount.WithLabelValues(outcome).Inc()
}

// tryGate closes the gate once. looked says that look was called.
func (s *Server) tryGate(ctx context.Context, look func() error) (looked bool, err error) {
	began := time.Now()
	gate, err := s.store.PutGate(ctx, s.id)
	if err != nil {
		return false, err
	}
	defer func() {
		if rerr := s.store.RemoveGate(context.WithoutCancel(ctx), gate); rerr != nil {
			s.log.Warn("the gate for commits stays closed until its lease ends", "error", rerr)
		}
	}()
	acks, stop := context.WithTimeout(ctx, gateAcks)
	silent, err := s.store.AwaitGated(acks, gate)
	stop()
	if err != nil {
		return false, s.ungated(ctx, silent, err)
	}
	if err := s.nothingPrepared(ctx); err != nil {
		return false, err
	}
	if err := look(); err != nil {
		return true, err
	}
	stands, err := s.store.GateStands(ctx, gate)
	switch {
	case err != nil:
		return true, fmt.Errorf("%w: %w", errGate, err)
	case !stands || time.Since(began) > gateTime:
		return true, fmt.Errorf("%w: they went on too early", errGate)
	}
	return true, nil
}

// ungated says who has not acknowledged. Slots of processes that are gone are marked, for the controller to shut them out.
func (s *Server) ungated(ctx context.Context, silent []topology.Silent, err error) error {
	var who []string
	for _, p := range silent {
		who = append(who, p.String())
		if p.Gone && !p.Slot.Fenced {
			_ = s.store.FenceGone(ctx, p.Slot) // else the next attempt does it
		}
	}
	if len(who) == 0 {
		return err
	}
	return errors.New(strings.Join(who, ", "))
}

// nothingPrepared returns an error if any node group has a prepared branch: it may be decided, and be committed on other
// groups already.
func (s *Server) nothingPrepared(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, gateTime/2)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	for _, id := range s.groups() {
		g.Go(func() error {
			n, err := txn.Prepared(ctx, s.pools.Dial, id)
			if err == nil && n > 0 {
				err = fmt.Errorf("node group %d has a transaction of a process that is gone, which is not ended yet", id)
			}
			return err
		})
	}
	return g.Wait()
}
