package session

import (
	"bytes"
	"cmp"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// SET STATEMENT variable = value, ... FOR statement, of MariaDB: the variables are the session's while the statement runs.
// A server computes the values, and says which variables can be set in this way.

// isSetStatement recognises it.
func (s *Session) isSetStatement(st *sqlparse.Statement) bool {
	if st.Kind() != sqlparse.Set || !s.cfg.Dialect.MariaDB() {
		return false
	}
	tokens := st.Tokens()
	tokens.Next()
	return st.Is(tokens.Next(), "STATEMENT")
}

// describeInside is describe of a SET STATEMENT: what is inside says who can tell about the whole.
func (s *Session) describeInside(st *prepared) (d described, err error) {
	head, inner, ok := splitSetStatement(st.stmt)
	if !ok {
		return d, st.stmt.SyntaxError(len(st.stmt.SQL()))
	}
	if err := planner.Outside(st.stmt, s.db); err != nil {
		return d, err
	}
	inside := s.cfg.Dialect.NewStatement()
	defer inside.Done()
	if err := inside.Scan(inner, s.Mode); err != nil {
		return d, err
	}
	if textOnly(inside, true) {
		return d, sqlerr.NotPreparable.New()
	}
	sql := st.sql
	if bytes.IndexByte(head, '(') >= 0 { // servers compute the values already: what may call something is for setFor to judge
		sql = inside.SQL()
	}
	return s.describe(&prepared{sql: sql, stmt: inside, params: st.params})
}

// setStatement runs the statement at hand, and returns the plan of the one inside.
func (s *Session) setStatement(p *plan.Plan, params *wire.Params) (*plan.Plan, error) {
	outer := s.stmt
	head, inner, ok := splitSetStatement(outer)
	if !ok {
		return p, outer.SyntaxError(len(outer.SQL()))
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	mode := s.Mode // the whole text was read with it
	if err := st.Scan(inner, mode); err != nil {
		return p, err
	}
	if st.NumParams() != outer.NumParams() {
		return p, sqlerr.Unsupported("a parameter as the value of a variable of SET STATEMENT", "write the value, as servers demand it")
	}
	switch st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete, sqlparse.Do, sqlparse.Show,
		sqlparse.Explain, sqlparse.Create, sqlparse.Alter, sqlparse.Drop, sqlparse.Truncate, sqlparse.RenameTable, sqlparse.LoadData:
	default:
		return p, sqlerr.Unsupported("SET STATEMENT for this kind of statement", "set the variable for the session instead")
	}
	before, err := s.setFor(head)
	if err != nil {
		return p, err
	}
	if s.Mode != mode {
		err = sqlerr.Unsupported("SET STATEMENT with an sql_mode that reads the text in another way", "set sql_mode for the session instead")
	} else {
		p, err = s.runInside(st, params)
	}
	// With the values they had, rather than none: a connection within a transaction cannot be reset.
	if aerr := s.adopt(s.state.With(s.state.DB, before...)); err == nil {
		err = aerr
	}
	return p, err
}

// setFor gives the session the variables of a head "SET STATEMENT x = 1 FOR", and returns what they were.
func (s *Session) setFor(head []byte) (before []backend.Variable, err error) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(append(head[:len(head):len(head)], " SELECT 1"...), s.Mode); err != nil {
		return nil, err
	}
	if st.Uses()&sqlparse.Subquery != 0 {
		return nil, sqlerr.Unsupported("a subquery in the variables of SET STATEMENT", "assign it to a user variable first")
	}
	if st.Uses()&sqlparse.Sequence != 0 {
		return nil, sqlerr.Unsupported("values of sequences in the variables of SET STATEMENT", "assign it to a user variable first")
	}
	if st.Uses()&sqlparse.UserLock != 0 {
		return nil, sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in the variables of SET STATEMENT", "assign what they tell to a user variable first")
	}
	defer s.use(st)()
	tokens := st.Tokens()
	tokens.Next()
	tokens.Next()
	a, err := s.assignments(tokens)
	if err != nil {
		return nil, err
	}
	if err := s.mayAssign(a.System); err != nil {
		return nil, err
	}
	for _, n := range a.System {
		if n == "last_insert_id" || n == "identity" { // which is the session's, not a connection's
			return nil, sqlerr.Unsupported("SET STATEMENT "+n, "set the variable for the session instead")
		}
		if variable.OwnName(n) != "" {
			return nil, sqlerr.Unsupported("SET STATEMENT "+n, "set the variable for the session instead")
		}
	}
	text, err := s.substitute()
	if err != nil {
		return nil, err
	}
	if text == nil {
		text = st.SQL()
	}
	text = text[:len(text)-len("SELECT 1")]
	c, err := s.Get(s.anyGroup())
	if err != nil {
		return nil, err
	}
	was, values := s.state, s.state
	tells := s.tellsHeld(a.System)
	if tells {
		err = s.showHeld(c)
	}
	if err == nil {
		_, err = c.Exec(string(text) + "DO 1") // it may be wrong
	}
	if err == nil {
		was, err = s.readBack(c, "SELECT 1", nil, a.System)
	}
	if err == nil {
		values, err = s.readBack(c, string(text)+"SELECT 1", nil, a.System)
	}
	if tells {
		err = cmp.Or(err, s.hideHeld(c))
	}
	s.done(c, err)
	if err != nil {
		return nil, txn.Lost(c, err)
	}
	before = s.valuesBefore(was, a.System)
	return before, s.adopt(values)
}

// splitSetStatement returns the text up to and with the FOR of a SET STATEMENT, and the statement behind it.
func splitSetStatement(st *sqlparse.Statement) (head, inner []byte, ok bool) {
	sql := st.SQL()
	for tokens := st.Tokens(); ; {
		tok := tokens.Next()
		switch {
		case tok.Kind == sqlparse.EOF || tok.Kind == sqlparse.Invalid:
			return nil, nil, false
		case tok.Depth == 0 && tok.Kind == sqlparse.Word && st.Is(tok, "FOR"):
			return sql[:tok.End], sql[tok.End:], true
		}
	}
}
