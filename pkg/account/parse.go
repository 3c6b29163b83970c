package account

import (
	"slices"
	"strings"

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
)

// Statement is a statement about accounts. It keeps nothing of the text that it was read from.
type Statement struct {
	Verb   Verb
	Exists bool // IF EXISTS, IF NOT EXISTS
	Users  []User
	To     []User // Rename: the new names

	// Of GRANT and REVOKE: the privileges in capitals, ALL PRIVILEGES alone, on a database, "*" for all, "" for the session's. GrantOption: WITH
	// GRANT OPTION. Everything: REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
	Privileges  []string
	Database    string
	GrantOption bool
	Everything  bool
}

// User is an account that a statement names, and how it is to log in from now on, if the statement says so.
type User struct {
	Name    string
	Current bool // CURRENT_USER, USER()
	Plugin  string
	Secret  string // the password or, with Hashed, what servers keep of it
	Hashed  bool
	Logs    bool // the statement says how it logs in
}

const (
	noHosts  = "leave the host out, or write '%': clients reach any process of the cluster"
	noRoles  = "GRANT to each account what it needs"
	levels   = "an account may read (SELECT), write (SELECT, INSERT, UPDATE, DELETE), or do all (ALL PRIVILEGES) in a database"
	theWhole = "leave it out: an account has a name, a password and privileges on databases"
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
			return sqlerr.Unsupported("CREATE OR REPLACE USER", "DROP USER IF EXISTS first")
		}
	case r.Take("ALTER"):
		out.Verb = Alter
	case r.Take("DROP"):
		out.Verb = Drop
	case r.Take("RENAME"):
		out.Verb = Rename
	case r.Take("SET"):
		out.Verb = Password
		if r.Take("PASSWORD") {
			return r.setPassword(out)
		}
	case r.Take("GRANT"):
		out.Verb = Grant
		return r.grant(out, "TO")
	case r.Take("REVOKE"):
		out.Verb = Revoke
		return r.grant(out, "FROM")
	}
	if !r.Take("USER") {
		return sqlerr.Unsupported("roles", noRoles)
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
	for r.Take("REQUIRE", "NONE") || r.Take("ACCOUNT", "UNLOCK") || r.Take("PASSWORD", "EXPIRE", "NEVER") || r.Take("PASSWORD", "EXPIRE", "DEFAULT") {
	}
	if out.Verb == Grant {
		out.GrantOption = r.Take("WITH", "GRANT", "OPTION")
	}
	return nil
}

// user reads the name of an account.
func (r *reader) user() (u User, err error) {
	if r.Take("CURRENT_USER") || r.Take("USER") {
		r.Take("(", ")")
		return User{Current: true}, nil
	}
	name, host, err := r.nameAndHost()
	if err != nil {
		return u, err
	}
	if host != "%" {
		return u, sqlerr.Unsupported("the account '"+name+"'@'"+host+"', for one host", noHosts)
	}
	return User{Name: name}, nil
}

func (r *reader) nameAndHost() (name, host string, err error) {
	name, err = r.name()
	if host = "%"; err != nil || r.Ahead().Kind != sqlparse.UserVar && !r.Is("@") {
		return name, host, err
	}
	at := r.Ahead()
	r.Skip()
	if at.Kind == sqlparse.UserVar && at.End-at.Start > 1 {
		return name, string(r.st.AppendName(nil, at)), nil
	}
	host, err = r.name()
	return name, host, err
}

// Named reads the account that a token names, and those behind it from tokens.
func Named(st *sqlparse.Statement, tok sqlparse.Token, tokens sqlparse.Tokens) (name, host string, err error) {
	r := &reader{Words: st.WordsAt(tok, tokens), st: st}
	return r.nameAndHost()
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
	if r.Take("ALL", "PRIVILEGES", ",", "GRANT", "OPTION") || r.Take("ALL", ",", "GRANT", "OPTION") {
		out.Everything = true
	} else {
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
	for !r.Take("ON") {
		switch {
		case r.Ahead().Kind == sqlparse.Word:
			words = append(words, strings.ToUpper(string(r.st.Text(r.Ahead().Span))))
		case r.Is(","):
			out.Privileges, words = append(out.Privileges, strings.Join(words, " ")), nil
		case r.Is("("):
			return sqlerr.Unsupported("privileges on columns", levels)
		default:
			return sqlerr.Unsupported("roles", noRoles)
		}
		if r.Skip(); r.Ahead().Kind == sqlparse.EOF || r.Is("TO") || r.Is("FROM") {
			return sqlerr.Unsupported("roles", noRoles)
		}
	}
	out.Privileges = append(out.Privileges, strings.Join(words, " "))
	if i := slices.Index(out.Privileges, "ALL"); i >= 0 {
		out.Privileges[i] = all
	}
	if slices.Contains(out.Privileges, "PROXY") {
		return sqlerr.Unsupported("GRANT PROXY", theWhole)
	}
	return nil
}

// level reads what the privileges are on.
func (r *reader) level(out *Statement) (err error) {
	if r.Take("*") {
		if r.Take(".", "*") {
			out.Database = "*"
		}
		return nil
	}
	if r.Is("FUNCTION") || r.Is("PROCEDURE") {
		return sqlerr.Unsupported("privileges on one function or procedure", levels)
	}
	r.Take("TABLE")
	if out.Database, err = r.name(); err != nil {
		return err
	}
	if !r.Take(".", "*") {
		return sqlerr.Unsupported("privileges on one table", levels)
	}
	// A database is named by a pattern; what has no other meaning than itself is written behind a backslash.
	name := strings.NewReplacer(`\_`, "_", `\%`, "\x00").Replace(out.Database)
	if strings.Contains(name, "%") {
		return sqlerr.Unsupported("privileges on databases by a pattern", levels)
	}
	out.Database = strings.ReplaceAll(name, "\x00", "%")
	return nil
}
