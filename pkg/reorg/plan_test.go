package reorg

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

func cluster(t *testing.T, owning, groups int) *catalog.Snapshot {
	t.Helper()
	var ids []placement.NodeGroupID
	snap := &catalog.Snapshot{}
	for i := range groups {
		id := placement.NodeGroupID(i + 1)
		snap.Groups = append(snap.Groups, &catalog.NodeGroup{ID: id})
		if i < owning {
			ids = append(ids, id)
		}
	}
	var err error
	snap.Map, err = placement.NewMap(ids)
	require.NoError(t, err)
	return snap
}

func TestPlans(t *testing.T) {
	snap := cluster(t, 2, 3)
	moves, err := Plan(snap, Request{})
	require.NoError(t, err)
	assert.Len(t, moves, 1280)
	for _, m := range moves {
		assert.Equal(t, placement.NodeGroupID(3), m.To)
	}
	moves, err = Plan(snap, Request{Without: []placement.NodeGroupID{2, 3}})
	require.NoError(t, err)
	assert.Len(t, moves, 1920)
	moves, err = Plan(snap, Request{Weights: map[placement.NodeGroupID]float64{3: 2}})
	require.NoError(t, err)
	assert.Len(t, moves, 1920)
	moves, err = Plan(snap, Request{Partitions: placement.SetOf(0, 1, 2), To: 2})
	require.NoError(t, err)
	assert.Equal(t, []placement.Move{{Partition: 0, From: 1, To: 2}, {Partition: 2, From: 1, To: 2}}, moves)
	moves, err = Plan(cluster(t, 3, 3), Request{Pins: map[placement.Partition]placement.NodeGroupID{0: 1, 1: 2}})
	require.NoError(t, err)
	assert.Empty(t, moves)
	for name, req := range map[string]Request{
		"unknown group":   {Without: []placement.NodeGroupID{9}},
		"unknown weight":  {Weights: map[placement.NodeGroupID]float64{9: 1}},
		"unknown target":  {Partitions: placement.SetOf(1), To: 9},
		"nobody is left":  {Without: []placement.NodeGroupID{1, 2, 3}},
		"load of too few": {Load: make([]float64, 3)},
	} {
		_, err := Plan(snap, req)
		assert.Error(t, err, name)
	}
}

// Who asks again for what is under way follows it; what is something else is not taken for it.
func TestWhatARunningOneFulfils(t *testing.T) {
	snap := cluster(t, 2, 4)
	drain := Request{Without: []placement.NodeGroupID{2, 3, 4}}
	moves, err := Plan(snap, drain)
	require.NoError(t, err)
	r := Preview("drain", moves, time.Minute)
	assert.True(t, r.fulfils(snap, drain))
	assert.True(t, r.fulfils(snap, Request{Partitions: placement.SetOf(1), To: 1}))
	assert.False(t, r.fulfils(snap, Request{Partitions: placement.SetOf(0), To: 2}))
	assert.False(t, r.fulfils(snap, Request{Without: []placement.NodeGroupID{1}}))
	assert.False(t, r.fulfils(snap, Request{}))

	moved := *snap // after its cutover
	moved.Map, err = snap.Map.Apply(moves)
	require.NoError(t, err)
	assert.True(t, r.fulfils(&moved, drain))
	assert.False(t, r.fulfils(&moved, Request{}))
	r.Wish = WishRollback
	assert.False(t, r.fulfils(&moved, drain))
}

func TestExpected(t *testing.T) {
	moves, err := Plan(cluster(t, 2, 3), Request{})
	require.NoError(t, err)
	d, basis := Expected(nil, moves, 1_000_000, 1<<20)
	assert.Equal(t, 25*time.Second, d, "two node groups give rows at the same time")
	assert.Contains(t, basis, "none has moved many rows")
	d, _ = Expected(nil, moves, 1000, 1<<30)
	assert.Equal(t, 64*time.Second, d)

	past := Preview("rebalance", moves, 0)
	past.ID, past.Rows = "r7", 100_000
	at := time.Now()
	past.Steps = []Step{{Planned, at}, {In, at}, {Copy, at}, {CatchUp, at.Add(9 * time.Second)}, {Frozen, at.Add(10 * time.Second)}}
	few := Preview("move", moves, 0)
	few.ID, few.Rows, few.Steps = "r8", 10, past.Steps
	d, basis = Expected([]*Record{past, few}, moves, 1_000_000, 1<<20)
	assert.Equal(t, 100*time.Second, d)
	assert.Equal(t, "as fast as r7 was", basis)
}

// Whatever state it is in, what happens next is said, with the command that changes it.
func TestAdvice(t *testing.T) {
	opened := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		r    Record
		says string
	}{
		{Record{State: Planned}, "reorg abort r1"},
		{Record{State: Copy}, "reorg pause r1"},
		{Record{State: Copy, Paused: true}, "reorg resume r1"},
		{Record{State: Verify, Wish: WishAbort}, "given up"},
		{Record{State: Frozen}, "in moments"},
		{Record{State: Rollback, Paused: true}, "in moments"},
		{Record{State: Reverse, Opened: opened, Window: time.Minute}, "reorg rollback r1 takes that back, until 03:05:05 UTC"},
		{Record{State: Reverse, Paused: true}, "reorg resume r1"},
		{Record{State: Reverse, Wish: WishRollback}, "reorg complete r1"},
		{Record{State: Reverse, Wish: WishComplete}, "about to be deleted"},
		{Record{State: Cleaning}, "ends by itself"},
		{Record{State: Cleaning, Paused: true}, "reorg resume r1"},
		{Record{State: Done, Outcome: Refused}, "begin another one"},
		{Record{State: Done, Outcome: Aborted}, "another one can be begun"},
		{Record{State: CatchUp, Problem: "no luck"}, "tried again by itself"},
	} {
		c.r.ID = "r1"
		assert.Contains(t, c.r.advice(true), c.says, "%s %s", c.r.State, c.r.Outcome)
		if c.r.Active() {
			assert.Contains(t, c.r.advice(false), "controller role", c.r.State)
		}
	}
	assert.Empty(t, (&Record{State: Done, Outcome: Moved}).advice(false))
}

// Moving by load evens the load out, moves little, and never makes the idlest group the busiest.
func TestPlanByLoad(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		groups := 2 + rnd.IntN(6)
		snap := cluster(t, groups, groups)
		load := make([]float64, placement.Partitions)
		total := 0.0
		for p := range load {
			load[p] = rnd.ExpFloat64()
			if p%groups == 0 {
				load[p] *= 3 // the first group is hot
			}
			total += load[p]
		}
		moves, err := Plan(snap, Request{Load: load})
		require.NoError(t, err)
		next, err := snap.Map.Apply(moves)
		require.NoError(t, err)
		busiest := 0.0
		for _, g := range next.Groups() {
			sum := 0.0
			for _, p := range next.Owned(g) {
				sum += load[p]
			}
			busiest = max(busiest, sum)
		}
		assert.LessOrEqual(t, busiest, total/float64(groups)*1.06*1.1) // partitions count a little, too
		assert.Less(t, len(moves), placement.Partitions/groups)
	}
}
