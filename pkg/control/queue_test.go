package control

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
)

// statement is a job for one, with d as the default database.
func statement(id, sql string) *job {
	return &job{ID: id, State: queued, DDL: &DDLRequest{SQL: sql, Session: schema.Session{DB: "d"}}}
}

// family is a catalog in which child refers to parent, and has tables of the same names in two databases.
func family() *catalog.Snapshot {
	table := func(db, name string, fks ...catalog.ForeignKey) *catalog.Table {
		return &catalog.Table{Database: db, Name: name, Columns: []catalog.Column{{Name: "id"}}, ForeignKeys: fks}
	}
	s := &catalog.Snapshot{Flavor: catalog.MariaDB, ServerVersion: "10.11.6", Databases: map[string]*catalog.Database{}}
	for _, db := range []string{"d", "e"} {
		s.Databases[db] = &catalog.Database{Name: db, Tables: map[string]*catalog.Table{
			"a": table(db, "a"), "b": table(db, "b"), "parent": table(db, "parent"),
			"child": table(db, "child", catalog.ForeignKey{Name: "fk", Columns: []int{0}, RefDB: db, RefTable: "parent", RefColumns: []string{"id"}}),
			"other": table(db, "other", catalog.ForeignKey{Name: "fk2", Columns: []int{0}, RefDB: db, RefTable: "parent", RefColumns: []string{"id"}}),
		}}
	}
	return s
}

func TestScopesThatMeet(t *testing.T) {
	for _, c := range []struct {
		one, two string
		meet     bool
	}{
		{"ALTER TABLE a ADD x INT", "ALTER TABLE b ADD y INT", false},
		{"ALTER TABLE a ADD x INT", "CREATE TABLE c (id INT PRIMARY KEY)", false},
		{"ALTER TABLE a ADD x INT", "alter table `A` drop x", true},
		{"ALTER TABLE a ADD x INT", "ALTER TABLE d.a DROP x", true},
		{"ALTER TABLE e.a ADD x INT", "ALTER TABLE f.a ADD x INT", false}, // tenants with the same tables
		{"TRUNCATE a", "DROP TABLE b, a", true},
		{"TRUNCATE a", "RENAME TABLE b TO c, a TO b", true},
		{"RENAME TABLE b TO c", "CREATE TABLE c (id INT PRIMARY KEY)", true},
		{"ALTER TABLE b RENAME TO c", "CREATE TABLE c (id INT PRIMARY KEY)", true},
		{"ALTER TABLE a ADD x INT", "CREATE VIEW v AS SELECT * FROM a", true},
		{"ALTER TABLE b ADD x INT", "CREATE VIEW v AS SELECT * FROM a", false},
		{"CREATE VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 2", true},
		{"ALTER TABLE a ADD x INT", "CREATE TABLE c LIKE a", true},
		{"CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE c (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id))", true},
		{"ALTER TABLE parent CHANGE id i INT", "ALTER TABLE child ADD x INT", true},
		{"ALTER TABLE child ADD x INT", "ALTER TABLE parent CHANGE id i INT", true},
		{"ALTER TABLE child ADD x INT", "ALTER TABLE other ADD x INT", false}, // they refer to the same table
		{"ALTER TABLE e.child ADD x INT", "ALTER TABLE f.parent ADD x INT", false},
		{"DROP DATABASE d", "ALTER TABLE a ADD x INT", true},
		{"DROP DATABASE e", "ALTER TABLE a ADD x INT", false},
		{"DROP DATABASE e", "CREATE TABLE x LIKE e.a", true},
		{"CREATE DATABASE f", "ALTER TABLE a ADD x INT", false},
		{"CREATE DATABASE f", "CREATE DATABASE F", true},
		{"CREATE TRIGGER g BEFORE INSERT ON a FOR EACH ROW SET @x = 1", "ALTER TABLE a ADD x INT", true},
		{"CREATE TRIGGER g BEFORE INSERT ON a FOR EACH ROW SET @x = 1", "ALTER TABLE b ADD x INT", false},
		{"CREATE PROCEDURE p() SELECT 1", "DROP PROCEDURE p", true},
		{"CREATE INDEX i ON a (id)", "OPTIMIZE TABLE a", true},
		{"CREATE INDEX i ON a (id)", "OPTIMIZE TABLE b", false},
		{"SET GLOBAL event_scheduler = ON", "ALTER TABLE a ADD x INT", true},
		{"ALTER TABLE e.child ADD x INT", "ALTER TABLE d.child ADD x INT", true}, // their copies have foreign keys of the same name
		{"ALTER TABLE a ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES b (id)", "ALTER TABLE e.child ADD x INT", true},
		{"CREATE TABLE f (id INT PRIMARY KEY, CONSTRAINT `One` FOREIGN KEY (id) REFERENCES b (id))", "ALTER TABLE e.a ADD FOREIGN KEY one (id) REFERENCES b (id)", true},
		{"CREATE TABLE f (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES b (id))", "CREATE TABLE g (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES b (id))", false},
		{"this is none", "ALTER TABLE a ADD x INT", false},
	} {
		one, two := scopeOf(statement("1", c.one), family()), scopeOf(statement("2", c.two), family())
		require.Equal(t, c.meet, one.meets(two), "%s | %s", c.one, c.two)
		require.Equal(t, c.meet, two.meets(one), "%s | %s", c.two, c.one)
	}
	adopting := scopeOf(&job{Adopt: &GroupSpec{}}, family())
	require.True(t, adopting.meets(scopeOf(statement("1", "CREATE DATABASE f"), family())))
}

