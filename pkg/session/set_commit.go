package session

import (
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// commitVariable is the session variable that says how transactions over several node groups are committed. No server
// knows it. "atomic", the default: all groups or none, whatever dies. "best_effort": one group after the other, which
// is faster, and a failure in between leaves the transaction half done.
const commitVariable = "skarv_commit"

// setCommit carries out [SESSION] skarv_commit = value among the assignments of the SET at hand, behind whose first word
// tokens are. rest is the SET without it, empty when nothing else is assigned; found is false when it is not there.
func (s *Session) setCommit(tokens sqlparse.Tokens) (rest []byte, found bool, err error) {
	stmt := s.stmt
	sql := stmt.SQL()
	best := s.bestEffort
	var kept [][]byte
	for more := true; more; {
		tok := tokens.Next()
		start, end := tok.Start, tok.End
		if stmt.Is(tok, "SESSION") || stmt.Is(tok, "LOCAL") {
			tok = tokens.Next()
		}
		ours := isCommitVariable(string(stmt.Text(tok.Span)))
		var value []sqlparse.Token
		for depth := 0; ; {
			tok = tokens.Next()
			more = tok.Kind != sqlparse.EOF
			if !more || depth == 0 && stmt.Is(tok, ",") {
				break
			}
			if stmt.Is(tok, "(") {
				depth++
			} else if stmt.Is(tok, ")") {
				depth--
			}
			end = tok.End
			value = append(value, tok)
		}
		if !ours {
			kept = append(kept, sql[start:end])
			continue
		}
		found = true
		if len(value) != 2 || !stmt.Is(value[0], "=") && !stmt.Is(value[0], ":=") {
			return nil, true, sqlerr.WrongValueForVariable.New(commitVariable, "of this form")
		}
		switch text := strings.ToLower(strings.Trim(string(stmt.Text(value[1].Span)), "'\"`")); text {
		case "atomic", "default":
			best = false
		case "best_effort":
			best = true
		default:
			return nil, true, sqlerr.WrongValueForVariable.New(commitVariable, text)
		}
	}
	if !found {
		return nil, false, nil
	}
	s.bestEffort = best
	for i, text := range kept {
		if i == 0 {
			rest = append(rest, "SET "...)
		} else {
			rest = append(rest, ", "...)
		}
		rest = append(rest, text...)
	}
	return rest, true, nil
}

func isCommitVariable(name string) bool {
	name = strings.ToLower(name)
	for _, scope := range []string{"@@session.", "@@local.", "@@"} {
		name = strings.TrimPrefix(name, scope)
	}
	return strings.Trim(name, "`") == commitVariable
}
