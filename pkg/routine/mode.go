package routine

import (
	"bytes"

	"skarv/pkg/sqlparse"
)

// ReadsAlike reports whether the program's text means the same in another sql_mode than the one it was made in.
func (p *Program) ReadsAlike(mode sqlparse.Mode) bool {
	st, other := p.st, p.st.Dialect().NewStatement()
	changed := st.Mode() ^ mode
	if changed&sqlparse.Oracle != 0 || other.Scan(st.SQL(), mode) != nil {
		return false
	}
	tokens, others := st.Tokens(), other.Tokens()
	var last sqlparse.Token
	for {
		tok, o := tokens.Next(), others.Next()
		switch {
		case tok != o:
			return false
		case tok.Kind == sqlparse.EOF:
			return true
		case tok.Kind == sqlparse.StringLit || tok.Kind == sqlparse.NStringLit:
			if !bytes.Equal(st.AppendName(nil, tok), other.AppendName(nil, o)) {
				return false
			}
		case changed&sqlparse.PipesAsConcat != 0 && st.Is(tok, "||"):
			return false
		case changed&sqlparse.HighNotPrecedence != 0 && st.Is(tok, "NOT") && !st.Is(last, "IS"):
			ahead := tokens
			if next := ahead.Next(); !st.Is(next, "NULL") && !st.Is(next, "EXISTS") && !st.Is(next, "IN") && !st.Is(next, "FOUND") {
				return false
			}
		case changed&sqlparse.IgnoreSpace != 0 && last.Kind == sqlparse.Word && st.Is(tok, "(") && tok.Start > last.End:
			call := st.Dialect().NewStatement()
			if call.Scan([]byte("SELECT "+string(st.Text(last.Span))+" (1)"), 0) != nil || call.Uses()&sqlparse.SpacedCall != 0 {
				return false
			}
		}
		last = tok
	}
}

// Mode is what the program's text is read by.
func (p *Program) Mode() sqlparse.Mode { return p.st.Mode() }
