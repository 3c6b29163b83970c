package barrier

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
)

// schema is a snapshot with tables a and b of database d, as they were made at these revisions.
func schema(revision int64, a, b *catalog.Table) *catalog.Snapshot {
	return &catalog.Snapshot{Revision: revision, SchemaRevision: revision,
		Databases: map[string]*catalog.Database{"d": {Name: "d", Tables: map[string]*catalog.Table{"a": a, "b": b}}}}
}

func TestStale(t *testing.T) {
	a, b := &catalog.Table{Database: "d", Name: "a"}, &catalog.Table{Database: "d", Name: "b"}
	other, child := *a, *b
	child.ForeignKeys = []catalog.ForeignKey{{RefDB: "d", RefTable: "a"}}
	before, after, keyed := schema(1, a, b), schema(2, &other, b), schema(3, &other, &child)
	on := func(s *catalog.Snapshot, tables ...*catalog.Table) *catalog.Basis {
		return &catalog.Basis{Snapshot: s, Tables: tables}
	}
	bar := New()
	h, g := bar.Join(owner{}), bar.Join(owner{})
	h.Stand(on(before, b))
	require.True(t, h.Stands())
	assert.Empty(t, bar.Stale(after), "its table is the same")
	h.Stand(on(before, a))
	assert.Equal(t, []string{"d.a"}, bar.Stale(after), "a statement within it")
	h.Stand(nil)
	g.Stand(on(before, a, b))
	assert.Equal(t, []string{"d.a", "d.b"}, bar.Stale(keyed))
	bar.WatchStands(2)
	h.EndStand()
	h.EndStand()
	<-bar.Stood()
	assert.Equal(t, []string{"d.a"}, bar.Stale(after))
	g.EndStand()
	<-bar.Stood()
	g.Stand(on(after, a, b))
	g.EndStand()
	assert.Empty(t, bar.Stood(), "it is none that is watched for")
	h.EndStand()
	assert.Empty(t, bar.Stale(keyed))

	// What refers to a table may be another, although it is the same itself.
	write := on(after, &other)
	write.Writes = true
	h.Stand(write)
	assert.Equal(t, []string{"d.b"}, bar.Stale(keyed))
	h.EndStand()
	bar.Leave(h)
	bar.Leave(g)
}

// No statement runs by the old catalog once Stale says so, however announcements and publications interleave.
func TestStandThenLook(t *testing.T) {
	b := New()
	a, other := &catalog.Table{Database: "d", Name: "a"}, &catalog.Table{Database: "d", Name: "a"}
	before, after := schema(1, a, a), schema(2, other, a)
	var current atomic.Pointer[catalog.Snapshot]
	current.Store(before)
	var settled, late atomic.Bool
	var g errgroup.Group
	for range 8 {
		h := b.Join(owner{})
		g.Go(func() error {
			defer b.Leave(h)
			for !settled.Load() || rand.N(100) > 0 {
				snap := current.Load()
				h.Stand(&catalog.Basis{Snapshot: snap, Tables: []*catalog.Table{snap.Table("d", "a")}})
				if current.Load() == snap && snap == before && settled.Load() {
					late.Store(true)
				}
				h.EndStand()
			}
			return nil
		})
	}
	current.Store(after)
	b.WatchStands(2)
	for len(b.Stale(after)) > 0 {
		<-b.Stood()
	}
	settled.Store(true)
	require.NoError(t, g.Wait())
	assert.False(t, late.Load())
}