// What a plan changes that the statement does not name belongs to the scope as well.
func TestScopeOfPlan(t *testing.T) {
	j := statement("1", "ALTER TABLE a ADD x INT")
	s := scopeOf(j, family())
	require.True(t, s.covers(s))
	j.Work = &migration.Work{Refresh: []migration.Refresh{{Object: ddl.Object{DB: "d", Name: "a"}}}}
	require.True(t, s.covers(scopeOf(j, family())))
	j.Work.Drop = []ddl.Object{{DB: "d", Name: "b"}}
	wider := scopeOf(j, family())
	require.False(t, s.covers(wider))
	require.True(t, wider.meets(scopeOf(statement("2", "TRUNCATE b"), family())))
	require.True(t, (&scope{everything: true}).covers(wider))
	require.True(t, scopeOf(statement("3", "DROP DATABASE d"), family()).covers(wider))
}

// began starts to take a turn and returns a channel that is closed when it is there.
func began(t *testing.T, q *queue, j *job) (*turn, <-chan struct{}) {
	at, has := q.join(j.ID), make(chan struct{})
	go func() {
		if at.take(t.Context(), scopeOf(j, family())) == nil {
			close(has)
		}
	}()
	synctest.Wait()
	return at, has
}

func isClosed(c <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{}
		resumed := q.join("0")
		resumed.begun(scopeOf(statement("0", "TRUNCATE a"), family()))
		first, hasFirst := began(t, q, statement("1", "ALTER TABLE b ADD x INT"))
		require.False(t, isClosed(hasFirst), "before all that had begun have their turns")
		q.open()
		require.True(t, isClosed(hasFirst))
		require.NotEqual(t, resumed.lane, first.lane)

		second, hasSecond := began(t, q, statement("2", "DROP TABLE a, b"))
		third, hasThird := began(t, q, statement("3", "ALTER TABLE b ADD y INT"))
		fourth, hasFourth := began(t, q, statement("4", "CREATE TABLE c (id INT PRIMARY KEY)"))
		require.True(t, isClosed(hasFourth), "it meets nobody's")

		settled := make(chan struct{})
		go func() {
			if q.Settle(t.Context()) == nil {
				close(settled)
			}
		}()
		first.leave()
		require.False(t, isClosed(hasSecond), "TRUNCATE a")
		require.False(t, isClosed(hasThird), "who came before waits for the same table")
		resumed.leave()
		require.True(t, isClosed(hasSecond))
		require.False(t, isClosed(hasThird))
		require.False(t, isClosed(settled), "CREATE TABLE c")
		fourth.leave()
		require.True(t, isClosed(settled), "what began since does not count")
		second.leave()
		require.True(t, isClosed(hasThird))

		// A wider scope is asked for by giving the turn back.
		fifth, hasFifth := began(t, q, statement("5", "TRUNCATE a"))
		require.True(t, isClosed(hasFifth))
		widened := make(chan struct{})
		go func() {
			if fifth.take(t.Context(), &scope{everything: true}) == nil {
				close(widened)
			}
		}()
		require.False(t, isClosed(widened), "ALTER TABLE b")
		third.leave()
		require.True(t, isClosed(widened))
		_, hasSixth := began(t, q, statement("6", "CREATE DATABASE f"))
		require.False(t, isClosed(hasSixth))
		fifth.leave()
		require.True(t, isClosed(hasSixth))

		for i := range lanes - 1 {
			_, has := began(t, q, statement(fmt.Sprint("7", i), fmt.Sprintf("CREATE DATABASE f%d", i)))
			require.True(t, isClosed(has))
		}
		_, has := began(t, q, statement("8", "CREATE DATABASE last"))
		require.False(t, isClosed(has), "no lane is free")
	})
}

