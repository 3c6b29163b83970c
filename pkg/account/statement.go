package account

import (
	"context"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Session is who runs a statement.
type Session struct {
	Flavor   catalog.Flavor
	User     catalog.AccountName
	Host     string                // where the client is
	Database string                // the default one
	Lower    bool                  // names of databases and tables are kept in small letters
	Roles    []catalog.AccountName // that are active
}

// Run does what a statement says. notes are what servers note beside it. Errors are *sqlerr.Error, or etcd's: see Store. On MariaDB some of several
// accounts may be changed although there is an error about others, as by its servers.
func (s Store) Run(ctx context.Context, st *Statement, by Session) (notes []*sqlerr.Error, revision int64, err error) {
	var failed error
	revision, err = s.update(ctx, st.names(by), func(have accounts) (accounts, error) {
		r := &run{st: st, by: by, have: have, after: accounts{}}
		err := r.all()
		if notes, failed = r.notes, r.failure(); err == nil && failed != nil && by.Flavor == catalog.MySQL {
			err = failed
		}
		return r.after, err
	})
	if err == nil {
		err = failed
	}
	return notes, revision, err
}

func (u *User) name(by Session) catalog.AccountName {
	if u.Current {
		return by.User
	}
	return u.Name
}

func (st *Statement) names(by Session) (names []catalog.AccountName) {
	for _, u := range slices.Concat(st.Users, st.To) {
		names = append(names, u.name(by))
	}
	return append(names, st.Roles...)
}

// run is a statement that runs over accounts as they are.
type run struct {
	st    *Statement
	by    Session
	have  accounts
	after accounts
	notes []*sqlerr.Error

	failed []string // accounts of which it cannot be done
	late   error    // what is told when all that can be done is done
}

// named is the account or role that the statement names. MariaDB's servers have both apart, but where something is granted to a name without a host.
func (r *run) named(u *User) *catalog.Account {
	a := r.now(u.name(r.by))
	if a == nil || r.by.Flavor == catalog.MySQL {
		return a
	}
	switch r.st.Verb {
	case CreateRole, Grant, Revoke, GrantRole, RevokeRole:
		if !u.Hosted || !a.Role {
			return a
		}
	case DropRole:
		if a.Role {
			return a
		}
	default:
		if !a.Role {
			return a
		}
	}
	return nil
}

// now is an account as the statement has left it so far.
func (r *run) now(name catalog.AccountName) *catalog.Account {
	if a, changed := r.after[name]; changed {
		return a
	}
	return r.have[name]
}

// failure is the error about accounts of which it cannot be done.
func (r *run) failure() error {
	if r.failed == nil {
		return r.late
	}
	failed := strings.Join(r.failed, ",")
	switch r.st.Verb {
	case GrantRole:
		return sqlerr.CannotGrantRole.New(r.st.Roles[0], failed)
	case RevokeRole:
		return sqlerr.CannotRevokeRole.New(r.st.Roles[0], failed)
	}
	what := map[Verb]string{Create: "CREATE USER", Alter: "ALTER USER", Drop: "DROP USER", Rename: "RENAME USER", CreateRole: "CREATE ROLE", DropRole: "DROP ROLE"}[r.st.Verb]
	return sqlerr.CannotUser.New(what, failed)
}

// fail notes an account of which it cannot be done; MySQL's servers say why.
func (r *run) fail(name catalog.AccountName) {
	why := ""
	switch {
	case r.by.Flavor == catalog.MariaDB || r.st.Verb == Rename:
	case r.st.Verb == Create || r.st.Verb == CreateRole:
		why = " (User account already exists)"
	default:
		why = NoAccount
	}
	r.failed = append(r.failed, r.shown(name)+why)
}

// NoAccount is what MySQL's servers say behind an account that there is not.
const NoAccount = " (User account does not exist)"

// shown is what the statement is about as servers write it: MariaDB's roles have no host.
func (r *run) shown(name catalog.AccountName) string {
	if r.by.Flavor == catalog.MariaDB && (r.st.Verb == CreateRole || r.st.Verb == DropRole) {
		return sqltypes.Literal(name.User())
	}
	return name.Literal()
}

// note is for an account that is there already, or is not, where the statement says IF.
func (r *run) note(mysql, mariadb sqlerr.Code, name catalog.AccountName) {
	if r.by.Flavor == catalog.MySQL {
		r.notes = append(r.notes, mysql.New(r.shown(name)))
	} else {
		r.notes = append(r.notes, mariadb.New(r.shown(name)))
	}
}

// NoSuchUser is the error of statements that do not name the account that there is not, as servers of the flavor say it.
func NoSuchUser(flavor catalog.Flavor) *sqlerr.Error {
	e := sqlerr.NoMatchingUser.New()
	if flavor == catalog.MariaDB {
		e.State = "28000"
	}
	return e
}

func (r *run) all() error {
	for i := range r.st.Users {
		if err := r.one(i); err != nil {
			return err
		}
	}
	return nil
}

// one does what the statement says of one account.
func (r *run) one(i int) error {
	u := &r.st.Users[i]
	name := u.name(r.by)
	a := r.named(u)
	made, dropped := sqlerr.UserCreateExists, sqlerr.UserDropExists
	if r.st.Verb >= CreateRole {
		made, dropped = sqlerr.RoleCreateExists, sqlerr.RoleDropExists
	}
	switch r.st.Verb {
	case Create, CreateRole:
		switch other := r.taken(name); {
		case r.st.Verb == CreateRole && isReserved(name, r.by.Flavor):
			return invalidRole(name)
		case other != nil:
			return other
		case a != nil && r.st.Exists:
			r.note(sqlerr.UserExists, made, name)
			return nil
		case a != nil:
			r.fail(name)
			return nil
		case r.st.Verb == CreateRole:
			return r.createRole(name)
		}
		if err := r.create(u, nil); err != nil || r.st.Roles == nil {
			return err
		}
		return r.grantAtBirth(name)
	case Drop, DropRole:
		switch {
		case a == nil && r.st.Exists:
			r.note(sqlerr.UserDoesNotExist, dropped, name)
		case a == nil:
			r.fail(name)
		default:
			r.after[name] = nil
		}
	case Rename:
		to := r.st.To[i].name(r.by)
		if other := r.taken(to); other != nil {
			return other
		}
		if a == nil || r.now(to) != nil {
			r.fail(name)
			return nil
		}
		if err := checkName(to); err != nil {
			return wrong(to, err)
		}
		if err := CheckHost(to, r.by.Flavor); err != nil {
			return err
		}
		renamed := *a
		renamed.Name = to
		r.after[name], r.after[to] = nil, &renamed
	case Alter:
		switch {
		case a == nil && r.st.Exists && r.by.Flavor == catalog.MariaDB:
			r.notes = append(r.notes, sqlerr.CannotUser.New("ALTER USER", name.Literal()))
			return nil
		case a == nil && r.st.Exists:
			r.note(sqlerr.UserDoesNotExist, sqlerr.UserDoesNotExist, name)
			return nil
		case a == nil:
			r.fail(name)
			return nil
		}
		return r.change(a, u, nil)
	case Password:
		if a == nil {
			return NoSuchUser(r.by.Flavor)
		}
		return r.change(a, u, nil)
	case Grant:
		return r.grant(u, name, a)
	case Revoke:
		return r.revoke(name, a)
	case GrantRole, RevokeRole:
		return r.grantRoles(u)
	case DefaultRole:
		return r.setDefault(u)
	}
	return nil
}

// create makes an account.
func (r *run) create(u *User, grants map[On]catalog.Privilege) error {
	locked := r.st.Locked != nil && *r.st.Locked
	if u.Secret == "" && !locked {
		return sqlerr.Unsupported("an account without a password", "say IDENTIFIED BY 'password', or ACCOUNT LOCK")
	}
	if err := CheckHost(u.Name, r.by.Flavor); err != nil {
		return err
	}
	c, err := r.login(u, wire.CachingSHA2Password)
	if err != nil {
		return err
	}
	c.Grants, c.Locked, c.RequireTLS = grants, r.st.Locked, r.st.RequireTLS
	a, err := c.made(u.Name)
	if err != nil {
		return wrong(u.Name, err)
	}
	r.after[u.Name] = a
	return nil
}

// wrong is the error of what no account may have.
func wrong(name catalog.AccountName, err error) error {
	return sqlerr.WrongArguments.New("the account " + name.Literal() + ": " + err.Error())
}

// change gives a what u says of its login, and grants.
func (r *run) change(a *catalog.Account, u *User, grants map[On]catalog.Privilege) error {
	c := Change{}
	if a.Role && (u.Logs || r.st.RequireTLS != nil || r.st.Locked != nil && !*r.st.Locked) {
		return sqlerr.Unsupported("a role that logs in", "DROP ROLE, and CREATE USER")
	}
	if u.Logs {
		if u.Secret == "" {
			return sqlerr.Unsupported("an account without a password", "give it one")
		}
		var err error
		if c, err = r.login(u, a.AuthPlugin); err != nil {
			return err
		}
	}
	c.Grants, c.RequireTLS = grants, r.st.RequireTLS
	if !a.Role {
		c.Locked = r.st.Locked
	}
	if c.Locked != nil && !*c.Locked && a.AuthString == "" && c.AuthString == "" && !a.LoopbackOnly {
		return sqlerr.Unsupported("an account without a password", "give it one")
	}
	changed, err := c.Applied(a)
	if err != nil {
		return wrong(a.Name, err)
	}
	r.after[a.Name] = changed
	return nil
}

// login is the change that u says of how it logs in, by plugin if it names none. MariaDB's servers give new accounts mysql_native_password.
func (r *run) login(u *User, plugin string) (c Change, err error) {
	if r.by.Flavor == catalog.MariaDB && r.now(u.name(r.by)) == nil {
		plugin = wire.NativePassword
	}
	if u.Plugin != "" {
		plugin = u.Plugin
	}
	c.Plugin, c.AuthString = plugin, u.Secret
	switch {
	case u.Secret == "":
	case u.Hashed && wire.CheckAuthString(plugin, u.Secret) != nil:
		if r.by.Flavor == catalog.MySQL {
			return c, sqlerr.PasswordFormat.New()
		}
		return c, sqlerr.PasswordLength.New(41)
	case u.Hashed:
	case plugin == wire.NativePassword:
		c.AuthString = wire.HashNative(u.Secret)
	default:
		c.AuthString, err = wire.HashCachingSHA2(u.Secret)
	}
	return c, err
}

func (r *run) grant(u *User, name catalog.AccountName, a *catalog.Account) error {
	on, err := r.st.on(r.by)
	if err != nil {
		return err
	}
	var had catalog.Privilege
	if a != nil {
		had = on.of(a)
	}
	grants := map[On]catalog.Privilege{on: had | r.st.given(on)}
	switch {
	case a != nil:
		return r.change(a, u, grants)
	case r.by.Flavor == catalog.MySQL:
		return sqlerr.CreateUserByGrant.New()
	case !u.Logs:
		return NoSuchUser(r.by.Flavor)
	}
	if other := r.taken(name); other != nil {
		return other
	}
	u.Name = name
	return r.create(u, grants)
}

func (r *run) revoke(name catalog.AccountName, a *catalog.Account) error {
	if r.st.Everything {
		if a == nil {
			return sqlerr.RevokeFailed.New()
		}
		none := map[On]catalog.Privilege{}
		for on := range Granted(a) {
			none[on] = catalog.NoAccess
		}
		if r.by.Flavor == catalog.MariaDB {
			out := *a
			out.Roles, a = nil, &out
		}
		return r.change(a, &User{}, none)
	}
	on, err := r.st.on(r.by)
	if err != nil {
		return err
	}
	user, host := name.User(), name.Host()
	if a != nil && a.Role && r.by.Flavor == catalog.MariaDB {
		host = ""
	}
	switch {
	case a != nil && (on.Database == "*" || on.of(a) != catalog.NoAccess):
	case on.Kind != Table:
		return sqlerr.NoSuchRoutineGrant.New(user, host, on.Name)
	case on.Name != "":
		return sqlerr.NoSuchTableGrant.New(user, host, on.Name)
	default:
		return sqlerr.NoSuchGrant.New(user, host)
	}
	return r.change(a, &User{}, map[On]catalog.Privilege{on: on.of(a) &^ r.st.given(on)})
}
