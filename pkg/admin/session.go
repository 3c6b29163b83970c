package admin

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/digest"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
)

// Sessions implements the API.
func (a *Server) Sessions(ctx context.Context, req *adminv1.SessionsRequest) (*adminv1.SessionsResponse, error) {
	if req.GetCluster() && a.cfg.AllSessions != nil {
		list, missing, err := a.cfg.AllSessions(ctx)
		if err != nil {
			return nil, rpcError(err)
		}
		return &adminv1.SessionsResponse{Sessions: list, Missing: missing}, nil
	}
	if a.cfg.Sessions == nil {
		return &adminv1.SessionsResponse{}, nil
	}
	return &adminv1.SessionsResponse{Sessions: a.cfg.Sessions()}, nil
}

// KillSession implements the API.
func (a *Server) KillSession(ctx context.Context, req *adminv1.KillSessionRequest) (*adminv1.KillSessionResponse, error) {
	if a.cfg.KillSession == nil {
		return nil, status.Error(codes.NotFound, "this process has no clients")
	}
	err := a.cfg.KillSession(req.GetId(), req.GetStatementOnly(), req.GetOnlyUser())
	if sqlerr.HasCode(err, sqlerr.UnknownThread) && req.GetCluster() && a.cfg.KillAnywhere != nil {
		err = a.cfg.KillAnywhere(ctx, req.GetId(), req.GetStatementOnly(), req.GetOnlyUser())
	}
	switch {
	case sqlerr.HasCode(err, sqlerr.KillDenied):
		return nil, status.Error(codes.PermissionDenied, err.Error())
	case sqlerr.HasCode(err, sqlerr.UnknownThread):
		return nil, status.Error(codes.NotFound, err.Error())
	case err != nil:
		return nil, status.Error(codes.FailedPrecondition, sqlerr.From(err).Message)
	}
	return &adminv1.KillSessionResponse{}, nil
}

// SessionTrace implements the API.
func (a *Server) SessionTrace(ctx context.Context, req *adminv1.SessionTraceRequest) (*adminv1.SessionTraceResponse, error) {
	if a.cfg.SessionTrace == nil {
		return nil, status.Error(codes.NotFound, "this process has no clients")
	}
	return a.cfg.SessionTrace(ctx, req.GetId(), req.GetHere())
}

// Statements implements the API.
func (a *Server) Statements(ctx context.Context, req *adminv1.StatementsRequest) (*adminv1.StatementsResponse, error) {
	if a.cfg.Statements == nil {
		return nil, status.Error(codes.FailedPrecondition, "this process has no clients: ask one with the proxy role")
	}
	if o := req.GetOrder(); o != "" && !slices.Contains(digest.Orders(), digest.Order(o)) {
		return nil, status.Errorf(codes.InvalidArgument, "statements are not sorted by %q but by one of %v", o, digest.Orders())
	}
	r, err := a.cfg.Statements(ctx, req)
	if err != nil {
		return nil, rpcError(err)
	}
	return r, nil
}

// Transactions implements the API.
func (a *Server) Transactions(ctx context.Context, req *adminv1.TransactionsRequest) (*adminv1.TransactionsResponse, error) {
	out := &adminv1.TransactionsResponse{}
	if a.cfg.Transactions == nil {
		return out, nil
	}
	if _, ok := txn.ID(req.GetId()).Group(); !ok && req.GetId() != "" {
		return nil, status.Errorf(codes.InvalidArgument, "%q is not the id of a transaction", req.GetId())
	}
	list, err := a.cfg.Transactions(ctx, txn.ID(req.GetId()))
	if err != nil {
		return nil, rpcError(err)
	}
	for _, i := range list {
		out.Transactions = append(out.Transactions, &adminv1.Transaction{
			Id: string(i.ID), State: string(i.State), NodeGroup: uint32(i.Group), Seconds: uint64(i.Age.Seconds()), Reason: i.Reason,
		})
	}
	return out, nil
}

// Crossings implements the API.
func (a *Server) Crossings(context.Context, *adminv1.CrossingsRequest) (*adminv1.CrossingsResponse, error) {
	if a.cfg.Crossings == nil {
		return &adminv1.CrossingsResponse{}, nil
	}
	return a.cfg.Crossings(), nil
}