// A schema change that waits, or takes long, holds up only those that have to do with its tables.
func TestSchemaChangesSideBySide(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY)")
	f.must("CREATE TABLE b (id INT PRIMARY KEY)")
	over := f.uses(servers[1], "d.a")
	ended := make(chan string, 2)
	run := func(sql string) {
		if _, err := f.ddl(sql); err != nil {
			sql += ": " + err.Error()
		}
		ended <- sql
	}
	waiting := func(n int) {
		require.Eventually(t, func() bool {
			jobs, err := Unfinished(f.ctx(), f.store)
			return err == nil && len(jobs) == n
		}, time.Minute, 10*time.Millisecond)
	}
	go run("TRUNCATE a")
	f.waited(servers[1])
	f.must("ALTER TABLE b ADD n INT")
	f.must("CREATE TABLE c (id INT PRIMARY KEY, UNIQUE (id))")
	f.must("CREATE VIEW v AS SELECT * FROM b")
	f.must("CREATE DATABASE other")
	f.must("DROP DATABASE other")
	f.must("DROP TABLE c")
	go run("ALTER TABLE a ADD n INT")
	waiting(2)
	f.must("DROP VIEW v")
	require.Empty(t, ended)
	over()
	require.Equal(t, "TRUNCATE a", <-ended)
	require.Equal(t, "ALTER TABLE a ADD n INT", <-ended)
	require.Equal(t, "id,n", f.columns("a"))
	f.clean()
}

// Several changes that a leader had begun are gone on with by the next one, before others of the same tables begin.
func TestSeveralChangesAreResumed(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	for _, n := range []string{"a", "b", "c"} {
		f.must("CREATE TABLE " + n + " (id INT PRIMARY KEY)")
	}
	stop()
	const changes = 3
	var reached atomic.Int32
	all := make(chan struct{})
	stop = f.control(func(point string) error {
		if point != "first" { // one node group has changed
			return nil
		}
		if reached.Add(1) == changes {
			close(all)
		}
		f.stands(all)
		return errors.New("killed")
	})
	ended := make(chan error, 2*changes)
	run := func(sql string) {
		_, err := f.ddl(sql)
		if err != nil {
			err = fmt.Errorf("%s: %w", sql, err)
		}
		ended <- err
	}
	for _, n := range []string{"a", "b", "c"} {
		go run("ALTER TABLE " + n + " ADD UNIQUE (id), ADD x INT")
	}
	f.reached(all)
	stop()
	for _, n := range []string{"a", "b", "c"} {
		require.Equal(t, "id,x", servers[0].Value(t, "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema='d' AND table_name='"+n+"'"))
		go run("ALTER TABLE " + n + " ADD y INT AFTER x")
	}
	f.control(nil)
	for range 2 * changes {
		require.NoError(t, <-ended)
	}
	for _, n := range []string{"a", "b", "c"} {
		require.Equal(t, "id,x,y", f.columns(n))
	}
	f.clean()
}

