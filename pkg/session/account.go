package session

import (
	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
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
