package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/placement"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
)

// slotShift is how many bits of a connection's id count the connections of one process; above them is its slot, which no
// other process has.
const slotShift = 20

// idBase is the part of connection ids that is this process's: its slot's, or while it is shut out that of the slot it had.
func (s *Server) idBase() uint32 { return s.ids.Load() }

// numberBy gives the clients to come ids of slot n. Those who have ids of another slot are disconnected, as they would be by a server that ends: another process
// may hold that slot, or soon will, and give the same ids.
func (s *Server) numberBy(n int) {
	s.ids.Store(uint32(n-1) << slotShift)
	if proxy := s.proxy.Load(); proxy != nil {
		proxy.EndOthers()
	}
}

// clientSessions lists the clients of this process for others.
func (s *Server) clientSessions() (list []*adminv1.Session) {
	return toSessions(s.sessions.Processes())
}

// allSessions lists the clients of all processes, by id; missing are processes that do not answer.
func (s *Server) allSessions(ctx context.Context) (list []*adminv1.Session, missing []string, err error) {
	others, missing, err := peers{s}.Processes(ctx)
	list = append(s.clientSessions(), toSessions(others)...)
	slices.SortFunc(list, func(a, b *adminv1.Session) int { return cmp.Compare(a.Id, b.Id) })
	return list, missing, err
}

func toSessions(in []processlist.Process) (list []*adminv1.Session) {
	for _, p := range in {
		list = append(list, &adminv1.Session{ // what is not UTF-8 would cost the whole answer
			Id: p.ID, User: strings.ToValidUTF8(p.User, "?"), Host: p.Host, Database: strings.ToValidUTF8(p.DB, "?"), Command: p.Command, Since: timestamppb.New(p.Since), Statement: p.SQL,
			LockThread: p.LockThread,
		})
	}
	return list
}

// peers is the other processes of the cluster; it implements session.Peers.
type peers struct{ s *Server }

// lockHoldersShown bounds the clients that lockHolders names.
const lockHoldersShown = 5

// lockHolders names clients of the cluster that have user-level locks, as far as processes answer.
func (s *Server) lockHolders(ctx context.Context) (names []string) {
	list := s.sessions.Processes()
	if others, _, err := (peers{s}).Processes(ctx); err == nil {
		list = append(list, others...)
	}
	for _, p := range list {
		if p.LockThread != 0 {
			names = append(names, fmt.Sprintf("%d (%s at %s)", p.ID, p.User, p.Host))
		}
	}
	if n := len(names) - lockHoldersShown; n > 0 {
		names = append(names[:lockHoldersShown], fmt.Sprintf("and %d more", n))
	}
	return names
}

// maxPeerCalls bounds how many processes are asked at the same time.
const maxPeerCalls = 16

// Processes implements session.Peers.
func (p peers) Processes(ctx context.Context) (list []processlist.Process, missing []string, err error) {
	missing, err = askOthers(ctx, p.s, func(api adminv1.AdminClient) (*adminv1.SessionsResponse, error) {
		return api.Sessions(ctx, &adminv1.SessionsRequest{})
	}, func(r *adminv1.SessionsResponse) {
		for _, x := range r.GetSessions() {
			list = append(list, processlist.Process{
				ID: x.GetId(), User: x.GetUser(), Host: x.GetHost(), DB: x.GetDatabase(), Command: x.GetCommand(),
				Since: x.GetSince().AsTime(), SQL: x.GetStatement(), LockThread: x.GetLockThread(),
			})
		}
	})
	return list, missing, err
}

