package placement

import (
	"cmp"
	"fmt"
	"slices"
)

const (
	// loadSlack is how far above its share of the load a group may be and count as balanced.
	loadSlack = 1.05
	// loadBase is what a partition counts for beside its load, as a part of the mean load: rows take room, too, and tomorrow's load
	// may be elsewhere.
	loadBase = 0.1
)

// BalanceLoad returns moves, rising by partition, that bring the load of each group to its share of all of it: none to more than a
// twentieth above, as far as single partitions allow, which cannot be divided. load is how busy each partition is, in any
// unit. The hottest partition that fits goes from the group that is most above its share to the one that is most below, again
// and again, so few move. Partitions of groups that are not named in goal all move. The plan is the same for the same input,
// and no group's load, in proportion to its share, rises above the highest there was or must be.
func BalanceLoad(m *PartitionMap, goal Goal, load []float64) ([]Move, error) {
	if len(load) != Partitions {
		return nil, fmt.Errorf("load of %d partitions, not %d", len(load), Partitions)
	}
	b, err := newBalance(m, goal)
	if err != nil {
		return nil, err
	}
	l := &loadBalance{balance: b, at: b.at, load: make([]float64, len(b.groups)), share: make([]float64, len(b.groups))}
	if err := l.weigh(load); err != nil {
		return nil, err
	}
	l.settle()
	l.level()
	var moves []Move
	for p, to := range l.at {
		if g := b.groups[to].Group; g != m.owners[p] {
			moves = append(moves, Move{Partition(p), m.owners[p], g})
		}
	}
	return moves, nil
}

// loadBalance is the working state of BalanceLoad.
type loadBalance struct {
	*balance
	at    [Partitions]int // position in groups of each partition's owner to be
	heat  [Partitions]float64
	load  []float64 // of each group, with the partitions it is to have
	share []float64 // what each group is to carry
}

// weigh counts the load.
func (l *loadBalance) weigh(load []float64) error {
	total := 0.0
	for p, x := range load {
		if !(x >= 0) || x > 1e15 {
			return fmt.Errorf("partition %d cannot have load %g", p, x)
		}
		total += x
	}
	base := loadBase * total / Partitions
	if total == 0 {
		base = 1 // then partitions are all there is to go by
	}
	var weights float64
	for _, g := range l.groups {
		weights += g.Weight
	}
	for p, x := range load {
		l.heat[p] = x + base
	}
	total += base * Partitions
	for i, g := range l.groups {
		l.share[i] = total * g.Weight / weights
	}
	return nil
}

// settle gives pinned partitions to their groups, and then those of groups that are to have none, the hottest first, each where it does
// least harm.
func (l *loadBalance) settle() {
	var homeless []int
	for p := range l.at {
		if g, pinned := l.pins[Partition(p)]; pinned {
			l.at[p], _ = l.find(g)
		}
		if l.at[p] < 0 {
			homeless = append(homeless, p)
		} else {
			l.load[l.at[p]] += l.heat[p]
		}
	}
	slices.SortStableFunc(homeless, func(a, b int) int { return cmp.Compare(l.heat[b], l.heat[a]) })
	for _, p := range homeless {
		to := 0
		for i := range l.groups {
			if (l.load[i]+l.heat[p])/l.share[i] < (l.load[to]+l.heat[p])/l.share[to] {
				to = i
			}
		}
		l.at[p] = to
		l.load[to] += l.heat[p]
	}
}

// extreme is the group whose load, in proportion to its share, comes first; those in out are left out. -1: there is none.
func (l *loadBalance) extreme(before func(a, b float64) bool, out []bool) int {
	best := -1
	for i := range l.groups {
		if (out == nil || !out[i]) && (best < 0 || before(l.load[i]/l.share[i], l.load[best]/l.share[best])) {
			best = i
		}
	}
	return best
}

// level moves partitions until no group is too far above its share, or nothing that would help fits.
func (l *loadBalance) level() {
	moved := [Partitions]bool{}
	stuck := make([]bool, len(l.groups))
	hottest := make([][]int, len(l.groups)) // of each group, those that may move, falling
	for p, at := range l.at {
		if _, pinned := l.pins[Partition(p)]; !pinned {
			hottest[at] = append(hottest[at], p)
		}
	}
	for _, list := range hottest {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(l.heat[b], l.heat[a]) })
	}
	for {
		from := l.extreme(func(a, b float64) bool { return a > b }, stuck)
		to := l.extreme(func(a, b float64) bool { return a < b }, nil)
		if from < 0 || from == to || l.load[from] <= l.share[from]*loadSlack {
			return
		}
		// Neither may then be further from its share than the slack.
		room := min(l.share[to]*loadSlack-l.load[to], l.load[from]-l.share[from]*(2-loadSlack))
		list := hottest[from]
		first, _ := slices.BinarySearchFunc(list, room, func(p int, room float64) int { return cmp.Compare(room, l.heat[p]) })
		for first < len(list) && moved[list[first]] {
			first++
		}
		if first == len(list) { // all are too hot for the room there is: the coolest may help all the same
			for first--; first >= 0 && moved[list[first]]; {
				first--
			}
			if first < 0 || (l.load[to]+l.heat[list[first]])/l.share[to] >= l.load[from]/l.share[from] {
				stuck[from] = true
				continue
			}
		}
		p := list[first]
		moved[p] = true
		l.at[p] = to
		l.load[from] -= l.heat[p]
		l.load[to] += l.heat[p]
	}
}
