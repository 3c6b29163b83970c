package control

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/pause"
	"skarv/pkg/topology"
	"skarv/test/nodes"
)

// guarded is newReplicated of servers that lose nothing, with automatic failover, and a process that reaches what it does not say otherwise of.
type guarded struct {
	*fixture
	process *topology.Presence
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	primary, replica := servers[0], servers[1]
	f := newReplicated(t)
	semiSync(t, primary)
	for _, q := range nodes.Pick(
		[]string{"SET GLOBAL rpl_semi_sync_master_timeout = 4294967295", "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC"},
		[]string{"SET GLOBAL rpl_semi_sync_source_timeout = 4294967295"}) {
		primary.Exec(t, q)
	}
	primary.Exec(t, "SET GLOBAL sync_binlog = 1")
	primary.Exec(t, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
	acknowledges(t, replica)
	t.Cleanup(func() { // nobody may wait for a replica that the next test has not
		for _, s := range servers {
			semiSync(t, s)
			for _, q := range nodes.Pick(
				[]string{"SET GLOBAL rpl_semi_sync_master_enabled = OFF", "SET GLOBAL rpl_semi_sync_slave_enabled = OFF", "SET GLOBAL rpl_semi_sync_master_timeout = 1000"},
				[]string{"SET GLOBAL rpl_semi_sync_source_enabled = OFF", "SET GLOBAL rpl_semi_sync_replica_enabled = OFF", "SET GLOBAL rpl_semi_sync_source_timeout = 1000"}) {
				s.Exec(t, q)
			}
		}
	})
	g := &guarded{f, f.store.NewPresence(topology.Member{ID: "p", AdminAddr: "p:1"})}
	f.background(g.process.Run)
	return g
}

// semiSync lets a server replicate semi-synchronously.
func semiSync(t *testing.T, s *nodes.Server) {
	t.Helper()
	for _, p := range []string{"source", "replica"} {
		if nodes.Pick(0, 1) == 1 && s.Value(t, "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'rpl_semi_sync_"+p+"'") == "0" {
			s.Exec(t, "INSTALL PLUGIN rpl_semi_sync_"+p+" SONAME 'semisync_"+p+".so'")
		}
	}
}

// acknowledges has a replica acknowledge what it receives, and be read-only.
func acknowledges(t *testing.T, replica *nodes.Server) {
	t.Helper()
	semiSync(t, replica)
	for _, q := range nodes.Pick(
		[]string{"SET GLOBAL rpl_semi_sync_slave_enabled = ON", "STOP SLAVE IO_THREAD", "START SLAVE IO_THREAD"},
		[]string{"SET GLOBAL rpl_semi_sync_replica_enabled = ON", "STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD"}) {
		replica.Exec(t, q)
	}
	makeReadOnly(t, replica)
}

func makeReadOnly(t *testing.T, s *nodes.Server) {
	t.Helper()
	onConn(t, s.DB, nodes.Pick([]string{"SET ROLE skarv_failover", "SET GLOBAL read_only = ON"}, []string{"SET GLOBAL super_read_only = ON"}))
}

// turn turns automatic failover on or off.
func (g *guarded) turn(on bool) {
	g.t.Helper()
	_, err := g.client.AutomaticFailover(g.ctx(), 1, on, false, login)
	require.NoError(g.t, err)
}

// sees waits until the controller sees something of the group.
func (g *guarded) sees(what string, ok func(Failover) bool) {
	g.t.Helper()
	var last Failover
	for end := time.Now().Add(time.Minute); ; {
		all, err := Failovers(g.ctx(), g.store)
		require.NoError(g.t, err)
		if last = all[1]; ok(last) {
			return
		}
		require.True(g.t, time.Now().Before(end), "%s: %+v", what, last)
		require.NoError(g.t, pause.For(g.ctx(), 20*time.Millisecond))
	}
}

// unreached has the process say that the primary does not answer it.
func (g *guarded) unreached(episode int64) {
	g.process.Reaches([]topology.Unreached{{Group: 1, Addr: servers[0].TCP().Addr, Episode: episode}})
}

func (g *guarded) primary() string {
	g.t.Helper()
	now, _, err := g.store.Group(g.ctx(), 1)
	require.NoError(g.t, err)
	return now.Primary.Addr
}

func armed(f Failover) bool { return f.Armed && f.Why == "" }

func because(why string) func(Failover) bool {
	return func(f Failover) bool { return strings.Contains(f.Why, why) }
}

// lose kills the primary.
func (g *guarded) lose() {
	servers[0].Kill(g.t)
	g.t.Cleanup(func() { servers[0].Start(g.t) })
}

// replaced waits until a replica is the primary, with all rows.
func (g *guarded) replaced(by *nodes.Server, rows string) {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.primary() == by.TCP().Addr }, time.Minute, 20*time.Millisecond)
	require.Equal(g.t, rows, by.Value(g.t, "SELECT COUNT(*) FROM d.t"))
	require.Eventually(g.t, func() bool { return roleOf(g.t, by) == role{} }, time.Minute, 20*time.Millisecond)
}

