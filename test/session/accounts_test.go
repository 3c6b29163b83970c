package session

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// TestAccounts makes, changes and removes accounts by SQL, as installers and vaults do, and logs in with them.
func TestAccounts(t *testing.T) {
	c := connect(t)
	c.exec("CREATE DATABASE IF NOT EXISTS shop")
	c.exec("CREATE TABLE IF NOT EXISTS shop.a (id INT PRIMARY KEY)")
	c.exec("DROP USER IF EXISTS clerk, chief, newly, of_a_program")
	dsn := func(user, password string) string { return user + ":" + password + "@tcp(" + shared.Addr() + ")/shop" }

	c.exec("CREATE USER clerk IDENTIFIED BY 'one'")
	require.Error(t, ping(dsn("clerk", "one")), "without privileges on the database")
	c.exec("GRANT SELECT ON shop.* TO clerk")
	clerk := connectTo(t, dsn("clerk", "one")) // at once
	require.Equal(t, "0", clerk.get("SELECT COUNT(*) FROM a"))
	clerk.fails(1142, "INSERT INTO a VALUES (1)")
	c.exec("GRANT INSERT, UPDATE, DELETE ON shop.* TO clerk")
	clerk.exec("INSERT INTO a VALUES (1)")
	clerk.fails(1142, "CREATE TABLE b (id INT PRIMARY KEY)")

	// Nobody but administrators changes others' accounts; everybody his own password.
	for _, query := range []string{
		"CREATE USER newly IDENTIFIED BY 'x'", "DROP USER clerk", "ALTER USER root IDENTIFIED BY 'x'", "RENAME USER clerk TO newly",
	} {
		clerk.fails(1227, query)
	}
	clerk.fails(1045, "GRANT ALL ON *.* TO clerk")
	clerk.fails(1044, "REVOKE SELECT ON shop.* FROM clerk")
	clerk.exec("ALTER USER clerk IDENTIFIED BY 'two'")
	require.Error(t, ping(dsn("clerk", "one")))
	clerk.exec("ALTER USER CURRENT_USER() IDENTIFIED BY 'three'")
	require.NoError(t, ping(dsn("clerk", "three")))
	if cluster.TestEngine() == datanode.MySQL {
		clerk.exec("SET PASSWORD = 'four'")
	} else {
		clerk.exec("SET PASSWORD = PASSWORD('four')")
	}
	require.NoError(t, ping(dsn("clerk", "four")))

	// With every privilege there is, also by others' hands.
	c.exec("CREATE USER chief IDENTIFIED BY 'x'")
	c.exec("GRANT ALL PRIVILEGES ON *.* TO chief WITH GRANT OPTION")
	chief := connectTo(t, dsn("chief", "x"))
	chief.exec("CREATE USER newly IDENTIFIED BY 'y'")
	chief.exec("GRANT ALL ON shop.* TO newly")
	require.Equal(t, "GRANT ALL PRIVILEGES ON `shop`.* TO `newly`@`%`", last(t, chief, "SHOW GRANTS FOR newly"))
	chief.exec("USE shop")
	chief.exec("REVOKE ALL PRIVILEGES ON * FROM newly")
	require.Contains(t, last(t, chief, "SHOW GRANTS FOR newly"), "GRANT USAGE ON *.* TO `newly`@`%`")

	// By prepared statements and in programs; not in what a statement calls for its rows.
	c.exec("USE shop")
	c.exec("PREPARE p FROM 'GRANT SELECT ON shop.* TO newly'")
	c.exec("EXECUTE p")
	require.Equal(t, "GRANT SELECT ON `shop`.* TO `newly`@`%`", last(t, chief, "SHOW GRANTS FOR newly"))
	c.exec("DROP PROCEDURE IF EXISTS hire")
	c.exec("CREATE PROCEDURE hire() BEGIN CREATE USER of_a_program IDENTIFIED BY 'z'; GRANT SELECT ON shop.* TO of_a_program; END")
	c.exec("CALL hire()")
	require.NoError(t, ping(dsn("of_a_program", "z")))
	c.exec("LOCK TABLES a READ")
	c.fails(1235, "DROP USER of_a_program")
	c.exec("UNLOCK TABLES")

	c.exec("DROP USER clerk, chief, newly, of_a_program")
	require.Error(t, ping(dsn("clerk", "four")))
	clerk.fails(1045, "SELECT 1")
	c.exec("DROP DATABASE shop")
}

