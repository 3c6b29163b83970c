package migration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
)

// TestSameKey: which foreign key of a table is still the same after a statement.
func TestSameKey(t *testing.T) {
	table := func() *catalog.Table {
		return &catalog.Table{Database: "d", Name: "x", Columns: []catalog.Column{{Name: "a"}, {Name: "b"}}, ForeignKeys: []catalog.ForeignKey{
			{Name: "f", Columns: []int{0}, RefDB: "d", RefTable: "p", RefColumns: []string{"id"}, OnDelete: "CASCADE"},
			{Name: "self", Columns: []int{1}, RefDB: "d", RefTable: "x", RefColumns: []string{"a"}},
		}}
	}
	for name, x := range map[string]struct {
		sql    string
		change func(*catalog.Table)
		same   [2]bool
	}{
		"nothing":                      {"ALTER TABLE x ADD c INT", func(*catalog.Table) {}, [2]bool{true, true}},
		"another parent":               {"ALTER TABLE x ADD c INT", func(t *catalog.Table) { t.ForeignKeys[0].RefTable = "q" }, [2]bool{false, true}},
		"another action":               {"ALTER TABLE x ADD c INT", func(t *catalog.Table) { t.ForeignKeys[0].OnDelete = "" }, [2]bool{false, true}},
		"another column":               {"ALTER TABLE x ADD c INT", func(t *catalog.Table) { t.ForeignKeys[0].Columns = []int{1} }, [2]bool{false, true}},
		"another column of the parent": {"ALTER TABLE x ADD c INT", func(t *catalog.Table) { t.ForeignKeys[0].RefColumns = []string{"other"} }, [2]bool{false, true}},
		"another name of the column": {"ALTER TABLE x CHANGE A z INT", func(t *catalog.Table) {
			t.Columns[0].Name, t.ForeignKeys[1].RefColumns = "z", []string{"z"}
		}, [2]bool{true, true}},
		"another name of the table": {"ALTER TABLE x RENAME TO y", func(t *catalog.Table) { t.Name, t.ForeignKeys[1].RefTable = "y", "y" }, [2]bool{true, true}},
		"other places of columns": {"ALTER TABLE x MODIFY b INT FIRST", func(t *catalog.Table) {
			t.Columns[0], t.Columns[1] = t.Columns[1], t.Columns[0]
			t.ForeignKeys[0].Columns, t.ForeignKeys[1].Columns = []int{1}, []int{0}
		}, [2]bool{true, true}},
	} {
		st, err := ddl.Parse(x.sql, "d", "", catalog.MariaDB, "")
		require.NoError(t, err)
		p, before, after := &Planner{Statement: st}, table(), table()
		x.change(after)
		for i := range x.same {
			require.Equal(t, x.same[i], p.sameKey(before, &before.ForeignKeys[i], after, &after.ForeignKeys[i]), "%s: %d", name, i)
		}
	}
}

// TestKeysOfOneName: a key that a statement adds is not the one by the same name that it drops, which stays while it runs.
func TestKeysOfOneName(t *testing.T) {
	was := catalog.ForeignKey{Name: "f", Columns: []int{1}, RefDB: "d", RefTable: "p", RefColumns: []string{"id"}}
	x := &catalog.Table{Database: "d", Name: "x", Columns: []catalog.Column{{Name: "a"}, {Name: "b"}}, ForeignKeys: []catalog.ForeignKey{was}}
	is := was
	is.RefTable = "q"
	w := &Work{Build: &ddl.Object{DB: "d", Name: "x"}, Keys: []NewKey{{ForeignKey: is, Names: []string{"b"}}}}
	for range 2 {
		w.AddKeys(x)
		require.Equal(t, []catalog.ForeignKey{was, is}, x.ForeignKeys)
	}
	require.Equal(t, []ddl.Object{{DB: "d", Name: "q"}}, w.Parents())
	w.RemoveKeys(x)
	require.Equal(t, []catalog.ForeignKey{was}, x.ForeignKeys)
}