// A job whose process goes while it waits for its turn is not begun: its client may have gone on without it.
func TestAbandonedWhileItWaits(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY)")
	presence := f.store.NewPresence(topology.Member{ID: "other", Addr: "h:1"})
	stop := f.background(presence.Run)
	members := func(n int) {
		require.Eventually(t, func() bool {
			m, err := f.store.Members(f.ctx())
			return err == nil && len(m) == n
		}, time.Minute, 10*time.Millisecond)
	}
	members(1)
	over := f.uses(servers[1], "d.a")
	ended := f.begin("ALTER TABLE a ADD n INT")
	f.waited(servers[1])
	j := statement(newJobID(time.Now()), "DROP TABLE a")
	j.Created, j.From = time.Now(), "other"
	data, err := j.encode()
	require.NoError(t, err)
	_, err = f.store.Change(nil).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(f.ctx())
	require.NoError(t, err)
	f.must("CREATE TABLE b (id INT PRIMARY KEY)") // the leader has seen it
	stop()
	members(0)
	over()
	require.NoError(t, <-ended)
	j, err = f.client.wait(f.ctx(), j.ID)
	require.NoError(t, err)
	require.Equal(t, failed, j.State)
	require.Equal(t, "id,n", f.columns("a"))
}

// A job that is withdrawn while it waits holds up nobody.
func TestWithdrawnWhileItWaits(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY)")
	f.must("CREATE TABLE b (id INT PRIMARY KEY)")
	over := f.uses(servers[1], "d.a")
	ended := f.begin("ALTER TABLE a ADD n INT")
	f.waited(servers[1])
	ctx, giveUp := context.WithTimeout(f.ctx(), 500*time.Millisecond)
	defer giveUp()
	req := f.session
	req.SQL = "DROP TABLE a, b"
	_, err := f.client.DDL(ctx, req)
	require.Error(t, err)
	f.must("CREATE TRIGGER g BEFORE INSERT ON b FOR EACH ROW SET @x = 1")
	f.must("DROP TABLE b")
	over()
	require.NoError(t, <-ended)
	require.Equal(t, "id,n", f.columns("a"))
	f.clean()
}

// Tables of an index that was dropped stay while statements by an older catalog may write to them, whatever else is changed meanwhile.
func TestObsoleteEntriesStay(t *testing.T) {
	f := newFixture(t, 2)
	var hold atomic.Bool
	committed, goOn := make(chan struct{}), make(chan struct{})
	f.control(func(point string) error {
		if point == "committed" && hold.CompareAndSwap(true, false) {
			close(committed)
			f.stands(goOn)
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY, v INT, UNIQUE KEY u (v))")
	entries := func() string {
		return servers[0].Value(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name LIKE 'uq%'")
	}
	require.Equal(t, "1", entries())
	hold.Store(true)
	ended := f.begin("ALTER TABLE a DROP INDEX u")
	f.reached(committed)
	f.must("CREATE TABLE b (id INT PRIMARY KEY)")
	require.Equal(t, "1", entries())
	close(goOn)
	require.NoError(t, <-ended)
	f.must("DROP TABLE b")
	require.Equal(t, "0", entries())
}

// A TRUNCATE that has emptied a node group does not end as one that has done nothing.
func TestTruncateGoneOnWith(t *testing.T) {
	f := newFixture(t, 2)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE a (id INT PRIMARY KEY)")
	for _, s := range servers[:2] {
		s.Exec(t, "INSERT INTO d.a VALUES (1)")
	}
	stop()
	stop, crashed := f.dying("first")
	f.session.Set = []string{"SET @@session.`lock_wait_timeout` = 1"}
	ended := f.begin("TRUNCATE a")
	f.reached(crashed)
	stop()
	over := f.uses(servers[1], "d.a")
	f.control(nil)
	f.waited(servers[1])
	require.Empty(t, ended)
	over()
	require.NoError(t, <-ended)
	require.Equal(t, "0", servers[1].Value(t, "SELECT COUNT(*) FROM d.a"))
}

// Who takes over waits until what a leader before it was doing is done or undone, in whichever lane.
func TestFencesOfAllLanes(t *testing.T) {
	f := newFixture(t, 1)
	dial := func() *schema.Server {
		s, err := schema.Dialer{}.Dial(f.ctx(), "g", servers[0].Node())
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	before, now := dial(), dial()
	require.NoError(t, before.TakeFence(f.ctx(), 3))
	require.NoError(t, (&fencing{}).breakAll(f.ctx(), now))
	require.NoError(t, now.TakeFence(f.ctx(), 0))
	require.Equal(t, "1", servers[0].Value(t, "SELECT IS_FREE_LOCK('skarv_ddl_3')"))
	_, err := before.One(f.ctx(), "SELECT 1")
	require.Error(t, err)
}
