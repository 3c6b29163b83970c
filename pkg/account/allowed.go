package account

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// manages reports whether the statement is about accounts as a whole, and not about what they are granted.
func (st *Statement) manages() bool {
	switch st.Verb {
	case Grant, Revoke, GrantRole, RevokeRole:
		return st.Everything
	}
	return true
}

// Allowed returns the error of a server whose client, who has the privileges of own, may not say the statement; nil: it may. have are the cluster's
// accounts, that of the client among them.
func (st *Statement) Allowed(by Session, own *catalog.Account, have catalog.Accounts) error {
	if st.Verb >= CreateRole {
		return st.rolesAllowed(by, own, have)
	}
	manages, conditions := st.manages(), st.Locked != nil || st.RequireTLS != nil
	for i := range st.Users {
		u := &st.Users[i]
		name := u.name(by)
		switch {
		case name == by.User && (st.Verb == Password || st.Verb == Alter && !conditions): // anybody may change his own password
			continue
		case (manages || u.Logs || conditions) && own.Global()&catalog.MayCreateUser == 0:
			return sqlerr.SpecificAccessDenied.New(catalog.MayCreateUser.String())
		case (manages || u.Logs || conditions) && !own.Administers() && (isAdministrators(name, have) || st.Verb == Rename && isAdministrators(st.To[i].name(by), have)):
			return sqlerr.SpecificAccessDenied.New(catalog.MaySuper.String())
		case st.Verb == Rename && by.Flavor == catalog.MySQL && isGranted(name, have):
			return sqlerr.RenamedRole.New()
		}
	}
	if manages {
		return st.mayGrantRoles(by, own, have) // those of CREATE USER
	}
	on, err := st.on(by)
	if err != nil {
		return err
	}
	if err := st.fits(on); err != nil {
		return err
	}
	lacks := (st.given(on) | catalog.MayGrant) &^ on.has(own)
	switch {
	case lacks == 0:
		return nil
	case on.Database == "*":
		return sqlerr.AccessDenied.New(by.User.User(), by.User.Host(), "YES")
	case on.Name == "":
		return sqlerr.AccessDeniedDB.New(by.User.User(), by.User.Host(), on.Database)
	case on.Kind != Table:
		return RoutineDenied(lacks, by.User, on.Database, on.Name)
	}
	return TableDenied(by.Flavor, lacks, by.User.User(), by.Host, on.Database, on.Name)
}

// isAdministrators reports whether an account, which there may not be yet, is of the user of an administrator: whoever logs in by it has part of what
// the user's other accounts may.
func isAdministrators(name catalog.AccountName, have catalog.Accounts) bool {
	for _, a := range have {
		if a.Name.User() == name.User() && have.Administers(a) {
			return true
		}
	}
	return false
}

// isGranted reports whether somebody has the role.
func isGranted(role catalog.AccountName, have catalog.Accounts) bool {
	for _, a := range have {
		if have.Has(a, role) {
			return true
		}
	}
	return false
}

// has is all that an account may do with it.
func (o On) has(a *catalog.Account) catalog.Privilege {
	if o.Kind == Table {
		return a.Privileges(o.Database, o.Name)
	}
	return a.OfRoutine(o.routine())
}

// RoutineDenied is the error of a server whose client may not do with a function or procedure what it needs p for.
func RoutineDenied(p catalog.Privilege, user catalog.AccountName, db, name string) *sqlerr.Error {
	if p != catalog.MayGrant {
		p &^= catalog.MayGrant
	}
	command := strings.ReplaceAll(strings.ToLower(p.String()), "grant option", "grant")
	return sqlerr.ProgramAccessDenied.New(command, user.User(), user.Host(), db+"."+name)
}

// TableDenied is the error of a server whose client may not do with a table what it needs p for; none: any privilege would do.
func TableDenied(flavor catalog.Flavor, p catalog.Privilege, user, host, db, table string) *sqlerr.Error {
	command := "SHOW"
	if p != 0 {
		command = strings.ReplaceAll(strings.Join(Names(p, flavor), ", "), catalog.MayGrant.String(), "GRANT")
	}
	if flavor == catalog.MariaDB {
		return sqlerr.TableAccessDenied.New(command, user, host, "`"+db+"`.`"+table+"`")
	}
	return sqlerr.TableAccessDenied.New(command, user, host, "'"+table+"'")
}

// on is what the statement's privileges are on.
func (st *Statement) on(by Session) (On, error) {
	on := st.On
	if on.Database == "" {
		if on.Database = by.Database; on.Database == "" {
			return on, sqlerr.NoDatabase.New()
		}
	}
	if by.Lower {
		on.Database, on.Name = strings.ToLower(on.Database), strings.ToLower(on.Name)
	}
	return on, nil
}

// Missing is the error of a GRANT on a table, function or procedure that there is not in snap. A table need not be there if CREATE is granted.
func (st *Statement) Missing(by Session, snap *catalog.Snapshot) error {
	on, err := st.on(by)
	switch {
	case err != nil || st.Verb != Grant || on.Name == "":
	case on.Kind == Table && snap.Table(on.Database, on.Name) == nil && st.given(on)&catalog.MayCreate == 0:
		return sqlerr.NoSuchTable.New(on.Database, on.Name)
	case on.Kind != Table && snap.Routines[on.routine()] == nil:
		return sqlerr.NoSuchRoutine.New("FUNCTION or PROCEDURE", on.Name)
	}
	return nil
}

// Given is the privileges of a GRANT that names what they are on.
func (st *Statement) Given() catalog.Privilege { return st.given(st.On) }

// given is the privileges of the statement on what they are on.
func (st *Statement) given(on On) catalog.Privilege {
	if st.All {
		return st.Privileges | most(on)
	}
	return st.Privileges
}

// fits returns the error of privileges that there are not on what the statement names.
func (st *Statement) fits(on On) error {
	p := st.Privileges &^ catalog.MayGrant
	switch {
	case on.Name != "" && p&^most(on) != 0:
		return sqlerr.IllegalGrant.New()
	case on.Name == "" && on.Database != "*" && p&^catalog.AllOfDatabase != 0:
		return sqlerr.WrongUsage.New("DB GRANT", "GLOBAL PRIVILEGES")
	}
	return nil
}
