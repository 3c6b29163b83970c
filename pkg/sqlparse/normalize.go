package sqlparse

// Normalized returns the statement with its arguments replaced by `:vN` and `::vN`, comments removed, names quoted
// where the parser needs it, and only the first of VALUES rows of equal shape. Valid until the next call of Normalized
// or Scan.
func (s *Statement) Normalized() []byte {
	s.scratch.text = s.render(s.scratch.text[:0], renderNormal)
	return s.scratch.text
}

// Digest appends the statement for people: literals as `?`, lists as `(...)`, reserved words in capitals, only one
// VALUES row. It shows no values, so that it can be logged. It is not made for reading by machines.
func (s *Statement) Digest(dst []byte) []byte {
	return s.render(dst, renderDigest)
}

// ArgNumber returns the argument a name in a syntax tree stands for: "v3", ":v3" and "::v3" are 3.
func ArgNumber(name string) (n int, ok bool) {
	for len(name) > 0 && name[0] == ':' {
		name = name[1:]
	}
	if len(name) < 2 || len(name) > 10 || name[0] != 'v' {
		return 0, false
	}
	for i := 1; i < len(name); i++ {
		if !isDigit(name[i]) {
			return 0, false
		}
		n = n*10 + int(name[i]-'0')
	}
	return n, true
}

type renderMode uint8

const (
	renderNormal renderMode = iota // arguments as names
	renderRaw                      // parameters as names, literals as they are
	renderDigest                   // for people
)

// render writes the statement token by token, so that what comes out means to vitess's lexer what the text means to
// the server's.
func (s *Statement) render(dst []byte, mode renderMode) []byte {
	return s.renderTo(dst, mode, s.end, false, Span{})
}

// renderTo writes the tokens before offset end. With quote, words that are reserved to vitess only are quoted where
// they seem to be names. In the list of an INSERT's columns, which vitess does not read so, names of databases are left out.
func (s *Statement) renderTo(dst []byte, mode renderMode, end int, quote bool, list Span) []byte {
	l := s.dialect.lexer(s.sql[:s.end], s.mode)
	next := 0 // argument
	row := 0  // VALUES row not yet reached
	var this, before, before2 wordID
	var flags wordFlag // of this
	written := len(dst)
	var last byte
	for {
		k := l.next()
		if k == EOF || k == Invalid || l.start >= end {
			return dst
		}
		before2, before = before, this
		reserved := flags&wordReserved != 0
		this, flags = wNone, 0
		if l.word != nil {
			this, flags = l.word.id, l.word.flags
			if mode != renderDigest && s.leftOut(&l, before, before2) {
				this = before
				continue
			}
		}
		if l.start > list.Start && l.start < list.End && withDatabase(l, k) {
			l.next()
			continue
		}
		quoted := quote && flags&wordQuote != 0 && l.peek() != '(' &&
			(reserved && before != wOn || len(dst) > written && isOperatorByte(last) || this == wNext)
		if row > 0 && row < len(s.rows) && l.start >= int(s.rows[row-1].end) && l.start < int(s.rows[row].start) {
			continue // the comma between rows
		}
		if row < len(s.rows) && l.start == int(s.rows[row].start) {
			r := s.rows[row]
			row++
			if r.param&rowShown == 0 || mode == renderDigest && row > 1 {
				l.pos = int(r.end)
				for next < len(s.args) && s.args[next].start < r.end {
					next++
				}
				continue
			}
			if row > 1 {
				dst = append(dst, ',')
				l.spaced = true
			}
		}
		if l.spaced && len(dst) > written {
			dst = append(dst, ' ')
		}
		if next < len(s.args) && l.start == int(s.args[next].start) {
			a := s.args[next]
			if !l.spaced && len(dst) > written && mode != renderDigest && needsSpace(last, ':') {
				dst = append(dst, ' ')
			}
			dst = s.renderArg(dst, a, next, mode)
			last = '0'
			next++
			l.pos = int(a.end)
			l.dot, l.nameEnd, l.dotEnd = false, -1, -1
			continue
		}
		if !l.spaced && len(dst) > written && needsSpace(last, s.sql[l.start]) {
			dst = append(dst, ' ')
		}
		if quoted {
			dst = appendBackquoted(dst, s.sql[l.start:l.pos])
		} else if as := s.castType(&l, before, last); as != "" && mode != renderDigest {
			dst = append(dst, as...)
		} else if mode != renderDigest && s.newRowsValue(&l, before, last) {
			dst = append(dst, "values"...)
		} else {
			dst = s.renderToken(dst, &l, k, mode)
		}
		last = dst[len(dst)-1]
	}
}

// isOperatorByte reports whether a token that ends with c is an operator or a punctuation after which an operand
// comes.
func isOperatorByte(c byte) bool {
	switch c {
	case ')', '\'', '"', '`':
		return false
	}
	return c > ' ' && !isWordByte(c)
}

// castType is vitess's name for a type of CAST and CONVERT that servers know by this one, too; "" for any other word. Only there does such
// a reserved word stand behind AS or a comma.
func (s *Statement) castType(l *lexer, before wordID, last byte) string {
	if l.word == nil || before != wAs && last != ',' || !s.kind.takesArguments() {
		return ""
	}
	switch l.word.id {
	case wInt:
		if s.dialect.mariadb {
			return "signed"
		}
	case wVarchar:
		if s.dialect.mariadb && l.peek() == '(' {
			return "char"
		}
	case wCharacter:
		return "char"
	case wDec:
		return "decimal"
	}
	return ""
}

