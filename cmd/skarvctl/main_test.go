package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/adminaccess"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

// fakeAdmin answers as a cluster of two node groups would.
type fakeAdmin struct {
	adminv1.UnimplementedAdminServer
	problems  []string
	init      *adminv1.InitClusterRequest
	added     *adminv1.AddNodeGroupRequest
	put       *adminv1.PutUserRequest
	before    bool // it is of a version that knows nothing of conditions of logins
	fail      error
	removed   []*adminv1.RemoveNodeGroupRequest
	passwords []*adminv1.SetPasswordRequest
	switched  []*adminv1.SwitchoverRequest
	turned    []*adminv1.AutomaticFailoverRequest
	named     []*adminv1.AddReplicasRequest
	taken     []*adminv1.RemoveReplicaRequest
	refusals  []string
	started   bool // a reorganisation
	killed    *adminv1.KillSessionRequest
	asked     *adminv1.StatementsRequest
	users     []*adminv1.User
	badAddr   string // of a server that no node group is made of
	looks     int    // at the reorganisation
	reorg     func(look int) *adminv1.Reorganisation
}

func (f *fakeAdmin) groups() []*adminv1.NodeGroup {
	return []*adminv1.NodeGroup{
		{Id: 1, Name: "a", Primary: &adminv1.Node{Addr: "h1:3306", Version: "10.11.6-MariaDB"}, Replicas: []*adminv1.Node{{Addr: "h3:3306"}},
			Partitions: 1920, Health: adminv1.NodeGroup_HEALTH_UP},
		{Id: 2, Name: "b", Primary: &adminv1.Node{Addr: "h2:3306"}, Partitions: 1920, Health: adminv1.NodeGroup_HEALTH_DOWN, Error: "refused"},
	}
}

func (f *fakeAdmin) Status(context.Context, *adminv1.StatusRequest) (*adminv1.StatusResponse, error) {
	return &adminv1.StatusResponse{
		ClusterId: "c1", Etcd: &adminv1.Etcd{Healthy: true, Since: timestamppb.Now()}, NodeGroups: f.groups(), Problems: f.problems,
		Members: []*adminv1.Member{{Id: "p1", Addr: "h:3306", Started: timestamppb.Now(), Proxy: true}},
	}, f.fail
}

func (f *fakeAdmin) InitCluster(_ context.Context, r *adminv1.InitClusterRequest) (*adminv1.InitClusterResponse, error) {
	f.init = r
	return &adminv1.InitClusterResponse{ClusterId: "c1", NodeGroups: f.groups(), Warnings: []string{"sync_binlog"}}, f.fail
}

func (f *fakeAdmin) AddNodeGroup(_ context.Context, r *adminv1.AddNodeGroupRequest) (*adminv1.AddNodeGroupResponse, error) {
	f.added = r
	if f.badAddr != "" && r.NodeGroup.GetPrimary().GetAddr() == f.badAddr {
		return nil, status.Error(codes.FailedPrecondition, "it holds tables")
	}
	return &adminv1.AddNodeGroupResponse{Id: 3, Ids: []uint32{3}}, f.fail
}

func (f *fakeAdmin) RemoveNodeGroup(_ context.Context, r *adminv1.RemoveNodeGroupRequest) (*adminv1.RemoveNodeGroupResponse, error) {
	f.removed = append(f.removed, r)
	out := &adminv1.RemoveNodeGroupResponse{}
	if r.Lost {
		out.Notes = []string{"empty it first"}
	}
	return out, f.fail
}

func (f *fakeAdmin) Switchover(_ context.Context, r *adminv1.SwitchoverRequest) (*adminv1.SwitchoverResponse, error) {
	f.switched = append(f.switched, r)
	return &adminv1.SwitchoverResponse{Notes: []string{"remove read_only"}}, f.fail
}

func (f *fakeAdmin) AutomaticFailover(_ context.Context, r *adminv1.AutomaticFailoverRequest) (*adminv1.AutomaticFailoverResponse, error) {
	f.turned = append(f.turned, r)
	return &adminv1.AutomaticFailoverResponse{Notes: []string{"sync_binlog"}}, f.fail
}

