package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

// TestOutside plays statements that lead out of the databases of an account: by the servers' functions and files, by their own
// databases, by queries where none are expected, by definitions, and by messages. The servers would run all of them, for they take
// Skarv for an administrator.
func TestOutside(t *testing.T) {
	root := connect(t)
	mariadb := strings.Contains(root.get("SELECT VERSION()"), "MariaDB")
	for _, q := range []string{
		"CREATE DATABASE mine", "CREATE TABLE mine.t (id INT PRIMARY KEY, v VARCHAR(99))", "INSERT INTO mine.t VALUES (1, 'a')",
		"CREATE TABLE mine.one (id INT PRIMARY KEY, v VARCHAR(99)) COMMENT 'skarv:single'", "INSERT INTO mine.one VALUES (1, 'a')",
		"CREATE DATABASE hidden", "CREATE TABLE hidden.h (s VARCHAR(99) PRIMARY KEY, CONSTRAINT topsecret_check CHECK (s <> 'topsecret_value'))",
		"INSERT INTO hidden.h VALUES ('topsecret')", "CREATE VIEW hidden.look AS SELECT s FROM hidden.h",
		"CREATE TABLE hidden.my (id INT PRIMARY KEY, s VARCHAR(40)) ENGINE=MyISAM COMMENT 'skarv:single'",
		"CREATE FUNCTION hidden.f() RETURNS INT DETERMINISTIC RETURN 42", "CREATE VIEW mine.over AS SELECT s FROM hidden.h",
		"CREATE VIEW mine.system AS SELECT table_name FROM information_schema.tables",
	} {
		_, err := root.try(q)
		if !strings.Contains(q, "mine.system") { // which may be refused
			require.NoError(t, err, q)
		}
	}
	defer root.exec("DROP DATABASE mine")
	defer root.exec("DROP DATABASE hidden")
	reader := account(t, "outside_reader", map[string]string{"mine": "read"})
	owner := account(t, "outside_owner", map[string]string{"mine": "admin"})

	expressions := []string{
		"LOAD_FILE('/etc/passwd')", "`load_file`('/etc/passwd')", "LOAD_FILE /* x */ ('/etc/passwd')", "CONCAT('x', LOAD_FILE('/etc/passwd'))",
		"EXTRACTVALUE(1, CONCAT(0x7e, LOAD_FILE('/etc/passwd')))", "MASTER_POS_WAIT('x', 1)", "hidden.f()",
		"(SELECT s FROM hidden.h LIMIT 1)", "EXTRACTVALUE(1, CONCAT(0x7e, (SELECT s FROM hidden.h LIMIT 1)))", "sys.version_patch()",
	}
	if mariadb {
		expressions = append(expressions, "MASTER_GTID_WAIT('0-1-1', 0)")
	} else {
		expressions = append(expressions, "(TABLE hidden.h LIMIT 1)", "EXISTS (TABLE hidden.h)", "(VALUES ROW('x') EXCEPT TABLE hidden.h)",
			"EXTRACTVALUE(1, CONCAT(0x7e, (TABLE hidden.h LIMIT 1)))")
	}
	var denied []string
	for _, e := range expressions {
		denied = append(denied, "SELECT "+e, "SET @x = "+e, "SET @a = 1, @x = "+e, "DO "+e, "SELECT id FROM t WHERE v = "+e, "SELECT id FROM one WHERE v = "+e,
			"SELECT "+e+" EXCEPT SELECT 1", "SHOW VARIABLES WHERE Value = "+e, "SHOW DATABASES WHERE "+e, "SHOW TABLES WHERE "+e,
			"SHOW COLUMNS FROM t WHERE "+e, "SHOW INDEX FROM t WHERE "+e, "SHOW TABLE STATUS WHERE "+e, "SHOW COLLATION WHERE "+e)
		if mariadb {
			denied = append(denied, "SET STATEMENT max_statement_time = "+e+" FOR SELECT 1")
		}
	}
	systems := map[string]string{"mysql.user": "User", "performance_schema.threads": "thread_id", "sys.version": "sys_version"}
	for table, column := range systems {
		denied = append(denied,
			fmt.Sprintf("SELECT %s FROM %s", column, table),
			fmt.Sprintf("SELECT %s FROM %s EXCEPT SELECT 1", column, table),
			fmt.Sprintf("SELECT 1 INTERSECT SELECT %s FROM %s", column, table),
			fmt.Sprintf("(SELECT %s FROM %s) EXCEPT (SELECT 1)", column, table),
			fmt.Sprintf("WITH q AS (SELECT %s FROM %s EXCEPT SELECT 1) SELECT * FROM q", column, table),
			fmt.Sprintf("SELECT no_such_column FROM %s WHERE LOAD_FILE('x')", table),
			fmt.Sprintf("SELECT no_such_column FROM %s EXCEPT SELECT 1", table),
		)
	}
	denied = append(denied, "SELECT 1 FROM information_schema.innodb_metrics", "SELECT 1 FROM information_schema.innodb_metrics EXCEPT SELECT 2")
	denied = append(denied,
		"SELECT s FROM hidden.h EXCEPT SELECT 1",
		"SELECT no_such FROM hidden.h WHERE LOAD_FILE('x')",
		"SELECT s FROM hidden.no_such WHERE LOAD_FILE('x')",
		"SELECT 'x' INTO OUTFILE '/tmp/x'", "SELECT 'x' INTO DUMPFILE '/tmp/x'", "SELECT * FROM one INTO OUTFILE '/tmp/x'",
		"LOAD DATA INFILE '/etc/passwd' INTO TABLE one",
		"SELECT s FROM over", "LOCK TABLES over READ", "LOCK TABLES over WRITE", "SELECT * FROM system",
		"SET SESSION binlog_format = 'STATEMENT'", "SET binlog_row_image = 'MINIMAL'", "SET @@session.binlog_row_image = 'MINIMAL'",
		"SET @a = 1, @@local.sql_log_bin = 0", "SET sql_log_off = 1",
	)
	if mariadb {
		denied = append(denied, "SET skip_replication = 1", "SET STATEMENT binlog_row_image = 'MINIMAL' FOR SELECT 1", "SET enforce_storage_engine = 'MERGE'",
			"SELECT User FROM mysql.user PROCEDURE ANALYSE()", "EXECUTE IMMEDIATE CONCAT('SELECT ', LOAD_FILE('/etc/passwd'))",
			"BEGIN NOT ATOMIC DECLARE x INT) SELECT (SELECT s FROM hidden.h) AS z, (1; SELECT 1; END",
			"BEGIN NOT ATOMIC DECLARE x INT, z INT; SELECT 1; END", "BEGIN NOT ATOMIC DECLARE x INT COMMENT 'y'; SELECT 1; END",
			"BEGIN NOT ATOMIC DECLARE x TYPE OF hidden.h.s; SELECT 1; END")
	} else {
		denied = append(denied, "SET binlog_row_value_options = 'PARTIAL_JSON'", "SET sql_require_primary_key = 0")
	}
	inside := denied // in a program, too
	definitions := []string{
		"CREATE VIEW v AS SELECT s FROM hidden.h", "CREATE OR REPLACE VIEW v AS SELECT s FROM hidden.h EXCEPT SELECT 1", "ALTER VIEW system AS SELECT s FROM hidden.h",
		"CREATE VIEW v (a) AS (SELECT s FROM hidden.look)", "CREATE VIEW v AS SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM hidden.h)",
		"CREATE VIEW v AS WITH q AS (SELECT s FROM hidden.h) SELECT * FROM q", "CREATE VIEW v AS SELECT User FROM mysql.user EXCEPT SELECT 1",
		"CREATE VIEW v AS SELECT LOAD_FILE('/etc/passwd')", "CREATE VIEW v AS SELECT info FROM information_schema.processlist", "CREATE VIEW v AS SELECT hidden.f()",
		"CREATE FUNCTION lf() RETURNS TEXT RETURN LOAD_FILE('/etc/passwd')", "CREATE FUNCTION lf() RETURNS TEXT RETURN `load_file`('/etc/passwd')",
		"CREATE TABLE g (id INT PRIMARY KEY, v TEXT AS (LOAD_FILE('/etc/passwd')))", "CREATE TABLE g (id INT PRIMARY KEY, v TEXT, CHECK (LOAD_FILE('/etc/passwd') = v))",
		"CREATE TABLE g (id INT PRIMARY KEY, v TEXT DEFAULT (LOAD_FILE('/etc/passwd')))", "CREATE TABLE g (id INT PRIMARY KEY) SELECT 1 AS id, LOAD_FILE('x')",
		"CREATE TABLE g (id INT PRIMARY KEY) SELECT s FROM hidden.h", "CREATE TABLE g AS (SELECT s FROM hidden.h)",
		"CREATE TABLE g (s VARCHAR(99) PRIMARY KEY) WITH q AS (SELECT s FROM hidden.h) SELECT * FROM q", "CREATE TABLE g LIKE hidden.h",
		"CREATE TABLE g (id INT PRIMARY KEY, s VARCHAR(40)) ENGINE=MERGE UNION=(hidden.my) COMMENT 'skarv:single'",
		"CREATE TABLE g (id INT PRIMARY KEY, s VARCHAR(40)) ENGINE MRG_MYISAM UNION (hidden.my) COMMENT 'skarv:single'",
		"CREATE TABLE g (id INT PRIMARY KEY, s VARCHAR(40)) ENGINE `merge` COMMENT 'skarv:single'",
		"CREATE TABLE g (id INT PRIMARY KEY, s VARCHAR(40)) UNION (hidden.my) COMMENT 'skarv:single'",
		"CREATE TEMPORARY TABLE g (id INT PRIMARY KEY, s VARCHAR(40)) ENGINE=MERGE UNION=(hidden.my)",
		"CREATE TABLE g (id INT PRIMARY KEY) DATA DIRECTORY='/tmp' COMMENT 'skarv:single'", "ALTER TABLE one INDEX DIRECTORY '/tmp'",
		"CREATE TABLE g (id INT PRIMARY KEY) ENGINE=CONNECT TABLE_TYPE=CSV FILE_NAME='/etc/passwd' COMMENT 'skarv:single'",
		"CREATE TABLE g (id INT PRIMARY KEY) ENGINE=FEDERATED CONNECTION='mysql://root@localhost/hidden/my' COMMENT 'skarv:single'",
		"ALTER TABLE one ENGINE=MERGE", "ALTER TABLE one ADD COLUMN x INT, UNION=(hidden.my)", "SET default_storage_engine = 'MRG_MYISAM'",
	}
	for _, q := range inside {
		reader.denied(q)
	}
	for _, q := range append(slices.Clone(denied), definitions...) {
		owner.denied(q)
	}
	for _, q := range inside {
		if strings.HasPrefix(q, "BEGIN") || strings.HasPrefix(q, "LOCK") || strings.HasPrefix(q, "LOAD") {
			continue
		}
		if mariadb && !strings.HasPrefix(q, "SET STATEMENT") {
			owner.deniedAsText("BEGIN NOT ATOMIC " + q + "; END")
		}
	}
	for i, e := range expressions { // where programs compute them, and in what follows a row
		if _, err := owner.try(fmt.Sprintf("CREATE PROCEDURE p%d() BEGIN DECLARE x TEXT; SET x = %s; SELECT x; END", i, e)); err == nil {
			owner.deniedAsText(fmt.Sprintf("CALL p%d()", i))
		}
		owner.exec("CREATE OR REPLACE VIEW nothing AS SELECT 1")
		if _, err := owner.try(fmt.Sprintf("CREATE TRIGGER tr%d BEFORE INSERT ON t FOR EACH ROW SET NEW.v = %s", i, e)); err == nil {
			owner.deniedAsText("INSERT INTO t VALUES (99, 'x')")
			owner.exec(fmt.Sprintf("DROP TRIGGER tr%d", i))
		}
	}
	owner.exec("CREATE PROCEDURE takes(x TEXT) SELECT x")
	for _, e := range expressions {
		owner.deniedAsText("CALL takes(" + e + ")")
	}
	for _, q := range []string{
		"SELECT * FROM information_schema.check_constraints", "SELECT * FROM information_schema.check_constraints EXCEPT SELECT 1, 1, 1, 1" + map[bool]string{true: ", 1, 1"}[mariadb],
		"SELECT table_schema, table_name FROM information_schema.tables EXCEPT SELECT 1, 1", "SELECT id, user, info FROM information_schema.processlist EXCEPT SELECT 1, 1, 1",
		"SHOW DATABASES", "SHOW FUNCTION STATUS",
	} {
		shown, err := owner.try(q)
		if err == nil {
			require.NotContains(t, shown, "topsecret", q)
			require.NotContains(t, shown, "hidden", q)
			require.NotContains(t, shown, "_skarv", q)
		}
	}
	for _, table := range []string{"user_privileges", "schema_privileges"} { // an account's own, in every form
		for _, q := range []string{
			"SELECT DISTINCT grantee FROM information_schema." + table, "SELECT grantee FROM information_schema." + table + " EXCEPT SELECT 1",
			"WITH q AS (SELECT grantee FROM information_schema." + table + " EXCEPT SELECT 1) SELECT * FROM q",
		} {
			require.Equal(t, "'outside_reader'@'%'", reader.get(q), q)
			require.Equal(t, "'outside_owner'@'%'", owner.get(q), q)
			require.Equal(t, "'outside_owner'@'%'", owner.get(q+" LIMIT ?", 9), q)
			owner.exec("PREPARE outside FROM '" + q + "'")
			require.Equal(t, "'outside_owner'@'%'", owner.get("EXECUTE outside"), q)
			if mariadb {
				require.Equal(t, "'outside_owner'@'%'", owner.get("BEGIN NOT ATOMIC "+q+"; END"), q)
			}
		}
		owner.denied("CREATE VIEW v AS SELECT grantee FROM information_schema." + table)
	}
	owner.exec("SET @seen = ''")
	require.NotEmpty(t, owner.get("SELECT COUNT(*) FROM information_schema.tables WHERE (@seen := CONCAT(@seen, table_schema, '.', table_name, ' ')) IS NOT NULL"))
	require.NotContains(t, owner.get("SELECT @seen"), "hidden")
	// What an account may do stays so.
	owner.exec("CREATE OR REPLACE VIEW fine AS SELECT id, v FROM mine.t WHERE v <> 'x'")
	owner.exec("LOCK TABLES fine READ")
	owner.exec("UNLOCK TABLES")
	owner.exec("CREATE TABLE fine2 (engine VARCHAR(20), connection VARCHAR(20), id INT PRIMARY KEY) ENGINE=InnoDB")
	owner.exec("ALTER TABLE fine2 ADD COLUMN load_file INT, ENGINE = innodb")
	reader.fails(1054, "SELECT no_such FROM t")
	reader.fails(1064, "SELECT FROM WHERE")
	if mariadb {
		require.Equal(t, "a", reader.get("BEGIN NOT ATOMIC DECLARE x, y VARCHAR(20) CHARACTER SET utf8mb4 COLLATE 'utf8mb4_bin'; DECLARE e ENUM('a', 'b''') DEFAULT 'a'; SELECT e; END"))
	}
}

