package control

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
)

// GroupHealth is what a process knows of a node group.
type GroupHealth struct {
	Up    bool
	Since time.Time
	Err   string

	Limit, InUse, Queue int // connections that new work may use, those in use, statements that wait
	Refused             uint64
}

// AdminConfig says what an Admin answers from.
type AdminConfig struct {
	Options  []grpc.ServerOption // who may call it; none: everybody
	Store    *topology.Store
	Follower *topology.Follower
	Client   *Client
	// Health tells how a node group is; ok is false if that is not known. It may be nil.
	Health func(id placement.NodeGroupID) (h GroupHealth, ok bool)
	// Transactions lists those that are prepared or whose end is still known, or one of them if id is not empty. It may be nil.
	Transactions func(ctx context.Context, id txn.ID) ([]txn.Info, error)
	// Login is how to connect to a group's primary; nil: rows and bytes are not estimated.
	Login func(g *catalog.NodeGroup) mysqlconn.Config
	// Load is how many statements per second there are on each partition and on all of them, in this process or in all of the
	// cluster; missing are processes that do not answer. It may be nil.
	Load func(ctx context.Context, cluster bool) (rates []float64, all float64, missing []string, err error)
	// AwaitDrained waits until nothing in this process works by a partition map older than epoch, and returns what reorg.Config.Ask
	// does. It may be nil.
	AwaitDrained func(ctx context.Context, epoch uint64) (reorg.Answer, error)
	// Nodes starts servers on this machine; nil: it cannot.
	Nodes Nodes
	// Sessions lists the clients of this process. It may be nil.
	Sessions func() []*adminv1.Session
	// KillSession ends one of them, or its statement; onlyUser is "" for anybody's. It may be nil.
	KillSession func(id uint32, statementOnly bool, onlyUser string) error
	// Crossings tells of the commits over several node groups of this process. It may be nil.
	Crossings func() *adminv1.CrossingsResponse
	// SessionTrace returns the last steps of a session, of this process alone or of any. The error has a gRPC status. It may be nil.
	SessionTrace func(ctx context.Context, id uint32, here bool) (*adminv1.SessionTraceResponse, error)
}

// Admin serves the admin API in any process of the cluster.
type Admin struct {
	adminv1.UnimplementedAdminServer
	cfg      AdminConfig
	accounts *Accounts
}

// NewAdmin returns an Admin; Run serves it.
func NewAdmin(cfg AdminConfig) *Admin {
	return &Admin{cfg: cfg, accounts: &Accounts{Store: cfg.Store}}
}

