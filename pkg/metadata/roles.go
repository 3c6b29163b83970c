package metadata

import (
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
)

// roleRows are rows of a table about roles, of which each kind of servers has others.
func (v *Viewer) roleRows(table string) []string {
	switch table {
	case "information_schema.applicable_roles":
		return v.applicableRoles(false)
	case "information_schema.administrable_role_authorizations":
		return v.applicableRoles(true)
	case "information_schema.enabled_roles":
		return v.enabledRoles()
	case "information_schema.role_table_grants":
		return v.roleTableGrants()
	case "mysql.roles_mapping", "mysql.role_edges":
		return v.roleEdges()
	case "mysql.default_roles":
		return v.defaultRoles()
	}
	return nil
}

// own is the viewer's account without what its roles may; one without anything if it is gone.
func (v *Viewer) own() *catalog.Account {
	if a := v.Snapshot.Accounts[v.User]; a != nil {
		return a
	}
	return &catalog.Account{Name: v.User}
}

// row is a SELECT of values, each of which is quoted.
func (v *Viewer) row(values ...string) string {
	for i := range values {
		values[i] = v.quoted(values[i])
	}
	return "SELECT " + strings.Join(values, ", ")
}

// said is YES or NO.
func said(is bool) string {
	if is {
		return "YES"
	}
	return "NO"
}

// applicableRoles are rows for what the account has been granted, and what these roles have in turn; only those that it may grant, if that is asked.
func (v *Viewer) applicableRoles(administrable bool) (rows []string) {
	own := v.own()
	for _, a := range v.Snapshot.Accounts.Inherited(own) {
		for role, g := range v.Snapshot.Accounts.Granted(a) {
			isDefault := said(a == own && slices.Contains(own.DefaultRoles, role.Name))
			switch {
			case administrable && !g.Admin:
			case !v.Dialect.MariaDB():
				rows = append(rows, v.row(own.Name.User(), own.Name.Host(), a.Name.User(), a.Name.Host(), role.Name.User(), role.Name.Host(), said(g.Admin), isDefault, "NO"))
			case a == own:
				rows = append(rows, v.row(own.Name.At(), role.Name.User(), said(g.Admin), isDefault))
			default:
				rows = append(rows, v.row(a.Name.User(), role.Name.User(), said(g.Admin))+", NULL")
			}
		}
	}
	return rows
}

// enabledRoles are rows for the roles that are active; on MariaDB for those that they inherit, too, and one of nothing if there are none.
func (v *Viewer) enabledRoles() (rows []string) {
	own := v.own()
	if v.Dialect.MariaDB() {
		for _, role := range v.Snapshot.Accounts.Active(own, v.Roles) {
			rows = append(rows, v.row(role.Name.User()))
		}
		if rows == nil {
			rows = []string{"SELECT NULL"}
		}
		return rows
	}
	defaults := v.Snapshot.Accounts.Defaults(own)
	for _, role := range v.Roles { // those that were taken away since, too
		rows = append(rows, v.row(role.User(), role.Host(), said(slices.Contains(defaults, role)), "NO"))
	}
	return rows
}

// roleTableGrants are rows for what active roles have on single tables.
func (v *Viewer) roleTableGrants() (rows []string) {
	for _, role := range v.Snapshot.Accounts.Active(v.own(), v.Roles) {
		for on, p := range account.Granted(role) {
			if on.IsTable() {
				rows = append(rows, v.row("", "", role.Name.User(), role.Name.Host(), "def", on.Database, on.Name, tableSet(p), said(p&catalog.MayGrant != 0)))
			}
		}
	}
	return rows
}

// roleEdges are rows of mysql.roles_mapping or mysql.role_edges: who has been granted what.
func (v *Viewer) roleEdges() (rows []string) {
	for _, a := range v.shownAccounts() {
		for role, g := range v.Snapshot.Accounts.Granted(a) {
			admin := "N"
			if g.Admin {
				admin = "Y"
			}
			if v.Dialect.MariaDB() {
				rows = append(rows, v.row(v.host(a), a.Name.User(), role.Name.User(), admin))
			} else {
				rows = append(rows, v.row(role.Name.Host(), role.Name.User(), a.Name.Host(), a.Name.User(), admin))
			}
		}
	}
	return rows
}

// defaultRoles are rows of mysql.default_roles.
func (v *Viewer) defaultRoles() (rows []string) {
	for _, a := range v.shownAccounts() {
		for _, role := range v.Snapshot.Accounts.Defaults(a) {
			rows = append(rows, v.row(a.Name.Host(), a.Name.User(), role.Host(), role.User()))
		}
	}
	return rows
}
