package account

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// A role is an account that nobody logs in by, and MySQL's servers grant other accounts, too. What an account has been granted stands in its own record,
// by the name and the ID of each role: nothing is left to those who had a role that was dropped, without looking for them, and the next role of that name
// is another. So a GRANT and a DROP need not know of each other.

// Choice is how SET ROLE and SET DEFAULT ROLE say which roles are meant.
type Choice uint8

// The choices.
const (
	Those Choice = iota // Statement.Roles
	NoRole
	AllRoles
	AllExcept       // Statement.Roles
	ThoseOfDefaults // SET ROLE DEFAULT
)

// choice reads which roles are to be active, or default.
func (r *reader) choice(out *Statement) (err error) {
	mysql := !r.st.Dialect().MariaDB()
	switch {
	case r.Take("NONE"):
		out.Choice = NoRole
		return nil
	case mysql && r.Take("DEFAULT"):
		out.Choice = ThoseOfDefaults
		return nil
	case mysql && r.Take("ALL"):
		if out.Choice = AllRoles; !r.Take("EXCEPT") {
			return nil
		}
		out.Choice = AllExcept
	}
	if out.Roles, err = r.roles(); err == nil && !mysql && strings.EqualFold(string(out.Roles[0]), "NONE") { // in quotes, too
		out.Choice, out.Roles = NoRole, nil
	}
	return err
}

// roles reads a list of roles.
func (r *reader) roles() (names []catalog.AccountName, err error) {
	for {
		name, _, err := r.account()
		if err != nil {
			return nil, err
		}
		if names = append(names, name); !r.Take(",") {
			return names, nil
		}
	}
}

func (r *reader) setDefaultRole(out *Statement) error {
	out.Verb = DefaultRole
	if err := r.choice(out); err != nil {
		return err
	}
	if r.Take("FOR") || r.Take("TO") {
		return r.users(out)
	}
	out.Users = []User{{Current: true}}
	return nil
}

// behindUsers reads what stands behind accounts and is about roles.
func (r *reader) behindUsers(out *Statement) (err error) {
	switch {
	case out.Verb == CreateRole && r.st.Dialect().MariaDB():
		admin := User{Current: true}
		if r.Take("WITH", "ADMIN") {
			if admin, err = r.user(); err != nil {
				return err
			}
		}
		out.To = []User{admin}
	case out.Verb == Create && r.Take("DEFAULT", "ROLE"):
		out.Roles, err = r.roles()
	case out.Verb == Alter && r.Take("DEFAULT", "ROLE"):
		out.Verb = DefaultRole
		return r.choice(out)
	}
	return err
}

// grantsRoles reports whether what follows GRANT or REVOKE are roles: there is no ON.
func (r *reader) grantsRoles(behind string) bool {
	for ahead := r.Words; !ahead.End(); ahead.Skip() {
		switch {
		case ahead.Is("ON"):
			return false
		case ahead.Is(behind):
			return true
		}
	}
	return false
}

// grantRoles reads GRANT and REVOKE of roles from behind the verb.
func (r *reader) grantRoles(out *Statement, behind string) (err error) {
	if out.Verb == Grant {
		out.Verb = GrantRole
	} else {
		out.Verb = RevokeRole
		out.Admin = r.st.Dialect().MariaDB() && r.Take("ADMIN", "OPTION", "FOR")
	}
	if out.Roles, err = r.roles(); err != nil {
		return err
	}
	if !r.Take(behind) {
		return r.refuse()
	}
	return r.users(out)
}

// rolesAllowed is Allowed for statements about roles.
func (st *Statement) rolesAllowed(by Session, own *catalog.Account, have catalog.Accounts) error {
	mariadb := by.Flavor == catalog.MariaDB
	switch st.Verb {
	case CreateRole, DropRole:
		if own.Global()&catalog.MayCreateUser != 0 {
			break
		}
		lacks := catalog.MayCreateUser.String()
		switch {
		case mariadb:
		case st.Verb == CreateRole:
			lacks += ", CREATE ROLE"
		default:
			lacks += ", DROP ROLE"
		}
		return sqlerr.SpecificAccessDenied.New(lacks)
	case GrantRole, RevokeRole:
		return st.mayGrantRoles(by, own, have)
	case DefaultRole:
		switch others := slices.ContainsFunc(st.Users, func(u User) bool { return u.name(by) != by.User }); {
		case !others && mariadb:
			for _, name := range st.Roles {
				if !knows(by, own, have[name], have) {
					return invalidRole(name)
				}
			}
			return nil
		case !others:
			return nil
		case mariadb && !own.Administers():
			return sqlerr.AccessDeniedDB.New(by.User.User(), by.User.Host(), "mysql")
		case own.Global()&catalog.MayCreateUser == 0:
			return sqlerr.SpecificAccessDenied.New(catalog.MayCreateUser.String())
		}
	}
	return st.sparesAdministrators(by, own, have)
}

