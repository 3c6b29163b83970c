package barrier

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
)

type owner struct{ evict func() }

func (o owner) Evict() {
	if o.evict != nil {
		o.evict()
	}
}

func frozen(t *testing.T, drain time.Duration, p ...placement.Partition) (before, after *placement.PartitionMap) {
	t.Helper()
	before, err := placement.NewMap([]placement.NodeGroupID{1})
	require.NoError(t, err)
	after, err = before.Next(nil, []placement.Moving{{A: 1, B: 2, Partitions: placement.SetOf(p...), Phase: placement.Frozen, Drain: drain}})
	require.NoError(t, err)
	return before, after
}

func TestDrainWaitsForWhoUsesFrozenPartitions(t *testing.T) {
	b := New()
	_, m := frozen(t, time.Hour, 7)
	h, other := b.Join(owner{}), b.Join(owner{})
	h.Hold([]placement.Partition{7, 3000})
	other.Hold([]placement.Partition{8})
	other.Scatter(1) // a read over all groups: not waited for
	drained := make(chan error, 1)
	go func() { drained <- b.Drain(context.Background(), m) }()
	require.Eventually(t, b.waiting.Load, time.Minute, time.Millisecond)
	mark := h.Mark()
	h.Hold([]placement.Partition{9})
	h.Restore(mark)
	assert.Empty(t, drained)
	h.Release()
	require.NoError(t, <-drained)
	require.True(t, other.Any())
	require.False(t, h.Any())
}

// A Holder of any other size shares a cache line with its neighbour.
func TestHolderSize(t *testing.T) { require.Zero(t, unsafe.Sizeof(Holder{})%64) }

// TestHolder compares a Holder with plain sets, through the borders between the first few partitions and the others.
func TestHolder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	b := New()
	h := b.Join(owner{})
	held, marks := []map[placement.Partition]bool{{}}, []Mark{h.Mark()} // what was held at each Mark; the last is now
	for range 4000 {
		now := held[len(held)-1]
		switch rng.IntN(10) {
		case 0:
			h.Release()
			held, marks = []map[placement.Partition]bool{{}}, []Mark{h.Mark()}
		case 1, 2:
			held, marks = append(held, maps.Clone(now)), append(marks, h.Mark())
		case 3, 4:
			to := rng.IntN(len(marks))
			h.Restore(marks[to])
			if held, marks = held[:to+1], marks[:to+1]; to > 0 {
				// The Mark was taken of the set before it, which went on growing as a copy.
				held[to] = maps.Clone(held[to-1])
				keep := marks[to]
				require.Equal(t, keep, h.Mark())
			} else {
				held[0] = map[placement.Partition]bool{}
			}
		default:
			p := make([]placement.Partition, 1+rng.IntN(4))
			for i := range p {
				p[i] = placement.Partition(rng.IntN(40) * 97)
				now[p[i]] = true
			}
			h.Hold(p)
		}
		now = held[len(held)-1]
		require.Equal(t, len(now) > 0, h.Any())
		one := placement.Partition(rng.IntN(40) * 97)
		set := placement.SetOf(one)
		require.Equal(t, now[one], h.Uses(&set))
		require.Equal(t, now[one], h.Covers([]placement.Partition{one}, false))
		if at := rng.IntN(len(marks)); at > 0 {
			require.Equal(t, held[at-1][one], h.Used(marks[at], &set))
		}
	}
	h.HoldAll()
	set := placement.SetOf(1)
	require.True(t, h.Uses(&set))
	h.Release()
	require.False(t, h.Uses(&set))
	b.Leave(h)
}

func TestDrainWaitsForStatementsOfOlderMaps(t *testing.T) {
	b := New()
	_, f := frozen(t, 0, 7)
	m, err := f.Next(nil, nil)
	require.NoError(t, err)
	h, newer := b.Join(owner{}), b.Join(owner{})
	h.Scatter(f.Epoch())
	newer.Scatter(m.Epoch())
	newer.HoldAll()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Error(t, b.Drain(ctx, m))
	h.EndScatter()
	require.NoError(t, b.Drain(ctx, m))
	b.Leave(newer)
	b.Leave(h)
	assert.Empty(t, b.holders)
}

