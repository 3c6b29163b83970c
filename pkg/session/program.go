package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/diagnostics"
	"skarv/pkg/literal"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// An activation is the routine.Host of its procedure.

// Bounds on the rows of one cursor, which are kept until the procedure ends.
const (
	maxCursorRows  = 100_000
	maxCursorBytes = 64 << 20
)

// Scope implements routine.Host.
func (a *activation) Scope(hidden func(name string) bool) { a.vars.hidden = hidden }

// Step implements routine.Host.
func (a *activation) Step() error {
	if c := a.s.calls; len(c.firing) > 0 && a.s.tx != c.firingIn {
		return errLostTransaction() // what comes now would not be undone with the statement
	}
	return a.s.interrupted()
}

// Beyond implements routine.Host: what a trigger is a part of is gone with its transaction, and servers end it after a wait for a lock,
// too. A procedure that runs the statement may handle both.
func (a *activation) Beyond(err error) bool {
	return len(a.s.calls.firing) > 0 && sqlerr.MayRollBack(err)
}

// interrupted tells of a KILL that met no statement on a server.
func (s *Session) interrupted() error {
	if s.client.Doomed() {
		return errKilled
	}
	if s.client.Hit() {
		return sqlerr.QueryInterrupted.New()
	}
	return nil
}

// note takes the warnings of a statement for handlers.
func (a *activation) note(err error) error {
	a.conditions = a.conditions[:0]
	if err != nil {
		return err
	}
	if len(a.s.diagnostics.Conditions) > 0 {
		a.s.calls.warned = true
	}
	for i := range a.s.diagnostics.Conditions {
		w := &a.s.diagnostics.Conditions[i]
		level := routine.AsWarning
		switch w.Level {
		case diagnostics.Error:
			continue
		case diagnostics.Note:
			level = routine.AsNote
		}
		a.conditions = append(a.conditions, routine.Warning{Error: w.Err(a.s.cfg.Dialect.MariaDB()), Level: level})
	}
	return nil
}

// Warnings implements routine.Host.
func (a *activation) Warnings() []routine.Warning { return a.conditions }

// Assign implements routine.Host.
func (a *activation) Assign(variable, expr string) error {
	return a.computed(func() error { return a.assigned(variable, a.vars.assign(variable, expr, a)) })
}

// assigned looks at how the assignment of a variable ended: one that failed leaves NULL, as on the servers.
func (a *activation) assigned(variable string, err error) error {
	if _, ok := errors.AsType[*sqlerr.Error](err); !ok {
		return err
	}
	if c := a.s.calls.conn; c.Usable() {
		if e := a.vars.assign(variable, "NULL", nil); e != nil {
			return e
		}
	}
	return err
}

// Test implements routine.Host.
func (a *activation) Test(expr string) (bool, error) {
	var yes bool
	return yes, a.computed(func() (err error) {
		yes, err = a.vars.test(expr, a)
		return err
	})
}

// computed notes the warnings of computing an expression. Without any MariaDB tells those of before.
func (a *activation) computed(compute func() error) error {
	s := a.s
	before := s.diagnostics.Take()
	err := a.note(compute())
	if err != nil || len(s.diagnostics.Conditions) == 0 && s.cfg.Dialect.MariaDB() {
		s.diagnostics.Conditions = before
	}
	return err
}

// Value implements routine.Host. An expression without functions and queries, of which none is without parentheses that matters, is the
// same until something is assigned.
func (a *activation) Value(expr string) (string, error) {
	a.conditions = a.conditions[:0]
	if !strings.Contains(expr, "(") {
		plain, err := a.s.expression(expr, a.vars)
		if err != nil || plain {
			return expr, err
		}
	}
	var value string
	err := a.computed(func() (err error) {
		value, err = a.s.valueOf(expr, a, true)
		return err
	})
	return a.s.literals().Operand(value), err
}

// Run implements routine.Host.
func (a *activation) Run(text string) error {
	s := a.s
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(text), s.Mode); err != nil {
		return err
	}
	var before, left []diagnostics.Condition // before: that the statement is to see; they are none of its own. left: of the statement before, if it has none
	switch {
	case st.Uses()&sqlparse.ReadsDiagnostics != 0:
		if before = slices.Clone(s.diagnostics.Conditions); s.leavesWarnings(st) {
			left = before
		}
	case s.leavesWarnings(st):
		left = s.diagnostics.Take()
	default:
		s.diagnostics.Clear()
	}
	err := a.runOne(st, []byte(text))
	if err == nil && len(before) > 0 && slices.Equal(before, s.diagnostics.Conditions) {
		a.conditions = a.conditions[:0]
		return nil
	}
	err = a.note(err)
	if err == nil && len(s.diagnostics.Conditions) == 0 && len(left) > 0 {
		s.diagnostics.Conditions = left
	}
	if err == nil {
		err = a.legible()
	}
	return err
}

