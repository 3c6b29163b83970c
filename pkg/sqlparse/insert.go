package sqlparse

// InsertText says where the parts of an INSERT or REPLACE stand in the text.
type InsertText struct {
	Table TableRef
	// Columns is the column list with its parentheses, empty if there is none; an empty "()" is a list too.
	// Columns.Start is the offset of its `(` and Columns.End-1 of its `)`.
	Columns    Span
	HasColumns bool
	NumColumns int
	// At is where a column list has to be written when there is none.
	At int
	// Source says what follows: one of these is set.
	Values, Set, Query bool
	// Body is where VALUES, SET or the query begins.
	Body int
	// OnDuplicate is the offset of ON DUPLICATE KEY UPDATE, or -1.
	OnDuplicate int
}

// InsertText finds the parts of an INSERT or REPLACE, or of one that is explained; ok is false for other kinds and for
// text of unknown form.
func (s *Statement) InsertText() (t InsertText, ok bool) {
	t.OnDuplicate = -1
	if s.kind != Insert && s.kind != Replace && s.kind != Explain {
		return t, false
	}
	l := s.dialect.lexer(s.sql[:s.end], s.mode)
	k := l.next()
	for ; k != EOF && k != Invalid && !l.isWord(wInsert, wReplace); k = l.next() {
	}
	for k = l.next(); l.isWord(wLowPriority, wDelayed, wHighPriority, wIgnore, wInto) || k == HintComment; k = l.next() {
	}
	t.Table, k, ok = s.tableName(&l, k)
	if !ok {
		return t, false
	}
	t.Table.Write = true
	t.At = t.Table.End
	if l.isWord(wPartition) {
		if k = l.next(); k != Op || s.sql[l.start] != '(' || !l.skipParens() {
			return t, false
		}
		t.At = l.pos
		k = l.next()
	}
	if k == Op && s.sql[l.start] == '(' {
		t.Columns.Start = l.start
		ahead := l
		k = ahead.next()
		for k == Op && s.sql[ahead.start] == '(' {
			k = ahead.next()
		}
		if ahead.isWord(wSelect, wWith, wTable, wValues) {
			t.Query, t.Body = true, l.start
			t.Columns = Span{}
			return t, true
		}
		for k := l.next(); ; k = l.next() {
			if k == EOF || k == Invalid {
				return t, false
			}
			if k == Op && s.sql[l.start] == ')' {
				break
			}
			if k == Op && s.sql[l.start] == ',' || t.NumColumns == 0 {
				t.NumColumns++
			}
		}
		t.HasColumns = true
		t.Columns.End = l.pos
		k = l.next()
	}
	t.Body = l.start
	switch {
	case l.isWord(wValues, wValue):
		t.Values = true
		if len(s.rows) > 0 {
			l.pos = int(s.rows[len(s.rows)-1].end)
		}
	case l.isWord(wSet):
		t.Set = true
	case l.isWord(wSelect, wWith, wTable) || k == Op && s.sql[l.start] == '(':
		t.Query = true
	default:
		return t, false
	}
	for depth := 0; ; {
		switch k = l.next(); {
		case k == EOF || k == Invalid:
			return t, true
		case k == Op && s.sql[l.start] == '(':
			depth++
		case k == Op && s.sql[l.start] == ')':
			depth--
		case depth == 0 && l.isWord(wOn):
			ahead := l
			if ahead.next() == Word && ahead.isWord(wDuplicate) {
				t.OnDuplicate = l.start
				return t, true
			}
		}
	}
}

// InsertColumn is a column that the list of an INSERT or REPLACE names, or that its SET assigns.
type InsertColumn struct {
	// Names are the column's and before it those of its table and database, as far as they are written.
	Names []string
	Span
	// Own is where the column's own name begins, behind the point of the others.
	Own int
}

// InsertColumns finds the columns of an INSERT or REPLACE whose parts are t.
func (s *Statement) InsertColumns(t InsertText) (columns []InsertColumn) {
	from, to := t.Columns.Start+1, t.Columns.End
	switch {
	case t.Set:
		from = t.Body + len("SET")
		if to, _ = s.ReturningAt(); t.OnDuplicate >= 0 {
			to = t.OnDuplicate
		}
	case !t.HasColumns:
		return nil
	}
	var c InsertColumn
	depth, value := 0, false
	toks := s.TokensFrom(from)
	for tok := toks.Next(); tok.Kind != EOF && tok.Start < to; tok = toks.Next() {
		op := byte(0)
		if tok.Kind == Op {
			op = s.sql[tok.Start]
		}
		switch {
		case op == '(':
			depth++
		case op == ')' && depth > 0:
			depth--
		case depth > 0:
		case op == ',' && t.Set:
			value = false
		case value || op == '.':
		case op == 0:
			if c.Names = append(c.Names, string(s.AppendName(nil, tok))); len(c.Names) == 1 {
				c.Start = tok.Start
			}
			c.Own, c.End = tok.Start, tok.End
		case len(c.Names) > 0:
			columns, value = append(columns, c), t.Set
			c = InsertColumn{}
		}
	}
	return columns
}

// isWord reports whether the last token is one of the keywords.
func (l *lexer) isWord(ids ...wordID) bool {
	if l.word == nil {
		return false
	}
	for _, id := range ids {
		if l.word.id == id {
			return true
		}
	}
	return false
}

// skipParens reads from an opening parenthesis, just read, past the one that closes it.
func (l *lexer) skipParens() bool {
	for depth := 1; depth > 0; {
		switch k := l.next(); {
		case k == EOF || k == Invalid:
			return false
		case k == Op && l.sql[l.start] == '(':
			depth++
		case k == Op && l.sql[l.start] == ')':
			depth--
		}
	}
	return true
}
