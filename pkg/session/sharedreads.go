package session

import (
	"cmp"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// What SET, DO and programs compute a value from, servers read as what they write is computed from: the present rows, which stay locked in share
// mode until the transaction ends. A SELECT in its place says so.

// readsLock reports whether rows that a statement reads in this way stay locked behind it.
func (s *Session) readsLock() bool { return s.locks == nil && (s.tx != nil || !s.autocommit) }

// sharedReads is the text of a SELECT with every query in it locking the rows that it reads, unless there is no transaction for that.
func (s *Session) sharedReads(text []byte) ([]byte, error) {
	if !s.readsLock() {
		return text, nil
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.mode); err != nil {
		return nil, err
	}
	out, ok := withSharedReads(st, s.db)
	if !ok {
		return nil, sqlerr.Unsupported("such a query in the value of a SET, a DO or an expression of a program, or in a trigger, within a transaction: servers lock the rows that it reads",
			"SELECT ... LOCK IN SHARE MODE INTO a variable, without set operations, and use that")
	}
	return out, nil
}

// forValue runs the SELECT that sharedReads has made. What functions read for it is locked, too.
func (s *Session) forValue(run func() error) error {
	defer func(was bool) { s.info.ForValue = was }(s.info.ForValue)
	s.info.ForValue = s.readsLock()
	return run()
}

// torn is why a statement over n's copies cannot run in the transaction at hand; nil if it can.
func (s *Session) torn(n *plan.Workspace) error {
	if n.Torn == nil || s.tx == nil || !s.tx.Repeatable {
		return nil
	}
	return sqlerr.Unsupported("functions that read the table '"+n.Torn.Name+"' both in an expression and by a SELECT or a cursor, within a transaction of REPEATABLE READ: one of them reads the present, the other one the snapshot",
		"let the functions read it in one of these ways")
}

// withSharedReads is st with LOCK IN SHARE MODE at the end of every query that reads tables; ok is false where it cannot be said. db is the
// default database.
func withSharedReads(st *sqlparse.Statement, db string) (out []byte, ok bool) {
	places, ok := st.SharedReads(func(r sqlparse.TableRef) bool { return catalog.KindOf(cmp.Or(r.DB, db)) == catalog.UserDatabase })
	if !ok {
		return nil, false
	}
	sql, at := st.SQL(), 0
	for _, place := range places {
		out = append(append(out, sql[at:place]...), " LOCK IN SHARE MODE"...)
		at = place
	}
	return append(out, sql[at:]...), true
}
