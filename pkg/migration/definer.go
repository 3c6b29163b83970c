package migration

import (
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// definer is the account that a view or program runs as for which a statement names one, with a note if there is no such account; "": whoever runs the
// statement.
func (p *Planner) definer(name catalog.AccountName) (catalog.AccountName, error) {
	if name == "" || name == p.User {
		return p.User, nil
	}
	if !p.client().Administers() {
		if p.Snap.Flavor == catalog.MySQL {
			return "", sqlerr.SpecificAccessDenied.New("SUPER or SET_ANY_DEFINER")
		}
		return "", sqlerr.SpecificAccessDenied.New("SUPER, SET USER")
	}
	if a := p.Snap.Accounts[name]; a != nil && a.Role && p.Snap.Flavor == catalog.MariaDB {
		return "", sqlerr.Unsupported("a role as the definer", "name an account")
	} else if a == nil {
		p.note(sqlerr.NoSuchUser.New(name.User(), name.Host()))
	}
	return name, nil
}

// programDefiner is definer for a stored program.
func (p *Planner) programDefiner(prog *routine.Program) (catalog.AccountName, error) {
	if prog.DefinerName == "" {
		return p.definer("")
	}
	return p.definer(catalog.NameOf(prog.DefinerName, catalog.FoldHost(prog.DefinerHost)))
}

// client is the account of who runs the statement, with what its active roles may.
func (p *Planner) client() *catalog.Account {
	a := p.Snap.Accounts[p.User]
	if a == nil {
		return &catalog.Account{}
	}
	return p.Snap.Accounts.With(a, p.Roles)
}

// mayChange returns the error of MySQL for a view or program of a definer that administers, which others may not change or drop.
func (p *Planner) mayChange(definer catalog.AccountName) error {
	if a := p.Snap.Definer(definer); p.Snap.Flavor == catalog.MySQL && a != nil && p.Snap.Accounts.Administers(a) && !p.client().Administers() {
		return sqlerr.SpecificAccessDenied.New("SYSTEM_USER")
	}
	return nil
}

// viewDefiner notes the definer of the view that the statement makes, or makes of old. ALTER VIEW keeps it, and is for nobody else.
func (p *Planner) viewDefiner(old *catalog.Table) (err error) {
	name := p.Statement.Definer
	if p.Statement.Verb == ddl.AlterView && name == "" {
		if name = old.Definer; name == "" {
			return nil
		}
	}
	p.work.Definer, err = p.definer(name)
	return err
}
