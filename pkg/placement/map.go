package placement

import (
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// PartitionMap says which node group owns each virtual partition. It is immutable and safe for concurrent use.
type PartitionMap struct {
	epoch  uint64
	owners [Partitions]NodeGroupID
	groups []NodeGroupID // who owns anything, sorted

	// what moves; see Moving
	moving  []Moving
	frozen  *Set
	foreign map[NodeGroupID]*Set

	copies time.Duration // how long reference tables may stay frozen; 0: they are not
	locks  time.Duration // the same of user-level locks
}

// FirstEpoch is the epoch of a map made by NewMap.
const FirstEpoch = 1

// NewMap returns a map at FirstEpoch that spreads the partitions over groups as evenly as can be, in turn: with
// n groups, partition p belongs to the (p mod n)th. There must be at least one group and at most Partitions, each
// once and none of them 0.
func NewMap(groups []NodeGroupID) (*PartitionMap, error) {
	if len(groups) == 0 || len(groups) > Partitions {
		return nil, fmt.Errorf("a partition map needs 1 to %d node groups, not %d", Partitions, len(groups))
	}
	sorted := slices.Sorted(slices.Values(groups))
	for i, g := range sorted {
		if g == 0 {
			return nil, fmt.Errorf("node group 0 cannot own partitions")
		}
		if i > 0 && g == sorted[i-1] {
			return nil, fmt.Errorf("node group %d is named twice", g)
		}
	}
	m := &PartitionMap{epoch: FirstEpoch, groups: sorted}
	for p := range m.owners {
		m.owners[p] = groups[p%len(groups)]
	}
	return m, nil
}

// newMap completes a map from its owners, which must not be 0.
func newMap(epoch uint64, owners *[Partitions]NodeGroupID) *PartitionMap {
	m := &PartitionMap{epoch: epoch, owners: *owners}
	var seen [1 << 16 / 64]uint64
	for _, g := range owners {
		seen[g/64] |= 1 << (g % 64)
	}
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			m.groups = append(m.groups, NodeGroupID(i*64+bits.TrailingZeros64(word)))
		}
	}
	return m
}

// Owner returns the node group that owns p.
func (m *PartitionMap) Owner(p Partition) NodeGroupID { return m.owners[p] }

// Epoch is the map's version: every change raises it.
func (m *PartitionMap) Epoch() uint64 { return m.epoch }

// Groups returns the node groups that own at least one partition, sorted. The caller must not change the slice.
func (m *PartitionMap) Groups() []NodeGroupID { return m.groups }

// Counts returns how many partitions each of Groups owns, in the same order.
func (m *PartitionMap) Counts() []int {
	counts := make([]int, len(m.groups))
	for _, g := range m.owners {
		i, _ := slices.BinarySearch(m.groups, g)
		counts[i]++
	}
	return counts
}

// Owned returns the partitions g owns, rising.
func (m *PartitionMap) Owned(g NodeGroupID) []Partition {
	var owned []Partition
	for p, owner := range m.owners {
		if owner == g {
			owned = append(owned, Partition(p))
		}
	}
	return owned
}

// Move is one partition changing its owner.
type Move struct {
	Partition Partition   `json:"partition"`
	From      NodeGroupID `json:"from"`
	To        NodeGroupID `json:"to"`
}

// Apply returns the map after moves, one epoch later, with nothing moving. It fails when a move does not start at the partition's owner,
// goes to group 0, or names a partition a second time.
func (m *PartitionMap) Apply(moves []Move) (*PartitionMap, error) {
	owners := m.owners
	var moved [Partitions]bool
	for _, mv := range moves {
		switch {
		case mv.Partition >= Partitions:
			return nil, fmt.Errorf("there is no partition %d", mv.Partition)
		case moved[mv.Partition]:
			return nil, fmt.Errorf("partition %d is moved twice", mv.Partition)
		case owners[mv.Partition] != mv.From:
			return nil, fmt.Errorf("partition %d belongs to node group %d, not to %d",
				mv.Partition, owners[mv.Partition], mv.From)
		case mv.To == 0:
			return nil, fmt.Errorf("partition %d cannot move to node group 0", mv.Partition)
		}
		moved[mv.Partition] = true
		owners[mv.Partition] = mv.To
	}
	return newMap(m.epoch+1, &owners), nil
}

// Diff returns the moves that lead from m to next.
func (m *PartitionMap) Diff(next *PartitionMap) []Move {
	var moves []Move
	for p := range m.owners {
		if m.owners[p] != next.owners[p] {
			moves = append(moves, Move{Partition(p), m.owners[p], next.owners[p]})
		}
	}
	return moves
}
