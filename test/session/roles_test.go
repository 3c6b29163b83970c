package session

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// What a role no longer grants, no session has that has it active: on whatever process, whatever it has prepared, and whatever has the role's name later.
func TestRolesTakenAway(t *testing.T) {
	c := connect(t)
	c.exec("CREATE DATABASE IF NOT EXISTS shop")
	c.exec("CREATE TABLE IF NOT EXISTS shop.a (id INT PRIMARY KEY)")
	c.exec("DROP USER IF EXISTS clerk")
	c.exec("DROP ROLE IF EXISTS sells")
	c.exec("CREATE ROLE sells")
	c.exec("GRANT ALL ON shop.* TO sells")
	c.exec("CREATE USER clerk IDENTIFIED BY 'x'")
	c.exec("GRANT sells TO clerk")
	c.exec("CREATE OR REPLACE VIEW shop.v AS SELECT id FROM shop.a")

	second, err := mysql.ParseDSN(secondProxy(t))
	require.NoError(t, err)
	here, there := connectTo(t, "clerk:x@tcp("+shared.Addr()+")/"), connectTo(t, "clerk:x@tcp("+second.Addr+")/")
	for _, clerk := range []*client{here, there} {
		clerk.exec("SET ROLE sells")
		clerk.exec("USE shop")
		clerk.exec("PREPARE r FROM 'SELECT COUNT(*) FROM shop.a'")
		clerk.exec("EXECUTE r")
	}
	gone := func() {
		t.Helper()
		here.fails(1142, "EXECUTE r")
		require.Eventually(t, func() bool { _, err := there.try("SELECT id FROM shop.a"); return err != nil }, patience, tick)
		for _, clerk := range []*client{here, there} {
			clerk.fails(1142, "EXECUTE r")
			clerk.fails(1142, "INSERT INTO shop.a VALUES (1)")
			clerk.fails(1142, "SELECT * FROM v")
			clerk.fails(1142, "DROP TABLE shop.a")
			require.Equal(t, "0", clerk.get("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop'"))
		}
	}
	back := func() {
		t.Helper()
		here.exec("SET ROLE sells")
		here.exec("EXECUTE r")
		require.Eventually(t, func() bool { _, err := there.try("EXECUTE r"); return err == nil }, patience, tick)
	}

	c.exec("REVOKE sells FROM clerk")
	gone()
	c.exec("GRANT sells TO clerk")
	back()
	c.exec("REVOKE ALL ON shop.* FROM sells")
	gone()
	c.exec("GRANT ALL ON shop.* TO sells")
	back()
	c.exec("DROP ROLE sells")
	gone()
	c.exec("CREATE ROLE sells")
	c.exec("GRANT ALL ON shop.* TO sells")
	gone()
	c.exec("GRANT sells TO clerk")
	back()

	// Nor has a session that is there when its account becomes a role, or begins anew.
	c.exec("DROP USER clerk")
	here.fails(1045, "SELECT 1")
	c.exec("CREATE ROLE clerk")
	require.Error(t, ping("clerk:x@tcp("+shared.Addr()+")/"))
	require.Error(t, ping("clerk:@tcp("+shared.Addr()+")/"))
	c.exec("DROP ROLE clerk, sells")
	c.exec("DROP DATABASE shop")
}

// What an account may is asked before each statement of a packet, and a session is that of the account it has logged in by, whatever has its name later.
func TestRightsAreThoseOfNow(t *testing.T) {
	c := connect(t)
	c.exec("CREATE DATABASE IF NOT EXISTS shop")
	c.exec("CREATE TABLE IF NOT EXISTS shop.secret (v INT)")
	c.exec("DROP USER IF EXISTS lender, poor, rich, moved")
	c.exec("CREATE USER lender IDENTIFIED BY 'x', poor IDENTIFIED BY 'x', rich IDENTIFIED BY 'x'")
	c.exec("GRANT SELECT ON shop.* TO lender WITH GRANT OPTION")
	c.exec("GRANT SELECT ON *.* TO rich")
	lender := connectTo(t, "lender:x@tcp("+shared.Addr()+")/?multiStatements=true")
	require.Equal(t, "0", lender.get("SELECT COUNT(*) FROM shop.secret"))
	lender.fails(1142, "REVOKE SELECT ON shop.* FROM lender; DELETE FROM shop.secret")
	lender.fails(1142, "SELECT COUNT(*) FROM shop.secret")

	poor := connectTo(t, "poor:x@tcp("+shared.Addr()+")/")
	poor.fails(1142, "SELECT COUNT(*) FROM shop.secret")
	c.exec("RENAME USER poor TO moved, rich TO poor")
	_, err := poor.try("SELECT COUNT(*) FROM shop.secret")
	require.Error(t, err, "the session of another account")
	require.NoError(t, ping("poor:x@tcp("+shared.Addr()+")/"))
	c.exec("DROP USER lender, poor, moved")
	c.exec("DROP TABLE shop.secret")
}
