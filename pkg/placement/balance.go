package placement

import (
	"cmp"
	"fmt"
	"slices"
)

// Goal is the share of the partitions each node group is to have.
type Goal struct {
	// Shares are the node groups that are to own partitions. Groups of the map that are not named here lose theirs:
	// that is how a cluster shrinks.
	Shares []Share
	// Pins are partitions with an owner of their own, whatever the shares say; their owners must be named in Shares.
	Pins map[Partition]NodeGroupID
}

// Share is a node group and its weight against the others'. A weight of 0 is 1: groups that are given none are equal. A
// group that is to be emptied is left out.
type Share struct {
	Group  NodeGroupID
	Weight float64
}

// EqualShares returns a Goal that spreads the partitions evenly over groups.
func EqualShares(groups []NodeGroupID) Goal {
	g := Goal{Shares: make([]Share, len(groups))}
	for i, id := range groups {
		g.Shares[i] = Share{Group: id, Weight: 1}
	}
	return g
}

// Balance returns the moves that bring m to goal, rising by partition. Each group ends with its exact share rounded up
// or down (a group with more pins than its share keeps those and the others divide the rest), and no fewer moves lead
// there. A balanced map needs none. The plan is the same for the same input.
func Balance(m *PartitionMap, goal Goal) ([]Move, error) {
	b, err := newBalance(m, goal)
	if err != nil {
		return nil, err
	}
	b.setTargets()
	return b.moves(), nil
}

// balance is the working state of Balance; groups is sorted by id.
type balance struct {
	m      *PartitionMap
	pins   map[Partition]NodeGroupID
	groups []groupGoal
	at     [Partitions]int // position in groups of each partition's owner, or -1
}

type groupGoal struct {
	Share
	pinned int // partitions pinned to it
	free   int // partitions it owns that are not pinned
	want   int // partitions it is to have, pinned ones included
}

func newBalance(m *PartitionMap, goal Goal) (*balance, error) {
	if len(goal.Shares) == 0 || len(goal.Shares) > Partitions {
		return nil, fmt.Errorf("partitions can be spread over 1 to %d node groups, not %d", Partitions, len(goal.Shares))
	}
	b := &balance{m: m, pins: goal.Pins}
	for _, s := range goal.Shares {
		if s.Weight == 0 {
			s.Weight = 1
		}
		if s.Group == 0 || !(s.Weight > 0) || s.Weight > 1e9 || s.Weight < 1e-9 {
			return nil, fmt.Errorf("node group %d cannot have weight %g", s.Group, s.Weight)
		}
		b.groups = append(b.groups, groupGoal{Share: s})
	}
	slices.SortFunc(b.groups, func(x, y groupGoal) int { return cmp.Compare(x.Group, y.Group) })
	for i := 1; i < len(b.groups); i++ {
		if b.groups[i].Group == b.groups[i-1].Group {
			return nil, fmt.Errorf("node group %d is named twice", b.groups[i].Group)
		}
	}
	for p, g := range goal.Pins {
		i, ok := b.find(g)
		if !ok || p >= Partitions {
			return nil, fmt.Errorf("partition %d is pinned to node group %d, which is to own none", p, g)
		}
		b.groups[i].pinned++
	}
	for p, owner := range m.owners {
		i, ok := b.find(owner)
		if !ok {
			i = -1
		}
		b.at[p] = i
		if _, pinned := goal.Pins[Partition(p)]; ok && !pinned {
			b.groups[i].free++
		}
	}
	return b, nil
}

func (b *balance) find(g NodeGroupID) (int, bool) {
	return slices.BinarySearchFunc(b.groups, g, func(x groupGoal, id NodeGroupID) int { return cmp.Compare(x.Group, id) })
}

// setTargets divides the partitions. Groups whose pins exceed their share keep the pins; that leaves less for the others,
// so their shares are computed again until none of them is exceeded.
func (b *balance) setTargets() {
	open := make([]*groupGoal, len(b.groups))
	for i := range b.groups {
		open[i] = &b.groups[i]
	}
	rest := Partitions
	for {
		var weights float64
		for _, g := range open {
			weights += g.Weight
		}
		kept := open[:0:0]
		left := rest
		for _, g := range open {
			if float64(g.pinned) > float64(rest)*g.Weight/weights+1e-9 {
				g.want = g.pinned
				left -= g.pinned
			} else {
				kept = append(kept, g)
			}
		}
		if len(kept) == len(open) {
			divide(open, rest, weights)
			return
		}
		open, rest = kept, left
	}
}

// divide gives each group the whole part of its share, and what remains one by one: first to groups that have that many
// already, then to those that lost most by rounding.
func divide(groups []*groupGoal, rest int, weights float64) {
	type part struct {
		*groupGoal
		fraction float64
	}
	parts := make([]part, len(groups))
	for i, g := range groups {
		exact := float64(rest) * g.Weight / weights
		g.want = int(exact + 1e-9)
		parts[i] = part{g, exact - float64(g.want)}
	}
	remaining := rest
	for _, g := range groups {
		remaining -= g.want
	}
	hasMore := func(p part) int {
		if p.pinned+p.free > p.want && p.fraction > 1e-9 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		return cmp.Or(cmp.Compare(hasMore(y), hasMore(x)), cmp.Compare(y.fraction, x.fraction))
	})
	for i := 0; remaining > 0; i, remaining = i+1, remaining-1 {
		parts[i%len(parts)].want++
	}
}

// moves turns targets into moves. A group gives away partitions spread over all it has, so that its neighbours in number
// do not end together in one other group.
func (b *balance) moves() []Move {
	var moves []Move
	homeless := b.surplus(&moves)
	// Each homeless partition goes to the group that is furthest from its target, in proportion.
	need := make([]int, len(b.groups))
	for i, g := range b.groups {
		need[i] = max(0, g.want-g.pinned-g.free)
	}
	total := slices.Clone(need)
	for _, p := range homeless {
		best := -1
		for i := range need {
			if need[i] > 0 && (best < 0 || need[i]*total[best] > need[best]*total[i]) {
				best = i
			}
		}
		need[best]--
		moves = append(moves, Move{p, b.m.owners[p], b.groups[best].Group})
	}
	slices.SortFunc(moves, func(x, y Move) int { return cmp.Compare(x.Partition, y.Partition) })
	return moves
}

// surplus appends the moves pins ask for and returns the other partitions that must leave their owner, rising.
func (b *balance) surplus(moves *[]Move) []Partition {
	owned := make([][]Partition, len(b.groups))
	var homeless []Partition
	for i, owner := range b.m.owners {
		p := Partition(i)
		if to, pinned := b.pins[p]; pinned {
			if to != owner {
				*moves = append(*moves, Move{p, owner, to})
			}
			continue
		}
		if at := b.at[p]; at >= 0 {
			owned[at] = append(owned[at], p)
		} else {
			homeless = append(homeless, p)
		}
	}
	for i, g := range b.groups {
		excess := g.pinned + g.free - g.want
		for k := range max(0, excess) {
			homeless = append(homeless, owned[i][k*len(owned[i])/excess])
		}
	}
	slices.Sort(homeless)
	return homeless
}
