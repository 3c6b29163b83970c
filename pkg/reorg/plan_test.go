package reorg

import (
	"math/rand/v2"
	"testing"

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
