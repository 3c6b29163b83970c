// Package barrier tells when nothing in this process works by an old partition map any more. Every session has a Holder
// in which it announces what it is about to use, before it looks at the map once more; whoever has published another map
// then looks at the Holders. Both orders in between are safe, and neither side waits for the other on the way of a
// statement: an announcement is a store to memory that only its session writes to.
//
// The package knows partitions and nothing of statements, connections or etcd.
package barrier

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/placement"
)

// Owner is who uses a Holder: a session.
type Owner interface {
	// Evict is called, by another goroutine and perhaps repeatedly, when the session's transaction is in the way of a
	// barrier for longer than it may be. The session rolls it back, unless it is being committed.
	Evict()
}

// Holder is what one session uses at the moment. All methods but those of Barrier belong to the session's goroutine.
type Holder struct {
	barrier *Barrier
	owner   Owner

	// what the transaction or the autocommit statement uses, to its end
	words [placement.SetWords]atomic.Uint64
	dirty uint64 // bit i: words[i] may not be 0
	all   atomic.Bool
	// scatter is the epoch of the map that the statement at hand was planned by, if it is one over several groups; 0:
	// none.
	scatter atomic.Uint64
	commits atomic.Bool // see gate
}

// Hold announces the use of partitions until Release. The caller must look at the current map after it.
func (h *Holder) Hold(partitions []placement.Partition) {
	for _, p := range partitions {
		w := &h.words[p/64]
		if old := w.Load(); old&(1<<(p%64)) == 0 {
			w.Store(old | 1<<(p%64)) // nobody else writes
			h.dirty |= 1 << (p / 64)
		}
	}
}

// HoldAll announces the use of every partition until Release.
func (h *Holder) HoldAll() {
	if !h.all.Load() {
		h.all.Store(true)
	}
}

// Uses reports whether h holds any of the partitions.
func (h *Holder) Uses(set *placement.Set) bool {
	if h.all.Load() {
		return true
	}
	for i := range set {
		if set[i] != 0 && h.words[i].Load()&set[i] != 0 {
			return true
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
		if h.words[p/64].Load()&(1<<(p%64)) == 0 {
			return false
		}
	}
	return !all
}

// Any reports whether h holds anything.
func (h *Holder) Any() bool { return h.dirty != 0 || h.all.Load() }

// Release ends all that Hold and HoldAll announced.
func (h *Holder) Release() {
	if !h.Any() {
		return
	}
	for i := 0; h.dirty != 0; i++ {
		if h.dirty&(1<<i) != 0 {
			h.words[i].Store(0)
			h.dirty &^= 1 << i
		}
	}
	if h.all.Load() {
		h.all.Store(false)
	}
	h.barrier.released()
}

// Mark remembers what h holds now, so that Restore can take back what was announced after it.
func (h *Holder) Mark() Mark {
	m := Mark{all: h.all.Load()}
	for i := range h.words {
		m.set[i] = h.words[i].Load()
	}
	return m
}

// Mark is what a Holder held once.
type Mark struct {
	set placement.Set
	all bool
}

// Uses reports whether any of the partitions was held.
func (m *Mark) Uses(set *placement.Set) bool { return m.all || m.set.Meets(set) }

// Restore makes h hold what it held at m.
func (h *Holder) Restore(m *Mark) {
	h.dirty = 0
	for i := range h.words {
		if m.set[i] != 0 {
			h.dirty |= 1 << i
		}
		if h.words[i].Load() != m.set[i] {
			h.words[i].Store(m.set[i])
		}
	}
	h.all.Store(m.all)
	h.barrier.released()
}

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

// Barrier is the Holders of a process.
type Barrier struct {
	waiting atomic.Bool   // somebody wants to know of releases
	wake    chan struct{} // has a token after a release

	mu      sync.Mutex
	holders map[*Holder]struct{}

	gate gate
}

// New returns a Barrier without Holders.
func New() *Barrier {
	b := &Barrier{wake: make(chan struct{}, 1), holders: map[*Holder]struct{}{}}
	b.gate.wake = make(chan struct{}, 1)
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
// uses a partition frozen in m, or, when nothing is frozen, no statement over several groups runs by an older map. Those
// who use frozen partitions for longer than m allows are evicted. It must not be called by several goroutines at once, and
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
			for _, h := range in {
				h.owner.Evict()
			}
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
		if set := m.Frozen(); set != nil {
			if h.Uses(set) {
				in = append(in, h)
			}
		} else if e := h.scatter.Load(); e != 0 && e < m.Epoch() {
			in = append(in, h)
		}
	}
	return in
}