func TestAutomaticFailover(t *testing.T) {
	c := newCtl(t)
	code, _, errs := c.run("nodegroup", "failover", "b")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--automatic on or --automatic off")
	code, out, errs := c.run("nodegroup", "failover", "b", "--automatic", "on", "--dry-run")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "Automatic failover of node group b can be turned on.\nNOTE: sync_binlog\n", out)
	require.True(t, c.fake.turned[0].DryRun)
	code, out, _ = c.run("nodegroup", "failover", "b", "--automatic", "off", "-o", "json")
	require.Equal(t, exitOK, code)
	require.JSONEq(t, `{"node_group": "b", "automatic": false, "changed": true, "notes": ["sync_binlog"]}`, out)
	require.False(t, c.fake.turned[1].On)
	g := toGroup(&adminv1.NodeGroup{Name: "b", AutomaticFailover: &adminv1.AutomaticFailover{Reason: "sync_binlog"}})
	require.Equal(t, "not armed", g.Failover)
	require.Equal(t, "sync_binlog", g.FailoverReason)
	require.Equal(t, "off", toGroup(&adminv1.NodeGroup{}).Failover)
}

func TestSwitchover(t *testing.T) {
	c := newCtl(t)
	code, _, errs := c.run("nodegroup", "switchover", "b")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "--to HOST:PORT")
	code, out, errs := c.run("nodegroup", "switchover", "b", "--to", "h:1", "--dry-run")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "h:1 can become the primary of node group b.\nNOTE: remove read_only\n", out)
	require.True(t, c.fake.switched[0].DryRun)
	code, out, _ = c.run("nodegroup", "switchover", "b", "--to", "h:1", "--drain", "2s", "-o", "json")
	require.Equal(t, exitOK, code)
	require.JSONEq(t, `{"node_group": "b", "primary": "h:1", "changed": true, "notes": ["remove read_only"]}`, out)
	require.Equal(t, 2*time.Second, c.fake.switched[1].Drain.AsDuration())
	c.in = "n\n"
	code, _, errs = c.run("nodegroup", "switchover", "b", "--to", "h:1", "--lost")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "Is the primary of node group b lost for good")
	require.Len(t, c.fake.switched, 3)
	require.True(t, c.fake.switched[2].DryRun)
}

func (f *fakeAdmin) AddReplicas(_ context.Context, r *adminv1.AddReplicasRequest) (*adminv1.AddReplicasResponse, error) {
	f.named = append(f.named, r)
	return &adminv1.AddReplicasResponse{Added: []string{r.Replicas[0].Addr}, Notes: []string{"read_only"}}, f.fail
}

func (f *fakeAdmin) RemoveReplica(_ context.Context, r *adminv1.RemoveReplicaRequest) (*adminv1.RemoveReplicaResponse, error) {
	f.taken = append(f.taken, r)
	return &adminv1.RemoveReplicaResponse{Removed: r.Addr != "no:1"}, f.fail
}

