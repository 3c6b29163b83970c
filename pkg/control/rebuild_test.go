package control

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
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
func (f *fixture) placed(name string, n int) {
	f.t.Helper()
	t := f.table(name)
	require.False(f.t, t.Closed)
	require.False(f.t, t.HiddenKey)
	require.Equal(f.t, []int{t.Column("a")}, t.Distribution)
	for i := 1; i <= n; i++ {
		owner := f.owner(t, i)
		for g, s := range servers[:f.groups] {
			want := "0"
			if g == int(owner)-1 {
				want = "1"
			}
			require.Equal(f.t, want, s.Value(f.t, fmt.Sprintf("SELECT COUNT(*) FROM d.%s WHERE a = %d", name, i)), "row %d on %d", i, g)
		}
	}
}

// Whoever resumes the rebuilding of a table, wherever it stopped, ends with every row once, where it belongs.
func TestTableIsRebuiltWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	stop()
	for i, point := range []string{"planned", "indexes", "building", "made", "before-1", "first", "after-2", "executed", "settled", "filled", "committed"} {
		stop := f.control(nil)
		name := fmt.Sprintf("k%d", i)
		f.keyless(name, 20)
		stop()
		stopFirst, crashed := f.dying(point)
		got := make(chan error, 1)
		go func() {
			_, err := f.ddl("ALTER TABLE " + name + " ADD PRIMARY KEY (a), ADD UNIQUE KEY email (email)")
			got <- err
		}()
		<-crashed
		stopFirst()
		stopSecond := f.control(nil)
		require.NoError(t, <-got, "killed at %s", point)
		f.placed(name, 20)
		c := f.check(name)
		require.Zero(t, c.Missing+c.Wrong+c.Stale, point)
		require.EqualValues(t, 20, c.Entries)
		f.must("DROP TABLE " + name)
		f.must("CREATE TABLE IF NOT EXISTS last (id INT PRIMARY KEY)") // sweeps
		f.clean()
		stopSecond()
	}
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
	f.refused("ALTER TABLE k ADD PRIMARY KEY (a)", sqlerr.NotSupportedYet, "triggers")
	f.must("DROP TRIGGER tg")
	f.must("ALTER TABLE k ADD PRIMARY KEY (a)")
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
	<-crashed
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
