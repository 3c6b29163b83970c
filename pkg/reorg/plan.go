package reorg

import (
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// Request says what is to be where.
type Request struct {
	// Weights are the shares of groups that are not to have an equal one.
	Weights map[placement.NodeGroupID]float64
	// Without are groups that are to own nothing.
	Without []placement.NodeGroupID
	// Partitions, if not empty, are to be moved To, and nothing else.
	Partitions placement.Set
	To         placement.NodeGroupID
	// Load, if not nil, is how busy each partition is: then groups get an equal share of it rather than of partitions.
	Load []float64
	// Pins are partitions that are to be on a group whatever the shares say.
	Pins map[placement.Partition]placement.NodeGroupID
}

// Plan returns the moves that fulfil a request, none if it is fulfilled.
func Plan(snap *catalog.Snapshot, req Request) ([]placement.Move, error) {
	if snap.Map == nil {
		return nil, fmt.Errorf("the cluster has no partition map yet")
	}
	if !req.Partitions.Empty() {
		return plainMoves(snap, req)
	}
	if req.Load != nil {
		return balanceLoad(snap, req)
	}
	var goal placement.Goal
	for _, g := range snap.Groups {
		if !slices.Contains(req.Without, g.ID) {
			goal.Shares = append(goal.Shares, placement.Share{Group: g.ID, Weight: req.Weights[g.ID]})
		}
	}
	for g := range req.Weights {
		if snap.Group(g) == nil {
			return nil, fmt.Errorf("there is no node group %d", g)
		}
	}
	for _, g := range req.Without {
		if snap.Group(g) == nil {
			return nil, fmt.Errorf("there is no node group %d", g)
		}
	}
	if len(goal.Shares) == 0 {
		return nil, fmt.Errorf("no node group is left to take the partitions")
	}
	goal.Pins = req.Pins
	return placement.Balance(snap.Map, goal)
}

func plainMoves(snap *catalog.Snapshot, req Request) ([]placement.Move, error) {
	if snap.Group(req.To) == nil {
		return nil, fmt.Errorf("there is no node group %d", req.To)
	}
	var moves []placement.Move
	for _, p := range req.Partitions.Members() {
		if owner := snap.Map.Owner(p); owner != req.To {
			moves = append(moves, placement.Move{Partition: p, From: owner, To: req.To})
		}
	}
	return moves, nil
}

// balanceLoad moves the fewest partitions that bring every group to within a twentieth of the mean load: the busiest that
// fits goes from the busiest group to the idlest, again and again.
func balanceLoad(snap *catalog.Snapshot, req Request) ([]placement.Move, error) {
	if len(req.Load) != placement.Partitions {
		return nil, fmt.Errorf("load of %d partitions, not %d", len(req.Load), placement.Partitions)
	}
	load := map[placement.NodeGroupID]float64{}
	var groups []placement.NodeGroupID
	for _, g := range snap.Groups {
		if !slices.Contains(req.Without, g.ID) {
			groups = append(groups, g.ID)
		}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("no node group is left to take the partitions")
	}
	owner := make([]placement.NodeGroupID, placement.Partitions)
	total := 0.0
	for p := range owner {
		owner[p] = snap.Map.Owner(placement.Partition(p))
		load[owner[p]] += req.Load[p]
		total += req.Load[p]
	}
	mean := total / float64(len(groups))
	moved := map[placement.Partition]bool{}
	for range placement.Partitions {
		idlest, busiest := groups[0], groups[0]
		for _, g := range groups {
			if load[g] < load[idlest] {
				idlest = g
			}
			if load[g] > load[busiest] {
				busiest = g
			}
		}
		if load[busiest] <= mean*1.05 {
			break
		}
		room := min(mean-load[idlest], load[busiest]-mean)
		best := -1
		for p := range owner {
			if owner[p] == busiest && !moved[placement.Partition(p)] && req.Load[p] > 0 && req.Load[p] <= room &&
				(best < 0 || req.Load[p] > req.Load[best]) {
				best = p
			}
		}
		if best < 0 {
			break // what is left is too hot to be moved without making the other group the busiest
		}
		moved[placement.Partition(best)] = true
		load[busiest] -= req.Load[best]
		load[idlest] += req.Load[best]
		owner[best] = idlest
	}
	var moves []placement.Move
	for p := range owner {
		if from := snap.Map.Owner(placement.Partition(p)); from != owner[p] {
			moves = append(moves, placement.Move{Partition: placement.Partition(p), From: from, To: owner[p]})
		}
	}
	return moves, nil
}
