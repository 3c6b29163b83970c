package session

import (
	"cmp"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// What SET, DO and programs compute a value from, servers read as what they write is computed from: the present rows, which stay locked in share
// mode until the transaction ends. A SELECT in its place says so.

// readsLock reports whether rows that a statement reads in this way stay locked behind it.
func (s *Session) readsLock() bool { return s.locks == nil && (s.tx != nil || !s.Autocommit) }

// sharedReads is the text of a SELECT with every query in it locking the rows that it reads, unless there is no transaction for that.
func (s *Session) sharedReads(text []byte) ([]byte, error) {
	if !s.readsLock() {
		return text, nil
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return nil, err
	}
	if out := s.openedReads(st); out != nil {
		return out, nil
	}
	out, ok := withSharedReads(st, s.db)
	if !ok {
		return nil, sqlerr.Unsupported("such a query in the value of a SET, a DO or an expression of a program, or in a trigger, within a transaction: servers lock the rows that it reads",
			"SELECT ... LOCK IN SHARE MODE INTO a variable, without set operations, and use that")
	}
	return out, nil
}

// openedReads is withSharedReads of a statement with its views opened, where servers compute some by themselves; nil if there are none, or that cannot be.
func (s *Session) openedReads(st *sqlparse.Statement) []byte {
	if !s.namesView(st) {
		return nil
	}
	text := s.cfg.Planner.OpenViews(st, s.db, s.snap, s.Info)
	if text == nil {
		return nil
	}
	opened := st.Dialect().NewStatement()
	defer opened.Done()
	if opened.Scan(text, s.Mode) != nil {
		return nil
	}
	out, _ := withSharedReads(opened, s.db)
	return out
}

// namesView reports whether a statement names a view.
func (s *Session) namesView(st *sqlparse.Statement) bool {
	refs, _ := st.Tables()
	return slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool {
		t := s.snap.Table(cmp.Or(r.DB, s.db), r.Name)
		return t != nil && t.Kind == catalog.View
	})
}

// forValue runs the SELECT that sharedReads has made. What functions read for it is locked, too.
func (s *Session) forValue(run func() error) error {
	defer func(was bool) { s.Info.ForValue = was }(s.Info.ForValue)
	s.Info.ForValue = s.readsLock()
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
