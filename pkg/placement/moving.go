package placement

import (
	"fmt"
	"slices"
	"time"
)

// Phase says how far the partitions of a Moving are.
type Phase string

// The phases of moving partitions, as every process must know them.
const (
	// In: rows of the partitions are being copied to a group that does not own them, or kept there for a way back.
	In Phase = "in"
	// Frozen: no statement may begin that writes to the partitions or reads one of them alone.
	Frozen Phase = "frozen"
	// Cleaning: the group that owned the partitions deletes its rows of them.
	Cleaning Phase = "cleaning"
)

// Moving is partitions of which two groups have rows: the owner in the map, and one that is filled or emptied. What that
// other one has of them must not be seen.
type Moving struct {
	Reorg      string      `json:"reorg"` // the reorganisation that moves them
	A          NodeGroupID `json:"a"`
	B          NodeGroupID `json:"b"`
	Partitions Set         `json:"partitions"`
	Phase      Phase       `json:"phase"`
	// Of Frozen: Drain is how long transactions that use the partitions have to end before they are rolled back, and
	// Deadline how long the partitions may stay frozen: then any process may thaw them.
	Drain    time.Duration `json:"drain,omitempty"`
	Deadline time.Duration `json:"deadline,omitempty"`
}

// Moving returns the partitions that have rows on two groups. The caller must not change the slice.
func (m *PartitionMap) Moving() []Moving { return m.moving }

// Frozen returns the partitions on which no statement may begin, or nil, which is the usual case.
func (m *PartitionMap) Frozen() *Set { return m.frozen }

// Foreign returns the partitions of which group g has rows without owning them, or nil, which is the usual case.
func (m *PartitionMap) Foreign(g NodeGroupID) *Set { return m.foreign[g] }

// AnyForeign reports whether any group has rows it does not own.
func (m *PartitionMap) AnyForeign() bool { return len(m.foreign) > 0 }

// FreezeCopies returns the map that follows m, in which no statement may begin that writes to reference tables: a group is
// given its copies of them. Any process may thaw it after deadline, which must be positive.
func (m *PartitionMap) FreezeCopies(deadline time.Duration) (*PartitionMap, error) {
	next, err := m.Next(nil, m.moving)
	if err != nil {
		return nil, err
	}
	next.copies = deadline
	return next, nil
}

// CopiesFrozen is how long writes to reference tables may be held, 0 if they are not.
func (m *PartitionMap) CopiesFrozen() time.Duration { return m.copies }

// FreezeLocks returns the map that follows m, in which no session may begin to use user-level locks (GET_LOCK): the node group that
// has them leaves. Any process may thaw it after deadline, which must be positive.
func (m *PartitionMap) FreezeLocks(deadline time.Duration) (*PartitionMap, error) {
	next, err := m.Next(nil, m.moving)
	if err != nil {
		return nil, err
	}
	next.locks = deadline
	return next, nil
}

// LocksFrozen is how long sessions may be kept from user-level locks, 0 if they are not.
func (m *PartitionMap) LocksFrozen() time.Duration { return m.locks }

// Next returns the map that follows m: with other owners (moves may be empty), and moving in the place of what moved
// before. It fails as Apply does, and when a partition moves twice or its owner is neither of its two groups.
func (m *PartitionMap) Next(moves []Move, moving []Moving) (*PartitionMap, error) {
	next, err := m.Apply(moves)
	if err != nil {
		return nil, err
	}
	if err := next.setMoving(moving); err != nil {
		return nil, err
	}
	return next, nil
}

// setMoving completes a map nobody has seen yet.
func (m *PartitionMap) setMoving(moving []Moving) error {
	m.moving, m.frozen, m.foreign = nil, nil, nil
	if len(moving) == 0 {
		return nil
	}
	var seen Set
	m.moving = slices.Clone(moving)
	m.foreign = map[NodeGroupID]*Set{}
	for i := range m.moving {
		mv := &m.moving[i]
		if mv.Phase != In && mv.Phase != Frozen && mv.Phase != Cleaning {
			return fmt.Errorf("unknown phase %q of moving partitions", mv.Phase)
		}
		if mv.A == mv.B || seen.Meets(&mv.Partitions) {
			return fmt.Errorf("partitions %s move twice", mv.Partitions)
		}
		seen.Union(&mv.Partitions)
		for _, p := range mv.Partitions.Members() {
			other := mv.B
			switch m.owners[p] {
			case mv.A:
			case mv.B:
				other = mv.A
			default:
				return fmt.Errorf("partition %d belongs to node group %d, not to %d or %d", p, m.owners[p], mv.A, mv.B)
			}
			if m.foreign[other] == nil {
				m.foreign[other] = &Set{}
			}
			m.foreign[other].Add(p)
		}
		if mv.Phase == Frozen {
			if m.frozen == nil {
				m.frozen = &Set{}
			}
			m.frozen.Union(&mv.Partitions)
		}
	}
	return nil
}