// Run serves on l until ctx ends, then lets calls finish for a moment. It closes l.
func (a *Admin) Run(ctx context.Context, l net.Listener) error {
	srv := grpc.NewServer(append(slices.Clone(a.cfg.Options), grpc.MaxRecvMsgSize(64<<20))...)
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
	case errors.Is(err, ErrExists), errors.Is(err, ErrUserExists):
		code = codes.AlreadyExists
	case errors.Is(err, ErrUserUnknown):
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

// snapshot returns the cluster's state, or why there is none.
func (a *Admin) snapshot() (*catalog.Snapshot, error) {
	snap := a.cfg.Follower.Snapshot()
	if snap == nil {
		return nil, status.Error(codes.Unavailable, "the cluster's state was not read yet: etcd at "+
			strings.Join(a.cfg.Store.Endpoints(), ", ")+" does not answer")
	}
	if snap.ClusterID == "" {
		return nil, status.Error(codes.FailedPrecondition, "there is no cluster yet: use skarvctl cluster init")
	}
	return snap, nil
}

// Status implements the API.
func (a *Admin) Status(ctx context.Context, _ *adminv1.StatusRequest) (*adminv1.StatusResponse, error) {
	h := a.cfg.Store.Healthy()
	out := &adminv1.StatusResponse{Etcd: &adminv1.Etcd{
		Healthy: h.OK, Since: timestamppb.New(h.Since), Endpoints: a.cfg.Store.Endpoints(),
	}}
	if h.Err != nil {
		out.Etcd.Error = h.Err.Error()
	}
	problem := func(format string, args ...any) { out.Problems = append(out.Problems, fmt.Sprintf(format, args...)) }
	if !h.OK {
		problem("etcd does not answer since %s (%v): statements go on with the last map, schema changes wait; check etcd at %s",
			h.Since.Format(time.RFC3339), h.Err, strings.Join(out.Etcd.Endpoints, ", "))
	} else {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		leader, _, err := a.cfg.Store.Leader(ctx, Role)
		if err == nil {
			out.Leader = leader
			members, e := a.cfg.Store.Members(ctx)
			err = e
			for _, m := range members {
				out.Members = append(out.Members, &adminv1.Member{
					Id: m.ID, Addr: m.Addr, AdminAddr: m.AdminAddr, Version: m.Version,
					Started: timestamppb.New(m.Started), Proxy: m.Proxy, Acked: m.Acked,
				})
			}
		}
		switch {
		case err != nil:
			problem("etcd could not be read: %v", err)
		case out.Leader == "":
			problem("no controller leads: start a skarv process with the controller role")
		}
	}
	snap := a.cfg.Follower.Snapshot()
	if snap == nil {
		problem("the cluster's state was not read yet")
		return out, nil
	}
	if snap.ClusterID == "" {
		problem("there is no cluster yet: use skarvctl cluster init")
		return out, nil
	}
	out.ClusterId, out.Flavor, out.ServerVersion = snap.ClusterID, string(snap.Flavor), snap.ServerVersion
	out.Revision = snap.Revision
	if snap.Map != nil {
		out.MapEpoch = snap.Map.Epoch()
	}
	out.Databases = uint32(len(snap.Databases))
	for _, d := range snap.Databases {
		out.Tables += uint32(len(d.Tables))
	}
	out.NodeGroups = a.groups(snap)
	for _, g := range out.NodeGroups {
		if g.Health == adminv1.NodeGroup_HEALTH_DOWN {
			problem("node group %s is down since %s (%s): start its server at %s", g.Name, g.HealthSince.AsTime().Format(time.RFC3339), g.Error, g.Primary.Addr)
		}
	}
	return out, nil
}

// groups lists the node groups with their health.
func (a *Admin) groups(snap *catalog.Snapshot) []*adminv1.NodeGroup {
	out := make([]*adminv1.NodeGroup, len(snap.Groups))
	for i, g := range snap.Groups {
		out[i] = &adminv1.NodeGroup{Id: uint32(g.ID), Name: groupName(g), Primary: fromNode(g.Primary), Term: g.Term}
		for _, r := range g.Replicas {
			out[i].Replicas = append(out[i].Replicas, fromNode(r))
		}
		if snap.Map != nil {
			out[i].Partitions = uint32(len(snap.Map.Owned(g.ID)))
		}
		if a.cfg.Health == nil {
			continue
		}
		if h, ok := a.cfg.Health(g.ID); ok {
			out[i].Health, out[i].Error = adminv1.NodeGroup_HEALTH_DOWN, h.Err
			if h.Up {
				out[i].Health, out[i].Error = adminv1.NodeGroup_HEALTH_UP, ""
			}
			out[i].Load = &adminv1.Load{Limit: uint32(h.Limit), InUse: uint32(h.InUse), Queue: uint32(h.Queue), Refused: h.Refused}
			if !h.Since.IsZero() {
				out[i].HealthSince = timestamppb.New(h.Since)
			}
		}
	}
	return out
}

// fromNode leaves the password out.
func fromNode(n catalog.Node) *adminv1.Node {
	return &adminv1.Node{Addr: n.Addr, User: n.User, Tls: n.TLS, DataNode: n.DataNode, Version: n.Version, Flavor: string(n.Flavor)}
}

func toSpec(g *adminv1.NodeGroup) (GroupSpec, error) {
	spec := GroupSpec{Name: g.GetName(), Primary: toNode(g.GetPrimary())}
	for _, r := range g.GetReplicas() {
		spec.Replicas = append(spec.Replicas, toNode(r))
	}
	for _, n := range append([]catalog.Node{spec.Primary}, spec.Replicas...) {
		if n.Addr == "" || n.User == "" {
			return spec, status.Error(codes.InvalidArgument, "a node needs an address and a user")
		}
		if !slices.Contains([]string{"", "preferred", "required", "verify"}, n.TLS) {
			return spec, status.Errorf(codes.InvalidArgument, "unknown TLS mode %q: use preferred, required or verify", n.TLS)
		}
	}
	return spec, nil
}

func toNode(n *adminv1.Node) catalog.Node {
	return catalog.Node{Addr: n.GetAddr(), User: n.GetUser(), Password: n.GetPassword(), TLS: n.GetTls(), DataNode: n.GetDataNode()}
}

// InitCluster implements the API.
func (a *Admin) InitCluster(ctx context.Context, req *adminv1.InitClusterRequest) (*adminv1.InitClusterResponse, error) {
	var in InitRequest
	for _, g := range req.GetNodeGroups() {
		spec, err := toSpec(g)
		if err != nil {
			return nil, err
		}
		in.Groups = append(in.Groups, spec)
	}
	res, err := InitCluster(ctx, a.cfg.Store, in)
	if err != nil {
		return nil, rpcError(err)
	}
	// What is asked of this process next must find the cluster.
	if _, revision, err := a.cfg.Store.Cluster(ctx); err == nil {
		_, _ = a.cfg.Follower.Wait(ctx, revision)
	}
	out := &adminv1.InitClusterResponse{ClusterId: res.ClusterID, Warnings: res.Warnings}
	for _, g := range res.Groups {
		out.NodeGroups = append(out.NodeGroups, &adminv1.NodeGroup{Id: uint32(g.ID), Name: g.Name, Primary: fromNode(g.Primary)})
	}
	return out, nil
}

// AddNodeGroup implements the API.
func (a *Admin) AddNodeGroup(ctx context.Context, req *adminv1.AddNodeGroupRequest) (*adminv1.AddNodeGroupResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	if n := int(req.GetCount()); n > 0 {
		return a.startNodeGroups(ctx, n)
	}
	spec, err := toSpec(req.GetNodeGroup())
	if err != nil {
		return nil, err
	}
	id, warnings, err := a.cfg.Client.AddGroup(ctx, spec)
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.AddNodeGroupResponse{Id: uint32(id), Ids: []uint32{uint32(id)}, Warnings: warnings}, nil
}

// Partitions implements the API.
func (a *Admin) Partitions(context.Context, *adminv1.PartitionsRequest) (*adminv1.PartitionsResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if snap.Map == nil {
		return nil, status.Error(codes.Unavailable, "the partition map could not be read")
	}
	out := &adminv1.PartitionsResponse{Epoch: snap.Map.Epoch(), NodeGroups: a.groups(snap), Owners: make([]uint32, placement.Partitions)}
	for p := range out.Owners {
		out.Owners[p] = uint32(snap.Map.Owner(placement.Partition(p)))
	}
	return out, nil
}

// AwaitDrained implements the API.
func (a *Admin) AwaitDrained(ctx context.Context, req *adminv1.AwaitDrainedRequest) (*adminv1.AwaitDrainedResponse, error) {
	if a.cfg.AwaitDrained == nil {
		return nil, status.Error(codes.Unavailable, "this process has no clients")
	}
	r, err := a.cfg.AwaitDrained(ctx, req.GetEpoch())
	if err != nil {
		return nil, rpcError(err)
	}
	out := &adminv1.AwaitDrainedResponse{Epoch: r.Drained, Incarnation: r.Incarnation, Locked: uint32(r.Locked)}
	for _, g := range r.Pressed {
		out.Pressed = append(out.Pressed, uint32(g))
	}
	return out, nil
}

// PartitionLoad implements the API.
func (a *Admin) PartitionLoad(ctx context.Context, req *adminv1.PartitionLoadRequest) (*adminv1.PartitionLoadResponse, error) {
	if a.cfg.Load == nil {
		return nil, status.Error(codes.Unavailable, "this process has no clients")
	}
	rates, all, missing, err := a.cfg.Load(ctx, req.GetCluster())
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.PartitionLoadResponse{Rates: rates, Scattered: all, Missing: missing}, nil
}

// Transactions implements the API.
func (a *Admin) Transactions(ctx context.Context, req *adminv1.TransactionsRequest) (*adminv1.TransactionsResponse, error) {
	out := &adminv1.TransactionsResponse{}
	if a.cfg.Transactions == nil {
		return out, nil
	}
	if _, ok := txn.ID(req.GetId()).Group(); !ok && req.GetId() != "" {
		return nil, status.Errorf(codes.InvalidArgument, "%q is not the id of a transaction", req.GetId())
	}
	list, err := a.cfg.Transactions(ctx, txn.ID(req.GetId()))
	if err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	for _, i := range list {
		out.Transactions = append(out.Transactions, &adminv1.Transaction{
			Id: string(i.ID), State: string(i.State), NodeGroup: uint32(i.Group), Seconds: uint64(i.Age.Seconds()), Reason: i.Reason,
		})
	}
	return out, nil
}

// Sessions implements the API.
func (a *Admin) Sessions(context.Context, *adminv1.SessionsRequest) (*adminv1.SessionsResponse, error) {
	if a.cfg.Sessions == nil {
		return &adminv1.SessionsResponse{}, nil
	}
	return &adminv1.SessionsResponse{Sessions: a.cfg.Sessions()}, nil
}

// KillSession implements the API.
func (a *Admin) KillSession(_ context.Context, req *adminv1.KillSessionRequest) (*adminv1.KillSessionResponse, error) {
	if a.cfg.KillSession == nil {
		return nil, status.Error(codes.NotFound, "this process has no clients")
	}
	err := a.cfg.KillSession(req.GetId(), req.GetStatementOnly(), req.GetOnlyUser())
	switch {
	case sqlerr.HasCode(err, sqlerr.KillDenied):
		return nil, status.Error(codes.PermissionDenied, err.Error())
	case err != nil:
		return nil, status.Error(codes.NotFound, err.Error())
	}
	return &adminv1.KillSessionResponse{}, nil
}

// Crossings implements the API.
func (a *Admin) Crossings(context.Context, *adminv1.CrossingsRequest) (*adminv1.CrossingsResponse, error) {
	if a.cfg.Crossings == nil {
		return &adminv1.CrossingsResponse{}, nil
	}
	return a.cfg.Crossings(), nil
}

// SessionTrace implements the API.
func (a *Admin) SessionTrace(ctx context.Context, req *adminv1.SessionTraceRequest) (*adminv1.SessionTraceResponse, error) {
	if a.cfg.SessionTrace == nil {
		return nil, status.Error(codes.NotFound, "this process has no clients")
	}
	return a.cfg.SessionTrace(ctx, req.GetId(), req.GetHere())
}

// Tables implements the API.
func (a *Admin) Tables(_ context.Context, req *adminv1.TablesRequest) (*adminv1.TablesResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if db := req.GetDatabase(); db != "" && snap.Databases[db] == nil {
		return nil, status.Errorf(codes.NotFound, "there is no database %s", db)
	}
	out := &adminv1.TablesResponse{}
	for _, d := range snap.Databases {
		if req.GetDatabase() != "" && req.GetDatabase() != d.Name {
			continue
		}
		for _, t := range d.Tables {
			out.Tables = append(out.Tables, fromTable(t))
		}
	}
	slices.SortFunc(out.Tables, func(x, y *adminv1.Table) int {
		return strings.Compare(x.Database+"\x00"+x.Name, y.Database+"\x00"+y.Name)
	})
	return out, nil
}

func fromTable(t *catalog.Table) *adminv1.Table {
	out := &adminv1.Table{Database: t.Database, Name: t.Name, Kind: string(t.Kind), NodeGroup: uint32(t.Group), HiddenKey: t.HiddenKey}
	for _, c := range t.Distribution {
		out.Distribution = append(out.Distribution, t.Columns[c].Name)
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Name+" "+c.ColumnType)
	}
	if t.AutoIncrement >= 0 {
		out.AutoIncrement = t.Columns[t.AutoIncrement].Name
	}
	return out
}

