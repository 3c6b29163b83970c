package session

import (
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// commitImplicit is what DDL, BEGIN and LOCK TABLES do to an open transaction.
func (s *Session) commitImplicit() error {
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx = nil
	_, err := s.commit(tx)
	return err
}

// ends reports whether the statement at hand is of the kinds that commit the transaction, most of which nobody but a server reads to
// their end.
func (s *Session) ends() bool {
	switch s.stmt.Kind() {
	case sqlparse.TableAdmin:
		tokens := s.stmt.Tokens()
		return !s.stmt.Is(tokens.Next(), "CHECKSUM")
	case sqlparse.Create, sqlparse.Alter, sqlparse.Drop, sqlparse.Truncate, sqlparse.RenameTable,
		sqlparse.LockTables, sqlparse.UnlockTables, sqlparse.Flush:
		return true
	}
	return false
}

// misread is the fault that a server finds in reading the statement at hand, if it is one that ends transactions. A server
// reads all of a statement before it does anything: DROP TABLE a WHERE b drops nothing, and commits nothing.
func (s *Session) misread() error {
	if !s.ends() || s.current != nil { // what is prepared was read then
		return nil
	}
	fault := s.fault(s.anyGroup())
	if !sqlerr.HasCode(fault, sqlerr.ParseError, sqlerr.UnknownDataType, sqlerr.WrongUsage) {
		s.faults = s.faults[:0]
		return nil
	}
	return fault
}

// endsBefore reports whether the statement at hand is one that ends transactions before a server finds err in it.
func (s *Session) endsBefore(err error) bool {
	return err != nil && s.ends() && !sqlerr.HasCode(err, sqlerr.NotSupportedYet, sqlerr.ParseError, sqlerr.NoDatabase, sqlerr.EmptyQuery)
}

// unplanned returns why the statement at hand cannot be planned, of which the planner says err. If it is one that ends transactions, it
// does so all the same: servers commit, and LOCK TABLES gives locks back, before they look for what a statement names.
func (s *Session) unplanned(err error) (told error) {
	if !s.endsBefore(err) || s.calls != nil && len(s.calls.firing) > 0 { // nothing that a trigger calls commits
		return err
	}
	s.conn.Task().Blocking(func() { told = s.endUnplanned(err) })
	return told
}

func (s *Session) endUnplanned(err error) error {
	if fault := s.misread(); fault != nil {
		return fault
	}
	if s.namesTemporary() {
		return err
	}
	if fault := s.commitImplicit(); fault != nil {
		return fault
	}
	if s.stmt.Kind() == sqlparse.LockTables {
		if fault := s.unlock(); fault != nil {
			return fault
		}
	}
	return err
}

// namesTemporary reports whether the statement at hand is CREATE or DROP of a TEMPORARY table, which ends no transaction.
func (s *Session) namesTemporary() bool {
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		switch {
		case s.stmt.Is(tok, "CREATE"), s.stmt.Is(tok, "DROP"), s.stmt.Is(tok, "OR"), s.stmt.Is(tok, "REPLACE"):
		default:
			return s.stmt.Is(tok, "TEMPORARY")
		}
	}
	return false
}
