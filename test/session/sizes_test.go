package session

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizesOfAllGroups(t *testing.T) {
	c := connect(t)
	c.get("ANALYZE TABLE t")
	sum, one := 0, 0
	for g := 1; g <= 4; g++ {
		require.NoError(t, shared.NodeGroupDB(t, g, "d").QueryRow(
			"SELECT data_length FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't'").Scan(&one))
		sum += one
	}
	for _, q := range []string{
		"SELECT data_length FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't'",
		"SELECT x.DATA_LENGTH FROM information_schema.TABLES x WHERE x.TABLE_SCHEMA = DATABASE() AND x.TABLE_NAME = 't'",
		"SELECT SUM(data_length) FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't' GROUP BY table_schema",
	} {
		require.Equal(t, strconv.Itoa(sum), c.get(q), q)
	}
	rows, err := c.QueryContext(t.Context(), "SELECT * FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 't'")
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	require.Equal(t, "TABLE_CATALOG", columns[0])
	require.True(t, rows.Next())
}
