package placement

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// heats are the load of each group in proportion to its share, as BalanceLoad counts it, and the heat of the hottest partition.
func heats(t *testing.T, m *PartitionMap, goal Goal, load []float64) (worst, hottest float64) {
	t.Helper()
	b, err := newBalance(m, goal)
	require.NoError(t, err)
	l := &loadBalance{balance: b, load: make([]float64, len(b.groups)), share: make([]float64, len(b.groups))}
	require.NoError(t, l.weigh(load))
	for p, at := range b.at {
		hottest = max(hottest, l.heat[p])
		if at >= 0 {
			l.load[at] += l.heat[p]
		}
	}
	for i := range l.load {
		worst = max(worst, l.load[i]/l.share[i])
	}
	least := slices.Min(l.share)
	return worst, hottest / least
}

// From any map to any set of groups, with any load: groups that are to have nothing have nothing, pins hold, no group is further
// above its share than it was or than one partition makes it, and little moves that need not.
func TestBalanceLoadProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	shapes := []func() float64{
		func() float64 { return 0 },
		func() float64 { return 1 },
		rnd.ExpFloat64,
		func() float64 { // a few hot ones
			if rnd.IntN(200) == 0 {
				return 300 * rnd.Float64()
			}
			return rnd.Float64()
		},
		func() float64 { // most are idle
			if rnd.IntN(20) == 0 {
				return 1
			}
			return 0
		},
	}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for round := range rounds {
		m := newTestMap(t, 1+rnd.IntN(24))
		var goal Goal
		for g := range 1 + rnd.IntN(24) {
			goal.Shares = append(goal.Shares, Share{Group: NodeGroupID(g + 1 + rnd.IntN(2)*50), Weight: float64(1 + rnd.IntN(3))})
		}
		goal.Pins = map[Partition]NodeGroupID{}
		for range rnd.IntN(5) {
			goal.Pins[Partition(rnd.IntN(Partitions))] = goal.Shares[rnd.IntN(len(goal.Shares))].Group
		}
		load := make([]float64, Partitions)
		shape := shapes[round%len(shapes)]
		for p := range load {
			load[p] = shape()
		}
		moves, err := BalanceLoad(m, goal, load)
		require.NoError(t, err)
		again, err := BalanceLoad(m, goal, load)
		require.NoError(t, err)
		require.Equal(t, moves, again)
		require.True(t, slices.IsSortedFunc(moves, func(a, b Move) int { return int(a.Partition) - int(b.Partition) }))
		next, err := m.Apply(moves)
		require.NoError(t, err)
		named := map[NodeGroupID]bool{}
		for _, s := range goal.Shares {
			named[s.Group] = true
		}
		for p := range Partition(Partitions) {
			require.True(t, named[next.Owner(p)])
			if g, pinned := goal.Pins[p]; pinned {
				require.Equal(t, g, next.Owner(p))
			}
		}
		after, hottest := heats(t, next, goal, load)
		if len(goal.Pins) == 0 {
			require.LessOrEqual(t, after, max(loadSlack, 1+hottest)+1e-9, "round %d", round)
		}
		more, err := BalanceLoad(next, goal, load)
		require.NoError(t, err)
		if after <= loadSlack {
			require.Empty(t, more, "a balanced map needs no moves")
		}
	}
}

// Two hot partitions of one group: one of them moves, and nothing else.
func TestBalanceLoadMovesHotPartitions(t *testing.T) {
	m := newTestMap(t, 2)
	load := make([]float64, Partitions)
	for p := range load {
		load[p] = 1
	}
	hot := m.Owned(1)[10:12]
	load[hot[0]], load[hot[1]] = 1000, 1000
	moves, err := BalanceLoad(m, EqualShares(groupsUpTo(2)), load)
	require.NoError(t, err)
	require.Equal(t, []Move{{hot[0], 1, 2}}, moves)
	// A partition hotter than all others together stays where it is: the others make room.
	load[hot[0]], load[hot[1]] = 100000, 1
	moves, err = BalanceLoad(m, EqualShares(groupsUpTo(2)), load)
	require.NoError(t, err)
	require.NotEmpty(t, moves)
	for _, mv := range moves {
		require.Equal(t, NodeGroupID(1), mv.From)
		require.NotEqual(t, hot[0], mv.Partition)
	}
	for _, bad := range [][]float64{nil, make([]float64, 3)} {
		_, err := BalanceLoad(m, EqualShares(groupsUpTo(2)), bad)
		require.Error(t, err)
	}
	load[7] = -1
	_, err = BalanceLoad(m, EqualShares(groupsUpTo(2)), load)
	require.Error(t, err)
}