// legible refuses a sql_mode that the program has set, in which its text means something else: servers have read that before it runs.
func (a *activation) legible() error {
	if m := a.s.Mode; m != a.prog.Mode() && (a.read == nil || *a.read != m) {
		if !a.prog.ReadsAlike(m) {
			return sqlerr.Unsupported("a sql_mode set in a stored program whose own text would mean something else in it",
				"create the program in that mode: it is read by the mode of CREATE")
		}
		a.read = &m
	}
	return nil
}

// runOne is Run of the statement st, whose text is filled.
func (a *activation) runOne(st *sqlparse.Statement, filled []byte) error {
	s := a.s
	if shown, err := a.vars.show(filled); shown || err != nil {
		return err
	}
	var err error
	if st.Kind() != sqlparse.Call { // whose arguments are the caller's to compute
		if filled, err = a.vars.fill(filled, false); err != nil {
			return err
		}
	}
	if s.variableColumns, err = a.vars.shown(st); err != nil {
		return err
	}
	err = s.step(filled)
	s.variableColumns = nil
	if err != nil {
		return err
	}
	if st.Kind() != sqlparse.Call {
		s.calls.count(s.diagnostics.RowCount)
	}
	s.stateSignalled(st)
	return nil
}

// leavesWarnings reports whether a statement without warnings leaves those of the one before, as MariaDB's SELECT does that reads no tables.
func (s *Session) leavesWarnings(st *sqlparse.Statement) bool {
	refs, sure := st.Tables()
	return s.cfg.Dialect.MariaDB() && st.Kind() == sqlparse.Select && sure && len(refs) == 0
}

// leavesBySet is leavesWarnings for a SET.
func (s *Session) leavesBySet(text []byte) bool {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	return s.cfg.Dialect.MariaDB() && st.Scan(text, s.Mode) == nil && st.Uses()&sqlparse.Subquery == 0
}

// count adds up the rows that statements have changed.
func (c *calls) count(rows int64) {
	if rows > 0 && len(c.firing) == 0 {
		c.affected += uint64(rows)
	}
}

// Set implements routine.Host.
func (a *activation) Set(text string) error {
	filled, err := a.vars.fill([]byte(text), true)
	if err != nil {
		return err
	}
	before, mode := a.s.diagnostics.Take(), a.s.Mode
	err = a.s.step(filled)
	if told := a.s.toldMode; told != nil && a.s.Mode != mode {
		*told = a.s.Mode // servers tell of SET, though it ends with the routine
	}
	if err == nil {
		err = a.legible()
	}
	if err = a.note(err); err == nil && len(a.s.diagnostics.Conditions) == 0 && a.s.leavesBySet(filled) {
		a.s.diagnostics.Conditions = before
	}
	return err
}

// Into implements routine.Host.
func (a *activation) Into(text string, targets []string) error {
	a.conditions = a.conditions[:0]
	bytes := a.needsBytes(targets)
	filled, err := a.vars.fill([]byte(text), bytes)
	if err == nil {
		filled, err = a.queried(filled)
	}
	if err != nil {
		return err
	}
	take := &capture{limit: 2}
	a.s.diagnostics.Clear()
	if err := a.query(filled, take, bytes); err != nil {
		return err
	}
	a.s.leave()
	a.s.refresh()
	a.s.foundRows = notCounted
	if len(take.columns) != len(targets) {
		return sqlerr.DifferentColumnCounts.New()
	}
	if len(take.rows) == 0 {
		a.s.diagnostics.Add(diagnostics.Of(diagnostics.Warning, sqlerr.NoMoreRows.New()))
		a.s.diagnostics.RowCount, a.s.calls.warned = 0, true
		return a.note(nil)
	}
	fault, at, err := a.strictInto(filled, take, targets)
	if err != nil {
		return err
	}
	if err := a.intoTargets(take, targets, bytes, fault, at); err != nil {
		return err
	}
	if len(take.rows) > 1 {
		return sqlerr.TooManyRows.New()
	}
	a.s.diagnostics.RowCount = 1
	a.s.calls.count(1)
	return a.note(nil)
}

