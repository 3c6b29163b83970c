package session

import (
	"cmp"

	"skarv/pkg/catalog"
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
	out, ok := withSharedReads(st, s.db, s.cfg.Dialect.MariaDB())
	if !ok {
		return nil, sqlerr.Unsupported("such a query in the value of a SET, a DO or an expression of a program, or in a trigger, within a transaction: servers lock the rows that it reads",
			"SELECT ... LOCK IN SHARE MODE INTO a variable, without set operations, and use that")
	}
	return out, nil
}

// queryFrame is what is known inside one pair of parentheses.
type queryFrame struct {
	query  bool // it has a SELECT
	tables bool // that reads tables with rows to lock
	system bool // that reads tables of the servers' own
	locks  bool // that says itself how it locks
	set    bool // it is one of several SELECTs
}

// withSharedReads is st with LOCK IN SHARE MODE at the end of every query that reads tables; ok is false where it cannot be said. db is the
// default database.
func withSharedReads(st *sqlparse.Statement, db string, mariadb bool) (out []byte, ok bool) {
	refs, sure := st.Tables()
	switch {
	case len(refs) == 0:
		return st.SQL(), true
	case !sure:
		return nil, false
	}
	ok = true
	sql, at, end := st.SQL(), 0, 0
	frames := []queryFrame{{}}
	closed := func() {
		f := frames[len(frames)-1]
		if f.query && f.tables && !f.locks {
			ok = ok && !f.system && !f.set
			out = append(append(out, sql[at:end]...), " LOCK IN SHARE MODE"...)
			at = end
		}
	}
	var prev sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); ok && tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		end = prev.End
		f := &frames[len(frames)-1]
		if len(refs) > 0 && refs[0].Start <= tok.Start {
			ok = noteTable(frames, catalog.KindOf(cmp.Or(refs[0].DB, db)) == catalog.UserDatabase)
			refs = refs[1:]
		}
		switch {
		case st.Is(prev, "."): // a name
		case st.Is(tok, "("):
			frames = append(frames, queryFrame{})
		case st.Is(tok, ")"):
			closed()
			if frames = frames[:len(frames)-1]; len(frames) == 0 {
				return nil, false
			}
		case st.Is(tok, "SELECT"):
			f.query = true
		case st.Is(tok, "UNION"), st.Is(tok, "EXCEPT"), st.Is(tok, "INTERSECT"), st.Mode()&sqlparse.Oracle != 0 && st.Is(tok, "MINUS"):
			f.set = true
		case !mariadb && st.Is(tok, "JSON_TABLE"): // MySQL says that it cannot be locked
			f.system = true
		case st.Is(tok, "LOCK"):
			f.locks = true
		case st.Is(tok, "FOR"):
			ahead := tokens
			next := ahead.Next()
			f.locks = f.locks || st.Is(next, "UPDATE") || st.Is(next, "SHARE")
		}
	}
	end = prev.End
	closed()
	return append(out, sql[at:]...), ok && len(frames) == 1
}

// noteTable notes that the innermost query reads a table; user: it is no server's own. ok is false if there is no such query.
func noteTable(frames []queryFrame, user bool) (ok bool) {
	for i := len(frames) - 1; i >= 0; i-- {
		if f := &frames[i]; f.query {
			f.tables, f.system = f.tables || user, f.system || !user
			return true
		}
	}
	return false
}
