package session

import (
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// Clients' accounts are the cluster's: the servers know those of Skarv alone. The tables that show accounts are made from the
// snapshot, in the columns that the server's own table has, so that they say what SHOW GRANTS says. A privilege of the cluster is one
// on a whole database, so that there is nothing in the tables of smaller ones, and of roles.

// accountTable returns what stands for a table of accounts, "" if r is another one.
func (s *Session) accountTable(r sqlparse.TableRef) (text string, err error) {
	db := r.DB
	if db == "" {
		db = s.db
	}
	if !catalog.ShowsAccounts(db, r.Name) {
		return "", nil
	}
	own := strings.ToLower(db) + "." + strings.ToLower(r.Name)
	var rows []string
	switch own {
	case "mysql.user", "mysql.db":
		rows, err = s.accountRows(own)
	case "mysql.global_priv":
		rows = s.globalPrivileges()
	case "information_schema.user_privileges":
		rows = s.userPrivileges()
	case "information_schema.schema_privileges":
		rows = s.schemaPrivileges()
	}
	return "(" + strings.Join(slices.Insert(rows, 0, "SELECT * FROM "+own+" WHERE FALSE"), " UNION ALL ") + ")", err
}

// shownAccounts are those that the session's may see, by name: all, or itself.
func (s *Session) shownAccounts() (list []*catalog.Account) {
	for _, name := range sortedKeys(s.snap.Accounts) {
		if a := s.snap.Accounts[name]; name == s.user || s.account.Privilege("*") >= catalog.Admin {
			list = append(list, a)
		}
	}
	return list
}

// accountRows are rows of mysql.user, one for each account, or of mysql.db, one for each database that an account has a privilege on.
func (s *Session) accountRows(table string) (rows []string, err error) {
	c, err := s.Get(s.anyGroup())
	if err != nil {
		return nil, err
	}
	columns, _, err := c.QueryAll("SELECT * FROM "+table+" LIMIT 0", 1)
	s.done(c, err)
	if err != nil {
		return nil, txn.Lost(c, err)
	}
	row := func(a *catalog.Account, db string, p catalog.Privilege) {
		values := make([]string, len(columns))
		for i := range columns {
			values[i] = s.accountValue(&columns[i], a, db, p)
		}
		rows = append(rows, "SELECT "+strings.Join(values, ", "))
	}
	for _, a := range s.shownAccounts() {
		if table == "mysql.user" {
			row(a, "", a.Grants["*"])
			continue
		}
		for _, db := range sortedKeys(a.Grants) {
			if db != "*" {
				row(a, db, a.Grants[db])
			}
		}
	}
	return rows, nil
}

// accountValue is the value of a column of mysql.user or mysql.db.
func (s *Session) accountValue(c *sqltypes.Column, a *catalog.Account, db string, p catalog.Privilege) string {
	name := strings.ToLower(c.Name)
	switch name {
	case "host":
		return "'%'"
	case "user":
		return s.quoted(a.Name)
	case "db":
		return s.quoted(db)
	case "plugin":
		return s.quoted(a.AuthPlugin)
	case "password", "authentication_string":
		return s.quoted(a.AuthString)
	case "password_expired", "account_locked", "is_role":
		return "'N'"
	}
	if of, ok := strings.CutSuffix(name, "_priv"); ok {
		if p == catalog.Admin && of != "grant" || slices.Contains(privilegesOf(p), strings.ToUpper(strings.ReplaceAll(of, "_", " "))) {
			return "'Y'"
		}
		return "'N'"
	}
	switch {
	case isNumber(c.Type):
		return "0"
	case c.Flags&sqltypes.FlagNotNull == 0:
		return "NULL"
	}
	return "''"
}

// privilegesOf are the privileges of the servers that one of the cluster below Admin stands for.
func privilegesOf(p catalog.Privilege) []string {
	switch p {
	case catalog.Read:
		return []string{"SELECT", "SHOW VIEW"}
	case catalog.Write:
		return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "LOCK TABLES", "SHOW VIEW"}
	}
	return nil
}

// globalPrivileges are rows of mysql.global_priv, which MariaDB has below mysql.user.
func (s *Session) globalPrivileges() (rows []string) {
	for _, a := range s.shownAccounts() {
		access := map[catalog.Privilege]uint64{ // the bits that the server keeps
			catalog.Read:  1<<0 | 1<<22,
			catalog.Write: 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<17 | 1<<22,
			catalog.Admin: 1<<38 - 1 - 1<<10,
		}[a.Grants["*"]]
		rows = append(rows, "SELECT '%', "+s.quoted(a.Name)+", JSON_OBJECT('access', "+strconv.FormatUint(access, 10)+
			", 'plugin', "+s.quoted(a.AuthPlugin)+", 'authentication_string', "+s.quoted(a.AuthString)+")")
	}
	return rows
}

// userPrivileges are rows of information_schema.user_privileges.
func (s *Session) userPrivileges() (rows []string) {
	for _, a := range s.shownAccounts() {
		head := "SELECT " + s.quoted("'"+a.Name+"'@'%'") + ", 'def', "
		switch p := a.Grants["*"]; p {
		case catalog.Admin: // all there are on the server
			rows = append(rows, head+"skarv_all.privilege_type, 'NO' FROM (SELECT DISTINCT privilege_type FROM information_schema.user_privileges"+
				" WHERE privilege_type <> 'USAGE') AS skarv_all")
		case catalog.NoAccess:
			rows = append(rows, head+"'USAGE', 'NO'")
		default:
			for _, of := range privilegesOf(p) {
				rows = append(rows, head+"'"+of+"', 'NO'")
			}
		}
	}
	return rows
}

// schemaPrivileges are rows of information_schema.schema_privileges.
func (s *Session) schemaPrivileges() (rows []string) {
	for _, a := range s.shownAccounts() {
		for _, db := range sortedKeys(a.Grants) {
			p := a.Grants[db]
			if db == "*" || p == catalog.NoAccess {
				continue
			}
			list := privilegesOf(p)
			if p == catalog.Admin {
				list = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
					"LOCK TABLES", "EXECUTE", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT", "TRIGGER"}
				if s.cfg.Dialect.MariaDB() {
					list = append(list, "DELETE HISTORY")
				}
			}
			for _, of := range list {
				rows = append(rows, "SELECT "+s.quoted("'"+a.Name+"'@'%'")+", 'def', "+s.quoted(db)+", '"+of+"', 'NO'")
			}
		}
	}
	return rows
}

// wholeAccounts refuses a query of accounts whose tables cannot be told from its text.
func (s *Session) wholeAccounts(refs []sqlparse.TableRef) error {
	for _, r := range refs {
		db := r.DB
		if db == "" {
			db = s.db
		}
		if catalog.ShowsAccounts(db, r.Name) {
			return sqlerr.Unsupported("this form of a query of "+strings.ToLower(db+"."+r.Name)+", which shows the cluster's accounts",
				"give its tables aliases and qualify columns by them")
		}
	}
	return nil
}
