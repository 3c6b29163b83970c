package placement

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireMinimal checks that moves are no more than the counts of both maps force.
func requireMinimal(t *testing.T, before, after *PartitionMap, moves []Move) {
	t.Helper()
	has := map[NodeGroupID]int{}
	for p := range before.owners {
		has[before.owners[p]]++
		has[after.owners[p]]--
	}
	forced := 0
	for _, n := range has {
		forced += max(0, n)
	}
	require.Equal(t, forced, len(moves))
}

// Sizes of clusters: all small ones, where each group more changes much, and of the large ones every seventh and those about powers of two.
// SKARV_ALL_SIZES=1 has it be every size up to the largest, in half a minute.
func TestBalanceFromAnySizeToAnySize(t *testing.T) {
	const small, largest = 32, 144
	all := os.Getenv("SKARV_ALL_SIZES") != ""
	var sizes []int
	for n := 1; n <= largest; n++ {
		if all || n <= small || n%7 == 0 || slices.Contains([]int{63, 64, 65, 127, 128, 129, largest}, n) {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		m := newTestMap(t, n)
		for _, k := range sizes {
			moves, err := Balance(m, EqualShares(groupsUpTo(k)))
			if err != nil {
				t.Fatal(err)
			}
			next, err := m.Apply(moves)
			if err != nil {
				t.Fatalf("%d to %d groups: %v", n, k, err)
			}
			least, most := Partitions, 0
			for _, c := range next.Counts() {
				least, most = min(least, c), max(most, c)
			}
			if len(next.Groups()) != k || most-least > 1 {
				t.Fatalf("%d to %d groups: %d own %d to %d", n, k, len(next.Groups()), least, most)
			}
			// The fewest moves of all: what leaving groups own, or what new groups must get, rounded in favour of staying.
			fewest := 0
			floor, extra := Partitions/k, Partitions%k
			for i, c := range m.Counts() {
				if i >= k {
					fewest += c
					continue
				}
				if c > floor && extra > 0 {
					c--
					extra--
				}
				fewest += max(0, c-floor)
			}
			if len(moves) != fewest {
				t.Fatalf("%d to %d groups: %d moves, %d would do", n, k, len(moves), fewest)
			}
			if again, _ := Balance(next, EqualShares(groupsUpTo(k))); len(again) != 0 {
				t.Fatalf("%d to %d groups: %d moves of a balanced map", n, k, len(again))
			}
		}
	}
}

func TestBalanceWithWeightsAndPins(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := newTestMap(t, 1+rnd.IntN(40))
		var goal Goal
		var weights float64
		for g := range 1 + rnd.IntN(40) {
			s := Share{Group: NodeGroupID(g + 1 + rnd.IntN(2)*100), Weight: float64(1 + rnd.IntN(5))}
			goal.Shares = append(goal.Shares, s)
			weights += s.Weight
		}
		goal.Pins = map[Partition]NodeGroupID{}
		for range rnd.IntN(10) {
			goal.Pins[Partition(rnd.IntN(Partitions))] = goal.Shares[rnd.IntN(len(goal.Shares))].Group
		}
		moves, err := Balance(m, goal)
		require.NoError(t, err)
		next, err := m.Apply(moves)
		require.NoError(t, err)
		for p, g := range goal.Pins {
			require.Equal(t, g, next.Owner(p))
		}
		for _, s := range goal.Shares {
			exact := Partitions * s.Weight / weights
			require.LessOrEqual(t, math.Abs(float64(len(next.Owned(s.Group)))-exact), 1.0)
		}
		// Partitions that swap places because of pins move in both directions; all other moves are forced.
		if len(goal.Pins) == 0 {
			requireMinimal(t, m, next, moves)
		}
		again, err := Balance(next, goal)
		require.NoError(t, err)
		require.Empty(t, again)
	}
}

func TestBalanceWithMorePinsThanAShare(t *testing.T) {
	m := newTestMap(t, 4)
	goal := EqualShares(groupsUpTo(4))
	goal.Pins = map[Partition]NodeGroupID{}
	for p := range Partition(2000) {
		goal.Pins[p] = 1
	}
	moves, err := Balance(m, goal)
	require.NoError(t, err)
	next, err := m.Apply(moves)
	require.NoError(t, err)
	require.Equal(t, []int{2000, 614, 613, 613}, next.Counts())
}

func TestBalanceTakesFromAllOverAGroup(t *testing.T) {
	m := newTestMap(t, 4)
	moves, err := Balance(m, EqualShares(groupsUpTo(5)))
	require.NoError(t, err)
	require.Len(t, moves, Partitions/5)
	var quarters [4]int
	for _, mv := range moves {
		require.Equal(t, NodeGroupID(5), mv.To)
		quarters[int(mv.Partition)*4/Partitions]++
	}
	for _, n := range quarters {
		require.InDelta(t, Partitions/5/4, n, 4)
	}
	require.True(t, slices.IsSortedFunc(moves, func(a, b Move) int { return int(a.Partition) - int(b.Partition) }))
}

func TestBalanceRefusesBadGoals(t *testing.T) {
	m := newTestMap(t, 2)
	for name, goal := range map[string]Goal{
		"nobody":            {},
		"group 0":           {Shares: []Share{{Group: 0, Weight: 1}}},
		"negative weight":   {Shares: []Share{{Group: 1, Weight: -1}}},
		"no number":         {Shares: []Share{{Group: 1, Weight: math.NaN()}}},
		"twice":             {Shares: []Share{{Group: 1}, {Group: 1}}},
		"pin to a stranger": {Shares: []Share{{Group: 1}}, Pins: map[Partition]NodeGroupID{1: 2}},
		"no such partition": {Shares: []Share{{Group: 1}}, Pins: map[Partition]NodeGroupID{Partitions: 1}},
	} {
		_, err := Balance(m, goal)
		require.Error(t, err, name)
	}
}
