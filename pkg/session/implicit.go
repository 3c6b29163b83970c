package session

import (
	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// commitImplicit is what DDL, BEGIN and LOCK TABLES do to an open transaction.
func (s *Session) commitImplicit() error {
	s.early = nil
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
		sqlparse.LockTables, sqlparse.UnlockTables, sqlparse.Flush, sqlparse.Grant:
		return true
	case sqlparse.Account:
		return !s.setsRole()
	}
	return false
}

// misread is the fault that a server finds in reading the statement at hand, if it is one that ends transactions. A server
// reads all of a statement before it does anything: DROP TABLE a WHERE b drops nothing, and commits nothing.
func (s *Session) misread() error {
	if !s.ends() && !s.setsRole() || s.current != nil { // what is prepared was read then
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

// While autocommit is off, the first statement for which a server opens tables of InnoDB begins the transaction: MySQL when it has found nothing
// wrong with what the statement says of them, MariaDB before it looks.

// mayBegin reports whether the statement at hand begins the session's transaction, if it uses tables.
func (s *Session) mayBegin() bool { return s.tx == nil && !s.Autocommit && s.locks == nil }

// usesTables reports whether p is about tables.
func usesTables(p *plan.Plan) bool { return p.Root != nil || p.Relay != nil && len(p.Relay.Tables) > 0 }

// beginsNone reports whether a server finds the error that a statement has ended with before it begins a transaction.
func (s *Session) beginsNone(err error) bool {
	switch sqlerr.Code(s.codeOf(err)) {
	case sqlerr.ReadOnlyTransaction, sqlerr.NotUniqueTable:
		return true
	case sqlerr.UnknownColumn, sqlerr.AmbiguousColumn, sqlerr.UnknownTableIn, sqlerr.ColumnCountMismatch, sqlerr.DifferentColumnCounts, sqlerr.NotGrouped:
		return !s.cfg.Dialect.MariaDB()
	}
	return false
}

// unbegin takes back the beginning of a transaction, but for the savepoints that were set before, and next, the SET TRANSACTION for it.
func (s *Session) unbegin(next string) {
	early := s.early
	s.endTransaction()
	s.early, s.isolation = early, next
}

// noteBegun begins the session's transaction behind a statement on c, beside it, for which c's server has begun one: it has read tables that only
// servers know of, as SHOW does on MySQL.
func (s *Session) noteBegun(c *backend.Conn) {
	if s.mayBegin() && c.Usable() && c.LastStatus().Has(wire.StatusInTrans) {
		s.begin(startTransaction, nil)
	}
}
