package session

import (
	"context"
	"database/sql"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
)

// from is a pool of connections from an address of this machine.
func from(t *testing.T, address, user, password string) *sql.DB {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = user, password, "tcp", shared.Addr()
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}).DialContext(ctx, network, addr)
	}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// A client is whom its address and its user make it, with the password and the rights of that account, and stays that for as long as the account is there.
func TestAccountsWithHosts(t *testing.T) {
	c := connect(t)
	c.exec("CREATE DATABASE IF NOT EXISTS hosted")
	c.exec("CREATE TABLE IF NOT EXISTS hosted.a (id INT PRIMARY KEY)")
	c.exec("DROP USER IF EXISTS clerk, clerk@'127.0.0.2', clerk@'127.0.1.0/255.255.255.0', clerk@'127.3.%', clerk@'10.0.0.1', clerk@'::1'")
	c.exec("CREATE USER clerk IDENTIFIED BY 'any', clerk@127.0.0.2 IDENTIFIED BY 'two', clerk@'127.0.1.0/255.255.255.0' IDENTIFIED BY 'net'," +
		" clerk@'127.3.%' IDENTIFIED BY 'three', clerk@'10.0.0.1' IDENTIFIED BY 'far', clerk@'::1' IDENTIFIED BY 'six'")
	code := func(err error, number uint16) {
		t.Helper()
		var e *mysql.MySQLError
		require.ErrorAs(t, err, &e)
		require.Equal(t, number, e.Number, e.Message)
	}
	for address, account := range map[string]struct{ password, host string }{
		"127.0.0.2": {"two", "127.0.0.2"}, "127.0.1.9": {"net", "127.0.1.0/255.255.255.0"}, "127.3.0.1": {"three", "127.3.%"}, "127.0.0.1": {"any", "%"},
	} {
		var current, user string
		require.NoError(t, from(t, address, "clerk", account.password).QueryRow("SELECT CURRENT_USER(), USER()").Scan(&current, &user), address)
		require.Equal(t, "clerk@"+account.host, current)
		require.Equal(t, "clerk@localhost", user)
		for _, password := range []string{"any", "two", "net", "three", "far", "six", ""} {
			if password != account.password {
				code(from(t, address, "clerk", password).Ping(), 1045)
			}
		}
	}

	// What is granted on a database goes by the client's host, what is granted on all by the account.
	two := from(t, "127.0.0.2", "clerk", "two")
	two.SetMaxOpenConns(1)
	refused := func(query string, number uint16) {
		t.Helper()
		_, err := two.Exec(query)
		code(err, number)
	}
	allowed := func(query string) {
		t.Helper()
		_, err := two.Exec(query)
		require.NoError(t, err)
	}
	refused("SELECT * FROM hosted.a", 1142)
	c.exec("GRANT SELECT ON *.* TO clerk")
	c.exec("GRANT SELECT ON hosted.* TO clerk@'10.0.0.1'")
	refused("SELECT * FROM hosted.a", 1142)
	c.exec("GRANT SELECT ON hosted.* TO clerk")
	allowed("SELECT * FROM hosted.a")
	c.exec("GRANT INSERT ON hosted.* TO clerk@127.0.0.2")
	refused("SELECT * FROM hosted.a", 1142)
	allowed("INSERT INTO hosted.a VALUES (1)")
	c.exec("REVOKE INSERT ON hosted.* FROM clerk@127.0.0.2")
	refused("INSERT INTO hosted.a VALUES (2)", 1142)
	allowed("SELECT * FROM hosted.a")
	refused("GRANT SELECT ON hosted.* TO clerk@127.0.0.2", 1044)
	refused("ALTER USER clerk IDENTIFIED BY 'x'", 1227)
	refused("DROP USER clerk@127.0.0.2", 1227)

	// An event runs as the account of its definer, who is found as a client from there would be.
	c.exec("GRANT EVENT, INSERT ON hosted.* TO clerk@'10.0.0.1'")
	c.exec("CREATE TABLE hosted.seen (who VARCHAR(100) PRIMARY KEY)")
	c.exec("CREATE DEFINER = clerk@'10.0.0.1' EVENT hosted.near ON SCHEDULE EVERY 1 SECOND DO INSERT IGNORE INTO hosted.seen VALUES (CURRENT_USER())")
	c.exec("GRANT EVENT, INSERT ON hosted.* TO clerk")
	c.exec("CREATE DEFINER = clerk@'192.0.2.1' EVENT hosted.far ON SCHEDULE EVERY 1 SECOND DO INSERT IGNORE INTO hosted.seen VALUES (CURRENT_USER())")
	require.Eventually(t, func() bool {
		return c.get("SELECT GROUP_CONCAT(who ORDER BY who) FROM hosted.seen") == "clerk@%,clerk@10.0.0.1"
	}, patience, tick)
	c.exec("DROP EVENT hosted.near")
	c.exec("DROP EVENT hosted.far")

	// Who has logged in stays that, whoever could log in from there by now.
	c.exec("CREATE USER clerk@'127.0.0.0/255.255.255.255' IDENTIFIED BY 'x'")
	any := from(t, "127.0.0.1", "clerk", "any")
	any.SetMaxOpenConns(1)
	require.NoError(t, any.Ping())
	c.exec("CREATE USER clerk@127.0.0.1 IDENTIFIED BY 'new'")
	var current string
	require.NoError(t, any.QueryRow("SELECT CURRENT_USER()").Scan(&current))
	require.Equal(t, "clerk@%", current)
	c.exec("RENAME USER clerk@127.0.0.2 TO clerk@127.0.0.3")
	refused("SELECT 1", 1045)
	code(from(t, "127.0.0.2", "clerk", "two").Ping(), 1045)
	c.exec("DROP USER clerk, clerk@127.0.0.3, clerk@127.0.0.1, clerk@'127.0.0.0/255.255.255.255', clerk@'127.0.1.0/255.255.255.0', clerk@'127.3.%'," +
		" clerk@'10.0.0.1', clerk@'::1'")
	c.exec("DROP DATABASE hosted")
}

