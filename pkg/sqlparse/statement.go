package sqlparse

import (
	"bytes"
	"hash/maphash"
	"math"

	"skarv/pkg/sqlerr"
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
	ClassHex                   // x'00', 0x00, _latin1 x'00', _binary'x'
	ClassBit                   // b'01', 0b01, _latin1 b'01'
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

	code bool // begins inside an executable comment
}

// Statement is the tokens of one statement. It is made for reuse by one goroutine: Scan fills it anew without
// allocating in steady state. It refers to the scanned text, which must stay unchanged as long as the Statement
// is used.
type Statement struct {
	dialect *Dialect
	sql     []byte // the text given to Scan
	mode    Mode
	end     int // of the first statement
	rest    int // what follows its `;`, or -1
	further int // the first token of that, or -1

	kind  Kind
	uses  Uses
	print Fingerprint
	shape []byte
	args  []arg
	elems []elem
	// params is the number of ?s so far.
	params int

	rows      []row
	rowShapes []rowShape
	// plainCols is the number of columns of the row shape that is all plain, -1 while there is none.
	plainCols int

	selectList Span // Start is -1 when there is none
	selectCode bool // it begins inside an executable comment

	scan    scanState
	scratch scratch
}

// arg is an Arg in less memory; for a list, elems[first:first+n] are its elements.
type arg struct {
	start, end uint32
	param      int32
	first, n   uint32
	class      Class
	code       bool // begins inside an executable comment
}

// elem is an element of a list: where it begins, with bit elemCode if inside an executable comment, and how many ?s
// stand before it.
type elem struct {
	start uint32
	param int32
}

const elemCode = 1 << 31

// scratch is memory that answers to questions are made in.
type scratch struct {
	value []byte // of Decode
	text  []byte // of Normalized
	cols  []Arg  // values of row colsOf
	row   int    // row whose values cols has, or -1
}

// Limits above which buffers are given back, and below which they are kept for reuse.
const (
	keepBytes = 64 << 10
	keepItems = 4096
)

func (s *Statement) reset(sql []byte, mode Mode) {
	s.trim()
	s.sql, s.mode = sql, mode
	s.end, s.rest, s.further = 0, -1, -1
	s.kind, s.uses = Empty, 0
	s.print = Fingerprint{}
	s.shape = s.shape[:0]
	s.args = s.args[:0]
	s.elems = s.elems[:0]
	s.params = 0
	s.rows = s.rows[:0]
	s.rowShapes = s.rowShapes[:0]
	s.plainCols = -1
	s.selectList = Span{-1, -1}
	s.scratch.row = -1
	s.scan = scanState{}
}

// trim gives back what is far larger than the last statement needed. Statements that are all large keep their
// buffers from one to the next.
func (s *Statement) trim() {
	if cap(s.shape) > keepBytes && len(s.shape) < cap(s.shape)/8 {
		s.shape = nil
	}
	if cap(s.args) > keepItems && len(s.args) < cap(s.args)/8 {
		s.args = nil
	}
	if cap(s.elems) > keepItems && len(s.elems) < cap(s.elems)/8 {
		s.elems = nil
	}
	if cap(s.rows) > keepItems && len(s.rows) < cap(s.rows)/8 {
		s.rows = nil
	}
	if cap(s.scratch.value) > keepBytes {
		s.scratch.value = nil
	}
	if cap(s.scratch.text) > keepBytes {
		s.scratch.text = nil
	}
	if cap(s.scratch.cols) > keepItems {
		s.scratch.cols = nil
	}
}

// Done forgets the text and gives back buffers that have grown large. The Statement can be scanned into again.
// A session calls it when it goes idle after a large statement.
func (s *Statement) Done() {
	s.reset(nil, 0)
	s.trim()
}

// Scan reads the first statement of sql, up to a `;` outside of strings, comments and compound bodies, or to the end.
// An error is a ParseError worded as the server words it: an unclosed string, name or comment. The Statement is
// empty then.
func (s *Statement) Scan(sql []byte, mode Mode) error {
	s.reset(sql, mode)
	if len(sql) > math.MaxInt32 {
		s.sql = nil
		return sqlerr.PacketTooLarge.New()
	}
	if at := s.run(); at >= 0 {
		err := s.SyntaxError(at)
		s.reset(nil, mode)
		return err
	}
	s.kind = s.scan.heads.kind()
	if s.kind == Empty && len(s.shape) > 0 {
		s.kind = Other
	}
	s.print = Fingerprint{
		Hi: maphash.Bytes(s.dialect.seeds[0], s.shape),
		Lo: maphash.Bytes(s.dialect.seeds[1], s.shape),
	}
	return nil
}

