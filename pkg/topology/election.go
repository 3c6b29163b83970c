package topology

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// Lease is how long a process that fell silent is still taken for alive.
const Lease = 5 * time.Second

const leaseSeconds = int64(Lease / time.Second)

// Guard is proof of leadership: a Change made with it is applied only while this very leadership lasts. Unlike a
// lease read by a clock, that holds for a process that was paused as well.
type Guard struct {
	key      string
	revision int64
}

// Term is a number that rises with every change of leader.
func (g *Guard) Term() int64 { return g.revision }

// Campaign waits until this process leads role, then calls lead and returns what it returned, after the
// leadership is given up. value is what others read with Leader. lead's context ends when the leadership does; what
// it writes afterwards with the guard is refused.
func (s *Store) Campaign(ctx context.Context, role, value string, lead func(context.Context, *Guard) error) error {
	lease, err := s.client.Grant(ctx, leaseSeconds)
	if err = s.observe(ctx, err); err != nil {
		return fmt.Errorf("campaign for %s: %w", role, err)
	}
	session, err := concurrency.NewSession(s.client, concurrency.WithLease(lease.ID), concurrency.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("campaign for %s: %w", role, err)
	}
	defer s.resign(lease.ID, session)

	guard, err := s.acquire(ctx, session, role, value)
	if err != nil {
		return fmt.Errorf("campaign for %s: %w", role, err)
	}
	leading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watcher := make(chan struct{})
	go func() {
		defer close(watcher)
		select {
		case <-session.Done():
			stop(ErrNotLeader)
		case <-leading.Done():
		}
	}()
	err = lead(leading, guard)
	if cause := context.Cause(leading); errors.Is(cause, ErrNotLeader) && ctx.Err() == nil {
		err = ErrNotLeader
	}
	stop(nil)
	<-watcher
	return err
}

// acquire waits until role is free and takes it.
func (s *Store) acquire(ctx context.Context, session *concurrency.Session, role, value string) (*Guard, error) {
	key := s.leaderKey(role)
	for {
		r, err := s.client.Txn(ctx).
			If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
			Then(clientv3.OpPut(key, value, clientv3.WithLease(session.Lease()))).
			Else(clientv3.OpGet(key)).
			Commit()
		if err = s.observe(ctx, err); err != nil {
			return nil, err
		}
		if r.Succeeded {
			return &Guard{key: key, revision: r.Header.Revision}, nil
		}
		kvs := r.Responses[0].GetResponseRange().Kvs
		if len(kvs) == 1 && kvs[0].Lease == int64(session.Lease()) {
			return &Guard{key: key, revision: kvs[0].CreateRevision}, nil // our own put, its answer was lost
		}
		if err := s.waitFree(ctx, session, key, r.Header.Revision+1); err != nil {
			return nil, err
		}
	}
}

// waitFree returns when key was deleted after revision, or when it should be tried again for another reason.
func (s *Store) waitFree(ctx context.Context, session *concurrency.Session, key string, revision int64) error {
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := s.client.Watch(watch, key, clientv3.WithRev(revision), clientv3.WithFilterPut())
	select {
	case <-changes: // deleted, compacted or broken: whichever it is, try again
		return ctx.Err()
	case <-session.Done():
		return ErrNotLeader
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resign gives the leadership up at once, so that another need not wait for the lease to run out.
func (s *Store) resign(lease clientv3.LeaseID, session *concurrency.Session) {
	session.Orphan()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, _ = s.client.Revoke(ctx, lease) // if it fails, the lease runs out by itself
}

// Leader returns what the present leader of role said of itself; ok is false if there is none.
func (s *Store) Leader(ctx context.Context, role string) (value string, ok bool, err error) {
	v, _, err := s.get(ctx, s.leaderKey(role))
	return string(v), v != nil, err
}

// Verify returns nil if the leadership of g still lasted while this call ran, else ErrNotLeader. Whoever acts on
// something that etcd does not guard connects to it first, then verifies, then acts through that connection only.
func (s *Store) Verify(ctx context.Context, g *Guard) error {
	r, err := s.ask(ctx, g.key, clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	if len(r.Kvs) == 0 || r.Kvs[0].CreateRevision != g.revision {
		return ErrNotLeader
	}
	return nil
}