// queried is the text of a SELECT ... INTO or of a cursor, which MariaDB reads as what a write is computed from if a trigger runs it.
func (a *activation) queried(text []byte) ([]byte, error) {
	if len(a.s.calls.firing) == 0 || !a.s.cfg.Dialect.MariaDB() {
		return text, nil
	}
	return a.s.sharedReads(text)
}

// query is selects of a SELECT ... INTO or of a cursor. In a trigger the functions that it calls read as for the statement that has fired it.
func (a *activation) query(text []byte, take *capture, bytes bool) error {
	if len(a.s.calls.firing) == 0 {
		return a.s.selects(text, take, bytes)
	}
	return a.s.forValue(func() error { return a.s.selects(text, take, bytes) })
}

// needsBytes reports whether what is selected into targets must be in its own character set: a user variable keeps that, and of a variable
// for bytes it is the value. nil are all variables.
func (a *activation) needsBytes(targets []string) bool {
	for _, p := range a.vars.list {
		if literal.IsBinary(p.Type) && (targets == nil || slices.ContainsFunc(targets, func(t string) bool { return routine.Same(t, p.Name) })) {
			return true
		}
	}
	return slices.ContainsFunc(targets, func(t string) bool { return strings.HasPrefix(t, "@") })
}

// takeRow assigns the values of a row. bytes: its strings are in their own character sets.
func (a *activation) takeRow(cols []sqltypes.Column, row [][]byte, targets []string, bytes bool) error {
	text := a.s.valueText
	if bytes {
		text = a.s.originalText
	}
	told := slices.Clone(a.s.diagnostics.Conditions) // of computing the row
	defer func() { a.s.diagnostics.Conditions = told }()
	note := func(err error) error {
		told = append(told, a.s.diagnostics.Conditions...)
		return err
	}
	for i, target := range targets {
		text := text
		a.s.diagnostics.Clear()
		if cols[i].Type == sqltypes.TypeJSON && row[i] != nil && a.takesText(target) {
			text = func(_ sqltypes.Column, v []byte) (string, error) {
				return literal.Collated("utf8mb4", "utf8mb4_bin", v), nil
			}
		}
		value, err := text(cols[i], row[i])
		if err != nil {
			return err
		}
		if strings.HasPrefix(target, "@") {
			if row[i] != nil && literal.UnsignedInteger(cols[i]) {
				value = routine.Unsigned(value)
			}
			if err := note(a.s.assignTarget(target, value)); err != nil {
				return err
			}
			continue
		}
		at := a.vars.at(target)
		if at < 0 {
			return sqlerr.UndeclaredVariable.New(target)
		}
		p := a.vars.list[at]
		if cols[i].Type == sqltypes.TypeFloat && row[i] != nil && !strings.HasPrefix(strings.ToLower(p.Type), "float") {
			return sqlerr.Unsupported("a FLOAT column that is selected into a variable of another type", "select it with + 0e0")
		}
		if err := note(a.assigned(p.Name, a.vars.assign(p.Name, value, nil))); err != nil {
			return err
		}
	}
	return nil
}

// takesText reports whether a JSON document is its text as the value of a user variable or variable: of one for strings.
func (a *activation) takesText(target string) bool {
	if strings.HasPrefix(target, "@") {
		return true
	}
	at := a.vars.at(target)
	return at >= 0 && literal.IsText(a.vars.list[at].Type)
}

// rows is what a cursor goes through: all that its query gave.
type rows struct {
	a    *activation
	take *capture
	next int
	// bytes: strings are in their own character sets.
	bytes bool
}

// Query implements routine.Host.
func (a *activation) Query(text string) (routine.Rows, error) {
	a.conditions = a.conditions[:0]
	filled, err := a.vars.fill([]byte(text), false)
	if err == nil {
		filled, err = a.queried(filled)
	}
	if err != nil {
		return nil, err
	}
	take := &capture{limit: maxCursorRows + 1, maxBytes: maxCursorBytes}
	bytes, counted := a.needsBytes(nil), a.s.diagnostics.RowCount
	a.s.diagnostics.Clear()
	if err := a.query(filled, take, bytes); err != nil {
		return nil, err
	}
	a.s.diagnostics.RowCount = counted // as on the servers, a cursor leaves it
	a.s.leave()
	a.s.refresh()
	if len(take.rows) > maxCursorRows || take.over {
		return nil, sqlerr.Unsupported(fmt.Sprintf("a cursor over more than %d rows or 64 MB", maxCursorRows), "add conditions or LIMIT")
	}
	return &rows{a: a, take: take, bytes: bytes}, a.note(nil)
}