// withDatabase reports whether a token of kind k, just read, begins database.table.column.
func withDatabase(ahead lexer, k TokenKind) bool {
	point := func() bool { return ahead.next() == Op && ahead.sql[ahead.start] == '.' }
	return isNameToken(k) && point() && isNameToken(ahead.next()) && point()
}

func isNameToken(k TokenKind) bool { return k == Word || k == QuotedName }

// newRowsValue reports whether MariaDB's VALUE(column) begins, which is the VALUES(column) of an INSERT; before its rows the two are the same, too.
func (s *Statement) newRowsValue(l *lexer, before wordID, last byte) bool {
	return l.isWord(wValue) && s.dialect.mariadb && s.kind == Insert && before != wInto && last != '.' && l.peekCall()
}

// leftOut tells words the syntax tree has no place for and that do not matter to it: LOW_PRIORITY and the like at the
// head of a writing statement, OF t, u after FOR UPDATE, whose names it skips, and what may be added to a type of CAST: SIGNED INT,
// DOUBLE PRECISION.
func (s *Statement) leftOut(l *lexer, before, before2 wordID) bool {
	switch l.word.id {
	case wLowPriority, wDelayed, wHighPriority:
		switch before {
		case wInsert, wReplace, wUpdate, wDelete:
			return true
		}
	case wQuick:
		return before == wDelete
	case wInt:
		return before == wSigned || before == wUnsigned
	case wPrecision:
		return before == wDouble && s.kind.takesArguments()
	case wOf:
		if before2 != wFor || before != wUpdate && before != wShare {
			return false
		}
		for {
			l.next()
			s.peekName(l, QuotedName)
			ahead := *l
			if ahead.next() != Op || s.sql[ahead.start] != ',' {
				return true
			}
			*l = ahead
		}
	}
	return false
}

// needsSpace reports whether two tokens that touch in the text would read differently to vitess's lexer: two slashes
// are a comment there, `:` begins an argument.
func needsSpace(last, next byte) bool {
	switch {
	case last == '/' && (next == '/' || next == '*'), last == ':', next == ':' && last != 0:
		return true
	case last == '\'' && next == '\'', last == '"' && next == '"', last == '`' && next == '`':
		return true
	}
	return isWordByte(last) && isWordByte(next)
}

func (s *Statement) renderArg(dst []byte, a arg, n int, mode renderMode) []byte {
	switch {
	case mode == renderDigest:
		if a.class == ClassList {
			return append(dst, "(...)"...)
		}
		return append(dst, '?')
	case a.class == ClassList && (mode == renderNormal || s.hasParams(a)):
		return appendInt(append(dst, "::v"...), n)
	case a.class != ClassList && (mode == renderNormal || a.class == ClassParam):
		return appendInt(append(dst, ":v"...), n)
	}
	l := s.lexerAt(int(a.start), int(a.end), a.code)
	for first := true; ; first = false {
		k := l.next()
		if k == EOF || k == Invalid {
			return dst
		}
		if !first {
			dst = append(dst, ' ')
		}
		dst = s.renderToken(dst, &l, k, mode)
	}
}

func (s *Statement) hasParams(a arg) bool {
	e := s.elems[a.first : a.first+a.n]
	for i := range e {
		if s.sql[e[i].start&^elemCode] == '?' {
			return true
		}
	}
	return false
}

// renderToken writes one token in a form that vitess's lexer, which knows neither sql_mode nor names beyond ASCII,
// reads as the server reads the text.
func (s *Statement) renderToken(dst []byte, l *lexer, k TokenKind, mode renderMode) []byte {
	text := s.sql[l.start:l.pos]
	switch k {
	case Word:
		if mode != renderDigest && l.isWord(wTable) && (s.kind == Select || s.kind == Insert || s.kind == Replace) {
			return append(dst, "select * from"...)
		}
		if mode == renderDigest {
			if l.word != nil && l.word.flags&wordReserved != 0 {
				for _, c := range text {
					dst = append(dst, upper(c))
				}
				return dst
			}
			return append(dst, text...)
		}
		for _, c := range text {
			if c >= 0x80 || isDigit(text[0]) {
				return appendBackquoted(dst, text)
			}
		}
		return append(dst, text...)
	case QuotedName:
		if text[0] == '`' {
			return append(dst, text...)
		}
		return appendBackquoted(dst, appendName(nil, text, s.mode))
	case StringLit:
		if mode == renderDigest {
			return append(dst, '?')
		}
		if s.mode&NoBackslashEscapes == 0 {
			return append(dst, text...)
		}
		for _, c := range text {
			if c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		return dst
	case Op:
		if text[0] == '\\' && len(text) == 2 {
			return append(dst, "NULL"...)
		}
		if mode != renderDigest && string(text) == "||" && s.pipesConcatenate() {
			return append(dst, '^')
		}
	}
	return append(dst, text...)
}

func appendBackquoted(dst, name []byte) []byte {
	dst = append(dst, '`')
	for _, c := range name {
		if c == '`' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '`')
}

func upper(c byte) byte {
	if c-'a' < 26 {
		return c &^ 0x20
	}
	return c
}