// sparesAdministrators refuses what others may not do with the accounts of administrators, and with the roles by which one is one.
func (st *Statement) sparesAdministrators(by Session, own *catalog.Account, have catalog.Accounts) error {
	for i := range st.Users {
		if isAdministrators(st.Users[i].name(by), have) && !own.Administers() {
			return sqlerr.SpecificAccessDenied.New(catalog.MaySuper.String())
		}
	}
	return nil
}

// mayGrantRoles refuses the roles of the statement that the client may not grant.
func (st *Statement) mayGrantRoles(by Session, own *catalog.Account, have catalog.Accounts) error {
	for _, name := range st.Roles {
		role := have[name]
		switch {
		case by.Flavor == catalog.MariaDB && (role == nil || !role.Role):
			return invalidRole(name)
		case by.Flavor == catalog.MariaDB && !grantable(name, have, have.Inherited(have[by.User])):
			return sqlerr.AccessDeniedToRole.New(by.User.User(), by.User.Host())
		case by.Flavor == catalog.MariaDB, own.Administers():
		case !grantable(name, have, append(have.Active(have[by.User], by.Roles), have[by.User])):
			return sqlerr.SpecificAccessDenied.New("WITH ADMIN, ROLE_ADMIN, SUPER")
		}
	}
	return nil
}

// grantable reports whether one of those that a session acts for has the role with the ADMIN OPTION.
func grantable(role catalog.AccountName, have catalog.Accounts, by []*catalog.Account) bool {
	return slices.ContainsFunc(by, func(a *catalog.Account) bool {
		for r, g := range have.Granted(a) {
			if r.Name == role && g.Admin {
				return true
			}
		}
		return false
	})
}

// invalidRole is the error of MariaDB's servers for a role that there is not.
func invalidRole(role catalog.AccountName) error {
	name := role.User()
	switch strings.ToUpper(name) {
	case "NONE", "PUBLIC":
		name = strings.ToUpper(name)
	}
	return sqlerr.InvalidRole.New("Invalid role specification " + sqltypes.QuoteName(name))
}

// NotGranted is the error of MySQL's servers for a role that an account has not been granted.
func NotGranted(role, name catalog.AccountName) error {
	return hasNot(catalog.MySQL, name, name.Host(), role)
}

// hasNot is the error for a role that an account has not been granted.
func hasNot(flavor catalog.Flavor, name catalog.AccountName, host string, role catalog.AccountName) error {
	if flavor == catalog.MySQL {
		return sqlerr.RoleNotGranted.New(role.Quoted(), name.Quoted())
	}
	return sqlerr.InvalidRole.New("User " + sqltypes.QuoteName(name.User()) + "@" + sqltypes.QuoteName(host) + " has not been granted role " + sqltypes.QuoteName(role.User()))
}

// Active are the roles that SET ROLE makes active for the account that runs it, of those of the cluster.
func (st *Statement) Active(by Session, have catalog.Accounts) (names []catalog.AccountName, err error) {
	own := have[by.User]
	switch st.Choice {
	case NoRole:
		return nil, nil
	case ThoseOfDefaults:
		return have.Defaults(own), nil
	case AllRoles, AllExcept:
		return st.allBut(own, have), nil
	}
	for _, name := range st.Roles {
		role := have[name]
		switch {
		case have.Has(own, name):
		case by.Flavor == catalog.MariaDB && !knows(by, own, role, have):
			return nil, invalidRole(name)
		default:
			return nil, hasNot(by.Flavor, by.User, by.Host, name)
		}
	}
	return st.Roles, nil
}

// knows reports whether MariaDB's servers do not say to a client that may do what own may that role, if there is one, is none.
func knows(by Session, own, role *catalog.Account, have catalog.Accounts) bool {
	return role != nil && role.Role && (own.Administers() || slices.Contains(have.Inherited(have[by.User]), role))
}

// allBut are all roles of a but for those that the statement excepts.
func (st *Statement) allBut(a *catalog.Account, have catalog.Accounts) (names []catalog.AccountName) {
	for role := range have.Granted(a) {
		if !slices.Contains(st.Roles, role.Name) {
			names = append(names, role.Name)
		}
	}
	return names
}

// present are the accounts as the statement has left them so far, as far as they are known.
func (r *run) present() accounts {
	out := accounts{}
	for name := range r.have {
		out[name] = r.now(name)
	}
	for name := range r.after {
		out[name] = r.now(name)
	}
	return out
}

// isReserved reports whether no role of servers of the flavor has the name.
func isReserved(name catalog.AccountName, flavor catalog.Flavor) bool {
	return flavor == catalog.MariaDB && (name == "" || strings.EqualFold(string(name), "NONE") || strings.EqualFold(string(name), "PUBLIC"))
}

// taken refuses a new account of the name of a role, or a role of that of an account: MariaDB's servers have both.
func (r *run) taken(name catalog.AccountName) error {
	if a := r.now(name); a == nil || r.by.Flavor == catalog.MySQL || a.Role == (r.st.Verb == CreateRole) {
		return nil
	}
	return sqlerr.Unsupported("a role and an account of one name", "give one of them another name")
}

