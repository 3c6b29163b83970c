package control

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/test/nodes"
)

// keyless makes a table without a primary key, with rows 1 to n.
func (f *fixture) keyless(name string, n int) {
	f.t.Helper()
	f.must("CREATE TABLE " + name + " (a INT, email VARCHAR(20))")
	for i := range n {
		f.put(name, i+1, n-i, fmt.Sprint("m", n-i))
	}
}

// put writes a row of a table without a primary key where it belongs.
func (f *fixture) put(name string, id, a int, email string) {
	f.t.Helper()
	servers[f.owner(f.table(name), id)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.%s (a, email, my_row_id) VALUES (%d, '%s', %d)", name, a, email, id))
}

// placed checks that a table has rows 1 to n, each where it belongs by column a.
func (f *fixture) placed(name string, n int) { f.placedBy(name, "a", n) }

func (f *fixture) placedBy(name, column string, n int) {
	f.t.Helper()
	t := f.table(name)
	require.False(f.t, t.Closed)
	require.Equal(f.t, column == catalog.HiddenKey, t.HiddenKey)
	require.Equal(f.t, []int{t.Column(column)}, t.Distribution)
	for i := 1; i <= n; i++ {
		owner := f.owner(t, i)
		for g, s := range servers[:f.groups] {
			want := "0"
			if g == int(owner)-1 {
				want = "1"
			}
			require.Equal(f.t, want, s.Value(f.t, fmt.Sprintf("SELECT COUNT(*) FROM d.%s WHERE %s = %d", name, column, i)), "row %d on %d", i, g)
		}
	}
}

// Whoever resumes the rebuilding of a table, wherever it stopped, ends with every row once, where it belongs.
func TestTableIsRebuiltWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	f.whateverDies(f.keyless, "ADD PRIMARY KEY (a), ADD UNIQUE KEY email (email)", "a")
}

func TestValuesAreComputedWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	f.whateverDies(f.keyless, "MODIFY a BIGINT UNSIGNED, MODIFY email VARCHAR(30), ADD PRIMARY KEY (a), ADD UNIQUE KEY email (email)", "a")
}

// whateverDies alters tables that create makes with rows 1 to 20, while the controller dies at one point after the other; then they must be distributed
// by column and have one global index.
func (f *fixture) whateverDies(create func(name string, n int), alter, column string) {
	f.t.Helper()
	stop := f.control(nil)
	f.must("CREATE DATABASE IF NOT EXISTS d")
	stop()
	for i, point := range []string{"planned", "indexes", "building", "made", "before-1", "first", "after-2", "executed", "settled", "filled", "committed"} {
		stop := f.control(nil)
		name := fmt.Sprintf("k%d", i)
		create(name, 20)
		stop()
		stopSecond := f.killedAt(point, "ALTER TABLE "+name+" "+alter)
		f.placedBy(name, column, 20)
		c := f.check(name)
		require.Zero(f.t, c.Missing+c.Wrong+c.Stale, point)
		require.EqualValues(f.t, 20, c.Entries)
		f.must("DROP TABLE " + name)
		f.must("CREATE TABLE IF NOT EXISTS last (id INT PRIMARY KEY)") // sweeps
		f.clean()
		stopSecond()
	}
}