// Whatever the controller that has found the primary lost has done when it dies: the next one finds it lost by itself, or ends what was begun.
func TestCrashInFailover(t *testing.T) {
	for _, point := range []string{"resting", "cut off", "promoted", "published"} {
		t.Run(strings.ReplaceAll(point, " ", "_"), func(t *testing.T) {
			g := newGuarded(t)
			stop := g.control(nil)
			g.createDatabase()
			g.must("CREATE TABLE t (id INT PRIMARY KEY)")
			stop()
			g.turn(true)
			stopFirst, crashed := g.dying(point)
			g.sees("armed", armed)
			servers[0].Exec(t, "INSERT INTO d.t (id) VALUES (1)")
			g.lose()
			g.unreached(1)
			g.reached(crashed)
			stopFirst()
			stopNext := g.control(nil)
			g.replaced(servers[1], "1")
			g.settled()
			stopNext()
			now, _, err := g.store.Group(g.ctx(), 1)
			require.NoError(t, err)
			require.Nil(t, now.Switchover)
			require.Empty(t, now.Replicas)
			require.Len(t, now.Replaced, 1)
			require.Equal(t, uint64(2), now.Term)
		})
	}
}

// settled waits until nothing is being done.
func (f *fixture) settled() {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		jobs, err := Unfinished(f.ctx(), f.store)
		return err == nil && len(jobs) == 0
	}, time.Minute, 10*time.Millisecond)
}

// A primary that a process reaches is not replaced, whatever the controller sees. A schema change that waits for the lost server goes on with its successor.
func TestFailoverWaitsForAll(t *testing.T) {
	g := newGuarded(t)
	first := make(chan struct{})
	var waits atomic.Bool
	g.control(func(p string) error {
		if p == "first" && waits.CompareAndSwap(true, false) {
			close(first)
			servers[0].Kill(t)
		}
		return nil
	})
	t.Cleanup(func() { servers[0].Start(t) })
	g.createDatabase()
	g.must("CREATE TABLE t (id INT PRIMARY KEY)")
	g.turn(true)
	g.sees("armed", armed)
	waits.Store(true)
	ended := g.begin("ALTER TABLE t ADD a INT")
	g.reached(first)
	g.sees("somebody reaches it", because("these processes do: p:1"))
	require.Equal(t, servers[0].TCP().Addr, g.primary())
	g.unreached(1)
	g.replaced(servers[1], "0")
	require.NoError(t, <-ended)
	require.Equal(t, "id,a", g.columnsOn(servers[1]))
}

// A primary that was gone and that somebody has met again, but not the controller, may have acknowledged anything.
func TestFailoverOfPrimaryThatWasBack(t *testing.T) {
	g := newGuarded(t)
	g.failoverAfter = time.Hour
	g.control(nil)
	g.turn(true)
	g.sees("armed", armed)
	g.lose()
	g.unreached(1)
	g.sees("nobody reaches it", because("it has not answered anybody"))
	g.unreached(2)
	g.sees("somebody has reached it", func(f Failover) bool { return !f.Armed && strings.Contains(f.Why, "process p:1 has reached it") })
}

