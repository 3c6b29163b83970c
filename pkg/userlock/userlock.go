// Package userlock is user-level locks as statements speak of them: the calls of GET_LOCK() and its family, which locks a session may have by them,
// and how IS_USED_LOCK() tells of a session of the cluster in the place of a server's connection. It knows text; which server has the locks, and by
// which connection, it does not.
package userlock

import (
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/substitution"
)

// Call is one call of a function of user-level locks.
type Call struct {
	sqlparse.Span
	function string
	name     string // the literal that it is called with
	literal  bool
}

// Calls finds the calls in a statement.
func Calls(st *sqlparse.Statement) (list []Call) {
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind != sqlparse.Word {
			continue
		}
		name := strings.ToLower(string(st.Text(tok.Span)))
		switch name {
		case "get_lock", "release_lock", "is_free_lock", "is_used_lock", "release_all_locks":
		default:
			continue
		}
		ahead := tokens
		if !st.Is(ahead.Next(), "(") {
			continue
		}
		call := Call{function: name, Span: tok.Span}
		arg := ahead.Next()
		end := ahead
		if next := end.Next(); arg.Kind == sqlparse.StringLit && (st.Is(next, ",") || st.Is(next, ")")) {
			call.name, call.literal = string(st.AppendName(nil, arg)), true // which of them are one a server knows
		}
		for inside := true; inside && arg.Kind != sqlparse.EOF; arg = ahead.Next() {
			inside = arg.Depth > tok.Depth
			call.End = arg.End
		}
		list = append(list, call)
	}
	return list
}

// AskOwner reports whether one of calls tells who has a lock.
func AskOwner(calls []Call) bool {
	return slices.ContainsFunc(calls, func(c Call) bool { return c.function == "is_used_lock" })
}

// Owner is a session of the cluster that has locks by a connection to their server.
type Owner struct{ Thread, Session uint32 }

// Text is the text of a statement with the ids of owners in the places of what IS_USED_LOCK() tells, the ids of connections. appendPart writes the
// statement's own parts: see substitution.Filled.
func Text(st *sqlparse.Statement, calls []Call, owners []Owner, appendPart func(dst []byte, part sqlparse.Span) []byte) []byte {
	w := writer{owners, appendPart, st.Dialect().MariaDB()}
	var edits []substitution.Edit
	asking := slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return c.function != "is_used_lock" })
	for len(asking) > 0 {
		c, inside := asking[0], within(asking)
		edits = append(edits, substitution.Edit{Span: c.Span, Value: substitution.Value{Text: w.owner(c, inside)}})
		asking = asking[1+len(inside):]
	}
	return substitution.Filled(st, edits, appendPart)
}

// within are those behind the first of calls that stand in its arguments.
func within(calls []Call) []Call {
	n := 1
	for n < len(calls) && calls[n].Start < calls[0].End {
		n++
	}
	return calls[1:n]
}

// writer writes what stands in the place of calls of IS_USED_LOCK().
type writer struct {
	owners     []Owner
	appendPart func(dst []byte, part sqlparse.Span) []byte
	mariadb    bool
}

// owner is an expression for the session that has the lock which c is about; inside are the calls in c's arguments.
func (w *writer) owner(c Call, inside []Call) string {
	var sql []byte
	if !w.mariadb {
		sql = append(sql, "CAST"...)
	}
	sql = append(sql, "(CASE "...)
	at := c.Start
	for len(inside) > 0 {
		inner, deeper := inside[0], within(inside)
		sql = append(w.appendPart(sql, sqlparse.Span{Start: at, End: inner.Start}), w.owner(inner, deeper)...)
		at, inside = inner.End, inside[1+len(deeper):]
	}
	sql = w.appendPart(sql, sqlparse.Span{Start: at, End: c.End})
	for _, o := range w.owners {
		sql = append(sql, " WHEN "+utoa(o.Thread)+" THEN "+utoa(o.Session)...)
	}
	sql = append(sql, " WHEN 0 THEN 100000000 END"...) // never; for the type's sake
	if !w.mariadb {
		sql = append(sql, " AS UNSIGNED"...)
	}
	return string(append(sql, ')'))
}

func utoa(v uint32) string { return strconv.FormatUint(uint64(v), 10) }

// Held is what is known of the locks of a session. The zero value is that of one that has none.
type Held struct {
	names   map[string]bool // literals that GET_LOCK() was called with
	unknown bool            // it was called with something else
}

// Note notes that calls are made. They may take locks even if their statement fails.
func (h *Held) Note(calls []Call) {
	for i := range calls {
		switch c := &calls[i]; {
		case c.function != "get_lock":
		case !c.literal:
			h.unknown = true
		case h.names == nil:
			h.names = map[string]bool{c.name: true}
		default:
			h.names[c.name] = true
		}
	}
}

// Left is what may be left of a session's locks.
type Left uint8

const (
	None  Left = iota
	Some       // as far as anybody can tell
	Asked      // the locks' server tells: see Count
)

// Behind tells what is left behind a statement with calls, which were noted.
func (h *Held) Behind(calls []Call) Left {
	released := slices.ContainsFunc(calls, func(c Call) bool { return c.function == "release_lock" || c.function == "release_all_locks" })
	switch {
	case !h.unknown && len(h.names) == 0:
		return None
	case !released:
		return Some
	case !h.unknown:
		return Asked
	case len(calls) == 1 && calls[0].function == "release_all_locks":
		return None
	}
	return Some
}

// Count is a SELECT of how many of the locks the connection of a number has. noEscapes: sql_mode has NO_BACKSLASH_ESCAPES.
func (h *Held) Count(thread uint32, noEscapes bool) string {
	var sql strings.Builder
	sql.WriteString("SELECT COALESCE(SUM(x), 0) FROM (SELECT ")
	first := true
	for name := range h.names {
		if !first {
			sql.WriteString(" UNION ALL SELECT ")
		}
		first = false
		sql.WriteString("IS_USED_LOCK(" + sqltypes.Quoted(name, noEscapes) + ") <=> " + utoa(thread) + " AS x")
	}
	return sql.String() + ") y"
}
