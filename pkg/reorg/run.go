package reorg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// Mover is what a *mover.Mover does.
type Mover interface {
	Check(ctx context.Context) ([]mover.Problem, error)
	Prepare(ctx context.Context, again bool) error
	Run(ctx context.Context) error
	Progress() mover.Progress
	Lag(ctx context.Context) (time.Duration, error)
	Copied() <-chan struct{}
	Verify(ctx context.Context) (mover.Report, error)
	Cut(ctx context.Context, epoch uint64) error
	Cancel(ctx context.Context, epoch uint64) error
	Opened(ctx context.Context, epoch uint64) error
	Clean(ctx context.Context, on placement.NodeGroupID) error
	Forget(ctx context.Context) error
}

// Config says what a Runner works with.
type Config struct {
	Store    *topology.Store
	Follower *topology.Follower // run by the caller
	// NewMover makes what moves the rows.
	NewMover func(mover.Config, mover.Move) (Mover, error)
	// Login is how to log in to a server as administrator.
	Login      func(g *catalog.NodeGroup) mysqlconn.Config
	Log        *slog.Logger
	Registerer prometheus.Registerer // may be nil
	// Ask returns when a process says that nothing works there by a partition map older than epoch. Without it, or when a process does not
	// answer, it is known from its announcement, which takes a write to etcd more while statements are held. It may be nil.
	Ask func(ctx context.Context, m topology.Member, epoch uint64) (Answer, error)
	// Times; zero values mean those of DefaultTimes.
	Times Times
	// Hit, for tests, is called at every step with its name; an error of it is as if the process died there.
	Hit func(point string) error
}

// Answer is what a process says of itself.
type Answer struct {
	Incarnation int64  // of the slot that it holds; 0: none
	Drained     uint64 // nothing works there by a partition map older than this epoch
	Locked      int    // clients that have locked tables and used rows of them, who do not give way
	// Pressed are the node groups that statements of the process wait for, because these are slow.
	Pressed []placement.NodeGroupID
}

// Times are how long things take or may take.
type Times struct {
	Drain    time.Duration // transactions that use frozen partitions have this long to end
	Ack      time.Duration // proxies have this long to say that they have
	Deadline time.Duration // partitions stay frozen for no longer
	MaxLag   time.Duration // a cutover is not tried before the movers are as close
	Retry    time.Duration // pause after a cutover that failed, growing
	Tick     time.Duration // of looking at progress
	Reap     time.Duration // slots of processes that are gone for so long are given to others
	// ReplicaLag is how far replicas of the node groups may be behind before the movers go slowly.
	ReplicaLag time.Duration
}

// DefaultTimes are what Config's zero values mean.
func DefaultTimes() Times {
	return Times{
		Drain: 100 * time.Millisecond, Ack: 400 * time.Millisecond, Deadline: 2 * time.Second, MaxLag: 100 * time.Millisecond,
		Retry: time.Second, Tick: 100 * time.Millisecond, Reap: 20 * time.Second, ReplicaLag: 5 * time.Second,
	}
}

// Runner works on reorganisations while it leads. New, then Run for each leadership.
type Runner struct {
	cfg     Config
	metrics *metrics
}