func (f *fixture) columnsOn(s *nodes.Server) string {
	return s.Value(f.t, "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema='d' AND table_name='t'")
}

// Where something that was acknowledged could be lost, nothing is done.
func TestFailoverOnlyIfLossless(t *testing.T) {
	g := newGuarded(t)
	g.control(nil)
	g.createDatabase()
	g.must("CREATE TABLE t (id INT PRIMARY KEY)")
	g.turn(true)
	g.sees("armed", armed)
	primary, replica := servers[0], servers[1]
	for _, c := range []struct {
		server              *nodes.Server
		broken, why, mended string
	}{
		{primary, nodes.Pick("SET GLOBAL rpl_semi_sync_master_timeout = 10000", "SET GLOBAL rpl_semi_sync_source_timeout = 10000"), "timeout = 4294967295 on " + primary.TCP().Addr,
			nodes.Pick("SET GLOBAL rpl_semi_sync_master_timeout = 4294967295", "SET GLOBAL rpl_semi_sync_source_timeout = 4294967295")},
		{primary, "SET GLOBAL sync_binlog = 0", "SET GLOBAL sync_binlog = 1", "SET GLOBAL sync_binlog = 1"},
		{replica, nodes.Pick("STOP SLAVE SQL_THREAD", "STOP REPLICA SQL_THREAD"), "does not apply what it receives", nodes.Pick("START SLAVE SQL_THREAD", "START REPLICA SQL_THREAD")},
		{replica, nodes.Pick("STOP SLAVE IO_THREAD", "STOP REPLICA IO_THREAD"), "is not connected to the primary", nodes.Pick("START SLAVE IO_THREAD", "START REPLICA IO_THREAD")},
	} {
		c.server.Exec(t, c.broken)
		g.sees(c.broken, func(f Failover) bool { return !f.Armed && strings.Contains(f.Why, c.why) })
		c.server.Exec(t, c.mended)
		g.sees(c.mended, armed)
	}
	replica.Exec(t, nodes.Pick("STOP SLAVE SQL_THREAD", "STOP REPLICA SQL_THREAD"))
	g.sees("a replica that does not apply", func(f Failover) bool { return !f.Armed })
	g.lose()
	g.unreached(1)
	g.sees("it is not replaced", because("is not replaced: replica "+replica.TCP().Addr+" does not apply"))
	require.Equal(t, primary.TCP().Addr, g.primary())
}

// A primary that begins to wait for its replicas has acknowledged before what they have not received yet: they must have that first.
func TestFailoverBehind(t *testing.T) {
	position := func(text string) binlog.Position {
		p, err := binlog.ParsePosition(catalog.MariaDB, text)
		require.NoError(t, err)
		return p
	}
	primary := &failover.View{Addr: "p:1", SemiSync: failover.SemiSync{Source: true, Waits: true, Acks: 1}}
	a, b := &failover.View{SemiSync: failover.SemiSync{Acknowledging: true}}, &failover.View{}
	w, safe := &watch{}, true
	look := func(logged, got string) bool {
		primary.Has, a.Has, b.Has = position(logged), position(got), position(logged)
		if !w.goalAt.IsZero() {
			w.goalAt = w.goalAt.Add(-lookEvery)
		}
		return w.behind(safe, primary, map[string]*failover.View{"a:1": a, "b:1": b, "c:1": nil}) == ""
	}
	require.False(t, look("0-1-100", "0-1-100"), "what has been logged since is not known")
	require.False(t, look("0-1-200", "0-1-99"), "what b has nobody waits for")
	require.False(t, look("0-1-300", "0-1-99"))
	require.True(t, look("0-1-400", "0-1-100"))
	require.False(t, look("0-1-500", "0-1-399"))
	require.True(t, look("0-1-600", "0-1-400"))
	safe = false
	look("0-1-700", "0-1-600")
	safe = true
	require.False(t, look("0-1-800", "0-1-700"))
	require.True(t, look("0-1-900", "0-1-800"))
}

