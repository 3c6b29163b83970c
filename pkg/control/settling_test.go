package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// TestAbsences: a process that is missing for a moment, now and then, is not gone.
func TestAbsences(t *testing.T) {
	begin := time.Now()
	at := func(n int) time.Time { return begin.Add(time.Duration(n) * evictAfter) }
	slot := func(incarnation int64, gone bool) topology.Silent {
		return topology.Silent{Slot: topology.Slot{Incarnation: incarnation}, Gone: gone}
	}
	a, enough := absences{}, int(goneFor/evictAfter)
	for i := range enough {
		a.look([]topology.Silent{slot(1, true), slot(2, i != enough-1), slot(3, false)}, at(i))
		require.False(t, a.lasts(slot(1, true), at(i)))
	}
	a.look([]topology.Silent{slot(1, true), slot(2, true), slot(3, false)}, at(enough))
	require.True(t, a.lasts(slot(1, true), at(enough)))
	require.False(t, a.lasts(slot(2, true), at(enough)), "it was there in between")
	require.False(t, a.lasts(slot(3, false), at(enough)))
	a.look(nil, at(enough+1))
	require.Empty(t, a)
}

// A client's lock_wait_timeout counts on every node group: nothing is changed on any when a table is in use on one of them for longer.
func TestLockWaitTimeoutOfAllGroups(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY, v INT)")
	f.must("CREATE TABLE b (id INT PRIMARY KEY)")
	for _, s := range servers {
		s.Exec(t, "INSERT INTO d.a VALUES (1, 1)")
	}
	over := f.uses(servers[2], "d.a")
	f.session.Set = []string{"SET @@session.`lock_wait_timeout` = 1"}
	for _, q := range []string{"ALTER TABLE a ADD INDEX (v)", "ALTER TABLE a DROP COLUMN v", "TRUNCATE a", "DROP TABLE b, a", "RENAME TABLE a TO c"} {
		f.refused(q, sqlerr.LockWaitTimeout)
		require.Equal(t, "id,v", f.columns("a"), q)
		require.Equal(t, "1", servers[0].Value(t, "SELECT COUNT(*) FROM d.a"), q)
		require.Equal(t, "0", servers[0].Value(t, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'd' AND table_name = 'a' AND index_name = 'v'"), q)
	}
	f.must("ALTER TABLE b ADD v INT")
	over()
	f.must("ALTER TABLE a DROP COLUMN v")
	require.Equal(t, "id", f.columns("a"))
	f.clean()
}
