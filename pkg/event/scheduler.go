// Package event runs events (CREATE EVENT) on time. Of all proxies one is elected; it alone looks at the clock and runs what is
// due, each event as its definer through a session of its own process.
//
// A time at which an event is due is a tick. A tick runs at most once in the whole cluster:
//
//	1 claim   the event's state says that this tick has begun; etcd takes it only from the elected process, and only over the state
//	          that was read
//	2 run     by nobody else, for whoever is elected next finds the claim
//	3 end     the state says how it ended
//
// A process that dies between 1 and 3 leaves a tick that ran, ran in part or did not run: its outcome is unknown, and it is not
// run again. Ticks that nobody was there for are not made up for, but for the newest one if it is recent, and for events that
// run once.
//
// What a body means is the session's business, and when a tick is, a server's, which knows time zones.
package event

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/topology"
)

// Role is the election that schedulers take part in.
const Role = "events"

const (
	// lateness is how old a tick of an event that runs repeatedly may be when it is run.
	lateness = 5 * time.Minute
	// atOnce bounds the events that run at the same time; more wait.
	atOnce = 32
	// lookAgain bounds how long the clock is not looked at, and retry the pause after a failure.
	lookAgain = 30 * time.Second
	retry     = time.Second
	// keptStates is how long the state of an event that was dropped is kept.
	keptStates = 24 * time.Hour
)

// Config says what a Scheduler works on and how.
type Config struct {
	Store *topology.Store
	// Snapshot returns the present state of the cluster; Next waits for one at or after revision.
	Snapshot func() *catalog.Snapshot
	Next     func(ctx context.Context, revision int64) (*catalog.Snapshot, error)
	// Process is this process's name in states.
	Process string
	// Ask computes a row on a database server, in a time zone; NULL is "".
	Ask func(ctx context.Context, timeZone, query string) ([]string, error)
	// Run runs the body of an event once.
	Run func(e *catalog.Event) error
	// Finish drops an event whose time is over, or disables it, unless it was changed since.
	Finish     func(ctx context.Context, e *catalog.Event) error
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Scheduler takes part in the election and, while elected, runs events.
type Scheduler struct {
	cfg     Config
	runs    *prometheus.CounterVec
	running prometheus.Gauge
}

// New returns a Scheduler; Run makes it live.
func New(cfg Config) *Scheduler {
	s := &Scheduler{
		cfg: cfg,
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_event_runs_total", Help: "Runs of events by this process, by outcome.",
		}, []string{"outcome"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "skarv_events_running", Help: "Events that this process runs now."}),
	}
	cfg.Registerer.MustRegister(s.runs, s.running)
	return s
}

// Run takes part in the election until ctx ends; it returns nil then, when all runs have ended.
func (s *Scheduler) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := s.cfg.Store.Campaign(ctx, Role, s.cfg.Process, s.lead)
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "runs no events", "error", err)
			_ = pause.For(ctx, retry) // its end is the loop's
		}
	}
	return nil
}

// leadership is one term of being elected.
type leadership struct {
	*Scheduler
	guard  *topology.Guard
	states map[catalog.EventKey]State
	// known are the times of events as they were computed last.
	known map[catalog.EventKey]*entry
	busy  map[catalog.EventKey]bool
	ended chan run
	work  errgroup.Group
}

// entry is what is known of an event's times.
type entry struct {
	event      *catalog.Event
	last, next time.Time
	retry      time.Time // what failed is tried again then
}

// run is a run that has ended.
type run struct {
	key   catalog.EventKey
	state State
}

// lead runs events until ctx ends, and returns when those that run have ended.
func (s *Scheduler) lead(ctx context.Context, guard *topology.Guard) error {
	l := &leadership{
		Scheduler: s, guard: guard, known: map[catalog.EventKey]*entry{}, busy: map[catalog.EventKey]bool{}, ended: make(chan run, atOnce),
	}
	changed := make(chan struct{}, 1)
	follow, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return s.follow(follow, changed) })
	err := l.takeOver(ctx)
	for err == nil && ctx.Err() == nil {
		var wake time.Time
		if wake, err = l.look(ctx, time.Now()); err != nil {
			break
		}
		t := time.NewTimer(min(max(time.Until(wake), 0), lookAgain))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-t.C:
		case r := <-l.ended:
			delete(l.busy, r.key)
			l.states[r.key] = r.state
		}
		t.Stop()
	}
	stop()
	_ = g.Wait()
	_ = l.work.Wait()
	return err
}

