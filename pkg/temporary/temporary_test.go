package temporary

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

func snapshot() *catalog.Snapshot {
	return &catalog.Snapshot{Databases: map[string]*catalog.Database{
		"app":   {Tables: map[string]*catalog.Table{"t": {Database: "app", Name: "t"}, "u": {Database: "app", Name: "u"}}},
		"empty": {},
	}}
}

func TestATemporaryTableHidesAnother(t *testing.T) {
	base := snapshot()
	var tables Tables
	require.True(t, tables.Empty())
	tables.Put(&catalog.Table{Database: "app", Name: "t", Temporary: "()"})
	tables.Put(&catalog.Table{Database: "empty", Name: "x", Temporary: "()"})
	shown := tables.Over(base)
	require.Equal(t, "()", shown.Table("app", "t").Temporary)
	require.NotNil(t, shown.Table("empty", "x"))
	require.Same(t, base.Table("app", "u"), shown.Table("app", "u"))
	require.Empty(t, base.Table("app", "t").Temporary, "others see what they saw")
	require.Nil(t, base.Table("empty", "x"))
	require.True(t, tables.In("app"))
	require.False(t, tables.In("other"))
}

// Plans are kept by snapshot: there is a new one when something has changed, and only then.
func TestASnapshotIsTheSameUntilSomethingChanges(t *testing.T) {
	base := snapshot()
	var tables Tables
	tables.Put(&catalog.Table{Database: "app", Name: "t", Temporary: "()"})
	first := tables.Over(base)
	require.Same(t, first, tables.Over(base))
	require.NotSame(t, first, tables.Over(snapshot()), "the cluster's schema")
	first = tables.Over(base)
	tables.Drop("app", "t")
	require.True(t, tables.Empty())
	after := tables.Over(base)
	require.NotSame(t, first, after)
	require.Empty(t, after.Table("app", "t").Temporary)
	require.Equal(t, "()", first.Table("app", "t").Temporary, "a snapshot never changes")
}

// A table in a database that has been dropped since is there, but nobody can name it.
func TestADatabaseThatIsGone(t *testing.T) {
	var tables Tables
	tables.Put(&catalog.Table{Database: "gone", Name: "t", Temporary: "()"})
	require.Nil(t, tables.Over(snapshot()).Table("gone", "t"))
	require.False(t, tables.Empty())
}

// shows is a server by what its statements show.
type shows map[string][][][]byte

func (s shows) QueryAll(sql string, _ int) ([]sqltypes.Column, [][][]byte, error) {
	for begin, rows := range s {
		if strings.HasPrefix(sql, begin) {
			return nil, rows, nil
		}
	}
	return nil, nil, nil
}

func row(values ...any) (r [][]byte) {
	for _, v := range values {
		if text, ok := v.(string); ok {
			r = append(r, []byte(text))
		} else {
			r = append(r, nil)
		}
	}
	return r
}

func TestADefinition(t *testing.T) {
	server := shows{
		"SHOW CREATE TABLE `app`.`t`": {row("t", "CREATE TEMPORARY TABLE `t` (\n  `id` int) ENGINE=InnoDB AUTO_INCREMENT=7")},
		"SHOW FULL COLUMNS": {
			row("id", "int(10) unsigned", nil, "NO", "PRI", nil, "auto_increment"),
			row("price", "decimal(8,2)", nil, "YES", "", nil, ""),
			row("at", "datetime(3)", nil, "NO", "", "current_timestamp(3)", "on update current_timestamp(3)"),
			row("twice", "decimal(9,2)", nil, "YES", "", nil, "VIRTUAL GENERATED"),
			row("name", "varchar(20)", "utf8mb4_bin", "NO", "MUL", nil, "INVISIBLE"),
		},
		"SHOW INDEX": {
			row("t", "0", "PRIMARY", "1", "id", "A", "0", nil),
			row("t", "0", "u", "1", "price", "A", "0", nil),
			row("t", "0", "u", "2", "at", "A", "0", nil),
			row("t", "1", "n", "1", "name", "A", "0", "5"),
		},
	}
	table, err := Read(server, "app", "t")
	require.NoError(t, err)
	require.Equal(t, " (\n  `id` int) ENGINE=InnoDB", table.Temporary, "without the value that comes next")
	require.Equal(t, catalog.Single, table.Kind)
	require.Equal(t, 0, table.AutoIncrement)
	id, price, at, twice, name := table.Columns[0], table.Columns[1], table.Columns[2], table.Columns[3], table.Columns[4]
	require.True(t, id.Unsigned && !id.Nullable && !id.HasDefault)
	require.Equal(t, [2]int{8, 2}, [2]int{price.Precision, price.Scale})
	require.True(t, price.HasDefault, "NULL")
	require.Equal(t, 3, at.Scale)
	require.True(t, at.OnUpdate && at.HasDefault)
	require.True(t, twice.Generated)
	require.True(t, name.Invisible)
	require.Equal(t, "utf8mb4", name.Charset)
	require.Equal(t, []int{0}, table.Primary)
	require.Equal(t, []catalog.Index{{Name: "u", Unique: true, Columns: []int{1, 2}}}, table.Unique)
	require.Equal(t, []catalog.Index{{Name: "n", Columns: []int{4}, Partial: true}}, table.Indexes)
}

func TestAUniqueKeyStandsInForThePrimaryOne(t *testing.T) {
	server := shows{
		"SHOW CREATE TABLE": {row("t", "CREATE TEMPORARY TABLE t (a int)")}, // sql_quote_show_create is off
		"SHOW FULL COLUMNS": {row("a", "int", nil, "YES", "", nil, ""), row("b", "int", nil, "NO", "", nil, "")},
		"SHOW INDEX":        {row("t", "0", "x", "1", "a", "A", "0", nil), row("t", "0", "y", "1", "b", "A", "0", nil)},
	}
	table, err := Read(server, "app", "t")
	require.NoError(t, err)
	require.Equal(t, []int{1}, table.Primary, "of the other one a column may be NULL")
}

func TestAnOrdinaryTableIsNone(t *testing.T) {
	table, err := Read(shows{"SHOW CREATE TABLE": {row("t", "CREATE TABLE `t` (`a` int)")}}, "app", "t")
	require.NoError(t, err)
	require.Nil(t, table)
}
