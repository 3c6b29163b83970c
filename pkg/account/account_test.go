package account

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

func parse(t testing.TB, mariadb bool, sql string) (*Statement, error) {
	version := "9.7.0"
	if mariadb {
		version = "10.11.6"
	}
	st := sqlparse.NewDialect(mariadb, version).NewStatement()
	require.NoError(t, st.Scan([]byte(sql), 0), sql)
	require.Contains(t, []sqlparse.Kind{sqlparse.Account, sqlparse.Grant}, st.Kind(), sql)
	return Parse(st)
}

// outcome is what a statement makes of an account that had a privilege on the database d, or why not.
func outcome(t *testing.T, had catalog.Privilege, sql string) string {
	st, err := parse(t, true, sql)
	if err != nil {
		return err.Error()
	}
	by := Session{Flavor: catalog.MariaDB, User: "root", Database: "d"}
	a := &catalog.Account{Name: "x", Grants: map[string]catalog.Privilege{"d": had}}
	root := &catalog.Account{Name: "root", Grants: map[string]catalog.Privilege{"*": Admin}}
	if err := st.Allowed(by, root, catalog.Accounts{"x": a, "root": root}); err != nil {
		return err.Error()
	}
	if had == catalog.NoAccess {
		a.Grants = map[string]catalog.Privilege{}
	}
	r := &run{st: st, by: by, have: accounts{"x": a}, after: accounts{}}
	if err := r.all(); err != nil {
		return err.Error()
	}
	var got []string
	add := func(p catalog.Privilege, on On) {
		names, grants := Told(p, on, catalog.MariaDB)
		if grants {
			names = append(names, "GRANT OPTION")
		}
		got = append(got, on.String()+": "+strings.Join(names, ", "))
	}
	for on, p := range Granted(r.after["x"]) {
		if on.Database != "*" || p != catalog.NoAccess {
			add(p, on)
		}
	}
	slices.Sort(got)
	return strings.Join(got, "; ")
}

