package sqlparse

import "bytes"

// row is one VALUES row: its text and the number of ?s before it, with bit rowShown if it is in the shape and its
// arguments are numbered.
type row struct {
	start, end uint32
	param      uint32
}

const rowShown = 1 << 31

// rowShape is a part of the shape that is one row.
type rowShape struct {
	start, end int
}

// maxRowShapes is how many shapes of rows are compared; a row unlike all of them enters the shape without comparison.
const maxRowShapes = 8

// valuesRows reads the rows after VALUES, if there are any. Only rows of a shape not seen in this statement enter
// shape and arguments, so that the number of rows does not matter; and all that have subqueries, of which each names its tables.
func (s *Statement) valuesRows() {
	st := &s.scan
	l := &st.lex
	st.insert = false
	if l.code > 0 {
		return
	}
	begin, shape, args, elems, params, uses := *l, len(s.shape), len(s.args), len(s.elems), s.params, s.uses
	after := begin
	for {
		before := *l
		if l.next() != Op || s.sql[l.start] != '(' {
			*l = before
			break
		}
		start := l.start
		if l.code > 0 || !s.row() {
			// Unbalanced, or an executable comment around a row or its end: no rows then.
			*l = begin
			s.shape, s.args, s.elems, s.params, s.uses = s.shape[:shape], s.args[:args], s.elems[:elems], params, uses
			s.rows, s.rowShapes, s.plainCols = s.rows[:0], s.rowShapes[:0], -1
			st.depth, st.typeDepth = 0, 0
			return
		}
		s.rows[len(s.rows)-1].start = uint32(start)
		after = *l
		if l.next() != Op || s.sql[l.start] != ',' {
			break
		}
	}
	*l = after
	if len(s.rows) > 0 {
		st.prev2, st.prev, st.prevFlags = opWord+',', opWord+')', 0
		st.operand = true
	}
	st.prevEnd = l.pos
}

// row reads one row, whose opening parenthesis was just read, and appends it to s.rows.
func (s *Statement) row() bool {
	st := &s.scan
	l := &st.lex
	if s.plainCols >= 0 {
		if end, cols, params, ok := s.skipPlain(l.pos); ok && cols == s.plainCols {
			l.pos = end
			s.rows = append(s.rows, row{end: uint32(end), param: uint32(s.params)})
			s.params += params
			return true
		}
	}
	first := row{param: uint32(s.params)}
	shape, args, elems, uses := len(s.shape), len(s.args), len(s.elems), s.uses
	s.uses &^= Subquery
	s.shape = append(s.shape, '(')
	cols, plain := 0, true
	for {
		before := *l
		k := l.next()
		if cols == 0 && k == Op && s.sql[l.start] == ')' {
			break
		}
		cols++
		if a, ok := plainValue(l, k); ok {
			s.shape = append(s.shape, shapePlain)
			s.addArg(a)
		} else {
			plain = false
			*l = before
			if !s.rowExpression() {
				return false
			}
			s.shape = append(s.shape, ',')
		}
		if s.sql[l.start] == ')' {
			break
		}
	}
	if l.code > 0 {
		return false
	}
	first.end = uint32(l.pos)
	s.rows = append(s.rows, first)
	if plain {
		s.plainCols = cols
	}
	reads := s.uses&Subquery != 0
	s.uses |= uses
	for _, r := range s.rowShapes {
		if !reads && bytes.Equal(s.shape[r.start:r.end], s.shape[shape:]) {
			s.shape, s.args, s.elems = s.shape[:shape], s.args[:args], s.elems[:elems]
			return true
		}
	}
	if len(s.rowShapes) < maxRowShapes {
		s.rowShapes = append(s.rowShapes, rowShape{shape, len(s.shape)})
	}
	s.shape = append(s.shape, shapeRowEnd)
	s.rows[len(s.rows)-1].param |= rowShown
	return true
}

// plainValue reads a value of a row that is a literal and the comma or parenthesis after it. If the value is anything
// else, the lexer is left somewhere behind it.
func plainValue(l *lexer, k TokenKind) (a arg, ok bool) {
	if a, ok = literal(l, k, true); !ok {
		return a, false
	}
	return a, l.next() == Op && l.pos-l.start == 1 && (l.sql[l.start] == ',' || l.sql[l.start] == ')')
}

// rowExpression reads a value of a row that is no literal, up to and including the comma or parenthesis after it.
func (s *Statement) rowExpression() bool {
	st := &s.scan
	l := &st.lex
	depth := st.depth
	st.operand = false
	st.prev2, st.prev, st.prevFlags = wNone, opWord+',', 0
	for {
		k := l.next()
		switch {
		case k == EOF || k == Invalid:
			return false
		case k == Op && l.pos-l.start == 1:
			switch c := s.sql[l.start]; {
			case c == ';':
				return false
			case st.depth == depth && (c == ',' || c == ')'):
				return true
			}
		}
		s.take(k)
	}
}

