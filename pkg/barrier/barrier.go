// Package barrier tells when nothing in this process works by an old partition map, or an old catalog, any more. Every session
// has a Holder in which it announces what it is about to use, before it looks at the map, and the catalog, once more; whoever
// has published another one then looks at the Holders. Both orders in between are safe, and neither side waits for the other on
// the way of a statement: an announcement is a store to memory that only its session writes to.
//
// The package knows partitions and what statements were planned by, and nothing of statements, connections or etcd.
package barrier

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
)

// Owner is who uses a Holder: a session.
type Owner interface {
	// Evict is called, by another goroutine and perhaps repeatedly, when the session's transaction is in the way of a
	// barrier for longer than it may be. The session rolls it back, unless it is being committed.
	Evict()
}

// few is how many partitions a Holder notes without a Set: those of a statement by key, or of most transactions.
const few = 6

// Holder is what one session uses at the moment. All methods but Uses belong to the session's goroutine.
type Holder struct {
	barrier *Barrier
	owner   Owner

	// What the transaction or the autocommit statement uses, to its end: n different partitions, in the order of their
	// announcement. They are only ever added, until Release or Restore, so that whoever looks misses none.
	n     int
	first [few]atomic.Uint32 // of the first ones, the partition plus 1; 0: none
	more  atomic.Pointer[more]
	all   atomic.Bool
	// scatter is the epoch of the map that the statement at hand was planned by, if it is one over several groups; 0:
	// none.
	scatter atomic.Uint64
	commits atomic.Bool // see gate
	keeps   atomic.Bool // see Keep
	locks   atomic.Bool // see HoldLocks

	bases bases

	// Holders have cache lines of their own (TestHolderSize): two sessions write to theirs on different CPUs, with every statement.
	_ [8]byte
}

// more is the partitions of a Holder beyond the first few. It stays with its Holder for the next time.
type more struct {
	words [placement.SetWords]atomic.Uint64
	order []placement.Partition // the session's own
}

func (m *more) has(p placement.Partition) bool {
	return m != nil && m.words[p/64].Load()&(1<<(p%64)) != 0
}

// add and cut are the session's: nobody else writes.
func (m *more) add(p placement.Partition) {
	m.order = append(m.order, p)
	w := &m.words[p/64]
	w.Store(w.Load() | 1<<(p%64))
}

// cut leaves the first n.
func (m *more) cut(n int) {
	for _, p := range m.order[n:] {
		w := &m.words[p/64]
		w.Store(w.Load() &^ (1 << (p % 64)))
	}
	m.order = m.order[:n]
}

// Hold announces the use of partitions until Release. The caller must look at the current map after it.
func (h *Holder) Hold(partitions []placement.Partition) {
	for _, p := range partitions {
		switch {
		case h.holds(p):
			continue
		case h.n < few:
			h.first[h.n].Store(uint32(p) + 1)
		default:
			if h.more.Load() == nil {
				h.more.Store(&more{})
			}
			h.more.Load().add(p)
		}
		h.n++
	}
}

func (h *Holder) holds(p placement.Partition) bool {
	for i := range min(h.n, few) {
		if h.first[i].Load() == uint32(p)+1 {
			return true
		}
	}
	return h.n > few && h.more.Load().has(p)
}

// HoldAll announces the use of every partition until Release.
func (h *Holder) HoldAll() {
	if !h.all.Load() {
		h.all.Store(true)
	}
}

// Uses reports whether h holds any of the partitions. Any goroutine may ask.
func (h *Holder) Uses(set *placement.Set) bool {
	if h.all.Load() {
		return true
	}
	for i := range h.first {
		if p := h.first[i].Load(); p != 0 && set.Has(placement.Partition(p-1)) {
			return true
		}
	}
	if m := h.more.Load(); m != nil {
		for i := range set {
			if set[i] != 0 && m.words[i].Load()&set[i] != 0 {
				return true
			}
		}
	}
	return false
}

// Covers reports whether partitions, or all of them, are held already.
func (h *Holder) Covers(partitions []placement.Partition, all bool) bool {
	if h.all.Load() {
		return true
	}
	for _, p := range partitions {
		if !h.holds(p) {
			return false
		}
	}
	return !all
}

// Any reports whether h holds anything.
func (h *Holder) Any() bool { return h.n > 0 || h.all.Load() }

// Release ends all that Hold and HoldAll announced.
func (h *Holder) Release() {
	if h.Any() {
		h.Restore(Mark{})
	}
}

// Mark is what a Holder held at a moment; the zero Mark is nothing. It is valid until the Holder holds less than that.
type Mark struct {
	n   int
	all bool
}

// Mark remembers what h holds now, so that Restore can take back what was announced after it.
func (h *Holder) Mark() Mark { return Mark{h.n, h.all.Load()} }

// Used reports whether any of the partitions was held at m.
func (h *Holder) Used(m Mark, set *placement.Set) bool {
	if m.all {
		return true
	}
	for i := range min(m.n, few) {
		if set.Has(placement.Partition(h.first[i].Load() - 1)) {
			return true
		}
	}
	return m.n > few && slices.ContainsFunc(h.more.Load().order[:m.n-few], set.Has)
}