// Route implements the API.
func (a *Admin) Route(_ context.Context, req *adminv1.RouteRequest) (*adminv1.RouteResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	db, name, ok := strings.Cut(req.GetTable(), ".")
	if !ok {
		return nil, status.Errorf(codes.InvalidArgument, "say which database: DB.%s", req.GetTable())
	}
	t := snap.Table(db, name)
	if t == nil {
		return nil, status.Errorf(codes.NotFound, "there is no table %s; skarvctl tables lists them", req.GetTable())
	}
	out := &adminv1.RouteResponse{}
	why := func(format string, args ...any) { out.Why = append(out.Why, fmt.Sprintf(format, args...)) }
	switch t.Kind {
	case catalog.Reference:
		why("%s is a reference table: every node group has all its rows", req.GetTable())
		return out, nil
	case catalog.View:
		why("%s is a view: its rows live where those of its tables do", req.GetTable())
		return out, nil
	case catalog.Single:
		out.Exact = true
		why("%s is a single table: all its rows are on node group %d", req.GetTable(), t.Group)
		a.owner(snap, t.Group, out)
		return out, nil
	}
	var columns []string
	for _, c := range t.Distribution {
		columns = append(columns, t.Columns[c].Name)
	}
	why("%s is distributed by (%s)", req.GetTable(), strings.Join(columns, ", "))
	if len(req.GetKey()) != len(columns) {
		return nil, status.Errorf(codes.InvalidArgument, "the distribution key of %s is (%s): give %d values, in this order",
			req.GetTable(), strings.Join(columns, ", "), len(columns))
	}
	if snap.Map == nil || t.Key == nil {
		return nil, status.Error(codes.Unavailable, "the partition map or the table's key could not be read")
	}
	values := make([]sqltypes.Value, len(columns))
	for i, k := range req.GetKey() {
		values[i] = sqltypes.Value{Kind: sqltypes.String, Raw: []byte(k)}
	}
	p, text, match := t.Key.Partition(nil, values, placement.Compare)
	switch match {
	case placement.None:
		why("no row can have this key: the value does not fit the column's type")
	case placement.Unknown:
		why("where a row with this key lives cannot be told from the value as given: all node groups would be asked")
	default:
		out.Exact, out.Partition = true, uint32(p)
		why("its canonical text is %q, CRC32 of it is %d, modulo %d that is partition %d", text, crc32.ChecksumIEEE(text), placement.Partitions, p)
		g := snap.Map.Owner(p)
		why("partition %d belongs to node group %d in the map of epoch %d", p, g, snap.Map.Epoch())
		a.owner(snap, g, out)
	}
	return out, nil
}

