package control

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/test/nodes"
)

// replicas changes the replicas of the group.
func (f *fixture) replicas(how ReplicaChange) (changed, notes []string, err error) {
	f.t.Helper()
	how.Group = 1
	return f.client.ChangeReplicas(f.ctx(), how)
}

// adds names servers as replicas, with the notes that has.
func (f *fixture) adds(s ...*nodes.Server) (notes string) {
	f.t.Helper()
	var all []catalog.Node
	for _, s := range s {
		all = append(all, s.TCP())
	}
	changed, list, err := f.replicas(ReplicaChange{Add: all})
	require.NoError(f.t, err)
	require.Equal(f.t, addrs(all), changed)
	return strings.Join(list, "\n")
}

// named are the addresses of the group's replicas.
func (f *fixture) named() []string {
	f.t.Helper()
	g, _, err := f.store.Group(f.ctx(), 1)
	require.NoError(f.t, err)
	return addrs(g.Replicas)
}

func unfollow(t *testing.T, s *nodes.Server) {
	t.Helper()
	s.Exec(t, nodes.Pick("STOP SLAVE", "STOP REPLICA"))
}

// A node group gets another replica, and the first one leaves: never before the other has all that was acknowledged, nor while it acknowledges itself. The group is
// armed with the new one, which takes the primary's place.
func TestReplicaIsReplaced(t *testing.T) {
	g := newGuarded(t)
	g.control(nil)
	g.createDatabase()
	g.must("CREATE TABLE t (id INT PRIMARY KEY)")
	g.turn(true)
	g.sees("armed", armed)
	primary, first, second := servers[0], servers[1], servers[2]
	leaves := ReplicaChange{Remove: first.TCP().Addr}
	_, _, err := g.replicas(leaves)
	require.ErrorContains(t, err, "is the last replica of node group a, whose automatic failover is on")

	follow(t, second)
	acknowledges(t, second)
	g.sees("somebody acknowledges whom nobody knows", because("not known to the cluster"))
	catchUp(t, second)
	g.adds(second)
	require.Equal(t, []string{first.TCP().Addr, second.TCP().Addr}, g.named())
	g.sees("armed", func(f Failover) bool { return armed(f) && slices.Equal(f.Replicas, g.named()) })
	changed, notes, err := g.replicas(ReplicaChange{Add: []catalog.Node{second.TCP()}})
	require.NoError(t, err)
	require.Empty(t, changed)
	require.Contains(t, strings.Join(notes, "\n"), "is a replica of node group a already")

	_, _, err = g.replicas(leaves)
	require.ErrorContains(t, err, first.TCP().Addr+" acknowledges what "+primary.TCP().Addr+" commits")
	require.ErrorContains(t, err, nodes.Pick("STOP SLAVE there first", "STOP REPLICA there first"))

	// What only the first one has received is nowhere else until the second one receives it.
	unfollow(t, second)
	primary.Exec(t, "INSERT INTO d.t (id) VALUES (1)")
	unfollow(t, first)
	ended := make(chan error, 1)
	go func() {
		_, _, err := g.replicas(leaves)
		ended <- err
	}()
	require.Eventually(t, func() bool {
		jobs, err := Unfinished(g.ctx(), g.store)
		return err == nil && len(jobs) == 1
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, g.named(), 2)
	second.Exec(t, nodes.Pick("START SLAVE", "START REPLICA"))
	require.NoError(t, <-ended)
	require.Equal(t, []string{second.TCP().Addr}, g.named())
	changed, notes, err = g.replicas(leaves)
	require.NoError(t, err)
	require.Empty(t, changed)
	require.Equal(t, []string{first.TCP().Addr + " was no replica of node group a"}, notes)
	g.sees("armed without the first", func(f Failover) bool { return armed(f) && slices.Equal(f.Replicas, g.named()) })
	primary.Exec(t, "INSERT INTO d.t (id) VALUES (2)")
	g.lose()
	g.unreached(1)
	g.replaced(second, "2")
}

// A replica that is down for good is taken away, though nobody can ask it; where the primary counts a client that may be it, only by force. While the primary is down nobody is.
func TestLostReplicaIsTakenAway(t *testing.T) {
	g := newGuarded(t)
	g.control(nil)
	g.createDatabase()
	g.must("CREATE TABLE t (id INT PRIMARY KEY)")
	g.turn(true)
	primary, first, second := servers[0], servers[1], servers[2]
	follow(t, second)
	acknowledges(t, second)
	catchUp(t, second)
	g.adds(second)
	g.sees("armed", armed)
	first.Kill(t)
	t.Cleanup(func() { first.Start(t) })
	g.sees("a replica is lost", because("cannot be reached, and may be the one that has everything"))
	leaves := ReplicaChange{Group: 1, Remove: first.TCP().Addr}
	require.Eventually(t, func() bool { // the primary notices it when it has something to send
		primary.Exec(t, "INSERT INTO d.t (id) SELECT COUNT(*) FROM d.t")
		changed, _, err := g.client.ExamineReplicas(g.ctx(), leaves, login)
		return err == nil && slices.Equal(changed, []string{leaves.Remove})
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, g.named(), 2)
	_, notes, err := g.replicas(leaves)
	require.NoError(t, err)
	require.Contains(t, strings.Join(notes, "\n"), "does not answer: should it come back")
	g.sees("armed without it", armed)

	second.Kill(t)
	t.Cleanup(func() { second.Start(t) })
	_, _, err = g.replicas(ReplicaChange{Remove: second.TCP().Addr})
	require.ErrorContains(t, err, "is the last replica")
	g.turn(false)
	_, _, err = g.replicas(ReplicaChange{Remove: second.TCP().Addr})
	require.ErrorContains(t, err, nodes.Pick("SET GLOBAL rpl_semi_sync_master_enabled = OFF on ", "SET GLOBAL rpl_semi_sync_source_enabled = OFF on ")+primary.TCP().Addr)
	primary.Kill(t)
	t.Cleanup(func() { primary.Start(t) })
	_, _, err = g.replicas(ReplicaChange{Remove: second.TCP().Addr})
	require.ErrorContains(t, err, "does not answer")
	require.ErrorContains(t, err, "may have what no other has")
	_, _, err = g.replicas(ReplicaChange{Add: []catalog.Node{first.TCP()}})
	require.ErrorContains(t, err, "compared with the primary")
	require.Equal(t, []string{second.TCP().Addr}, g.named())
}

// Servers that are no whole replicas of the group's primary are not named, and the operator is told what to run.
func TestReplicaIsExamined(t *testing.T) {
	f := newReplicated(t)
	f.control(nil)
	f.createDatabase()
	primary, first, other := servers[0], servers[1], servers[2]
	refused := func(n catalog.Node, why ...string) {
		t.Helper()
		how := ReplicaChange{Group: 1, Add: []catalog.Node{n}}
		_, _, dry := f.client.ExamineReplicas(f.ctx(), how, login)
		_, _, err := f.replicas(how)
		for _, w := range why {
			require.ErrorContains(t, err, w)
			require.ErrorContains(t, dry, w)
		}
		require.Equal(t, []string{first.TCP().Addr}, f.named())
	}
	refused(primary.TCP(), "is the primary of node group a")
	refused(catalog.Node{Addr: other.TCP().Addr}, "denied")
	refused(catalog.Node{Addr: "127.0.0.1:1", User: "skarv"}, "127.0.0.1:1")
	refused(other.TCP(), "is no replica: load a backup of the primary of node group a there", "HOST = '127.0.0.1'", "PASSWORD = '...'")
	alias := first.TCP()
	alias.Addr = strings.Replace(alias.Addr, "127.0.0.1", "localhost", 1)
	refused(alias, "have the same server_"+nodes.Pick("id", "uuid"))

	follow(t, other)
	catchUp(t, other)
	change := func(statements ...string) {
		unfollow(t, other)
		for _, q := range statements {
			other.Exec(t, q)
		}
		other.Exec(t, nodes.Pick("START SLAVE", "START REPLICA"))
		catchUp(t, other)
	}
	change(nodes.Pick("SET GLOBAL replicate_ignore_db = 'x'", "CHANGE REPLICATION FILTER REPLICATE_IGNORE_DB = (x)"))
	refused(other.TCP(), "leaves out databases or tables")
	change(nodes.Pick("SET GLOBAL replicate_ignore_db = ''", "CHANGE REPLICATION FILTER REPLICATE_IGNORE_DB = ()"))
	unfollow(t, other)
	refused(other.TCP(), "is not connected to its source "+primary.TCP().Addr)
	other.Exec(t, nodes.Pick("START SLAVE", "START REPLICA"))
	catchUp(t, other)
	other.Exec(t, "CREATE DATABASE mine")
	refused(other.TCP(), "has transactions that the primary at "+primary.TCP().Addr+" has not")
	other.Exec(t, "DROP DATABASE mine")
	makeAnew := func() {
		unfollow(t, other)
		for _, q := range nodes.Pick([]string{"RESET SLAVE ALL", "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''"}, []string{"RESET REPLICA ALL", "RESET BINARY LOGS AND GTIDS"}) {
			other.Exec(t, q)
		}
		other.Clear(t)
		for _, q := range nodes.Pick([]string{"RESET MASTER"}, []string{"RESET BINARY LOGS AND GTIDS"}) {
			other.Exec(t, q)
		}
		follow(t, other)
		catchUp(t, other)
	}
	makeAnew()
	require.Contains(t, f.adds(other), "is not read-only")
	_, _, err := f.replicas(ReplicaChange{Remove: primary.TCP().Addr})
	require.ErrorContains(t, err, "make another server that first (skarvctl nodegroup switchover a --to ADDR)")
	_, notes, err := f.replicas(ReplicaChange{Remove: other.TCP().Addr}) // nobody waits for it
	require.NoError(t, err)
	require.Contains(t, strings.Join(notes, "\n"), "still replicates from "+primary.TCP().Addr)
}

// Whatever the controller has done when it dies, the next one ends the change, and a group that was written meanwhile is looked at anew.
func TestCrashInReplicaChange(t *testing.T) {
	f := newReplicated(t)
	catchUp(t, servers[1])
	n := servers[1].TCP()
	for _, point := range []string{"examined", "published"} {
		for _, how := range []ReplicaChange{{Remove: n.Addr}, {Add: []catalog.Node{n}}} {
			stopFirst, crashed := f.dying(point)
			ended := make(chan error, 1)
			go func() {
				_, _, err := f.replicas(how)
				ended <- err
			}()
			f.reached(crashed)
			stopFirst()
			stopNext := f.control(nil)
			require.NoError(t, <-ended, point)
			stopNext()
			require.Equal(t, len(how.Add), len(f.named()), point)
		}
	}
	var meddled atomic.Bool
	f.control(func(p string) error {
		if p == "examined" && meddled.CompareAndSwap(false, true) {
			g, at, err := f.store.Group(f.ctx(), 1)
			require.NoError(t, err)
			g.AutomaticFailover = true
			_, err = f.store.Change(nil).PutGroup(g, at).Commit(f.ctx())
			require.NoError(t, err)
		}
		return nil
	})
	_, _, err := f.replicas(ReplicaChange{Remove: n.Addr})
	require.ErrorContains(t, err, "whose automatic failover is on")
	require.Len(t, f.named(), 1)
	jobs, err := Jobs(f.ctx(), f.store)
	require.NoError(t, err)
	require.Equal(t, "taking replica "+n.Addr+" away from node group 1", jobs[len(jobs)-1].What)
}

// A replica that is being made the primary is not taken away meanwhile, nor afterwards. One that is taken away and named at once is one in the end, or is not: as was asked last.
func TestReplicaChangeBesideOthers(t *testing.T) {
	f := newReplicated(t)
	catchUp(t, servers[1])
	rests, goOn := make(chan struct{}), make(chan struct{})
	f.control(func(p string) error {
		if p == "resting" {
			close(rests)
			f.stands(goOn)
		}
		return nil
	})
	n := servers[1].TCP()
	var ended [2]chan error
	for i, change := range []func() error{
		func() error {
			_, err := f.client.Switchover(f.ctx(), Switchover{Group: 1, To: n.Addr})
			return err
		},
		func() error {
			_, _, err := f.replicas(ReplicaChange{Remove: n.Addr})
			return err
		},
	} {
		ended[i] = make(chan error, 1)
		go func() { ended[i] <- change() }()
		f.reached(rests)
	}
	_, _, err := f.client.ExamineReplicas(f.ctx(), ReplicaChange{Group: 1, Remove: n.Addr}, login)
	require.ErrorContains(t, err, n.Addr+" is being made the primary of node group a")
	require.Eventually(t, func() bool {
		jobs, err := Unfinished(f.ctx(), f.store)
		return err == nil && len(jobs) == 2
	}, time.Minute, 10*time.Millisecond)
	close(goOn)
	require.NoError(t, <-ended[0])
	require.ErrorContains(t, <-ended[1], "is the primary of node group a")

	old := servers[0].TCP()
	require.Equal(t, []string{old.Addr}, f.named())
	require.Eventually(t, func() bool { return roleOf(t, servers[0]) == role{true, true} }, time.Minute, 10*time.Millisecond)
	both := make(chan error, 2)
	for _, how := range []ReplicaChange{{Remove: old.Addr}, {Add: []catalog.Node{old}}} {
		go func() {
			_, _, err := f.replicas(how)
			both <- err
		}()
	}
	require.NoError(t, <-both)
	require.NoError(t, <-both)
	if len(f.named()) == 0 {
		f.adds(servers[0])
	}
	require.Equal(t, []string{old.Addr}, f.named())
}

// That a group is armed is known of the replicas that it had when it was looked at, and not of fewer: when one was taken away, and the primary does not answer any more, neither the
// controller that had looked nor the next one goes by that.
func TestArmedIsOfReplicas(t *testing.T) {
	for who, dies := range map[string]bool{"same": false, "next": true} {
		t.Run(who, func(t *testing.T) {
			g := newGuarded(t)
			stop := g.control(nil)
			g.turn(true)
			g.sees("armed", armed)
			if dies {
				stop()
			}
			g.lose()
			if !dies {
				g.sees("the primary is missed", because("these processes do: p:1"))
			}
			now, at, err := g.store.Group(g.ctx(), 1)
			require.NoError(t, err)
			now.Replicas = []catalog.Node{servers[2].TCP()}
			rev, err := g.store.Change(nil).PutGroup(now, at).Commit(g.ctx())
			require.NoError(t, err)
			_, err = g.follower.Wait(g.ctx(), rev)
			require.NoError(t, err)
			if dies {
				g.control(nil)
			}
			g.unreached(1)
			g.sees("it is not armed", func(f Failover) bool {
				return !f.Armed && strings.Contains(f.Why, "no controller has looked at it just before")
			})
		})
	}
	g := &catalog.NodeGroup{Primary: catalog.Node{Addr: "p:1"}, Replicas: []catalog.Node{{Addr: "a:1"}, {Addr: "b:1"}}}
	w := &watch{primary: "p:1"}
	w.lose(g)
	_, _, err := w.isLost(g)
	require.NoError(t, err)
	g.Replicas = g.Replicas[:1]
	_, _, err = w.isLost(g)
	require.ErrorContains(t, err, "not certain any more")
}

// A primary that was lost and is never to come back is forgotten.
func TestReplacedIsForgotten(t *testing.T) {
	f := newReplicated(t)
	g, at, err := f.store.Group(f.ctx(), 1)
	require.NoError(t, err)
	g.Replaced = []catalog.Node{{Addr: "10.0.0.1:3306"}}
	_, err = f.store.Change(nil).PutGroup(g, at).Commit(f.ctx())
	require.NoError(t, err)
	f.control(nil)
	changed, notes, err := f.replicas(ReplicaChange{Remove: "10.0.0.1:3306"})
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.Contains(t, notes[0], "was the primary until it was lost")
	g, _, err = f.store.Group(f.ctx(), 1)
	require.NoError(t, err)
	require.Empty(t, g.Replaced)
	require.Len(t, g.Replicas, 1)
}

// A primary that was lost and has been made a whole replica of its successor, read-only, is one again by itself.
func TestReplacedIsReplicaAgain(t *testing.T) {
	f := newReplicated(t)
	catchUp(t, servers[1])
	n := servers[1].TCP()
	g, at, err := f.store.Group(f.ctx(), 1)
	require.NoError(t, err)
	g.Replicas, g.Replaced = nil, []catalog.Node{n}
	rev, err := f.store.Change(nil).PutGroup(g, at).Commit(f.ctx())
	require.NoError(t, err)
	_, err = f.follower.Wait(f.ctx(), rev)
	require.NoError(t, err)
	makeReadOnly(t, servers[1])
	f.control(nil)
	require.Eventually(t, func() bool { return slices.Equal(f.named(), []string{n.Addr}) }, time.Minute, 20*time.Millisecond)
	g, _, err = f.store.Group(f.ctx(), 1)
	require.NoError(t, err)
	require.Empty(t, g.Replaced)
}