// New returns a Runner.
func New(cfg Config) *Runner {
	d, t := DefaultTimes(), &cfg.Times
	for _, f := range []struct{ v, def *time.Duration }{
		{&t.Drain, &d.Drain}, {&t.Ack, &d.Ack}, {&t.Deadline, &d.Deadline}, {&t.MaxLag, &d.MaxLag}, {&t.Retry, &d.Retry},
		{&t.Tick, &d.Tick}, {&t.Reap, &d.Reap}, {&t.ReplicaLag, &d.ReplicaLag},
	} {
		if *f.v <= 0 {
			*f.v = *f.def
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.NewMover == nil {
		cfg.NewMover = func(c mover.Config, m mover.Move) (Mover, error) { return mover.New(c, m) }
	}
	return &Runner{cfg: cfg, metrics: newMetrics(cfg.Registerer)}
}

// errCrash is what Hit returns for a process that dies there.
var errCrash = errors.New("failpoint")

// Run works on the reorganisation that is active, and on each that comes, until ctx ends or the leadership is lost. guard is the
// leadership. settled returns when all schema changes have ended that had begun when it was called.
func (r *Runner) Run(ctx context.Context, guard *topology.Guard, settled func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.reap(ctx, guard) })
	g.Go(func() error {
		for {
			var id string
			err := r.cfg.Store.AwaitRecord(ctx, topology.ReorgLock, lockID, func(rec topology.Record) (bool, error) {
				id = string(rec.Value)
				return rec.Value != nil, nil
			})
			if err != nil {
				return err
			}
			if err := r.work(ctx, guard, settled, id); err != nil {
				return fmt.Errorf("reorganisation %s: %w", id, err)
			}
		}
	})
	return g.Wait()
}

// work carries one reorganisation to its end.
func (r *Runner) work(ctx context.Context, guard *topology.Guard, settled func(context.Context) error, id string) error {
	rec, err := Get(ctx, r.cfg.Store, id)
	if errors.Is(err, ErrUnknown) {
		_, err = r.cfg.Store.Change(guard).DeleteRecord(topology.ReorgLock, lockID, topology.Any).Commit(ctx)
		return err
	}
	if err != nil {
		return err
	}
	j := &job{Runner: r, guard: guard, settled: settled, Record: rec, known: rec.State, wake: make(chan struct{}, 1), log: r.cfg.Log.With("reorg", rec.ID)}
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return j.follow(gctx) })
	g.Go(func() error { return j.report(gctx) })
	groups := rec.groups()
	g.Go(func() error { return j.look(gctx, groups) })
	g.Go(func() error {
		defer cancel()
		defer j.dismiss()
		return j.run(gctx)
	})
	err = g.Wait()
	if j.over {
		// report may have written once more. A record that nobody reads is left behind, if this fails.
		_, _ = r.cfg.Store.Change(guard).DeleteRecord(topology.ReorgProgress, id, topology.Any).Commit(parent)
		return nil
	}
	return err
}

// job is one reorganisation under one leadership. Its Record belongs to the goroutine of run.
type job struct {
	*Runner
	*Record
	guard *topology.Guard
	// settled: see Run.
	settled func(context.Context) error

	log   *slog.Logger
	crew  *crew // nil: no movers run
	over  bool
	known State // as it is in etcd, as far as this controller knows
	// decided, while the cutover is being published: the wish it goes by. Another one that is in etcd first stops it.
	decided *Wish

	waits mover.Waits // beside those of movers
	brake brake

	failed   string // what a step has failed with of late, or nothing
	failedAt time.Time

	mu        sync.Mutex
	wake      chan struct{} // has a token when the record was changed by somebody else
	latest    int64         // its revision then
	attending *attention    // what is broken off when somebody asks for something, or nil
	shown     shown         // what report writes
}

// attention is a step that is broken off when somebody asks for something else than what it was begun for.
type attention struct {
	wish   Wish
	paused bool
	since  int64 // the revision it knows
	stop   context.CancelCauseFunc
}

// errAsked: a step was broken off because somebody has asked for something.
var errAsked = errors.New("something else was asked for meanwhile")

// attend runs f, a part of a step that may take long and be broken off anywhere, and breaks it off with errAsked when somebody
// asks for something else. Meanwhile what is shown says that it is waited for, and what movers, which do not run yet, wait for.
func (j *job) attend(ctx context.Context, what string, f func(context.Context) error, movers ...Mover) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j.mu.Lock()
	j.attending = &attention{wish: j.Wish, paused: j.Paused, since: j.Revision, stop: stop}
	j.mu.Unlock()
	defer func() {
		j.mu.Lock()
		j.attending = nil
		j.mu.Unlock()
	}()
	defer j.watch(what, movers...)()
	err := f(ctx)
	if errors.Is(context.Cause(ctx), errAsked) {
		return errAsked
	}
	return err
}