// Nobody logs in by a locked account, nor without TLS by one that requires it; sessions that are there go on.
func TestLockedAccounts(t *testing.T) {
	c := connect(t)
	c.exec("DROP USER IF EXISTS clerk, secret")
	c.exec("CREATE USER clerk IDENTIFIED BY 'x'")
	c.exec("CREATE USER secret IDENTIFIED BY 'x' REQUIRE SSL")
	dsn := func(user, more string) string { return user + ":x@tcp(" + shared.Addr() + ")/" + more }
	refused := func(dsn string, number uint16) {
		t.Helper()
		var e *mysql.MySQLError
		require.ErrorAs(t, ping(dsn), &e)
		require.Equal(t, number, e.Number, e.Message)
	}
	clerk := connectTo(t, dsn("clerk", ""))
	c.exec("ALTER USER clerk ACCOUNT LOCK")
	locked := map[datanode.Engine]uint16{datanode.MariaDB: 4151, datanode.MySQL: 3118}[cluster.TestEngine()]
	refused(dsn("clerk", ""), locked)
	refused(dsn("clerk", "?tls=skip-verify"), locked)
	refused("clerk:wrong@tcp("+shared.Addr()+")/", 1045)
	require.Equal(t, "clerk@%", clerk.get("SELECT CURRENT_USER()"))
	c.exec("ALTER USER clerk ACCOUNT UNLOCK")
	require.NoError(t, ping(dsn("clerk", "")))

	refused(dsn("secret", ""), 1045)
	require.NoError(t, ping(dsn("secret", "?tls=skip-verify")))
	c.exec("ALTER USER secret REQUIRE NONE")
	require.NoError(t, ping(dsn("secret", "")))
	c.exec("DROP USER clerk, secret")
}

// The password of an account is kept as the kind of server keeps it, or as the statement says, and never as it is.
func TestPasswordsAreHashed(t *testing.T) {
	c := connect(t)
	c.exec("DROP USER IF EXISTS kept, native")
	c.exec("CREATE USER kept IDENTIFIED BY 'secret'")
	c.exec("CREATE USER native IDENTIFIED WITH mysql_native_password AS '*14E65567ABDB5135D0CFD9A70B3032C179A49EE7'")
	plugin, says, own := "mysql_native_password", "VIA caching_sha2_password USING PASSWORD('other')", ""
	if cluster.TestEngine() == datanode.MySQL {
		plugin, says, own = "caching_sha2_password", "WITH caching_sha2_password BY 'other'", " CURRENT_USER()" // it must be named
	}
	require.Equal(t, plugin, c.get("SELECT plugin FROM mysql.user WHERE User = 'kept'"))
	require.Equal(t, "0", c.get("SELECT COUNT(*) FROM mysql.user WHERE authentication_string LIKE '%secret%'"))
	require.NoError(t, ping("native:secret@tcp("+shared.Addr()+")/"))
	require.Regexp(t, "^CREATE USER `native`@`%` IDENTIFIED (BY PASSWORD|WITH 'mysql_native_password' AS) '\\*14E6", c.get("SHOW CREATE USER native"))
	require.Regexp(t, "^CREATE USER `root`@`%`", c.get("SHOW CREATE USER"+own))
	native := connectTo(t, "native:secret@tcp("+shared.Addr()+")/")
	require.Equal(t, c.get("SHOW CREATE USER native"), native.get("SHOW CREATE USER CURRENT_USER()"))
	native.fails(map[datanode.Engine]int{datanode.MariaDB: 1044, datanode.MySQL: 1142}[cluster.TestEngine()], "SHOW CREATE USER kept")
	c.exec("ALTER USER kept IDENTIFIED " + says)
	require.Equal(t, "caching_sha2_password", c.get("SELECT plugin FROM mysql.user WHERE User = 'kept'"))
	c.exec("DROP USER kept, native")
}

// last is the last of the rows of a query, which have one column.
func last(t *testing.T, c *client, query string) (value string) {
	rows, err := c.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		require.NoError(t, rows.Scan(&value))
	}
	require.NoError(t, rows.Err())
	return value
}
