package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The database skarv tells of its tables by SHOW and DESCRIBE; those of the servers' are not taken for its.
func TestShowOfVirtualDatabase(t *testing.T) {
	c := connect(t)
	tables := c.get("SHOW TABLES FROM skarv")
	require.Contains(t, tables, "node_groups")
	require.Contains(t, tables, "transactions")
	require.Equal(t, "node_groups,SYSTEM VIEW", c.get("SHOW FULL TABLES IN skarv LIKE 'node%'"))
	require.Equal(t, "events", c.get("SHOW TABLES FROM skarv WHERE Tables_in_skarv < 'f'"))
	columns := c.get("DESCRIBE skarv.node_groups")
	require.Contains(t, columns, "id,bigint,YES,")
	require.Contains(t, columns, "primary_addr,text,YES,")
	require.Contains(t, c.get("SHOW FULL COLUMNS FROM skarv.partitions LIKE 'epoch'"), "epoch,bigint,")
	for _, q := range []string{"SHOW TABLE STATUS FROM skarv", "SHOW INDEX FROM skarv.tables", "SHOW CREATE TABLE skarv.tables", "SHOW TRIGGERS FROM skarv", "SHOW EVENTS FROM skarv"} {
		_, err := c.try(q)
		require.ErrorContains(t, err, "use SHOW TABLES, SHOW COLUMNS and SELECT", q)
	}
	_, err := c.try("DESCRIBE skarv.nothing")
	require.ErrorContains(t, err, "1146")
}

// Parameters of prepared statements about the cluster are filled in, in front of its tables and behind them.
func TestPreparedOverTheCluster(t *testing.T) {
	c := connect(t)
	require.Equal(t, "7,ng2", c.get("SELECT ?, name FROM skarv.node_groups WHERE id = ? OR name = ?", 7, 2, "no'body"))
	require.Equal(t, "2", c.get("SELECT COUNT(*) FROM skarv.node_groups a JOIN skarv.node_groups b ON a.id = b.id AND a.id < ? WHERE b.id <= ?", 3, 4))
}

// skarv.schema_changes tells of those that have ended how they did, and of one that waits that it does.
func TestSchemaChangesTable(t *testing.T) {
	c, other := connect(t), connect(t)
	c.exec("CREATE TABLE changed_by (id INT PRIMARY KEY, v INT)")
	t.Cleanup(func() { c.exec("DROP TABLE changed_by") })
	c.exec("INSERT INTO changed_by VALUES (1, 1), (2, 1)")
	_, err := c.try("ALTER TABLE changed_by ADD UNIQUE KEY once (v)")
	require.ErrorContains(t, err, "1062")
	require.Regexp(t, "^failed,root,d,ERROR 1062 .*Duplicate entry '1'", c.get("SELECT state, user, db, error FROM skarv.schema_changes WHERE statement LIKE 'ALTER TABLE changed_by ADD UNIQUE%'"))
	require.Equal(t, "done,", c.get("SELECT state, error FROM skarv.schema_changes WHERE statement LIKE 'CREATE TABLE changed_by%'"))
	other.exec("BEGIN")
	other.exec("UPDATE changed_by SET v = 2")
	ended := make(chan error, 1)
	go func() { _, err := c.try("ALTER TABLE changed_by ADD w INT"); ended <- err }()
	look := connect(t)
	require.Eventually(t, func() bool {
		return look.get("SELECT state FROM skarv.schema_changes WHERE statement = 'ALTER TABLE changed_by ADD w INT'") == "running"
	}, patience, tick)
	other.exec("COMMIT")
	require.NoError(t, <-ended)
}
