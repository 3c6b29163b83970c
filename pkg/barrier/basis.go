package barrier

import (
	"slices"
	"sync/atomic"

	"skarv/pkg/catalog"
)

// bases are what the statements of a session that run at the moment were planned by: the client's own, and those that run on
// its behalf, one within another. They work as partitions do: a session announces a Basis, then looks at the catalog once
// more; whoever has published another catalog then looks at the announcements.
type bases struct {
	depth int // the session's own
	outer atomic.Pointer[catalog.Basis]
	// inner are those of statements within the outer one. Lists are never written to.
	inner atomic.Pointer[[]*catalog.Basis]
}

// Stand announces that a statement runs that was planned by b, until EndStand. The caller must look at the current catalog
// after it. Statements within it stand and end in turn. b may be nil, if no catalog matters to the statement.
func (h *Holder) Stand(b *catalog.Basis) {
	if h.bases.depth++; h.bases.depth == 1 {
		h.bases.outer.Store(b)
		return
	}
	h.standInside(b)
}

func (h *Holder) standInside(b *catalog.Basis) {
	var list []*catalog.Basis
	if before := h.bases.inner.Load(); before != nil {
		list = slices.Clone(*before)
	}
	list = append(list, b)
	h.bases.inner.Store(&list)
}

// EndStand ends what the last Stand announced.
func (h *Holder) EndStand() {
	var ended *catalog.Basis
	if h.bases.depth--; h.bases.depth == 0 {
		ended = h.bases.outer.Load()
		h.bases.outer.Store(nil)
	} else {
		ended = h.endInside()
	}
	if w := h.barrier.standing.watched.Load(); w != 0 && ended != nil && ended.Snapshot.SchemaRevision < w {
		h.barrier.standing.signal()
	}
}

func (h *Holder) endInside() *catalog.Basis {
	list := slices.Clone(*h.bases.inner.Load())
	last := len(list) - 1
	ended := list[last]
	list = list[:last]
	h.bases.inner.Store(&list)
	return ended
}

// Stands reports whether a statement runs.
func (h *Holder) Stands() bool { return h.bases.depth > 0 }

// Standing calls f with what the statements that run were planned by, but for those that no catalog matters to. It is the
// session's.
func (h *Holder) Standing(f func(*catalog.Basis)) { h.bases.each(f) }

func (b *bases) each(f func(*catalog.Basis)) {
	if basis := b.outer.Load(); basis != nil {
		f(basis)
	}
	if inner := b.inner.Load(); inner != nil {
		for _, basis := range *inner {
			if basis != nil {
				f(basis)
			}
		}
	}
}

// standing tells whoever wants to know that statements by an older catalog have ended.
type standing struct {
	watched atomic.Int64  // than that of this SchemaRevision; 0: nobody wants to know
	wake    chan struct{} // has a token after one has ended
}

func (s *standing) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// WatchStands says that Stood is to be told of the ends of statements by a catalog older than that of revision, or, if it is 0,
// of none. One goroutine at a time may watch.
func (b *Barrier) WatchStands(revision int64) { b.standing.watched.Store(revision) }

// Stood has a token after a statement has ended that is watched for.
func (b *Barrier) Stood() <-chan struct{} { return b.standing.wake }

// Stale lists what running statements that were planned by another catalog than now's stand on and that is another in now, as
// Changes.Concern names it, in order and each once. No other statement by an older catalog matters, provided that now was
// published before the call.
func (b *Barrier) Stale(now *catalog.Snapshot) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	changes := map[*catalog.Snapshot]*catalog.Changes{}
	look := func(basis *catalog.Basis) {
		if basis.Snapshot.SchemaRevision >= now.SchemaRevision {
			return
		}
		c := changes[basis.Snapshot]
		if c == nil {
			c = now.Since(basis.Snapshot)
			changes[basis.Snapshot] = c
		}
		out = c.Concern(basis, out)
	}
	for h := range b.holders {
		h.bases.each(look)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
