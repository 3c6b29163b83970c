package session

import (
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// commitVariable is the session variable that says how transactions over several node groups are committed. No server
// knows it. "atomic", the default: all groups or none, whatever dies. "best_effort": one group after the other, which
// is faster, and a failure in between leaves the transaction half done.
const commitVariable = "skarv_commit"

// setCommit is SET [SESSION] skarv_commit = value, which stands alone. handled is false for every other SET.
func (s *Session) setCommit(tokens sqlparse.Tokens) (handled bool, err error) {
	stmt := s.stmt
	tok := tokens.Next()
	if stmt.Is(tok, "SESSION") || stmt.Is(tok, "LOCAL") {
		tok = tokens.Next()
	}
	name := strings.ToLower(string(stmt.Text(tok.Span)))
	for _, scope := range []string{"@@session.", "@@local.", "@@"} {
		name = strings.TrimPrefix(name, scope)
	}
	if strings.Trim(name, "`") != commitVariable {
		return false, nil
	}
	if tok = tokens.Next(); !stmt.Is(tok, "=") && !stmt.Is(tok, ":=") {
		return false, nil // the server has the error to tell
	}
	value := strings.ToLower(strings.Trim(string(stmt.Text(tokens.Next().Span)), "'\"`"))
	if tokens.Next().Kind != sqlparse.EOF {
		return true, sqlerr.Unsupported("SET "+commitVariable+" together with other variables", "set it with a statement of its own")
	}
	switch value {
	case "atomic", "default":
		s.bestEffort = false
	case "best_effort":
		s.bestEffort = true
	default:
		return true, sqlerr.WrongValueForVariable.New(commitVariable, value)
	}
	return true, s.ok(wire.OK{})
}
