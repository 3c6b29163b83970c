// Package substitution is the text of a statement with values in the places of what servers would answer for another connection than the client's:
// functions and variables that speak of the session, calls of sequences. Columns of the result keep their names by it, and their types. It knows
// what a value looks like, not what it is.
package substitution

import (
	"fmt"
	"slices"
	"strconv"

	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Value is what is put in the place of something.
type Value struct {
	Text string // a literal, by which a key can be routed
	// Typed, unless it is "", is the format of an expression of Text that has the type which a column of the result is to have: a bit operation is
	// BIGINT UNSIGNED, a sum BIGINT.
	Typed string
}

// Unsigned is a BIGINT UNSIGNED.
func Unsigned(v uint64) Value { return Value{strconv.FormatUint(v, 10), "(%s | 0)"} }

// Signed is a BIGINT of the width that servers give it: a product is as wide as its factors, and one more.
func Signed(v int64) Value { return Value{strconv.FormatInt(v, 10), "(%s + 0*100000000000000000)"} }

// UnsignedVariable is Unsigned for a variable, which may be NULL as far as servers know.
func UnsignedVariable(v uint64) Value {
	return Value{strconv.FormatUint(v, 10), "NULLIF(%s | 0, NULL)"}
}

// Name is a name as USER() gives it: as a literal does not have it, in the character set of identifiers, which is that of VERSION(), too.
func Name(name string, mode sqlparse.Mode) Value {
	return Value{sqltypes.Quoted(name, mode&sqlparse.NoBackslashEscapes != 0), "CONCAT(LEFT(VERSION(), 0), %s)"}
}

// Edit is a value for the place of what stands in a statement.
type Edit struct {
	sqlparse.Span
	Value
}

// Text is the text of a statement with edits made, which are in the order of their places. Columns of the outermost SELECT, or of RETURNING, keep
// their names.
func Text(st *sqlparse.Statement, edits []Edit) []byte {
	return Filled(st, edits, func(dst []byte, part sqlparse.Span) []byte { return append(dst, st.Text(part)...) })
}

// Filled is Text of a statement whose own parts are as appendPart writes them: with the values of its parameters, perhaps.
func Filled(st *sqlparse.Statement, edits []Edit, appendPart func(dst []byte, part sqlparse.Span) []byte) []byte {
	items := st.SelectItems(nil)
	if st.Uses()&sqlparse.Returning != 0 {
		items = st.ReturningItems(nil) // of an INSERT ... SELECT the names in the SELECT are nobody's
	}
	out, at := []byte(nil), 0
	for i := range edits {
		e := &edits[i]
		out = appendPart(out, sqlparse.Span{Start: at, End: e.Start})
		at = e.End
		if e.Typed != "" && slices.ContainsFunc(items, e.within) {
			out = fmt.Appendf(out, e.Typed, e.Text)
		} else {
			out = append(out, e.Text...)
		}
		for _, it := range items {
			last := i+1 == len(edits) || edits[i+1].Start >= it.Expr.End
			if last && !it.Star && it.Alias.Start == it.Alias.End && e.within(it) {
				out = appendPart(out, sqlparse.Span{Start: at, End: it.Expr.End})
				at = it.Expr.End
				out = append(append(out, " AS "...), sqltypes.QuoteName(string(st.AppendColumnName(nil, it)))...)
			}
		}
	}
	return appendPart(out, sqlparse.Span{Start: at, End: len(st.SQL())})
}

// within reports whether the edit is made in a column.
func (e *Edit) within(it sqlparse.SelectItem) bool {
	return e.Start >= it.Expr.Start && e.End <= it.Expr.End
}
