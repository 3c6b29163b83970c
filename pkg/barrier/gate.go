package barrier

import (
	"context"
	"sync/atomic"
)

// gate keeps commits from beginning, so that somebody can look at all node groups at a moment when nothing is being
// committed anywhere. It works as maps do: a session announces that it commits, then looks at the gate; whoever has
// closed the gate then looks at the announcements.
type gate struct {
	closed  atomic.Pointer[closing] // nil while commits may begin
	waiting atomic.Bool             // somebody wants to know of commits that have ended
	wake    chan struct{}
}

// closing is one time the gate is closed.
type closing struct{ opened chan struct{} }

// TryCommit is Commit that does not wait: false if the gate is closed.
func (h *Holder) TryCommit() bool {
	h.commits.Store(true)
	if h.barrier.gate.closed.Load() == nil {
		return true
	}
	h.EndCommit()
	return false
}

// Commit announces that the session begins to commit, and waits while the gate is closed. EndCommit ends it.
func (h *Holder) Commit() {
	for !h.TryCommit() {
		if c := h.barrier.gate.closed.Load(); c != nil {
			<-c.opened
		}
	}
}

// EndCommit says that what the session has committed is there, or is not going to be.
func (h *Holder) EndCommit() {
	h.commits.Store(false)
	if g := &h.barrier.gate; g.waiting.Load() {
		select {
		case g.wake <- struct{}{}:
		default:
		}
	}
}

// CloseGate keeps commits from beginning until OpenGate.
func (b *Barrier) CloseGate() {
	b.gate.closed.CompareAndSwap(nil, &closing{make(chan struct{})})
}

// OpenGate lets commits begin again.
func (b *Barrier) OpenGate() {
	if c := b.gate.closed.Swap(nil); c != nil {
		close(c.opened)
	}
}

// AwaitCommits returns when no session is committing any more; the gate must be closed. One goroutine at a time may call it.
func (b *Barrier) AwaitCommits(ctx context.Context) error {
	b.gate.waiting.Store(true)
	defer b.gate.waiting.Store(false)
	for b.committing() {
		select {
		case <-b.gate.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (b *Barrier) committing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for h := range b.holders {
		if h.commits.Load() {
			return true
		}
	}
	return false
}
