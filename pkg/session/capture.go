package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// capture takes the answer of a statement that the session runs for itself, as part of one of the client's.
type capture struct {
	limit   int                           // rows kept; what comes behind them is dropped
	accept  func([]sqltypes.Column) error // nil, or judges the result before its first row
	columns []sqltypes.Column
	rows    [][][]byte
	// maxBytes bounds the bytes of the rows kept, if it is not 0; over: there were more.
	maxBytes, bytes int
	over            bool
	// ok is the last OK packet of a statement without rows.
	ok wire.OK
}

func (c *capture) start(cols []sqltypes.Column) error {
	c.columns = slices.Clone(cols)
	return nil
}

func (c *capture) row(payload []byte) error {
	c.bytes += len(payload)
	c.over = c.over || c.maxBytes > 0 && c.bytes > c.maxBytes
	if len(c.rows) >= c.limit || c.over {
		return nil
	}
	fields, err := wire.ParseTextRow(payload, nil)
	if err != nil {
		return err
	}
	for i, f := range fields {
		fields[i] = bytes.Clone(f)
	}
	c.rows = append(c.rows, fields)
	return nil
}

// within runs a statement on behalf of the one at hand: planned, routed and checked as any other, inside the session's
// transaction. What it answers goes to take.
func (s *Session) within(text []byte, take *capture) error {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return err
	}
	wasAsked, wasAnswering, wasFound := s.asked, s.answering, s.foundRows
	s.asked, s.answering = asked{}, answering{capture: take}
	defer func() { s.asked, s.answering, s.foundRows = wasAsked, wasAnswering, wasFound }()
	_, err := s.runInside(st, nil)
	return err
}

// numbers runs a SELECT whose result is numbers, which say all of their type: at most two rows of it are returned. ok is
// false when the result has other columns, or the rows are better found in another way.
func (s *Session) numbers(text []byte, columns int) (rows [][]string, ok bool, err error) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return nil, false, nil
	}
	back := s.use(st)
	p, err := s.plan()
	back()
	if err != nil || p.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID|plan.CalcFoundRows) != 0 {
		return nil, false, nil
	}
	switch p.Root.(type) {
	case *plan.Workspace, *plan.Choice:
		return nil, false, nil
	}
	if p.Root == nil && p.Relay == nil {
		return nil, false, nil
	}
	take := &capture{limit: 2}
	if err := s.within(text, take); err != nil {
		return nil, true, err
	}
	if len(take.columns) != columns || slices.ContainsFunc(take.columns, func(c sqltypes.Column) bool {
		return !c.Type.IsNumber() || c.Type == sqltypes.TypeYear || c.Type == sqltypes.TypeFloat // whose text has six digits only
	}) {
		return nil, false, nil
	}
	for _, r := range take.rows {
		values := make([]string, len(r))
		for i, v := range r {
			values[i] = variable.UserLiteral(take.columns[i], [][]byte{v, nil, nil, nil})
		}
		rows = append(rows, values)
	}
	return rows, true, nil
}

// setUserVariables makes literals the values of user variables.
func (s *Session) setUserVariables(names, values []string) error {
	set := make([]backend.Variable, len(names))
	for i, n := range names {
		set[i] = backend.Variable{Name: "@" + sqltypes.QuoteName(n), Value: values[i]}
	}
	return s.adopt(s.state.With(s.state.DB, set...))
}

// selectInto runs SELECT ... INTO @a, ... over several node groups, if what is selected is numbers and its rows need not
// all be copied to one place; handled is false if not.
func (s *Session) selectInto() (handled bool, err error) {
	if s.stmt.Uses()&sqlparse.WritesUserVariable == 0 || s.stmt.Kind() != sqlparse.Select {
		return false, nil
	}
	names, into, ok := routine.Into(s.stmt)
	for i, n := range names {
		if n[0] != '@' {
			return false, nil
		}
		names[i] = variable.UserName([]byte(n))
	}
	if !ok {
		return false, nil
	}
	if setOperation(s.stmt, into.End) { // which servers take at its end only
		fault := s.fault(s.anyGroup())
		return fault != nil, fault
	}
	text := s.args.AppendSpan(nil, sqlparse.Span{Start: 0, End: into.Start})
	text = s.args.AppendSpan(append(text, ' '), sqlparse.Span{Start: into.End, End: len(s.stmt.SQL())})
	var rows [][]string
	rows, ok, err = s.numbers(text, len(names))
	if !ok || err != nil {
		return ok, err
	}
	if len(rows) == 0 {
		s.diagnostics.Replace(diagnostics.Of(diagnostics.Warning, sqlerr.NoMoreRows.New()))
		return true, s.ok(wire.OK{Warnings: 1})
	}
	if err := s.setUserVariables(names, rows[0]); err != nil {
		return true, err
	}
	if len(rows) > 1 {
		return true, sqlerr.TooManyRows.New()
	}
	return true, s.ok(wire.OK{AffectedRows: 1})
}