// skipPlain reads a row of plain values from after its opening parenthesis, by bytes and not by tokens: it is what
// the time for large INSERTs goes into. It may give up on any row.
func (s *Statement) skipPlain(p int) (end, cols, params int, ok bool) {
	sql := s.sql
	for {
		for p < len(sql) && byteClass[sql[p]] == byteSpace {
			p++
		}
		if p >= len(sql) {
			return 0, 0, 0, false
		}
		c := sql[p]
		if c == '-' || c == '+' {
			if p++; p >= len(sql) || !isDigit(sql[p]) {
				return 0, 0, 0, false
			}
			c = sql[p]
		}
		switch byteClass[c] {
		case byteDigit:
			if p = s.skipNumber(p); p < 0 {
				return 0, 0, 0, false
			}
		case byteQuote:
			if p = stringEnd(sql, p+1, sql[p], s.mode); p < 0 {
				return 0, 0, 0, false
			}
		case byteParam:
			params++
			p++
		case byteWord:
			q := p + 1
			for q < len(sql) && isWordByte(sql[q]) {
				q++
			}
			w := s.dialect.lookup(sql[p:q])
			switch {
			case w == nil:
				return 0, 0, 0, false
			case w.id == wNull, w.id == wDefault, w.id == wTrue, w.id == wFalse:
				p = q
			case w.flags&wordCharset != 0:
				for q < len(sql) && byteClass[sql[q]] == byteSpace {
					q++
				}
				if q >= len(sql) || sql[q] != '\'' {
					return 0, 0, 0, false
				}
				if p = stringEnd(sql, q+1, '\'', s.mode); p < 0 {
					return 0, 0, 0, false
				}
			default:
				return 0, 0, 0, false
			}
		default:
			return 0, 0, 0, false
		}
		cols++
		for p < len(sql) && byteClass[sql[p]] == byteSpace {
			p++
		}
		if p >= len(sql) {
			return 0, 0, 0, false
		}
		switch sql[p] {
		case ',':
			p++
		case ')':
			return p + 1, cols, params, true
		default:
			return 0, 0, 0, false
		}
	}
}

// skipNumber returns the end of the number or hex literal at p, -1 if it is anything else or cannot be told.
func (s *Statement) skipNumber(p int) int {
	sql := s.sql
	if sql[p] == '0' && p+1 < len(sql) && sql[p+1] == 'x' {
		q := p + 2
		for q < len(sql) && isHex(sql[q]) {
			q++
		}
		if q == p+2 {
			return -1
		}
		return q
	}
	for p < len(sql) && isDigit(sql[p]) {
		p++
	}
	if p < len(sql) && sql[p] == '.' {
		for p++; p < len(sql) && isDigit(sql[p]); p++ {
		}
	}
	return p
}

// NumRows returns the number of VALUES rows of INSERT and REPLACE, 0 if there are none.
func (s *Statement) NumRows() int { return len(s.rows) }

// Row returns the text range of VALUES row i, parentheses included.
func (s *Statement) Row(i int) Span { return Span{int(s.rows[i].start), int(s.rows[i].end)} }

// UniformRows reports that there are rows, all of one shape and every value in them Plain (see package comment):
// then the arguments of the first row stand for all rows.
func (s *Statement) UniformRows() bool {
	return len(s.rows) > 0 && len(s.rowShapes) == 1 && s.plainCols >= 0
}

// RowColumns returns the number of values of row i.
func (s *Statement) RowColumns(i int) int {
	if s.UniformRows() {
		return s.plainCols
	}
	s.readRow(i)
	return len(s.scratch.cols)
}

// RowElem returns value col of row i. Its Class is ClassNone when it is an expression and no literal; its Span is
// that of the whole expression then. ok is false if the row has no such value. Going through the rows in order
// is cheap: a row is read once for all its columns.
func (s *Statement) RowElem(i, col int) (a Arg, ok bool) {
	s.readRow(i)
	if col < 0 || col >= len(s.scratch.cols) {
		return Arg{}, false
	}
	return s.scratch.cols[col], true
}

// readRow reads the values of row i into scratch.cols.
func (s *Statement) readRow(i int) {
	if s.scratch.row == i {
		return
	}
	s.scratch.row = i
	s.scratch.cols = s.scratch.cols[:0]
	r := s.rows[i]
	if i == 0 && s.UniformRows() { // Scan has kept its values
		for _, a := range s.args {
			if a.start > r.start && a.start < r.end {
				s.scratch.cols = append(s.scratch.cols, a.public())
			}
		}
		return
	}
	l := s.dialect.lexer(s.sql, s.mode)
	l.pos = int(r.start) + 1
	param := int(r.param &^ rowShown)
	for {
		before := l
		k := l.next()
		if k == Op && s.sql[l.start] == ')' && len(s.scratch.cols) == 0 {
			return
		}
		if a, ok := plainValue(&l, k); ok {
			if a.class == ClassParam {
				a.param = int32(param)
				param++
			}
			s.scratch.cols = append(s.scratch.cols, a.public())
		} else {
			l = before
			sp, params, ok := expression(&l)
			if !ok {
				return // cannot be: Scan has read the row
			}
			param += params
			s.scratch.cols = append(s.scratch.cols, Arg{Span: sp, Class: ClassNone, Param: -1})
		}
		if s.sql[l.start] == ')' {
			return
		}
	}
}

// expression reads to the comma that follows an expression, or to the parenthesis that closes what is around it, and
// past it. It returns the expression's range and the number of ?s in it.
func expression(l *lexer) (sp Span, params int, ok bool) {
	depth := 0
	sp.Start = -1
	for {
		switch k := l.next(); {
		case k == EOF || k == Invalid:
			return sp, params, false
		case k == Param:
			params++
		case k == Op && l.pos-l.start == 1:
			switch c := l.sql[l.start]; {
			case depth == 0 && (c == ',' || c == ')'):
				if sp.Start < 0 {
					sp = Span{l.start, l.start}
				}
				return sp, params, true
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
		}
		if sp.Start < 0 {
			sp.Start = l.start
		}
		sp.End = l.pos
	}
}