// Width implements routine.Rows.
func (r *rows) Width() int { return len(r.take.columns) }

// Next implements routine.Rows.
func (r *rows) Next(targets []string) (found bool, err error) {
	r.a.conditions = r.a.conditions[:0]
	if r.next == len(r.take.rows) {
		return false, nil
	}
	row := r.take.rows[r.next]
	r.next++
	s := r.a.s
	before := s.diagnostics.Take() // told on, but none of this statement's
	if err := r.a.takeRow(r.take.columns, row, targets, r.bytes); err != nil {
		return false, err
	}
	if err := r.a.note(nil); err != nil || len(s.diagnostics.Conditions) > 0 {
		return true, err
	}
	s.diagnostics.Conditions = before
	return true, nil
}

// Diagnose implements routine.Host: targets that are variables are assigned by way of user variables.
func (a *activation) Diagnose(text string) error {
	s := a.s
	a.conditions = a.conditions[:0]
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(text), s.Mode); err != nil {
		return err
	}
	var out []byte
	var names []string
	at := 0
	tokens := st.Tokens()
	var last sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		name := string(st.AppendName(nil, tok))
		if tok.Kind != sqlparse.Word && tok.Kind != sqlparse.QuotedName || !a.vars.has(name) {
			continue
		}
		ahead := tokens
		switch {
		case st.Is(ahead.Next(), "="):
			out = append(out, text[at:tok.Start]...)
			out = fmt.Appendf(out, "@__skarv_%d", len(names))
			names = append(names, name)
		case st.Is(last, "CONDITION"):
			value, err := a.vars.literal(name)
			if err != nil {
				return err
			}
			out = append(append(out, text[at:tok.Start]...), value.Text...)
		default:
			continue
		}
		at = tok.End
	}
	out = append(out, text[at:]...)
	kept := slices.Clone(s.diagnostics.Conditions)
	defer func() { s.diagnostics.Conditions = kept }()
	if err := s.step(out); err != nil {
		return err
	}
	if len(s.diagnostics.Conditions) > len(kept) { // there is no such condition
		kept = append(kept, s.diagnostics.Conditions[len(kept):]...)
		return nil
	}
	for i, name := range names {
		if err := a.vars.assign(name, fmt.Sprintf("@__skarv_%d", i), nil); err != nil {
			return err
		}
	}
	return nil
}

// Handle implements routine.Host.
func (a *activation) Handle(e *sqlerr.Error, as routine.Level) {
	s := a.s
	s.endOpen()
	a.conditions = a.conditions[:0]
	level := diagnostics.Error
	switch {
	case as == routine.AsNote:
		level = diagnostics.Note
	case as == routine.AsWarning || strings.HasPrefix(e.State, "01"):
		level = diagnostics.Warning
	case strings.HasPrefix(e.State, "02"):
		level, s.diagnostics.RowCount = diagnostics.Warning, -1
	default:
		s.diagnostics.RowCount = -1
	}
	s.diagnostics.Replace(diagnostics.Of(level, e))
	s.calls.warned = true
	a.stacked = append(a.stacked, s.diagnostics.Clone())
}

// Handled implements routine.Host.
func (a *activation) Handled(keep bool) {
	s := a.s
	a.stacked = a.stacked[:len(a.stacked)-1]
	if !keep {
		s.diagnostics.Clear()
		a.conditions = a.conditions[:0]
	}
}

// Resignal implements routine.Host.
func (a *activation) Resignal(signal string) error {
	err := a.Run(signal)
	if n := len(a.stacked); err == nil && n > 0 {
		a.stacked[n-1].Conditions = slices.Clone(a.s.diagnostics.Conditions)
	}
	return err
}

// stateSignalled gives the warning that a SIGNAL has left the SQLSTATE that it was raised with, which servers do not tell.
func (s *Session) stateSignalled(st *sqlparse.Statement) {
	tokens := st.Tokens()
	if !st.Is(tokens.Next(), "SIGNAL") || !st.Is(tokens.Next(), "SQLSTATE") {
		return
	}
	tok := tokens.Next()
	if st.Is(tok, "VALUE") {
		tok = tokens.Next()
	}
	if n := len(s.diagnostics.Conditions); n > 0 && tok.Kind == sqlparse.StringLit {
		s.diagnostics.Conditions[n-1].State = string(st.AppendName(nil, tok))
	}
}

// swallows reports whether an OK packet is not for the client: of a statement inside of a procedure.
func (s *Session) swallows() bool { return s.capture != nil || s.calls != nil }
