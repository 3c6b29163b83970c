package planner

import (
	"math"
	"slices"
	"strconv"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// editor builds a fragment's text from ranges of the statement's own text and pieces of ours.
type editor struct {
	st   *sqlparse.Statement
	part []int // list arguments of which only the group's part is sent
	text plan.Text
	sql  []byte
}

// raw appends SQL of our own.
func (e *editor) raw(sql string) { e.sql = append(e.sql, sql...) }

// arg appends an argument.
func (e *editor) arg(p plan.Piece) {
	p.SQL = string(e.sql)
	e.sql = e.sql[:0]
	e.text = append(e.text, p)
}

// total appends the sum of two counts, as plan.Piece has it.
func (e *editor) total(x, y plan.Operand) {
	if x.Arg < 0 {
		x, y = y, x
	}
	if x.Arg >= 0 {
		e.arg(plan.Piece{Arg: x.Arg, Plus: &y})
		return
	}
	m, errM := strconv.ParseUint(string(x.Const.Raw), 10, 64)
	n, errN := strconv.ParseUint(string(y.Const.Raw), 10, 64)
	switch {
	case errM != nil || errN != nil: // the server refuses what is written
		e.raw(string(x.Const.Raw) + ", " + string(y.Const.Raw))
	case m+n < m:
		e.raw(strconv.FormatUint(math.MaxUint64, 10))
	default:
		e.raw(strconv.FormatUint(m+n, 10))
	}
}

// add appends a text made by another editor.
func (e *editor) add(t plan.Text) {
	for _, p := range t {
		e.raw(p.SQL)
		if p.Arg != plan.NoArg {
			e.arg(p)
		}
	}
}

// span appends a range of the statement's text; arguments in it become pieces.
func (e *editor) span(from, to int) {
	sql := e.st.SQL()
	at := from
	for i := e.firstArg(from); i < e.st.NumArgs() && e.st.Arg(i).Start < to; i++ {
		e.sql = append(e.sql, sql[at:e.st.Arg(i).Start]...)
		e.arg(plan.Piece{Arg: i, Part: slices.Contains(e.part, i)})
		at = e.st.Arg(i).End
	}
	e.sql = append(e.sql, sql[at:to]...)
}

// asWritten is span, but the select list, where it lies in the range, is sent as the client writes it each time: columns without an alias are
// named by their text.
func (e *editor) asWritten(from, to int) {
	if list, _ := e.st.SelectList(); list.End > list.Start && from <= list.Start && list.End <= to {
		e.span(from, list.Start)
		e.arg(plan.Piece{Arg: plan.ArgSelectList})
		from = list.End
	}
	e.span(from, to)
}

// firstArg is the first argument at or after offset.
func (e *editor) firstArg(offset int) int {
	for i := range e.st.NumArgs() {
		if e.st.Arg(i).Start >= offset {
			return i
		}
	}
	return e.st.NumArgs()
}

// done returns the text.
func (e *editor) done() plan.Text {
	if len(e.sql) > 0 || len(e.text) == 0 {
		e.arg(plan.Piece{Arg: plan.NoArg})
	}
	return e.text
}
