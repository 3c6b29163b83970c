package session

import (
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
)

// authorise returns an error if the account may not run p, or one in whose name p reads may not.
func (s *Session) authorise(p *plan.Plan) error {
	if s.vouched || p == s.allowed.plan && s.account == s.allowed.account {
		return nil
	}
	own := true // all that is asked is of the session's account
	for _, a := range p.Access {
		by := s.account
		if !s.actsItself(a) {
			if by, own = s.snap.Definer(a.As), false; by == nil {
				if a.View != nil && !s.admin { // who the definer was, only administrators are told
					return sqlerr.AccessDenied.New(s.account.Name.User(), s.account.Name.Host(), "YES")
				}
				return sqlerr.NoSuchUser.New(a.As.User(), a.As.Host())
			}
		}
		if !may(by, a) {
			return s.denied(by, a)
		}
	}
	if own {
		s.allowed.plan, s.allowed.account = p, s.account
	}
	return nil
}

// actsItself reports whether it is the session's account that needs a, with the roles that are active: a program of which it is the definer runs as it
// does itself, but views are read as by nobody but their definers.
func (s *Session) actsItself(a plan.Access) bool {
	return a.As == "" || a.As == s.account.Name && a.View == nil
}

// withheld is err, a planner's, unless that tells of a schema of which the account may not know: servers ask for privileges before they look for names.
func (s *Session) withheld(err error) error {
	if !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase, sqlerr.UnknownColumn, sqlerr.AmbiguousColumn, sqlerr.ViewInvalid,
		sqlerr.NotSupportedYet, sqlerr.NoSuchRoutine) {
		return err
	}
	if denied := s.authorise(&plan.Plan{Access: planner.Named(s.stmt, s.db, s.snap)}); denied != nil {
		return denied
	}
	return err
}

// actAs makes the account that a program runs as the session's until back is called.
func (s *Session) actAs(security catalog.Security) (back func(), err error) {
	account, roles, admin, was, vouched := s.account, s.roles, s.admin, s.definer, s.vouched
	if name := security.As(""); name != "" && name != s.account.Name {
		definer := s.snap.Definer(name)
		if definer == nil {
			return nil, sqlerr.NoSuchUser.New(name.User(), name.Host())
		}
		s.account, s.roles, s.admin, s.definer = definer, s.snap.DefinerRoles(s.snap.Accounts[definer.Name]), definer.Administers(), name
	}
	s.vouched = false
	return func() { s.account, s.roles, s.admin, s.definer, s.vouched = account, roles, admin, was, vouched }, nil
}

// has is what an account may do with what a is about.
func has(by *catalog.Account, a plan.Access) catalog.Privilege {
	if a.Routine != "" {
		return by.OfRoutine(catalog.NewRoutineKey(a.Database, a.Routine, a.Function))
	}
	return by.Privileges(a.Database, a.Table)
}

// may reports whether an account has what a asks for.
func may(by *catalog.Account, a plan.Access) bool {
	have := has(by, a)
	switch {
	case a == plan.Access{As: a.As, View: a.View, Tells: a.Tells}:
		return true
	case a.Privilege != 0:
		return have&a.Privilege == a.Privilege
	case a.Table != "":
		return have&(catalog.AllOfTable|catalog.MayGrant) != 0
	}
	return by.Sees(a.Database)
}

// denied is what a server says to a client for which an account may not do what a asks for. It names where the client is if the account is its own.
func (s *Session) denied(by *catalog.Account, a plan.Access) error {
	lacks := a.Privilege &^ has(by, a)
	host := s.accountHost()
	if !s.actsItself(a) {
		host = by.Name.Host()
	}
	switch {
	case a.Tells && s.cfg.Dialect.MariaDB():
		return sqlerr.ViewNoExplain.New("ANALYZE/")
	case a.Tells:
		return sqlerr.ViewNoExplain.New("")
	case a.View != nil:
		return sqlerr.ViewInvalid.New(a.View.Database, a.View.Name)
	case a.Database == "*":
		return sqlerr.SpecificAccessDenied.New(lacks.String())
	case a.Routine != "":
		return account.RoutineDenied(lacks, by.Name, a.Database, a.Routine)
	case a.Table != "":
		return account.TableDenied(s.snap.Flavor, foremost(lacks), by.Name.User(), host, a.Database, a.Table)
	}
	return s.deniedDB(a.Database)
}

// accountHost is where the account is, as errors name it: the client's host, or what a definer has for one.
func (s *Session) accountHost() string {
	if s.definer != "" {
		return s.definer.Host()
	}
	return s.origin.Host
}

// deniedDB is what a server says to a client that may not use a database, of which it names the account, not the client's host.
func (s *Session) deniedDB(db string) error {
	return sqlerr.AccessDeniedDB.New(s.account.Name.User(), s.account.Name.Host(), db)
}

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
	return may(s.account, plan.Access{Database: db, Table: name})
}

// check refuses what the account may not do with a table or, if table is "", in a database as a whole.
func (s *Session) check(db, table string, p catalog.Privilege) error {
	if a := (plan.Access{Database: db, Table: table, Privilege: p}); !may(s.account, a) {
		return s.denied(s.account, a)
	}
	return nil
}
