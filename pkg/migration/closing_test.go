package migration

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// TestReplans: which changes of a table may a statement meet that was planned before.
func TestReplans(t *testing.T) {
	table := func() *catalog.Table {
		return &catalog.Table{Kind: catalog.Sharded, AutoIncrement: 0, Primary: []int{0}, Distribution: []int{0},
			Unique:  []catalog.Index{{Name: "u", Columns: []int{1}, Unique: true}},
			Columns: []catalog.Column{{Name: "id", ColumnType: "int"}, {Name: "u", ColumnType: "int"}, {Name: "n", ColumnType: "int"}}}
	}
	for name, x := range map[string]struct {
		change func(*catalog.Table)
		replan bool
	}{
		"nothing":                   {func(*catalog.Table) {}, false},
		"a column at the end":       {func(t *catalog.Table) { t.Columns = append(t.Columns, catalog.Column{Name: "new"}) }, false},
		"a column in the middle":    {func(t *catalog.Table) { t.Columns = slices.Insert(t.Columns, 2, catalog.Column{Name: "new"}) }, true},
		"a column less":             {func(t *catalog.Table) { t.Columns = t.Columns[:2] }, true},
		"another name":              {func(t *catalog.Table) { t.Columns[2].Name = "m" }, true},
		"another type":              {func(t *catalog.Table) { t.Columns[2].ColumnType = "bigint" }, false},
		"another type of the key":   {func(t *catalog.Table) { t.Columns[0].ColumnType = "bigint" }, true},
		"a default of a unique key": {func(t *catalog.Table) { t.Columns[1].HasDefault, t.Columns[1].Default = true, "7" }, true},
		"no AUTO_INCREMENT":         {func(t *catalog.Table) { t.AutoIncrement = -1 }, true},
		"a unique key more":         {func(t *catalog.Table) { t.Unique = append(t.Unique, catalog.Index{Name: "v", Columns: []int{2}}) }, false},
		"a unique key less":         {func(t *catalog.Table) { t.Unique = nil }, true},
		"another name of the key":   {func(t *catalog.Table) { t.Unique[0].Name = "w" }, false},
		"another primary key":       {func(t *catalog.Table) { t.Primary = []int{0, 1} }, true},
		"other places":              {func(t *catalog.Table) { t.Distribution = []int{1} }, true},
		"a reference table":         {func(t *catalog.Table) { t.Kind = catalog.Reference }, true},
	} {
		after := table()
		x.change(after)
		require.Equal(t, x.replan, replans(table(), after), name)
	}
	single, after := table(), table()
	single.Kind, after.Kind, after.Columns = catalog.Single, catalog.Single, nil
	require.False(t, replans(single, after), "its server knows")
}