// createRole makes a role, which on MariaDB somebody may grant at once.
func (r *run) createRole(name catalog.AccountName) error {
	if err := checkName(name); err != nil {
		return wrong(name, err)
	}
	role := &catalog.Account{Name: name, ID: NewID(), Role: true, Grants: map[string]catalog.Privilege{}}
	if r.by.Flavor == catalog.MySQL {
		role.AuthPlugin = "caching_sha2_password"
	}
	r.after[name] = role
	for i := range r.st.To {
		admin := r.named(&r.st.To[i])
		if admin == nil {
			return sqlerr.Unsupported("a role that an account or role may grant which there is not", "leave WITH ADMIN out, or create that first")
		}
		r.give(admin, role, true)
	}
	return nil
}

// give grants a role to an account. What it had of roles that there are not any more goes.
func (r *run) give(a, role *catalog.Account, admin bool) {
	out := *a
	out.Roles = nil
	present, had := r.present(), false
	for of, g := range present.Granted(a) {
		if of.Name == role.Name {
			g.Admin, had = g.Admin || admin, true
		}
		out.Roles = append(out.Roles, g)
	}
	if r.by.Flavor == catalog.MySQL {
		out.DefaultRoles = present.Defaults(a)
	}
	if !had {
		out.Roles = append(out.Roles, catalog.RoleGrant{Name: role.Name, ID: role.ID, Admin: admin})
	}
	r.after[a.Name] = &out
}

// take takes a role from an account, or only that it may grant it.
func (r *run) take(a *catalog.Account, role catalog.AccountName, adminOnly bool) {
	out := *a
	out.Roles = slices.Clone(a.Roles)
	if i := slices.IndexFunc(out.Roles, func(g catalog.RoleGrant) bool { return g.Name == role }); adminOnly {
		out.Roles[i].Admin = false
	} else {
		out.Roles = slices.Delete(out.Roles, i, i+1)
	}
	if !adminOnly && r.by.Flavor == catalog.MySQL {
		out.DefaultRoles = slices.DeleteFunc(slices.Clone(a.DefaultRoles), func(name catalog.AccountName) bool { return name == role })
	}
	r.after[a.Name] = &out
}

// grantRoles grants the statement's roles to u, or takes them away.
func (r *run) grantRoles(u *User) error {
	for _, name := range r.st.Roles {
		role, a := r.now(name), r.named(u)
		mysql := r.by.Flavor == catalog.MySQL
		switch {
		case role == nil && mysql:
			return sqlerr.UnknownAuthorizationID.New(name.Quoted())
		case role == nil || !mysql && !role.Role:
			return invalidRole(name)
		case a == nil && mysql:
			return sqlerr.UnknownAuthorizationID.New(u.name(r.by).Quoted())
		case r.st.Verb == RevokeRole && (a == nil || !r.present().Has(a, name)):
			if !mysql {
				r.failed = append(r.failed, r.grantee(u, a))
			}
		case r.st.Verb == RevokeRole:
			r.take(a, name, r.st.Admin)
		case a == nil:
			r.late = NoSuchUser(r.by.Flavor)
		case slices.Contains(r.present().Inherited(role), a):
			if mysql {
				return sqlerr.RoleGrantedToItself.New(a.Name.Quoted(), name.Quoted())
			}
			r.failed = append(r.failed, r.grantee(u, a))
		default:
			r.give(a, role, r.st.Admin)
		}
	}
	return nil
}

// grantee is who gets or gives back a role as MariaDB's servers write it.
func (r *run) grantee(u *User, a *catalog.Account) string {
	if a != nil && a.Role {
		return sqltypes.Literal(a.Name.User())
	}
	return u.name(r.by).Literal()
}

// setDefault sets the default roles of u.
func (r *run) setDefault(u *User) error {
	name, a := u.name(r.by), r.named(u)
	mysql := r.by.Flavor == catalog.MySQL
	switch {
	case a != nil:
	case mysql && r.st.Exists:
		r.note(sqlerr.UserDoesNotExist, sqlerr.UserDoesNotExist, name)
		return nil
	case mysql:
		return sqlerr.UnknownAuthorizationID.New(name.Quoted())
	case r.st.Choice == NoRole:
		return sqlerr.InvalidCurrentUser.New()
	}
	var names []catalog.AccountName
	switch present := r.present(); r.st.Choice {
	case AllRoles:
		names = r.st.allBut(a, present)
	case Those:
		for _, role := range r.st.Roles {
			switch of := present[role]; {
			case a != nil && present.Has(a, role):
			case !mysql && (of == nil || !of.Role):
				return invalidRole(role)
			default:
				return hasNot(r.by.Flavor, name, name.Host(), role)
			}
		}
		names = r.st.Roles
	}
	out := *a
	out.DefaultRoles = names
	r.after[name] = &out
	return nil
}

// grantAtBirth grants the roles that CREATE USER names to the new account, and makes them default.
func (r *run) grantAtBirth(name catalog.AccountName) error {
	for _, of := range r.st.Roles {
		role := r.now(of)
		if role == nil {
			return sqlerr.UserDoesNotExist.New(of.Quoted())
		}
		r.give(r.now(name), role, false)
	}
	out := *r.now(name)
	out.DefaultRoles = r.st.Roles
	r.after[name] = &out
	return nil
}
