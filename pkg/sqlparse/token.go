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
	s *Statement
}

// Tokens returns a walker over the statement.
func (s *Statement) Tokens() Tokens { return Tokens{s: s} }

// Next returns the next token; at the end, EOF again and again.
func (t *Tokens) Next() Token { return Token{} }

// Text returns the token's text as written.
func (s *Statement) Text(sp Span) []byte { return s.sql[sp.Start:sp.End] }

// Is reports whether tok is the unquoted word (written in capitals here, in any case there) or the operator.
func (s *Statement) Is(tok Token, word string) bool { return false }

// AppendName appends the name a token stands for: quotes removed, doubled ones halved.
func (s *Statement) AppendName(dst []byte, tok Token) []byte { return dst }
