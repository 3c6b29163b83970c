package variable

import (
	"slices"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// The session variables that no server knows.
const (
	// Commit says how transactions over several node groups are committed. "atomic", the default: all groups or
	// none, whatever dies. "best_effort": one group after the other, which is faster, and a failure in between leaves the
	// transaction half done.
	Commit = "skarv_commit"
	// ReadAtomicity says what those who read see of transactions over several node groups that are being committed.
	// "off", the default: one group may show it already, and another not yet, for milliseconds. "gate": all groups are read
	// as of one moment, for which all commits of the cluster are held for a moment. "validated": nobody is held; snapshots are taken
	// anew if such a transaction was being committed at that time, and at the gate if that happens again and again. "lock": what
	// is read stays locked until the transaction ends, as with SERIALIZABLE, so that it can be before or after another one only.
	ReadAtomicity = "skarv_read_atomicity"
	// Joins says how queries are run whose tables do not lie together. "auto", the default: as is expected to be
	// cheapest, by the sizes of the tables. "workspace": over copies in one place. "broadcast": by bringing all but one table
	// to where that one is, if there is such a way. "first": over the first rows of a table, if the query has a LIMIT.
	// "queries": with the rows of derived tables and the like instead of their tables, where that can be.
	Joins = "skarv_joins"
	// ReadFrom says where SELECTs outside of transactions read. "primary", the default. "replica": from a replica of each node group, if there is
	// one that is not far behind and has all that the session has written.
	ReadFrom = "skarv_read_from"
)

// Reads is a value of ReadAtomicity.
type Reads uint8

const (
	ReadOff Reads = iota
	ReadAtGate
	ReadValidated
	ReadLocking
)

// Snapshots reports whether all that a transaction reads is as of one moment, or as if it were.
func (r Reads) Snapshots() bool { return r == ReadAtGate || r == ReadValidated }

// Isolation is the SET TRANSACTION statement for a transaction's branches, given the client's own, which may be empty. Servers
// lock all that transactions read with SERIALIZABLE. Locks are kept until the transaction ends on every group, or at least until
// it asks for no more of them (MariaDB gives shared ones back at XA PREPARE): whoever reads a row that another transaction
// has written waits until that one has ended on the row's group, and it then has been decided for all groups.
func (r Reads) Isolation(client string) string {
	if r != ReadLocking {
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

// Ways is a value of Joins.
type Ways uint8

const (
	JoinAuto Ways = iota
	JoinWorkspace
	JoinBroadcast
	JoinFirst
	JoinQueries
)

// joinNames are the names of the values, in their order.
func joinNames() []string { return []string{"auto", "workspace", "broadcast", "first", "queries"} }

// joinsByName finds the value that text names.
func joinsByName(text string) (j Ways, ok bool) {
	i := slices.Index(joinNames(), text)
	if text == "default" {
		i = 0
	}
	return Ways(max(i, 0)), i >= 0
}

// Own are the session's values of the variables that no server knows.
type Own struct {
	BestEffort bool // Commit is best_effort
	Reads      Reads
	Joins      Ways
	Replicas   bool // ReadFrom is replica
}

// Set carries out [SESSION] variable = value for our own variables among the assignments of stmt, a SET, behind whose first word tokens are.
// rest is the SET without them, empty when nothing else is assigned; found is false when there is none of them. Nothing is set if there is an
// error.
func (o *Own) Set(stmt *sqlparse.Statement, tokens sqlparse.Tokens) (rest []byte, found bool, err error) {
	sql := stmt.SQL()
	to := *o
	var kept [][]byte
	for more := true; more; {
		tok := tokens.Next()
		start, end := tok.Start, tok.End
		if stmt.Is(tok, "SESSION") || stmt.Is(tok, "LOCAL") {
			tok = tokens.Next()
		}
		ours := OwnName(string(stmt.Text(tok.Span)))
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
		if ours == Joins {
			var ok bool
			if to.Joins, ok = joinsByName(text); !ok {
				return nil, true, sqlerr.WrongValueForVariable.New(ours, text)
			}
			continue
		}
		switch ours + "=" + text {
		case Commit + "=atomic", Commit + "=default":
			to.BestEffort = false
		case Commit + "=best_effort":
			to.BestEffort = true
		case ReadFrom + "=primary", ReadFrom + "=default":
			to.Replicas = false
		case ReadFrom + "=replica":
			to.Replicas = true
		case ReadAtomicity + "=off", ReadAtomicity + "=default":
			to.Reads = ReadOff
		case ReadAtomicity + "=gate":
			to.Reads = ReadAtGate
		case ReadAtomicity + "=lock":
			to.Reads = ReadLocking
		case ReadAtomicity + "=validated":
			to.Reads = ReadValidated
		default:
			return nil, true, sqlerr.WrongValueForVariable.New(ours, text)
		}
	}
	if !found {
		return nil, false, nil
	}
	*o = to
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

// Value is the value of one of our variables, "" for no name of any.
func (o *Own) Value(name string) string {
	switch name {
	case Commit:
		if o.BestEffort {
			return "best_effort"
		}
		return "atomic"
	case ReadAtomicity:
		return [...]string{ReadOff: "off", ReadAtGate: "gate", ReadValidated: "validated", ReadLocking: "lock"}[o.Reads]
	case Joins:
		return joinNames()[o.Joins]
	case ReadFrom:
		if o.Replicas {
			return "replica"
		}
		return "primary"
	}
	return ""
}

// OwnName returns the one of our variables that is named, or "".
func OwnName(name string) string {
	name = strings.ToLower(name)
	for _, scope := range []string{"@@session.", "@@local.", "@@"} {
		name = strings.TrimPrefix(name, scope)
	}
	switch name = strings.Trim(name, "`"); name {
	case Commit, ReadAtomicity, Joins, ReadFrom:
		return name
	}
	return ""
}
