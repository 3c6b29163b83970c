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

// outcome is what a statement makes of an account that had a privilege on the database d: the new one, or why not.
func outcome(t *testing.T, had catalog.Privilege, sql string) string {
	st, err := parse(t, true, sql)
	if err == nil {
		a := &catalog.Account{Name: "x", Grants: map[string]catalog.Privilege{"d": had}}
		if had == catalog.NoAccess {
			a.Grants = map[string]catalog.Privilege{}
		}
		r := &run{st: st, by: Session{Flavor: catalog.MariaDB, User: "root", Database: "d"}, have: accounts{"x": a}, after: accounts{}}
		if err = r.all(); err == nil {
			level := []string{"none", "read", "write", "admin"}[r.after["x"].Grants["d"]]
			return strings.Join(append([]string{level}, others(r.after["x"])...), " ")
		}
	}
	return err.Error()
}

// others are the databases but d on which an account has something.
func others(a *catalog.Account) (names []string) {
	for db := range a.Grants {
		if db != "d" {
			names = append(names, db)
		}
	}
	slices.Sort(names)
	return names
}

// What GRANT and REVOKE make of each privilege of the cluster; never more than they say, nor less.
func TestPrivileges(t *testing.T) {
	for _, c := range []struct {
		had  catalog.Privilege
		sql  string
		want string // "refused" is 1235
	}{
		{catalog.NoAccess, "GRANT SELECT ON d.* TO x", "read"},
		{catalog.NoAccess, "GRANT SELECT, SHOW VIEW, EXECUTE ON d.* TO x", "read"},
		{catalog.NoAccess, "GRANT USAGE ON d.* TO x", "none"},
		{catalog.NoAccess, "GRANT EXECUTE ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT INSERT ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT, INSERT ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT, LOCK TABLES ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT, INSERT, UPDATE, DELETE, LOCK TABLES, CREATE TEMPORARY TABLES ON d.* TO x", "write"},
		{catalog.NoAccess, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, CREATE VIEW, TRIGGER ON d.* TO x", "admin"},
		{catalog.NoAccess, "GRANT ALL ON d.* TO x", "admin"},
		{catalog.NoAccess, "GRANT ALL PRIVILEGES ON * TO x", "admin"},
		{catalog.NoAccess, "GRANT ALL ON *.* TO x WITH GRANT OPTION", "none *"},
		{catalog.NoAccess, "GRANT ALL ON d.* TO x WITH GRANT OPTION", "refused"},
		{catalog.NoAccess, "GRANT PROCESS ON *.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT ON `e\\_f`.* TO x", "none e_f"},
		{catalog.NoAccess, "GRANT SELECT ON `e%`.* TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT ON d.t TO x", "refused"},
		{catalog.NoAccess, "GRANT SELECT (a) ON d.* TO x", "refused"},
		{catalog.NoAccess, "GRANT role TO x", "refused"},
		{catalog.Read, "GRANT INSERT, UPDATE, DELETE ON d.* TO x", "write"},
		{catalog.Write, "GRANT SELECT ON d.* TO x", "write"},
		{catalog.Admin, "GRANT TRIGGER ON d.* TO x", "admin"},
		{catalog.Write, "REVOKE INSERT, UPDATE, DELETE ON d.* FROM x", "read"},
		{catalog.Write, "REVOKE INSERT ON d.* FROM x", "refused"},
		{catalog.Write, "REVOKE SELECT ON d.* FROM x", "refused"},
		{catalog.Write, "REVOKE LOCK TABLES ON d.* FROM x", "refused"},
		{catalog.Write, "REVOKE TRIGGER ON d.* FROM x", "write"},
		{catalog.Write, "REVOKE SELECT, INSERT, UPDATE, DELETE ON d.* FROM x", "none"},
		{catalog.Admin, "REVOKE DROP ON d.* FROM x", "refused"},
		{catalog.Admin, "REVOKE CREATE, DROP, ALTER, INDEX, CREATE VIEW ON d.* FROM x", "write"},
		{catalog.Admin, "REVOKE ALL ON d.* FROM x", "none"},
		{catalog.Admin, "REVOKE ALL ON *.* FROM x", "admin"},
		{catalog.Admin, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM x", "none"},
	} {
		got := outcome(t, c.had, c.sql)
		if c.want == "refused" {
			require.Contains(t, got, "1235", c.sql)
		} else {
			require.Equal(t, c.want, got, c.sql)
		}
	}
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
			require.True(t, u.Current || strings.Contains(sql, u.Name) || strings.ContainsAny(sql, "`'\"\\"), "%q in %q", u.Name, sql)
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
