package control

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/test/nodes"
)

// people makes a table of n rows, each where it belongs.
func (f *fixture) people(n int) {
	f.t.Helper()
	f.must("CREATE TABLE people (id INT PRIMARY KEY, email VARCHAR(50))")
	t := f.table("people")
	for i := range n {
		id := fmt.Sprint(i)
		servers[f.owner(t, i)-1].Exec(f.t, "INSERT INTO d.people VALUES ("+id+", 'e"+id+"')")
	}
}

// owner is the node group of the row of a table whose distribution key has a value.
func (f *fixture) owner(t *catalog.Table, key int) placement.NodeGroupID {
	f.t.Helper()
	p, _, m := t.Key.Partition(nil, []sqltypes.Value{{Kind: sqltypes.Int, Raw: fmt.Append(nil, key)}}, placement.Store)
	require.Equal(f.t, placement.Exact, m)
	return f.follower.Snapshot().Map.Owner(p)
}

// check compares the only global index of a table with its rows.
func (f *fixture) check(table string) *audit.IndexCheck {
	f.t.Helper()
	t := f.table(table)
	require.Len(f.t, t.Global, 1)
	require.False(f.t, t.Global[0].Building)
	c := &audit.IndexCheck{Snap: f.follower.Snapshot(), Index: t.Global[0]}
	require.NoError(f.t, c.Run(f.ctx()))
	return c
}

// Whoever resumes the building of an index, wherever it stopped, ends with an entry for every row and nothing else.
func TestIndexIsBuiltWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.people(30)
	stop()
	for _, sql := range []string{"CREATE UNIQUE INDEX email ON people (email)", "TRUNCATE TABLE people"} {
		for _, point := range []string{"planned", "indexes", "building", "first", "after-3", "executed", "filled", "committed"} {
			stopSecond := f.killedAt(point, sql)
			c := f.check("people")
			require.Zero(t, c.Missing+c.Wrong+c.Stale, point)
			require.Empty(t, f.table("people").Building)
			if sql[0] == 'C' {
				require.EqualValues(t, 30, c.Entries)
				if point != "committed" {
					f.must("DROP INDEX email ON people")
					f.must("ALTER TABLE people COMMENT 'x'") // sweeps
					f.clean()
				}
			} else {
				require.Zero(t, c.Entries)
			}
			stopSecond()
		}
	}
}

