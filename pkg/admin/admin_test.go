package admin

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/nodes"
)

var servers []*nodes.Server

func TestMain(m *testing.M) { os.Exit(nodes.Main(m, 3, &servers)) }

// background runs fn until the test ends.
func background(t *testing.T, fn func(context.Context) error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := fn(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("background: %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

func TestAdminAPI(t *testing.T) {
	for _, s := range servers {
		s.Clear(t)
	}
	e := etcdtest.Start(t)
	store, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	follower := topology.NewFollower(store, nil, nil)
	background(t, follower.Run)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	_, err = follower.Wait(ctx, 0)
	require.NoError(t, err)
	up := map[placement.NodeGroupID]bool{1: true}
	var refuses, odd atomic.Bool
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a := New(Config{
		Store: store, Follower: follower, Client: &control.Client{Store: store, Follower: follower},
		Health: func(id placement.NodeGroupID) (GroupHealth, bool) {
			switch {
			case !up[id]:
				return GroupHealth{Err: "asleep"}, true
			case refuses.Load():
				return GroupHealth{Up: true, Err: "ERROR 1045 (28000): Access denied"}, true
			case odd.Load():
				return GroupHealth{Up: true, ReadOnly: time.Now(), Barred: "ERROR 1045 (28000): Access denied", Clock: -time.Hour}, true
			}
			return GroupHealth{Up: true}, true
		},
	})
	background(t, func(ctx context.Context) error { return a.Run(ctx, l) })
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	api := adminv1.NewAdminClient(conn)

	st, err := api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, st.Problems, "there is no cluster yet: use skarvctl cluster init, or skarvctl import for a server that has tables")
	_, err = api.Partitions(ctx, &adminv1.PartitionsRequest{})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	require.Equal(t, err, rpcError(err), "what is an error of the API already")
	node := func(i int) *adminv1.NodeGroup {
		n := servers[i].Node()
		return &adminv1.NodeGroup{Primary: &adminv1.Node{Addr: n.Addr, User: n.User, Password: n.Password}}
	}
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{{}}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(0), node(0)}})
	require.ErrorContains(t, err, "named twice")
	one, other := node(0), node(1)
	one.Name, other.Name = "eu", "eu"
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{one, other}})
	require.ErrorContains(t, err, "there is a node group eu already")
	r, err := api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(0), node(1)}})
	require.NoError(t, err)
	require.Len(t, r.NodeGroups, 2)
	require.NotEmpty(t, r.Warnings)
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(2)}})
	require.Equal(t, codes.AlreadyExists, status.Code(err))

	background(t, control.New(control.Config{Store: store, Follower: follower, Addr: "here:1", Login: func(g *catalog.NodeGroup) mysqlconn.Config {
		return mysqlconn.Config{Addr: g.Primary.Addr, User: g.Primary.User, Password: g.Primary.Password}
	}}).Run)
	ddl := func(sql string) *adminv1.ExecuteDDLResponse {
		r, err := api.ExecuteDDL(ctx, &adminv1.ExecuteDDLRequest{Sql: sql})
		require.NoError(t, err)
		return r
	}
	require.Nil(t, ddl("CREATE DATABASE d").Error)
	require.Nil(t, ddl("CREATE TABLE d.t (id BIGINT AUTO_INCREMENT PRIMARY KEY)").Error)
	require.EqualValues(t, 1050, ddl("CREATE TABLE d.t (id BIGINT PRIMARY KEY)").Error.Code)

	st, err = api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Equal(t, "here:1", st.Leader)
	require.EqualValues(t, 1920, st.NodeGroups[0].Partitions)
	require.Len(t, st.Problems, 1)
	require.Contains(t, st.Problems[0], "ng2 is down")
	refuses.Store(true)
	st, err = api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, st.Problems[0], "node group ng1 could not be asked just now (ERROR 1045 (28000): Access denied)")
	refuses.Store(false)
	odd.Store(true)
	st, err = api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, st.Problems[0], "is read-only since")
	require.Contains(t, st.Problems[1], "is 1h0m0s behind that of this process")
	require.Contains(t, st.Problems[2], "refuses Skarv's own account (ERROR 1045 (28000): Access denied)")
	odd.Store(false)
	require.Empty(t, st.NodeGroups[0].Primary.Password)

	p, err := api.Partitions(ctx, &adminv1.PartitionsRequest{})
	require.NoError(t, err)
	require.Len(t, p.Owners, placement.Partitions)
	tables, err := api.Tables(ctx, &adminv1.TablesRequest{})
	require.NoError(t, err)
	require.Equal(t, "id", tables.Tables[0].AutoIncrement)
	_, err = api.Tables(ctx, &adminv1.TablesRequest{Database: "nope"})
	require.Equal(t, codes.NotFound, status.Code(err))

	route, err := api.Route(ctx, &adminv1.RouteRequest{Table: "d.t", Key: []string{"42"}})
	require.NoError(t, err)
	require.True(t, route.Exact)
	require.EqualValues(t, placement.PartitionOf([]byte("42")), route.Partition)
	require.Equal(t, p.Owners[route.Partition], route.NodeGroup)
	_, err = api.Route(ctx, &adminv1.RouteRequest{Table: "d.t", Key: []string{"1", "2"}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = api.Route(ctx, &adminv1.RouteRequest{Table: "d.nope", Key: []string{"1"}})
	require.Equal(t, codes.NotFound, status.Code(err))

	add := &adminv1.PutUserRequest{
		Name: "app", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: wire.NativePassword, AuthString: wire.HashNative("x"),
		Grants: map[string]string{"d": "write"},
	}
	_, err = api.PutUser(ctx, add)
	require.NoError(t, err)
	require.Equal(t, account.Write, follower.Snapshot().Accounts["app"].Privileges("d", ""))
	_, err = api.PutUser(ctx, add)
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	_, err = api.PutUser(ctx, &adminv1.PutUserRequest{Name: "b", Mode: adminv1.PutUserRequest_MODE_ADD})
	require.ErrorContains(t, err, "needs a password")
	_, err = api.PutUser(ctx, &adminv1.PutUserRequest{Name: "b", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: wire.NativePassword, AuthString: "junk"})
	require.Error(t, err)
	for name, want := range map[string]codes.Code{"app@10.0.%": codes.OK, "app@%": codes.AlreadyExists, "app@web1.example.com": codes.InvalidArgument} {
		_, err = api.PutUser(ctx, &adminv1.PutUserRequest{Name: name, Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: wire.NativePassword, AuthString: wire.HashNative("y")})
		require.Equal(t, want, status.Code(err), name)
	}
	locked, err := api.PutUser(ctx, &adminv1.PutUserRequest{Name: "app@10.0.%", Mode: adminv1.PutUserRequest_MODE_CHANGE, Locked: new(true)})
	require.NoError(t, err)
	require.True(t, locked.GetLocked())
	require.True(t, follower.Snapshot().Accounts[catalog.NameOf("app", "10.0.%")].Locked)
	require.False(t, follower.Snapshot().Accounts["app"].Locked)
	require.Len(t, follower.Snapshot().Hosted["app"], 2)
	_, err = api.RemoveUser(ctx, &adminv1.RemoveUserRequest{Name: "app@10.0.%"})
	require.NoError(t, err)
	require.Empty(t, follower.Snapshot().Hosted)
	change := &adminv1.PutUserRequest{Name: "app", Mode: adminv1.PutUserRequest_MODE_CHANGE, Grants: map[string]string{"d": "none", "*": "read"}}
	_, err = api.PutUser(ctx, change)
	require.NoError(t, err)
	users, err := api.ListUsers(ctx, &adminv1.ListUsersRequest{})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"*": "read"}, users.Users[0].Grants)
	require.True(t, users.Users[0].HasPassword)
	change.Grants["d"] = "everything"
	_, err = api.PutUser(ctx, change)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = api.RemoveUser(ctx, &adminv1.RemoveUserRequest{Name: "app"})
	require.NoError(t, err)
	require.Empty(t, follower.Snapshot().Accounts)
	_, err = api.RemoveUser(ctx, &adminv1.RemoveUserRequest{Name: "app"})
	require.Equal(t, codes.NotFound, status.Code(err))

	e.SetFull(t, true)
	_, err = api.PutUser(ctx, add)
	require.ErrorContains(t, err, "NOSPACE")
	st, err = api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, st.Problems[0], "etcd takes no writes since")
	require.Equal(t, "here:1", st.Leader, "what can be read is told")
	e.SetFull(t, false)
	require.Eventually(t, func() bool { return store.Healthy().OK }, time.Minute, 20*time.Millisecond)

	added, err := api.AddNodeGroup(ctx, &adminv1.AddNodeGroupRequest{NodeGroup: node(2)})
	require.NoError(t, err)
	require.EqualValues(t, 3, added.Id)

	snap := follower.Snapshot()
	moving, err := reorg.Create(ctx, store, "move", []placement.Move{{Partition: 1, From: snap.Map.Owner(1), To: 3}}, time.Minute)
	require.NoError(t, err)
	said := func(change func(*reorg.Record) error) string {
		_, err := reorg.Change(ctx, store, moving.ID, change)
		require.NoError(t, err)
		st, err = api.Status(ctx, &adminv1.StatusRequest{})
		require.NoError(t, err)
		return strings.Join(st.Problems, "\n")
	}
	require.NotContains(t, said(func(r *reorg.Record) error { return nil }), "reorganisation")
	require.Contains(t, said(func(r *reorg.Record) error { r.Problem = "no luck"; return nil }), "reorganisation "+moving.ID+" does not go on in PLANNED: no luck; it is tried again")
	require.NotContains(t, said(func(r *reorg.Record) error { r.Reason = r.Problem; return nil }), "reorganisation", "it is being given up")

	e.Stop(t)
	require.Eventually(t, func() bool {
		st, err = api.Status(ctx, &adminv1.StatusRequest{})
		return err == nil && !st.Etcd.Healthy
	}, time.Minute, 20*time.Millisecond)
	require.Contains(t, st.Problems[0], "etcd does not answer")
	require.Len(t, st.NodeGroups, 3, "the last state is still shown")
	p, err = api.Partitions(ctx, &adminv1.PartitionsRequest{})
	require.NoError(t, err)
	require.Len(t, p.Owners, placement.Partitions)
}

// A call that panics ends with an error, and the process lives on.
func TestCallThatPanics(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a := New(Config{SessionTrace: func(context.Context, uint32, bool) (*adminv1.SessionTraceResponse, error) { panic("no luck") }})
	background(t, func(ctx context.Context) error { return a.Run(ctx, l) })
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	for range 2 {
		_, err = adminv1.NewAdminClient(conn).SessionTrace(t.Context(), &adminv1.SessionTraceRequest{Id: 1})
		require.Equal(t, codes.Internal, status.Code(err), err)
	}
}
