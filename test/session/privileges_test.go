package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

func TestPrivileges(t *testing.T) {
	owner := connect(t)
	owner.exec("CREATE PROCEDURE writes() SQL SECURITY INVOKER BEGIN DELETE FROM t; END")
	owner.exec("CREATE PROCEDURE peeks() SQL SECURITY INVOKER BEGIN DECLARE n INT DEFAULT (SELECT COUNT(*) FROM secret.s); SELECT n; END")
	admin := adminv1.NewAdminClient(shared.Admin(t))
	_, err := admin.PutUser(t.Context(), &adminv1.PutUserRequest{
		Name: "reader", Mode: adminv1.PutUserRequest_MODE_ADD,
		Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
		Grants: map[string]string{"d": "read"},
	})
	require.NoError(t, err)
	dsn := "reader:pw@tcp(" + shared.Addr() + ")/d"
	var c *client
	require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
	c = connectTo(t, dsn)
	require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
	require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE"))
	const forUpdate = "SELECT v FROM t WHERE id IN (SELECT id FROM u WHERE id = 1 FOR UPDATE)"
	if cluster.TestEngine() == datanode.MariaDB {
		c.exec(forUpdate)
	} else {
		c.fails(1142, forUpdate)
	}
	for _, denied := range []string{
		"UPDATE t SET v = 'x' WHERE id = 1",
		"INSERT INTO t VALUES (1, 'x')",
		"DELETE FROM t",
		"CREATE TABLE x (id INT PRIMARY KEY)",
		"DROP TABLE t",
		"TRUNCATE TABLE t",
		"LOCK TABLES t WRITE",
		"LOCK TABLES t READ",
		"ANALYZE TABLE t",
		"FLUSH TABLES",
		"SELECT * FROM secret.s",
		"SELECT COUNT(*) FROM t WHERE id IN (SELECT id FROM secret.s)",
		"UPDATE t, secret.s SET t.v = 'x' WHERE t.id = s.id",
		"INSERT INTO t SELECT id, 'x' FROM secret.s",
		"SELECT * FROM t UNION SELECT id, 'x' FROM secret.s",
		"WITH q AS (SELECT id FROM secret.s) SELECT * FROM q",
		"SHOW CREATE TABLE secret.s",
		"SHOW COLUMNS FROM secret.s",
		"SHOW INDEX FROM secret.s",
		"SHOW TABLES FROM secret",
		"SHOW TABLE STATUS FROM secret",
		"SHOW CREATE DATABASE secret",
		"DESCRIBE secret.s",
		"EXPLAIN SELECT * FROM secret.s",
		"USE secret",
		"SELECT * FROM mysql.user",
		"SELECT * FROM performance_schema.threads",
		"SELECT information_schema.processlist.id FROM information_schema.processlist",
		"SELECT information_schema.tables.table_name FROM information_schema.tables WHERE table_schema = 'secret'",
		"SELECT * FROM skarv.node_groups",
		"SELECT * FROM skarv.processlist",
		"SHOW TABLES FROM skarv",
		"DESCRIBE skarv.processlist",
		"SHOW TABLE STATUS FROM skarv",
		"SET @a = (SELECT COUNT(*) FROM secret.s)",
		"DO (SELECT COUNT(*) FROM secret.s)",
		"CREATE VIEW v AS SELECT * FROM secret.s",
		"CREATE PROCEDURE p() SELECT 1",
		"CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
		"CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 'x'",
		"SHOW CREATE PROCEDURE secret.p",
		"CALL secret.p()",
		"CALL writes()",
		"CALL peeks()",
	} {
		_, err := c.try(denied)
		require.Error(t, err, denied)
		if !allowedRefusal(err.Error()) {
			t.Errorf("%s: %v", denied, err)
		}
		st, err := c.PrepareContext(t.Context(), denied)
		if err == nil {
			_, err = st.Exec()
			st.Close()
		}
		require.Error(t, err, "prepared: "+denied)
	}
	require.NotContains(t, c.get("SHOW DATABASES"), "secret")
	root := connect(t)
	id := root.get("SELECT CONNECTION_ID()")
	c.fails(1095, "KILL "+id)
	require.NotContains(t, c.get("SHOW PROCESSLIST"), "root")
	grants := c.get("SHOW GRANTS")
	require.Contains(t, grants, "GRANT SELECT, EXECUTE, SHOW VIEW ON `d`.* TO `reader`@`%`")
	for _, who := range []string{"CURRENT_USER", "CURRENT_USER()", "reader", "'reader'@'%'", "`reader` @ '%'"} {
		require.Equal(t, grants, c.get("SHOW GRANTS FOR "+who))
		if who[0] != 'C' {
			require.Equal(t, grants, root.get("SHOW GRANTS FOR "+who))
		}
	}
	c.fails(map[datanode.Engine]int{datanode.MariaDB: 1044, datanode.MySQL: 1142}[cluster.TestEngine()], "SHOW GRANTS FOR root")
	root.fails(1141, "SHOW GRANTS FOR nobody")
	root.fails(1141, "SHOW GRANTS FOR reader@localhost")
	require.Equal(t, "1", root.get("SELECT 1"))
	for _, table := range []string{"tables", "columns", "statistics", "key_column_usage", "table_constraints", "partitions"} {
		require.Equal(t, "0", c.get("SELECT COUNT(*) FROM information_schema."+table+" WHERE table_schema = 'secret'"), table)
		require.NotEqual(t, "0", c.get("SELECT COUNT(*) FROM information_schema."+table+" WHERE table_schema = 'd'"), table)
	}
	require.Equal(t, "0", c.get("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = 'secret'"))
}

