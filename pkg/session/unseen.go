package session

import (
	"math"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// unseen is what a server finds wrong with the statement at hand, if p does not bring servers to see all of it.
func (s *Session) unseen(p *plan.Plan) error {
	if !p.Unseen {
		return nil
	}
	return s.Look(p)
}

// Look is what a server finds wrong with the statement at hand. The text of a statement with parameters is the same one each time: its connection
// keeps it, and is not asked again until the schema changes.
func (s *Session) Look(p *plan.Plan) error {
	if s.stmt.Uses()&(sqlparse.UserLock|sqlparse.WritesUserVariable) != 0 || s.mayNotWrite() {
		return nil
	}
	g := s.groupOf(p)
	c, err := s.lookingOn(g)
	if err != nil {
		return err
	}
	text := s.stmt.SQL()
	if s.stmt.NumParams() > 0 && s.temps == nil {
		_, err = c.Describe(text, s.cfg.Hasher.Hash(text), s.snap.SchemaRevision)
	} else if st, fault := c.Prepare(text); fault != nil {
		err = fault
	} else {
		c.CloseStmt(st.ID)
	}
	if err == nil && s.cfg.Dialect.MariaDB() && foundLater(p) {
		_, _, err = c.QueryAll(string(s.args.AppendStatement([]byte("EXPLAIN "))), math.MaxInt)
		if saysRows(err) && c.Usable() {
			err = nil
		}
	}
	if sqlerr.HasCode(err, sqlerr.NotPreparable, sqlerr.NotGrouped, sqlerr.TooManyStatements) && c.Usable() {
		err = nil
	}
	if !s.hasOn(g) && c.Usable() && c.LastStatus().Has(wire.StatusInTrans) { // of EXPLAIN, with autocommit off
		_ = reset(c, "ROLLBACK")
	}
	if err != nil {
		s.noteFault(c, err)
	}
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

// foundLater reports whether MariaDB does not find all that is wrong when it prepares the statement: the ORDER BY of a DELETE, another number of columns
// than the SELECT of an INSERT has.
func foundLater(p *plan.Plan) bool {
	n, rows := p.Root.(*plan.RowByRow)
	return p.Kind == plan.Delete || rows && n.Query
}

// saysRows reports whether an error of EXPLAIN may be one of the rows that the server has, which are a part of the tables only: it computes subqueries
// for that. Those of the text say something of names and columns; what ends a transaction, or a KILL, is none of either.
func saysRows(err error) bool {
	return err != nil && !sqlerr.HasCode(err, sqlerr.UnknownColumn, sqlerr.AmbiguousColumn, sqlerr.UnknownTableIn, sqlerr.ColumnCountMismatch,
		sqlerr.DifferentColumnCounts, sqlerr.LockDeadlock, sqlerr.LockWaitTimeout, sqlerr.QueryInterrupted)
}

// mayNotWrite reports whether servers refuse writes whatever they say.
func (s *Session) mayNotWrite() bool {
	return s.tx == nil && s.readOnly() || s.tx != nil && s.tx.ReadOnly
}

// lookingOn returns a connection to g on which to have a statement looked at that is to run next: the session's own if it has one. Beside it a
// schema change might be in between, which waits for the transaction, and a server that reads rows would wait for those that it has locked.
func (s *Session) lookingOn(g placement.NodeGroupID) (*backend.Conn, error) {
	if s.hasOn(g) {
		return s.acquire(g)
	}
	return s.preparing(g)
}

// hasOn reports whether the session's transaction or its locks are on g.
func (s *Session) hasOn(g placement.NodeGroupID) bool {
	return s.locks != nil || s.tx != nil && s.tx.Branch(g) != nil
}
