package main

import (
	"skarv/pkg/placement"
)

// spread is how evenly n node groups share the partitions.
type spread struct {
	groups, least, most int
	moved               int // partitions that moved when the last group was added
}

// excess is how much more than its share the fullest group has.
func (s spread) excess() float64 {
	return float64(s.most)*float64(s.groups)/placement.Partitions - 1
}

// spreads lets a cluster grow by one node group at a time, and returns what the planner of moves makes of it.
func spreads(upTo int) ([]spread, error) {
	ids := []placement.NodeGroupID{1}
	m, err := placement.NewMap(ids)
	if err != nil {
		return nil, err
	}
	var list []spread
	for n := 1; n <= upTo; n++ {
		moved := 0
		if n > 1 {
			ids = append(ids, placement.NodeGroupID(n))
			moves, err := placement.Balance(m, placement.EqualShares(ids))
			if err != nil {
				return nil, err
			}
			moved = len(moves)
			if m, err = m.Apply(moves); err != nil {
				return nil, err
			}
		}
		s := spread{groups: n, least: placement.Partitions, moved: moved}
		for _, id := range ids {
			s.least, s.most = min(s.least, len(m.Owned(id))), max(s.most, len(m.Owned(id)))
		}
		list = append(list, s)
	}
	return list, nil
}