func TestReplicas(t *testing.T) {
	c := newCtl(t)
	for text, in := range map[string][]string{
		"--tls and --password-file are those of --user":  {"add", "b", "h:1", "--tls", "required"},
		"h:1 is named twice":                             {"add", "b", "h:1", "h:1"},
		`"h" is not HOST:PORT`:                           {"add", "b", "h"},
		"requires at least 2 arg(s)":                     {"add", "b"},
		"accepts 2 arg(s), received 3":                   {"remove", "b", "h:1", "h:2"},
		"skarvctl nodegroup replica needs a subcommand;": {},
	} {
		code, _, errs := c.run(append([]string{"nodegroup", "replica"}, in...)...)
		require.Equal(t, 2, code)
		require.Contains(t, errs, text)
	}
	code, out, errs := c.run("nodegroup", "replica", "add", "b", "h:1", "--dry-run")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "h:1 can be a replica of node group b.\nNOTE: read_only\n", out)
	require.True(t, c.fake.named[0].DryRun)
	require.Empty(t, c.fake.named[0].Replicas[0].User)
	c.in = "s3cret\n"
	code, out, errs = c.run("nodegroup", "replica", "add", "b", "h:1", "h:2", "--user", "u", "--password-file", "-", "-o", "json")
	require.Equal(t, exitOK, code, errs)
	require.JSONEq(t, `{"node_group": "b", "replicas": ["h:1", "h:2"], "added": ["h:1"], "changed": true, "notes": ["read_only"]}`, out)
	require.Equal(t, "s3cret", c.fake.named[1].Replicas[1].Password)
	require.Equal(t, "u", c.fake.named[1].Replicas[1].User)

	code, out, errs = c.run("nodegroup", "replica", "remove", "b", "h:1")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "h:1 is no replica of node group b.\n", out)
	code, out, _ = c.run("nodegroup", "replica", "remove", "b", "no:1", "-o", "json")
	require.Equal(t, exitOK, code)
	require.JSONEq(t, `{"node_group": "b", "replica": "no:1", "changed": false, "notes": []}`, out)
	c.in = "n\n"
	code, _, errs = c.run("nodegroup", "replica", "remove", "b", "h:1", "--force")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "Is the server at h:1 stopped for good, or cut off?")
	require.True(t, c.fake.taken[2].DryRun)
	require.True(t, c.fake.taken[2].Force)
	_, out, _ = c.run("__complete", "nodegroup", "replica", "remove", "a", "")
	require.Contains(t, out, "h3:3306")
	_, out, _ = c.run("__complete", "nodegroup", "replica", "add", "")
	require.Contains(t, out, "b\n")
}

func TestRemoveNodeGroup(t *testing.T) {
	c := newCtl(t)
	code, out, errs := c.run("nodegroup", "remove", "b")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "Node group b is out of the cluster.\n", out)
	require.Len(t, c.fake.removed, 1)
	c.fake.removed = nil

	c.in = "n\n"
	code, _, errs = c.run("nodegroup", "remove", "b", "--lost")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "NOTE: empty it first\nIs the server of node group b lost for good")
	require.Len(t, c.fake.removed, 1)
	require.True(t, c.fake.removed[0].DryRun)
	code, out, _ = c.run("nodegroup", "remove", "b", "--lost", "--dry-run")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "can be taken out")
	c.in = "y\n"
	code, out, _ = c.run("nodegroup", "remove", "b", "--lost")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "NOTE: empty it first")
	require.False(t, c.fake.removed[3].DryRun)
	code, out, _ = c.run("nodegroup", "remove", "b", "--lost", "--yes", "-o", "json")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, `"removed": true`)
	require.Len(t, c.fake.removed, 5)
}

func (f *fakeAdmin) RemoveUser(context.Context, *adminv1.RemoveUserRequest) (*adminv1.RemoveUserResponse, error) {
	return &adminv1.RemoveUserResponse{}, f.fail
}

func (f *fakeAdmin) Sessions(_ context.Context, r *adminv1.SessionsRequest) (*adminv1.SessionsResponse, error) {
	if !r.Cluster {
		return nil, status.Error(codes.Internal, "of all processes")
	}
	return &adminv1.SessionsResponse{Sessions: []*adminv1.Session{{Id: 7, User: "app", Host: "h:1", Command: "Query", Since: timestamppb.Now(), Statement: "SELECT 1"}}, Missing: []string{"h2:9306"}}, f.fail
}

func (f *fakeAdmin) Statements(_ context.Context, r *adminv1.StatementsRequest) (*adminv1.StatementsResponse, error) {
	f.asked = r
	return &adminv1.StatementsResponse{
		Statements: []*adminv1.StatementDigest{{
			Database: "shop", Text: "SELECT " + strings.Repeat("x", 200) + "\nFROM t", Strategies: []string{"relay", "packed"}, Count: 4, Errors: 1, Rows: 8, Bytes: 90,
			Total: durationpb.New(3 * time.Second), Max: durationpb.New(2 * time.Second), Average: durationpb.New(750 * time.Millisecond), FirstSeen: timestamppb.Now(), LastSeen: timestamppb.Now(),
		}},
		All: 7, Total: durationpb.New(4 * time.Second), Missing: []string{"h2:9306"},
	}, f.fail
}

