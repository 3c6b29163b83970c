package topology

import (
	"context"
	"sync"
	"sync/atomic"

	"skarv/pkg/catalog"
)

// Follower keeps this process's newest snapshot. Snapshot costs one atomic load.
type Follower struct {
	store         *Store
	before, after func(*catalog.Snapshot)
	current       atomic.Pointer[catalog.Snapshot]

	mu     sync.Mutex
	change chan struct{} // closed and replaced when current changes
}

// NewFollower returns a Follower that Run keeps up to date. Each new snapshot is given to before, then Snapshot and Wait
// return it, then it is given to after: what it names can be there before anybody asks for it, and what it does not name
// any more can go when nobody learns of it. Both are called from one goroutine and may be nil.
func NewFollower(s *Store, before, after func(*catalog.Snapshot)) *Follower {
	none := func(*catalog.Snapshot) {}
	f := &Follower{store: s, before: none, after: none, change: make(chan struct{})}
	if before != nil {
		f.before = before
	}
	if after != nil {
		f.after = after
	}
	return f
}

// Run follows the cluster state until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	return f.store.Watch(ctx, func(snap *catalog.Snapshot) {
		f.before(snap)
		f.current.Store(snap)
		f.mu.Lock()
		close(f.change)
		f.change = make(chan struct{})
		f.mu.Unlock()
		f.after(snap)
	})
}

// Snapshot returns the newest snapshot, or nil before the first was read.
func (f *Follower) Snapshot() *catalog.Snapshot { return f.current.Load() }

// Wait returns the first snapshot at or after revision that this process sees; revision 0 waits for any.
func (f *Follower) Wait(ctx context.Context, revision int64) (*catalog.Snapshot, error) {
	for {
		f.mu.Lock()
		change := f.change
		f.mu.Unlock()
		if snap := f.current.Load(); snap != nil && snap.Revision >= revision {
			return snap, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// AwaitMap waits until Snapshot shows the partition map that is current when it is called, or a newer one.
func (f *Follower) AwaitMap(ctx context.Context) error {
	_, revision, err := f.store.Map(ctx)
	if err != nil || revision == Absent {
		return err
	}
	_, err = f.Wait(ctx, revision)
	return err
}