// A duplicate between groups refuses the key, and nothing of it is left.
func TestDuplicateRefusesIndex(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.people(30)
	for _, s := range servers[:3] {
		s.Exec(t, "UPDATE d.people SET email = 'Same' ORDER BY id LIMIT 1")
	}
	for range 2 {
		f.refused("CREATE UNIQUE INDEX email ON people (email)", sqlerr.DuplicateEntry, "Duplicate entry 'Same' for key '"+nodes.Pick("email", "people.email")+"'")
		require.Empty(t, f.table("people").Unique)
		require.Empty(t, f.table("people").Building)
		f.clean()
		for _, s := range servers[:3] {
			require.Equal(t, "0", s.Value(t, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema='d' AND index_name='email'"))
		}
	}
	f.refused("CREATE UNIQUE INDEX email ON people (email(3))", sqlerr.DuplicateEntry, "Duplicate entry 'Sam' for key '"+nodes.Pick("email", "people.email")+"'")
	f.refused("ALTER TABLE people ADD f FLOAT, ADD UNIQUE (f)", sqlerr.NotSupportedYet)
	f.refused("ALTER TABLE people ADD c INT DEFAULT 3, ADD UNIQUE (c)", sqlerr.DuplicateEntry, "Duplicate entry '3' for key '"+nodes.Pick("c", "people.c")+"'")
	require.Negative(t, f.table("people").Column("c"))
	require.Empty(t, f.table("people").Building)
	f.clean()
	f.must("CREATE TABLE keyed (id INT PRIMARY KEY, a INT, UNIQUE (a))")
	f.must("ALTER TABLE keyed MODIFY a BIGINT UNSIGNED")
}

// Whoever resumes a change of what an index's entries are made of, wherever it stopped, ends with an entry for every row and nothing else.
func TestIndexIsMadeAnewWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.people(30)
	f.must("CREATE UNIQUE INDEX email ON people (email)")
	for _, s := range servers[:3] {
		s.Exec(t, "UPDATE d.people SET email = NULL WHERE id > 27")
	}
	stop()
	for i, point := range []string{"planned", "building", "copied", "indexes", "before-1", "first", "after-3", "executed", "filled", "committed"} {
		id := f.table("people").Global[0].ID
		stopSecond := f.killedAt(point, fmt.Sprintf("ALTER TABLE people MODIFY email VARCHAR(%d) COLLATE %s", 49-i, []string{"utf8mb4_bin", "utf8mb4_general_ci"}[i%2]))
		p := f.table("people")
		require.False(t, p.Closed)
		require.NotEqual(t, id, p.Global[0].ID)
		require.EqualValues(t, 49-i, p.Global[0].Entries.Columns[0].Length)
		c := f.check("people")
		require.Equal(t, []uint64{28, 28, 0, 0, 0}, []uint64{c.Entries, c.Rows, c.Missing, c.Wrong, c.Stale}, point)
		f.must("ALTER TABLE people COMMENT 'x'") // sweeps
		for _, s := range servers[:3] {
			require.Equal(t, "1", s.Value(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema='_skarv' AND table_name NOT IN ('dt','node_group')"))
		}
		stopSecond()
	}
}

// What the statement would make of rows is known before it changes any: a duplicate between groups refuses it.
func TestDuplicateRefusesChangeOfColumn(t *testing.T) {
	f := newFixture(t, 3)
	var straggler func()
	f.control(func(p string) error {
		if p == "before-3" && straggler != nil {
			straggler()
			straggler = nil
		}
		return nil
	})
	f.createDatabase()
	f.must("CREATE TABLE people (id INT PRIMARY KEY, email VARCHAR(50) COLLATE utf8mb4_bin, UNIQUE email (email))")
	p := f.table("people")
	for i := range 30 {
		servers[f.owner(p, i)-1].Exec(t, fmt.Sprintf("INSERT INTO d.people VALUES (%d, '%s')", i, map[bool]string{true: "same", false: fmt.Sprint("e", i)}[i == 7]))
	}
	apart := 8
	for f.owner(p, apart) == f.owner(p, 7) {
		apart++
	}
	servers[f.owner(p, apart)-1].Exec(t, fmt.Sprintf("UPDATE d.people SET email = 'SAME' WHERE id = %d", apart))
	require.NoError(t, (&audit.IndexCheck{Snap: f.follower.Snapshot(), Servers: schema.Dialer{}, Index: p.Global[0], Repair: true}).Run(f.ctx()))
	for range 2 {
		f.refused("ALTER TABLE people MODIFY email VARCHAR(40) COLLATE utf8mb4_general_ci", sqlerr.DuplicateEntry, "for key '"+nodes.Pick("email", "people.email")+"'")
		require.Equal(t, p.Columns, f.table("people").Columns)
		require.False(t, f.table("people").Closed)
		c := f.check("people")
		require.Equal(t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
	}
	// A server that refuses when others have changed their rows leaves an index that agrees with all.
	f.session.SQLMode = ""
	f.must("CREATE TABLE cut (id INT PRIMARY KEY, a VARCHAR(6), UNIQUE a (a))")
	p = f.table("cut")
	for i := range 30 {
		servers[f.owner(p, i)-1].Exec(t, fmt.Sprintf("INSERT INTO d.cut VALUES (%d, 'a%03d%d')", i, i, i))
	}
	require.NoError(t, (&audit.IndexCheck{Snap: f.follower.Snapshot(), Servers: schema.Dialer{}, Index: p.Global[0], Repair: true}).Run(f.ctx()))
	straggler = func() {
		for id, n := 30, 0; n < 2; id++ {
			if f.owner(p, id) == 3 {
				servers[2].Exec(t, fmt.Sprintf("INSERT INTO d.cut VALUES (%d, 'same%d')", id, n))
				n++
			}
		}
	}
	f.refused("ALTER TABLE cut MODIFY a VARCHAR(4)", sqlerr.UnknownError, "now stands on node groups")
	require.Equal(t, "4", servers[0].Value(t, "SELECT MAX(CHAR_LENGTH(a)) FROM d.cut"))
	require.False(t, f.table("cut").Closed)
	c := f.check("cut")
	require.Equal(t, []uint64{32, 32, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}

// The check finds what is wrong, tells it, and repairs it when it is told to.
func TestIndexIsRepaired(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.people(20)
	f.must("CREATE UNIQUE INDEX email ON people (email)")
	entries := catalog.OwnDB + "." + f.table("people").Global[0].Entries.Name
	for _, s := range servers[:3] {
		s.Exec(t, "DELETE FROM "+entries+" WHERE u0 = 'e3'")
		s.Exec(t, "UPDATE "+entries+" SET k0 = 12345 WHERE u0 = 'e4'")
		s.Exec(t, "UPDATE "+entries+" SET k0 = 5 WHERE u0 = 'e6'")
		s.Exec(t, "DELETE FROM d.people WHERE id = 7")
	}
	c := f.check("people")
	require.Equal(t, []uint64{19, 1, 2, 3}, []uint64{c.Rows, c.Missing, c.Wrong, c.Stale})
	c = &audit.IndexCheck{Snap: f.follower.Snapshot(), Index: f.table("people").Global[0], Repair: true}
	require.NoError(t, c.Run(f.ctx()))
	c = f.check("people")
	require.Equal(t, []uint64{19, 19, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}

// A check tells of entries that a server compares otherwise than rows, which no comparison of values shows.
func TestIndexCheckTellsOfOtherCollation(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.must("CREATE DATABASE d COLLATE utf8mb4_bin")
	f.must("CREATE TABLE people (id INT PRIMARY KEY, email VARCHAR(50), UNIQUE email (email))")
	f.check("people")
	x := f.table("people").Global[0]
	servers[1].Exec(t, "ALTER TABLE _skarv."+x.Entries.Name+" MODIFY u0 VARCHAR(50) COLLATE utf8mb4_general_ci NOT NULL")
	err := (&audit.IndexCheck{Snap: f.follower.Snapshot(), Index: x}).Run(f.ctx())
	require.ErrorContains(t, err, "compares its entries by utf8mb4_general_ci, and column email by utf8mb4_bin: drop the key and add it again")
}

// moments makes a table with a key of columns by which no entries can be placed and of one by which they are.
func (f *fixture) moments(n int) {
	f.t.Helper()
	f.must("CREATE TABLE moments (id INT PRIMARY KEY, name CHAR(3), at TIMESTAMP(3) NULL, f FLOAT)")
	t := f.table("moments")
	for i := range n {
		servers[f.owner(t, i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.moments VALUES (%d, 'a', '2024-01-01 10:00:00' + INTERVAL %d MICROSECOND, %d / 10)", i, i/2*1000, i%2))
	}
}

// Keys with TIMESTAMP and FLOAT columns are built, and made anew, whatever dies.
func TestIndexOfMomentsWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.moments(30)
	stop()
	for _, point := range []string{"building", "after-3", "filled"} {
		for _, sql := range []string{
			"ALTER TABLE moments ADD UNIQUE KEY k (at, name, f)", "ALTER TABLE moments MODIFY at TIMESTAMP(6) NULL",
			"ALTER TABLE moments MODIFY f DOUBLE", "ALTER TABLE moments MODIFY at TIMESTAMP(3) NULL, MODIFY f FLOAT",
		} {
			f.completeKilledAt(point, sql, "moments")
		}
		stop = f.control(nil)
		f.must("ALTER TABLE moments DROP KEY k")
		stop()
	}
}

// Rows that are equal in such a key refuse it, entries are repaired, and an import makes them as well.
func TestIndexOfMomentsIsRepaired(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.moments(30)
	p := f.table("moments")
	apart := 5
	for f.owner(p, apart) == f.owner(p, 3) {
		apart++
	}
	equal := fmt.Sprintf("UPDATE d.moments SET at = '2024-02-02 02:02:02.5', f = 0.7 WHERE id IN (3, %d)", apart)
	for _, s := range servers[:3] {
		s.Exec(t, equal)
	}
	f.refused("ALTER TABLE moments ADD UNIQUE KEY k (name, at, f)", sqlerr.DuplicateEntry, "Duplicate entry 'a-2024-02-02 02:02:02.500-0.7' for key '"+nodes.Pick("k", "moments.k")+"'")
	servers[f.owner(p, 3)-1].Exec(t, "UPDATE d.moments SET f = 0.75 WHERE id = 3")
	f.must("ALTER TABLE moments ADD UNIQUE KEY k (name, at, f)")
	x := f.table("moments").Global[0]
	for _, s := range servers[:3] {
		s.Exec(t, "UPDATE "+x.Entries.SQL()+" SET u1 = u1 + 0.001 WHERE k0 = 7")
		s.Exec(t, "DELETE FROM "+x.Entries.SQL()+" WHERE k0 = 8")
	}
	c := f.check("moments")
	require.Equal(t, []uint64{30, 2, 0, 1}, []uint64{c.Rows, c.Missing, c.Wrong, c.Stale})
	require.NoError(t, (&audit.IndexCheck{Snap: f.follower.Snapshot(), Index: x, Repair: true}).Run(f.ctx()))
	c = f.check("moments")
	require.Equal(t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}

// completeKilledAt runs sql, which makes the global index of a table of 30 rows, while the process that does it is killed at point: the index is complete
// all the same.
func (f *fixture) completeKilledAt(point, sql, table string) {
	f.t.Helper()
	stop := f.killedAt(point, sql)
	defer stop()
	c := f.check(table)
	require.Equal(f.t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale}, "%s killed at %s", sql, point)
}

// beginnings makes a table with a key over the beginnings of columns.
func (f *fixture) beginnings(n int) {
	f.t.Helper()
	f.must("CREATE TABLE beginnings (id INT PRIMARY KEY, note TEXT, c CHAR(9) NOT NULL DEFAULT 'ab cd', b BLOB)")
	t := f.table("beginnings")
	for i := range n {
		servers[f.owner(t, i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.beginnings (id, note, b) VALUES (%d, '\u00e9%dx and more', X'FF%02X00%02X')", i, i/2, i%2, i))
	}
}

// Keys over the beginnings of columns are built, and made anew, whatever dies.
func TestIndexOfBeginningsWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.beginnings(30)
	stop()
	for _, point := range []string{"building", "after-3", "filled"} {
		for _, sql := range []string{
			"ALTER TABLE beginnings ADD UNIQUE KEY k (note(4), c(3), b(2))", "ALTER TABLE beginnings DROP KEY k, ADD UNIQUE KEY k (note(5), c(3), b(2))",
			"ALTER TABLE beginnings MODIFY note VARCHAR(60) COLLATE utf8mb4_bin",
		} {
			f.completeKilledAt(point, sql, "beginnings")
		}
		stop = f.control(nil)
		id := f.table("beginnings").Global[0].ID
		f.must("ALTER TABLE beginnings MODIFY b VARBINARY(9), MODIFY note LONGTEXT COLLATE utf8mb4_bin")
		require.Equal(t, id, f.table("beginnings").Global[0].ID, "entries are the same")
		f.must("ALTER TABLE beginnings DROP KEY k, MODIFY note TEXT COLLATE utf8mb4_general_ci")
		stop()
	}
}

// Rows that are equal in such a key refuse it, entries are repaired, and an import makes them as well.
func TestIndexOfBeginningsIsRepaired(t *testing.T) {
	f := newFixture(t, 3)
	f.control(nil)
	f.createDatabase()
	f.beginnings(30)
	p := f.table("beginnings")
	apart := 5
	for f.owner(p, apart) == f.owner(p, 3) {
		apart++
	}
	for _, s := range servers[:3] {
		s.Exec(t, fmt.Sprintf("UPDATE d.beginnings SET note = CONCAT('same', id), b = X'0000' WHERE id IN (3, %d)", apart))
	}
	f.refused("ALTER TABLE beginnings ADD UNIQUE KEY k (c(3), note(4), b(2))", sqlerr.DuplicateEntry, "-same-")
	f.must("ALTER TABLE beginnings ADD UNIQUE KEY k (c(3), note(5), b(2))")
	x := f.table("beginnings").Global[0]
	for _, s := range servers[:3] {
		s.Exec(t, "UPDATE "+x.Entries.SQL()+" SET u1 = CONCAT('x', LEFT(u1, 4)) WHERE k0 = 7")
		s.Exec(t, "DELETE FROM "+x.Entries.SQL()+" WHERE k0 = 8")
	}
	c := f.check("beginnings")
	require.Equal(t, []uint64{30, 2}, []uint64{c.Rows, c.Missing})
	require.NoError(t, (&audit.IndexCheck{Snap: f.follower.Snapshot(), Servers: schema.Dialer{}, Index: x, Repair: true}).Run(f.ctx()))
	c = f.check("beginnings")
	require.Equal(t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}

// Keys over what servers compute are built, and made anew when they compute something else, whatever dies.
func TestIndexOfComputedWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE computed (id INT PRIMARY KEY, note VARCHAR(60), low VARCHAR(60) AS (LOWER(note)) VIRTUAL)")
	p := f.table("computed")
	for i := range 30 {
		servers[f.owner(p, i)-1].Exec(f.t, fmt.Sprintf("INSERT INTO d.computed (id, note) VALUES (%d, 'Note%02d')", i, i))
	}
	stop()
	for _, point := range []string{"building", "after-3", "filled"} {
		for _, sql := range []string{"ALTER TABLE computed ADD UNIQUE KEY k (low)", "ALTER TABLE computed MODIFY low VARCHAR(60) AS (REVERSE(note)) VIRTUAL", "ALTER TABLE computed MODIFY low VARCHAR(60) AS (REVERSE(LEFT(note, 6))) VIRTUAL"} {
			f.completeKilledAt(point, sql, "computed")
		}
		stop = f.control(nil)
		f.must("ALTER TABLE computed DROP KEY k")
		stop()
	}
}

func TestIndexOfBeginningsIsFilledByAnImport(t *testing.T) {
	f := newFixture(t, 1)
	f.control(nil)
	f.createDatabase()
	f.beginnings(30)
	f.must("ALTER TABLE beginnings ADD UNIQUE KEY k (b(2), c(3), note(4))")
	x := f.table("beginnings").Global[0]
	servers[0].Exec(t, "TRUNCATE TABLE "+x.Entries.SQL())
	s, err := (schema.Dialer{}).Dial(f.ctx(), "1", f.follower.Snapshot().Groups[0].Primary)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, audit.FillIndex(f.ctx(), s, x, func(uint64) {}))
	c := f.check("beginnings")
	require.Equal(t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}

// An import makes the entries of all rows on their server.
func TestIndexOfMomentsIsFilledByAnImport(t *testing.T) {
	f := newFixture(t, 1)
	f.control(nil)
	f.createDatabase()
	f.moments(30)
	f.must("ALTER TABLE moments ADD UNIQUE KEY k (f, at, name)")
	x := f.table("moments").Global[0]
	servers[0].Exec(t, "TRUNCATE TABLE "+x.Entries.SQL())
	s, err := (schema.Dialer{}).Dial(f.ctx(), "1", f.follower.Snapshot().Groups[0].Primary)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, audit.FillIndex(f.ctx(), s, x, func(uint64) {}))
	c := f.check("moments")
	require.Equal(t, []uint64{30, 30, 0, 0, 0}, []uint64{c.Rows, c.Entries, c.Missing, c.Wrong, c.Stale})
}
