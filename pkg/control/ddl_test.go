package control

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/datanode"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	"skarv/test/nodes"
)

func isCrash(err error) bool { return errors.Is(err, errCrash) }

// refused runs sql, which must fail with code and a text that holds all of says.
func (f *fixture) refused(sql string, code sqlerr.Code, says ...string) {
	f.t.Helper()
	_, err := f.ddl(sql)
	require.Error(f.t, err, sql)
	var e *sqlerr.Error
	require.ErrorAs(f.t, err, &e)
	require.Equal(f.t, code, e.Code, "%s: %v", sql, err)
	for _, s := range says {
		require.Contains(f.t, e.Message, s, sql)
	}
}

// columns names the table's columns on every server, which must agree.
func (f *fixture) columns(table string) string {
	f.t.Helper()
	q := "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_schema='d' AND table_name='" + table + "'"
	first := servers[0].Value(f.t, q)
	for _, s := range servers[1:f.groups] {
		require.Equal(f.t, first, s.Value(f.t, q))
	}
	return first
}

// clean checks that no trial or marker is left, which may go behind a change's answer; dt is the table of transactions' decisions.
func (f *fixture) clean() {
	f.t.Helper()
	for _, s := range servers[:f.groups] {
		require.Eventually(f.t, func() bool {
			return s.Value(f.t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='_skarv' AND table_name NOT IN ('dt','node_group')") == "0"
		}, time.Minute, 10*time.Millisecond)
	}
}

func TestTablesAndWhereTheirRowsLive(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.session.DB = ""
	f.refused("CREATE TABLE t (id INT PRIMARY KEY)", sqlerr.NoDatabase)
	f.refused("CREATE TABLE d.t (id INT PRIMARY KEY)", sqlerr.UnknownDatabase)
	require.EqualValues(t, 1, f.must("CREATE DATABASE d").Affected)
	f.refused("CREATE DATABASE d", sqlerr.DatabaseExists)
	require.Equal(t, sqlerr.DatabaseExists, f.must("CREATE DATABASE IF NOT EXISTS d").Warnings[0].Code)
	require.Equal(t, servers[0].Value(t, "SELECT @@collation_server"), f.follower.Snapshot().Databases["d"].Collation)
	f.session.DB = "d"

	f.must("CREATE TABLE customer (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(64), PRIMARY KEY (id), KEY byname (name(10))) AUTO_INCREMENT=1000")
	c := f.table("customer")
	require.Equal(t, catalog.Sharded, c.Kind)
	require.Equal(t, []int{0}, c.Distribution)
	require.Equal(t, []int{0}, c.Primary)
	require.Equal(t, 0, c.AutoIncrement)
	require.Len(t, c.Key, 1)
	require.True(t, c.Columns[0].Unsigned)
	require.True(t, c.Indexes[0].Partial)
	next, err := f.store.Sequence(f.ctx(), c.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1000, next)

	f.must("create table `orders` (id BIGINT, customer_id BIGINT, PRIMARY KEY (customer_id, id)) /* where */ PARTITION BY KEY (customer_id) PARTITIONS 4")
	require.Equal(t, []int{1}, f.table("orders").Distribution)
	require.Equal(t, "0", servers[1].Value(t, "SELECT COUNT(*) FROM information_schema.partitions WHERE table_name='orders' AND partition_name IS NOT NULL"))
	f.must("CREATE TABLE o2 (id BIGINT, a BIGINT, PRIMARY KEY (a, id)) COMMENT 'mine; skarv:key=a'")
	require.Equal(t, []int{1}, f.table("o2").Distribution)
	require.Contains(t, servers[2].Value(t, "SELECT table_comment FROM information_schema.tables WHERE table_name='o2'"), "skarv:key=a")
	f.must("CREATE TABLE `r` (id INT PRIMARY KEY, e VARCHAR(9) UNIQUE) COMMENT='skarv:reference'")
	require.Equal(t, catalog.Reference, f.table("r").Kind)
	f.must("CREATE TABLE s (id INT AUTO_INCREMENT PRIMARY KEY, e VARCHAR(9) UNIQUE) COMMENT='skarv:single'")
	s := f.table("s")
	require.Equal(t, catalog.Single, s.Kind)
	require.EqualValues(t, 1, s.Group)
	require.Equal(t, -1, s.AutoIncrement, "one server can count alone")
	f.refused("CREATE TABLE x (a INT PRIMARY KEY) COMMENT 'skarv:single skarv:reference'", sqlerr.NotSupportedYet, "keep one")

	f.must("CREATE TABLE h (a INT, b INT)")
	h := f.table("h")
	require.True(t, h.HiddenKey)
	require.Equal(t, []int{2}, h.Distribution)
	require.Equal(t, "a,b,my_row_id", f.columns("h"))
	f.must("CREATE TABLE h2 (a INT, b INT) PARTITION BY KEY (b)")
	require.Equal(t, []int{1}, f.table("h2").Distribution)
	require.True(t, f.table("h2").HiddenKey)
	f.must("CREATE TABLE u (a INT NOT NULL, b INT, UNIQUE (a))")
	require.False(t, f.table("u").HiddenKey, "a unique key without NULL stands for the primary key")
	require.Equal(t, []int{0}, f.table("u").Distribution)
	f.must("CREATE TABLE l LIKE h2")
	require.Equal(t, []int{1}, f.table("l").Distribution)
	require.NotEqual(t, f.table("h2").ID, f.table("l").ID)

	for _, cannot := range []string{"(id INT PRIMARY KEY, f FLOAT UNIQUE)", "(a VARCHAR(50), PRIMARY KEY (a(10)))", "(id INT AUTO_INCREMENT PRIMARY KEY, v FLOAT, UNIQUE (v))"} {
		f.must("CREATE TABLE together " + cannot)
		require.Equal(t, catalog.Single, f.table("together").Kind, "rows that cannot be spread")
		require.Equal(t, -1, f.table("together").AutoIncrement)
		f.must("DROP TABLE together")
	}

	f.refused("CREATE TABLE customer (id INT PRIMARY KEY)", sqlerr.TableExists, "'customer'")
	require.Equal(t, sqlerr.TableExists, f.must("CREATE TABLE IF NOT EXISTS customer (id INT PRIMARY KEY)").Warnings[0].Code)
	f.refused("CREATE TABLE x (id INT PRIMARY KEY", sqlerr.ParseError)
	f.refused("CREATE TABLE x (id INT PRIMARY KEY, id INT)", 1060, "Duplicate column name 'id'")
	f.refused("CREATE TABLE x (id INT PRIMARY KEY, INDEX (nope))", 1072, "nope")
	f.refused("CREATE TABLE x (id INT PRIMARY KEY, f FLOAT UNIQUE) PARTITION BY KEY (id)", sqlerr.NotSupportedYet, "FLOAT")
	f.refused("CREATE TABLE x (id INT PRIMARY KEY, a INT) PARTITION BY KEY (a)", sqlerr.NotSupportedYet, "PRIMARY KEY")
	f.refused("CREATE TABLE x (a VARCHAR(50), PRIMARY KEY (a(10))) PARTITION BY KEY (a)", sqlerr.NotSupportedYet)
	f.refused("CREATE TABLE x (a INT, b INT AUTO_INCREMENT, KEY (b)) PARTITION BY KEY (a)", sqlerr.NotSupportedYet, "make `b` the primary key")
	f.refused("CREATE TABLE x (a INT) PARTITION BY KEY (nope)", 1072, "nope")
	f.refused("CREATE TABLE x AS SELECT * FROM customer", sqlerr.NotSupportedYet, "INSERT ... SELECT")
	f.refused("CREATE TEMPORARY TABLE x (a INT)", sqlerr.NotSupportedYet)
	f.refused("CREATE TRIGGER x AFTER INSERT ON h FOR EACH ROW DELETE FROM h2", sqlerr.NotSupportedYet, "DELETE in triggers")
	f.refused("CREATE TABLE mysql.x (a INT)", sqlerr.AccessDeniedDB)
	f.refused("CREATE TABLE x LIKE nope", sqlerr.NoSuchTable)
	require.Nil(t, f.follower.Snapshot().Table("d", "x"))

	f.must("CREATE TABLE `Customer` (ID INT PRIMARY KEY, x INT)")
	f.must("CREATE TABLE `a(b``é` (id INT PRIMARY KEY)")
	f.must("ALTER TABLE `a(b``é` ADD x INT")
	f.session.SQLMode = "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"
	f.must("ALTER TABLE \"a(b`é\" ADD \"y\" VARCHAR(9) DEFAULT '\\'")
	f.session.SQLMode = "STRICT_TRANS_TABLES"
	require.Len(t, f.table("a(b`é").Columns, 3)
	require.Len(t, f.table("customer").Columns, 2)
	f.must("CREATE TABLE native (id INT, d DATE, PRIMARY KEY (id, d)) PARTITION BY RANGE (YEAR(d)) (PARTITION p0 VALUES LESS THAN (2000), PARTITION p1 VALUES LESS THAN MAXVALUE)")
	f.must("/*!40101 CREATE TABLE dumped (id int(11) NOT NULL, PRIMARY KEY (`id`)) */ ENGINE=InnoDB -- the end")
	f.must("/*!40000 ALTER TABLE `dumped` DISABLE KEYS */;")
	f.clean()
}

func TestAlter(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE t (id BIGINT PRIMARY KEY, a INT, b VARCHAR(20))")
	before := f.table("t")
	f.must("ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 7 AFTER a, ADD INDEX (b)")
	require.Equal(t, "id,a,c,b", f.columns("t"))
	require.Equal(t, before.ID, f.table("t").ID)
	require.Equal(t, "7", f.table("t").Columns[2].Default)
	f.must("CREATE INDEX ac ON t (a, c)")
	require.Len(t, f.table("t").Indexes, 2)
	f.must("DROP INDEX ac ON t")
	require.Len(t, f.table("t").Indexes, 1)
	f.must("CREATE UNIQUE INDEX u ON t (b(5))")
	require.Equal(t, []int{5}, f.table("t").Global[0].Lengths)
	f.must("DROP INDEX u ON t")
	f.must("CREATE UNIQUE INDEX u ON t (a, id)")
	f.must("ALTER TABLE t MODIFY id INT UNSIGNED")
	f.must("ALTER TABLE t CHANGE id ident INT")
	require.Equal(t, []int{0}, f.table("t").Distribution)
	require.Equal(t, "ident", f.table("t").Columns[0].Name)
	f.must("ALTER TABLE t MODIFY ident VARCHAR(20)")
	f.must("ALTER TABLE t MODIFY ident INT")
	require.Equal(t, before.ID, f.table("t").ID)
	f.must("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a, ident)")
	require.Equal(t, []int{0}, f.table("t").Distribution)
	f.must("ALTER TABLE t COMMENT 'skarv:key=ident'")
	f.must("CREATE TABLE w (id INT, a INT, PRIMARY KEY (id, a)) PARTITION BY KEY (id)")
	f.refused("ALTER TABLE w DROP PRIMARY KEY, DROP COLUMN id, ADD PRIMARY KEY (a)", sqlerr.NotSupportedYet, "'id'")
	f.refused("ALTER TABLE t ADD COLUMN a INT", 1060)
	f.refused("ALTER TABLE t DROP COLUMN nope", 1091)
	f.refused("ALTER TABLE t MODIFY nope INT", 1054, "'nope' in 't'")
	f.refused("ALTER TABLE nope ADD x INT", sqlerr.NoSuchTable, "'d.nope'")
	f.refused("ALTER TABLE t ADD x INT FOO BAR", sqlerr.ParseError)
	f.must("CREATE TABLE swap (id INT PRIMARY KEY, a INT, b INT, C INT)") // who takes over could not tell where these ran
	f.refused("ALTER TABLE swap CHANGE b a INT AFTER id, CHANGE a b INT", sqlerr.NotSupportedYet, "third name")
	f.refused("ALTER TABLE swap CHANGE a b INT AFTER a, CHANGE b C INT AFTER b, CHANGE C a INT AFTER id", sqlerr.NotSupportedYet, "third name")
	f.refused("ALTER TABLE swap DROP COLUMN b, CHANGE a b INT, ADD COLUMN a INT AFTER id", sqlerr.NotSupportedYet, "third name")
	f.must("ALTER TABLE swap CHANGE a A INT, DROP COLUMN b, ADD COLUMN b INT AFTER A, FORCE")
	f.must("ALTER TABLE swap CHANGE a b INT, CHANGE b a INT")
	require.Equal(t, "id,b,a,C", f.columns("swap"))
	f.must("ALTER TABLE swap RENAME TO swapped, CHANGE b a INT, CHANGE a b INT AFTER id")
	f.must("DROP TABLE swapped")
	f.must("ALTER TABLE t RENAME TO t2, ADD y INT")
	require.Nil(t, f.follower.Snapshot().Table("d", "t"))
	require.Equal(t, before.ID, f.table("t2").ID)
	require.NotEqual(t, -1, f.table("t2").Column("y"))

	f.must("CREATE TABLE n (id INT PRIMARY KEY)")
	for i, s := range servers {
		s.Exec(t, fmt.Sprintf("INSERT INTO d.n VALUES (%d), (%d)", i+1, 10*(i+1)))
	}
	f.must("ALTER TABLE n MODIFY id INT NOT NULL AUTO_INCREMENT")
	next, err := f.store.Sequence(f.ctx(), f.table("n").ID)
	require.NoError(t, err)
	require.EqualValues(t, 31, next, "after the greatest value of all groups")
	f.must("ALTER TABLE n AUTO_INCREMENT = 500")
	next, err = f.store.Sequence(f.ctx(), f.table("n").ID)
	require.NoError(t, err)
	require.EqualValues(t, 500, next)

	f.must("CREATE TABLE h (a INT)")
	f.must("ALTER TABLE h ADD b INT FIRST")
	f.must("ALTER TABLE h ADD d INT")
	f.must("ALTER TABLE h ADD c INT AFTER a")
	require.Equal(t, "b,a,c,my_row_id,d", f.columns("h"))
	require.True(t, f.table("h").HiddenKey)
	f.clean()
}

func TestALaterGroupRefuses(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE t (id BIGINT PRIMARY KEY, a INT)")
	servers[2].Exec(t, "INSERT INTO d.t VALUES (3, 1), (4, 1)")
	f.must("CREATE TABLE u (id BIGINT, a INT, PRIMARY KEY (id, a))")
	servers[2].Exec(t, "INSERT INTO d.u VALUES (3, 300)")

	f.refused("ALTER TABLE t ADD c INT, ADD CONSTRAINT small CHECK (a > 1)", nodes.Pick[sqlerr.Code](4025, 3819))
	require.Equal(t, "id,a", f.columns("t"), "what the others had done is taken back")
	require.Equal(t, "0", servers[0].Value(t, "SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = 'd' AND constraint_name = 'small'"))
	f.refused("ALTER TABLE t ADD c INT, COMMENT 'x', ADD CONSTRAINT small CHECK (a > 1)", nodes.Pick[sqlerr.Code](4025, 3819))
	require.Equal(t, "id,a", f.columns("t"), "what cannot be taken back by dropping is not begun")
	f.refused("ALTER TABLE u MODIFY a TINYINT", 1264, "Out of range", "'a'")
	require.Equal(t, "int", f.table("u").Columns[1].DataType)
	for _, s := range servers {
		require.Equal(t, "int", s.Value(t, "SELECT data_type FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 'u' AND column_name = 'a'"))
	}
	f.must("CREATE TABLE w (id BIGINT PRIMARY KEY, s VARCHAR(20), n INT)")
	servers[1].Exec(t, "INSERT INTO d.w VALUES (5, 'longer than ten', NULL)")
	f.refused("ALTER TABLE w MODIFY s VARCHAR(10)", 1265, "'s'")
	f.refused("ALTER TABLE w CHANGE s x VARCHAR(10), ADD y INT FIRST", 1265, "'x'")
	f.refused("ALTER TABLE w MODIFY n INT NOT NULL", nodes.Pick[sqlerr.Code](1265, 1138))
	f.refused("ALTER TABLE w DROP n, MODIFY s INT", nodes.Pick[sqlerr.Code](1292, 1366))
	require.Equal(t, "id,s,n", f.columns("w"))
	f.must("ALTER TABLE w MODIFY s VARCHAR(15), DROP n")
	require.Equal(t, "id,s", f.columns("w"))
	servers[2].Exec(t, "DELETE FROM d.u")
	f.must("ALTER TABLE u MODIFY a TINYINT")
	require.Equal(t, "tinyint", f.table("u").Columns[1].DataType)
	f.clean()
}

// TestKeysThatServersMake is about indexes that servers have made for foreign keys, and drop by themselves.
func TestKeysThatServersMake(t *testing.T) {
	f := newFixture(t, 3)
	var meanwhile atomic.Pointer[func()]
	f.control(func(p string) error {
		if do := meanwhile.Load(); do != nil && p == "first" && meanwhile.CompareAndSwap(do, nil) {
			(*do)()
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE r (id INT PRIMARY KEY) COMMENT 'skarv:reference'")
	f.must("CREATE TABLE t (id INT, x INT, a INT, PRIMARY KEY (id), CONSTRAINT fx FOREIGN KEY (x) REFERENCES r (id))")
	f.must("ALTER TABLE t ADD INDEX ka (a), ADD INDEX ax (a, x)")
	texts := func() (out []string) {
		for _, s := range servers[:f.groups] {
			rows := s.Value(t, "SELECT GROUP_CONCAT(DISTINCT index_name ORDER BY index_name) FROM information_schema.statistics WHERE table_schema = 'd' AND table_name = 't' AND index_name <> 'PRIMARY'")
			out = append(out, rows)
		}
		return out
	}
	require.Equal(t, []string{"ax,fx,ka", "ax,fx,ka", "ax,fx,ka"}, texts())

	// Rows that come while the first group has changed already are not rehearsed.
	for _, s := range servers {
		s.Exec(t, "INSERT INTO d.r VALUES (1)")
	}
	write := func() { servers[1].Exec(t, "INSERT INTO d.t VALUES (1, 1, 1), (3, 1, 1)") }
	meanwhile.Store(&write)
	f.refused("ALTER TABLE t ADD b INT, ADD INDEX xa (x, a), ADD CONSTRAINT small CHECK (a > 1)", nodes.Pick[sqlerr.Code](4025, 3819))
	require.Equal(t, []string{"ax,fx,ka", "ax,fx,ka", "ax,fx,ka"}, texts())
	require.Equal(t, "id,x,a", f.columns("t"))

	// The first has an ordinary index now, as groups have that came later.
	f.must("ALTER TABLE t ADD INDEX xa (x, a)")
	require.Equal(t, []string{"ax,ka,xa", "ax,ka,xa", "ax,ka,xa"}, texts())
	f.must("ALTER TABLE t DROP FOREIGN KEY fx")
	f.must("ALTER TABLE t DROP INDEX xa")
	f.must("ALTER TABLE t ADD CONSTRAINT f1 FOREIGN KEY (x) REFERENCES r (id)")
	servers[2].Exec(t, "ALTER TABLE d.t RENAME INDEX f1 TO f1")
	f.must("ALTER TABLE t ADD CONSTRAINT f2 FOREIGN KEY (x) REFERENCES r (id)")
	require.Equal(t, []string{"ax,f2,ka", "ax,f2,ka", "ax,f2,ka"}, texts())
	f.clean()
}

func TestDropRenameTruncate(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.session.DB = ""
	f.must("CREATE DATABASE d")
	f.must("CREATE DATABASE e")
	f.session.DB = "d"
	for _, n := range []string{"a", "b", "c"} {
		f.must("CREATE TABLE " + n + " (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
	}
	a, b := f.table("a"), f.table("b")
	servers[0].Exec(t, "INSERT INTO d.a VALUES (1, 1)")
	f.must("RENAME TABLE a TO tmp, b TO a, tmp TO b")
	require.Equal(t, a.ID, f.table("b").ID)
	require.Equal(t, b.ID, f.table("a").ID)
	require.Equal(t, "1", servers[0].Value(t, "SELECT COUNT(*) FROM d.b"))
	f.refused("RENAME TABLE a TO b", sqlerr.TableExists)
	f.refused("RENAME TABLE nope TO b", sqlerr.NoSuchTable)
	f.refused("RENAME TABLE a TO nope.b", sqlerr.UnknownDatabase)
	f.must("RENAME TABLE a TO e.a")
	require.NotNil(t, f.follower.Snapshot().Table("e", "a"))
	require.Nil(t, f.follower.Snapshot().Table("d", "a"))
	f.must("RENAME TABLE e.a TO a")
	f.must("RENAME TABLE a TO circle, circle TO a") // proxies are not waited for: the catalog is the same
	f.must("CREATE TABLE circle (id INT PRIMARY KEY)")
	f.must("DROP TABLE circle")

	old := f.table("b").ID
	f.must("TRUNCATE b")
	require.Equal(t, "0", servers[0].Value(t, "SELECT COUNT(*) FROM d.b"))
	require.NotEqual(t, old, f.table("b").ID, "the sequence begins anew")
	f.refused("TRUNCATE TABLE nope", sqlerr.NoSuchTable)
	servers[2].Exec(t, "CREATE TABLE d.holds (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES d.b (id))")
	f.refused("TRUNCATE b", sqlerr.UnknownError, "run it again")
	require.False(t, f.table("b").Closed)
	servers[2].Exec(t, "DROP TABLE d.holds")
	f.must("TRUNCATE b")

	f.refused("DROP TABLE nope", sqlerr.UnknownTable, "Unknown table 'd.nope'")
	r := f.must("DROP TABLE IF EXISTS a, nope")
	require.Equal(t, "Unknown table 'd.nope'", r.Warnings[0].Message)
	require.Nil(t, f.follower.Snapshot().Table("d", "a"))
	f.refused("DROP TABLE b, nope", sqlerr.UnknownTable, "Unknown table 'd.nope'")
	require.Equal(t, nodes.Pick(true, false), f.follower.Snapshot().Table("d", "b") == nil, "MariaDB drops those that exist")
	f.must("DROP TABLE IF EXISTS nope")

	f.must("CREATE VIEW v AS SELECT v, COUNT(*) n FROM c GROUP BY v")
	require.Equal(t, catalog.View, f.table("v").Kind)
	require.Contains(t, f.table("v").ViewText, "`d`.`c`")
	require.Len(t, f.table("v").Columns, 2)
	f.refused("CREATE VIEW v AS SELECT 1", sqlerr.TableExists)
	f.must("CREATE OR REPLACE ALGORITHM=UNDEFINED DEFINER=`tester`@`%` SQL SECURITY DEFINER VIEW v AS SELECT 1 AS one")
	require.Equal(t, "one", f.table("v").Columns[0].Name)
	f.refused("CREATE VIEW w AS SELECT * FROM nope", sqlerr.NoSuchTable)
	f.refused("DROP TABLE v", nodes.Pick(1965, sqlerr.UnknownTable))
	f.must("DROP VIEW v")
	f.refused("DROP VIEW v", nodes.Pick(4092, sqlerr.UnknownTable))

	f.must("ALTER DATABASE d CHARACTER SET latin1")
	require.Equal(t, "latin1", f.follower.Snapshot().Databases["d"].Charset)
	f.must("ANALYZE TABLE c")
	require.EqualValues(t, nodes.Pick(1, 2), f.must("DROP DATABASE d").Affected) // tables
	require.Nil(t, f.follower.Snapshot().Databases["d"])
	f.refused("DROP DATABASE nope", sqlerr.DatabaseNotExists)
	f.must("DROP DATABASE IF EXISTS nope")
	f.session.DB = ""
	f.must("CREATE DATABASE s COMMENT 'skarv:single'") // MySQL's databases have no comments, ours do
	f.must("CREATE TABLE s.t (a INT, b INT UNIQUE)")
	require.Equal(t, catalog.Single, f.follower.Snapshot().Table("s", "t").Kind)
	require.False(t, f.follower.Snapshot().Table("s", "t").HiddenKey)
	f.clean()
}

func TestForeignKeys(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE p (id INT PRIMARY KEY)")
	f.must("CREATE TABLE r (id INT PRIMARY KEY) COMMENT 'skarv:reference'")
	f.must("CREATE TABLE c1 (pid INT, n INT, rid INT, PRIMARY KEY (pid, n), FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE, FOREIGN KEY (rid) REFERENCES r (id)) PARTITION BY KEY (pid)")
	require.Len(t, f.table("c1").ForeignKeys, 2)
	require.Equal(t, "CASCADE", f.table("c1").ForeignKeys[0].OnDelete)
	f.must("CREATE TABLE c2 (id INT PRIMARY KEY, pid INT, CONSTRAINT fp FOREIGN KEY (pid) REFERENCES p (id))")
	f.must("CREATE TABLE tree (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES tree (id))")
	f.must("DROP TABLE c2, tree")
	f.refused("CREATE TABLE r2 (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id)) COMMENT 'skarv:reference'", sqlerr.NotSupportedYet)
	f.refused("CREATE TABLE c3 (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES nope (id))", nodes.Pick[sqlerr.Code](1005, 1824), nodes.Pick("`d`.`c3`", "nope"))
	f.must("CREATE TABLE c4 (id INT PRIMARY KEY, rid INT)")
	f.must("ALTER TABLE c4 ADD CONSTRAINT cr FOREIGN KEY (rid) REFERENCES r (id)")
	f.must("ALTER TABLE c4 DROP FOREIGN KEY cr")
	f.must("ALTER TABLE c4 ADD CONSTRAINT cp FOREIGN KEY (rid) REFERENCES p (id)")
	f.must("ALTER TABLE c4 DROP FOREIGN KEY cp")
	f.refused("ALTER TABLE c4 ADD FOREIGN KEY (rid) REFERENCES c1 (n)", nodes.Pick[sqlerr.Code](1005, 6125))
	f.must("CREATE TABLE one (id INT PRIMARY KEY) COMMENT 'skarv:single'")
	f.refused("ALTER TABLE c4 ADD CONSTRAINT fo FOREIGN KEY (rid) REFERENCES one (id)", sqlerr.NotSupportedYet, "'fo'", "skarv:reference")
	f.refused("DROP TABLE p", nodes.Pick[sqlerr.Code](1451, 3730))
	f.must("RENAME TABLE p TO parent")
	require.Equal(t, "parent", f.table("c1").ForeignKeys[0].RefTable)

	// A dump creates children first.
	f.session.Set = []string{"SET SESSION foreign_key_checks = 0"}
	f.must("CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES later (id))")
	f.must("CREATE TABLE bad (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES later2 (id)) COMMENT 'skarv:reference'")
	f.must("CREATE TABLE later (id INT PRIMARY KEY)")
	f.refused("CREATE TABLE later2 (id INT PRIMARY KEY)", sqlerr.NotSupportedYet)
	f.clean()
}

// TestCrashAtEveryStep kills the controller at each point of a change's way and lets the next one finish it.
func TestCrashAtEveryStep(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE tr (id INT PRIMARY KEY, a INT)")
	stop()
	points := []string{"planned", "before-1", "after-1", "first", "before-2", "after-2", "before-3", "after-3", "executed", "committed"}
	changes := []struct {
		prepare, sql string
		check        func()
	}{
		{"", "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT)", func() { require.Equal(t, "id,a", f.columns("t")) }},
		{"", "CREATE TABLE t2 (a INT)", func() { require.True(t, f.table("t2").HiddenKey) }},
		{"", "ALTER TABLE t ADD b INT", func() { require.Equal(t, "id,a,b", f.columns("t")) }},
		{"", "RENAME TABLE t TO x, t2 TO t, x TO t2", func() { require.Equal(t, "id,a,b", f.columns("t2")) }},
		{"", "TRUNCATE TABLE t2", func() {}},
		{"", "CREATE VIEW v AS SELECT * FROM t2", func() { require.Equal(t, "id,a,b", f.columns("v")) }},
		{"", "DROP VIEW v", func() { require.Empty(t, f.columns("v")) }},
		{"", "DROP TABLE t, t2", func() { require.Empty(t, f.columns("t")+f.columns("t2")) }},
		{"", "CREATE DATABASE e", func() { require.NotNil(t, f.follower.Snapshot().Databases["e"]) }},
		{"", "DROP DATABASE e", func() { require.Nil(t, f.follower.Snapshot().Databases["e"]) }},
		{"", "CREATE FUNCTION fn(a INT) RETURNS INT DETERMINISTIC RETURN a", func() { require.NotNil(t, f.follower.Snapshot().Routine("d", "fn", true)) }},
		{"", "DROP FUNCTION fn", func() { require.Nil(t, f.follower.Snapshot().Routine("d", "fn", true)) }},
		{"", "CREATE TRIGGER tg BEFORE INSERT ON tr FOR EACH ROW SET NEW.a = 1", func() { require.Len(t, f.table("tr").Triggers, 1) }},
	}
	undo := map[int]string{
		0: "DROP TABLE t", 1: "DROP TABLE t2", 2: "ALTER TABLE t DROP b", 3: "RENAME TABLE t TO x, t2 TO t, x TO t2",
		5: "DROP VIEW v", 6: "CREATE VIEW v AS SELECT * FROM t2", 8: "DROP DATABASE e", 9: "CREATE DATABASE e",
		10: "DROP FUNCTION fn", 11: "CREATE FUNCTION fn(a INT) RETURNS INT DETERMINISTIC RETURN a", 12: "DROP TRIGGER tg",
	}
	for i, c := range changes {
		for k, point := range points {
			if i == 7 && k > 0 {
				break // one point is enough for what would have to be made anew each time
			}
			stopSecond := f.killedAt(point, c.sql)
			c.check()
			if u := undo[i]; u != "" && k < len(points)-1 && i != 7 {
				f.must(u)
			}
			stopSecond()
		}
	}
	f.control(nil)
	f.must("CREATE TABLE last (id INT PRIMARY KEY)") // sweeps
	f.clean()
}

// A job that is to change the catalog, and finds that there is nothing to change, holds up nobody.
func TestJobThatChangesNothing(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	gone := ddl.Object{DB: "d", Name: "gone"}
	for range 2 {
		j := &job{ID: newJobID(time.Now()), State: running, DDL: &f.session, Work: &migration.Work{
			Step: &migration.Step{SQL: "DROP TABLE IF EXISTS d.gone", Repeat: true}, Drop: []ddl.Object{gone}, Watched: []ddl.Object{gone}, First: 1,
		}}
		data, err := j.encode()
		require.NoError(t, err)
		_, err = f.store.Change(nil).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(f.ctx())
		require.NoError(t, err)
		last, err := f.client.wait(f.ctx(), j.ID)
		require.NoError(t, err)
		require.Equal(t, done, last.State)
		f.client.Await(f.ctx(), last.revision)
	}
	f.must("ANALYZE TABLE d.gone")
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
}

func TestWithoutController(t *testing.T) {
	f := newFixture(t, 1)
	f.session.DB = ""
	f.client.patience = 50 * time.Millisecond
	_, err := f.ddl("CREATE DATABASE d")
	require.ErrorContains(t, err, "no controller is running")
	f.client.patience = 0
	f.control(nil)
	f.must("CREATE DATABASE d")
}

func TestTwoControllers(t *testing.T) {
	f := newFixture(t, 2)
	stops := []func(){f.control(nil), f.control(nil)}
	f.createDatabase()
	errs := make(chan error)
	for i := range 6 {
		go func() {
			_, err := f.ddl(fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY)", i))
			errs <- err
		}()
	}
	require.NoError(t, <-errs)
	stops[0]()
	for range 5 {
		require.NoError(t, <-errs)
	}
	require.Len(t, f.follower.Snapshot().Databases["d"].Tables, 6)
}

func TestAddGroup(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE h (a INT)")
	f.must("CREATE TABLE s (a INT) COMMENT 'skarv:single'")
	f.must("CREATE VIEW w AS SELECT * FROM h")
	f.must("CREATE VIEW v AS SELECT * FROM w")
	f.must("CREATE FUNCTION uno() RETURNS INT DETERMINISTIC NO SQL RETURN 1")
	f.must("CREATE DEFINER=`tester`@`%` PROCEDURE p(x INT) BEGIN SELECT x; END")
	f.must("CREATE VIEW calls AS SELECT uno() AS a")
	f.must("CREATE TABLE r (id INT PRIMARY KEY, a INT) COMMENT 'skarv:reference'")
	f.must("CREATE TRIGGER t BEFORE INSERT ON r FOR EACH ROW SET NEW.a = NEW.a + uno()")
	require.Len(t, f.table("r").Triggers, 1)
	for _, s := range servers[:2] {
		s.Exec(t, "INSERT INTO d.r VALUES (1, 1)")
	}
	servers[2].Exec(t, "CREATE DATABASE other")
	servers[2].Exec(t, "CREATE TABLE other.t (a INT)")
	spec := GroupSpec{Primary: servers[2].Node()}
	_, _, err := f.client.AddGroup(f.ctx(), spec)
	require.ErrorContains(t, err, "holds tables already (other.t)")
	servers[2].Exec(t, "DROP DATABASE other")
	_, _, err = f.client.AddGroup(f.ctx(), GroupSpec{Primary: servers[0].Node()})
	require.ErrorContains(t, err, "is node group 1 already")
	for name, want := range map[string]string{"ng2": "there is a node group ng2 already", "2": `"2" is no name`, "a b": `"a b" is no name`} {
		named := spec
		named.Name = name
		_, _, err = f.client.AddGroup(f.ctx(), named)
		require.ErrorContains(t, err, want)
	}

	if nodes.Engine() == datanode.MySQL {
		servers[2].Exec(t, "CREATE USER weak@'%' IDENTIFIED BY 'weak'")
		defer servers[2].Exec(t, "DROP USER weak@'%'")
		servers[2].Exec(t, "GRANT SELECT ON *.* TO weak@'%'")
		weak := spec
		weak.Primary.User, weak.Primary.Password = "weak", "weak"
		_, _, err = f.client.AddGroup(f.ctx(), weak)
		require.ErrorContains(t, err, "GRANT XA_RECOVER_ADMIN")
	}
	mariadb := f.follower.Snapshot().Flavor == catalog.MariaDB
	if mariadb {
		servers[0].Exec(t, "CREATE SEQUENCE d.sq")
	}
	id, warnings, err := f.client.AddGroup(f.ctx(), spec)
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "\n"), "table d.s has no primary key")
	require.EqualValues(t, 3, id)
	require.Contains(t, strings.Join(warnings, "\n"), "sync_binlog is 0, should be 1")
	f.groups = 3
	require.Equal(t, "a,my_row_id", f.columns("h"))
	require.Equal(t, "a", f.columns("v"))
	require.Equal(t, "1", servers[2].Value(t, "SELECT a FROM d.calls"))
	require.Equal(t, "1", servers[2].Value(t, "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema='d' AND routine_name='p' AND definer NOT LIKE 'a@%'"))
	require.Equal(t, "1", servers[2].Value(t, "SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema='d'"))
	f.must("DROP TRIGGER t")
	require.Empty(t, f.table("r").Triggers)
	f.must("DROP PROCEDURE p")
	require.Nil(t, f.follower.Snapshot().Routine("d", "P", false))
	require.NotNil(t, f.follower.Snapshot().Routine("d", "UNO", true))
	require.Empty(t, f.follower.Snapshot().Map.Owned(3))
	f.must("ALTER TABLE h ADD b INT FIRST")
	require.Equal(t, "b,a,my_row_id", f.columns("h"))
	_, err = InitCluster(f.ctx(), f.store, schema.Dialer{}, InitRequest{Groups: []GroupSpec{spec}})
	require.ErrorIs(t, err, ErrExists)

	if mariadb { // they are on the first node group, which cannot go with them
		snap := f.follower.Snapshot()
		for i, want := range [][]string{{"d.sq"}, nil, nil} {
			names, err := sequencesOn(f.ctx(), schema.Dialer{}, snap, snap.Groups[i])
			require.NoError(t, err)
			require.Equal(t, want, names)
		}
		require.ErrorContains(t, sequencesLeft(f.ctx(), schema.Dialer{}, snap, snap.Groups[0]), "d.sq")
		require.NoError(t, sequencesLeft(f.ctx(), schema.Dialer{}, snap, snap.Groups[1]))
	}

	// A transaction in doubt on another group, whose decision the group keeps, could never be ended without it.
	for _, q := range []string{"XA START '3-ab-1','1-1-1',21328", "INSERT INTO d.h (a, my_row_id) VALUES (7, 7)", "XA END '3-ab-1','1-1-1',21328", "XA PREPARE '3-ab-1','1-1-1',21328"} {
		servers[0].Exec(t, q)
	}
	_, err = f.client.RemoveGroup(f.ctx(), 3, Removal{})
	require.ErrorContains(t, err, "transaction 3-ab-1 needs node group")
	servers[0].Exec(t, "XA ROLLBACK '3-ab-1','1-1-1',21328")
	_, err = f.client.RemoveGroup(f.ctx(), 3, Removal{})
	require.NoError(t, err)
}

// What a branch has written that was prepared when its server started is in what is copied: the copies of reference tables, and the entries of indexes.
// Servers of MySQL keep their tables locked.
func TestBranchesAreWaitedFor(t *testing.T) {
	if nodes.Engine() == datanode.MySQL {
		t.Skip("LOCK TABLES waits for them")
	}
	f := newFixture(t, 2)
	over := ""
	f.control(func(point string) error {
		if point == "in-doubt" && over != "" {
			servers[0].Exec(t, over)
			over = ""
		}
		return nil
	})
	prepare := func(insert string) {
		for _, q := range []string{"XA START '2-ab-1','1-1-1',21328", insert, "XA END '2-ab-1','1-1-1',21328", "XA PREPARE '2-ab-1','1-1-1',21328"} {
			servers[0].Exec(t, q)
		}
		servers[0].Kill(t)
		servers[0].Start(t)
		over = "XA COMMIT '2-ab-1','1-1-1',21328"
	}
	f.createDatabase()
	f.must("CREATE TABLE r (id INT PRIMARY KEY, a INT) COMMENT 'skarv:reference'")
	f.must("CREATE TABLE h (a INT, b INT)")
	prepare("INSERT INTO d.r VALUES (1, 1)")
	_, _, err := f.client.AddGroup(f.ctx(), GroupSpec{Primary: servers[2].Node()})
	require.NoError(t, err)
	require.Equal(t, "1", servers[2].Value(t, "SELECT COUNT(*) FROM d.r"))
	id := 1
	for f.owner(f.table("h"), id) != 1 {
		id++
	}
	prepare(fmt.Sprintf("INSERT INTO d.h (a, my_row_id) VALUES (1, %d)", id))
	f.must("ALTER TABLE h ADD PRIMARY KEY (a)")
	rows := 0
	for _, s := range servers {
		n, err := strconv.Atoi(s.Value(t, "SELECT COUNT(*) FROM d.h"))
		require.NoError(t, err)
		rows += n
	}
	require.Equal(t, 1, rows)
	f.groups = 3
	f.clean()
}

// A branch that nobody ends keeps a node group from being added.
func TestBranchThatDoesNotEnd(t *testing.T) {
	f := newFixture(t, 1)
	s, err := schema.Dialer{}.Dial(f.ctx(), "g", servers[0].Node())
	require.NoError(t, err)
	defer s.Close()
	servers[0].Exec(t, "CREATE DATABASE d")
	servers[0].Exec(t, "CREATE TABLE d.t (a INT)")
	for _, q := range []string{"XA START '2-ab-1','1-1-1',21328", "INSERT INTO d.t VALUES (1)", "XA END '2-ab-1','1-1-1',21328", "XA PREPARE '2-ab-1','1-1-1',21328"} {
		servers[0].Exec(t, q)
	}
	defer servers[0].Exec(t, "XA ROLLBACK '2-ab-1','1-1-1',21328")
	err = (&leader{}).awaitBranches(f.ctx(), s, 100*time.Millisecond)
	require.ErrorIs(t, err, errInDoubt)
	require.ErrorContains(t, err, "transaction 2-ab-1 is prepared on node group g")
	_, err = Prepared(f.ctx(), s)
	require.NoError(t, err)
}

// TestReplacedAndRefused: a server that refuses CREATE OR REPLACE may have dropped what was to be replaced. Then no group has it,
// whoever leads.
func TestReplacedAndRefused(t *testing.T) {
	if nodes.Engine() == datanode.MySQL {
		t.Skip("MySQL has no CREATE OR REPLACE TABLE")
	}
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	stop()
	for _, point := range []string{"", "before-1", "after-1", "after-2", "committed"} {
		stop = f.control(nil)
		f.must("CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE)") // which it can only if no group has it
		stop()
		stop, crashed := f.control(nil), (<-chan struct{})(nil)
		if point != "" {
			stop()
			stop, crashed = f.dying(point)
		}
		failed := make(chan error, 1)
		go func() {
			_, err := f.ddl("CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, n INT UNIQUE, FOREIGN KEY (id) REFERENCES nosuch (id))")
			failed <- err
		}()
		if point != "" {
			f.reached(crashed)
			stop()
			stop = f.control(nil)
		}
		require.True(t, sqlerr.HasCode(<-failed, 1005), point)
		require.Nil(t, f.follower.Snapshot().Table("d", "t"))
		for _, s := range servers {
			require.Equal(t, "0", s.Value(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='d'"), point)
		}
		stop()
	}
	// What the trial finds leaves the table as it is: the refusal may be one of where it was tried.
	stop = f.control(nil)
	f.must("CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE)")
	_, err := f.ddl("CREATE OR REPLACE TABLE t (a INT, a INT)")
	require.True(t, sqlerr.HasCode(err, 1060))
	require.NotNil(t, f.follower.Snapshot().Table("d", "t"))
	f.must("DROP TABLE t")
	stop()
	stop = f.control(nil)
	f.must("CREATE TABLE t (id INT PRIMARY KEY, n INT)") // sweeps
	f.clean()
	stop()
}

// A server that goes down in the middle of a schema change, be it for longer, leaves no node group without it, or with it.
func TestServerIsDownForAWhile(t *testing.T) {
	f := newFixture(t, 3)
	type strike struct {
		point  string
		victim *nodes.Server
	}
	var next atomic.Pointer[strike]
	reached := make(chan struct{}, 1)
	f.control(func(p string) error {
		if s := next.Load(); s != nil && s.point == p && next.CompareAndSwap(s, nil) {
			s.victim.Kill(t)
			t.Cleanup(func() { s.victim.Start(t) })
			reached <- struct{}{}
		}
		return nil
	})
	f.createDatabase()
	for _, c := range []struct {
		sql, point string
		victim     int
		refused    bool
		columns    string
	}{
		{"ALTER TABLE t DROP c", "first", 2, false, "id,a"},
		{"ALTER TABLE t DROP c", "before-1", 0, false, "id,a"},
		{"ALTER TABLE t DROP c", "after-1", 0, false, "id,a"},
		{"ALTER TABLE t ADD d INT, ADD CONSTRAINT small CHECK (a > 1)", "undo", 0, true, "id,a,c"},
		{"ALTER TABLE t ADD d INT, ADD CONSTRAINT small CHECK (a > 1)", "before-2", 1, true, "id,a,c"},
		{"DROP TABLE t", "first", 2, false, ""},
	} {
		f.must("CREATE TABLE t (id BIGINT PRIMARY KEY, a INT, c INT)")
		servers[2].Exec(t, "INSERT INTO d.t VALUES (3, 1, 1), (4, 1, 1)")
		victim := servers[c.victim]
		next.Store(&strike{c.point, victim})
		ended := make(chan error, 1)
		go func() {
			_, err := f.ddl(c.sql)
			ended <- err
		}()
		f.reached(reached)
		require.Eventually(t, func() bool {
			jobs, err := Unfinished(t.Context(), f.store)
			return err == nil && len(jobs) == 1 && jobs[0].Problem != ""
		}, time.Minute, 10*time.Millisecond, "%s: it waits for %s", c.sql, c.point)
		victim.Start(t)
		if err := <-ended; c.refused {
			require.True(t, sqlerr.HasCode(err, nodes.Pick[sqlerr.Code](4025, 3819)), "%v", err)
		} else {
			require.NoError(t, err, c.sql)
		}
		require.Equal(t, c.columns, f.columns("t"), "%s, %s", c.sql, c.point)
		if c.columns != "" {
			f.must("DROP TABLE t")
		}
	}
	f.clean()
}

// A schema change that nobody has begun is not begun when the process that asked for it is gone.
func TestAbandonedSchemaChange(t *testing.T) {
	f := newFixture(t, 1)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
	stop()
	j := &job{ID: newJobID(time.Now()), State: queued, Created: time.Now(), From: "gone", DDL: &DDLRequest{SQL: "DROP TABLE t", Session: f.session.Session}}
	data, err := j.encode()
	require.NoError(t, err)
	_, err = f.store.Change(nil).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(f.ctx())
	require.NoError(t, err)
	f.control(nil)
	f.must("CREATE TABLE u (id INT PRIMARY KEY)") // it does not wait for it
	j, err = f.client.wait(f.ctx(), j.ID)
	require.NoError(t, err)
	require.Equal(t, failed, j.State)
	require.Equal(t, "id", f.columns("t"))
}

// Nothing is changed on a server that is another one than its node group's.
func TestStrangerIsNotChanged(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	servers[1].Exec(t, "UPDATE _skarv.node_group SET mark = 'x'")
	f.refused("CREATE DATABASE e", sqlerr.ServerLost, "is another one than the node group's")
	for _, s := range servers[:2] {
		require.Equal(t, "0", s.Value(t, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'e'"))
	}
}

// What has made a table, and takes it back, drops no other one that somebody has made of its name.
func TestDropOfTheTableThatWasMade(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	for _, create := range []string{"CREATE TABLE mine (id INT PRIMARY KEY)", "CREATE TABLE mine (id INT PRIMARY KEY) COMMENT 'skarv:single'"} {
		made := f.must(create).Made
		require.NotZero(t, made)
		drop := f.session
		drop.SQL, drop.Made = "DROP TABLE mine", made
		f.must("RENAME TABLE mine TO theirs")
		f.must(create)
		_, err := f.client.DDL(f.ctx(), drop)
		require.NoError(t, err)
		require.Equal(t, "id", f.columns("mine"))
		f.must("DROP TABLE mine")
		_, err = f.client.DDL(f.ctx(), drop)
		require.NoError(t, err)
		f.must("RENAME TABLE theirs TO mine")
		_, err = f.client.DDL(f.ctx(), drop)
		require.NoError(t, err)
		require.Nil(t, f.follower.Snapshot().Table("d", "mine"))
	}
}