// follow signals when the events of the cluster change.
func (s *Scheduler) follow(ctx context.Context, changed chan<- struct{}) error {
	for snap := s.cfg.Snapshot(); ; {
		next, err := s.cfg.Next(ctx, snap.Revision+1)
		if err != nil {
			return nil //nolint:nilerr // the context ended
		}
		snap = next
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// takeOver reads the states that earlier leaderships have left.
func (l *leadership) takeOver(ctx context.Context) (err error) {
	if l.states, err = States(ctx, l.cfg.Store); err != nil {
		return err
	}
	for key, st := range l.states {
		if st.Outcome != Running || l.busy[key] {
			continue
		}
		l.cfg.Log.WarnContext(ctx, "how an event ended is not known", "database", st.Database, "event", st.Name, "tick", st.Tick, "process", st.Process)
		st.Outcome, st.Error = Unknown, "process "+st.Process+" is no longer in charge: it ran, ran in part, or did not run"
		if err := write(ctx, l.cfg.Store, l.guard, &st); err != nil {
			if errors.Is(err, topology.ErrConflict) { // it has ended at this moment
				return l.takeOver(ctx)
			}
			return err
		}
		l.states[key] = st
	}
	return nil
}

// look starts what is due, and returns when to look again.
func (l *leadership) look(ctx context.Context, now time.Time) (wake time.Time, err error) {
	snap := l.cfg.Snapshot()
	wake = now.Add(lookAgain)
	soonest := func(t time.Time) {
		if !t.IsZero() && t.Before(wake) {
			wake = t
		}
	}
	if err := l.forget(ctx, snap, now); err != nil {
		return wake, err
	}
	if snap.EventsOff {
		return wake, nil
	}
	for key, e := range snap.Events {
		if e.Status != catalog.EventEnabled || l.busy[key] {
			continue
		}
		k := l.known[key]
		if k == nil || k.event != e {
			k = &entry{event: e, retry: now}
			l.known[key] = k
		}
		if now.Before(k.retry) {
			soonest(k.retry)
			continue
		}
		if k.last.IsZero() && k.next.IsZero() || !k.next.IsZero() && !now.Before(k.next) {
			if k.last, k.next, err = l.times(ctx, e, now); err != nil {
				l.cfg.Log.WarnContext(ctx, "an event waits", "database", e.Database, "event", e.Name, "error", err)
				k.last, k.next, k.retry = time.Time{}, time.Time{}, now.Add(retry)
				soonest(k.retry)
				continue
			}
		}
		switch {
		case l.due(k, now):
			if len(l.busy) == atOnce {
				continue // a run that ends is what is waited for
			}
			if err := l.start(ctx, key, k); err != nil {
				return wake, err
			}
		case k.next.IsZero() && len(l.busy) < atOnce:
			k.retry = now.Add(lookAgain)
			l.finish(ctx, key, e)
		}
		soonest(k.next)
	}
	return wake, nil
}

// due reports whether the newest tick of an event is to be run.
func (l *leadership) due(k *entry, now time.Time) bool {
	ran := l.states[k.event.Key()]
	if k.last.IsZero() || !k.last.After(k.event.Since) || !k.last.After(ran.Tick) && ran.Scheduled.Equal(k.event.Scheduled) {
		return false
	}
	return !k.event.At.IsZero() || now.Sub(k.last) <= lateness
}

// start claims a tick and runs it.
func (l *leadership) start(ctx context.Context, key catalog.EventKey, k *entry) error {
	e := k.event
	st := l.states[key]
	st.Database, st.Name, st.Tick, st.Scheduled, st.Started, st.Ended = e.Database, e.Name, k.last, e.Scheduled, time.Now().UTC(), time.Time{}
	st.Outcome, st.Error, st.Process, st.Term = Running, "", l.cfg.Process, l.guard.Term()
	st.Runs++
	if err := write(ctx, l.cfg.Store, l.guard, &st); err != nil {
		if errors.Is(err, topology.ErrConflict) { // whoever ran it before has written down how that ended
			return l.takeOver(ctx)
		}
		return err // also if it was written: whoever is elected next leaves the tick out
	}
	l.states[key], l.busy[key] = st, true
	l.running.Inc()
	l.work.Go(func() error {
		l.do(context.WithoutCancel(ctx), e, &st)
		l.running.Dec()
		l.ended <- run{key, st} // has room for all that run at once
		return nil
	})
	return nil
}

// finish has an event dropped or disabled whose time is over.
func (l *leadership) finish(ctx context.Context, key catalog.EventKey, e *catalog.Event) {
	l.busy[key] = true
	st := l.states[key]
	l.work.Go(func() error {
		if err := l.cfg.Finish(ctx, e); err != nil && ctx.Err() == nil {
			l.cfg.Log.WarnContext(ctx, "an event whose time is over stays", "database", e.Database, "event", e.Name, "error", err)
		}
		l.ended <- run{key, st}
		return nil
	})
}

// do runs a tick that was claimed.
func (l *leadership) do(ctx context.Context, e *catalog.Event, st *State) {
	err := l.cfg.Run(e)
	st.Ended, st.Outcome = time.Now().UTC(), Succeeded
	if err != nil {
		st.Outcome, st.Error = Failed, err.Error()
		st.Failures++
		l.cfg.Log.ErrorContext(ctx, "event failed", "database", e.Database, "event", e.Name, "tick", st.Tick, "error", err)
	}
	l.runs.WithLabelValues(string(st.Outcome)).Inc()
	if err := ended(ctx, l.cfg.Store, st); err != nil {
		l.cfg.Log.WarnContext(ctx, "how an event ended could not be written down", "database", e.Database, "event", e.Name, "error", err)
	}
}

// forget removes what is kept of events that were dropped.
func (l *leadership) forget(ctx context.Context, snap *catalog.Snapshot, now time.Time) error {
	for key := range l.known {
		if snap.Events[key] == nil {
			delete(l.known, key)
		}
	}
	for key, st := range l.states {
		if snap.Events[key] != nil || l.busy[key] || now.Sub(st.Started) < keptStates {
			continue
		}
		_, err := l.cfg.Store.Change(l.guard).DeleteRecord(topology.EventRuns, recordID(key), st.revision).Commit(ctx)
		if err != nil && !errors.Is(err, topology.ErrConflict) {
			return err
		}
		delete(l.states, key)
	}
	return nil
}