// SyntaxError is the error the server gives for a statement it cannot read from offset at on.
func (s *Statement) SyntaxError(at int) error {
	const shown = 80 // bytes of the statement the server shows
	server := "MySQL"
	if s.dialect.mariadb {
		server = "MariaDB"
	}
	near, _, _ := bytes.Cut(s.sql[at:], []byte{0})
	if len(near) > shown {
		near = near[:shown]
	}
	return sqlerr.ParseError.New("check the manual that corresponds to your " + server +
		" server version for the right syntax to use near '" + string(near) + "' at line " + itoa(Line(s.sql, at)))
}

// Line is the line that offset at of a statement is on, as servers count: they take white space in front away first.
func Line(sql []byte, at int) int {
	front := len(sql) - len(bytes.TrimLeft(sql, " \t\n\v\f\r"))
	return 1 + bytes.Count(sql[min(front, at):at], []byte{'\n'})
}

// SQL returns the text of the statement without what follows its `;`, and without a comment to the end of the line before that:
// more can be written behind it.
func (s *Statement) SQL() []byte { return s.sql[:s.end] }

// Rest returns the text after the statement's `;`, nil if nothing but white space and further `;` follow. Where several
// statements are taken it is one, or more, even if it has nothing but comments: servers answer that, too.
func (s *Statement) Rest() []byte {
	if s.rest < 0 {
		return nil
	}
	return s.sql[s.rest:]
}

// Further returns where Rest has its first token, for SyntaxError; -1 if it has comments only, which do not matter where a single statement
// is taken.
func (s *Statement) Further() int { return s.further }

// Text returns a range of the statement's text as written.
func (s *Statement) Text(sp Span) []byte { return s.sql[sp.Start:sp.End] }

// Mode returns the mode the statement was scanned with.
func (s *Statement) Mode() Mode { return s.mode }

// Dialect returns the dialect the statement is scanned with.
func (s *Statement) Dialect() *Dialect { return s.dialect }

// Kind returns the kind of the statement.
func (s *Statement) Kind() Kind { return s.kind }

// Uses returns what the statement depends on and changes.
func (s *Statement) Uses() Uses { return s.uses }

// Fingerprint returns the hash of the statement's shape.
func (s *Statement) Fingerprint() Fingerprint { return s.print }

// Shape returns the bytes the Fingerprint is the hash of. They are not text. Valid until the next Scan.
func (s *Statement) Shape() []byte { return s.shape }

// NumArgs returns the number of arguments.
func (s *Statement) NumArgs() int { return len(s.args) }

// Arg returns argument i.
func (s *Statement) Arg(i int) Arg { return s.args[i].public() }

func (a arg) public() Arg {
	return Arg{Span{int(a.start), int(a.end)}, a.class, int(a.param), a.code}
}

// ArgText returns the text of argument i as written, part of the scanned text.
func (s *Statement) ArgText(i int) []byte {
	a := &s.args[i]
	return s.sql[a.start:a.end]
}

// NumElems returns the number of elements of list argument i, and 1 for an argument that is no list.
func (s *Statement) NumElems(i int) int {
	if a := &s.args[i]; a.class == ClassList {
		return int(a.n)
	}
	return 1
}

// Elem returns element j of argument i; of an argument that is no list, the argument itself.
func (s *Statement) Elem(i, j int) Arg {
	a := &s.args[i]
	if a.class != ClassList {
		return a.public()
	}
	e := s.elems[a.first : a.first+a.n][j]
	l := s.lexerAt(int(e.start&^elemCode), len(s.sql), e.start&elemCode != 0)
	lit, _ := literal(&l, l.next(), false)
	if lit.class == ClassParam {
		lit.param = e.param
	}
	return lit.public()
}

// lexerAt returns a lexer for the text from start to end; code tells that start is inside an executable comment.
func (s *Statement) lexerAt(start, end int, code bool) lexer {
	l := s.dialect.lexer(s.sql[:end], s.mode)
	l.pos = start
	if code {
		l.code = 1
	}
	return l
}

// NumParams returns the number of `?`s in the whole statement, VALUES rows that have no argument numbers included.
func (s *Statement) NumParams() int { return s.params }

// itoa is for small numbers in messages and names.
func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendInt(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}
