package sqlparse

import "skarv/pkg/sqltypes"

// RowParams returns the numbers of the first `?` in row i and of the first after it.
func (s *Statement) RowParams(i int) (from, to int) {
	s.readRow(i)
	from = int(s.rows[i].param &^ rowShown)
	if i+1 < len(s.rows) {
		return from, int(s.rows[i+1].param &^ rowShown)
	}
	to = from
	l := s.dialect.lexer(s.sql, s.mode)
	l.pos = int(s.rows[i].start)
	for l.pos < int(s.rows[i].end) {
		if l.next() == Param {
			to++
		}
	}
	return from, to
}

// RowValue is Value of value col of row i; ok is false for expressions and DEFAULT.
func (s *Statement) RowValue(i, col int, params Params) (v sqltypes.Value, ok bool) {
	a, ok := s.RowElem(i, col)
	if !ok {
		return sqltypes.Value{}, false
	}
	return s.Decode(a, params)
}
