package txn

import (
	"slices"
	"sync"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// watched is what others may see of a transaction over several node groups while it is open: the watcher, which looks for
// deadlocks that no single server can see. A transaction on one group has none.
type watched struct {
	began time.Time

	mu       sync.Mutex
	id       ID
	branches []Branch
	since    time.Time // when the statement that runs began, zero between statements
	victim   bool
}

// Branch is a connection to a node group, by its number there.
type Branch struct {
	Group  placement.NodeGroupID `json:"g"`
	Thread uint32                `json:"t"`
}

// watch shows the transaction to the watcher once it is in several groups, and all its branches.
func (t *Txn) watch() {
	w := t.watched
	if w == nil {
		w = &watched{began: t.began}
		t.watched = w
	}
	t.lock(&w.mu)
	w.id = t.id
	w.branches = w.branches[:0]
	for _, b := range t.branches {
		w.branches = append(w.branches, Branch{b.conn.Group, b.conn.ThreadID()})
	}
	if w.since.IsZero() {
		w.since = time.Now() // branches are opened by statements
	}
	w.mu.Unlock()
	t.Coordinator.add(w)
}

// unwatch hides it again.
func (t *Txn) unwatch() {
	if t.watched != nil {
		t.Coordinator.drop(t.watched)
		t.rest()
		t.watched = nil
	}
}

// Work is called when a statement of the transaction begins, and Rest when it has ended: in between the transaction may
// wait for others. The error of Work is a deadlock's; the caller then rolls back.
func (t *Txn) Work() error {
	w := t.watched
	if w == nil {
		return nil
	}
	t.lock(&w.mu)
	defer w.mu.Unlock()
	if w.victim {
		return sqlerr.LockDeadlock.New()
	}
	w.since = time.Now()
	return nil
}

// Rest ends what Work began. It waits for a KILL that is on its way, so that it hits no other statement.
func (t *Txn) Rest() {
	if t.watched != nil {
		t.rest()
	}
}

func (t *Txn) rest() {
	t.lock(&t.watched.mu)
	t.watched.since = time.Time{}
	t.watched.mu.Unlock()
}

// Deadlocked reports whether the server's error code is the end of the transaction, although the server does not say so:
// it was chosen to end a deadlock over several node groups, or has waited for a lock for as long as such a transaction may,
// which is taken for one. Clients are told error 1213, after all is rolled back. A lock that a statement did not wait for is none: NOWAIT.
func (t *Txn) Deadlocked(code sqlerr.Code) bool {
	w := t.watched
	if w == nil {
		return false
	}
	t.lock(&w.mu)
	victim := w.victim
	waited := w.since.IsZero() || time.Since(w.since) > shortRowWait/2
	w.mu.Unlock()
	return victim || waited && code == sqlerr.LockWaitTimeout && slices.ContainsFunc(t.branches, func(b *branch) bool { return b.shortRowWait })
}

// Judge returns the error that a client is told for err, which a statement of the transaction ended with, and whether the
// transaction is to be rolled back for it.
func (t *Txn) Judge(err error) (told error, over bool) {
	if err == nil || !t.Deadlocked(sqlerr.From(err).Code) {
		return err, false
	}
	if sqlerr.HasCode(err, sqlerr.LockWaitTimeout) {
		t.Coordinator.metrics.deadlocks.WithLabelValues("timeout").Inc()
	}
	return sqlerr.LockDeadlock.New(), true
}

// Waiting reports whether c is the connection of a branch whose transaction may be ended for a deadlock.
func (t *Txn) Waiting(c *backend.Conn) bool { return t.watched != nil && t.Holds(c) }
