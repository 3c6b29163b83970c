package sqlparse

// SelectItem is one expression of the outermost SELECT's list.
type SelectItem struct {
	Expr  Span // without alias
	Alias Span // as written, quotes included; empty when there is none
	Star  bool // * or t.*

	code bool // begins inside an executable comment
}

// SelectList returns the text range of the list of the outermost (of a UNION: first) SELECT, found during Scan; ok is
// false if there is none. Since the server names unaliased columns by their text, a plan that holds such names is
// right only for statements with equal text there: the shape alone does not tell white space and literals apart.
func (s *Statement) SelectList() (list Span, ok bool) {
	return s.selectList, s.selectList.Start >= 0
}

// SelectItems appends the items of SelectList to dst. It reads the list's text anew.
func (s *Statement) SelectItems(dst []SelectItem) []SelectItem {
	if s.selectList.Start < 0 {
		return dst
	}
	return s.ItemsOf(s.selectList, dst)
}

// ItemsOf appends the items of the list of a SELECT, perhaps of one inside of the statement, to dst.
func (s *Statement) ItemsOf(list Span, dst []SelectItem) []SelectItem {
	if list.Start == list.End {
		return dst
	}
	l := s.lexerAt(list.Start, list.End, s.selectCode && list.Start == s.selectList.Start)
	for {
		it, ok := s.selectItem(&l)
		if !ok {
			return dst
		}
		dst = append(dst, it)
	}
}

// ReturningItems appends the items of a writing statement's RETURNING to dst.
func (s *Statement) ReturningItems(dst []SelectItem) []SelectItem {
	at, ok := s.ReturningAt()
	if !ok {
		return dst
	}
	l := s.lexerAt(at+len("RETURNING"), s.end, false)
	for {
		it, ok := s.selectItem(&l)
		if !ok {
			return dst
		}
		dst = append(dst, it)
	}
}

// itemToken is a token of a select item as far as finding the alias needs it.
type itemToken struct {
	kind TokenKind // EOF: there is none
	Span
	word    wordID
	operand bool // an operand ends here
	closes  bool // no alias although it looks like one: END of CASE, DAY of INTERVAL 1 DAY
}

// selectItem reads one item and the comma after it. ok is false at the end of the list.
func (s *Statement) selectItem(l *lexer) (it SelectItem, ok bool) {
	var last [3]itemToken // the tokens read last, the newest first
	depth, cases, interval := 0, 0, -1
	it.Expr.Start = -1
	for {
		k := l.next()
		if k == EOF || k == Invalid || k == Op && s.sql[l.start] == ',' && depth == 0 && cases == 0 {
			break
		}
		if it.Expr.Start < 0 {
			it.Expr.Start, it.code = l.start, l.code > 0
		}
		t := itemToken{kind: k, Span: Span{l.start, l.pos}, operand: true}
		switch {
		case k == Op:
			t.operand = false
			switch s.sql[l.start] {
			case '(':
				depth++
			case ')':
				depth--
				t.operand = true
			case '*':
				it.Star = depth == 0 && (last[0].kind == EOF || s.sql[last[0].Start] == '.' && last[0].kind == Op)
			}
		case k == Word && l.word != nil:
			t.word = l.word.id
			if l.word.flags&wordReserved != 0 {
				t.operand = l.word.flags&wordOperand != 0
			}
			switch {
			case t.word == wCase:
				cases++
			case t.word == wEnd && cases > 0:
				cases--
				t.closes = true
			case t.word == wInterval:
				interval = depth
			}
		case k == Word && s.takesOperand(l.start, l.pos):
			t.operand = false
		}
		if k == Word && interval == depth && last[0].operand && isUnit(s.sql[l.start:l.pos]) {
			interval = -1
			t.closes = true
		}
		last[2], last[1], last[0] = last[1], last[0], t
	}
	if it.Expr.Start < 0 {
		return it, false
	}
	it.Expr.End = last[0].End
	switch {
	case it.Star || depth != 0 || last[1].kind == EOF || !last[0].operand || last[0].closes:
	case last[0].kind != Word && last[0].kind != QuotedName && last[0].kind != StringLit:
	case last[1].word == wAs && last[2].kind == EOF: // no expression
	case last[1].word == wAs:
		it.Alias, it.Expr.End = last[0].Span, last[2].End
	case !last[1].operand:
	case last[0].kind == StringLit && (last[1].kind == StringLit || last[1].kind == NStringLit ||
		last[1].word == wDate || last[1].word == wTime || last[1].word == wTimestamp ||
		last[1].kind == Word && s.sql[last[1].Start] == '_' && s.isCharset(last[1].Span)):
	default:
		it.Alias, it.Expr.End = last[0].Span, last[1].End
	}
	return it, true
}

// takesOperand tells unreserved words that an operand follows.
func (s *Statement) takesOperand(start, end int) bool {
	w := s.sql[start:end]
	return equalFold(w, "escape") || equalFold(w, "over") || equalFold(w, "sounds")
}

func (s *Statement) isCharset(sp Span) bool {
	w := s.dialect.lookup(s.sql[sp.Start:sp.End])
	return w != nil && w.flags&wordCharset != 0
}

// isUnit tells the units of INTERVAL that are no reserved words.
func isUnit(w []byte) bool {
	switch len(w) {
	case 3:
		return equalFold(w, "day")
	case 4:
		return equalFold(w, "hour") || equalFold(w, "week") || equalFold(w, "year")
	case 5:
		return equalFold(w, "month")
	case 6:
		return equalFold(w, "minute") || equalFold(w, "second")
	case 7:
		return equalFold(w, "quarter")
	case 11:
		return equalFold(w, "microsecond")
	}
	return false
}
