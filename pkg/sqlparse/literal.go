package sqlparse

// literal reads the literal or parameter that begins with the token just read, of kind k, to its end: a sign and a
// number, strings written side by side, an introducer and a string, DATE and a string. With keywords, NULL, TRUE,
// FALSE and DEFAULT are literals too. If there is none, the lexer stays where it is.
func literal(l *lexer, k TokenKind, keywords bool) (a arg, ok bool) {
	a = arg{start: uint32(l.start), end: uint32(l.pos), param: -1, code: l.code > 0}
	switch k {
	case IntLit:
		a.class = ClassInt
	case DecimalLit:
		a.class = ClassDecimal
	case FloatLit:
		a.class = ClassFloat
	case HexLit:
		a.class = ClassHex
	case BitLit:
		a.class = ClassBit
	case Param:
		a.class = ClassParam
	case StringLit, NStringLit:
		a.class = ClassString
		adjacent(l)
		a.end = uint32(l.pos)
	case Op:
		if c := l.sql[l.start]; c != '-' && c != '+' || l.pos-l.start != 1 {
			return a, false
		}
		if c := l.peek(); !isDigit(c) && c != '.' && !beginsComment(c) {
			return a, false
		}
		save := *l
		switch l.next() {
		case IntLit:
			a.class = ClassInt
		case DecimalLit:
			a.class = ClassDecimal
		case FloatLit:
			a.class = ClassFloat
		default:
			*l = save
			return a, false
		}
		a.end = uint32(l.pos)
	case Word:
		w := l.word
		if w == nil {
			return a, false
		}
		if keywords {
			switch w.id {
			case wNull:
				a.class = ClassNull
				return a, true
			case wTrue, wFalse:
				a.class = ClassBool
				return a, true
			case wDefault:
				a.class = ClassDefault
				return a, true
			}
		}
		switch {
		case w.flags&wordCharset != 0:
			save := *l
			a.class = ClassString
			if equalFold(l.sql[l.start:l.pos], "_binary") {
				a.class = ClassHex
			}
			switch l.next() {
			case StringLit:
				adjacent(l)
			case HexLit:
				a.class = ClassHex
			case BitLit:
				a.class = ClassBit
			default:
				*l = save
				return arg{}, false
			}
			a.end = uint32(l.pos)
		case w.id == wDate || w.id == wTime || w.id == wTimestamp:
			if c := l.peek(); c != '\'' && c != '"' && !beginsComment(c) {
				return a, false
			}
			save := *l
			if l.next() != StringLit {
				*l = save
				return a, false
			}
			switch w.id {
			case wDate:
				a.class = ClassDate
			case wTime:
				a.class = ClassTime
			default:
				a.class = ClassDatetime
			}
			a.end = uint32(l.pos)
		default:
			return a, false
		}
	default:
		return a, false
	}
	return a, true
}

// adjacent reads the strings that follow a string: they are one literal.
func adjacent(l *lexer) {
	for {
		if c := l.peek(); c != '\'' && c != '"' && !beginsComment(c) {
			return
		}
		save := *l
		if l.next() != StringLit {
			*l = save
			return
		}
	}
}

// peek returns the next byte after white space, 0 at the end.
func (l *lexer) peek() byte {
	for p := l.pos; p < len(l.sql); p++ {
		if c := l.sql[p]; byteClass[c] != byteSpace {
			return c
		}
	}
	return 0
}

// peekCall reports whether an opening parenthesis follows.
func (l *lexer) peekCall() bool {
	c := l.peek()
	if c == '(' || !beginsComment(c) {
		return c == '('
	}
	ahead := *l
	return ahead.next() == Op && l.sql[ahead.start] == '('
}

// beginsComment reports whether c can begin a comment or end an executable one, so that only the lexer knows what
// comes next.
func beginsComment(c byte) bool { return c == '/' || c == '-' || c == '#' || c == '*' }
