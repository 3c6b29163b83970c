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
	// as of one moment, for which all commits of the cluster are held for a moment. "validated": nobody is held; snapshots are taken
	// anew if such a transaction was being committed at that time, and at the gate if that happens again and again. "lock": what
	// is read stays locked until the transaction ends, as with SERIALIZABLE, so that it can be before or after another one only.
	atomicityVariable = "skarv_read_atomicity"
)

// readAtomicity is a value of skarv_read_atomicity.
type readAtomicity uint8

const (
	readOff readAtomicity = iota
	readAtGate
	readValidated
	readLocking
)

// snapshots reports whether all that a transaction reads is as of one moment, or as if it were.
func (r readAtomicity) snapshots() bool { return r == readAtGate || r == readValidated }

// isolation is the SET TRANSACTION statement for a transaction's branches, given the client's own, which may be empty. Servers
// lock all that transactions read with SERIALIZABLE. Locks are kept until the transaction ends on every group, or at least until
// it asks for no more of them (MariaDB gives shared ones back at XA PREPARE): whoever reads a row that another transaction
// has written waits until that one has ended on the row's group, and it then has been decided for all groups.
func (r readAtomicity) isolation(client string) string {
	if r != readLocking {
		return client
	}
	sql := "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"
	for _, access := range []string{"READ ONLY", "READ WRITE"} {
		if strings.Contains(strings.ToUpper(client), access) {
			sql += ", " + access
		}
	}
	return sql
}

// setOwn carries out [SESSION] variable = value for our own variables among the assignments of the SET at hand, behind whose
// first word tokens are. rest is the SET without them, empty when nothing else is assigned; found is false when there is
// none of them.
func (s *Session) setOwn(tokens sqlparse.Tokens) (rest []byte, found bool, err error) {
	stmt := s.stmt
	sql := stmt.SQL()
	best, reads, joins := s.bestEffort, s.reads, s.joins
	var kept [][]byte
	for more := true; more; {
		tok := tokens.Next()
		start, end := tok.Start, tok.End
		if stmt.Is(tok, "SESSION") || stmt.Is(tok, "LOCAL") {
			tok = tokens.Next()
		}
		ours := ownVariable(string(stmt.Text(tok.Span)))
		var value []sqlparse.Token
		for {
			tok = tokens.Next()
			more = tok.Kind != sqlparse.EOF
			if !more || tok.Depth == 0 && stmt.Is(tok, ",") {
				break
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
		text := strings.ToLower(strings.Trim(string(stmt.Text(value[1].Span)), "'\"`"))
		if ours == joinsVariable {
			var ok bool
			if joins, ok = joinsByName(text); !ok {
				return nil, true, sqlerr.WrongValueForVariable.New(ours, text)
			}
			continue
		}
		switch ours + "=" + text {
		case commitVariable + "=atomic", commitVariable + "=default":
			best = false
		case commitVariable + "=best_effort":
			best = true
		case atomicityVariable + "=off", atomicityVariable + "=default":
			reads = readOff
		case atomicityVariable + "=gate":
			reads = readAtGate
		case atomicityVariable + "=lock":
			reads = readLocking
		case atomicityVariable + "=validated":
			reads = readValidated
		default:
			return nil, true, sqlerr.WrongValueForVariable.New(ours, text)
		}
	}
	if !found {
		return nil, false, nil
	}
	s.bestEffort, s.reads, s.joins = best, reads, joins
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

// ownValue is the value of one of our variables, "" for no name of any.
func (s *Session) ownValue(name string) string {
	switch name {
	case commitVariable:
		if s.bestEffort {
			return "best_effort"
		}
		return "atomic"
	case atomicityVariable:
		return [...]string{readOff: "off", readAtGate: "gate", readValidated: "validated", readLocking: "lock"}[s.reads]
	case joinsVariable:
		return joinNames()[s.joins]
	}
	return ""
}

// ownVariable returns the one of our variables that is named, or "".
func ownVariable(name string) string {
	name = strings.ToLower(name)
	for _, scope := range []string{"@@session.", "@@local.", "@@"} {
		name = strings.TrimPrefix(name, scope)
	}
	switch name = strings.Trim(name, "`"); name {
	case commitVariable, atomicityVariable, joinsVariable:
		return name
	}
	return ""
}
