package account

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// told runs statements about roles by accounts over accounts in memory, and returns the last error; the first that is not to be said is the last.
func told(t *testing.T, flavor catalog.Flavor, have accounts, by catalog.AccountName, active []catalog.AccountName, statements ...string) error {
	for _, sql := range statements {
		st, err := parse(t, flavor == catalog.MariaDB, sql)
		require.NoError(t, err, sql)
		session := Session{Flavor: flavor, User: by, Host: "h", Roles: active}
		if err := st.Allowed(session, have.With(have[by], active), have); err != nil {
			return err
		}
		r := &run{st: st, by: session, have: have, after: accounts{}}
		if err := r.all(); err != nil {
			return err
		}
		for name, a := range r.after {
			if have[name] = a; a == nil {
				delete(have, name)
			}
		}
		if err := r.failure(); err != nil {
			return err
		}
	}
	return nil
}

func some() accounts {
	return accounts{
		"root":    {Name: "root", Grants: map[string]catalog.Privilege{"*": Admin}},
		"manager": {Name: "manager", Grants: map[string]catalog.Privilege{"*": catalog.MayCreateUser}},
		"app":     {Name: "app", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{}},
		"other":   {Name: "other", AuthPlugin: "mysql_native_password", Grants: map[string]catalog.Privilege{}},
	}
}

// Who had a role that was dropped does not have the next of its name.
func TestDroppedRole(t *testing.T) {
	for _, flavor := range []catalog.Flavor{catalog.MariaDB, catalog.MySQL} {
		have := some()
		require.NoError(t, told(t, flavor, have, "root", nil, "CREATE ROLE r, s", "GRANT r TO app", "GRANT s TO r", "GRANT SELECT ON *.* TO s"))
		require.Equal(t, catalog.MaySelect, have.With(have["app"], []catalog.AccountName{"r"}).Global())
		require.NoError(t, told(t, flavor, have, "root", nil, "DROP ROLE s", "CREATE ROLE s", "GRANT SELECT ON *.* TO s"))
		require.Equal(t, catalog.NoAccess, have.With(have["app"], []catalog.AccountName{"r"}).Global())
		require.NoError(t, told(t, flavor, have, "root", nil, "DROP ROLE r", "CREATE ROLE r", "GRANT s TO r"))
		require.False(t, have.Has(have["app"], "r"))
		require.NoError(t, told(t, flavor, have, "root", nil, "GRANT r TO app"))
		require.Len(t, have["app"].Roles, 1, "of those that are gone nothing is kept")
		require.NoError(t, told(t, flavor, have, "root", nil, "DROP USER app", "CREATE USER app IDENTIFIED BY 'x'"))
		require.False(t, have.Has(have["app"], "r"))
	}
}

// Nobody gets what is an administrator's by the roles that he may manage.
func TestRolesOfAdministrators(t *testing.T) {
	for flavor, sets := range map[catalog.Flavor]string{catalog.MariaDB: "SET DEFAULT ROLE adm FOR app", catalog.MySQL: "SET DEFAULT ROLE adm TO app"} {
		have := some()
		require.NoError(t, told(t, flavor, have, "root", nil, "CREATE ROLE adm, outer_adm", "GRANT ALL ON *.* TO adm", "GRANT adm TO outer_adm", "GRANT outer_adm TO app"))
		for _, sql := range []string{
			"ALTER USER app IDENTIFIED BY 'mine'", "SET PASSWORD FOR app = PASSWORD('mine')", "DROP USER app", "DROP ROLE adm", "RENAME USER app TO mine",
			"GRANT adm TO manager", "GRANT outer_adm TO manager", "REVOKE adm FROM outer_adm", "GRANT SELECT ON *.* TO adm", sets,
		} {
			if flavor == catalog.MySQL && sql[:4] == "SET " && sql[4] == 'P' {
				continue
			}
			require.Error(t, told(t, flavor, have, "manager", nil, sql), sql)
		}
		require.Error(t, told(t, flavor, have, "other", nil, "GRANT adm TO other"))
		require.False(t, have.Administers(have["manager"]))
	}
}

// Who may grant roles to others, and which may not be granted.
func TestGrantRoles(t *testing.T) {
	have := some()
	require.NoError(t, told(t, catalog.MySQL, have, "root", nil, "CREATE ROLE r, s", "GRANT r TO app WITH ADMIN OPTION", "GRANT r TO s WITH ADMIN OPTION"))
	require.NoError(t, told(t, catalog.MySQL, have, "app", nil, "GRANT r TO other", "REVOKE r FROM other"))
	require.ErrorContains(t, told(t, catalog.MySQL, have, "app", nil, "GRANT s TO other"), "WITH ADMIN")
	require.ErrorContains(t, told(t, catalog.MySQL, have, "root", nil, "GRANT s TO r"), "loop")
	require.NoError(t, told(t, catalog.MySQL, have, "root", nil, "GRANT s TO other"))
	require.ErrorContains(t, told(t, catalog.MySQL, have, "other", nil, "GRANT r TO app"), "WITH ADMIN", "s is not active")
	require.NoError(t, told(t, catalog.MySQL, have, "other", []catalog.AccountName{"s"}, "GRANT r TO app"))
	require.ErrorContains(t, told(t, catalog.MySQL, have, "root", nil, "RENAME USER r TO x"), "forbidden")
	require.ErrorContains(t, told(t, catalog.MySQL, have, "root", nil, "ALTER USER r IDENTIFIED BY 'x'"), "1235")

	have = some()
	require.NoError(t, told(t, catalog.MariaDB, have, "manager", nil, "CREATE ROLE r", "CREATE ROLE s WITH ADMIN r"))
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "root", nil, "GRANT r TO root"), "Access denied")
	require.NoError(t, told(t, catalog.MariaDB, have, "manager", nil, "GRANT s TO app"), "by what r may grant")
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "manager", nil, "GRANT s TO s"), "Cannot grant role 's' to: 's'")
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "manager", nil, "REVOKE r FROM app, other"), "Cannot revoke role 'r' from: 'app'@'%','other'@'%'")
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "manager", nil, "CREATE ROLE app"), "1235")
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "manager", nil, "CREATE USER s IDENTIFIED BY 'x'"), "1235")
	require.ErrorContains(t, told(t, catalog.MariaDB, have, "manager", nil, "CREATE ROLE q WITH ADMIN nobody"), "1235")
}
