package sqlparse

import (
	"skarv/pkg/sqltypes"
)

// Fingerprint stands for a statement's shape: 128 bits, seeded by the Dialect, so that no client can make two
// shapes meet.
type Fingerprint struct{ Hi, Lo uint64 }

// Span is a range of the statement's text: sql[Start:End].
type Span struct{ Start, End int }

// Class is how a literal is written.
type Class uint8

// The classes.
const (
	ClassNone     Class = iota // not a literal
	ClassInt                   // 42, -42
	ClassDecimal               // 1.5
	ClassFloat                 // 1e5
	ClassString                // 'x', 'x' 'y', N'x', _utf8mb4'x'
	ClassHex                   // x'00', 0x00, _binary'x'
	ClassBit                   // b'01', 0b01
	ClassDate                  // DATE'2026-01-31'
	ClassTime                  // TIME'10:00:00'
	ClassDatetime              // TIMESTAMP'2026-01-31 10:00:00'
	ClassParam                 // ?
	ClassNull                  // NULL, only in VALUES rows
	ClassBool                  // TRUE, FALSE, only in VALUES rows
	ClassDefault               // DEFAULT, only in VALUES rows
	ClassList                  // (1, 2, 3) after IN
)

// Arg is one argument, one element of a list argument, or one value of a VALUES row.
type Arg struct {
	Span        // with sign and introducer; of a list with its parentheses
	Class Class //
	Param int   // ClassParam: which `?` of the text it is, from 0; else -1
}

// Params gives the values of a statement's `?`s, by their number from 0. A nil Params is one without values.
type Params interface {
	Value(i int) sqltypes.Value
}

// Statement is the tokens of one statement. It is made for reuse by one goroutine: Scan fills it anew without
// allocating in steady state. It refers to the scanned text, which must stay unchanged as long as the Statement
// is used.
type Statement struct {
	dialect *Dialect
	sql     []byte
	mode    Mode
}

// Scan reads the first statement of sql, up to a `;` outside of strings, comments and compound bodies, or to the end.
// An error is a ParseError worded as the server words it: an unclosed string, name or comment. The Statement then
// is empty but for Kind.
func (s *Statement) Scan(sql []byte, mode Mode) error { return nil }

// Done forgets the text and gives back buffers that have grown large. The Statement can be scanned into again.
func (s *Statement) Done() {}

// SQL returns the text of the statement without what follows its `;`.
func (s *Statement) SQL() []byte { return nil }

// Rest returns the text after the statement's `;`, nil if no further statement follows (white space and comments
// are none).
func (s *Statement) Rest() []byte { return nil }

// Mode returns the mode the statement was scanned with.
func (s *Statement) Mode() Mode { return s.mode }

// Dialect returns the dialect the statement is scanned with.
func (s *Statement) Dialect() *Dialect { return s.dialect }

// Kind returns the kind of the statement.
func (s *Statement) Kind() Kind { return 0 }

// Uses returns what the statement depends on and changes.
func (s *Statement) Uses() Uses { return 0 }

// Fingerprint returns the hash of the statement's shape.
func (s *Statement) Fingerprint() Fingerprint { return Fingerprint{} }

// Shape returns the bytes the Fingerprint is the hash of. They are not text. Valid until the next Scan.
func (s *Statement) Shape() []byte { return nil }

// NumArgs returns the number of arguments.
func (s *Statement) NumArgs() int { return 0 }

// Arg returns argument i.
func (s *Statement) Arg(i int) Arg { return Arg{} }

// ArgText returns the text of argument i as written, part of the scanned text.
func (s *Statement) ArgText(i int) []byte { return nil }

// NumElems returns the number of elements of list argument i, and 1 for an argument that is no list.
func (s *Statement) NumElems(i int) int { return 0 }

// Elem returns element j of argument i; of an argument that is no list, the argument itself.
func (s *Statement) Elem(i, j int) Arg { return Arg{} }

// NumParams returns the number of `?`s in the whole statement, VALUES rows that have no argument numbers included.
func (s *Statement) NumParams() int { return 0 }

// Value returns the value of argument i. ok is false if the text alone does not tell it: a list, DEFAULT, a
// character set introducer that needs conversion. The value points into the statement's text, into params' memory
// or into scratch that the next call of Value, ElemValue, RowValue or Decode overwrites.
func (s *Statement) Value(i int, params Params) (v sqltypes.Value, ok bool) {
	return sqltypes.Value{}, false
}

// ElemValue is Value of element j of argument i.
func (s *Statement) ElemValue(i, j int, params Params) (v sqltypes.Value, ok bool) {
	return sqltypes.Value{}, false
}

// Decode is Value of any Arg this statement returned.
func (s *Statement) Decode(a Arg, params Params) (v sqltypes.Value, ok bool) {
	return sqltypes.Value{}, false
}

// NumRows returns the number of VALUES rows of INSERT and REPLACE, 0 if there are none.
func (s *Statement) NumRows() int { return 0 }

// Row returns the text range of VALUES row i, parentheses included.
func (s *Statement) Row(i int) Span { return Span{} }

// RowColumns returns the number of values of row i.
func (s *Statement) RowColumns(i int) int { return 0 }

// UniformRows reports that all rows have one shape and every value in them is Plain (see package comment):
// then the arguments of the first row stand for all rows.
func (s *Statement) UniformRows() bool { return false }

// RowElem returns value col of row i. Its Class is ClassNone when it is an expression and no literal; its Span is
// that of the whole expression then. ok is false if the row has no such value. Going through the rows in order
// is cheap: a row is read once for all its columns.
func (s *Statement) RowElem(i, col int) (a Arg, ok bool) { return Arg{}, false }

// RowValue is Value of value col of row i; ok is false for expressions and DEFAULT.
func (s *Statement) RowValue(i, col int, params Params) (v sqltypes.Value, ok bool) {
	return sqltypes.Value{}, false
}

// RowParams returns the numbers of the first `?` in row i and of the first after it.
func (s *Statement) RowParams(i int) (from, to int) { return 0, 0 }
