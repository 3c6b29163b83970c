package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// changeAccounts runs CREATE USER, GRANT and their like, which commit an open transaction. Administrators may change accounts, and everybody his own
// password.
func (s *Session) changeAccounts() error {
	st, err := account.Parse(s.stmt)
	if err != nil {
		return err
	}
	by := account.Session{Flavor: s.snap.Flavor, User: s.user, Database: s.db}
	if !st.OnlyOwn(by) && s.account.Privilege("*") < catalog.Admin {
		return sqlerr.SpecificAccessDenied.New("CREATE USER")
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
		return s.user, "%", s.account, nil
	}
	if user, host, err = account.Named(s.stmt, tok, tokens); err != nil {
		return user, host, nil, err
	}
	if user == s.user && host == "%" {
		return user, host, s.account, nil
	}
	if s.account.Privilege("*") < catalog.Admin {
		return user, host, nil, sqlerr.AccessDeniedDB.New(s.user, "%", "mysql")
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
	t.add("GRANT USAGE ON *.* TO " + grantee)
	for _, db := range slices.Sorted(maps.Keys(of.Grants)) {
		on := sqltypes.QuoteName(db) + ".*"
		if db == "*" {
			on = "*.*"
		}
		what := strings.Join(account.Privileges(of.Grants[db]), ", ")
		if of.Grants[db] == catalog.Admin {
			what = "ALL PRIVILEGES"
		}
		if what != "" {
			t.add("GRANT " + what + " ON " + on + " TO " + grantee)
		}
	}
	return s.send(t)
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
	secret := sqltypes.Literal(of.AuthString)
	switch {
	case !mariadb:
		text += " IDENTIFIED WITH '" + of.AuthPlugin + "' AS " + secret + " REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT" +
			" PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
	case of.AuthString == "":
	case of.AuthPlugin == wire.NativePassword:
		text += " IDENTIFIED BY PASSWORD " + secret
	default:
		text += " IDENTIFIED VIA " + of.AuthPlugin + " USING " + secret
	}
	t := newTable(fmt.Sprintf("CREATE USER for %s@%%", user))
	t.columns[0].Flags, t.columns[0].Length = sqltypes.FlagNotNull, 1024*4
	t.add(text)
	return s.send(t)
}
