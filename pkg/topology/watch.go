package topology

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
)

// probeInterval is how often Watch asks etcd for a sign of life, and every so many times whether it takes writes.
const (
	probeInterval = time.Second
	probeWrites   = 10
)

// Load reads the whole cluster state as it is now. Before `cluster init` that is an empty snapshot.
func (s *Store) Load(ctx context.Context) (*catalog.Snapshot, error) {
	b, revision, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return b.snapshot(revision), nil
}

func (s *Store) load(ctx context.Context) (*builder, int64, error) {
	r, err := s.ask(ctx, s.prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, 0, fmt.Errorf("load cluster state: %w", err)
	}
	b := newBuilder(s)
	for _, kv := range r.Kvs { // in key order: accounts, cluster, databases, groups, tables
		b.apply(kv, false)
	}
	return b, r.Header.Revision, nil
}

// Watch calls publish with the state as it is now and with each later state, and same with the revision of each change that has left
// the last one as it was, in order and from one goroutine, until ctx ends; it returns nil then. While etcd is not reachable the last
// snapshot stands and Healthy tells since when. After a compaction the state is read anew. An etcd that has gone back to an older state
// ends it with ErrRestored: what follows from the newer one, such as which rows other servers have deleted since, is not undone by that.
// Both should return quickly.
func (s *Store) Watch(ctx context.Context, publish func(*catalog.Snapshot), same func(revision int64)) error {
	g, ctx := errgroup.WithContext(ctx)
	var seen atomic.Int64 // the newest revision that is known here
	g.Go(func() error { return s.probe(ctx, &seen) })
	g.Go(func() error {
		return s.watchState(ctx, func(snap *catalog.Snapshot) {
			seen.Store(snap.Revision)
			publish(snap)
		}, func(revision int64) {
			seen.Store(revision)
			same(revision)
		})
	})
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func (s *Store) watchState(ctx context.Context, publish func(*catalog.Snapshot), same func(int64)) error {
	last := &catalog.Snapshot{}
	for wait := (backoff{}); ; {
		b, revision, err := s.load(ctx)
		if err != nil {
			if err := wait.pause(ctx); err != nil {
				return err
			}
			continue
		}
		wait = backoff{}
		snap := b.snapshot(revision)
		if snap.Revision < last.Revision || older(snap, last) {
			return ErrRestored
		}
		last = snap
		publish(snap)
		if err := s.watchFrom(ctx, s.prefix, revision+1, func(events []*clientv3.Event, revision int64) error {
			changed := false
			for _, e := range events {
				if b.apply(e.Kv, e.Type == clientv3.EventTypeDelete) {
					changed = true
				}
			}
			if changed {
				last = b.snapshot(revision)
				publish(last)
			} else {
				same(revision)
			}
			return nil
		}); err != nil {
			return err
		}
		if err := wait.pause(ctx); err != nil {
			return err
		}
	}
}

// older reports whether a state that was read after last is that of the same cluster at an earlier time, whatever its revision is.
func older(snap, last *catalog.Snapshot) bool {
	return snap.ClusterID == last.ClusterID && last.Map != nil && (snap.Map == nil || snap.Map.Epoch() < last.Map.Epoch())
}

// watchFrom hands the changes under prefix since revision to fn. It returns nil when the watch broke for a reason
// that asks for reading everything anew, and fn's or ctx's error.
func (s *Store) watchFrom(ctx context.Context, prefix string, revision int64, fn func(events []*clientv3.Event, revision int64) error) error {
	watch, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	for r := range s.client.Watch(watch, prefix, clientv3.WithPrefix(), clientv3.WithRev(revision)) {
		if err := r.Err(); err != nil {
			if ctx.Err() == nil {
				s.log.Warn("watch of cluster state broke", "compact_revision", r.CompactRevision, "error", err)
			}
			break
		}
		if len(r.Events) == 0 {
			continue
		}
		// The header's revision can be ahead of the events while the watch is catching up.
		if err := fn(r.Events, r.Events[len(r.Events)-1].Kv.ModRevision); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// probe keeps Healthy true to life while nothing else is asked of etcd. It returns ErrRestored when etcd has gone back.
func (s *Store) probe(ctx context.Context, seen *atomic.Int64) error {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	var cluster uint64
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		was, revision := s.Healthy(), seen.Load()
		write := n%probeWrites == 0 || errors.Is(was.Err, ErrFull)
		r, err := s.knock(ctx, write, 2*probeInterval)
		var cause error
		if isLate(err) {
			if cause = s.diagnose(ctx); cause == nil { // it takes connections
				s.noteSlow(2 * probeInterval)
				r, err = s.knock(ctx, write, s.timeout)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_ = s.observe(ctx, err)
		if r != nil {
			if r.Header.Revision < revision || cluster != 0 && r.Header.ClusterId != cluster {
				return ErrRestored
			}
			cluster = r.Header.ClusterId
		}
		if isLate(err) {
			if cause == nil {
				cause = fmt.Errorf("it takes connections, but has not answered for %v: it may be frozen, or without a majority", s.timeout)
			}
			s.explain(cause)
			err = cause
		}
		// Who begins, and has read nothing yet, has no state to go on with.
		goingOn := "going on with the last known state"
		if revision == 0 {
			goingOn = "waiting for it"
		}
		if now := s.Healthy(); was.OK != now.OK {
			switch {
			case now.OK:
				s.log.Info("etcd answers again", "outage", now.Since.Sub(was.Since))
			case errors.Is(now.Err, ErrFull):
				s.log.Error("etcd takes no writes, "+goingOn, "error", now.Err)
			default:
				s.log.Warn("etcd does not answer, "+goingOn, "error", err)
			}
		}
	}
}

// slowAnswer is how long etcd may take for an answer before it is told of.
const slowAnswer = time.Second

// knock asks etcd for a sign of life, and whether it takes writes, and notes how long that took. r is nil unless it answered.
func (s *Store) knock(ctx context.Context, write bool, patience time.Duration) (r *clientv3.GetResponse, err error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	r, err = s.client.Get(bounded, s.clusterKey(), clientv3.WithCountOnly())
	if err == nil && write {
		err = s.tryWriting(bounded)
	}
	if took := time.Since(began); err == nil {
		s.noteSlow(took)
	}
	return r, err
}

// noteSlow notes that etcd has taken so long to answer, or has not answered for so long.
func (s *Store) noteSlow(took time.Duration) {
	took = took.Round(time.Millisecond)
	if took < slowAnswer {
		took = 0
	}
	s.mu.Lock()
	before := s.health.Slow
	s.health.Slow = took
	s.mu.Unlock()
	switch {
	case before == 0 && took > 0:
		s.log.Warn("etcd is slow", "duration", took)
	case before > 0 && took == 0:
		s.log.Info("etcd is not slow any more")
	}
}

// tryWriting asks for a write that would need room, and writes nothing.
func (s *Store) tryWriting(ctx context.Context) error {
	key := s.clusterKey()
	_, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", -1)).Then(clientv3.OpPut(key, "")).Commit()
	if err == nil {
		s.mu.Lock()
		s.full = false
		s.mu.Unlock()
	}
	return err
}

// backoff is the pause between attempts: it doubles to a second and varies, so that not all come at once.
type backoff struct{ last time.Duration }

func (b *backoff) pause(ctx context.Context) error {
	b.last = min(max(2*b.last, 20*time.Millisecond), time.Second)
	return pause.For(ctx, b.last/2+rand.N(b.last/2))
}
