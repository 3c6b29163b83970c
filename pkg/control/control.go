// Package control is the controller: the elected process, which alone changes the cluster's schema and node groups, and the requests that
// proxies and operators make to it. It never sees a client's rows or statements other than schema changes.
//
// Requests to the controller are records in etcd: they survive every process, and whoever leads next carries on.
package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Role is the election that controllers take part in.
const Role = "controller"

// errCrash is what a failpoint returns for a process that dies there.
var errCrash = errors.New("failpoint")

// Config says what a Controller works on.
type Config struct {
	Store    *topology.Store
	Follower *topology.Follower // run by the caller
	// Addr is the address of this process's admin API; others read it from the election.
	Addr string
	// Member is what this process is announced as.
	Member string
	Log    *slog.Logger
	// Retry is the pause before a step that failed on a node group is tried again; default 1 s.
	Retry time.Duration

	// Reorg, if not nil, works on reorganisations while this process leads.
	Reorg *reorg.Runner
	// Login is how to connect to a group's primary as administrator.
	Login func(g *catalog.NodeGroup) mysqlconn.Config
	// Servers connects to them for schema changes.
	Servers schema.Dialer
	// FailoverAfter is how long a primary is silent before a replica takes its place, where that happens by itself; default FailoverAfter.
	FailoverAfter time.Duration

	// failpoint is called at the named points of a job's way; an error of it is as if the process died there.
	failpoint func(point string) error
}

// Controller takes part in the election and, while it leads, runs the jobs.
type Controller struct {
	cfg   Config
	leads atomic.Bool
}

// Leads reports whether this process is the elected one, as far as it knows.
func (c *Controller) Leads() bool { return c.leads.Load() }

// New returns a Controller; Run makes it live.
func New(cfg Config) *Controller {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Retry == 0 {
		cfg.Retry = time.Second
	}
	if cfg.FailoverAfter == 0 {
		cfg.FailoverAfter = FailoverAfter
	}
	return &Controller{cfg: cfg}
}

// Run takes part in the election until ctx ends; it returns nil then.
func (c *Controller) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		led := false
		err := c.cfg.Store.Campaign(ctx, Role, c.cfg.Addr, func(ctx context.Context, guard *topology.Guard) error {
			c.cfg.Log.InfoContext(ctx, "leads the cluster", "term", guard.Term())
			led = true
			c.leads.Store(true)
			defer c.leads.Store(false)
			l := &leader{
				store:    c.cfg.Store,
				follower: c.cfg.Follower,
				guard:    guard,
				log:      c.cfg.Log,
				retry:    c.cfg.Retry,
				fail:     c.cfg.failpoint,
				member:   c.cfg.Member,
				since:    time.Now(),
				login:    c.cfg.Login,
				servers:  c.cfg.Servers,
				taken:    map[string]context.CancelFunc{},
				fences:   map[string]*fencing{},
				names:    names{dropped: map[ddl.Object]bool{}},
			}
			if c.cfg.Reorg != nil {
				l.evict = c.cfg.Reorg.Evict
			}
			l.lookout = &lookout{leader: l, after: c.cfg.FailoverAfter}
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return l.lead(ctx) })
			g.Go(func() error { return l.lookout.run(ctx) })
			if c.cfg.Reorg != nil {
				g.Go(func() error { return c.cfg.Reorg.Run(ctx, guard, l.queue.Settle) })
			}
			return g.Wait()
		})
		if errors.Is(err, errCrash) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			what := "leads no more"
			if !led {
				what = "cannot stand for leading the cluster"
			}
			c.cfg.Log.WarnContext(ctx, what, "error", err)
			if pause.For(ctx, c.cfg.Retry) != nil {
				break
			}
		}
	}
	return nil
}

// leader is one leadership.
type leader struct {
	store    *topology.Store
	follower *topology.Follower
	guard    *topology.Guard
	log      *slog.Logger
	retry    time.Duration
	fail     func(point string) error
	login    func(g *catalog.NodeGroup) mysqlconn.Config
	servers  schema.Dialer
	// evict shuts a slot out of all servers; nil: nobody can.
	evict func(ctx context.Context, guard *topology.Guard, slot topology.Slot) error

	member    string
	since     time.Time // when it was elected
	inherited int64     // revision of what was there then

	lookout *lookout

	queue   queue
	work    work
	written atomic.Int64 // revision of this leader's last write

	mu       sync.Mutex
	taken    map[string]context.CancelFunc // ends carrying a job, of those that are carried, or were
	finished []string
	fences   map[string]*fencing // by address
	names    names
}

// lead runs jobs as they come.
func (l *leader) lead(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	records, revision, err := l.store.Records(ctx, topology.DDLJobs)
	if err != nil {
		return err
	}
	l.inherited = revision
	if err := l.resume(ctx, g, records); err != nil {
		return err
	}
	l.queue.open()
	g.Go(func() error {
		return l.store.WatchRecords(ctx, topology.DDLJobs, func(r topology.Record) error {
			if r.Value == nil {
				l.removed(r.ID)
				return nil
			}
			l.start(ctx, g, l.queue.join(r.ID))
			return nil
		})
	})
	return g.Wait()
}

