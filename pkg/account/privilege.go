package account

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
)

// all is what GRANT calls all privileges.
const all = "ALL PRIVILEGES"

// What accounts mostly have in a database, by the names that the admin API and skarvctl know.
const (
	Read  = catalog.MaySelect | catalog.MayShowView | catalog.MayExecute
	Write = Read | catalog.MayInsert | catalog.MayUpdate | catalog.MayDelete | catalog.MayLockTables | catalog.MayCreateTemporary
	// Admin is, on all databases, the cluster's administrator.
	Admin = catalog.All | catalog.MayGrant
)

// admin is Admin as far as it can be on db.
func admin(db string) catalog.Privilege {
	if db == "*" {
		return Admin
	}
	return catalog.AllOfDatabase
}

// ParsePrivilege reads what an account may do in the database db, "*" for all: none, read, write, admin, all (on all databases without the GRANT OPTION, which admin has), or a list of privileges as GRANT has them, with commas.
func ParsePrivilege(text, db string) (p catalog.Privilege, err error) {
	switch strings.ToLower(text) {
	case "none":
		return catalog.NoAccess, nil
	case "read":
		return Read, nil
	case "write":
		return Write, nil
	case "admin":
		return admin(db), nil
	case "all":
		return most(On{Database: db}), nil
	}
	for name := range strings.SplitSeq(text, ",") {
		of := catalog.PrivilegeNamed(strings.ToUpper(strings.TrimSpace(name)))
		switch {
		case of == 0:
			return 0, fmt.Errorf("unknown privilege %q: use read, write, admin or none, or privileges as GRANT has them, with commas", name)
		case db != "*" && of&^(catalog.AllOfDatabase|catalog.MayGrant) != 0:
			return 0, fmt.Errorf("the privilege %s is one on all databases, *, only", of)
		}
		p |= of
	}
	return p, nil
}

// PrivilegeName is the text that ParsePrivilege reads p from.
func PrivilegeName(p catalog.Privilege, db string) string {
	switch p {
	case catalog.NoAccess:
		return "none"
	case Read:
		return "read"
	case Write:
		return "write"
	case admin(db):
		return "admin"
	case most(On{Database: db}):
		return "all"
	}
	return strings.ToLower(strings.Join(p.Names(), ","))
}

// most is all privileges that there are on something.
func most(on On) catalog.Privilege {
	switch {
	case on.Kind != Table:
		return catalog.AllOfRoutine
	case on.Name != "":
		return catalog.AllOfTable
	case on.Database != "*":
		return catalog.AllOfDatabase
	}
	return catalog.All
}

// Completed is p, which a server has told name by name, with those that MariaDB alone has where all others are there: it is ALL PRIVILEGES then.
func Completed(p catalog.Privilege, on On) catalog.Privilege {
	if full := most(on); (p|catalog.MayDeleteHistory)&full == full {
		p |= full
	}
	return p
}

// Told is what GRANT calls p on something, with the GRANT OPTION apart.
func Told(p catalog.Privilege, on On, flavor catalog.Flavor) (names []string, grants bool) {
	grants = p&catalog.MayGrant != 0
	if p &^= catalog.MayGrant; p == most(on) && (on.Kind == Table || on.Name == "") {
		return []string{all}, grants
	}
	return Names(p, flavor), grants
}

// asServersTell are the names of all privileges in the order in which servers tell them, but for the GRANT OPTION.
func asServersTell() []string {
	return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "RELOAD", "SHUTDOWN", "PROCESS", "FILE", "REFERENCES", "INDEX", "ALTER",
		"SHOW DATABASES", "SUPER", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE VIEW", "SHOW VIEW",
		"CREATE ROUTINE", "ALTER ROUTINE", "CREATE USER", "EVENT", "TRIGGER", "CREATE TABLESPACE", "DELETE HISTORY", "GRANT OPTION"}
}

// Names are the privileges of p that servers of the flavor know.
func Names(p catalog.Privilege, flavor catalog.Flavor) []string {
	if flavor == catalog.MySQL {
		p &^= catalog.MayDeleteHistory
	}
	list := p.Names()
	order := asServersTell()
	slices.SortStableFunc(list, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	if i := slices.Index(list, catalog.MaySeeReplication.String()); i >= 0 && flavor == catalog.MariaDB {
		list[i] = "BINLOG MONITOR"
	}
	return list
}
