package sqlparse

import "bytes"

// lexer cuts text into tokens by the rules of the MySQL and MariaDB lexers. It allocates nothing; all its state is
// in the struct, so that a copy of it is a bookmark.
type lexer struct {
	d    *Dialect
	sql  []byte
	mode Mode

	start  int // of the token next returned last
	pos    int // end of it
	spaced bool
	word   *wordEntry // of a Word that is a keyword, else nil

	code    int  // executable comments open around pos (0 or 1: they do not nest)
	nameEnd int  // a `.` exactly here separates names
	dotEnd  int  // digits exactly here begin a name
	dot     bool // the last token was `.`
	verb    bool // the last token can be followed by an optimizer hint
	noted   int  // where the first comment to the end of its line began since the last token, outside of code; else -1
}

func (d *Dialect) lexer(sql []byte, mode Mode) lexer {
	return lexer{d: d, sql: sql, mode: mode, nameEnd: -1, dotEnd: -1, noted: -1}
}

// next moves to the next token and returns its kind. A `;` is an Op. After Invalid, pos is at the end. A NUL ends the text, where it is
// the last byte; elsewhere no server reads on from there, though one within a string or a comment is a byte like any other.
func (l *lexer) next() TokenKind {
	l.word = nil
	l.spaced = false
	l.noted = -1
	dot, verb := l.dot, l.verb
	l.dot, l.verb = false, false
	sql := l.sql
	for {
		p := l.pos
		if p >= len(sql) {
			l.start = len(sql)
			if l.code > 0 {
				return Invalid
			}
			return EOF
		}
		l.start = p
		c := sql[p]
		switch byteClass[c] {
		case byteSpace:
			l.spaced = true
			p++
			for p < len(sql) && byteClass[sql[p]] == byteSpace {
				p++
			}
			l.pos = p
			continue
		case byteWord:
			if p+1 < len(sql) {
				if q := sql[p+1]; q == '\'' || q == '"' && l.mode&ANSIQuotes == 0 {
					switch c | 0x20 {
					case 'x':
						if q == '\'' {
							return l.quotedDigits(HexLit)
						}
					case 'b':
						if q == '\'' {
							return l.quotedDigits(BitLit)
						}
					case 'n':
						if q == '\'' {
							l.pos = p + 1
							if l.str(q) == Invalid {
								return Invalid
							}
							l.start = p
							return NStringLit
						}
					}
				}
			}
			return l.name(dot)
		case byteDigit:
			if p == l.dotEnd {
				return l.name(true)
			}
			return l.number()
		case byteQuote:
			return l.str(c)
		case byteDouble:
			if l.mode&ANSIQuotes != 0 {
				return l.quotedName(c)
			}
			return l.str(c)
		case byteBackquote:
			return l.quotedName(c)
		case byteAt:
			return l.variable()
		case byteDot:
			if p == l.nameEnd {
				if p+1 < len(sql) && isWordByte(sql[p+1]) {
					l.dotEnd = p + 1
				}
			} else if p+1 < len(sql) && isDigit(sql[p+1]) {
				return l.number()
			}
			l.dot = true
			l.pos = p + 1
			return Op
		case byteMinus:
			if p+1 < len(sql) && sql[p+1] == '-' && (p+2 >= len(sql) || sql[p+2] <= ' ' || sql[p+2] == 0x7f) {
				l.line()
				continue
			}
			l.pos = p + 1
			if p+1 < len(sql) && sql[p+1] == '>' {
				l.pos++
				if p+2 < len(sql) && sql[p+2] == '>' {
					l.pos++
				}
			}
			return Op
		case byteHash:
			l.line()
			continue
		case byteSlash:
			if p+1 >= len(sql) || sql[p+1] != '*' {
				l.pos = p + 1
				return Op
			}
			switch l.comment(verb) {
			case commentHint:
				return HintComment
			case commentOpen:
				l.pos = len(sql)
				return Invalid
			}
			l.spaced = true
			continue
		case byteStar:
			if l.code > 0 && p+1 < len(sql) && sql[p+1] == '/' {
				l.code--
				l.pos = p + 2
				l.spaced = true
				continue
			}
			l.pos = p + 1
			return Op
		case byteParam:
			l.pos = p + 1
			return Param
		case byteMulti:
			l.pos = p + l.operator(p)
			return Op
		case byteBackslash:
			if p+1 < len(sql) && sql[p+1] == 'N' && (p+2 >= len(sql) || !isWordByte(sql[p+2])) {
				l.pos = p + 2 // \N is NULL
				return Op
			}
		case byteNUL:
			if p+1 == len(sql) && l.code == 0 {
				return EOF
			}
			l.pos = len(sql)
			return Invalid
		}
		l.pos = p + 1
		return Op
	}
}

