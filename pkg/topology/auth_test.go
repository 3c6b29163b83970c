package topology_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

// withLogin turns authentication on: user skarv may use the cluster's prefix and nothing else.
func withLogin(t *testing.T, e *etcdtest.Etcd) {
	t.Helper()
	ctx := deadline(t)
	raw := e.Client(t)
	must := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
	}
	must(raw.UserAdd(ctx, "root", "r"))
	must(raw.UserGrantRole(ctx, "root", "root"))
	must(raw.UserAdd(ctx, "skarv", "pw"))
	must(raw.RoleAdd(ctx, "skarv"))
	must(raw.RoleGrantPermission(ctx, "skarv", topology.DefaultPrefix, clientv3.GetPrefixRangeEnd(topology.DefaultPrefix), clientv3.PermissionType(clientv3.PermReadWrite)))
	must(raw.UserGrantRole(ctx, "skarv", "skarv"))
	must(raw.AuthEnable(ctx))
}

// A restarted etcd has forgotten who we are; that is settled without anybody's help.
func TestLoginSurvivesARestart(t *testing.T) {
	e := etcdtest.Start(t)
	withLogin(t, e)
	s, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, DialTimeout: time.Minute, Username: "skarv", Password: "pw"})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	f := follow(t, s)
	put := func(name string) {
		t.Helper()
		ctx := deadline(t)
		// On a busy machine the new connection may take longer than one request may.
		require.Eventually(t, func() bool {
			_, err := s.Change(nil).PutDatabase(&catalog.Database{Name: name}, topology.Any).Commit(ctx)
			if err != nil {
				require.ErrorIs(t, err, topology.ErrUnavailable)
			}
			return err == nil
		}, time.Minute, time.Millisecond)
		snap, err := f.Wait(ctx, 0)
		require.NoError(t, err)
		for snap.Databases[name] == nil {
			snap, err = f.Wait(ctx, snap.Revision+1)
			require.NoError(t, err)
		}
	}
	put("a")
	e.Stop(t)
	e.Restart(t)
	put("b")
}

// An etcd that does not let us in is not healthy, and says why.
func TestRefusedByEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	withLogin(t, e)
	s := open(t, e.Endpoint())
	_, err := s.Load(deadline(t))
	require.ErrorIs(t, err, topology.ErrUnavailable)
	require.False(t, s.Healthy().OK)
	require.ErrorContains(t, s.Healthy().Err, "user name is empty")
	_, err = topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, DialTimeout: time.Minute, Username: "skarv", Password: "wrong"})
	require.ErrorContains(t, err, "authentication failed")
	require.NotContains(t, err.Error(), "wrong")
}
