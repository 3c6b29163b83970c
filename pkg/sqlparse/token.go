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
	Depth int // how many parentheses it stands in, counted from where the walk began; those of a pair stand where the pair does
}

// Tokens walks over the tokens of a statement from its beginning. It is a value; a copy is a second walker.
type Tokens struct {
	l     lexer
	depth int // of what comes next
}

// Tokens returns a walker over the statement.
func (s *Statement) Tokens() Tokens {
	return Tokens{l: s.dialect.lexer(s.sql[:s.end], s.mode)}
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
	tok := Token{Kind: k, Span: Span{t.l.start, t.l.pos}, Depth: t.depth}
	if k == Op {
		switch t.l.sql[tok.Start] {
		case '(':
			t.depth++
		case ')':
			t.depth--
			tok.Depth--
		}
	}
	return tok
}

// Item reads one item of a list of expressions: up to a comma, to the word in stop unless that is "", to what closes the list, or to
// the statement's end; that is end. An item of no tokens is the zero Span.
func (s *Statement) Item(toks *Tokens, stop string) (item Span, end Token) {
	within := toks.depth
	for {
		t := toks.Next()
		if t.Kind == EOF || t.Depth < within || t.Depth == within && (s.Is(t, ",") || stop != "" && s.Is(t, stop)) {
			return item, t
		}
		if item.End == 0 {
			item.Start = t.Start
		}
		item.End = t.End
	}
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
