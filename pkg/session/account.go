package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/literal"
	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// changeAccounts runs CREATE USER, GRANT and their like, which commit an open transaction.
func (s *Session) changeAccounts() error {
	st, err := account.Parse(s.stmt)
	if err != nil {
		return err
	}
	by := account.Session{
		Flavor: s.snap.Flavor, User: s.account.Name, Host: s.accountHost(), Database: s.db, Lower: s.snap.LowerCaseTableNames != 0, Roles: s.roles,
	}
	if st.Verb == account.SetRole {
		return s.setRole(st, by)
	}
	if err := st.Allowed(by, s.account, s.snap.Accounts); err != nil {
		return err
	}
	if err := st.Missing(by, s.snap); err != nil {
		return err
	}
	if s.ForeignCharset && !literal.IsASCII(s.stmt.SQL()) {
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
	ctx, done := s.UntilKilled(ddlTimeout)
	defer done()
	notes, err := s.cfg.Accounts.Run(ctx, st, by)
	if err != nil {
		return err
	}
	s.snap = s.snapshot()
	s.diagnostics.Clear()
	for _, n := range notes {
		if s.notes() {
			s.diagnostics.Add(diagnostics.Of(diagnostics.Note, n))
		}
	}
	return s.ok(wire.OK{Warnings: s.diagnostics.Warnings()})
}

// shownAccount is the account that the SHOW at hand is about. Everybody may see his own, and the role that is active on MariaDB, administrators those of
// others; of is nil if there is no such account.
func (s *Session) shownAccount(ofGrants bool) (sh account.Shown, of *catalog.Account, err error) {
	if sh, err = account.ParseShown(s.stmt); err != nil {
		return sh, nil, cmp.Or(s.fault(s.anyGroup()), err)
	}
	mariadb := s.cfg.Dialect.MariaDB()
	switch {
	case sh.Current:
		sh.Name = s.account.Name
		return sh, s.ownAccount(), nil
	case sh.Role:
		if active := s.activeRole(); active != nil {
			return sh, active, nil
		}
		sh.Name = s.account.Name
		return sh, nil, nil
	case sh.Name == s.account.Name:
		return sh, s.ownAccount(), nil
	}
	if of = s.snap.Accounts[sh.Name]; mariadb && of != nil && of.Role {
		switch active := s.activeRole(); {
		case sh.Hosted:
			of = nil
		case of == active:
			return sh, of, nil
		}
	}
	if !s.account.Administers() {
		if ofGrants && !mariadb && sh.Name.User() == s.account.Name.User() { // another of the user's own
			return sh, of, nil
		}
		if mariadb {
			return sh, nil, sqlerr.AccessDeniedDB.New(s.account.Name.User(), s.account.Name.Host(), "mysql")
		}
		return sh, nil, account.TableDenied(s.snap.Flavor, catalog.MaySelect, s.account.Name.User(), s.accountHost(), "mysql", "user")
	}
	return sh, of, nil
}

// showGrants is SHOW GRANTS [FOR ...].
func (s *Session) showGrants() error {
	sh, of, err := s.shownAccount(true)
	if err != nil {
		return err
	}
	if of == nil {
		return sqlerr.NoSuchGrant.New(sh.Name.User(), sh.Name.Host())
	}
	t := rowset.New("Grants for " + of.Name.At())
	mariadb := s.cfg.Dialect.MariaDB()
	if mariadb && of.Role {
		t = rowset.New("Grants for " + of.Name.User())
	}
	t.Columns[0].Flags, t.Columns[0].Length = sqltypes.FlagNotNull, 1024*4
	switch {
	case mariadb:
		s.grantsOfMariaDB(t, sh, of)
	default:
		using := sh.Using
		if sh.Current && using == nil {
			using = s.roles
		}
		for _, role := range sh.Using {
			if !s.snap.Accounts.Has(of, role) {
				return account.NotGranted(role, of.Name)
			}
		}
		s.grantsOf(t, s.snap.Accounts.With(of, using))
		s.rolesOf(t, of)
	}
	return s.send(t)
}

// grantsOfMariaDB are the rows of SHOW GRANTS of MariaDB: each role stands for itself.
func (s *Session) grantsOfMariaDB(t *rowset.Table, sh account.Shown, of *catalog.Account) {
	list := s.snap.Accounts.Inherited(of)
	if !of.Role {
		list = list[:1]
		if role := s.activeRole(); sh.Implied && role != nil {
			list = append(list, s.snap.Accounts.Inherited(role)...)
		}
	}
	for _, a := range list {
		for role, g := range s.snap.Accounts.Granted(a) {
			text := "GRANT " + sqltypes.QuoteName(role.Name.User()) + " TO " + s.grantee(a)
			if g.Admin {
				text += " WITH ADMIN OPTION"
			}
			t.Add(text)
		}
		s.grantsOf(t, a)
	}
	for _, role := range of.DefaultRoles {
		t.Add("SET DEFAULT ROLE " + sqltypes.QuoteName(role.User()) + " FOR " + s.grantee(of))
	}
}

// grantee is an account as GRANT names it.
func (s *Session) grantee(a *catalog.Account) string {
	if a.Role && s.cfg.Dialect.MariaDB() {
		return sqltypes.QuoteName(a.Name.User())
	}
	return a.Name.Quoted()
}

// grantsOf are the rows of SHOW GRANTS for the privileges of an account.
func (s *Session) grantsOf(t *rowset.Table, of *catalog.Account) {
	for on, p := range account.Granted(of) {
		names, grants := account.Told(p, on, s.snap.Flavor)
		if names == nil {
			names = []string{"USAGE"}
		}
		text := "GRANT " + strings.Join(names, ", ") + " ON " + grantedOn(on) + " TO " + s.grantee(of)
		if on.Database == "*" && s.cfg.Dialect.MariaDB() {
			text += identified(of) + required(of)
		}
		if grants {
			text += " WITH GRANT OPTION"
		}
		t.Add(text)
	}
}

// rolesOf are the rows of SHOW GRANTS of MySQL for the roles of an account.
func (s *Session) rolesOf(t *rowset.Table, of *catalog.Account) {
	for _, admin := range []bool{false, true} {
		var names []string
		for role, g := range s.snap.Accounts.Granted(of) {
			if g.Admin == admin {
				names = append(names, s.grantee(role))
			}
		}
		if names == nil {
			continue
		}
		slices.Sort(names)
		text := "GRANT " + strings.Join(names, ",") + " TO " + s.grantee(of)
		if admin {
			text += " WITH ADMIN OPTION"
		}
		t.Add(text)
	}
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

// required is what a login needs besides, as servers write it; "": nothing.
func required(a *catalog.Account) string {
	if a.RequireTLS {
		return " REQUIRE SSL"
	}
	return ""
}

// showCreateUser is SHOW CREATE USER [...].
func (s *Session) showCreateUser() error {
	sh, of, err := s.shownAccount(false)
	if err != nil {
		return err
	}
	mariadb := s.cfg.Dialect.MariaDB()
	switch {
	case mariadb && of != nil && of.Role && !s.account.Administers():
		return sqlerr.AccessDeniedDB.New(s.account.Name.User(), s.account.Name.Host(), "mysql")
	case mariadb && (of == nil || of.Role):
		return account.NoSuchUser(catalog.MariaDB)
	case of == nil:
		return sqlerr.CannotUser.New("SHOW CREATE USER", fmt.Sprintf("'%s'@'%s'", sh.Name.User(), sh.Name.Host())+account.NoAccount)
	}
	text := "CREATE USER " + s.grantee(of)
	switch {
	case !mariadb:
		text += " IDENTIFIED WITH '" + of.AuthPlugin + "'"
		if of.AuthString != "" {
			text += " AS " + sqltypes.Literal(of.AuthString)
		}
		if roles := s.snap.Accounts.Defaults(of); roles != nil {
			slices.Sort(roles)
			quoted := make([]string, len(roles))
			for i, name := range roles {
				quoted[i] = name.Quoted()
			}
			text += " DEFAULT ROLE " + strings.Join(quoted, ",")
		}
		state := "PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK"
		switch {
		case of.Role:
			state = "PASSWORD EXPIRE ACCOUNT LOCK"
		case of.Locked:
			state = "PASSWORD EXPIRE DEFAULT ACCOUNT LOCK"
		}
		text += cmp.Or(required(of), " REQUIRE NONE") + " " + state + " PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
	default:
		if text += identified(of) + required(of); of.Locked {
			text += " ACCOUNT LOCK"
		}
	}
	t := rowset.New("CREATE USER for " + of.Name.At())
	t.Columns[0].Flags, t.Columns[0].Length = sqltypes.FlagNotNull, 1024*4
	t.Add(text)
	return s.send(t)
}