// resume goes on with what leaders before have begun.
func (l *leader) resume(ctx context.Context, g *errgroup.Group, records []topology.Record) error {
	var snap *catalog.Snapshot
	for _, r := range records {
		j, err := decodeJob(r)
		if err != nil || j.State != running {
			continue
		}
		if snap == nil {
			if snap, err = l.snapshot(ctx); err != nil {
				return err
			}
		}
		t := l.queue.join(j.ID)
		t.begun(scopeOf(j, snap))
		l.start(ctx, g, t)
	}
	return nil
}

// start carries the job of a turn to its end, unless that is done already, and leaves the turn.
func (l *leader) start(ctx context.Context, g *errgroup.Group, t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken[t.id] != nil {
		t.leave()
		return
	}
	carrying, cancel := context.WithCancel(ctx)
	l.taken[t.id] = cancel
	g.Go(func() error {
		defer cancel()
		defer t.leave()
		ended, err := l.carry(carrying, t)
		if carrying.Err() != nil && ctx.Err() == nil {
			return nil // it was withdrawn
		}
		if err != nil || !ended {
			return err
		}
		return l.forget(ctx, t.id)
	})
}

// removed ends carrying a job whose record is gone: it was withdrawn, or has ended.
func (l *leader) removed(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.taken[id]; cancel != nil {
		cancel()
		delete(l.taken, id)
	}
}

// longestRetry is how long a job that does not get on waits at most before it is tried again.
const longestRetry = 30 * time.Second

// carry takes a job to its end. What hinders one job, a server that hangs for instance, is tried again, longer and longer apart, and noted
// in the job: it does not cost the leadership, on which all that moves partitions depends as well.
func (l *leader) carry(ctx context.Context, t *turn) (ended bool, err error) {
	id := t.id
	for wait := l.retry; ; wait = min(2*wait, longestRetry) {
		// The watch may be behind this leader's own writes.
		j, err := storedJob(ctx, l.store, id)
		if errors.Is(err, errUndecoded) {
			l.log.ErrorContext(ctx, "a job cannot be read and is left alone", "job", id, "error", err)
			return false, nil
		}
		if err != nil || j == nil {
			return false, err
		}
		if j.ended() {
			return true, nil
		}
		if j, err = l.inTurn(ctx, j, t); err == nil {
			return j != nil && j.ended(), nil
		}
		if ctx.Err() != nil || leadsNoMore(err) {
			return false, err
		}
		if wider, ok := errors.AsType[*widerError](err); ok {
			if err := t.take(ctx, wider.scope); err != nil {
				return false, err
			}
			continue
		}
		l.log.WarnContext(ctx, "a schema change does not get on", "job", id, "error", err, "retry", wait)
		if err := l.note(ctx, id, err.Error()); err != nil && leadsNoMore(err) {
			return false, err
		}
		if err := pause.For(ctx, wait); err != nil {
			return false, err
		}
	}
}

// inTurn does the job when it is its turn, unless it was withdrawn, or abandoned, while it waited. It returns the job as it is then, or nil.
func (l *leader) inTurn(ctx context.Context, j *job, t *turn) (*job, error) {
	if j.urgent() {
		snap, err := l.snapshot(ctx)
		if err != nil {
			return j, err
		}
		return j, l.do(ctx, j, t, snap)
	}
	snap, err := l.turnOf(ctx, j, t)
	if err != nil {
		return j, err
	}
	if j.State == queued {
		if j, err = storedJob(ctx, l.store, j.ID); err != nil || j == nil || j.ended() {
			return j, err
		}
	}
	return j, l.unlessAbandoned(ctx, j, t, snap)
}