// operator returns the length of the operator at p that begins with one of < > = ! & | :
func (l *lexer) operator(p int) int {
	var b, c byte
	if p+1 < len(l.sql) {
		b = l.sql[p+1]
	}
	if p+2 < len(l.sql) {
		c = l.sql[p+2]
	}
	switch l.sql[p] {
	case '<':
		switch {
		case b == '=' && c == '>':
			return 3
		case b == '=' || b == '>' || b == '<':
			return 2
		}
	case '>':
		if b == '=' || b == '>' {
			return 2
		}
	case '!', ':':
		if b == '=' {
			return 2
		}
	case '&':
		if b == '&' {
			return 2
		}
	case '|':
		if b == '|' {
			return 2
		}
	}
	return 1
}

// name reads an unquoted name or keyword. After a dot there are no keywords.
func (l *lexer) name(dot bool) TokenKind {
	sql := l.sql
	p := l.start + 1
	for p < len(sql) && isWordByte(sql[p]) {
		p++
	}
	l.pos = p
	l.nameEnd = p
	if !dot {
		if w := l.d.lookup(sql[l.start:p]); w != nil {
			l.word = w
			l.verb = w.flags&wordHint != 0
		}
	}
	return Word
}

// id is the word or the single character that the token at hand, of kind k, is; wNone for another.
func (l *lexer) id(k TokenKind) wordID {
	switch {
	case k == Word && l.word != nil:
		return l.word.id
	case k == Op && l.pos-l.start == 1:
		return opWord + wordID(l.sql[l.start])
	}
	return wNone
}

// number reads a number, or a name that begins with digits.
func (l *lexer) number() TokenKind {
	sql := l.sql
	p := l.start
	at := func(i int) byte {
		if i < len(sql) {
			return sql[i]
		}
		return 0
	}
	if sql[p] != '.' {
		if sql[p] == '0' && (at(p+1) == 'x' || at(p+1) == 'b') {
			q := p + 2
			kind := HexLit
			if at(p+1) == 'b' {
				kind = BitLit
				for at(q) == '0' || at(q) == '1' {
					q++
				}
			} else {
				for isHex(at(q)) {
					q++
				}
			}
			if q > p+2 && (q >= len(sql) || !isWordByte(sql[q])) {
				l.pos = q
				return kind
			}
			return l.name(true)
		}
		for isDigit(at(p)) {
			p++
		}
		if p < len(sql) && byteClass[sql[p]] == byteWord {
			if l.exponent(p) {
				return FloatLit
			}
			return l.name(true)
		}
		if at(p) != '.' {
			l.pos = p
			return IntLit
		}
	}
	p++ // the point
	for isDigit(at(p)) {
		p++
	}
	if l.exponent(p) {
		return FloatLit
	}
	l.pos = p
	return DecimalLit
}

// exponent passes over the exponent of a number whose digits end at p, if there is one.
func (l *lexer) exponent(p int) bool {
	rest := l.sql[p:]
	if len(rest) == 0 || rest[0]|0x20 != 'e' {
		return false
	}
	q := 1
	if q < len(rest) && (rest[q] == '+' || rest[q] == '-') {
		q++
	}
	digits := q
	for q < len(rest) && isDigit(rest[q]) {
		q++
	}
	if q == digits {
		return false
	}
	l.pos = p + q
	return true
}

