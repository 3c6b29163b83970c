package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	adminv1 "skarv/proto/admin/v1"
)

// Reorganise implements the API.
func (a *Server) Reorganise(ctx context.Context, req *adminv1.ReorganiseRequest) (*adminv1.ReorganiseResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	plan := reorg.Request{Weights: map[placement.NodeGroupID]float64{}}
	for _, s := range req.GetShares() {
		g, err := groupOf(snap, s.GetNodeGroup())
		if err != nil {
			return nil, err
		}
		plan.Weights[g.ID] = s.GetWeight()
	}
	for _, name := range req.GetWithout() {
		g, err := groupOf(snap, name)
		if err != nil {
			return nil, err
		}
		plan.Without = append(plan.Without, g.ID)
	}
	if plan.Pins, err = pins(snap, req.GetPins()); err != nil {
		return nil, err
	}
	if req.GetByLoad() {
		if a.cfg.Load == nil {
			return nil, status.Error(codes.FailedPrecondition, "the load of partitions is not known here: ask a process with the proxy role")
		}
		rates, _, missing, err := a.cfg.Load(ctx, true)
		if err != nil {
			return nil, rpcError(err)
		}
		if len(missing) > 0 {
			return nil, status.Errorf(codes.FailedPrecondition, "these processes do not tell their load: %s", strings.Join(missing, ", "))
		}
		plan.Load = rates
	}
	if text := req.GetPartitions(); text != "" {
		if plan.Partitions, err = placement.ParseSet(text); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		g, err := groupOf(snap, req.GetTo())
		if err != nil {
			return nil, err
		}
		plan.To = g.ID
	}
	running, err := reorg.Resumable(ctx, a.cfg.Store, snap, req.GetKind(), plan, control.Role)
	switch {
	case errors.Is(err, reorg.ErrBusy):
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	case err != nil:
		return nil, rpcError(err)
	case running != nil:
		return &adminv1.ReorganiseResponse{Reorganisation: a.show(ctx, running), Resumed: true}, nil
	}
	moves, err := reorg.Plan(snap, plan)
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	out := &adminv1.ReorganiseResponse{}
	if len(moves) == 0 {
		return out, nil
	}
	out.Rows, out.Bytes = a.estimate(ctx, snap, moves)
	past, err := reorg.List(ctx, a.cfg.Store)
	if err != nil {
		return nil, rpcError(err)
	}
	expected, basis := reorg.Expected(past, moves, out.Rows, out.Bytes)
	out.Seconds, out.Basis = expected.Seconds(), basis
	window := time.Duration(req.GetWindowSeconds()) * time.Second
	if req.GetDryRun() {
		out.Reorganisation = toReorg(reorg.Preview(req.GetKind(), moves, window))
		if a.cfg.Refusals == nil {
			return out, nil
		}
		look, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		out.Refusals, err = a.cfg.Refusals(look, moves)
		if err != nil && ctx.Err() == nil { // the move would wait for what is in the way
			out.Refusals, err = []string{fmt.Sprintf("it cannot be found out now whether it can be done: %v", err)}, nil
		}
		return out, err
	}
	r, err := reorg.Create(ctx, a.cfg.Store, req.GetKind(), moves, window)
	if err != nil {
		return nil, rpcError(err)
	}
	out.Reorganisation = toReorg(r)
	return out, nil
}

// lookTime bounds the checks of a dry run.
const lookTime = 30 * time.Second

// pins reads which partitions are to be on which node group.
func pins(snap *catalog.Snapshot, list []*adminv1.Pin) (map[placement.Partition]placement.NodeGroupID, error) {
	out := map[placement.Partition]placement.NodeGroupID{}
	for _, pin := range list {
		set, err := placement.ParseSet(pin.GetPartitions())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		g, err := groupOf(snap, pin.GetNodeGroup())
		if err != nil {
			return nil, err
		}
		for _, p := range set.Members() {
			if other, ok := out[p]; ok && other != g.ID {
				return nil, status.Errorf(codes.InvalidArgument, "partition %d is pinned to two node groups", p)
			}
			out[p] = g.ID
		}
	}
	return out, nil
}

// running returns the reorganisation that has not ended, or nil.
func (a *Server) running(ctx context.Context) (*reorg.Record, error) {
	id, ok, err := reorg.Current(ctx, a.cfg.Store)
	if err != nil || !ok {
		return nil, err
	}
	r, err := reorg.Get(ctx, a.cfg.Store, id)
	if errors.Is(err, reorg.ErrUnknown) {
		return nil, nil
	}
	return r, err
}

// estimate asks the servers how much the moves will copy. What cannot be asked counts as nothing.
func (a *Server) estimate(ctx context.Context, snap *catalog.Snapshot, moves []placement.Move) (rows, bytes int64) {
	if a.cfg.Login == nil {
		return 0, 0
	}
	leaving := map[placement.NodeGroupID]int{}
	for _, m := range moves {
		leaving[m.From]++
	}
	for id, n := range leaving {
		g := snap.Group(id)
		if g == nil {
			continue
		}
		r, b, err := sizes(ctx, a.cfg.Login(g), snap)
		if err != nil {
			continue
		}
		owned := int64(max(1, len(snap.Map.Owned(id))))
		rows += r * int64(n) / owned
		bytes += b * int64(n) / owned
	}
	return rows, bytes
}