// Restore makes h hold what it held at m.
func (h *Holder) Restore(m Mark) {
	if keep := max(m.n, few); h.n > keep {
		h.more.Load().cut(keep - few)
		h.n = keep
	}
	for ; h.n > m.n; h.n-- {
		h.first[h.n-1].Store(0)
	}
	if h.all.Load() != m.all {
		h.all.Store(m.all)
	}
	h.barrier.released()
}

// Keep says whether what h holds is given up when its owner is evicted. It is not when the owner has locked tables: whoever wants to
// freeze partitions had better wait.
func (h *Holder) Keep(keeps bool) { h.keeps.Store(keeps) }

// Scatter announces that the statement at hand runs on several groups by the map of epoch, until EndScatter. The caller
// must look at the current map after it.
func (h *Holder) Scatter(epoch uint64) { h.scatter.Store(epoch) }

// Scattering is the epoch given to Scatter, 0 if no such statement runs.
func (h *Holder) Scattering() uint64 { return h.scatter.Load() }

// EndScatter ends what Scatter announced.
func (h *Holder) EndScatter() {
	if h.scatter.Load() != 0 {
		h.scatter.Store(0)
		h.barrier.released()
	}
}

// HoldLocks announces that the session uses user-level locks, until EndLocks. The caller must look at the current map after it.
func (h *Holder) HoldLocks() { h.locks.Store(true) }

// EndLocks says that the session has no user-level locks.
func (h *Holder) EndLocks() {
	h.locks.Store(false)
	h.barrier.released()
}

// Barrier is the Holders of a process.
type Barrier struct {
	waiting atomic.Bool   // somebody wants to know of releases
	wake    chan struct{} // has a token after a release

	mu      sync.Mutex
	holders map[*Holder]struct{}

	gate     gate
	standing standing
}

// New returns a Barrier without Holders.
func New() *Barrier {
	b := &Barrier{wake: make(chan struct{}, 1), holders: map[*Holder]struct{}{}}
	b.gate.wake = make(chan struct{}, 1)
	b.standing.wake = make(chan struct{}, 1)
	return b
}

// Join returns a new Holder. It must be left.
func (b *Barrier) Join(owner Owner) *Holder {
	h := &Holder{barrier: b, owner: owner}
	b.mu.Lock()
	b.holders[h] = struct{}{}
	b.mu.Unlock()
	return h
}

// Leave ends the use of h, which must hold nothing that matters any more.
func (b *Barrier) Leave(h *Holder) {
	b.mu.Lock()
	delete(b.holders, h)
	b.mu.Unlock()
	b.released()
	b.standing.signal()
}

// Kept is how many Holders hold something that their owners will not give up.
func (b *Barrier) Kept() int {
	var all placement.Set
	for i := range all {
		all[i] = ^uint64(0)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for h := range b.holders {
		if h.keeps.Load() && h.Uses(&all) {
			n++
		}
	}
	return n
}

// released wakes whoever waits. Without one it costs the load of a line that hardly ever changes.
func (b *Barrier) released() {
	if b.waiting.Load() {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
}

// evictEvery is how often Owners in the way of a barrier are asked to leave.
const evictEvery = 20 * time.Millisecond

// Drain returns when nothing in this process that began before m was published to it can matter any more: no session
// uses a partition frozen in m, or, when nothing is frozen, no statement over several groups runs by an older map; and no session has
// user-level locks, when these are frozen. Those who use frozen partitions for longer than m allows are evicted, those who have locks are not. It must not be called by several goroutines at once, and
// returns ctx's error when that ends first.
func (b *Barrier) Drain(ctx context.Context, m *placement.PartitionMap) error {
	b.waiting.Store(true)
	defer b.waiting.Store(false)
	patience := time.NewTimer(drainTime(m))
	defer patience.Stop()
	for evict := false; ; {
		in := b.inTheWay(m)
		if len(in) == 0 {
			return nil
		}
		if evict && m.Frozen() != nil {
			evictAll(in)
			patience.Reset(evictEvery)
		}
		select {
		case <-b.wake:
			evict = false
		case <-patience.C:
			evict = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// evictTogether is how many Owners are evicted at once: each waits for servers.
const evictTogether = 32

// evictAll asks the owners of all holders to leave.
func evictAll(holders []*Holder) {
	var g errgroup.Group
	g.SetLimit(evictTogether)
	for _, h := range holders {
		g.Go(func() error {
			h.owner.Evict()
			return nil
		})
	}
	_ = g.Wait()
}

func drainTime(m *placement.PartitionMap) (d time.Duration) {
	for i := range m.Moving() {
		d = max(d, m.Moving()[i].Drain)
	}
	return max(d, time.Millisecond)
}

// inTheWay are the Holders that Drain waits for.
func (b *Barrier) inTheWay(m *placement.PartitionMap) []*Holder {
	b.mu.Lock()
	defer b.mu.Unlock()
	var in []*Holder
	for h := range b.holders {
		set, e := m.Frozen(), h.scatter.Load()
		switch {
		case m.LocksFrozen() > 0 && h.locks.Load(), set != nil && h.Uses(set), set == nil && e != 0 && e < m.Epoch():
			in = append(in, h)
		}
	}
	return in
}