func isHex(c byte) bool { return isDigit(c) || (c|0x20)-'a' < 6 }

// str reads a string whose opening quote is at pos.
func (l *lexer) str(quote byte) TokenKind {
	if l.pos = stringEnd(l.sql, l.pos+1, quote, l.mode); l.pos < 0 {
		l.pos = len(l.sql)
		return Invalid
	}
	return StringLit
}

// stringEnd returns the offset behind the closing quote of the string that begins at p, behind its opening quote; -1 if it has
// none. Of a longer string, what is neither a quote nor a backslash is passed over many bytes at a time.
func stringEnd(sql []byte, p int, quote byte, mode Mode) int {
	const short = 16
	escapes := mode&NoBackslashEscapes == 0
	for q := -1; ; { // q: where the next quote is, once that is known
		for end := min(p+short, len(sql)); p < end; {
			switch c := sql[p]; {
			case c == quote:
				if p+1 >= len(sql) || sql[p+1] != quote {
					return p + 1
				}
				p += 2
			case c == '\\' && escapes:
				p += 2
			default:
				p++
			}
		}
		if p >= len(sql) {
			return -1
		}
		if q < p {
			n := bytes.IndexByte(sql[p:], quote)
			if n < 0 {
				return -1
			}
			q = p + n
		}
		n := -1
		if escapes {
			n = bytes.IndexByte(sql[p:q], '\\')
		}
		if n < 0 {
			n = q - p
		}
		p += n
	}
}

// quotedDigits reads x'..' and b'..'.
func (l *lexer) quotedDigits(kind TokenKind) TokenKind {
	sql := l.sql
	p := l.start + 2
	for p < len(sql) && (kind == HexLit && isHex(sql[p]) || sql[p] == '0' || sql[p] == '1') {
		p++
	}
	if p >= len(sql) || sql[p] != '\'' || kind == HexLit && (p-l.start)%2 != 0 {
		l.pos = len(sql)
		return Invalid
	}
	l.pos = p + 1
	return kind
}

// quotedName reads a name whose opening quote is at pos.
func (l *lexer) quotedName(quote byte) TokenKind {
	sql := l.sql
	p := l.pos + 1
	for p < len(sql) && sql[p] != 0 {
		if sql[p] == quote {
			if p+1 < len(sql) && sql[p+1] == quote {
				p += 2
				continue
			}
			l.pos = p + 1
			l.nameEnd = p + 1
			return QuotedName
		}
		p++
	}
	l.pos = len(sql)
	return Invalid
}

// variable reads @x, @`x`, @'x', @@x, @@global.x; a lone @ is an Op.
func (l *lexer) variable() TokenKind {
	sql := l.sql
	p := l.start + 1
	kind := UserVar
	if p < len(sql) && sql[p] == '@' {
		kind = SysVar
		p++
	}
	for p < len(sql) {
		switch c := sql[p]; {
		case isWordByte(c) || c == '.':
			p++
			for p < len(sql) && (isWordByte(sql[p]) || sql[p] == '.') {
				p++
			}
			if kind == SysVar && p < len(sql) && sql[p] == '`' && sql[p-1] == '.' {
				continue
			}
		case c == '`' || kind == UserVar && (c == '\'' || c == '"'):
			l.pos = p
			if c == '`' {
				if l.quotedName(c) == Invalid {
					return Invalid
				}
			} else if l.str(c) == Invalid {
				return Invalid
			}
			p = l.pos
			if kind == SysVar && p < len(sql) && sql[p] == '.' {
				continue
			}
		}
		break
	}
	l.pos = p
	if p == l.start+1 {
		return Op
	}
	return kind
}

// line skips a comment that ends with its line.
func (l *lexer) line() {
	p := l.pos
	if l.noted < 0 && l.code == 0 {
		l.noted = p
	}
	for p < len(l.sql) && l.sql[p] != '\n' && l.sql[p] != 0 {
		p++
	}
	l.pos = p
	l.spaced = true
}
