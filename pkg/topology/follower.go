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
	change chan struct{} // closed and replaced when current or seen changes
	seen   int64         // the revision up to which current shows everything
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
		f.reached(snap.Revision)
		f.after(snap)
	}, f.reached)
}

// reached wakes all who wait: current shows everything up to revision.
func (f *Follower) reached(revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = revision
	close(f.change)
	f.change = make(chan struct{})
}

// Snapshot returns the newest snapshot, or nil before the first was read.
func (f *Follower) Snapshot() *catalog.Snapshot { return f.current.Load() }

// Wait returns the first snapshot that this process sees and that something has changed at or after revision; revision 0 waits for any.
// What changed at revision must be something that snapshots show, or it waits for the next that is: see Reach.
func (f *Follower) Wait(ctx context.Context, revision int64) (*catalog.Snapshot, error) {
	return f.await(ctx, func(snap *catalog.Snapshot, _ int64) bool { return snap.Revision >= revision })
}

// Reach returns a snapshot that shows everything up to revision, that of any change under the store's prefix, whether snapshots show what
// it has changed or not. The snapshot's own revision is smaller if they do not.
func (f *Follower) Reach(ctx context.Context, revision int64) (*catalog.Snapshot, error) {
	return f.await(ctx, func(_ *catalog.Snapshot, seen int64) bool { return seen >= revision })
}

// await waits until ok says so of the snapshot there is and the revision up to which it shows everything.
func (f *Follower) await(ctx context.Context, ok func(snap *catalog.Snapshot, seen int64) bool) (*catalog.Snapshot, error) {
	for {
		f.mu.Lock()
		change, seen := f.change, f.seen
		f.mu.Unlock()
		if snap := f.current.Load(); snap != nil && ok(snap, seen) {
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
