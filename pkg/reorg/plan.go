package reorg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
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

// Resumable returns the reorganisation that runs if it comes to what req asks for, or nil if none runs. ErrBusy: one runs that does not, and
// what can be done about it. leader is the election of those who carry it out.
func Resumable(ctx context.Context, store *topology.Store, snap *catalog.Snapshot, kind string, req Request, leader string) (*Record, error) {
	id, ok, err := Current(ctx, store)
	if err != nil || !ok {
		return nil, err
	}
	r, err := Get(ctx, store, id)
	if errors.Is(err, ErrUnknown) || err == nil && !r.Active() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if r.Kind == kind && r.fulfils(snap, req) {
		return r, nil
	}
	st, err := StatusOf(ctx, store, r, leader)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w, which does something else: %s (%s), at %s; %s", ErrBusy, r.ID, r.Kind, r.State, st.Advice)
}

// fulfils reports whether nothing of req is left to be done once r has moved what it moves.
func (r *Record) fulfils(snap *catalog.Snapshot, req Request) bool {
	if r.Undo || r.Wish == WishAbort || r.Wish == WishRollback || snap.Map == nil {
		return false
	}
	if req.Load != nil {
		return true // it is never the same twice
	}
	moves := slices.DeleteFunc(r.moves(false), func(m placement.Move) bool { return snap.Map.Owner(m.Partition) == m.To })
	after := *snap
	var err error
	if after.Map, err = snap.Map.Apply(moves); err != nil {
		return false
	}
	left, err := Plan(&after, req)
	return err == nil && len(left) == 0
}