func (a *Admin) owner(snap *catalog.Snapshot, id placement.NodeGroupID, out *adminv1.RouteResponse) {
	out.NodeGroup = uint32(id)
	if g := snap.Group(id); g != nil {
		out.NodeGroupName, out.Addr = groupName(g), g.Primary.Addr
	}
}

// ListUsers implements the API.
func (a *Admin) ListUsers(context.Context, *adminv1.ListUsersRequest) (*adminv1.ListUsersResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	out := &adminv1.ListUsersResponse{}
	for _, u := range snap.Accounts {
		user := &adminv1.User{
			Name: u.Name, Plugin: u.AuthPlugin, LoopbackOnly: u.LoopbackOnly, HasPassword: u.AuthString != "", Grants: map[string]string{},
		}
		for db, p := range u.Grants {
			user.Grants[db] = privilegeName(p)
		}
		out.Users = append(out.Users, user)
	}
	slices.SortFunc(out.Users, func(x, y *adminv1.User) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// PutUser implements the API.
func (a *Admin) PutUser(ctx context.Context, req *adminv1.PutUserRequest) (*adminv1.PutUserResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	change := UserChange{Plugin: req.GetPlugin(), AuthString: req.GetAuthString(), Grants: map[string]catalog.Privilege{}}
	for db, name := range req.GetGrants() {
		p, err := ParsePrivilege(name)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		change.Grants[db] = p
	}
	put := a.accounts.Change
	switch req.GetMode() {
	case adminv1.PutUserRequest_MODE_ADD:
		put = a.accounts.Add
	case adminv1.PutUserRequest_MODE_CHANGE:
	default:
		return nil, status.Error(codes.InvalidArgument, "mode is not set")
	}
	revision, err := put(ctx, req.GetName(), change)
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.await(ctx, revision) // a login just after it is answered right
	return &adminv1.PutUserResponse{}, nil
}

// RemoveUser implements the API.
func (a *Admin) RemoveUser(ctx context.Context, req *adminv1.RemoveUserRequest) (*adminv1.RemoveUserResponse, error) {
	revision, err := a.accounts.Remove(ctx, req.GetName())
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.await(ctx, revision)
	return &adminv1.RemoveUserResponse{}, nil
}

// ExecuteDDL implements the API.
func (a *Admin) ExecuteDDL(ctx context.Context, req *adminv1.ExecuteDDLRequest) (*adminv1.ExecuteDDLResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	res, err := a.cfg.Client.DDL(ctx, DDLRequest{
		SQL: req.GetSql(), DB: req.GetDatabase(), SQLMode: req.GetSqlMode(), Charset: req.GetCharset(),
		Collation: req.GetCollation(), Session: req.GetSession(), User: "skarvctl",
	})
	out := &adminv1.ExecuteDDLResponse{AffectedRows: res.Affected}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, &adminv1.Warning{Level: w.Level, Code: uint32(w.Code), Message: w.Message})
	}
	if err != nil {
		e := sqlerr.From(err)
		out.Error = &adminv1.SQLError{Code: uint32(e.Code), State: e.State, Message: e.Message}
	}
	return out, nil
}