func (f *fakeAdmin) KillSession(_ context.Context, r *adminv1.KillSessionRequest) (*adminv1.KillSessionResponse, error) {
	f.killed = r
	return &adminv1.KillSessionResponse{}, f.fail
}

func TestSessions(t *testing.T) {
	c := newCtl(t)
	code, out, errs := c.run("session", "list")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "SELECT 1")
	require.Contains(t, errs, "h2:9306 does not answer")
	code, out, _ = c.run("session", "kill", "7", "--statement")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "statement of session 7 is ended")
	require.True(t, c.fake.killed.StatementOnly && c.fake.killed.Cluster && c.fake.killed.Id == 7)
	code, _, errs = c.run("session", "kill", "x")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "skarvctl session list")
}

func TestStatements(t *testing.T) {
	c := newCtl(t)
	code, out, errs := c.run("statements", "--by", "average", "--limit", "1", "--reset")
	require.Equal(t, exitOK, code)
	require.True(t, c.fake.asked.Cluster && c.fake.asked.Reset_ && c.fake.asked.Order == "average" && c.fake.asked.Limit == 1)
	require.Regexp(t, `75\.0% +3s +4 +1 +750ms +2s +8 +relay,packed +shop +SELECT x+\.\.\.\n`, out)
	require.Contains(t, out, "and 6 more")
	require.Contains(t, errs, "h2:9306 does not answer")
	_, out, _ = c.run("statements", "--full")
	require.Contains(t, out, strings.Repeat("x", 200)+" FROM t\n")
	_, out, _ = c.run("statements", "--output", "json")
	var list []statementDigest
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Equal(t, statementDigest{
		Database: "shop", Statement: "SELECT " + strings.Repeat("x", 200) + "\nFROM t", Strategies: []string{"relay", "packed"}, Count: 4, Errors: 1, Rows: 8, Bytes: 90,
		Total: 3, Average: 0.75, Max: 2, Share: 0.75, FirstSeen: list[0].FirstSeen, LastSeen: list[0].LastSeen,
	}, list[0])
	code, _, errs = c.run("statements", "--by", "beauty")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "none of total, count")
}

// passwd keeps how the password is kept, and the last administrator is not removed without a question.
func TestUsersAsTheyAre(t *testing.T) {
	c := newCtl(t)
	c.fake.users = []*adminv1.User{
		{Name: "old", Plugin: wire.NativePassword, Grants: map[string]string{"shop": "write"}},
		{Name: "boss", Plugin: wire.CachingSHA2Password, Grants: map[string]string{"*": "admin"}},
	}
	c.fake.users = append(c.fake.users, &adminv1.User{Name: "old@10.0.%", Plugin: wire.NativePassword})
	_, out, _ := c.run("user", "list")
	require.Regexp(t, `old@10\.0\.% .* 10\.0\.% `, out)
	for name, plugin := range map[string]string{
		"old": wire.NativePassword, "old@%": wire.NativePassword, "old@10.0.%": wire.NativePassword, "old@10.1.%": wire.CachingSHA2Password, "boss": wire.CachingSHA2Password,
	} {
		c.in = "secret\n"
		code, _, errs := c.run("user", "passwd", name, "--password-file", "-")
		require.Equal(t, exitOK, code, errs)
		require.Equal(t, plugin, c.fake.put.Plugin)
	}
	c.in = "n\n"
	code, _, errs := c.run("user", "remove", "boss@%")
	require.Equal(t, exitFailed, code)
	c.in = "n\n"
	code, _, errs = c.run("user", "remove", "boss")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "boss is the last account with *:admin")
	code, _, _ = c.run("user", "remove", "old")
	require.Equal(t, exitOK, code)
	code, _, _ = c.run("user", "remove", "boss", "--yes")
	require.Equal(t, exitOK, code)
}

