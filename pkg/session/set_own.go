package session

import (
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// The session variables that no server knows.
const (
	// commitVariable says how transactions over several node groups are committed. "atomic", the default: all groups or
	// none, whatever dies. "best_effort": one group after the other, which is faster, and a failure in between leaves the
	// transaction half done.
	commitVariable = "skarv_commit"
	// atomicityVariable says what those who read see of transactions over several node groups that are being committed.
	// "off", the default: one group may show it already, and another not yet, for milliseconds. "gate": all groups are read
	// as of one moment, for which all commits of the cluster are held for a moment.
	atomicityVariable = "skarv_read_atomicity"
)

// setOwn carries out [SESSION] variable = value for our own variables among the assignments of the SET at hand, behind whose
// first word tokens are. rest is the SET without them, empty when nothing else is assigned; found is false when there is
// none of them.
func (s *Session) setOwn(tokens sqlparse.Tokens) (rest []byte, found bool, err error) {
	stmt := s.stmt
	sql := stmt.SQL()
	best, gate := s.bestEffort, s.readAtGate
	var kept [][]byte
	for more := true; more; {
		tok := tokens.Next()
		start, end := tok.Start, tok.End
		if stmt.Is(tok, "SESSION") || stmt.Is(tok, "LOCAL") {
			tok = tokens.Next()
		}
		ours := ownVariable(string(stmt.Text(tok.Span)))
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
		if ours == "" {
			kept = append(kept, sql[start:end])
			continue
		}
		found = true
		if len(value) != 2 || !stmt.Is(value[0], "=") && !stmt.Is(value[0], ":=") {
			return nil, true, sqlerr.WrongValueForVariable.New(ours, "of this form")
		}
		switch text := strings.ToLower(strings.Trim(string(stmt.Text(value[1].Span)), "'\"`")); ours + "=" + text {
		case commitVariable + "=atomic", commitVariable + "=default":
			best = false
		case commitVariable + "=best_effort":
			best = true
		case atomicityVariable + "=off", atomicityVariable + "=default":
			gate = false
		case atomicityVariable + "=gate":
			gate = true
		case atomicityVariable + "=lock", atomicityVariable + "=validated":
			return nil, true, sqlerr.Unsupported(atomicityVariable+" = "+text, "use gate, or SELECT ... FOR SHARE for the rows that matter")
		default:
			return nil, true, sqlerr.WrongValueForVariable.New(ours, text)
		}
	}
	if !found {
		return nil, false, nil
	}
	s.bestEffort, s.readAtGate = best, gate
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

// ownVariable returns the one of our variables that is named, or "".
func ownVariable(name string) string {
	name = strings.ToLower(name)
	for _, scope := range []string{"@@session.", "@@local.", "@@"} {
		name = strings.TrimPrefix(name, scope)
	}
	if name = strings.Trim(name, "`"); name == commitVariable || name == atomicityVariable {
		return name
	}
	return ""
}
