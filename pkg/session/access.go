package session

import (
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// authorise returns an error if the account may not run p.
func (s *Session) authorise(p *plan.Plan) error {
	if p == s.allowed.plan && s.account == s.allowed.account {
		return nil
	}
	for _, a := range p.Access {
		if !s.may(a) {
			return s.denied(a)
		}
	}
	s.allowed.plan, s.allowed.account = p, s.account
	return nil
}

// may reports whether the account has what a asks for.
func (s *Session) may(a plan.Access) bool {
	have := s.account.Privileges(a.Database, a.Table)
	switch {
	case a.Privilege != 0:
		return have&a.Privilege == a.Privilege
	case a.Table != "":
		return have&(catalog.AllOfTable|catalog.MayGrant) != 0
	}
	return s.account.Sees(a.Database)
}

// denied is what a server says to a client that may not do what a asks for.
func (s *Session) denied(a plan.Access) error {
	lacks := a.Privilege &^ s.account.Privileges(a.Database, a.Table)
	switch {
	case a.Database == "*":
		return sqlerr.SpecificAccessDenied.New(lacks.String())
	case a.Routine != "":
		return sqlerr.ProgramAccessDenied.New(strings.ToLower(lacks.String()), s.user, "%", a.Database+"."+a.Routine)
	case a.Table != "":
		return account.TableDenied(s.snap.Flavor, foremost(lacks), s.user, s.host, a.Database, a.Table)
	}
	return s.deniedDB(a.Database)
}

// deniedDB is what a server says to a client that may not use a database, of which it names the account, not the client's host.
func (s *Session) deniedDB(db string) error { return sqlerr.AccessDeniedDB.New(s.user, "%", db) }

// foremost is of what an account lacks what a server asks for first.
func foremost(lacks catalog.Privilege) catalog.Privilege {
	const writes = catalog.MayInsert | catalog.MayUpdate | catalog.MayDelete
	switch {
	case lacks&catalog.MayAlter != 0:
		return lacks & (catalog.MayAlter | catalog.MayDrop)
	case lacks&writes != 0:
		return lacks &^ catalog.MaySelect
	case lacks == catalog.MaySelect|catalog.MayShowView:
		return 0
	case lacks == catalog.MaySuper: // what servers have for themselves is for administrators
		return catalog.MaySelect
	}
	return lacks
}

// seesDatabase reports whether SHOW DATABASES has a database: of those of the servers some are there for everybody.
func (s *Session) seesDatabase(name string) bool {
	everybody := strings.EqualFold(name, "information_schema") || strings.EqualFold(name, "performance_schema") && !s.cfg.Dialect.MariaDB()
	return everybody || s.account.Sees(name) || s.account.Global()&catalog.MayShowDatabases != 0
}

// seesTable reports whether the account may know of a table: it may do something with it.
func (s *Session) seesTable(db, name string) bool {
	return s.may(plan.Access{Database: db, Table: name})
}

// check refuses what the account may not do with a table or, if table is "", in a database as a whole.
func (s *Session) check(db, table string, p catalog.Privilege) error {
	if a := (plan.Access{Database: db, Table: table, Privilege: p}); !s.may(a) {
		return s.denied(a)
	}
	return nil
}
