package session

import (
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/substitution"
	"skarv/pkg/wire"
)

// What a session may do is what its account may, and what those of its active roles may that the account has been granted at the time: s.account has
// all of that, made anew from each snapshot with other accounts, so that nobody who asks it need know of roles.

// followAccount takes from the snapshot at hand what the client may do; false: there is no such account.
func (s *Session) followAccount() bool {
	own := s.snap.Accounts[s.identity]
	if own == nil || own.Role || own.ID != s.identityID {
		return false
	}
	s.account, s.accountFrom = s.snap.Acting(own, s.origin, s.roles), s.snap
	s.admin = s.account.Administers()
	return true
}

// ownAccount is the account that the session acts as without its active roles.
func (s *Session) ownAccount() *catalog.Account { return s.snap.Accounts[s.account.Name] }

// setsRole reports whether the statement at hand is SET ROLE.
func (s *Session) setsRole() bool {
	tokens := s.stmt.Tokens()
	return s.stmt.Kind() == sqlparse.Account && s.stmt.Is(tokens.Next(), "SET") && s.stmt.Is(tokens.Next(), "ROLE")
}

// setRole is SET ROLE.
func (s *Session) setRole(st *account.Statement, by account.Session) error {
	if s.calls != nil && len(s.calls.stack) > 0 {
		return sqlerr.Unsupported("SET ROLE in a procedure, function, trigger or event", "SET ROLE before the call, or GRANT its definer what it needs")
	}
	roles, err := st.Active(by, s.snap.Accounts)
	if err != nil {
		return err
	}
	s.roles = roles
	s.followAccount()
	s.followDB()
	return s.ok(wire.OK{})
}

// activeRoles are the names of the roles that SET ROLE or the login has made active, in the order in which servers tell them. Some may have been
// taken away since.
func (s *Session) activeRoles() []catalog.AccountName {
	names := slices.Clone(s.roles)
	slices.Sort(names)
	return slices.Compact(names)
}

// currentRole is what CURRENT_ROLE() gives; ok is false if that is what servers say who know of no role.
func (s *Session) currentRole(stmt *sqlparse.Statement) (v substitution.Value, ok bool) {
	roles := s.activeRoles()
	if len(roles) == 0 {
		return v, false
	}
	names := make([]string, len(roles))
	for i, role := range roles {
		if names[i] = role.User(); !s.cfg.Dialect.MariaDB() {
			names[i] = role.Quoted()
		}
	}
	typed := "IFNULL(CURRENT_ROLE(), %s)"
	if !s.cfg.Dialect.MariaDB() {
		typed = "IF(1, %s, CURRENT_ROLE())"
	}
	text := sqltypes.Quoted(strings.Join(names, ","), stmt.Mode()&sqlparse.NoBackslashEscapes != 0)
	return substitution.Value{Text: text, Typed: typed}, true
}

// activeRole is the role that is active on MariaDB; nil: none is, or the account does not have it any more.
func (s *Session) activeRole() *catalog.Account {
	for role := range s.snap.Accounts.Granted(s.ownAccount()) {
		if slices.Contains(s.roles, role.Name) {
			return role
		}
	}
	return nil
}
