package account

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// Verb is what a statement does with accounts.
type Verb uint8

// The verbs. Password is SET PASSWORD.
const (
	Create Verb = iota + 1
	Alter
	Drop
	Rename
	Password
	Grant
	Revoke
	CreateRole
	DropRole
	GrantRole
	RevokeRole
	DefaultRole // SET DEFAULT ROLE, ALTER USER ... DEFAULT ROLE
	SetRole
)

// Statement is a statement about accounts. It keeps nothing of the text that it was read from.
type Statement struct {
	Verb   Verb
	Exists bool   // IF EXISTS, IF NOT EXISTS
	Users  []User // of CREATE and DROP ROLE the roles
	To     []User // Rename: the new names; CreateRole: who may grant it

	// Of GRANT and REVOKE: the privileges, or all there are, and what they are on; the database is "" for the session's. Everything: REVOKE ALL PRIVILEGES,
	// GRANT OPTION FROM.
	Privileges catalog.Privilege
	All        bool
	On         On
	Everything bool

	// Roles are those that are granted, taken away or made default or active, as Choice has it. CREATE USER grants them and makes them default.
	Roles  []catalog.AccountName
	Choice Choice
	Admin  bool // WITH ADMIN OPTION, ADMIN OPTION FOR

	// Locked is what ACCOUNT says of whether anybody logs in, RequireTLS what REQUIRE says of TLS; nil: nothing is said.
	Locked, RequireTLS *bool
}

// User is an account that a statement names, and how it is to log in from now on, if the statement says so.
type User struct {
	Name    catalog.AccountName
	Current bool // CURRENT_USER, USER()
	Hosted  bool // with a host
	Plugin  string
	Secret  string // the password or, with Hashed, what servers keep of it
	Hashed  bool
	Logs    bool // the statement says how it logs in
}

const (
	levels   = "GRANT what is needed on tables or databases, or on all of them (*.*)"
	theWhole = "leave it out: an account has a name, a password and privileges on databases and tables"
)

// Parse reads st, whose Kind is Account or Grant, and which a server of the kind has found no mistake in: what it does not know it refuses.
func Parse(st *sqlparse.Statement) (*Statement, error) {
	r := &reader{Words: st.Words(), st: st}
	out := &Statement{}
	if err := r.statement(out); err != nil {
		return nil, err
	}
	if r.Ahead().Kind != sqlparse.EOF {
		return nil, r.refuse()
	}
	return out, nil
}

// Masked is the text of st with other characters in the place of passwords and hashes, for whoever needs nothing of it but its form.
func Masked(st *sqlparse.Statement) []byte {
	text := slices.Clone(st.SQL())
	var before sqlparse.Token
	for toks := st.Tokens(); ; {
		tok := toks.Next()
		switch tok.Kind {
		case sqlparse.EOF:
			return text
		case sqlparse.StringLit:
			secret := slices.ContainsFunc([]string{"BY", "PASSWORD", "AS", "USING", "REPLACE", "(", "="}, func(w string) bool { return st.Is(before, w) })
			for i := tok.Start + 1; secret && i < tok.End-1; i++ {
				text[i] = 'x'
			}
		}
		before = tok
	}
}

// reader reads the text.
type reader struct {
	sqlparse.Words
	st *sqlparse.Statement
}

// refuse is for what comes next, which accounts of a cluster do not have.
func (r *reader) refuse() error {
	word := strings.ToUpper(string(r.st.Text(r.Ahead().Span)))
	if r.Ahead().Kind != sqlparse.Word {
		word = "this"
	}
	return sqlerr.Unsupported(word+" in a statement about accounts", theWhole)
}

func (r *reader) statement(out *Statement) error {
	switch {
	case r.Take("CREATE"):
		out.Verb = Create
		if r.Take("OR", "REPLACE") {
			return sqlerr.Unsupported("CREATE OR REPLACE of USER and ROLE", "DROP it IF EXISTS first")
		}
	case r.Take("ALTER"):
		out.Verb = Alter
	case r.Take("DROP"):
		out.Verb = Drop
	case r.Take("RENAME"):
		out.Verb = Rename
	case r.Take("SET"):
		out.Verb = Password
		switch {
		case r.Take("PASSWORD"):
			return r.setPassword(out)
		case r.Take("ROLE"):
			out.Verb = SetRole
			return r.choice(out)
		case r.Take("DEFAULT", "ROLE"):
			return r.setDefaultRole(out)
		}
	case r.Take("GRANT"):
		out.Verb = Grant
		return r.grant(out, "TO")
	case r.Take("REVOKE"):
		out.Verb = Revoke
		return r.grant(out, "FROM")
	}
	switch {
	case r.Take("USER"):
	case out.Verb == Create && r.Take("ROLE"):
		out.Verb = CreateRole
	case out.Verb == Drop && r.Take("ROLE"):
		out.Verb = DropRole
	default:
		return r.refuse()
	}
	out.Exists = r.Take("IF", "EXISTS") || r.Take("IF", "NOT", "EXISTS")
	return r.users(out)
}