// What a login needs besides is set, or it is said that it is not.
func TestConditionsOfLogins(t *testing.T) {
	c := newCtl(t)
	c.fake.users = []*adminv1.User{
		{Name: "boss", Plugin: wire.CachingSHA2Password, Grants: map[string]string{"*": "admin"}},
		{Name: "former", Plugin: wire.CachingSHA2Password, Grants: map[string]string{"*": "admin"}, Locked: true},
	}
	code, out, errs := c.run("user", "lock", "app")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "Account app is locked")
	require.True(t, c.fake.put.GetLocked())
	code, _, _ = c.run("user", "unlock", "app")
	require.Equal(t, exitOK, code)
	require.False(t, *c.fake.put.Locked)
	code, _, _ = c.run("user", "tls", "app", "required")
	require.Equal(t, exitOK, code)
	require.True(t, c.fake.put.GetRequireTls())
	require.Nil(t, c.fake.put.Locked)
	code, _, _ = c.run("user", "tls", "app", "yes")
	require.Equal(t, exitUsage, code)
	c.in = "n\n"
	code, _, errs = c.run("user", "lock", "boss")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "boss is the last account with *:admin")
	_, out, _ = c.run("user", "list")
	require.Regexp(t, `boss .* open .*\n.*former .* locked `, out)

	c.fake.before, c.in = true, "secret\n"
	code, _, errs = c.run("user", "lock", "app")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "cannot lock accounts")
	code, _, errs = c.run("user", "add", "app", "--require-tls", "--password-file", "-")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "the account is made all the same")
}

func TestVersion(t *testing.T) {
	c := newCtl(t)
	for _, args := range []string{"version", "--version"} {
		code, out, _ := c.run(args)
		require.Equal(t, exitOK, code)
		require.Regexp(t, `^skarvctl \S+`, out)
	}
}

func (f *fakeAdmin) Partitions(context.Context, *adminv1.PartitionsRequest) (*adminv1.PartitionsResponse, error) {
	owners := make([]uint32, 3840)
	for p := range owners {
		owners[p] = uint32(p%2 + 1)
	}
	return &adminv1.PartitionsResponse{Epoch: 7, Owners: owners, NodeGroups: f.groups()}, f.fail
}

func (f *fakeAdmin) Tables(context.Context, *adminv1.TablesRequest) (*adminv1.TablesResponse, error) {
	return &adminv1.TablesResponse{Tables: []*adminv1.Table{{Database: "shop", Name: "orders", Kind: "sharded", Distribution: []string{"id"}}}}, f.fail
}

func (f *fakeAdmin) Route(_ context.Context, r *adminv1.RouteRequest) (*adminv1.RouteResponse, error) {
	return &adminv1.RouteResponse{Exact: true, Partition: 17, NodeGroup: 2, NodeGroupName: "b", Addr: "h2:3306", Why: []string{r.Table, "because"}}, f.fail
}

func (f *fakeAdmin) ListUsers(context.Context, *adminv1.ListUsersRequest) (*adminv1.ListUsersResponse, error) {
	if f.users != nil {
		return &adminv1.ListUsersResponse{Users: f.users}, f.fail
	}
	return &adminv1.ListUsersResponse{Users: []*adminv1.User{{Name: "app", Grants: map[string]string{"shop": "write", "*": "read"}, HasPassword: true}}}, f.fail
}

func (f *fakeAdmin) PutUser(_ context.Context, r *adminv1.PutUserRequest) (*adminv1.PutUserResponse, error) {
	f.put = r
	if f.before {
		return &adminv1.PutUserResponse{}, f.fail
	}
	return &adminv1.PutUserResponse{Locked: r.Locked, RequireTls: r.RequireTls}, f.fail
}

func (f *fakeAdmin) CheckIndexes(_ context.Context, r *adminv1.CheckIndexesRequest) (*adminv1.CheckIndexesResponse, error) {
	return &adminv1.CheckIndexesResponse{Indexes: []*adminv1.IndexCheck{{Table: "shop.person", Name: "email", Rows: 7, Entries: 7, Stale: 1, Missing: 1}}}, f.fail
}

func TestIndexCheck(t *testing.T) {
	c := newCtl(t)
	code, out, errs := c.run("index", "check", "shop.person")
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "shop.person  email")
	require.Contains(t, errs, "not every index")
	code, out, _ = c.run("index", "check", "--repair", "-o", "json")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, `"stale": 1`)
}

// ctl runs command lines against a fake.
type ctl struct {
	t    *testing.T
	fake *fakeAdmin
	addr string
	in   string
}

