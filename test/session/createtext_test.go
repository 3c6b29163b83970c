package session

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
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

// SHOW CREATE TABLE says where the rows of a sharded table live in a way that makes such a table: with partitions of the servers in its comment, and in
// a database of single tables always.
func TestCreateTextTellsKey(t *testing.T) {
	db := connect(t)
	defer db.exec("DROP DATABASE IF EXISTS kinds")
	for _, of := range []string{"", " COMMENT 'skarv:single'"} {
		db.exec("CREATE DATABASE kinds" + of)
		db.exec("USE kinds")
		for _, partitions := range []string{"", " PARTITION BY HASH (id) PARTITIONS 2"} {
			for _, key := range []string{"", "id", "id,k"} {
				db.exec("CREATE TABLE t (id INT, k INT, PRIMARY KEY (id, k)) COMMENT 'it''s mine'" + partitions)
				db.exec("ALTER TABLE t COMMENT 'its' PARTITION BY KEY (" + key + ")")
				var text string
				require.NoError(t, db.QueryRowContext(t.Context(), "SHOW CREATE TABLE t").Scan(new(string), &text))
				lives := "SELECT CONCAT(kind, ' ', distribution_key) FROM skarv.tables WHERE table_schema = 'kinds'"
				want := db.get(lives)
				require.Equal(t, "sharded "+cmp.Or(key, "id,k"), want)
				db.exec("DROP TABLE t")
				db.exec(text)
				require.Equal(t, want, db.get(lives), text)
				db.exec("DROP TABLE t")
			}
		}
		db.exec("DROP DATABASE kinds")
	}
}

// Tables of a database whose comment says skarv:single lie on one node group, whatever they are like, and so do those of its dump. To MySQL, whose
// databases have no comments, it is ours.
func TestSingleDatabase(t *testing.T) {
	c := connect(t)
	defer c.exec("DROP DATABASE IF EXISTS together")
	for _, comment := range []string{"COMMENT 'the skarv:single one'", "COMMENT = 'skarv:single' CHARACTER SET utf8mb4"} {
		c.exec("CREATE DATABASE together " + comment)
		c.exec("CREATE TABLE together.a (id INT PRIMARY KEY, at TIMESTAMP NOT NULL, UNIQUE (at))")
		c.exec("CREATE TABLE together.b (n FLOAT)")
		require.Equal(t, "single,single", c.get("SELECT GROUP_CONCAT(kind) FROM skarv.tables WHERE table_schema = 'together'"))
		text := c.get("SHOW CREATE TABLE together.b")
		if cluster.TestEngine() == datanode.MariaDB {
			require.Contains(t, c.get("SHOW CREATE DATABASE together"), "skarv:single")
			require.NotContains(t, text, "skarv:single")
		} else {
			require.Contains(t, text, "COMMENT='skarv:single'")
		}
		c.exec("DROP DATABASE together")
	}
	_, err := c.try("CREATE DATABASE together COMMENT")
	require.ErrorContains(t, err, "Error 1064")
	_, err = c.try("CREATE DATABASE together COMMENT 'skarv:single' COLLATE nothing")
	require.ErrorContains(t, err, "Error 1273")
}
