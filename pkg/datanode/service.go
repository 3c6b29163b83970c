package datanode

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	datanodev1 "skarv/proto/datanode/v1"
)

// Service answers for a Node over gRPC.
type Service struct {
	datanodev1.UnimplementedDataNodeServer
	node *Node
}

// NewService returns the gRPC service of node, whose Run must be running while requests are served.
func NewService(node *Node) *Service { return &Service{node: node} }

// Status implements the RPC of that name.
func (s *Service) Status(context.Context, *datanodev1.StatusRequest) (*datanodev1.StatusResponse, error) {
	return statusMessage(s.node.Status()), nil
}

// Initialise implements the RPC of that name.
func (s *Service) Initialise(ctx context.Context, _ *datanodev1.InitialiseRequest) (*datanodev1.InitialiseResponse, error) {
	if err := s.node.Initialise(ctx); err != nil {
		return nil, rpcError(err)
	}
	user, password := s.node.Account()
	return &datanodev1.InitialiseResponse{User: user, Password: password}, nil
}

// Start implements the RPC of that name.
func (s *Service) Start(ctx context.Context, _ *datanodev1.StartRequest) (*datanodev1.StartResponse, error) {
	if err := s.node.Start(ctx); err != nil {
		return nil, rpcError(err)
	}
	return &datanodev1.StartResponse{Status: statusMessage(s.node.Status())}, nil
}

// Stop implements the RPC of that name.
func (s *Service) Stop(ctx context.Context, _ *datanodev1.StopRequest) (*datanodev1.StopResponse, error) {
	if err := s.node.Stop(ctx); err != nil {
		return nil, rpcError(err)
	}
	return &datanodev1.StopResponse{}, nil
}

// Configure implements the RPC of that name.
func (s *Service) Configure(ctx context.Context, r *datanodev1.ConfigureRequest) (*datanodev1.ConfigureResponse, error) {
	restart, err := s.node.Configure(ctx, r.GetVariables())
	if err != nil {
		return nil, rpcError(err)
	}
	return &datanodev1.ConfigureResponse{NeedRestart: restart}, nil
}

func rpcError(err error) error {
	code := codes.FailedPrecondition
	switch {
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	case errors.Is(err, ErrEnded):
		code = codes.Unavailable
	}
	return status.Error(code, err.Error())
}

func statusMessage(s Status) *datanodev1.StatusResponse {
	return &datanodev1.StatusResponse{
		State: stateMessage(s.State), SinceUnixMs: s.Since.UnixMilli(), Pid: int32(s.Pid), Restarts: int32(s.Restarts),
		LastError: s.LastError, Flavor: s.Flavor, Version: s.Version, Addr: s.Addr, Socket: s.Socket, Dir: s.Dir, LogFile: s.LogFile,
	}
}

func stateMessage(s State) datanodev1.State {
	switch s {
	case Uninitialised:
		return datanodev1.State_STATE_UNINITIALISED
	case Stopped:
		return datanodev1.State_STATE_STOPPED
	case Starting:
		return datanodev1.State_STATE_STARTING
	case Running:
		return datanodev1.State_STATE_RUNNING
	case Stopping:
		return datanodev1.State_STATE_STOPPING
	case Restarting:
		return datanodev1.State_STATE_RESTARTING
	case Failed:
		return datanodev1.State_STATE_FAILED
	}
	return datanodev1.State_STATE_UNSPECIFIED
}
