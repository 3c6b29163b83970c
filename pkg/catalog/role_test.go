package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func roles() Accounts {
	return Accounts{
		"reads":  {Name: "reads", ID: "1", Role: true, Grants: map[string]Privilege{"d": MaySelect}},
		"writes": {Name: "writes", ID: "2", Role: true, Tables: map[string]map[string]Privilege{"d": {"t": MayInsert}}},
		"both": {Name: "both", ID: "3", Role: true, Roles: []RoleGrant{{Name: "reads", ID: "1"}, {Name: "writes", ID: "2"}},
			Functions: map[string]map[string]Privilege{"d": {"f": MayExecute}}},
		"admins": {Name: "admins", ID: "4", Role: true, Grants: map[string]Privilege{"*": All}},
		"app": {Name: "app", Grants: map[string]Privilege{"e": MaySelect}, Roles: []RoleGrant{{Name: "both", ID: "3"}, {Name: "admins", ID: "old"}},
			DefaultRoles: []AccountName{"admins", "both"}},
	}
}

// Active roles add what they may, and what they have been granted may; nothing else does.
func TestActiveRoles(t *testing.T) {
	m := roles()
	app := m["app"]
	require.Same(t, app, m.With(app, nil))
	require.Same(t, app, m.With(app, []AccountName{"reads", "nothing"}), "not granted itself")
	a := m.With(app, []AccountName{"both"})
	require.Equal(t, MaySelect|MayInsert, a.Privileges("d", "t"))
	require.Equal(t, MaySelect, a.Privileges("d", "u"))
	require.Equal(t, MaySelect, a.Privileges("e", ""))
	require.Equal(t, MayExecute, a.OnRoutine(NewRoutineKey("d", "f", true)))
	require.Equal(t, NoAccess, app.Privileges("d", "t"), "the account itself is as it was")
	require.Equal(t, NoAccess, m["writes"].Privileges("d", "u"))
}

// A role that was made after the GRANT is another, whatever its name.
func TestRoleOfTheSameName(t *testing.T) {
	m := roles()
	require.False(t, m.Has(m["app"], "admins"))
	require.False(t, m.Administers(m["app"]))
	require.Equal(t, []AccountName{"both"}, m.Defaults(m["app"]))
	m["reads"].ID = "new"
	require.Equal(t, MayInsert, m.With(m["app"], []AccountName{"both"}).Privileges("d", "t"))
}

func TestRolesInACircle(t *testing.T) {
	m := roles()
	m["reads"].Roles = []RoleGrant{{Name: "both", ID: "3"}} // two GRANTs at once
	require.Len(t, m.Inherited(m["both"]), 3)
	m["writes"].Roles = []RoleGrant{{Name: "admins", ID: "4"}}
	require.True(t, m.Administers(m["app"]))
}

// What acts in the name of a definer has its default roles on MySQL, and none on MariaDB.
func TestDefiner(t *testing.T) {
	s := &Snapshot{Flavor: MySQL, Accounts: roles()}
	require.Equal(t, MaySelect, s.Definer("app").Privileges("d", ""))
	s.Flavor = MariaDB
	require.Equal(t, NoAccess, s.Definer("app").Privileges("d", ""))
	require.Nil(t, s.Definer("nobody"))
	require.Nil(t, s.Definer("reads"), "an account of that name is gone")
	require.Nil(t, s.Client("reads", ThisMachine()))
	require.NotNil(t, s.Client("app", ThisMachine()))
}