// users reads the list of accounts that ends a statement, and what may stand behind it and means nothing here.
func (r *reader) users(out *Statement) error {
	for {
		u, err := r.user()
		if err != nil {
			return err
		}
		if public := strings.EqualFold(string(u.Name), "PUBLIC") && !u.Hosted && r.st.Dialect().MariaDB(); public && !out.manages() {
			return sqlerr.Unsupported("privileges and roles of PUBLIC", "GRANT them to a role, and that to accounts")
		}
		if out.Verb == Create || out.Verb == Alter || out.Verb == Grant {
			if err := r.login(&u); err != nil {
				return err
			}
		}
		out.Users = append(out.Users, u)
		if out.Verb == Rename {
			if !r.Take("TO") {
				return r.refuse()
			}
			to, err := r.user()
			if err != nil {
				return err
			}
			out.To = append(out.To, to)
		}
		if !r.Take(",") {
			break
		}
	}
	if err := r.behindUsers(out); err != nil {
		return err
	}
	if err := r.conditions(out); err != nil {
		return err
	}
	switch {
	case out.Verb == Grant && r.Take("WITH", "GRANT", "OPTION"):
		out.Privileges |= catalog.MayGrant
	case out.Verb == GrantRole && r.Take("WITH", "ADMIN", "OPTION"):
		out.Admin = true
	}
	return nil
}

// conditions reads what is said of logins behind the accounts.
func (r *reader) conditions(out *Statement) error {
	for {
		switch {
		case r.Take("REQUIRE", "NONE"):
			out.RequireTLS = new(false)
		case r.Take("REQUIRE", "SSL"):
			out.RequireTLS = new(true)
		case r.Take("REQUIRE"):
			return sqlerr.Unsupported("accounts that log in by what a certificate or cipher is", "REQUIRE SSL, and a password")
		case r.Take("ACCOUNT", "LOCK"):
			out.Locked = new(true)
		case r.Take("ACCOUNT", "UNLOCK"):
			out.Locked = new(false)
		case r.Take("PASSWORD", "EXPIRE", "NEVER"), r.Take("PASSWORD", "EXPIRE", "DEFAULT"):
		default:
			return nil
		}
	}
}

// user reads the name of an account.
func (r *reader) user() (u User, err error) {
	if r.Take("CURRENT_USER") || r.Take("USER") {
		r.Take("(", ")")
		return User{Current: true}, nil
	}
	if r.st.Dialect().MariaDB() && r.Is("CURRENT_ROLE") {
		return u, sqlerr.Unsupported("CURRENT_ROLE in a statement about accounts", "name the role")
	}
	u.Name, u.Hosted, err = r.account()
	return u, err
}

// account reads the name of an account, which has a host or not.
func (r *reader) account() (name catalog.AccountName, hosted bool, err error) {
	user, err := r.name()
	if err != nil {
		return "", false, err
	}
	hosted = r.hosted()
	host, err := r.host()
	if host == "" && !r.st.Dialect().MariaDB() { // which is another than any there
		return catalog.NameOf(user, host), hosted, err
	}
	return catalog.NameOf(user, catalog.FoldHost(host)), hosted, err
}

// hosted reports whether a host comes next.
func (r *reader) hosted() bool { return r.Ahead().Kind == sqlparse.UserVar || r.Is("@") }

// host reads a host if one comes next.
func (r *reader) host() (string, error) {
	if !r.hosted() {
		return "%", nil
	}
	at := r.Ahead()
	r.Skip()
	if at.Kind == sqlparse.UserVar && at.End-at.Start > 1 {
		return string(r.st.AppendName(nil, at)), nil
	}
	return r.name()
}

func (r *reader) name() (string, error) {
	switch r.Ahead().Kind {
	case sqlparse.Word, sqlparse.QuotedName, sqlparse.StringLit:
		name := string(r.st.AppendName(nil, r.Ahead()))
		r.Skip()
		return name, nil
	}
	return "", r.refuse()
}

// text reads a string.
func (r *reader) text() (string, error) {
	if r.Ahead().Kind != sqlparse.StringLit {
		return "", r.refuse()
	}
	return r.name()
}

