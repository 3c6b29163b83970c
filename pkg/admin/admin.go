// Package admin serves the admin API over gRPC, in any process of a cluster: it converts messages, and asks the packages below it.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
)

// Config says what a Server answers from.
type Config struct {
	Options  []grpc.ServerOption // who may call it; none: everybody
	Log      *slog.Logger        // nil: nothing is logged
	Store    *topology.Store
	Follower *topology.Follower
	Client   *control.Client
	// Health tells how a node group is; ok is false if that is not known. It may be nil.
	Health func(id placement.NodeGroupID) (h GroupHealth, ok bool)
	// Transactions lists those that are prepared or whose end is still known, or one of them if id is not empty. It may be nil.
	Transactions func(ctx context.Context, id txn.ID) ([]txn.Info, error)
	// InDoubt are the prepared branches of transactions that this process has seen, oldest first. It may be nil.
	InDoubt func() []txn.Doubt
	// Login is how to connect to a group's primary; nil: rows and bytes are not estimated.
	Login func(g *catalog.NodeGroup) mysqlconn.Config
	// Servers connects to servers that are, or are to be, node groups.
	Servers schema.Dialer
	// Load is how many statements per second there are on each partition and on all of them, in this process or in all of the
	// cluster; missing are processes that do not answer. It may be nil.
	Load func(ctx context.Context, cluster bool) (rates []float64, all float64, missing []string, err error)
	// AwaitDrained waits until nothing in this process works by a partition map older than epoch, and returns what reorg.Config.Ask
	// does. It may be nil.
	AwaitDrained func(ctx context.Context, epoch uint64) (reorg.Answer, error)
	// Refusals are the reasons for which moves would be refused. It may be nil.
	Refusals func(ctx context.Context, moves []placement.Move) ([]string, error)
	// Nodes starts servers on this machine; nil: it cannot.
	Nodes Nodes
	// Sessions lists the clients of this process. It may be nil.
	Sessions func() []*adminv1.Session
	// AllSessions lists those of all processes; missing are processes that do not answer. It may be nil.
	AllSessions func(ctx context.Context) (list []*adminv1.Session, missing []string, err error)
	// KillAnywhere is KillSession for the clients of all processes. It may be nil.
	KillAnywhere func(ctx context.Context, id uint32, statementOnly bool, onlyUser string) error
	// KillSession ends one of them, or its statement; onlyUser is "" for anybody's. It may be nil.
	KillSession func(id uint32, statementOnly bool, onlyUser string) error
	// Crossings tells of the commits over several node groups of this process. It may be nil.
	Crossings func() *adminv1.CrossingsResponse
	// Statements tells what statements have cost. The error has a gRPC status, or is one of etcd's. It may be nil.
	Statements func(ctx context.Context, req *adminv1.StatementsRequest) (*adminv1.StatementsResponse, error)
	// SessionTrace returns the last steps of a session, of this process alone or of any. The error has a gRPC status. It may be nil.
	SessionTrace func(ctx context.Context, id uint32, here bool) (*adminv1.SessionTraceResponse, error)
}

// Server serves the admin API in any process of the cluster.
type Server struct {
	adminv1.UnimplementedAdminServer
	cfg      Config
	accounts account.Store
}

// New returns a Server; Run serves it.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{cfg: cfg, accounts: account.Store{Topology: cfg.Store}}
}

// Run serves on l until ctx ends, then lets calls finish for a moment. It closes l.
func (a *Server) Run(ctx context.Context, l net.Listener) error {
	srv := grpc.NewServer(append(slices.Concat(guarded(a.cfg.Log), a.cfg.Options), grpc.MaxRecvMsgSize(64<<20))...)
	adminv1.RegisterAdminServer(srv, a)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := srv.Serve(l); err != nil && gctx.Err() == nil {
			return fmt.Errorf("serve admin API: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		<-gctx.Done()
		force := time.AfterFunc(2*time.Second, srv.Stop)
		defer force.Stop()
		srv.GracefulStop()
		return nil
	})
	return g.Wait()
}

// rpcError gives an error the code that tells the caller what to do.
func rpcError(err error) error {
	code := codes.FailedPrecondition
	switch {
	case err == nil:
		return nil
	case isStatus(err):
		return err
	case errors.Is(err, control.ErrExists), errors.Is(err, account.ErrExists):
		code = codes.AlreadyExists
	case errors.Is(err, account.ErrUnknown):
		code = codes.NotFound
	case errors.Is(err, topology.ErrUnavailable):
		code = codes.Unavailable
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	}
	return status.Error(code, err.Error())
}

// isStatus reports whether err is one of the API's already.
func isStatus(err error) bool {
	_, ok := status.FromError(err)
	return ok
}

// snapshot returns the cluster's state, or why there is none.
func (a *Server) snapshot() (*catalog.Snapshot, error) {
	snap := a.cfg.Follower.Snapshot()
	if snap == nil {
		return nil, status.Error(codes.Unavailable, "the cluster's state was not read yet: etcd at "+
			strings.Join(a.cfg.Store.Endpoints(), ", ")+" does not answer")
	}
	if snap.ClusterID == "" {
		return nil, status.Error(codes.FailedPrecondition, "there is no cluster yet: use skarvctl cluster init, or skarvctl import for a server that has tables")
	}
	return snap, nil
}
