package session

import (
	"fmt"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// changeAccounts runs CREATE USER, GRANT and their like, which commit an open transaction.
func (s *Session) changeAccounts() error {
	st, err := account.Parse(s.stmt)
	if err != nil {
		return err
	}
	by := account.Session{Flavor: s.snap.Flavor, User: s.account.Name, Host: s.accountHost(), Database: s.db, Lower: s.snap.LowerCaseTableNames != 0}
	if err := st.Allowed(by, s.account, s.snap.Accounts); err != nil {
		return err
	}
	if err := st.Missing(by, s.snap); err != nil {
		return err
	}
	if s.foreignCharset && !ascii(s.stmt.SQL()) {
		return sqlerr.Unsupported("accounts and passwords beyond ASCII in another character set than UTF-8", "SET NAMES utf8mb4")
	}
	if s.locks != nil {
		return sqlerr.Unsupported("managing accounts under LOCK TABLES", "UNLOCK TABLES first")
	}
	if err := s.commitImplicit(); err != nil {
		return err
	}
	if s.readOnly() {
		return s.readOnlyTransaction()
	}
	s.isolation = "" // as with a schema change
	ctx, done := s.untilKilled(ddlTimeout)
	defer done()
	notes, err := s.cfg.Accounts.Run(ctx, st, by)
	if err != nil {
		return err
	}
	s.snap, s.warnings = s.snapshot(), s.warnings[:0]
	for _, n := range notes {
		if s.notes() {
			s.warnings = append(s.warnings, Warning{"Note", uint16(n.Code), n.Message, n.State})
		}
	}
	return s.ok(wire.OK{Warnings: uint16(len(s.warnings))})
}

// shownAccount is the account that the SHOW at hand is about: that of who asks, if it names none behind the words or says CURRENT_USER. Everybody
// may see his own, administrators those of others; of is nil if there is no such account.
func (s *Session) shownAccount(words ...string) (user, host string, of *catalog.Account, err error) {
	tokens := s.stmt.Tokens()
	tok := tokens.Next()
	for _, w := range words {
		if s.stmt.Is(tok, w) {
			tok = tokens.Next()
		}
	}
	if tok.Kind == sqlparse.EOF || s.stmt.Is(tok, "CURRENT_USER") {
		return s.account.Name, "%", s.account, nil
	}
	if user, host, err = account.Named(s.stmt, tok, tokens); err != nil {
		return user, host, nil, err
	}
	if user == s.account.Name && host == "%" {
		return user, host, s.account, nil
	}
	if !s.account.Administers() {
		if s.cfg.Dialect.MariaDB() {
			return user, host, nil, sqlerr.AccessDeniedDB.New(s.account.Name, "%", "mysql")
		}
		return user, host, nil, account.TableDenied(s.snap.Flavor, catalog.MaySelect, s.account.Name, s.accountHost(), "mysql", "user")
	}
	if host != "%" {
		return user, host, nil, nil
	}
	return user, host, s.snap.Accounts[user], nil
}

// showGrants is SHOW GRANTS [FOR ...].
func (s *Session) showGrants() error {
	user, host, of, err := s.shownAccount("SHOW", "GRANTS", "FOR")
	if err != nil {
		return err
	}
	if of == nil {
		return sqlerr.NoSuchGrant.New(user, host)
	}
	t := newTable(fmt.Sprintf("Grants for %s@%%", user))
	t.columns[0].Flags, t.columns[0].Length = sqltypes.FlagNotNull, 1024*4
	grantee := sqltypes.QuoteName(user) + "@`%`"
	for on, p := range account.Granted(of) {
		names, grants := account.Shown(p, on, s.snap.Flavor)
		if names == nil {
			names = []string{"USAGE"}
		}
		text := "GRANT " + strings.Join(names, ", ") + " ON " + grantedOn(on) + " TO " + grantee
		if on.Database == "*" && s.cfg.Dialect.MariaDB() {
			text += identified(of)
		}
		if grants {
			text += " WITH GRANT OPTION"
		}
		t.add(text)
	}
	return s.send(t)
}

// grantedOn is how GRANT writes what privileges are on.
func grantedOn(on account.On) string {
	switch {
	case on.Database == "*":
		return "*.*"
	case on.Name == "":
		return sqltypes.QuoteName(on.Database) + ".*"
	case on.Kind == account.Table:
		return sqltypes.QuoteIn(on.Database, on.Name)
	}
	return string(on.Kind) + " " + sqltypes.QuoteIn(on.Database, on.Name)
}

// identified is how MariaDB's servers write that an account logs in.
func identified(a *catalog.Account) string {
	secret := sqltypes.Literal(a.AuthString)
	switch {
	case a.AuthString == "":
		return ""
	case a.AuthPlugin == wire.NativePassword:
		return " IDENTIFIED BY PASSWORD " + secret
	}
	return " IDENTIFIED VIA " + a.AuthPlugin + " USING " + secret
}

// showCreateUser is SHOW CREATE USER [...].
func (s *Session) showCreateUser() error {
	user, host, of, err := s.shownAccount("SHOW", "CREATE", "USER")
	if err != nil {
		return err
	}
	mariadb := s.cfg.Dialect.MariaDB()
	switch {
	case of == nil && mariadb:
		return account.NoSuchUser(catalog.MariaDB)
	case of == nil:
		return sqlerr.CannotUser.New("SHOW CREATE USER", fmt.Sprintf("'%s'@'%s' (User account does not exist)", user, host))
	}
	text := "CREATE USER " + sqltypes.QuoteName(user) + "@`%`"
	switch {
	case !mariadb:
		text += " IDENTIFIED WITH '" + of.AuthPlugin + "' AS " + sqltypes.Literal(of.AuthString) + " REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT" +
			" PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
	default:
		text += identified(of)
	}
	t := newTable(fmt.Sprintf("CREATE USER for %s@%%", user))
	t.columns[0].Flags, t.columns[0].Length = sqltypes.FlagNotNull, 1024*4
	t.add(text)
	return s.send(t)
}
