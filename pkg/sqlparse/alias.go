package sqlparse

import "strings"

// AliasOf returns the alias of a table name, which Tables has found at sp; "" if it has none.
func (s *Statement) AliasOf(sp Span) string {
	tokens := s.Tokens()
	for tok := tokens.Next(); tok.Kind != EOF; tok = tokens.Next() {
		if tok.Start < sp.End {
			continue
		}
		if s.Is(tok, "AS") {
			tok = tokens.Next()
		} else if tok.Kind == Word {
			switch strings.ToUpper(string(s.Text(tok.Span))) {
			case "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "NATURAL", "STRAIGHT_JOIN",
				"ON", "USING", "UNION", "EXCEPT", "INTERSECT", "FOR", "LOCK", "WINDOW", "USE", "FORCE", "IGNORE", "INTO", "PROCEDURE", "OFFSET", "FETCH":
				return ""
			}
		}
		if tok.Kind != QuotedName && tok.Kind != Word {
			return ""
		}
		return string(s.AppendName(nil, tok))
	}
	return ""
}