// setOperation reports whether a set operation of the whole query follows a place in it.
func setOperation(st *sqlparse.Statement, from int) bool {
	for tokens := st.TokensFrom(from); ; {
		switch t := tokens.Next(); {
		case t.Kind == sqlparse.EOF:
			return false
		case t.Depth <= 0 && (st.Is(t, "UNION") || st.Is(t, "EXCEPT") || st.Is(t, "INTERSECT")):
			return true
		}
	}
}

// do is DO with expressions that read tables: a SELECT without an answer.
func (s *Session) do() error {
	tokens := s.stmt.Tokens()
	first := tokens.Next()
	text, err := s.sharedReads(s.args.AppendSpan([]byte("SELECT"), sqlparse.Span{Start: first.End, End: len(s.stmt.SQL())}))
	if err != nil {
		return err
	}
	err = s.forValue(func() error { return s.within(text, &capture{}) })
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && sqlerr.HasCode(e, sqlerr.SubqueryManyRows, sqlerr.OutOfRange, sqlerr.LockWaitTimeout) && s.cfg.Dialect.MariaDB() {
		s.diagnostics.Conditions = []diagnostics.Condition{diagnostics.Of(diagnostics.Error, e)} // DO tells of what fails while it computes, and succeeds
		return s.ok(wire.OK{Warnings: 1})
	}
	if err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// setFromTables runs a SET with assignments that read tables; handled is false when there are none.
func (s *Session) setFromTables(tokens sqlparse.Tokens) (handled bool, err error) {
	type assignment struct {
		text   []byte
		name   string // of a user variable assigned from tables
		expr   []byte
		scalar []byte // expr is this subquery
	}
	var list []assignment
	for more := true; more; {
		first := tokens.Next()
		operator := tokens.Next()
		whole := sqlparse.Span{Start: first.Start, End: operator.End}
		var expr sqlparse.Span
		closed := -1 // where the first parentheses end
		for {
			tok := tokens.Next()
			more = tok.Kind != sqlparse.EOF
			if !more || tok.Depth == 0 && s.stmt.Is(tok, ",") {
				break
			}
			if expr.End == 0 {
				expr.Start = tok.Start
			}
			expr.End, whole.End = tok.End, tok.End
			if closed < 0 && tok.Depth == 0 && s.stmt.Is(tok, ")") {
				closed = tok.End
			}
		}
		a := assignment{text: s.args.AppendSpan(nil, whole)}
		if s.readsTables(s.stmt, expr) {
			if first.Kind != sqlparse.UserVar {
				return true, sqlerr.Unsupported("SET of a system variable from tables", "assign the value to a user variable first")
			}
			handled = true
			a.name, a.expr = variable.UserName(s.stmt.Text(first.Span)), s.args.AppendSpan(nil, expr)
			if closed == expr.End && s.stmt.Text(expr)[0] == '(' {
				a.scalar = s.args.AppendSpan(nil, sqlparse.Span{Start: expr.Start + 1, End: expr.End - 1})
			}
		}
		list = append(list, a)
	}
	if !handled {
		return false, nil
	}
	// Servers compute all values before they assign the first.
	text := []byte("SET ")
	var freed []byte
	for i, a := range list {
		if i > 0 {
			text = append(text, ", "...)
		}
		if a.name == "" {
			text = append(text, a.text...)
			continue
		}
		held := fmt.Sprintf("__skarv_%d", i)
		if err := s.forValue(func() error { return s.setFromQuery(held, a.expr, a.scalar) }); err != nil {
			return true, err
		}
		text = fmt.Appendf(text, "@%s = @%s", sqltypes.QuoteName(a.name), held)
		freed = fmt.Appendf(freed, ", @%s = NULL", held)
	}
	text = append(text, freed...)
	if err := s.within(text, &capture{}); err != nil {
		return true, err
	}
	return true, s.ok(wire.OK{})
}

func (s *Session) setFromQuery(name string, expr, scalar []byte) error {
	if scalar != nil {
		text, err := s.sharedReads(scalar)
		if err != nil {
			return err
		}
		rows, ok, err := s.numbers(text, 1)
		switch {
		case err != nil:
			return err
		case ok && len(rows) > 1:
			return sqlerr.SubqueryManyRows.New()
		case ok && len(rows) == 0:
			return s.setUserVariables([]string{name}, []string{"NULL"})
		case ok:
			return s.setUserVariables([]string{name}, rows[0])
		}
	}
	text, err := s.sharedReads(append([]byte("SELECT "), expr...))
	if err != nil {
		return err
	}
	return s.within(append(text, " INTO @"+sqltypes.QuoteName(name)...), &capture{})
}

// readsTables reports whether an expression of st has a subquery over tables, or calls a function that reads some.
func (s *Session) readsTables(st *sqlparse.Statement, expr sqlparse.Span) bool {
	sub := st.Dialect().NewStatement()
	defer sub.Done()
	if sub.Scan(append([]byte("SELECT "), st.Text(expr)...), st.Mode()) != nil {
		return false
	}
	refs, sure := sub.Tables()
	return planner.ReadsTables(sub, s.db, s.snap) || sub.Uses()&sqlparse.Subquery != 0 && (len(refs) > 0 || !sure)
}