// account makes a user and logs it in, with mine as its database.
func account(t *testing.T, name string, grants map[string]string) *client {
	_, err := adminv1.NewAdminClient(shared.Admin(t)).PutUser(t.Context(), &adminv1.PutUserRequest{
		Name: name, Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"), Grants: grants,
	})
	require.NoError(t, err)
	dsn := name + ":pw@tcp(" + shared.Addr() + ")/mine"
	require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
	return connectTo(t, dsn)
}

// denied runs a statement that must be refused, in each way that it can be sent.
func (c *client) denied(query string) {
	c.t.Helper()
	c.deniedAsText(query)
	st, err := c.PrepareContext(context.Background(), query)
	if err == nil {
		var rows *sql.Rows
		if rows, err = st.Query(); err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		st.Close()
	}
	requireNothing(c.t, "prepared: "+query, err)
	_, err = c.try("PREPARE outside FROM '" + strings.ReplaceAll(query, "'", "''") + "'")
	if err == nil {
		_, err = c.try("EXECUTE outside")
	}
	requireNothing(c.t, "PREPARE: "+query, err)
}

func (c *client) deniedAsText(query string) {
	c.t.Helper()
	got, err := c.try(query)
	if err == nil {
		c.t.Errorf("%s: %s", query, got)
		return
	}
	requireNothing(c.t, query, err)
}

// requireNothing checks that a statement was refused, by an error that tells nothing.
func requireNothing(t *testing.T, query string, err error) {
	t.Helper()
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		t.Errorf("%s: %v", query, err)
		return
	}
	// 1064: an engine has no such statement; 1295: it cannot be prepared; 1193: it has no such variable.
	if !slices.Contains([]uint16{1044, 1142, 1227, 1235, 1370, 1064, 1295, 1193}, e.Number) {
		t.Errorf("%s: %v", query, err)
	}
	for _, secret := range []string{"root:", "topsecret'", "~"} {
		if strings.Contains(e.Message, secret) && !strings.Contains(e.Message, "near '") {
			t.Errorf("%s: tells %v", query, err)
		}
	}
}