// allowedRefusal: access denied to a database, a table, a procedure, or what is for all of them, or a statement nobody may run.
func allowedRefusal(text string) bool {
	code, _, _ := strings.Cut(text, " (")
	return slices.Contains([]string{"Error 1044", "Error 1142", "Error 1227", "Error 1370", "Error 1235"}, code)
}

// Who may do what is in the cluster's state: the tables of the servers that show it, show the cluster's accounts and no others.
func TestTablesOfAccounts(t *testing.T) {
	root := connect(t)
	admin := adminv1.NewAdminClient(shared.Admin(t))
	hash := wire.HashNative("pw")
	_, err := admin.PutUser(t.Context(), &adminv1.PutUserRequest{
		Name: "seen", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: hash,
		Grants: map[string]string{"d": "write", "secret": "admin"},
	})
	require.NoError(t, err)
	dsn := "seen:pw@tcp(" + shared.Addr() + ")/d"
	require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
	require.NotContains(t, root.get("SELECT GROUP_CONCAT(User) FROM mysql.user"), "skarv", "the servers' own accounts")
	require.Equal(t, "root", root.get("SELECT User FROM mysql.user WHERE Super_priv = 'Y' AND Grant_priv = 'Y' AND User <> 'chief'"))
	require.Equal(t, "seen", root.get("SELECT u.User FROM mysql.user AS u WHERE u.Host = '%' AND u.plugin = 'mysql_native_password' AND u.authentication_string = ? AND Select_priv = 'N' AND User = 'seen'", hash))
	require.Equal(t, "d", root.get("SELECT Db FROM mysql.db WHERE User = 'seen' AND Insert_priv = 'Y' AND Create_priv = 'N'"))
	require.Equal(t, "secret", root.get("SELECT Db FROM mysql.db WHERE User = 'seen' AND Create_priv = 'Y' AND Grant_priv = 'N'"))
	require.Equal(t, "0", root.get("SELECT COUNT(*) FROM mysql.tables_priv"))
	require.Equal(t, "USAGE", root.get("SELECT GROUP_CONCAT(privilege_type) FROM information_schema.user_privileges WHERE grantee = '\\'seen\\'@\\'%\\''"))
	require.Equal(t, "1", root.get("SELECT COUNT(*) FROM information_schema.user_privileges WHERE grantee LIKE '%root%' AND privilege_type = 'SHUTDOWN'"))
	require.Equal(t, "CREATE TEMPORARY TABLES,DELETE,EXECUTE,INSERT,LOCK TABLES,SELECT,SHOW VIEW,UPDATE",
		root.get("SELECT GROUP_CONCAT(privilege_type ORDER BY 1) FROM information_schema.schema_privileges WHERE grantee LIKE '%seen%' AND table_schema = 'd'"))
	require.Equal(t, "0", root.get("SELECT COUNT(*) FROM information_schema.table_privileges"))
	if cluster.TestEngine() == datanode.MariaDB {
		require.Equal(t, hash, root.get("SELECT JSON_VALUE(Priv, '$.authentication_string') FROM mysql.global_priv WHERE User = 'seen'"))
	}
	root.exec("CREATE DATABASE IF NOT EXISTS peeping")
	root.exec("CREATE VIEW peeping.v AS SELECT User FROM mysql.user")
	root.fails(1235, "SELECT * FROM peeping.v")
	root.fails(1235, "SELECT mysql.user.User FROM mysql.user")

	c := connectTo(t, dsn)
	_, err = c.try("SELECT * FROM mysql.user")
	require.ErrorContains(t, err, "1142")
	require.Equal(t, "1", c.get("SELECT COUNT(DISTINCT grantee) FROM information_schema.user_privileges"), "itself")
	require.Equal(t, "0", c.get("SELECT COUNT(*) FROM information_schema.schema_privileges WHERE grantee NOT LIKE '%seen%'"))
	require.NotEqual(t, "0", c.get("SELECT COUNT(*) FROM information_schema.schema_privileges"))
}