// What GRANT and REVOKE make of what an account has; never more than they say, nor less.
func TestPrivileges(t *testing.T) {
	const writes = catalog.MaySelect | catalog.MayInsert | catalog.MayUpdate | catalog.MayDelete
	for _, c := range []struct {
		had  catalog.Privilege
		sql  string
		want string // or a part of the error, behind a !
	}{
		{0, "GRANT SELECT ON d.* TO x", "d: SELECT"},
		{0, "GRANT SELECT, SHOW VIEW, EXECUTE ON d.* TO x", "d: SELECT, EXECUTE, SHOW VIEW"},
		{0, "GRANT USAGE ON d.* TO x", ""},
		{0, "GRANT INSERT ON d.* TO x", "d: INSERT"},
		{0, "GRANT ALL ON d.* TO x", "d: ALL PRIVILEGES"},
		{0, "GRANT ALL PRIVILEGES ON * TO x", "d: ALL PRIVILEGES"},
		{0, "GRANT ALL ON *.* TO x WITH GRANT OPTION", "*: ALL PRIVILEGES, GRANT OPTION"},
		{0, "GRANT ALL ON d.* TO x WITH GRANT OPTION", "d: ALL PRIVILEGES, GRANT OPTION"},
		{0, "GRANT PROCESS, REPLICATION CLIENT, SELECT ON *.* TO x", "*: SELECT, PROCESS, BINLOG MONITOR"},
		{0, "GRANT BINLOG MONITOR ON *.* TO x", "*: BINLOG MONITOR"},
		{0, "GRANT PROCESS ON d.* TO x", "!Incorrect usage of DB GRANT and GLOBAL PRIVILEGES"},
		{0, "GRANT SELECT ON `e\\_f`.* TO x", "e_f: SELECT"},
		{0, "GRANT SELECT ON `e%`.* TO x", "!1235"},
		{0, "GRANT SELECT ON `*`.* TO x", "!1235"},
		{0, "GRANT SELECT ON d.t TO x", "d.t: SELECT"},
		{0, "GRANT SELECT, INSERT ON TABLE t TO x", "d.t: SELECT, INSERT"},
		{0, "GRANT ALL ON d.t TO x", "d.t: ALL PRIVILEGES"},
		{0, "GRANT LOCK TABLES ON d.t TO x", "!Illegal GRANT/REVOKE command"},
		{0, "GRANT SELECT (a) ON d.t TO x", "!1235"},
		{0, "GRANT EXECUTE ON PROCEDURE d.P TO x", "procedure d.p: EXECUTE"},
		{0, "GRANT ALL ON FUNCTION d.f TO x WITH GRANT OPTION", "function d.f: EXECUTE, ALTER ROUTINE, GRANT OPTION"},
		{catalog.MayExecute, "GRANT EXECUTE ON PACKAGE d.p TO x", "!1235"},
		{0, "GRANT BINLOG ADMIN ON *.* TO x", "!1235"},
		{0, "GRANT PROXY ON x TO x", "!1235"},
		{0, "GRANT role TO x", "!Invalid role specification `role`"},
		{0, "REVOKE SELECT ON d.t FROM x", "!There is no such grant defined for user 'x' on host '%' on table 't'"},
		{0, "REVOKE SELECT ON d.* FROM x", "!There is no such grant defined for user 'x' on host '%'"},
		{catalog.MaySelect, "GRANT INSERT, UPDATE, DELETE ON d.* TO x", "d: SELECT, INSERT, UPDATE, DELETE"},
		{writes, "REVOKE INSERT ON d.* FROM x", "d: SELECT, UPDATE, DELETE"},
		{writes, "REVOKE TRIGGER ON d.* FROM x", "d: SELECT, INSERT, UPDATE, DELETE"},
		{writes, "REVOKE SELECT, INSERT, UPDATE, DELETE ON d.* FROM x", ""},
		{catalog.AllOfDatabase, "REVOKE ALL ON d.* FROM x", ""},
		{catalog.AllOfDatabase | catalog.MayGrant, "REVOKE ALL ON d.* FROM x", "d: GRANT OPTION"},
		{catalog.AllOfDatabase | catalog.MayGrant, "REVOKE GRANT OPTION ON d.* FROM x", "d: ALL PRIVILEGES"},
		{catalog.AllOfDatabase, "REVOKE ALL ON *.* FROM x", "d: ALL PRIVILEGES"},
		{catalog.AllOfDatabase, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM x", ""},
	} {
		got := outcome(t, c.had, c.sql)
		if part, fails := strings.CutPrefix(c.want, "!"); fails {
			require.Contains(t, got, part, c.sql)
		} else {
			require.Equal(t, c.want, got, c.sql)
		}
	}
}

// Who may say what about accounts.
func TestAllowed(t *testing.T) {
	have := catalog.Accounts{
		"root":    {Name: "root", Grants: map[string]catalog.Privilege{"*": Admin}},
		"manager": {Name: "manager", Grants: map[string]catalog.Privilege{"*": catalog.MayCreateUser}},
		"owner":   {Name: "owner", Grants: map[string]catalog.Privilege{"d": catalog.AllOfDatabase | catalog.MayGrant}},
		"lender": {Name: "lender", Grants: map[string]catalog.Privilege{"d": catalog.MayGrant},
			Tables: map[string]map[string]catalog.Privilege{"d": {"t": catalog.MaySelect}}},
		"app": {Name: "app", Grants: map[string]catalog.Privilege{"d": Write}},
	}
	for _, c := range []struct{ who, sql, want string }{
		{"root", "GRANT ALL ON *.* TO app", ""},
		{"manager", "CREATE USER y IDENTIFIED BY 'x'", ""},
		{"manager", "ALTER USER app IDENTIFIED BY 'x'", ""},
		{"manager", "ALTER USER root IDENTIFIED BY 'x'", "you need (at least one of) the SUPER"},
		{"manager", "CREATE USER app@localhost IDENTIFIED BY 'x'", ""},
		{"manager", "CREATE USER root@localhost IDENTIFIED BY 'x'", "you need (at least one of) the SUPER"},
		{"manager", "RENAME USER app TO root@localhost", "you need (at least one of) the SUPER"},
		{"manager", "RENAME USER app TO app@localhost", ""},
		{"manager", "ALTER USER app@localhost, root@'10.%' ACCOUNT LOCK", "you need (at least one of) the SUPER"},
		{"manager", "GRANT USAGE ON *.* TO root@localhost IDENTIFIED BY 'x'", "you need (at least one of) the SUPER"},
		{"app", "ALTER USER app@localhost IDENTIFIED BY 'x'", "you need (at least one of) the CREATE USER"},
		{"app", "SET PASSWORD FOR app@localhost = PASSWORD('x')", "you need (at least one of) the CREATE USER"},
		{"app", "ALTER USER app ACCOUNT UNLOCK", "you need (at least one of) the CREATE USER"},
		{"app", "ALTER USER app REQUIRE NONE", "you need (at least one of) the CREATE USER"},
		{"manager", "DROP USER app, root", "you need (at least one of) the SUPER"},
		{"manager", "GRANT USAGE ON *.* TO root IDENTIFIED BY 'x'", "you need (at least one of) the SUPER"},
		{"manager", "GRANT SELECT ON d.* TO manager", "Access denied for user 'manager'@'%' to database 'd'"},
		{"owner", "GRANT SELECT, INSERT ON d.* TO app", ""},
		{"owner", "GRANT ALL ON d.t TO app", ""},
		{"owner", "REVOKE INSERT ON d.* FROM app", ""},
		{"owner", "GRANT SELECT ON e.* TO owner", "Access denied for user 'owner'@'%' to database 'e'"},
		{"owner", "GRANT PROCESS ON *.* TO owner", "Access denied for user 'owner'@'%'"},
		{"owner", "GRANT SELECT ON d.* TO app IDENTIFIED BY 'x'", "you need (at least one of) the CREATE USER"},
		{"owner", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM app", "you need (at least one of) the CREATE USER"},
		{"lender", "GRANT SELECT ON d.t TO app", ""},
		{"lender", "GRANT INSERT ON d.t TO app", "INSERT command denied"},
		{"lender", "GRANT SELECT ON d.* TO app", "Access denied for user 'lender'@'%' to database 'd'"},
		{"app", "SET PASSWORD = 'x'", ""},
		{"app", "ALTER USER app IDENTIFIED BY 'x'", ""},
		{"app", "ALTER USER USER() IDENTIFIED BY 'x', owner IDENTIFIED BY 'y'", "you need (at least one of) the CREATE USER"},
		{"app", "GRANT SELECT ON d.* TO app", "Access denied for user 'app'@'%' to database 'd'"},
	} {
		st, err := parse(t, true, c.sql)
		require.NoError(t, err, c.sql)
		err = st.Allowed(Session{Flavor: catalog.MariaDB, User: catalog.AccountName(c.who), Host: "h", Database: "d"}, have[catalog.AccountName(c.who)], have)
		if c.want == "" {
			require.NoError(t, err, "%s: %s", c.who, c.sql)
		} else {
			require.ErrorContains(t, err, c.want, "%s: %s", c.who, c.sql)
		}
	}
}

// What etcd keeps of privileges, and what the admin API calls them.
func TestPrivilegeTexts(t *testing.T) {
	for _, p := range []catalog.Privilege{0, catalog.MaySelect, Read, Write, Admin, catalog.AllOfDatabase | catalog.MayGrant, catalog.MayProcess | catalog.MayGrant} {
		text, err := p.MarshalText()
		require.NoError(t, err)
		var back catalog.Privilege
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, p, back)
		back, err = ParsePrivilege(PrivilegeName(p, "*"), "*")
		require.NoError(t, err)
		require.Equal(t, p, back)
	}
	require.Error(t, new(catalog.Privilege).UnmarshalText([]byte("SELECT, ALL")))
	p, err := ParsePrivilege("Select, lock tables", "d")
	require.NoError(t, err)
	require.Equal(t, catalog.MaySelect|catalog.MayLockTables, p)
	_, err = ParsePrivilege("process", "d")
	require.ErrorContains(t, err, "on all databases")
	_, err = ParsePrivilege("selct", "d")
	require.ErrorContains(t, err, "unknown privilege")
}

// What a statement does not say of accounts is not read into it.
func FuzzParse(f *testing.F) {
	for _, sql := range []string{
		"CREATE USER IF NOT EXISTS a@'%' IDENTIFIED BY 'x', b IDENTIFIED VIA mysql_native_password USING 'y' REQUIRE NONE",
		"SET PASSWORD FOR a = PASSWORD('x')", "RENAME USER a TO b, c TO d", "DROP USER a, b", "ALTER USER USER() IDENTIFIED BY 'x'",
		"GRANT SELECT, INSERT ON *.* TO a WITH GRANT OPTION", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a", "GRANT SELECT ON `a\\%`.* TO b IDENTIFIED BY 'c'",
	} {
		f.Add(sql, true)
		f.Add(sql, false)
	}
	f.Fuzz(func(t *testing.T, sql string, mariadb bool) {
		st := sqlparse.NewDialect(mariadb, "10.11.6").NewStatement()
		if st.Scan([]byte(sql), 0) != nil || st.Kind() != sqlparse.Account && st.Kind() != sqlparse.Grant {
			t.Skip()
		}
		got, err := Parse(st)
		if err != nil {
			require.Contains(t, err.Error(), "1235")
			return
		}
		require.NotEmpty(t, got.Users)
		for _, u := range got.Users {
			require.True(t, u.Current || strings.Contains(sql, u.Name.User()) || strings.ContainsAny(sql, "`'\"\\"), "%q in %q", u.Name, sql)
		}
	})
}

// Servers are shown how a statement is written, and no password.
func TestMasked(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE USER 'a'@'%' IDENTIFIED BY 'se\\'cret', b IDENTIFIED BY \"x\"":   "CREATE USER 'a'@'%' IDENTIFIED BY 'xxxxxxxx', b IDENTIFIED BY \"x\"",
		"ALTER USER a IDENTIFIED VIA mysql_native_password USING PASSWORD('pw')": "ALTER USER a IDENTIFIED VIA mysql_native_password USING PASSWORD('xx')",
		"SET PASSWORD FOR 'a' = 'pw'":                                            "SET PASSWORD FOR 'a' = 'xx'",
		"ALTER USER a IDENTIFIED BY 'pw' REPLACE 'old'":                          "ALTER USER a IDENTIFIED BY 'xx' REPLACE 'xxx'",
	} {
		st := sqlparse.NewDialect(true, "10.11.6").NewStatement()
		require.NoError(t, st.Scan([]byte(sql), 0))
		require.Equal(t, want, string(Masked(st)))
	}
}
