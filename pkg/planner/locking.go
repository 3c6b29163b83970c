package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// lockClause is FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE of the outermost SELECT.
type lockClause struct {
	text string   // without OF
	of   []string // names of FROM; empty: all
}

// lockClauses finds them; ok is false if there are others further inside.
func lockClauses(st *sqlparse.Statement) (list []lockClause, ok bool) {
	var cur *lockClause
	inOf, depth := false, 0
	var prev sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF:
			return list, true
		case t.Kind == sqlparse.Invalid:
			return nil, false
		case t.Kind == sqlparse.Op && st.Is(t, "("):
			depth++
		case t.Kind == sqlparse.Op && st.Is(t, ")"):
			depth--
		case isWord(st, t, "UPDATE") && isWord(st, prev, "FOR"), isWord(st, t, "SHARE") && isWord(st, prev, "FOR"), isWord(st, t, "LOCK"):
			if depth > 0 {
				return nil, false
			}
			list = append(list, lockClause{text: "FOR " + lowerText(st, t)})
			cur, inOf = &list[len(list)-1], false
			if isWord(st, t, "LOCK") {
				cur.text = "LOCK"
			}
		case cur == nil:
		case isWord(st, t, "FOR"), isWord(st, t, "INTO"):
			cur = nil
		case isWord(st, t, "OF"):
			inOf = true
		case inOf && (isWord(st, t, "NOWAIT") || isWord(st, t, "SKIP")):
			inOf = false
			cur.text += " " + lowerText(st, t)
		case inOf && t.Kind == sqlparse.Op:
		case inOf:
			cur.of = append(cur.of, string(st.AppendName(nil, t)))
		default:
			cur.text += " " + lowerText(st, t)
		}
		prev = t
	}
}

// locking finds the clause by which the rows of each table of the outermost FROM are locked where they come from; ok is false
// if it cannot be told for one of them.
func (b *build) locking() (locks map[*catalog.Table]string, ok bool) {
	clauses, ok := lockClauses(b.st)
	if !ok || b.query == nil || b.query.block == nil || len(clauses) == 0 {
		return nil, false
	}
	locks = map[*catalog.Table]string{}
	for _, in := range b.query.block.insts {
		if in.table == nil {
			if in.sub == nil || in.opaque {
				return nil, false
			}
			continue // what is inside a derived table is not locked
		}
		for _, c := range clauses {
			if len(c.of) > 0 && !slices.ContainsFunc(c.of, func(n string) bool { return sameName(n, in.name, b.a.lower) }) {
				continue
			}
			if have, twice := locks[in.table]; twice && have != c.text {
				return nil, false
			}
			locks[in.table] = c.text
		}
	}
	for _, in := range b.a.insts {
		if in.inView {
			return nil, false
		}
	}
	for t, text := range locks {
		n := 0
		for _, in := range b.a.insts {
			if in.table == t {
				n++
			}
		}
		if n > 1 && strings.Contains(text, "skip") {
			return nil, false // what is read elsewhere is not skipped
		}
	}
	return locks, true
}
