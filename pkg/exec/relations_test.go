package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Keys of several columns are told apart whatever bytes they have.
func TestRowIDs(t *testing.T) {
	keys := [][][]byte{
		{[]byte("a\x00b"), []byte("c")}, {[]byte("a"), []byte("b\x00c")}, {[]byte("a"), []byte("b"), []byte("c")},
		{[]byte("\x01a"), nil}, {nil, []byte("\x01a")}, {}, {nil}, {nil, nil},
		{[]byte(strings.Repeat("x", 200)), []byte("y")}, {[]byte(strings.Repeat("x", 201)), []byte("")},
	}
	ids := map[string]int{}
	for i, k := range keys {
		other, there := ids[rowID(k)]
		require.False(t, there, "%q and %q", k, keys[other])
		ids[rowID(k)] = i
	}
}

// family is a world with parents, and children that refer to them: on which groups they are does not matter.
func family(t *testing.T) (w *rowWriter, world *world, child *catalog.Table) {
	world = newWorld(t)
	world.t.Primary = []int{0}
	child = &catalog.Table{
		Database: "d", Name: "child", Kind: catalog.Sharded, Distribution: []int{0}, Primary: []int{0}, AutoIncrement: -1,
		Columns: []catalog.Column{{Name: "id", DataType: "bigint", ColumnType: "bigint(20)"}, {Name: "t_id", DataType: "bigint", ColumnType: "bigint(20)", Nullable: true}},
		ForeignKeys: []catalog.ForeignKey{
			{Name: "fk", Columns: []int{1}, RefDB: "d", RefTable: "t", RefColumns: []string{"id"}, OnUpdate: "CASCADE"},
			{Name: "fk2", Columns: []int{1}, RefDB: "d", RefTable: "t", RefColumns: []string{"id"}},
		},
	}
	require.NoError(t, child.Prepare(catalog.MariaDB))
	world.snap.Databases = map[string]*catalog.Database{"d": {Name: "d", Tables: map[string]*catalog.Table{"t": world.t, "child": child}}}
	return &rowWriter{Runner: world.runner, snap: world.snap}, world, child
}

// parentLocks counts the parents that were looked for.
func parentLocks(w *world) (n int) {
	for _, l := range w.log {
		if strings.Contains(l, "FROM `d`.`t`") && strings.HasSuffix(l, "LOCK IN SHARE MODE") {
			n++
		}
	}
	return n
}

func TestParentsOfRows(t *testing.T) {
	row := func(id, parent string) image { return image{0: []byte(id), 1: []byte(parent)} }
	there, gone := answer{columns: idAndString[:1], rows: []string{"1"}}, answer{columns: idAndString[:1]}
	for _, test := range []struct {
		name  string
		row   referring
		says  answer
		locks int
		fails bool
	}{
		{"a new row", referring{image: row("1", "5")}, there, 2, false},
		{"without parent", referring{image: row("1", "5")}, gone, 1, true},
		{"with NULL", referring{image: image{0: []byte("1"), 1: nil}}, gone, 0, false},
		{"the same parent as before", referring{image: row("1", "5"), before: row("1", "5")}, gone, 0, false},
		{"another one", referring{image: row("1", "5"), before: row("1", "4")}, there, 2, false},
		{"moved, which locks it", referring{image: row("2", "5"), before: row("1", "5"), moved: true}, there, 2, false},
		{"moved, though it never had one", referring{image: row("2", "5"), before: row("1", "5"), moved: true}, gone, 2, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, world, child := family(t)
			world.answer = func(placement.NodeGroupID, string) answer { return test.says }
			test.row.table = child
			err := w.checkParents(test.row, nil)
			require.Equal(t, test.fails, sqlerr.HasCode(err, sqlerr.NoReferencedRow), "%v", err)
			require.Equal(t, test.locks, parentLocks(world))
		})
	}
	t.Run("of a cascade: all keys but its own", func(t *testing.T) {
		w, world, child := family(t)
		world.answer = func(placement.NodeGroupID, string) answer { return gone }
		err := w.checkParents(referring{table: child, image: row("1", "5"), before: row("1", "4"), cause: &child.ForeignKeys[0]}, nil)
		require.ErrorContains(t, err, "fk2")
		require.Equal(t, 1, parentLocks(world))
	})
}

// A parent that may lie anywhere is looked for twice: it may have moved behind the first look's back.
func TestParentLookedForAgain(t *testing.T) {
	w, world, child := family(t)
	child.ForeignKeys = child.ForeignKeys[:1]
	child.ForeignKeys[0].RefColumns = []string{"v"}
	world.t.Columns[1] = catalog.Column{Name: "v", DataType: "bigint", ColumnType: "bigint(20)"}
	asked := map[placement.NodeGroupID]int{}
	world.answer = func(g placement.NodeGroupID, _ string) answer {
		asked[g]++
		a := answer{columns: idAndString[:1]}
		if g == 1 && asked[g] == 2 {
			a.rows = []string{"1"}
		}
		return a
	}
	require.NoError(t, w.checkParents(referring{table: child, image: image{0: []byte("1"), 1: []byte("5")}}, nil))
	require.Equal(t, map[placement.NodeGroupID]int{1: 2, 2: 1, 3: 1}, asked)
}

// A row that a cascade cannot change ends the statement.
func TestAssignFindsItsRow(t *testing.T) {
	w, world, child := family(t)
	child.ForeignKeys = child.ForeignKeys[:1]
	matched := "0"
	world.answer = func(_ placement.NodeGroupID, sql string) answer {
		return answer{ok: wire.OK{Info: []byte("Rows matched: " + matched + "  Changed: 0  Warnings: 0")}}
	}
	parents, _, _ := w.snap.Relations(child)
	row := found{1, [][]byte{[]byte("1")}, image{0: []byte("1"), 1: []byte("4")}}
	err := w.assign(&parents[0], row, image{1: []byte("5")}, 1)
	require.True(t, sqlerr.HasCode(err, sqlerr.Internal), "%v", err)
	matched = "1"
	require.NoError(t, w.assign(&parents[0], row, image{1: []byte("5")}, 1))
}