func TestDrainEvicts(t *testing.T) {
	b := New()
	_, m := frozen(t, time.Millisecond, 7)
	var h *Holder
	asked := 0
	h = b.Join(owner{func() {
		if asked++; asked == 2 {
			h.Release()
		}
	}})
	h.HoldAll()
	require.NoError(t, b.Drain(context.Background(), m))
	assert.Equal(t, 2, asked)
}

// No statement runs by the old map once Drain has returned, however announcements and publications interleave.
func TestAnnounceThenLook(t *testing.T) {
	b := New()
	before, after := frozen(t, time.Hour, 5, 70)
	var current atomic.Pointer[placement.PartitionMap]
	current.Store(before)
	var drained, late atomic.Bool
	var g errgroup.Group
	var rounds sync.WaitGroup
	for range 8 {
		rounds.Add(1)
		g.Go(func() error {
			h := b.Join(owner{})
			defer b.Leave(h)
			for i := 0; ; i++ {
				p := placement.Partition(rand.N(100))
				h.Hold([]placement.Partition{p})
				m := current.Load()
				if set := m.Frozen(); set == nil || !set.Has(p) {
					if (p == 5 || p == 70) && drained.Load() {
						late.Store(true)
					}
				}
				h.Release()
				if i == 1000 {
					rounds.Done()
				}
				if i >= 1000 && drained.Load() {
					return nil
				}
			}
		})
	}
	rounds.Wait()
	current.Store(after)
	require.NoError(t, b.Drain(context.Background(), after))
	drained.Store(true)
	require.NoError(t, g.Wait())
	assert.False(t, late.Load())
}

// Those in the way are told at once, not one after the other: each waits for servers.
func TestDrainEvictsTogether(t *testing.T) {
	b := New()
	_, m := frozen(t, time.Millisecond, 7)
	const sessions = 5
	var all sync.WaitGroup
	all.Add(sessions)
	for range sessions {
		var once sync.Once
		var h *Holder
		h = b.Join(owner{evict: func() {
			once.Do(all.Done)
			all.Wait() // for the others' turn
			h.Release()
		}})
		h.Hold([]placement.Partition{7})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, b.Drain(ctx, m))
}

// Whoever publishes a map holds the Barrier's lock while it looks at the Holders. Statements announce and release what they use
// meanwhile: this test would not end if they took that lock.
func TestStatementsDoNotWaitForAPublication(t *testing.T) {
	b := New()
	h := b.Join(owner{})
	b.mu.Lock()
	h.Hold([]placement.Partition{7, 3000})
	h.Scatter(1)
	h.Commit()
	mark := h.Mark()
	h.HoldAll()
	h.Restore(mark)
	h.EndCommit()
	h.EndScatter()
	h.Release()
	b.mu.Unlock()
	require.False(t, h.Any())
	b.Leave(h)
}

// Who uses user-level locks is waited for when they are frozen, is not evicted, and is in nobody's way else.
func TestDrainWaitsForUserLevelLocks(t *testing.T) {
	b := New()
	before, err := placement.NewMap([]placement.NodeGroupID{1})
	require.NoError(t, err)
	m, err := before.FreezeLocks(time.Minute)
	require.NoError(t, err)
	h := b.Join(owner{evict: func() { t.Error("evicted") }})
	h.HoldLocks()
	require.NoError(t, b.Drain(t.Context(), before))
	drained := make(chan error, 1)
	go func() { drained <- b.Drain(t.Context(), m) }()
	require.Eventually(t, b.waiting.Load, time.Minute, time.Millisecond)
	select {
	case <-drained:
		t.Fatal("it did not wait")
	default:
	}
	h.EndLocks()
	require.NoError(t, <-drained)
	b.Leave(h)
}
