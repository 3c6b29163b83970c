package metadata

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Clients' accounts are the cluster's: the servers know those of Skarv alone. The tables that show accounts are made from the
// snapshot, in the columns that the server's own table has, so that they say what SHOW GRANTS says. There is nothing in the tables of privileges on
// columns and stored programs.

// accounts is a derived table that stands for one of accounts, which is named with its database in small letters.
func (v *Viewer) accounts(table string) (text string, err error) {
	var rows []string
	switch table {
	case "mysql.user", "mysql.db", "mysql.tables_priv":
		rows, err = v.accountRows(table)
	case "mysql.global_priv":
		rows = v.globalPrivileges()
	case "information_schema.user_privileges":
		rows = v.userPrivileges()
	case "information_schema.schema_privileges":
		rows = v.schemaPrivileges()
	case "information_schema.table_privileges":
		rows = v.tablePrivileges()
	default:
		rows = v.roleRows(table)
	}
	head := "SELECT * FROM " + table + " WHERE FALSE"
	if rows == nil { // columns are called as the query has them only behind a UNION
		rows = []string{head}
	}
	return "(" + strings.Join(slices.Insert(rows, 0, head), " UNION ALL ") + ")", err
}

// shownAccounts are those that the viewer's may see, by name: all, or itself.
func (v *Viewer) shownAccounts() (list []*catalog.Account) {
	for _, name := range slices.Sorted(maps.Keys(v.Snapshot.Accounts)) {
		if a := v.Snapshot.Accounts[name]; name == v.User || v.Account.Administers() {
			list = append(list, a)
		}
	}
	return list
}

// accountRows are rows of mysql.user, one for each account, of mysql.db, one for each database that an account has a privilege on, or of mysql.tables_priv.
func (v *Viewer) accountRows(table string) (rows []string, err error) {
	columns, err := v.Columns(table)
	if err != nil {
		return nil, err
	}
	row := func(a *catalog.Account, on account.On, p catalog.Privilege) {
		values := make([]string, len(columns))
		for i := range columns {
			values[i] = v.accountValue(&columns[i], a, on, p)
		}
		rows = append(rows, "SELECT "+strings.Join(values, ", "))
	}
	for _, a := range v.shownAccounts() {
		switch table {
		case "mysql.user":
			row(a, account.On{}, a.Global())
		case "mysql.db":
			for _, db := range sorted(a.Grants) {
				if db != "*" {
					row(a, account.On{Database: db}, a.Grants[db])
				}
			}
		default:
			for on, p := range account.Granted(a) {
				if on.IsTable() {
					row(a, on, p)
				}
			}
		}
	}
	return rows, nil
}

// accountValue is the value of a column of mysql.user, mysql.db or mysql.tables_priv, in the row that tells of p on something.
func (v *Viewer) accountValue(c *sqltypes.Column, a *catalog.Account, on account.On, p catalog.Privilege) string {
	name := strings.ToLower(c.Name)
	switch name {
	case "host":
		return v.quoted(v.host(a))
	case "user":
		return v.quoted(a.Name.User())
	case "db":
		return v.quoted(on.Database)
	case "table_name":
		return v.quoted(on.Name)
	case "table_priv":
		return v.quoted(tableSet(p))
	case "column_priv", "grantor":
		return "''"
	case "timestamp":
		return "'0000-00-00 00:00:00'"
	case "plugin":
		return v.quoted(a.AuthPlugin)
	case "password", "authentication_string":
		return v.quoted(a.AuthString)
	case "account_locked":
		return yes(a.Locked || a.Role && !v.Dialect.MariaDB())
	case "password_expired":
		return yes(a.Role && !v.Dialect.MariaDB())
	case "ssl_type":
		if a.RequireTLS {
			return "'ANY'"
		}
		return "''"
	case "is_role":
		return yes(a.Role)
	case "default_role":
		if len(a.DefaultRoles) == 0 {
			return "''"
		}
		return v.quoted(a.DefaultRoles[0].User())
	}
	if of, ok := strings.CutSuffix(name, "_priv"); ok {
		return yes(p&columnPrivilege(of) != 0)
	}
	switch {
	case c.Type.IsNumber():
		return "0"
	case c.Flags&sqltypes.FlagNotNull == 0:
		return "NULL"
	}
	return "''"
}

// tableSet is the value of the SET table_priv of mysql.tables_priv.
func tableSet(p catalog.Privilege) string {
	var names []string
	for _, of := range []catalog.Privilege{
		catalog.MaySelect, catalog.MayInsert, catalog.MayUpdate, catalog.MayDelete, catalog.MayCreate, catalog.MayDrop, catalog.MayGrant, catalog.MayReferences,
		catalog.MayIndex, catalog.MayAlter, catalog.MayCreateView, catalog.MayShowView, catalog.MayTrigger, catalog.MayDeleteHistory,
	} {
		if p&of == 0 {
			continue
		}
		switch of {
		case catalog.MayGrant:
			names = append(names, "Grant")
		case catalog.MayCreateView:
			names = append(names, "Create View")
		case catalog.MayDeleteHistory:
			names = append(names, "Delete versioning rows")
		default:
			word := of.String()
			names = append(names, word[:1]+strings.ToLower(word[1:]))
		}
	}
	return strings.Join(names, ",")
}

