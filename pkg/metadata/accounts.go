package metadata

import (
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Clients' accounts are the cluster's: the servers know those of Skarv alone. The tables that show accounts are made from the
// snapshot, in the columns that the server's own table has, so that they say what SHOW GRANTS says. A privilege of the cluster is one
// on a whole database, so that there is nothing in the tables of smaller ones, and of roles.

// accounts is a derived table that stands for one of accounts, which is named with its database in small letters.
func (v *Viewer) accounts(table string) (text string, err error) {
	var rows []string
	switch table {
	case "mysql.user", "mysql.db":
		rows, err = v.accountRows(table)
	case "mysql.global_priv":
		rows = v.globalPrivileges()
	case "information_schema.user_privileges":
		rows = v.userPrivileges()
	case "information_schema.schema_privileges":
		rows = v.schemaPrivileges()
	}
	return "(" + strings.Join(slices.Insert(rows, 0, "SELECT * FROM "+table+" WHERE FALSE"), " UNION ALL ") + ")", err
}

// shownAccounts are those that the viewer's may see, by name: all, or itself.
func (v *Viewer) shownAccounts() (list []*catalog.Account) {
	for _, name := range sorted(v.Snapshot.Accounts) {
		if a := v.Snapshot.Accounts[name]; name == v.User || v.Account.Privilege("*") >= catalog.Admin {
			list = append(list, a)
		}
	}
	return list
}

// accountRows are rows of mysql.user, one for each account, or of mysql.db, one for each database that an account has a privilege on.
func (v *Viewer) accountRows(table string) (rows []string, err error) {
	columns, err := v.Columns(table)
	if err != nil {
		return nil, err
	}
	row := func(a *catalog.Account, db string, p catalog.Privilege) {
		values := make([]string, len(columns))
		for i := range columns {
			values[i] = v.accountValue(&columns[i], a, db, p)
		}
		rows = append(rows, "SELECT "+strings.Join(values, ", "))
	}
	for _, a := range v.shownAccounts() {
		if table == "mysql.user" {
			row(a, "", a.Grants["*"])
			continue
		}
		for _, db := range sorted(a.Grants) {
			if db != "*" {
				row(a, db, a.Grants[db])
			}
		}
	}
	return rows, nil
}

// accountValue is the value of a column of mysql.user or mysql.db.
func (v *Viewer) accountValue(c *sqltypes.Column, a *catalog.Account, db string, p catalog.Privilege) string {
	name := strings.ToLower(c.Name)
	switch name {
	case "host":
		return "'%'"
	case "user":
		return v.quoted(a.Name)
	case "db":
		return v.quoted(db)
	case "plugin":
		return v.quoted(a.AuthPlugin)
	case "password", "authentication_string":
		return v.quoted(a.AuthString)
	case "password_expired", "account_locked", "is_role":
		return "'N'"
	}
	if of, ok := strings.CutSuffix(name, "_priv"); ok {
		if p == catalog.Admin && of != "grant" || slices.Contains(account.Privileges(p), strings.ToUpper(strings.ReplaceAll(of, "_", " "))) {
			return "'Y'"
		}
		return "'N'"
	}
	switch {
	case c.Type.IsNumber():
		return "0"
	case c.Flags&sqltypes.FlagNotNull == 0:
		return "NULL"
	}
	return "''"
}

// globalPrivileges are rows of mysql.global_priv, which MariaDB has below mysql.user.
func (v *Viewer) globalPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		access := map[catalog.Privilege]uint64{ // the bits that the server keeps
			catalog.Read:  1<<0 | 1<<22,
			catalog.Write: 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<17 | 1<<22,
			catalog.Admin: 1<<38 - 1 - 1<<10,
		}[a.Grants["*"]]
		rows = append(rows, "SELECT '%', "+v.quoted(a.Name)+", JSON_OBJECT('access', "+strconv.FormatUint(access, 10)+
			", 'plugin', "+v.quoted(a.AuthPlugin)+", 'authentication_string', "+v.quoted(a.AuthString)+")")
	}
	return rows
}

// userPrivileges are rows of information_schema.user_privileges.
func (v *Viewer) userPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		head := "SELECT " + v.quoted("'"+a.Name+"'@'%'") + ", 'def', "
		switch p := a.Grants["*"]; p {
		case catalog.Admin: // all there are on the server
			rows = append(rows, head+"skarv_all.privilege_type, 'NO' FROM (SELECT DISTINCT privilege_type FROM information_schema.user_privileges"+
				" WHERE privilege_type <> 'USAGE') AS skarv_all")
		case catalog.NoAccess:
			rows = append(rows, head+"'USAGE', 'NO'")
		default:
			for _, of := range account.Privileges(p) {
				rows = append(rows, head+"'"+of+"', 'NO'")
			}
		}
	}
	return rows
}

// schemaPrivileges are rows of information_schema.schema_privileges.
func (v *Viewer) schemaPrivileges() (rows []string) {
	for _, a := range v.shownAccounts() {
		for _, db := range sorted(a.Grants) {
			p := a.Grants[db]
			if db == "*" || p == catalog.NoAccess {
				continue
			}
			list := account.Privileges(p)
			if p == catalog.Admin {
				list = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
					"LOCK TABLES", "EXECUTE", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT", "TRIGGER"}
				if v.Dialect.MariaDB() {
					list = append(list, "DELETE HISTORY")
				}
			}
			for _, of := range list {
				rows = append(rows, "SELECT "+v.quoted("'"+a.Name+"'@'%'")+", 'def', "+v.quoted(db)+", '"+of+"', 'NO'")
			}
		}
	}
	return rows
}
