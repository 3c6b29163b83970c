package session

import (
	"strconv"
	"strings"
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

// A row that cannot be copied because a server takes no packet as long as its INSERT costs no connection.
func TestCopyLongerThanPacket(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE huge (id INT PRIMARY KEY, b LONGBLOB)")
	defer c.exec("DROP TABLE huge")
	c.exec("INSERT INTO huge VALUES (?, ?)", 1, strings.Repeat("x", 33<<20))
	c.exec("INSERT INTO huge VALUES (2, 'y')")
	c.exec("BEGIN")
	c.exec("INSERT INTO huge VALUES (3, 'z')")
	c.fails(1235, "SELECT GROUP_CONCAT(CRC32(b) ORDER BY id) FROM huge")
	require.Equal(t, "3", c.get("SELECT COUNT(*) FROM huge"))
	c.exec("ROLLBACK")
	require.Equal(t, "2", c.get("SELECT COUNT(*) FROM huge"))
}