// sizes is about how many rows and bytes the sharded tables have on a server.
func sizes(ctx context.Context, login mysqlconn.Config, snap *catalog.Snapshot) (rows, bytes int64, err error) {
	c, err := mysqlconn.Dial(ctx, login)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	_, list, err := c.QueryAll("SELECT table_schema, table_name, COALESCE(table_rows, 0), COALESCE(data_length + index_length, 0) "+
		"FROM information_schema.tables WHERE table_type = 'BASE TABLE'", 1<<20)
	if err != nil {
		return 0, 0, err
	}
	for _, r := range list {
		if t := snap.Table(string(r[0]), string(r[1])); t != nil && t.Kind == catalog.Sharded {
			n, _ := strconv.ParseInt(string(r[2]), 10, 64)
			b, _ := strconv.ParseInt(string(r[3]), 10, 64)
			rows, bytes = rows+n, bytes+b
		}
	}
	return rows, bytes, nil
}

// Reorganisations implements the API.
func (a *Server) Reorganisations(ctx context.Context, req *adminv1.ReorganisationsRequest) (*adminv1.ReorganisationsResponse, error) {
	list, err := reorg.List(ctx, a.cfg.Store)
	if err != nil {
		return nil, rpcError(err)
	}
	out := &adminv1.ReorganisationsResponse{}
	for _, r := range list {
		if req.GetId() == "" || req.GetId() == r.ID {
			out.Reorganisations = append(out.Reorganisations, a.show(ctx, r))
		}
	}
	if req.GetId() != "" && len(out.Reorganisations) == 0 {
		return nil, status.Errorf(codes.NotFound, "there is no reorganisation %s: see skarvctl reorg list", req.GetId())
	}
	return out, nil
}

// ChangeReorganisation implements the API.
func (a *Server) ChangeReorganisation(ctx context.Context, req *adminv1.ChangeReorganisationRequest) (*adminv1.ChangeReorganisationResponse, error) {
	id := req.GetId()
	if id == "" {
		r, err := a.running(ctx)
		if err != nil {
			return nil, rpcError(err)
		}
		if r == nil {
			return nil, status.Error(codes.FailedPrecondition, "no reorganisation runs")
		}
		id = r.ID
	}
	var r *reorg.Record
	var err error
	switch req.GetAction() {
	case adminv1.ChangeReorganisationRequest_ACTION_PAUSE:
		r, err = reorg.Pause(ctx, a.cfg.Store, id, true)
	case adminv1.ChangeReorganisationRequest_ACTION_RESUME:
		r, err = reorg.Pause(ctx, a.cfg.Store, id, false)
	case adminv1.ChangeReorganisationRequest_ACTION_ABORT:
		r, err = reorg.Ask(ctx, a.cfg.Store, id, reorg.WishAbort)
	case adminv1.ChangeReorganisationRequest_ACTION_ROLLBACK:
		r, err = reorg.Ask(ctx, a.cfg.Store, id, reorg.WishRollback)
	case adminv1.ChangeReorganisationRequest_ACTION_COMPLETE:
		r, err = reorg.Ask(ctx, a.cfg.Store, id, reorg.WishComplete)
	default:
		return nil, status.Error(codes.InvalidArgument, "unknown action")
	}
	if errors.Is(err, reorg.ErrUnknown) {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.ChangeReorganisationResponse{Reorganisation: a.show(ctx, r)}, nil
}

// show is r with its progress. What cannot be read of that is left out.
func (a *Server) show(ctx context.Context, r *reorg.Record) *adminv1.Reorganisation {
	out := toReorg(r)
	st, err := reorg.StatusOf(ctx, a.cfg.Store, r, control.Role)
	if err != nil {
		return out
	}
	out.Advice = st.Advice
	p := st.Progress
	if p == nil {
		return out
	}
	out.Progress = &adminv1.Progress{
		At: timestamppb.New(p.At), Phase: p.Phase, Rows: p.Rows, RowsEstimated: p.RowsEstimated, Bytes: p.Bytes, BytesEstimated: p.BytesEstimated,
		Table: p.Table, Applied: p.Applied, LagSeconds: p.Lag.Seconds(), Throttled: p.Throttled, EtaSeconds: p.ETA.Seconds(),
		LateWrites: p.LateWrites, Trouble: p.Trouble, Compared: p.Compared,
	}
	for _, w := range p.Waits {
		out.Progress.Waits = append(out.Progress.Waits, &adminv1.Wait{What: w.What, Since: timestamppb.New(w.Since)})
	}
	return out
}

func toReorg(r *reorg.Record) *adminv1.Reorganisation {
	out := &adminv1.Reorganisation{
		Id: r.ID, Kind: r.Kind, State: string(r.State), Outcome: string(r.Outcome), Paused: r.Paused, Wish: string(r.Wish), Problem: r.Problem,
		Created: timestamppb.New(r.Created), WindowSeconds: uint64(r.Window / time.Second), PauseSeconds: r.Pause.Seconds(),
		Attempts: uint32(r.Attempts), Rows: r.Rows, Bytes: r.Bytes,
	}
	if !r.Opened.IsZero() {
		out.Opened = timestamppb.New(r.Opened)
	}
	for _, t := range r.Transfers {
		out.Transfers = append(out.Transfers, &adminv1.Transfer{
			From: uint32(t.From), To: uint32(t.To), Partitions: t.Partitions.String(), Count: uint32(t.Partitions.Len()),
		})
	}
	for _, s := range r.Steps {
		out.Steps = append(out.Steps, &adminv1.Step{State: string(s.State), At: timestamppb.New(s.At)})
	}
	return out
}