func newCtl(t *testing.T, options ...grpc.ServerOption) *ctl {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &ctl{t: t, fake: &fakeAdmin{}, addr: l.Addr().String()}
	srv := grpc.NewServer(options...)
	adminv1.RegisterAdminServer(srv, c.fake)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		srv.Stop()
		<-done
	})
	return c
}

func (c *ctl) run(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(c.t.Context(), args, strings.NewReader(c.in), &o, &e, func(k string) string {
		if k == "SKARV_ADDR" {
			return c.addr
		}
		return ""
	})
	return code, o.String(), e.String()
}

func TestExitCodes(t *testing.T) {
	c := newCtl(t)
	for _, k := range []struct {
		args []string
		fail error
		code int
		says string
	}{
		{[]string{"status"}, nil, exitOK, ""},
		{[]string{"tables"}, status.Error(codes.NotFound, "no database x"), exitFailed, "no database x"},
		{[]string{"route", "x"}, status.Error(codes.InvalidArgument, "give 2 values"), exitUsage, "give 2 values"},
		{[]string{"tables"}, status.Error(codes.Unavailable, "etcd is not reachable"), exitFailed, "etcd"},
		{[]string{"nonsense"}, nil, exitUsage, "unknown command"},
		{[]string{"user", "nonsense"}, nil, exitUsage, "unknown command"},
		{[]string{"user"}, nil, exitUsage, "needs a subcommand"},
		{[]string{"status", "--nope"}, nil, exitUsage, "--nope"},
		{[]string{"status", "-o", "xml"}, nil, exitUsage, "table or json"},
		{[]string{"route"}, nil, exitUsage, "usage: skarvctl route"},
		{[]string{"cluster", "init"}, nil, exitUsage, "--node-group"},
		{[]string{"nodegroup", "add", "nohost"}, nil, exitUsage, "terminal"},
		{[]string{"user", "add", "x", "--grant", "shop"}, nil, exitUsage, "DATABASE:PRIVILEGE"},
		{[]string{"user", "add", "x", "--password-file", "/nonexistent"}, nil, exitFailed, "/nonexistent"},
		{[]string{"--addr", "127.0.0.1:1", "status"}, nil, exitUnreachable, "skarv dev"},
		{[]string{"--addr", "127.0.0.1:1", "status"}, nil, exitUnreachable, "SKARV_ADDR (dial tcp 127.0.0.1:1: connect: connection refused)"},
		{[]string{"--timeout", "17s", "tables"}, status.Error(codes.DeadlineExceeded, "context deadline exceeded"), exitFailed, "has not answered within 17s (--timeout)"},
		{[]string{"--addr", "", "status"}, nil, exitUsage, `--addr is HOST:PORT, not ""`},
		{[]string{"--timeout", "-1s", "status"}, nil, exitUsage, "--timeout is a time such as 30s, not -1s"},
		{[]string{"--help"}, nil, exitOK, ""},
		{[]string{"completion", "bash"}, nil, exitOK, ""},
	} {
		c.fake.fail = k.fail
		code, _, errs := c.run(k.args...)
		require.Equal(t, k.code, code, "%v: %s", k.args, errs)
		require.Contains(t, errs, k.says, "%v", k.args)
	}
	c.fake.fail, c.fake.problems = nil, []string{"node group b is down"}
	code, out, _ := c.run("status")
	require.Equal(t, exitDegraded, code)
	require.Contains(t, out, "PROBLEM: node group b is down")
}

func (f *fakeAdmin) LeaveCluster(_ *adminv1.LeaveClusterRequest, s grpc.ServerStreamingServer[adminv1.LeaveClusterResponse]) error {
	return s.Send(&adminv1.LeaveClusterResponse{Report: &adminv1.LeaveReport{Addr: "h1:3306"}})
}

func (f *fakeAdmin) ImportCluster(_ *adminv1.ImportClusterRequest, s grpc.ServerStreamingServer[adminv1.ImportClusterResponse]) error {
	return s.Send(&adminv1.ImportClusterResponse{Report: &adminv1.ImportReport{Version: "10.11"}})
}

