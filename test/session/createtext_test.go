package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// SHOW CREATE TABLE says of a reference or single table that it is one, although its own comment does not, and what it says makes such a table.
func TestCreateTextTellsKind(t *testing.T) {
	db := connect(t)
	db.exec("CREATE DATABASE kinds")
	defer db.exec("DROP DATABASE kinds")
	text := func(table string) (text string) {
		require.NoError(t, db.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+table).Scan(new(string), &text))
		return text
	}
	db.exec("USE kinds")
	for _, kind := range []string{"reference", "single"} {
		for _, partitions := range []string{"", " PARTITION BY HASH (id) PARTITIONS 2"} {
			db.exec("CREATE TABLE t (id INT PRIMARY KEY) COMMENT 'skarv:" + kind + "'" + partitions)
			marked := text("t")
			require.Contains(t, marked, " COMMENT='skarv:"+kind+"'")
			db.exec("ALTER TABLE t COMMENT 'of ''all'''")
			require.Contains(t, text("t"), " COMMENT='skarv:"+kind+" of ''all'''")
			db.exec("ALTER TABLE t COMMENT ''")
			require.Equal(t, marked, text("t"))
			db.exec("DROP TABLE t")
			db.exec(marked)
			db.exec("ALTER TABLE t COMMENT ''")
			require.Equal(t, marked, text("t"))
			db.exec("DROP TABLE t")
		}
	}
}
