package processlist

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
)

func TestShown(t *testing.T) {
	long := "SELECT '" + strings.Repeat("x", 200) + "'"
	list := []Process{{ID: 1, User: "ann", Host: "h:1", DB: "app", Command: "Query", Since: time.Now().Add(-90 * time.Second), SQL: long}, {ID: 2, User: "bob", Command: "Sleep", Since: time.Now()}}
	for _, mariadb := range []bool{true, false} {
		short, full := Show(list, false, mariadb), Show(list, true, mariadb)
		for _, row := range append(short.Rows, full.Rows...) {
			require.Len(t, row, len(short.Columns))
		}
		require.Equal(t, []any{uint32(1), "ann", "h:1", "app", "Query", 90, "", long[:100]}, short.Rows[0][:8])
		require.Equal(t, long, full.Rows[0][7])
		require.Nil(t, full.Rows[1][7])
		require.Nil(t, full.Rows[1][3])
		require.Equal(t, sqltypes.TypeLongBlob, full.Columns[7].Type)
		require.Equal(t, mariadb, len(short.Columns) == 9)
		table := Table(list, mariadb)
		require.Len(t, table.Rows[0], len(table.Columns))
		require.Equal(t, mariadb, len(table.Columns) > 8)
	}
	require.Equal(t, long, list[0].SQL, "the caller's")
}
