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
	if req.Load != nil {
		return placement.BalanceLoad(snap.Map, goal, req.Load)
	}
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