// unlessAbandoned is do, but for a job that nobody has begun and whose process is gone: its client has lost its connection, may have found that
// nothing was changed, and gone on. It ends the job.
func (l *leader) unlessAbandoned(ctx context.Context, j *job, t *turn, snap *catalog.Snapshot) error {
	if j.State != queued || j.From == "" || j.From == l.member {
		return l.do(ctx, j, t, snap)
	}
	if j.revision <= l.inherited { // who died together with the leader before is taken for alive as long as that was
		if err := pause.For(ctx, time.Until(l.since.Add(topology.Lease))); err != nil {
			return err
		}
	}
	for tries := range 2 {
		if tries > 0 { // a process that announces itself anew is missing for a moment
			if err := pause.For(ctx, goneFor); err != nil {
				return err
			}
		}
		members, err := l.store.Members(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(members, func(m topology.Member) bool { return m.ID == j.From }) {
			return l.do(ctx, j, t, snap)
		}
	}
	l.log.WarnContext(ctx, "a schema change is not begun: the process that asked for it is gone", "job", j.ID, "process", j.From)
	j.State, j.Error = failed, sqlerr.UnknownError.New("the process that asked for the schema change was gone before it began: nothing is changed")
	return l.save(ctx, j)
}

// leadsNoMore tells errors after which this leader must stop.
func leadsNoMore(err error) bool {
	return errors.Is(err, topology.ErrNotLeader) || errors.Is(err, topology.ErrUnavailable) || errors.Is(err, errCrash)
}

// note writes into a job why it does not get on.
func (l *leader) note(ctx context.Context, id, problem string) error {
	j, err := storedJob(ctx, l.store, id)
	if err != nil || j == nil || j.ended() || j.Problem == problem {
		return err
	}
	j.Problem = problem
	return l.save(ctx, j)
}

// do carries one job to its end.
func (l *leader) do(ctx context.Context, j *job, t *turn, snap *catalog.Snapshot) (err error) {
	began := time.Now()
	resumed := j.State == running
	ctx, end, err := l.work.begin(ctx, j.urgent())
	if err != nil {
		return err
	}
	defer end()
	switch {
	case j.DDL != nil:
		err = (&schemaChange{leader: l, job: j, turn: t, snap: snap}).run(ctx)
	case j.Adopt != nil:
		err = (&adoption{leader: l, job: j, turn: t, snap: snap}).run(ctx)
	case j.Switchover != nil:
		err = (&switchover{leader: l, job: j, snap: snap}).run(ctx)
	case j.Replicas != nil:
		err = (&replicaChange{leader: l, job: j, snap: snap}).run(ctx)
	default: // of another version
		j.State, j.Error = failed, sqlerr.UnknownError.New("the controller does not know what is asked for: run the same version of skarv everywhere")
		err = l.save(ctx, j)
	}
	if err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	attrs := []any{"job", j.ID, "state", j.State, "resumed", resumed, "duration", time.Since(began)}
	if j.Error != nil {
		attrs = append(attrs, "code", j.Error.Code)
	}
	l.log.InfoContext(ctx, "job ended", attrs...)
	return nil
}

// turnOf waits until it is the job's turn, and returns a state that shows what all have written whose turn it was before, in leaderships
// before as well.
func (l *leader) turnOf(ctx context.Context, j *job, t *turn) (*catalog.Snapshot, error) {
	snap, err := l.snapshot(ctx)
	for err == nil && j.State == queued { // what has begun has its turn
		if err = t.take(ctx, scopeOf(j, snap)); err != nil {
			break
		}
		if snap, err = l.snapshot(ctx); err == nil && t.keeps(scopeOf(j, snap)) {
			break
		}
	}
	return snap, err
}

// snapshot is the state with all that leaders before and this one have written.
func (l *leader) snapshot(ctx context.Context) (*catalog.Snapshot, error) {
	if written := l.written.Load(); written > 0 && l.follower != nil {
		return l.follower.Reach(ctx, written)
	}
	return l.store.Load(ctx)
}

// commit makes a change, and returns its revision.
func (l *leader) commit(ctx context.Context, change *topology.Change) (int64, error) {
	revision, err := change.Commit(ctx)
	if err != nil {
		return 0, err
	}
	for {
		last := l.written.Load()
		if last >= revision || l.written.CompareAndSwap(last, revision) {
			return revision, nil
		}
	}
}

// save writes the job's record.
func (l *leader) save(ctx context.Context, j *job) error {
	return l.saveWith(ctx, j, l.store.Change(l.guard))
}

// saveWith writes the job's record together with a change of the catalog.
func (l *leader) saveWith(ctx context.Context, j *job, change *topology.Change) error {
	data, err := j.encode()
	if err != nil {
		return err
	}
	revision, err := l.commit(ctx, change.PutRecord(topology.DDLJobs, j.ID, data, j.revision))
	if err != nil {
		return err
	}
	j.revision = revision
	return nil
}

// forget removes the oldest of too many finished jobs.
func (l *leader) forget(ctx context.Context, id string) error {
	l.mu.Lock()
	oldest := ""
	if l.finished = append(l.finished, id); len(l.finished) > keptJobs {
		oldest, l.finished = l.finished[0], l.finished[1:]
	}
	l.mu.Unlock()
	if oldest == "" {
		return nil
	}
	for {
		last, at, err := lastForgotten(ctx, l.store)
		if err != nil {
			return err
		}
		change := l.store.Change(l.guard).DeleteRecord(topology.DDLJobs, oldest, topology.Any)
		if oldest > last { // and still is: others forget at the same time, and it must never go back
			change.PutRecord(topology.DDLForgotten, forgottenID, []byte(oldest), at)
		}
		if _, err = change.Commit(ctx); !errors.Is(err, topology.ErrConflict) {
			return err
		}
	}
}

// at is a failpoint.
func (l *leader) at(point string) error {
	if l.fail == nil {
		return nil
	}
	if err := l.fail(point); err != nil {
		return fmt.Errorf("%w at %s: %w", errCrash, point, err)
	}
	return nil
}
