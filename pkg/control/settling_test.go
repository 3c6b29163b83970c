package control

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	"skarv/test/nodes"
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

// A schema change waits for those who use its table on one node group at a time, but for the first: transactions over several of them come to
// their end meanwhile.
func TestChangeWaitsOnOneGroupAtATime(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(20))")
	over := map[*nodes.Server]func(){servers[1]: f.uses(servers[1], "d.a"), servers[2]: f.uses(servers[2], "d.a")}
	ended := f.begin("ALTER TABLE a MODIFY v VARCHAR(40)")
	f.waited(servers[1])
	servers[2].Exec(t, "UPDATE d.a SET v = 1") // as the transaction might that is waited for
	over[servers[1]]()
	f.waited(servers[2])
	servers[1].Exec(t, "UPDATE d.a SET v = 1")
	over[servers[2]]()
	require.NoError(t, <-ended)
	require.Equal(t, "id,v", f.columns("a"))
	f.clean()
}

// A new table is made on all node groups but the first at the same time.
func TestNewTableIsMadeAtTheSameTime(t *testing.T) {
	f := newFixture(t, 3)
	third := make(chan struct{})
	var together atomic.Bool
	f.control(func(point string) error {
		switch {
		case !together.Load():
		case point == "before-3":
			close(third)
		case point == "before-2":
			f.stands(third)
		}
		return nil
	})
	f.createDatabase()
	together.Store(true)
	f.must("CREATE TABLE a (id INT PRIMARY KEY)")
	f.clean()
}

// Tables of different databases may have foreign keys and CHECK constraints of the same names.
func TestSameConstraintsSideBySide(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.session.DB = ""
	const tenants = 4
	each := func(sql string) {
		ended := make(chan error, tenants)
		for i := range tenants {
			go func() {
				_, err := f.ddl(strings.ReplaceAll(sql, "#", fmt.Sprint("t", i)))
				ended <- err
			}()
		}
		for range tenants {
			require.NoError(t, <-ended, sql)
		}
	}
	for _, sql := range []string{
		"CREATE DATABASE #", "CREATE TABLE #.p (id INT PRIMARY KEY)", "CREATE TABLE #.c (id INT PRIMARY KEY, n INT, CONSTRAINT fk FOREIGN KEY (id) REFERENCES #.p (id), CONSTRAINT ck CHECK (n > 0))",
		"ALTER TABLE #.c ADD m INT", "ALTER TABLE #.c ADD INDEX (m), ADD CONSTRAINT other FOREIGN KEY (id) REFERENCES #.p (id)", "ALTER TABLE #.c DROP FOREIGN KEY other, MODIFY m BIGINT", "DROP TABLE #.c, #.p",
	} {
		each(sql)
	}
	f.clean()
	each("DROP DATABASE #")
}
