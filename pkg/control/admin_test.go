package control

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

// serveAdmin runs the admin API on f's store and returns a client of it.
func (f *fixture) serveAdmin(health func(placement.NodeGroupID) (GroupHealth, bool)) adminv1.AdminClient {
	f.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	a := NewAdmin(AdminConfig{Store: f.store, Follower: f.follower, Client: f.client, Health: health})
	f.background(func(ctx context.Context) error { return a.Run(ctx, l) })
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(f.t, err)
	f.t.Cleanup(func() { conn.Close() })
	return adminv1.NewAdminClient(conn)
}

func TestAdminAPI(t *testing.T) {
	for _, s := range servers {
		s.clear(t)
	}
	e := etcdtest.Start(t)
	f := &fixture{t: t, etcd: e, store: openStore(t, e), groups: 2, session: DDLRequest{DB: "d"}}
	f.follower = topology.NewFollower(f.store, nil, nil)
	f.background(f.follower.Run)
	f.client = &Client{Store: f.store, Follower: f.follower}
	ctx := f.ctx()
	_, err := f.follower.Wait(ctx, 0)
	require.NoError(t, err)
	up := map[placement.NodeGroupID]bool{1: true}
	api := f.serveAdmin(func(id placement.NodeGroupID) (GroupHealth, bool) {
		return GroupHealth{Up: up[id], Err: "asleep"}, true
	})

	st, err := api.Status(ctx, &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, st.Problems, "there is no cluster yet: use skarvctl cluster init")
	_, err = api.Partitions(ctx, &adminv1.PartitionsRequest{})
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
	node := func(i int) *adminv1.NodeGroup {
		n := servers[i].node()
		return &adminv1.NodeGroup{Primary: &adminv1.Node{Addr: n.Addr, User: n.User, Password: n.Password}}
	}
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{{}}})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(0), node(0)}})
	require.ErrorContains(t, err, "named twice")
	r, err := api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(0), node(1)}})
	require.NoError(t, err)
	require.Len(t, r.NodeGroups, 2)
	require.NotEmpty(t, r.Warnings)
	_, err = api.InitCluster(ctx, &adminv1.InitClusterRequest{NodeGroups: []*adminv1.NodeGroup{node(2)}})
	require.Equal(t, codes.AlreadyExists, status.Code(err))

	f.control(nil)
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
	require.Equal(t, catalog.Write, f.follower.Snapshot().Accounts["app"].Privilege("d"))
	_, err = api.PutUser(ctx, add)
	require.Equal(t, codes.AlreadyExists, status.Code(err))
	_, err = api.PutUser(ctx, &adminv1.PutUserRequest{Name: "b", Mode: adminv1.PutUserRequest_MODE_ADD})
	require.ErrorContains(t, err, "needs a password")
	_, err = api.PutUser(ctx, &adminv1.PutUserRequest{Name: "b", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: wire.NativePassword, AuthString: "junk"})
	require.Error(t, err)
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
	require.Empty(t, f.follower.Snapshot().Accounts)
	_, err = api.RemoveUser(ctx, &adminv1.RemoveUserRequest{Name: "app"})
	require.Equal(t, codes.NotFound, status.Code(err))

	a, err := api.AddNodeGroup(ctx, &adminv1.AddNodeGroupRequest{NodeGroup: node(2)})
	require.NoError(t, err)
	require.EqualValues(t, 3, a.Id)

	e.Stop(t)
	require.Eventually(t, func() bool {
		st, err = api.Status(ctx, &adminv1.StatusRequest{})
		return err == nil && !st.Etcd.Healthy
	}, waitLong, tickShort)
	require.Contains(t, st.Problems[0], "etcd does not answer")
	require.Len(t, st.NodeGroups, 3, "the last state is still shown")
	p, err = api.Partitions(ctx, &adminv1.PartitionsRequest{})
	require.NoError(t, err)
	require.Len(t, p.Owners, placement.Partitions)
}

func TestExamineServers(t *testing.T) {
	f := newFixture(t, 1)
	servers[0].exec(t, "SET GLOBAL read_only = ON")
	defer servers[0].exec(t, "SET GLOBAL read_only = OFF")
	_, err := examine(f.ctx(), GroupSpec{Primary: servers[0].node()})
	require.ErrorContains(t, err, "read_only is ON, should be OFF")
	a, err := examine(f.ctx(), GroupSpec{Primary: servers[1].node()})
	require.NoError(t, err)
	servers[2].exec(t, "SET GLOBAL time_zone = '+05:00'")
	defer servers[2].exec(t, "SET GLOBAL time_zone = 'SYSTEM'")
	b, err := examine(f.ctx(), GroupSpec{Primary: servers[2].node()})
	require.NoError(t, err)
	require.ErrorContains(t, a.agrees(b), "time_zone")
	b.flavor = "other"
	require.ErrorContains(t, a.agrees(b), "does not mix")
	a.flavor = catalog.MariaDB
	for version, ok := range map[string]bool{"10.6.1-MariaDB": false, "10.11.2-MariaDB": true, "11.4.2-MariaDB": true} {
		a.version = version
		require.Equal(t, ok, a.supported() == nil, version)
	}
	a.flavor = catalog.MySQL
	for version, ok := range map[string]bool{"5.7.44": false, "8.0.28": false, "8.0.29": true, "9.7.4": true} {
		a.version = version
		require.Equal(t, ok, a.supported() == nil, version)
	}
	_, err = examine(f.ctx(), GroupSpec{Primary: catalog.Node{Addr: "127.0.0.1:1", User: "x"}})
	require.ErrorContains(t, err, "127.0.0.1:1")
}