func (f *fakeAdmin) Checksum(_ *adminv1.ChecksumRequest, s grpc.ServerStreamingServer[adminv1.ChecksumResponse]) error {
	return s.Send(&adminv1.ChecksumResponse{Report: &adminv1.ChecksumReport{}})
}

// Every command shows who it is, those that take long too.
func TestToken(t *testing.T) {
	token, password := filepath.Join(t.TempDir(), "token"), filepath.Join(t.TempDir(), "pw")
	require.NoError(t, os.WriteFile(token, []byte("0123456789abcdef"), 0o600))
	require.NoError(t, os.WriteFile(password, []byte("x"), 0o600))
	access, err := adminaccess.Load(adminaccess.Files{Token: token}, nil)
	require.NoError(t, err)
	c := newCtl(t, access.ServerOptions()...)
	for _, args := range [][]string{
		{"status"}, {"leave", "--dry-run"}, {"checksum"}, {"import", "h1:3306", "--dry-run", "--password-file", password},
	} {
		code, _, errs := c.run(append(args, "--token-file", token)...)
		require.Equal(t, exitOK, code, "%v: %s", args, errs)
		code, _, errs = c.run(args...)
		require.Equal(t, exitFailed, code, "%v", args)
		require.Contains(t, errs, "--token-file", "%v", args)
	}
}

func TestPartitions(t *testing.T) {
	c := newCtl(t)
	_, out, _ := c.run("partitions", "--output", "json")
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, 3840)
	require.EqualValues(t, 3, list[3]["partition"])
	require.EqualValues(t, 2, list[3]["node_group"])
	_, out, _ = c.run("partitions")
	require.Contains(t, out, "1-3839 step 2")
	require.Contains(t, out, "epoch 7")
}

func (f *fakeAdmin) Transactions(_ context.Context, r *adminv1.TransactionsRequest) (*adminv1.TransactionsResponse, error) {
	out := &adminv1.TransactionsResponse{}
	for _, t := range []*adminv1.Transaction{
		{Id: "1-a-1", State: "committed", NodeGroup: 1, Seconds: 5},
		{Id: "2-b-2", State: "in doubt", NodeGroup: 1, Seconds: 9, Reason: "node group 2 is down"},
	} {
		if r.Id == "" || r.Id == t.Id {
			out.Transactions = append(out.Transactions, t)
		}
	}
	return out, f.fail
}

func TestTransactions(t *testing.T) {
	c := newCtl(t)
	_, out, _ := c.run("transactions")
	require.Regexp(t, `1-a-1 +committed`, out)
	require.Regexp(t, `2-b-2 +in doubt .*node group 2 is down`, out)
	_, out, _ = c.run("transaction", "show", "2-b-2")
	require.NotContains(t, out, "1-a-1")
	require.Contains(t, out, "2-b-2")
	code, _, errs := c.run("transaction", "show", "3-c-3")
	require.NotZero(t, code)
	require.Contains(t, errs, "3-c-3")
	code, _, _ = c.run("transaction", "show")
	require.Equal(t, exitUsage, code)
}

func TestTablesAndRoute(t *testing.T) {
	c := newCtl(t)
	_, out, _ := c.run("tables")
	require.Regexp(t, `shop +orders +sharded +id`, out)
	_, out, _ = c.run("route", "shop.orders", "42")
	require.Regexp(t, `partition +17`, out)
	require.Contains(t, out, "because")
	_, out, _ = c.run("route", "-o", "json", "--", "shop.orders", "-42")
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.EqualValues(t, 17, r["partition"])
	_, out, _ = c.run("user", "list")
	require.Contains(t, out, "*:read shop:write")
	_, out, _ = c.run("nodegroup", "list")
	require.Regexp(t, `2 +b +h2:3306 .* down .* refused`, out)
}

