package exec

import (
	"bytes"
	"math"
	"sort"
	"strconv"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Arguments is the arguments of one execution: a scanned statement and, for a prepared one, its parameters. It is
// made for reuse by one goroutine, and valid as long as both are. Values point into the statement's text, the
// parameters' memory or scratch: a value is valid until the next call that returns one.
type Arguments struct {
	// Strings is added to a placement.Mode: placement.ForeignCharset or ForeignBytes if strings are not in UTF-8 (the session's
	// character_set_client says so).
	Strings placement.Mode
	// EmptyIsNull: '' is NULL (the session's sql_mode has EMPTY_STRING_IS_NULL).
	EmptyIsNull bool
	// OneByte: they are in a character set that has one byte for a character.
	OneByte bool
	// Lists are the list arguments that are no part of the statement: plan.ArgList, plan.ArgList-1, ...
	Lists []List
	// Using, not nil, is the SQL of each parameter for EXECUTE IMMEDIATE, which MariaDB has: the client has run EXECUTE, whose parameters
	// have other types than those of a statement prepared by the protocol.
	Using [][]byte

	// Binary: the client has run a statement that was prepared by the protocol, and takes binary rows, which have all digits of floating-point
	// numbers.
	Binary bool

	// Staged: the rows are those of a stage. CHECK constraints have left out others already, and values are as their columns print them.
	Staged bool
	// Computed, not nil, are what the rows of a stage have in ComputedColumns of their table, in workspace.ReadKey's form.
	Computed [][][]byte

	// kept, not nil, gets the numbers of parameters that are left open in what is appended, instead of being filled in.
	kept *[]int

	st     *sqlparse.Statement
	params sqlparse.Params // nil without parameters; not an interface of a nil pointer
	wire   *wire.Params
	// marks are the places of all `?`, found when the first text is needed.
	marks   []int
	scanned bool
	// unnamed are the places after unaliased expressions of the select list that have a `?`, and items its memory.
	unnamed []sqlparse.Span
	items   []sqlparse.SelectItem
}

// EmptyString is the empty string, whatever sql_mode says.
const EmptyString = "_utf8mb4 x''"

// emptyIsNull reports whether v is the empty string, in a mode in which one that a statement says is NULL.
func (a *Arguments) emptyIsNull(v sqltypes.Value) bool {
	return a.EmptyIsNull && v.Kind == sqltypes.String && len(v.Raw) == 0
}

// List is values found while a statement runs.
type List struct {
	// Values are what tells where rows are; nil when that cannot be told.
	Values []sqltypes.Value
	// SQL is the values as they are written.
	SQL [][]byte
}

// list is the list argument arg that is no part of the statement, or nil.
func (a *Arguments) list(arg int) *List {
	if i := plan.ArgList - arg; i >= 0 && i < len(a.Lists) {
		return &a.Lists[i]
	}
	return nil
}

// Reset makes a the arguments of st. params is nil for a statement without parameters.
func (a *Arguments) Reset(st *sqlparse.Statement, params *wire.Params) {
	a.st, a.wire, a.params = st, params, nil
	if params != nil {
		a.params = params
	}
	a.Lists, a.Binary, a.Staged, a.Computed, a.kept = nil, false, false, nil, nil
	a.marks, a.unnamed, a.scanned, a.Using = a.marks[:0], a.unnamed[:0], false, nil
}

// Statement is the statement the arguments belong to.
func (a *Arguments) Statement() *sqlparse.Statement { return a.st }

// Value is the value of argument arg; ok is false when the text alone does not tell it, and for lists.
func (a *Arguments) Value(arg int) (v sqltypes.Value, ok bool) {
	if arg < 0 {
		return v, false
	}
	return a.st.Value(arg, a.params)
}

// IsDate reports whether an argument is written as a date of the calendar, with or without a time of day, in the form that nobody doubts.
func (a *Arguments) IsDate(arg int) bool {
	v, ok := a.Value(arg)
	if !ok {
		return false
	}
	for _, form := range [...]string{time.DateOnly, "2006-01-02 15:04:05.999999"} {
		if t, err := time.Parse(form, string(v.Raw)); err == nil && t.Year() >= 1000 {
			return true
		}
	}
	return false
}

// IsList reports whether argument arg is a list.
func (a *Arguments) IsList(arg int) bool {
	if arg <= plan.ArgList {
		return a.list(arg) != nil
	}
	return arg >= 0 && a.st.Arg(arg).Class == sqlparse.ClassList
}

// NumElems is the number of elements of a list, 1 for an argument that is none.
func (a *Arguments) NumElems(arg int) int {
	if l := a.list(arg); l != nil {
		return len(l.SQL)
	}
	return a.st.NumElems(arg)
}

// Elem is Value of element i of argument arg.
func (a *Arguments) Elem(arg, i int) (v sqltypes.Value, ok bool) {
	if l := a.list(arg); l != nil {
		if l.Values == nil {
			return v, false
		}
		return l.Values[i], true
	}
	return a.st.ElemValue(arg, i, a.params)
}

// AppendArg appends the SQL of argument arg; a list has its parentheses.
func (a *Arguments) AppendArg(dst []byte, arg int) []byte {
	if arg >= 0 {
		return a.appendSpan(dst, a.st.Arg(arg).Span)
	}
	if l := a.list(arg); l != nil {
		dst = append(dst, '(')
		for i, v := range l.SQL {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(dst, v...)
		}
		return append(dst, ')')
	}
	list, _ := a.st.SelectList() // plan.ArgSelectList
	return a.appendSpan(dst, list)
}

// AppendText appends text with all of its arguments, whatever the group.
func (a *Arguments) AppendText(dst []byte, text plan.Text) []byte {
	for i := range text {
		dst = append(dst, text[i].SQL...)
		switch {
		case text[i].Arg == plan.NoArg:
		case text[i].Plus != nil:
			dst = a.appendTotal(dst, plan.Operand{Arg: text[i].Arg}, *text[i].Plus)
		default:
			dst = a.AppendArg(dst, text[i].Arg)
		}
	}
	return dst
}

// appendTotal appends the sum of two counts.
func (a *Arguments) appendTotal(dst []byte, x, y plan.Operand) []byte {
	m, okM := a.Count(x)
	n, okN := a.Count(y)
	if !okM || !okN {
		// Not a count: the server refuses what is written and says why.
		return a.AppendArg(dst, x.Arg)
	}
	if m+n < m {
		return strconv.AppendUint(dst, math.MaxUint64, 10)
	}
	return strconv.AppendUint(dst, m+n, 10)
}

// appendLiteral appends v, which is the client's own, or what a server or a plan has for it.
func (a *Arguments) appendLiteral(dst []byte, v sqltypes.Value, own bool) []byte {
	return sqltypes.AppendLiteral(dst, v, a.st.Mode()&sqlparse.NoBackslashEscapes != 0, own && a.OneByte)
}

// AppendElem appends the SQL of element i of argument arg.
func (a *Arguments) AppendElem(dst []byte, arg, i int) []byte {
	if l := a.list(arg); l != nil {
		return append(dst, l.SQL[i]...)
	}
	return a.appendSpan(dst, a.st.Elem(arg, i).Span)
}

// AppendStatement appends the whole statement, parameters filled in.
func (a *Arguments) AppendStatement(dst []byte) []byte {
	return a.appendSpan(dst, sqlparse.Span{Start: 0, End: len(a.st.SQL())})
}

// NumRows is the number of VALUES rows.
func (a *Arguments) NumRows() int { return a.st.NumRows() }

// RowColumns is the number of values of VALUES row i.
func (a *Arguments) RowColumns(i int) int { return a.st.RowColumns(i) }

// RowElem is value col of VALUES row i as it is written.
func (a *Arguments) RowElem(i, col int) (sqlparse.Arg, bool) { return a.st.RowElem(i, col) }

// Decode is the value of what RowElem returned; ok is false for expressions and DEFAULT.
func (a *Arguments) Decode(e sqlparse.Arg) (sqltypes.Value, bool) { return a.st.Decode(e, a.params) }

// Row is the place of VALUES row i in the text, with its parentheses.
func (a *Arguments) Row(i int) sqlparse.Span { return a.st.Row(i) }

// Open makes everything that is appended from now on keep its parameters as `?` and appends their numbers to *which; nil:
// they are filled in again.
func (a *Arguments) Open(which *[]int) { a.kept = which }

// AppendImmediate appends the EXECUTE IMMEDIATE of sql with those parameters that which names.
func (a *Arguments) AppendImmediate(dst, sql []byte, which []int) []byte {
	dst = sqltypes.AppendQuoted(append(dst, "EXECUTE IMMEDIATE "...), sql, a.st.Mode()&sqlparse.NoBackslashEscapes != 0)
	for i, n := range which {
		dst = append(append(dst, [2]string{" USING ", ", "}[min(i, 1)]...), a.Using[n]...)
	}
	return dst
}

// Params are the parameters; nil if there are none.
func (a *Arguments) Params() *wire.Params { return a.wire }

// appendSpan appends a part of the statement, parameters filled in or left open. A column that the server would have named by a text
// with a `?` in it gets that text as its alias.
func (a *Arguments) appendSpan(dst []byte, sp sqlparse.Span) []byte {
	sql := a.st.SQL()
	if a.wire == nil || a.st.NumParams() == 0 {
		return append(dst, sql[sp.Start:sp.End]...)
	}
	a.scan()
	if a.kept != nil {
		for i := sort.SearchInts(a.marks, sp.Start); i < len(a.marks) && a.marks[i] < sp.End; i++ {
			*a.kept = append(*a.kept, i)
		}
		return append(dst, sql[sp.Start:sp.End]...)
	}
	noBackslashEscapes := a.st.Mode()&sqlparse.NoBackslashEscapes != 0
	pos := sp.Start
	list, _ := a.st.SelectList()
	names := a.unnamed
	name := func(until int) {
		for ; len(names) > 0 && names[0].End <= until; names = names[1:] {
			if names[0].Start < sp.Start {
				continue
			}
			if end := names[0].End; sp != names[0] || sp == list { // not for an expression alone
				dst = append(dst, sql[pos:end]...)
				dst = appendAlias(dst, sql[names[0].Start:end])
				pos = end
			}
		}
	}
	for i := sort.SearchInts(a.marks, sp.Start); i < len(a.marks) && a.marks[i] < sp.End; i++ {
		name(a.marks[i])
		dst = append(dst, sql[pos:a.marks[i]]...)
		if !a.Binary && a.emptyIsNull(a.wire.Value(i)) {
			dst = append(dst, EmptyString...)
		} else {
			dst = a.wire.AppendSQL(dst, i, noBackslashEscapes, a.OneByte)
		}
		pos = a.marks[i] + 1
	}
	name(sp.End)
	return append(dst, sql[pos:sp.End]...)
}

// AppendSet is AppendStatement for a SET. Servers make a date or a time that is all of what a user variable gets a byte string, MySQL with
// six digits behind the second.
func (a *Arguments) AppendSet(dst []byte) []byte {
	at, param := 0, 0
	var name, operator sqlparse.Token
	for tokens := a.st.Tokens(); a.wire != nil; {
		tok := tokens.Next()
		if tok.Kind == sqlparse.EOF || tok.Kind == sqlparse.Invalid {
			break
		}
		if tok.Kind == sqlparse.Param {
			v, ahead := a.wire.Value(param), tokens
			param++
			next := ahead.Next()
			moment := v.Kind == sqltypes.Date || v.Kind == sqltypes.Datetime || v.Kind == sqltypes.Time
			if moment && name.Kind == sqlparse.UserVar && (a.st.Is(operator, "=") || a.st.Is(operator, ":=")) && (next.Kind == sqlparse.EOF || a.st.Is(next, ",")) {
				dst = append(append(a.appendSpan(dst, sqlparse.Span{Start: at, End: tok.Start}), "_binary '"...), v.Raw...)
				if v.Kind != sqltypes.Date && bytes.IndexByte(v.Raw, '.') < 0 && !a.st.Dialect().MariaDB() {
					dst = append(dst, ".000000"...)
				}
				dst = append(dst, '\'')
				at = tok.End
			}
		}
		name, operator = operator, tok
	}
	if at == 0 {
		return a.AppendStatement(dst)
	}
	return a.appendSpan(dst, sqlparse.Span{Start: at, End: len(a.st.SQL())})
}

func appendAlias(dst, name []byte) []byte {
	dst = append(dst, " AS `"...)
	for _, c := range name {
		if c == '`' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '`')
}

// maxAlias is how long an alias may be, and how much of a longer text would have become the name.
const maxAlias = 256

// scan finds the places of the `?`s, and the columns that they name.
func (a *Arguments) scan() {
	if a.scanned {
		return
	}
	a.scanned = true
	for t := a.st.Tokens(); ; {
		switch tok := t.Next(); tok.Kind {
		case sqlparse.EOF, sqlparse.Invalid:
			a.findUnnamed()
			return
		case sqlparse.Param:
			a.marks = append(a.marks, tok.Start)
		}
	}
}

func (a *Arguments) findUnnamed() {
	list, ok := a.st.SelectList()
	if !ok || a.st.Kind() != sqlparse.Select {
		return
	}
	if i := sort.SearchInts(a.marks, list.Start); i == len(a.marks) || a.marks[i] >= list.End {
		return
	}
	a.items = a.st.SelectItems(a.items[:0])
	for _, it := range a.items {
		i := sort.SearchInts(a.marks, it.Expr.Start)
		if !it.Star && it.Alias.End == 0 && it.Expr.End-it.Expr.Start <= maxAlias && i < len(a.marks) && a.marks[i] < it.Expr.End {
			a.unnamed = append(a.unnamed, it.Expr)
		}
	}
}