// askOthers calls all other proxies, several at a time, and gives take their answers one by one. missing are the addresses of those that do not
// answer.
func askOthers[R any](ctx context.Context, s *Server, call func(adminv1.AdminClient) (R, error), take func(R)) (missing []string, err error) {
	members, err := peers{s}.others(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(maxPeerCalls)
	for _, m := range members {
		g.Go(func() error {
			var r R
			err := s.ask(m, func(api adminv1.AdminClient) (err error) {
				r, err = call(api)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				missing = append(missing, m.AdminAddr)
				return nil //nolint:nilerr // told as missing
			}
			take(r)
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	slices.Sort(missing)
	return missing, nil
}

// Kill implements session.Peers.
func (p peers) Kill(ctx context.Context, id uint32, query bool, onlyUser string) error {
	members, err := p.others(ctx)
	if err != nil {
		return sqlerr.UnknownError.New("the process of connection " + fmt.Sprint(id) + " cannot be found: " + err.Error())
	}
	for _, m := range members {
		if uint32(m.Slot-1) != id>>slotShift {
			continue
		}
		err := p.s.ask(m, func(c adminv1.AdminClient) error {
			_, err := c.KillSession(ctx, &adminv1.KillSessionRequest{Id: id, StatementOnly: query, OnlyUser: onlyUser})
			return err
		})
		switch status.Code(err) {
		case codes.OK:
			return nil
		case codes.NotFound:
			return sqlerr.UnknownThread.New(id)
		case codes.PermissionDenied:
			return sqlerr.KillDenied.New(id)
		case codes.FailedPrecondition:
			return sqlerr.UnknownError.New(status.Convert(err).Message())
		}
		return sqlerr.UnknownError.New("the process of connection " + fmt.Sprint(id) + " does not answer: " + err.Error())
	}
	return sqlerr.UnknownThread.New(id)
}

// sessionTrace returns the last steps of a client of this process, or unless here is set of any other.
func (s *Server) sessionTrace(ctx context.Context, id uint32, here bool) (*adminv1.SessionTraceResponse, error) {
	user, steps, ok := s.sessions.Trace(id)
	if ok {
		r := &adminv1.SessionTraceResponse{User: user}
		for _, step := range steps {
			r.Steps = append(r.Steps, &adminv1.SessionStep{
				At: timestamppb.New(step.At), What: step.Name, Kind: step.Kind, NodeGroup: uint32(step.Group), Error: uint32(step.Code),
			})
		}
		return r, nil
	}
	none := status.Errorf(codes.NotFound, "there is no connection %d; SHOW PROCESSLIST lists them", id)
	if here {
		return nil, none
	}
	members, err := peers{s}.others(ctx)
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "the process of connection %d cannot be found: %v", id, err)
	}
	for _, m := range members {
		if uint32(m.Slot-1) != id>>slotShift {
			continue
		}
		var r *adminv1.SessionTraceResponse
		err := s.ask(m, func(c adminv1.AdminClient) (err error) {
			r, err = c.SessionTrace(ctx, &adminv1.SessionTraceRequest{Id: id, Here: true})
			return err
		})
		return r, err
	}
	return nil, none
}

// reaches names the other processes that say that a node group's server answers them, and those that do not say.
func (s *Server) reaches(ctx context.Context, id placement.NodeGroupID) (by []string) {
	members, err := peers{s}.others(ctx)
	if err != nil {
		return []string{"(" + err.Error() + ")"}
	}
	ctx, cancel := context.WithTimeout(ctx, reachesTime)
	defer cancel()
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(maxPeerCalls)
	for _, m := range members {
		g.Go(func() error {
			var r *adminv1.StatusResponse
			err := s.ask(m, func(c adminv1.AdminClient) (err error) {
				r, err = c.Status(ctx, &adminv1.StatusRequest{})
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				by = append(by, fmt.Sprintf("%s (does not say: %s)", m.AdminAddr, status.Convert(err).Message()))
			}
			for _, g := range r.GetNodeGroups() {
				if g.GetId() == uint32(id) && g.GetHealth() == adminv1.NodeGroup_HEALTH_UP {
					by = append(by, m.AdminAddr)
				}
			}
			return nil
		})
	}
	_ = g.Wait()
	return by
}

// reachesTime bounds asking the others whether they reach a server.
const reachesTime = 5 * time.Second

// others are the other proxies.
func (p peers) others(ctx context.Context) (list []topology.Member, err error) {
	members, err := p.s.store.Members(ctx)
	for _, m := range members {
		if m.Proxy && m.ID != p.s.id && m.Incarnation != 0 {
			list = append(list, m)
		}
	}
	return list, err
}

// ask calls another process's admin API.
func (s *Server) ask(m topology.Member, call func(adminv1.AdminClient) error) error {
	conn, err := s.dialMember(m)
	if err != nil {
		return err
	}
	defer conn.Close()
	return call(adminv1.NewAdminClient(conn))
}

// dialMember returns a connection to another process's admin API, which must be closed.
func (s *Server) dialMember(m topology.Member) (*grpc.ClientConn, error) {
	options, err := s.access.DialOptions(m.AdminAddr, false, "")
	if err != nil {
		return nil, err
	}
	options = append(options, grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
		return call(metadata.AppendToOutgoingContext(ctx, meantKey, m.ID), method, req, reply, cc, o...)
	}))
	return grpc.NewClient(m.AdminAddr, options...)
}

// meantKey names the process that a call between processes is for.
const meantKey = "skarv-process"

// forMe refuses calls that are for another process: it announces an address at which this one is reached, such as a loopback address
// of its own machine. The answer would be taken for its.
func (s *Server) forMe(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	for _, id := range md.Get(meantKey) {
		if id != s.id {
			return nil, status.Errorf(codes.Aborted, "process %s was asked, and process %s answers: give each an admin.advertise by which the others reach it", id, s.id)
		}
	}
	return handler(ctx, req)
}