func TestPasswordsDoNotTravel(t *testing.T) {
	c := newCtl(t)
	file := filepath.Join(t.TempDir(), "pw")
	require.NoError(t, os.WriteFile(file, []byte("geheim\nmore"), 0o600))
	code, _, errs := c.run("user", "add", "app", "--grant", "*:admin", "--password-file", file)
	require.Equal(t, exitOK, code, errs)
	require.NotContains(t, c.fake.put.String(), "geheim")
	require.True(t, wire.VerifyCachingSHA2(c.fake.put.AuthString, "geheim"))
	require.Equal(t, map[string]string{"*": "admin"}, c.fake.put.Grants)

	c.in = "secret\r\n"
	code, _, _ = c.run("user", "passwd", "app", "--plugin", "mysql_native_password", "--password-file", "-")
	require.Equal(t, exitOK, code)
	require.True(t, wire.VerifyNative(c.fake.put.AuthString, "secret"))
	require.Equal(t, adminv1.PutUserRequest_MODE_CHANGE, c.fake.put.Mode)
	c.in = "\n"
	code, _, errs = c.run("user", "passwd", "app", "--password-file", "-")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "empty password")
	code, _, _ = c.run("user", "passwd", "app", "--plugin", "plain", "--password-file", file)
	require.Equal(t, exitUsage, code)
}

func TestClusterInit(t *testing.T) {
	c := newCtl(t)
	c.in = "pw"
	code, out, errs := c.run("cluster", "init", "--user", "s", "--tls", "required", "--password-file", "-",
		"--node-group", "a=h1:3306,h1b:3306", "--node-group", "unix:/run/b")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "warning: sync_binlog")
	require.Contains(t, out, "user add")
	g := c.fake.init.NodeGroups
	require.Equal(t, "a", g[0].Name)
	require.Equal(t, "h1b:3306", g[0].Replicas[0].Addr)
	require.Equal(t, "unix:/run/b", g[1].Primary.Addr)
	require.Equal(t, "pw", g[1].Primary.Password)
	require.Equal(t, "required", g[1].Primary.Tls)
	code, _, _ = c.run("nodegroup", "add", "n=h9:1", "--password-file", "-")
	require.Equal(t, exitOK, code)
	require.Equal(t, "n", c.fake.added.NodeGroup.Name)

	// What was added before one failed is told.
	c.fake.badAddr = "h8:1"
	code, out, errs = c.run("nodegroup", "add", "h7:1", "h8:1", "h9:1", "--password-file", "-")
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, "Node group 3 is added.")
	require.Contains(t, out, "h8:1 is not added, nor what is named after it.")
	require.Contains(t, errs, "it holds tables")
	require.Equal(t, "h8:1", c.fake.added.NodeGroup.Primary.Addr)
	code, out, _ = c.run("nodegroup", "add", "h7:1", "h8:1", "--password-file", "-", "-o", "json")
	require.Equal(t, exitFailed, code)
	require.JSONEq(t, `{"id": 3, "ids": [3], "failed": "h8:1", "error": "it holds tables"}`, out)
	code, out, _ = c.run("nodegroup", "add", "h8:1", "--password-file", "-", "-o", "json")
	require.Equal(t, exitFailed, code)
	require.Empty(t, out)
}

func TestRanges(t *testing.T) {
	require.Equal(t, "", ranges(nil, 3))
	require.Equal(t, "5", ranges([]int{5}, 3))
	require.Equal(t, "0-2, 5, 9", ranges([]int{0, 1, 2, 5, 9}, 3))
	require.Equal(t, "0-8 step 4", ranges([]int{0, 4, 8}, 3))
	require.Equal(t, "0, 7-8, ... 1 more", ranges([]int{0, 7, 8, 90}, 2))
}

// Shells are offered the cluster's names where a command takes them, and files nowhere among these.
func TestCompletion(t *testing.T) {
	c := newCtl(t)
	for args, want := range map[string]string{
		"nodegroup drain":   "a\nb\n:4\n",
		"nodegroup drain a": "a\nb\n:4\n",
		"nodegroup remove":  "a\nb\n:4\n",
		"move --to":         "a\nb\n:4\n",
		"reorg show r1":     ":4\n",
	} {
		code, out, errs := c.run(append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
		require.Equal(t, exitOK, code, errs)
		require.Equal(t, want, out, args)
	}
	code, out, errs := c.run("__complete", "--addr", "127.0.0.1:1", "nodegroup", "drain", "")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, ":4\n", out, "nobody answers")
}
