package control

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/fence"
	"skarv/test/nodes"
)

// newReplicated is a cluster of servers[0], which servers[1] is a replica of.
func newReplicated(t *testing.T) *fixture {
	t.Helper()
	unlink := func() {
		for _, s := range servers {
			onConn(t, s.DB, nodes.Pick(
				[]string{"SET ROLE " + fence.FailoverRole, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF", "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"},
				[]string{"STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF", "RESET BINARY LOGS AND GTIDS"}))
		}
	}
	unlink()
	t.Cleanup(unlink)
	for _, s := range servers {
		s.Clear(t)
	}
	unlink()
	follow(t, servers[1])
	return newCluster(t, InitRequest{Groups: []GroupSpec{{Name: "a", Primary: servers[0].TCP(), Replicas: []catalog.Node{servers[1].TCP()}}}})
}

// follow makes a server without tables a replica of servers[0].
func follow(t *testing.T, replica *nodes.Server) {
	t.Helper()
	n := servers[0].TCP()
	host, port, err := net.SplitHostPort(n.Addr)
	require.NoError(t, err)
	for _, q := range nodes.Pick(
		[]string{fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos", host, port, n.User, n.Password), "START SLAVE"},
		[]string{fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = '%s', SOURCE_PASSWORD = '%s', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1",
			host, port, n.User, n.Password), "START REPLICA"}) {
		replica.Exec(t, q)
	}
}

// dial connects to a server.
func dial(t *testing.T, s *nodes.Server) *failover.Server {
	t.Helper()
	n := s.TCP()
	c, err := failover.Dial(t.Context(), login(&catalog.NodeGroup{Primary: n}), n.Addr, nodes.Pick(catalog.MariaDB, catalog.MySQL))
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// catchUp waits until a replica has all that servers[0] has.
func catchUp(t *testing.T, replica *nodes.Server) {
	t.Helper()
	all, err := dial(t, servers[0]).Position()
	require.NoError(t, err)
	require.NoError(t, dial(t, replica).Reach(all, time.Minute))
}

// role is what a server of newReplicated is.
type role struct{ readOnly, replicates bool }

func roleOf(t *testing.T, s *nodes.Server) role {
	t.Helper()
	var n int
	require.NoError(t, s.DB.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'system user' OR state LIKE '%event%'").Scan(&n))
	return role{s.Value(t, "SELECT @@global.read_only") == "1", n > 0}
}

// Whatever the controller has done when it dies, the next one ends the switchover: the replica is the primary, the old primary its replica, and what was
// written is on both.
func TestCrashInSwitchover(t *testing.T) {
	f := newReplicated(t)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
	stop()
	from, to := servers[0], servers[1]
	for i, point := range []string{"resting", "frozen", "promoted", "published"} {
		from.Exec(t, fmt.Sprintf("INSERT INTO d.t (id) VALUES (%d)", i))
		stopFirst, crashed := f.dying(point)
		ended := make(chan error, 1)
		go func() {
			_, err := f.client.Switchover(f.ctx(), Switchover{Group: 1, To: to.TCP().Addr})
			ended <- err
		}()
		f.reached(crashed)
		stopFirst()
		stopNext := f.control(nil)
		require.NoError(t, <-ended, point)
		stopNext()
		g, _, err := f.store.Group(f.ctx(), 1)
		require.NoError(t, err)
		require.Nil(t, g.Switchover, point)
		require.Equal(t, to.TCP().Addr, g.Primary.Addr, point)
		require.Len(t, g.Replicas, 1, point)
		require.Equal(t, from.TCP().Addr, g.Replicas[0].Addr, point)
		require.Equal(t, uint64(i+2), g.Term)
		require.Equal(t, role{}, roleOf(t, to), point)
		require.Eventually(t, func() bool { return roleOf(t, from) == role{true, true} }, time.Minute, 10*time.Millisecond, point)
		from, to = to, from
	}
	require.Equal(t, "4", from.Value(t, "SELECT COUNT(*) FROM d.t"))
	require.Eventually(t, func() bool { return to.Value(t, "SELECT COUNT(*) FROM d.t") == "4" }, time.Minute, 10*time.Millisecond)
}

// What changes the map while it goes on, such as the beginning of a move, makes it fail, and nothing is changed.
func TestSwitchoverIsTakenBack(t *testing.T) {
	f := newReplicated(t)
	var meddle func()
	f.control(func(p string) error {
		if p == "promoted" && meddle != nil {
			meddle()
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
	unchanged := func(what string, err error) {
		t.Helper()
		require.ErrorContains(t, err, what)
		g, _, err := f.store.Group(f.ctx(), 1)
		require.NoError(t, err)
		require.Nil(t, g.Switchover)
		require.Equal(t, servers[0].TCP().Addr, g.Primary.Addr)
		require.Equal(t, role{}, roleOf(t, servers[0]))
		require.Eventually(t, func() bool { return roleOf(t, servers[1]) == role{true, true} }, time.Minute, 10*time.Millisecond)
		servers[0].Exec(t, "INSERT INTO d.t (id) SELECT COUNT(*) FROM d.t")
	}
	how := Switchover{Group: 1, To: servers[1].TCP().Addr}
	meddle = func() {
		m, at, err := f.store.Map(f.ctx())
		require.NoError(t, err)
		next, err := m.Next(nil, nil)
		require.NoError(t, err)
		_, err = f.store.Change(nil).PutMap(next, at).Commit(f.ctx())
		require.NoError(t, err)
	}
	_, err := f.client.Switchover(f.ctx(), how)
	unchanged("changed meanwhile", err)

	meddle = func() { // as any process does that finds that it takes too long
		g, at, err := f.store.Group(f.ctx(), 1)
		require.NoError(t, err)
		g.Switchover = nil
		_, err = f.store.Change(nil).PutGroup(g, at).Commit(f.ctx())
		require.NoError(t, err)
	}
	_, err = f.client.Switchover(f.ctx(), how)
	unchanged("changed meanwhile", err)

	meddle = nil
	_, err = f.client.Switchover(f.ctx(), Switchover{Group: 1, To: servers[2].TCP().Addr})
	unchanged("Access denied", err)
	_, err = f.client.ExamineSwitchover(f.ctx(), how, login)
	require.NoError(t, err)
	servers[1].Exec(t, nodes.Pick("STOP SLAVE", "STOP REPLICA"))
	_, err = f.client.ExamineSwitchover(f.ctx(), how, login)
	require.ErrorContains(t, err, "does not replicate now")
	_, err = f.client.Switchover(f.ctx(), how)
	require.NoError(t, err)
}
