package control

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/test/nodes"
)

// emptied gives all partitions of the group to another one.
func (f *fixture) emptied(group, to placement.NodeGroupID) {
	f.t.Helper()
	m, at, err := f.store.Map(f.ctx())
	require.NoError(f.t, err)
	var moves []placement.Move
	for _, p := range m.Owned(group) {
		moves = append(moves, placement.Move{Partition: p, From: group, To: to})
	}
	next, err := m.Next(moves, nil)
	require.NoError(f.t, err)
	rev, err := f.store.Change(nil).PutMap(next, at).Commit(f.ctx())
	require.NoError(f.t, err)
	_, err = f.follower.Wait(f.ctx(), rev)
	require.NoError(f.t, err)
}

// A node group whose server is lost is taken out if it has nothing that is nowhere else. A schema change that waits for it comes to its end.
func TestLostGroupIsRemoved(t *testing.T) {
	f := newFixture(t, 3)
	first := make(chan struct{}, 1)
	var armed atomic.Bool
	f.control(func(p string) error {
		if p == "first" && armed.CompareAndSwap(true, false) {
			servers[2].Kill(t)
			t.Cleanup(func() { servers[2].Start(t) })
			first <- struct{}{}
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE r (id INT PRIMARY KEY) COMMENT 'skarv:reference'")
	lost := Removal{Lost: true}
	_, err := f.client.RemoveGroup(f.ctx(), 3, lost)
	require.ErrorContains(t, err, "owns 1280 partitions, whose rows are on its server only")
	f.emptied(3, 1)
	_, err = f.client.RemoveGroup(f.ctx(), 3, lost)
	require.ErrorContains(t, err, "answers: remove it without --lost")

	armed.Store(true)
	ended := f.begin("CREATE TABLE t (id INT PRIMARY KEY)")
	f.reached(first)
	_, err = f.client.RemoveGroup(f.ctx(), 3, Removal{})
	require.ErrorContains(t, err, "skarvctl nodegroup remove ng3 --lost")
	f.client.Reaches = func(context.Context, placement.NodeGroupID) []string { return []string{"h:9306"} }
	_, err = f.client.RemoveGroup(f.ctx(), 3, lost)
	require.ErrorContains(t, err, "these processes reach it: h:9306")
	f.client.Reaches = nil

	// What is prepared elsewhere and decided there cannot be ended without it; what is decided elsewhere can.
	end := map[string]func(){}
	for _, id := range []string{"3-ab-1", "1-ab-2"} {
		c, err := servers[1].DB.Conn(f.ctx())
		require.NoError(t, err)
		do := func(q string) {
			_, err := c.ExecContext(f.ctx(), q)
			require.NoError(t, err, q)
		}
		xid := "'" + id + "','1-1-1',21328"
		do("XA START " + xid)
		do("INSERT INTO d.r VALUES (" + id[:1] + ")")
		do("XA END " + xid)
		do("XA PREPARE " + xid)
		end[id] = sync.OnceFunc(func() {
			_, err := c.ExecContext(context.Background(), "XA ROLLBACK "+xid)
			assert.NoError(t, err)
			assert.NoError(t, c.Close())
		})
		t.Cleanup(end[id])
	}
	_, err = f.client.RemoveGroup(f.ctx(), 3, lost)
	require.ErrorContains(t, err, "transaction 3-ab-1 is prepared on node group ng2, and only node group ng3 knows how it ends")
	end["3-ab-1"]()

	dry := Removal{Lost: true, DryRun: true}
	notes, err := f.client.RemoveGroup(f.ctx(), 3, dry)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.Contains(t, notes[0], "must not be used again as it is")
	require.Len(t, f.follower.Snapshot().Groups, 3)
	_, err = f.client.RemoveGroup(f.ctx(), 3, lost)
	require.NoError(t, err)
	require.Len(t, f.follower.Snapshot().Groups, 2)
	end["1-ab-2"]()
	require.NoError(t, <-ended)
	f.groups = 2
	require.Equal(t, "id", f.columns("t"))

	// It comes back, and is not taken for a node group again.
	servers[2].Start(t)
	f.must("CREATE TABLE u (id INT PRIMARY KEY)")
	require.Equal(t, "0", servers[2].Value(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='d' AND table_name='u'"))
	_, _, err = f.client.AddGroup(f.ctx(), GroupSpec{Primary: servers[2].Node()})
	require.ErrorContains(t, err, "holds tables already (d.r)")
	f.clean()
}

// A schema change that began on a node group which is lost is taken back on those that have made it, too.
func TestChangeBeganOnLostGroup(t *testing.T) {
	f := newFixture(t, 3)
	reached := make(chan struct{}, 1)
	var armed atomic.Bool
	f.control(func(p string) error {
		if p == "after-3" && armed.CompareAndSwap(true, false) {
			servers[0].Kill(t)
			t.Cleanup(func() { servers[0].Start(t) })
			reached <- struct{}{}
			return errCrash
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
	f.emptied(1, 2)
	armed.Store(true)
	ended := f.begin("ALTER TABLE t ADD a INT")
	f.reached(reached)
	f.control(nil) // the one before has died
	require.Eventually(t, func() bool {
		jobs, err := Unfinished(t.Context(), f.store)
		return err == nil && len(jobs) == 1 && jobs[0].Problem != ""
	}, time.Minute, 10*time.Millisecond)
	notes, err := f.client.RemoveGroup(f.ctx(), 1, Removal{Lost: true})
	require.NoError(t, err)
	require.Equal(t, nodes.Pick(2, 1), len(notes), "%v", notes) // sequences of MariaDB
	require.ErrorContains(t, <-ended, "node group 1, on which the schema change began, is out of the cluster")
	for _, s := range servers[1:] {
		require.Equal(t, "id", s.Value(t, "SELECT GROUP_CONCAT(column_name) FROM information_schema.columns WHERE table_schema='d' AND table_name='t'"))
	}
	require.Negative(t, f.table("t").Column("a"))
}