// What a replica logs by itself is nothing of what its primary has.
func TestFailoverCountsWhatWasReceived(t *testing.T) {
	newReplicated(t)
	catchUp(t, servers[1])
	s := dial(t, servers[1])
	before, err := s.Got()
	require.NoError(t, err)
	servers[1].Exec(t, "FLUSH TABLES")
	got, err := s.Got()
	require.NoError(t, err)
	has, err := s.Has()
	require.NoError(t, err)
	require.False(t, before.Covers(has))
	require.Equal(t, nodes.Pick(true, false), before.Covers(got)) // on MySQL it has a number of its own, and stands out
}

// A replica that is started anew when the primary is lost may have lost what it had acknowledged: MariaDB throws away what was received and not applied.
func TestFailoverOfRestartedReplica(t *testing.T) {
	g := newGuarded(t)
	g.control(nil)
	g.turn(true)
	g.sees("armed", armed)
	g.lose()
	g.sees("somebody reaches it", because("these processes do: p:1"))
	servers[1].Kill(t)
	servers[1].Start(t)
	makeReadOnly(t, servers[1])
	g.unreached(1)
	g.sees("it is not replaced", because("was started anew"))
	require.Equal(t, servers[0].TCP().Addr, g.primary())
}

// A process meets the primary again, just before it rests for the failover.
func TestFailoverMetBeforeRest(t *testing.T) {
	g := newGuarded(t)
	g.control(func(p string) error {
		if p == "resting" {
			g.unreached(2)
		}
		return nil
	})
	g.turn(true)
	g.sees("armed", armed)
	g.lose()
	g.unreached(1)
	g.sees("somebody has reached it", func(f Failover) bool { return !f.Armed && strings.Contains(f.Why, "process p:1 has reached it") })
	g.settled()
	require.Equal(t, servers[0].TCP().Addr, g.primary())
	now, _, err := g.store.Group(g.ctx(), 1)
	require.NoError(t, err)
	require.Nil(t, now.Switchover)
}

// A server that was lost and is another group's primary by now is let alone.
func TestReplacedIsUsedElsewhere(t *testing.T) {
	for _, s := range servers {
		s.Clear(t)
	}
	f := newCluster(t, InitRequest{Groups: []GroupSpec{{Name: "a", Primary: servers[0].TCP()}, {Name: "b", Primary: servers[1].TCP()}}})
	t.Cleanup(func() {
		for _, s := range servers[1:] {
			onConn(t, s.DB, nodes.Pick([]string{"SET ROLE skarv_failover", "SET GLOBAL read_only = OFF"}, []string{"SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"}))
		}
	})
	g, at, err := f.store.Group(f.ctx(), 1)
	require.NoError(t, err)
	g.Replaced = []catalog.Node{servers[1].TCP(), servers[2].TCP()}
	rev, err := f.store.Change(nil).PutGroup(g, at).Commit(f.ctx())
	require.NoError(t, err)
	_, err = f.follower.Wait(f.ctx(), rev)
	require.NoError(t, err)
	f.control(nil)
	require.Eventually(t, func() bool { return servers[2].Value(t, "SELECT @@global.read_only") == "1" }, time.Minute, 20*time.Millisecond)
	require.Equal(t, "0", servers[1].Value(t, "SELECT @@global.read_only"))
}

// onConn runs statements on one connection.
func onConn(t *testing.T, db *sql.DB, statements []string) {
	c, err := db.Conn(context.Background())
	require.NoError(t, err)
	for _, q := range statements {
		_, err := c.ExecContext(context.Background(), q)
		require.NoError(t, err, q)
	}
	require.NoError(t, c.Close())
}