// watch has it shown that something is waited for, by movers too, until ended is called.
func (j *job) watch(what string, movers ...Mover) (ended func()) {
	done := j.waits.On(what)
	j.mu.Lock()
	j.shown.helpers = movers
	j.mu.Unlock()
	return func() {
		done()
		j.mu.Lock()
		j.shown.helpers = nil
		j.mu.Unlock()
	}
}

// follow notices what others write into the record.
func (j *job) follow(ctx context.Context) error {
	err := j.cfg.Store.AwaitRecord(ctx, topology.Reorgs, j.ID, func(rec topology.Record) (bool, error) {
		now := Record{}
		if rec.Value != nil {
			if err := json.Unmarshal(rec.Value, &now); err != nil {
				return false, fmt.Errorf("decode reorganisation %s: %w", rec.ID, err)
			}
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		j.latest = rec.Revision
		if a := j.attending; a != nil && rec.Revision > a.since && (now.Wish != a.wish || now.Paused != a.paused) {
			a.stop(errAsked)
		}
		select {
		case j.wake <- struct{}{}:
		default:
		}
		return false, nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// refresh takes over what others have written into the record.
func (j *job) refresh(ctx context.Context) error {
	j.mu.Lock()
	stale := j.latest != j.Revision
	j.mu.Unlock()
	if !stale {
		return nil
	}
	rec, err := Get(ctx, j.cfg.Store, j.ID)
	if err != nil {
		return err
	}
	if rec.State != j.known {
		return fmt.Errorf("%w: its state became %s", topology.ErrNotLeader, rec.State) // somebody else leads
	}
	j.Record = rec
	return nil
}

// pauseFor waits, or until the record was changed by somebody else.
func (j *job) pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-j.wake:
	case <-t.C:
	}
	return ctx.Err()
}

// save writes the record, and with it what change has. What others have written meanwhile is kept.
func (j *job) save(ctx context.Context, build func(*topology.Change) *topology.Change) error {
	for {
		data, err := json.Marshal(j.Record)
		if err != nil {
			return err
		}
		change := j.cfg.Store.Change(j.guard)
		if build != nil {
			change = build(change)
		}
		revision, err := change.PutRecord(topology.Reorgs, j.ID, data, j.Revision).Commit(ctx)
		if err == nil {
			j.Revision, j.known = revision, j.State
			return nil
		}
		if !errors.Is(err, topology.ErrConflict) {
			return err
		}
		now, gerr := Get(ctx, j.cfg.Store, j.ID)
		if gerr != nil {
			return gerr
		}
		switch {
		case now.Revision == j.Revision:
			return err // it was not the record
		case now.State != j.known:
			// Somebody else leads, or a write of ours that seemed to fail has not.
			return fmt.Errorf("%w: its state is %s already", topology.ErrNotLeader, now.State)
		}
		if j.decided != nil && now.Wish != *j.decided {
			j.Wish, j.Revision = now.Wish, now.Revision
			return errOtherWish
		}
		if j.Paused, j.Revision = now.Paused, now.Revision; j.decided == nil {
			j.Wish = now.Wish
		}
	}
}

// errOtherWish: somebody has asked for something else in the middle of a cutover.
var errOtherWish = errors.New("something else was asked for")

// enter writes that a state is reached.
func (j *job) enter(ctx context.Context, s State, build func(*topology.Change) *topology.Change) error {
	old := *j.Record
	j.State = s
	if s != old.State {
		j.Problem = j.Reason
		const kept = 100
		if len(j.Steps) == kept { // it has begun anew again and again
			j.Steps = slices.Concat(j.Steps[:1], j.Steps[2:])
		}
		j.Steps = append(j.Steps, Step{s, time.Now().UTC()})
	}
	if err := j.save(ctx, build); err != nil {
		old.Paused, old.Wish, old.Revision = j.Paused, j.Wish, j.Revision
		*j.Record = old
		return err
	}
	if s != old.State {
		j.log.InfoContext(ctx, "reorganisation goes on", "state", s, "partitions", j.Partitions())
	}
	return j.hit("entered." + string(s))
}

// trouble notes why it does not go on.
func (j *job) trouble(ctx context.Context, text string) error {
	if j.Problem == text {
		return nil
	}
	j.Problem = text
	j.log.WarnContext(ctx, "reorganisation does not go on", "state", j.State, "problem", text)
	return j.save(ctx, nil)
}

// failing notes whether the step that is being taken has failed.
func (j *job) failing(yes bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case !yes:
		j.shown.failing = time.Time{}
	case j.shown.failing.IsZero():
		j.shown.failing = time.Now()
	}
}

func (j *job) hit(point string) error {
	if j.cfg.Hit == nil {
		return nil
	}
	if err := j.cfg.Hit(point); err != nil {
		return fmt.Errorf("%w at %s: %w", errCrash, point, err)
	}
	return nil
}

// run takes one step after the other.
func (j *job) run(ctx context.Context) error {
	for {
		if err := j.refresh(ctx); err != nil {
			return err
		}
		if j.State == Done {
			return j.end(ctx)
		}
		err := j.step(ctx)
		switch {
		case err == nil:
			if err := j.worked(ctx); err != nil {
				return err
			}
		case ctx.Err() != nil || errors.Is(err, topology.ErrNotLeader) || errors.Is(err, errCrash):
			return err
		case errors.Is(err, errAsked):
		default:
			// A server or etcd that does not answer now may do so later: the step is taken again.
			j.failed, j.failedAt = err.Error(), time.Now()
			j.failing(true)
			if terr := j.trouble(ctx, j.failed); terr != nil && !errors.Is(terr, topology.ErrUnavailable) {
				return terr
			}
			if err := j.pauseFor(ctx, j.cfg.Times.Retry); err != nil {
				return err
			}
		}
	}
}

// steady is after how many times Times.Retry without a failure the last one is no trouble any more: movers may begin well and fail then.
const steady = 10

// worked takes back what was said of a step that failed, when none has for a while.
func (j *job) worked(ctx context.Context) error {
	if j.failed == "" || time.Since(j.failedAt) < steady*j.cfg.Times.Retry {
		return nil
	}
	text := j.failed
	j.failed = ""
	j.failing(false)
	if j.Problem != text {
		return nil // something else was said since
	}
	j.Problem = j.Reason
	if err := j.save(ctx, nil); err != nil && !errors.Is(err, topology.ErrUnavailable) {
		return err
	}
	return nil
}

// keptRecords is how many reorganisations are remembered.
const keptRecords = 100

// end makes room for the next one.
func (j *job) end(ctx context.Context) error {
	if err := j.hit("end"); err != nil {
		return err
	}
	change := j.cfg.Store.Change(j.guard).DeleteRecord(topology.ReorgLock, lockID, topology.Any).
		DeleteRecord(topology.ReorgProgress, j.ID, topology.Any)
	all, err := List(ctx, j.cfg.Store)
	if err != nil {
		return err
	}
	for i := 0; i < len(all)-keptRecords && i < keptRecords; i++ { // one transaction of etcd holds no more
		if !all[i].Active() {
			change.DeleteRecord(topology.Reorgs, all[i].ID, topology.Any)
		}
	}
	if _, err := change.Commit(ctx); err != nil {
		return err
	}
	j.metrics.ended(j.Outcome)
	j.log.InfoContext(ctx, "reorganisation ended", "outcome", j.Outcome, "problem", j.Problem, "partitions", j.Partitions(),
		"duration", time.Since(j.Created))
	j.over = true
	return nil
}