// globalPrivileges are rows of mysql.global_priv, which MariaDB has below mysql.user.
func (v *Viewer) globalPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		text := "SELECT " + v.quoted(v.host(a)) + ", " + v.quoted(a.Name.User()) + ", JSON_OBJECT('access', " + strconv.FormatUint(serverBits(a.Global()), 10)
		switch {
		case a.Role:
			text += ", 'is_role', TRUE"
		default:
			text += ", 'plugin', " + v.quoted(a.AuthPlugin) + ", 'authentication_string', " + v.quoted(a.AuthString)
			for _, role := range a.DefaultRoles {
				text += ", 'default_role', " + v.quoted(role.User())
			}
			if a.RequireTLS {
				text += ", 'ssl_type', 1"
			}
			if a.Locked {
				text += ", 'account_locked', TRUE"
			}
		}
		rows = append(rows, text+")")
	}
	return rows
}

// serverBits is the number in which MariaDB's server keeps p.
func serverBits(p catalog.Privilege) (access uint64) {
	if p&catalog.All == catalog.All {
		access = 1<<38 - 1 - 1<<10 // with those that have no name here
	}
	for i, of := range []catalog.Privilege{
		catalog.MaySelect, catalog.MayInsert, catalog.MayUpdate, catalog.MayDelete, catalog.MayCreate, catalog.MayDrop, catalog.MayReload, catalog.MayShutdown,
		catalog.MayProcess, catalog.MayFile, catalog.MayGrant, catalog.MayReferences, catalog.MayIndex, catalog.MayAlter, catalog.MayShowDatabases,
		catalog.MaySuper, catalog.MayCreateTemporary, catalog.MayLockTables, catalog.MayExecute, catalog.MayReplicate, catalog.MaySeeReplication,
		catalog.MayCreateView, catalog.MayShowView, catalog.MayCreateRoutine, catalog.MayAlterRoutine, catalog.MayCreateUser, catalog.MayEvent,
		catalog.MayTrigger, catalog.MayCreateTablespace, catalog.MayDeleteHistory,
	} {
		if p&of != 0 {
			access |= 1 << i
		}
	}
	return access
}

// columnPrivilege is the privilege that a column of mysql.user or mysql.db is of, without its _priv.
func columnPrivilege(name string) catalog.Privilege {
	switch name {
	case "create_tmp_table":
		return catalog.MayCreateTemporary
	case "repl_slave":
		return catalog.MayReplicate
	case "repl_client":
		return catalog.MaySeeReplication
	case "show_db":
		return catalog.MayShowDatabases
	case "grant":
		return catalog.MayGrant
	case "create_role", "drop_role": // MySQL's
		return catalog.MaySuper
	}
	return catalog.PrivilegeNamed(strings.ToUpper(strings.ReplaceAll(name, "_", " ")))
}

// userPrivileges are rows of information_schema.user_privileges.
func (v *Viewer) userPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		p := a.Global()
		if a.Role && v.Dialect.MariaDB() {
			continue
		}
		if p&catalog.All == catalog.All { // all there are on the server
			rows = append(rows, "SELECT "+v.quoted(v.grantee(a))+", 'def', skarv_all.privilege_type, "+grantable(p)+
				" FROM (SELECT DISTINCT privilege_type FROM information_schema.user_privileges WHERE privilege_type <> 'USAGE') AS skarv_all")
			continue
		}
		rows = append(rows, v.privilegeRows(a, p)...)
	}
	return rows
}

// schemaPrivileges are rows of information_schema.schema_privileges.
func (v *Viewer) schemaPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		a = v.merged(a)
		for _, db := range sorted(a.Grants) {
			if db != "*" {
				rows = append(rows, v.privilegeRows(a, a.Grants[db], v.quoted(db))...)
			}
		}
	}
	return rows
}

// tablePrivileges are rows of information_schema.table_privileges.
func (v *Viewer) tablePrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		for on, p := range account.Granted(v.merged(a)) {
			if on.IsTable() {
				rows = append(rows, v.privilegeRows(a, p, v.quoted(on.Database), v.quoted(on.Name))...)
			}
		}
	}
	return rows
}

// host is where an account may log in from as servers' tables have it: roles of MariaDB have none.
func (v *Viewer) host(a *catalog.Account) string {
	if a.Role && v.Dialect.MariaDB() {
		return ""
	}
	return a.Name.Host()
}

// grantee is an account as the tables of privileges name it.
func (v *Viewer) grantee(a *catalog.Account) string {
	return "'" + a.Name.User() + "'@'" + v.host(a) + "'"
}

// yes is the value of a column that says Y or N.
func yes(is bool) string {
	if is {
		return "'Y'"
	}
	return "'N'"
}

// merged is a with what its roles may, where that is what servers show of it: MariaDB's show it of roles.
func (v *Viewer) merged(a *catalog.Account) *catalog.Account {
	if !a.Role || !v.Dialect.MariaDB() {
		return a
	}
	var names []catalog.AccountName
	for _, g := range a.Roles {
		names = append(names, g.Name)
	}
	return v.Snapshot.Accounts.With(a, names)
}

// privilegeRows are rows of the tables of privileges: one for each that an account has on what on names, USAGE if there is none.
func (v *Viewer) privilegeRows(a *catalog.Account, p catalog.Privilege, on ...string) (rows []string) {
	head := strings.Join(append([]string{"SELECT " + v.quoted(v.grantee(a)), "'def'"}, on...), ", ")
	names := account.Names(p&^catalog.MayGrant, v.Snapshot.Flavor)
	if names == nil {
		names = []string{"USAGE"}
	}
	for _, of := range names {
		rows = append(rows, head+", '"+of+"', "+grantable(p))
	}
	return rows
}

// grantable is the column that says whether an account may give others what it has.
func grantable(p catalog.Privilege) string {
	if p&catalog.MayGrant != 0 {
		return "'YES'"
	}
	return "'NO'"
}
