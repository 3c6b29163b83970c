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
	User     string
	Host     string // where the client is
	Database string // the default one
	Lower    bool   // names of databases and tables are kept in small letters
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

func (u *User) name(by Session) string {
	if u.Current {
		return by.User
	}
	return u.Name
}

func (st *Statement) names(by Session) (names []string) {
	for _, u := range slices.Concat(st.Users, st.To) {
		names = append(names, u.name(by))
	}
	return names
}

// run is a statement that runs over accounts as they are.
type run struct {
	st    *Statement
	by    Session
	have  accounts
	after accounts
	notes []*sqlerr.Error

	failed []string // accounts of which it cannot be done
}

// now is an account as the statement has left it so far.
func (r *run) now(name string) *catalog.Account {
	if a, changed := r.after[name]; changed {
		return a
	}
	return r.have[name]
}

// failure is the error about accounts of which it cannot be done.
func (r *run) failure() error {
	if r.failed == nil {
		return nil
	}
	what := map[Verb]string{Create: "CREATE USER", Alter: "ALTER USER", Drop: "DROP USER", Rename: "RENAME USER"}[r.st.Verb]
	return sqlerr.CannotUser.New(what, strings.Join(r.failed, ","))
}

func (r *run) fail(name string) { r.failed = append(r.failed, shown(name)) }

func shown(name string) string { return sqltypes.Literal(name) + "@'%'" }

// note is for an account that is there already, or is not, where the statement says IF.
func (r *run) note(mysql, mariadb sqlerr.Code, name string) {
	if r.by.Flavor == catalog.MySQL {
		r.notes = append(r.notes, mysql.New(shown(name)))
	} else {
		r.notes = append(r.notes, mariadb.New(shown(name)))
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
	a := r.now(name)
	switch r.st.Verb {
	case Create:
		switch {
		case a != nil && r.st.Exists:
			r.note(sqlerr.UserExists, sqlerr.UserCreateExists, name)
			return nil
		case a != nil:
			r.fail(name)
			return nil
		}
		return r.create(u, nil)
	case Drop:
		switch {
		case a == nil && r.st.Exists:
			r.note(sqlerr.UserDoesNotExist, sqlerr.UserDropExists, name)
		case a == nil:
			r.fail(name)
		default:
			r.after[name] = nil
		}
	case Rename:
		to := r.st.To[i].name(r.by)
		if a == nil || r.now(to) != nil {
			r.fail(name)
			return nil
		}
		if err := checkName(to); err != nil {
			return wrong(to, err)
		}
		renamed := *a
		renamed.Name = to
		r.after[name], r.after[to] = nil, &renamed
	case Alter:
		switch {
		case a == nil && r.st.Exists && r.by.Flavor == catalog.MariaDB:
			r.notes = append(r.notes, sqlerr.CannotUser.New("ALTER USER", shown(name)))
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
	}
	return nil
}

// create makes an account.
func (r *run) create(u *User, grants map[On]catalog.Privilege) error {
	if !u.Logs || u.Secret == "" {
		return sqlerr.Unsupported("an account without a password", "say IDENTIFIED BY 'password'")
	}
	c, err := r.login(u, wire.CachingSHA2Password)
	if err != nil {
		return err
	}
	c.Grants = grants
	a, err := c.made(u.Name)
	if err != nil {
		return wrong(u.Name, err)
	}
	r.after[u.Name] = a
	return nil
}

// wrong is the error of what no account may have.
func wrong(name string, err error) error {
	return sqlerr.WrongArguments.New("the account " + shown(name) + ": " + err.Error())
}

// change gives a what u says of its login, and grants.
func (r *run) change(a *catalog.Account, u *User, grants map[On]catalog.Privilege) error {
	c := Change{}
	if u.Logs {
		if u.Secret == "" {
			return sqlerr.Unsupported("an account without a password", "give it one")
		}
		var err error
		if c, err = r.login(u, a.AuthPlugin); err != nil {
			return err
		}
	}
	c.Grants = grants
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

func (r *run) grant(u *User, name string, a *catalog.Account) error {
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
	u.Name = name
	return r.create(u, grants)
}

func (r *run) revoke(name string, a *catalog.Account) error {
	if r.st.Everything {
		if a == nil {
			return sqlerr.RevokeFailed.New()
		}
		none := map[On]catalog.Privilege{}
		for on := range Granted(a) {
			none[on] = catalog.NoAccess
		}
		return r.change(a, &User{}, none)
	}
	on, err := r.st.on(r.by)
	if err != nil {
		return err
	}
	switch {
	case a != nil && (on.Database == "*" || on.of(a) != catalog.NoAccess):
	case on.Kind != Table:
		return sqlerr.NoSuchRoutineGrant.New(name, "%", on.Name)
	case on.Name != "":
		return sqlerr.NoSuchTableGrant.New(name, "%", on.Name)
	default:
		return sqlerr.NoSuchGrant.New(name, "%")
	}
	return r.change(a, &User{}, map[On]catalog.Privilege{on: on.of(a) &^ r.st.given(on)})
}