// COM_CHANGE_USER makes a client whom its address and the new user make it.
func TestChangeUserWithHosts(t *testing.T) {
	c := connect(t)
	c.exec("DROP USER IF EXISTS changes, changes@127.0.0.1, changes@10.0.0.1")
	native := func(account, password string) string {
		return account + " IDENTIFIED WITH mysql_native_password AS '" + wire.HashNative(password) + "'"
	}
	c.exec("CREATE USER " + native("changes", "any") + ", " + native("changes@127.0.0.1", "here") + ", " + native("changes@10.0.0.1", "far"))
	change := func(password string) (*packets, []byte) {
		r := packetLogin(t, 0)
		r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil,
			wire.ChangeUser{User: "changes", Collation: 33, Plugin: wire.CachingSHA2Password}, r.caps)))
		plugin, salt, err := wire.ParseAuthSwitch(r.read())
		require.NoError(t, err)
		require.Equal(t, wire.NativePassword, plugin)
		r.write(wire.ScrambleNative(password, salt))
		return r, r.read()
	}
	for _, password := range []string{"any", "far"} {
		_, answer := change(password)
		require.Equal(t, byte(0xff), answer[0], password)
	}
	r, answer := change("here")
	require.Equal(t, byte(wire.OKHeader), answer[0])
	require.Equal(t, "changes@127.0.0.1,changes@localhost", r.get("SELECT CURRENT_USER(), USER()"))
	c.exec("DROP USER changes@127.0.0.1")
	r, answer = change("any")
	require.Equal(t, byte(wire.OKHeader), answer[0])
	require.Equal(t, "changes@%,changes@localhost", r.get("SELECT CURRENT_USER(), USER()"))
	c.exec("DROP USER changes, changes@10.0.0.1")
}