// login reads how an account logs in, where that is said.
func (r *reader) login(u *User) (err error) {
	if !r.Take("IDENTIFIED") {
		return nil
	}
	u.Logs = true
	switch {
	case r.Take("BY", "PASSWORD"):
		u.Plugin, u.Hashed = wire.NativePassword, true
	case r.Take("BY"):
	case r.Take("WITH"), r.Take("VIA"):
		if u.Plugin, err = r.name(); err != nil {
			return err
		}
		u.Plugin = strings.ToLower(u.Plugin)
		if u.Plugin != wire.NativePassword && u.Plugin != wire.CachingSHA2Password {
			return sqlerr.Unsupported("accounts that log in by "+u.Plugin, "say "+wire.CachingSHA2Password+" or "+wire.NativePassword)
		}
		switch {
		case r.Take("BY"):
		case r.Take("USING", "PASSWORD", "("):
			if u.Secret, err = r.text(); err == nil && !r.Take(")") {
				err = r.refuse()
			}
			return err
		case r.Take("USING"), r.Take("AS"):
			u.Hashed = true
		default:
			return nil // without a password
		}
	default:
		return r.refuse()
	}
	u.Secret, err = r.text()
	return err
}

// setPassword reads what follows SET PASSWORD.
func (r *reader) setPassword(out *Statement) (err error) {
	u := User{Current: true, Logs: true}
	if r.Take("FOR") {
		if u, err = r.user(); err != nil {
			return err
		}
		u.Logs = true
	}
	if !r.Take("=") {
		return r.refuse()
	}
	if r.Take("PASSWORD", "(") {
		if u.Secret, err = r.text(); err == nil && !r.Take(")") {
			err = r.refuse()
		}
	} else {
		u.Hashed = r.st.Dialect().MariaDB()
		u.Secret, err = r.text()
	}
	out.Users = []User{u}
	return err
}

// grant reads what follows GRANT and REVOKE; behind is the word before the accounts.
func (r *reader) grant(out *Statement, behind string) error {
	switch {
	case r.Take("ALL", "PRIVILEGES", ",", "GRANT", "OPTION") || r.Take("ALL", ",", "GRANT", "OPTION"):
		out.Everything = true
	case r.grantsRoles(behind):
		return r.grantRoles(out, behind)
	default:
		if err := r.privileges(out); err != nil {
			return err
		}
		if err := r.level(out); err != nil {
			return err
		}
	}
	if !r.Take(behind) {
		return r.refuse()
	}
	return r.users(out)
}

// privileges reads the list before ON.
func (r *reader) privileges(out *Statement) error {
	var words []string
	for {
		switch {
		case r.Is("("):
			return sqlerr.Unsupported("privileges on columns", levels)
		case r.Is(",") || r.Is("ON"):
			if err := out.privilege(strings.Join(words, " ")); err != nil {
				return err
			}
			words = nil
		case r.Ahead().Kind == sqlparse.Word && !r.Is("TO") && !r.Is("FROM"):
			words = append(words, strings.ToUpper(string(r.st.Text(r.Ahead().Span))))
		default:
			return r.refuse()
		}
		if r.Take("ON") {
			return nil
		}
		r.Skip()
	}
}

// privilege takes one that the statement names.
func (st *Statement) privilege(name string) error {
	switch name {
	case "USAGE":
		return nil
	case "ALL", all:
		st.All = true
		return nil
	case "PROXY":
		return sqlerr.Unsupported("GRANT PROXY", theWhole)
	}
	p := catalog.PrivilegeNamed(name)
	if p == 0 {
		return sqlerr.Unsupported("the privilege "+name+" alone", "leave it out, or GRANT SUPER: whoever has that administers the cluster")
	}
	st.Privileges |= p
	return nil
}

// level reads what the privileges are on.
func (r *reader) level(out *Statement) (err error) {
	if r.Take("*") {
		if r.Take(".", "*") {
			out.On.Database = "*"
		}
		return nil
	}
	switch {
	case r.Is("PACKAGE"):
		return sqlerr.Unsupported("privileges on one package", levels)
	case r.Take("FUNCTION"):
		out.On.Kind = Function
	case r.Take("PROCEDURE"):
		out.On.Kind = Procedure
	default:
		r.Take("TABLE")
	}
	name, err := r.name()
	switch {
	case err != nil:
		return err
	case name == "*":
		return sqlerr.Unsupported("privileges on a database called *", "write *.* for all databases, or give it another name")
	case !r.Take("."):
		out.On.Name = name // of the session's database
		return nil
	case out.On.Kind != Table && r.Is("*"):
		return sqlerr.IllegalGrant.New()
	case !r.Take("*"):
		out.On.Database = name
		out.On.Name, err = r.name()
		return err
	}
	// A database is named by a pattern; what has no other meaning than itself is written behind a backslash.
	name = strings.NewReplacer(`\_`, "_", `\%`, "\x00").Replace(name)
	if strings.Contains(name, "%") {
		return sqlerr.Unsupported("privileges on databases by a pattern", levels)
	}
	out.On.Database = strings.ReplaceAll(name, "\x00", "%")
	return nil
}