// keyed makes a table with rows 1 to n by its distribution key, b the other way round, and a global index.
func (f *fixture) keyed(name string, n int) {
	f.t.Helper()
	f.must("CREATE TABLE " + name + " (a INT, b INT, email VARCHAR(20), PRIMARY KEY (a, b)) PARTITION BY KEY (a)")
	for i := 1; i <= n; i++ {
		servers[f.owner(f.table(name), i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.%s VALUES (%d, %d, 'm%[2]d')", name, i, n+1-i))
	}
	f.must("ALTER TABLE " + name + " ADD UNIQUE KEY email (email)")
	f.placed(name, n)
}

// Whoever resumes the placing of rows anew, wherever it stopped, ends with every row once, where it belongs, and with one global index.
func TestRowsArePlacedAnewWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	f.whateverDies(f.keyed, "PARTITION BY KEY (b)", "b")
}

// A table that loses its key gets the hidden one, whose values go on, wherever the controller stops.
func TestKeyIsDroppedWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	create := func(name string, n int) {
		f.must("CREATE TABLE " + name + " (a INT AUTO_INCREMENT PRIMARY KEY, b INT, email VARCHAR(20), CHECK (b > 0))")
		for i := 1; i <= n; i++ {
			servers[f.owner(f.table(name), i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.%s VALUES (%d, %[2]d, 'm%[2]d')", name, i))
		}
		f.must("ALTER TABLE " + name + " ADD UNIQUE KEY email (email)")
		f.placed(name, n)
	}
	for _, alter := range []string{"DROP COLUMN a", "MODIFY a VARCHAR(10), DROP PRIMARY KEY, ADD COLUMN c INT DEFAULT (1 + 1)"} {
		f.whateverDies(create, alter, catalog.HiddenKey)
	}
	stop := f.control(nil)
	defer stop()
	create("k", 20)
	f.must("ALTER TABLE k DROP COLUMN a")
	next, err := f.store.Sequence(f.ctx(), f.table("k").ID)
	require.NoError(t, err)
	require.EqualValues(t, 21, next)
}

// A table becomes one of each kind and comes back; its numbers go on.
func TestTableBecomesAnotherKind(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE k (a INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE) COMMENT 'skarv:single'")
	for i := 1; i <= 20; i++ {
		servers[0].Exec(t, fmt.Sprintf("INSERT INTO d.k (v) VALUES (%d)", i))
	}
	servers[0].Exec(t, "DELETE FROM d.k WHERE a > 15")
	rows := func() (out []string) {
		for _, s := range servers[:3] {
			out = append(out, s.Value(t, "SELECT COUNT(*) FROM d.k"))
		}
		return out
	}
	next := func() uint64 {
		n, err := f.store.Sequence(f.ctx(), f.table("k").ID)
		require.NoError(t, err)
		return n
	}
	f.must("ALTER TABLE k COMMENT 'skarv:reference'")
	require.Equal(t, []string{"15", "15", "15"}, rows())
	require.EqualValues(t, 21, next())
	f.must("ALTER TABLE k COMMENT 'not only on one' PARTITION BY KEY (a)")
	f.placed("k", 15)
	require.EqualValues(t, 21, next())
	require.EqualValues(t, 15, f.check("k").Entries)
	jobs, err := Jobs(f.ctx(), f.store)
	require.NoError(t, err)
	last := jobs[len(jobs)-1]
	require.Equal(t, []string{"done", "ALTER TABLE k COMMENT 'not only on one' PARTITION BY KEY (a)", "d", "15 rows copied"}, []string{last.State, last.What, last.Database, last.Progress})
	f.refused("ALTER TABLE k COMMENT 'skarv:key=v'", sqlerr.NotSupportedYet, "PRIMARY KEY without column 'v'")
	f.placed("k", 15)
	f.must("ALTER TABLE k COMMENT 'skarv:single'")
	require.Equal(t, []string{"15", "0", "0"}, rows())
	require.Equal(t, catalog.Single, f.table("k").Kind)
	servers[0].Exec(t, "INSERT INTO d.k (v) VALUES (100)")
	require.Equal(t, "21", servers[0].Value(t, "SELECT MAX(a) FROM d.k"))
	f.must("ALTER TABLE k COMMENT 'skarv:key=v', DROP PRIMARY KEY, ADD PRIMARY KEY (a, v)")
	require.Equal(t, []int{1}, f.table("k").Distribution)
	require.EqualValues(t, 22, next())
	f.must("ALTER TABLE k COMMENT 'skarv:reference', AUTO_INCREMENT = 50")
	require.EqualValues(t, 50, next())
	f.must("ALTER TABLE k COMMENT 'skarv:key=a', AUTO_INCREMENT = 3")
	require.EqualValues(t, 22, next())
	f.must("ALTER TABLE k COMMENT 'skarv:single', AUTO_INCREMENT = 70")
	servers[0].Exec(t, "INSERT INTO d.k (v) VALUES (101)")
	require.Equal(t, "70", servers[0].Value(t, "SELECT MAX(a) FROM d.k"))

	f.must("CREATE TABLE plain (a INT, b INT) COMMENT 'skarv:single'")
	f.refused("ALTER TABLE plain COMMENT '' PARTITION BY KEY (a)", sqlerr.NotSupportedYet, "no primary key")
	f.refused("ALTER TABLE plain COMMENT 'skarv:reference' PARTITION BY KEY (a)", sqlerr.NotSupportedYet, "no primary key")
	f.must("CREATE TABLE last (id INT PRIMARY KEY)") // sweeps
	f.clean()
}

// What a server runs by itself, which was there before the cluster, keeps the single tables that it uses where they are.
func TestServersOwnProgramsKeepTables(t *testing.T) {
	f := newFixture(t, 2)
	f.control(nil)
	f.createDatabase()
	for _, name := range []string{"sold", "noted", "summed", "other"} {
		f.must("CREATE TABLE " + name + " (id INT PRIMARY KEY, v INT) COMMENT 'skarv:single'")
	}
	servers[0].Exec(t, "CREATE TRIGGER d.notes AFTER INSERT ON d.sold FOR EACH ROW INSERT INTO noted VALUES (NEW.id, 1)")
	servers[0].Exec(t, "CREATE PROCEDURE d.sums() UPDATE d.summed SET v = v + 1")
	f.must("ALTER TABLE sold COMMENT 'as it is now'") // reads the trigger
	f.refused("ALTER TABLE sold COMMENT 'skarv:reference'", sqlerr.NotSupportedYet, "triggers")
	f.refused("ALTER TABLE noted COMMENT 'skarv:reference'", sqlerr.NotSupportedYet, "the trigger 'd.notes'")
	f.refused("ALTER TABLE summed COMMENT 'skarv:reference'", sqlerr.NotSupportedYet, "the procedure 'd.sums'")
	f.must("ALTER TABLE other COMMENT 'skarv:reference'")
	servers[0].Exec(t, "DROP PROCEDURE d.sums")
	f.must("ALTER TABLE summed COMMENT 'skarv:key=id'")
}

// What is found when the tables have changed places takes them back.
func TestRebuildingIsTakenBack(t *testing.T) {
	f := newFixture(t, 3)
	var straggler func()
	f.control(func(p string) error {
		if p == "before-1" && straggler != nil { // all rows are copied
			straggler()
			straggler = nil
		}
		return nil
	})
	f.createDatabase()
	f.keyless("k", 20)
	f.put("k", 21, 21, "M20")
	rows := func() (out []string) {
		for _, s := range servers[:3] {
			out = append(out, s.Value(t, "SELECT GROUP_CONCAT(a ORDER BY a) FROM d.k"))
		}
		return out
	}
	before := rows()
	back := func() {
		require.Equal(t, before, rows())
		require.True(t, f.table("k").HiddenKey)
		require.False(t, f.table("k").Closed)
	}
	f.refused("ALTER TABLE k ADD PRIMARY KEY (a), ADD UNIQUE KEY email (email)", sqlerr.DuplicateEntry, "20' for key", "email")
	back()
	straggler = func() {
		f.put("k", 22, 22, "late")
		before = rows()
	}
	f.refused("ALTER TABLE k ADD PRIMARY KEY (a)", sqlerr.UnknownError, "run it again")
	back()
	f.must("CREATE TRIGGER tg BEFORE INSERT ON k FOR EACH ROW SET NEW.email = 'x'")
	f.must("ALTER TABLE k ADD PRIMARY KEY (a)")
	require.Equal(t, "tg", servers[2].Value(t, "SELECT trigger_name FROM information_schema.triggers WHERE event_object_table = 'k'"))
	require.Len(t, f.table("k").Triggers, 1)
	f.placed("k", 22)
	f.must("CREATE TABLE last (id INT PRIMARY KEY)") // sweeps
	f.clean()
}

// Whoever resumes the rebuilding of a table behind its RENAME on some servers, and finds a branch in doubt there, loses no rows.
func TestRebuildingIsResumedBesideABranch(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE other (id INT PRIMARY KEY)")
	f.keyless("k", 20)
	stop()
	f.session.Set = append(f.session.Set, "SET @@session.`lock_wait_timeout` = 1")
	stopFirst, crashed := f.dying("first")
	got := f.begin("ALTER TABLE k ADD PRIMARY KEY (a)")
	f.reached(crashed)
	stopFirst()
	c, err := servers[2].DB.Conn(f.ctx())
	require.NoError(t, err)
	defer c.Close()
	exec := func(q string) {
		_, err := c.ExecContext(f.ctx(), q)
		require.NoError(t, err, q)
	}
	for _, q := range []string{"XA START '2-ab-1','1-1-1',21328", "INSERT INTO d.other VALUES (1)", "XA END '2-ab-1','1-1-1',21328", "XA PREPARE '2-ab-1','1-1-1',21328"} {
		exec(q)
	}
	defer exec("XA ROLLBACK '2-ab-1','1-1-1',21328")
	f.control(nil)
	require.NoError(t, <-got)
	f.placed("k", 20)
}

// related makes a table as keyed does that refers to others and to itself, and to which another one refers.
func (f *fixture) related(name string, n int) {
	f.t.Helper()
	f.must("CREATE TABLE IF NOT EXISTS grand (id INT PRIMARY KEY)")
	f.must("CREATE TABLE " + name + "_p (id INT PRIMARY KEY, g INT, CONSTRAINT " + name + "_g FOREIGN KEY (g) REFERENCES grand (id) ON DELETE CASCADE)")
	f.must("CREATE TABLE " + name + " (a INT, b INT, email VARCHAR(20), p INT, up INT, x INT CHECK (x > 0), CONSTRAINT " + name + "_positive CHECK (a > 0 AND email <> 'a, b`\\'),'), PRIMARY KEY (a, b), UNIQUE KEY b (b), FOREIGN KEY (p) REFERENCES " + name + "_p (id) ON DELETE SET NULL, " +
		"CONSTRAINT " + name + "_up FOREIGN KEY (up) REFERENCES " + name + " (b)) PARTITION BY KEY (a)")
	f.must("CREATE TABLE " + name + "_c (id INT PRIMARY KEY, b INT, x INT, CONSTRAINT `of " + name + "` FOREIGN KEY (b) REFERENCES " + name + " (b) ON UPDATE CASCADE)")
	for i := 1; i <= n; i++ {
		servers[f.owner(f.table(name), i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.%s (a, b, email) VALUES (%d, %d, 'm%[2]d')", name, i, n+1-i))
	}
	f.must("ALTER TABLE " + name + " ADD UNIQUE KEY email (email)")
	for i, body := range []string{"SET NEW.x = 1", "SET NEW.x = NEW.x + 1", "SET NEW.email = 'of Skarv'"} {
		f.must(fmt.Sprintf("CREATE TRIGGER %s_%d BEFORE %s ON %[1]s FOR EACH ROW %[4]s", name, 9-i, []string{"INSERT", "INSERT", "UPDATE"}[i], body))
	}
	f.placed(name, n)
}

// keys are the foreign keys of and to a table made by related, its CHECK constraints and its triggers, on all servers, which must have the same.
func (f *fixture) keys(name string) (out string) {
	f.t.Helper()
	for i, s := range servers[:f.groups] {
		now := s.Value(f.t, "SELECT GROUP_CONCAT(k.constraint_name, ' ', k.table_name, ' ', column_name, ' ', k.referenced_table_schema, ' ', k.referenced_table_name, ' ', k.referenced_column_name, ' ', delete_rule, ' ', update_rule ORDER BY 1) "+
			"FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name "+
			"WHERE k.table_schema = 'd' AND k.table_name LIKE '"+name+"%'")
		now += " " + s.Value(f.t, "SELECT GROUP_CONCAT(constraint_name ORDER BY 1) FROM information_schema.table_constraints WHERE constraint_type = 'CHECK' AND table_schema = 'd' AND table_name = '"+name+"'")
		now += " " + s.Value(f.t, "SELECT GROUP_CONCAT(trigger_name, ' ', action_statement ORDER BY event_manipulation, action_order) FROM information_schema.triggers WHERE trigger_schema = 'd' AND event_object_table = '"+name+"'")
		require.True(f.t, i == 0 || now == out, "%s\n%s", out, now)
		out = now
	}
	for _, t := range []string{name, name + "_p", name + "_c", "grand"} {
		require.False(f.t, f.table(t).Closed)
	}
	require.Len(f.t, f.table(name).ForeignKeys, 2)
	require.Len(f.t, f.table(name).Triggers, 3)
	return out
}

// Foreign keys of a table that is made anew, and to it, stay, wherever the controller stops.
func TestForeignKeysStayWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	stop()
	for i, point := range []string{"planned", "building", "closed", "made", "before-1", "first", "before-3", "after-2", "executed", "attached", "settled", "committed"} {
		stop := f.control(nil)
		name := fmt.Sprintf("k%d", i)
		f.related(name, 20)
		before := f.keys(name)
		for _, part := range []string{"of " + name, name + "_positive", nodes.Pick("x", name+"_chk_1"), name + "_9 SET NEW.x = 1," + name + "_8 SET NEW.x = NEW.x + 1," + name + "_7"} {
			require.Contains(t, before, part)
		}
		stop()
		stopSecond := f.killedAt(point, "ALTER TABLE "+name+" PARTITION BY KEY (b)")
		f.placedBy(name, "b", 20)
		require.Equal(t, before, f.keys(name), point)
		f.must("DROP TABLE " + name + "_c")
		f.must("DROP TABLE " + name)
		f.must("DROP TABLE " + name + "_p")
		f.clean()
		stopSecond()
	}
}

// They stay, too, where what is found when the tables have changed places takes them back, and that dies as well.
func TestForeignKeysArePutBack(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.related("k", 20)
	before := f.keys("k")
	stop()
	for _, point := range []string{"undo", "undone-1", "undone-3"} {
		straggles, crashed := true, make(chan struct{})
		stopFirst := f.control(func(p string) error {
			if p == "before-1" && straggles { // all rows are copied
				straggles = false
				servers[0].Exec(t, "UPDATE d.k SET email = CONCAT(email, 'x') LIMIT 1")
			}
			if p != point {
				return nil
			}
			point = ""
			close(crashed)
			return errors.New("killed")
		})
		got := f.begin("ALTER TABLE k PARTITION BY KEY (b)")
		f.reached(crashed)
		stopFirst()
		stopSecond := f.control(nil)
		require.ErrorContains(t, <-got, "run it again")
		f.placed("k", 20)
		require.Equal(t, before, f.keys("k"))
		stopSecond()
	}
	f.control(nil)
	f.refused("ALTER TABLE k DROP KEY b PARTITION BY KEY (b)", sqlerr.NotSupportedYet, "foreign key")
	f.refused("ALTER TABLE k CHANGE b bb INT PARTITION BY KEY (bb)", sqlerr.NotSupportedYet, "one ALTER TABLE")
	f.refused("ALTER TABLE k DROP FOREIGN KEY k_ibfk_1 PARTITION BY KEY (b)", sqlerr.NotSupportedYet, "one ALTER TABLE")
	f.refused("ALTER TABLE k COMMENT 'skarv:single'", sqlerr.NotSupportedYet, "triggers")
	f.refused("ALTER TABLE k_p COMMENT 'skarv:single'", sqlerr.NotSupportedYet, "one of them being no sharded table")
	f.must("ALTER TABLE grand COMMENT 'skarv:reference'")
	f.must("ALTER TABLE k_p COMMENT 'skarv:reference'")
	require.Equal(t, before, f.keys("k"))
}
