package sqlparse

// TokenKind is the lexical kind of a token.
type TokenKind uint8

// The lexical kinds.
const (
	EOF        TokenKind = iota // also a `;` that ends the statement
	Word                        // unquoted name or keyword
	QuotedName                  // `x`, or "x" with ANSIQuotes
	StringLit                   // 'x' or "x"
	NStringLit                  // N'x'
	IntLit
	DecimalLit
	FloatLit
	HexLit  // x'00', 0x00
	BitLit  // b'01', 0b01
	UserVar // @x
	SysVar  // @@x, @@session.x
	Param   // ?
	Op      // operators and punctuation, one token each
	HintComment
	Invalid // unclosed string, name or comment
)

// Token is one token of a statement's text. Text inside executable comments that count is tokens like any.
type Token struct {
	Kind TokenKind
	Span
}

// Tokens walks over the tokens of a statement from its beginning. It is a value; a copy is a second walker.
type Tokens struct {
	l lexer
}

// Tokens returns a walker over the statement.
func (s *Statement) Tokens() Tokens {
	return Tokens{s.dialect.lexer(s.sql[:s.end], s.mode)}
}

// TokensFrom returns a walker that begins at offset, where a token must begin.
func (s *Statement) TokensFrom(offset int) Tokens {
	t := s.Tokens()
	t.l.pos = offset
	return t
}

// Next returns the next token; at the end, EOF again and again.
func (t *Tokens) Next() Token {
	k := t.l.next()
	return Token{k, Span{t.l.start, t.l.pos}}
}

// Is reports whether tok is the unquoted word, in any case of letters, or the operator. A word after a dot is no
// keyword, but it is a word here.
func (s *Statement) Is(tok Token, word string) bool {
	if tok.Kind != Word && tok.Kind != Op || tok.End-tok.Start != len(word) {
		return false
	}
	for i := range len(word) {
		if lower(s.sql[tok.Start+i]) != lower(word[i]) {
			return false
		}
	}
	return true
}

// AppendName appends the name or string a token stands for: quotes removed, doubled ones halved, @ and @@ left out.
func (s *Statement) AppendName(dst []byte, tok Token) []byte {
	return appendName(dst, s.sql[tok.Start:tok.End], s.mode)
}

func appendName(dst, text []byte, mode Mode) []byte {
	for len(text) > 0 && text[0] == '@' {
		text = text[1:]
	}
	if len(text) < 2 {
		return append(dst, text...)
	}
	switch q := text[0]; q {
	case '`':
		return appendUnescaped(dst, text[1:len(text)-1], q, NoBackslashEscapes)
	case '"', '\'':
		if q == '"' && mode&ANSIQuotes != 0 {
			mode |= NoBackslashEscapes
		}
		return appendUnescaped(dst, text[1:len(text)-1], q, mode)
	}
	return append(dst, text...)
}
