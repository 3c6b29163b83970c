package planner

import (
	"slices"
	"strings"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// waysWithoutTreeRules is waysRules for a statement that the parser has no tree for.
func waysWithoutTreeRules() []Rule {
	return []Rule{
		{"PushParts", `The SELECTs that INTERSECT, EXCEPT and UNION join at the top of a statement are statements of their own: what the rules
for SELECT find for each of them is a scatter and merge whose rows are its rows. So these rows are copied instead of the tables, and the
statement joins the copies. The columns of the result have types made of those of the parts: it must not fire for anything
but plain columns, whose types copies have, nor for columns whose equal values may differ, of which a server takes the first (strings with a
collation, DOUBLE), for two of one name, and for parts that are not SELECTs without parentheses.`, pushParts},
	}
}

// maxParts bounds the parts that are copied.
const maxParts = 8

// pushParts: see its rule's Doc.
func pushParts(b *build) (fired bool, err error) {
	parts, ok := setParts(b.st)
	if !ok || len(parts) > maxParts || !b.sess.UTF8Results {
		return false, nil
	}
	p := &plan.Workspace{}
	e := &editor{st: b.st}
	at := 0
	for i, span := range parts {
		query := b.setPart(span)
		if query == nil {
			return false, nil
		}
		plan.Fragments(query.Root)[0].ID = i + 1
		t := b.madeUp(query, i+1)
		p.Copies = append(p.Copies, plan.Copy{Table: t, Query: query})
		e.span(at, span.Start)
		e.raw("SELECT * FROM " + t.SQL())
		at = span.End
	}
	e.span(at, len(b.st.SQL()))
	p.Text = e.done()
	list, _ := b.st.SelectList()
	b.guard(plan.ArgSelectList, string(b.st.Text(list))) // the columns are named by it
	b.choice.Queries = p
	return true, nil
}

// setPart plans the SELECT in a part of the text; nil if its rows cannot be copied.
func (b *build) setPart(span sqlparse.Span) *plan.Query {
	st, args, ok := b.scanPart(span)
	if !ok {
		return nil
	}
	n, planned := b.inside(st)
	if !planned || !b.guardAs(n, args) || !n.query.known {
		return nil
	}
	var names []string
	for _, c := range n.query.columns {
		if !c.ref.ok() || !shownWhole(c.ref.column()) || !alike(c.ref.column()) && columnClass(c.ref.column()).kind != bytesClass || slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, c.name) }) {
			return nil
		}
		names = append(names, c.name)
	}
	return n.found(mover{args: args, st: st})
}

// setParts are the texts of the SELECTs that set operations join at the top of a statement, without the ORDER BY and LIMIT behind the
// last one.
func setParts(st *sqlparse.Statement) (parts []sqlparse.Span, ok bool) {
	var prev sqlparse.Token
	open, ended := false, false // a SELECT has begun; the last one has ended
	for toks := st.Tokens(); ; {
		t := toks.Next()
		top := t.Depth == 0 && t.Kind == sqlparse.Word
		set := top && (st.Is(t, "UNION") || st.Is(t, "EXCEPT") || st.Is(t, "INTERSECT"))
		last := t.Kind == sqlparse.EOF || top && (st.Is(t, "ORDER") || st.Is(t, "LIMIT"))
		switch {
		case t.Kind == sqlparse.Invalid, set && !open, top && (st.Is(t, "FOR") || st.Is(t, "LOCK") || st.Is(t, "INTO") || st.Is(t, "PROCEDURE")):
			return nil, false
		case set || last && open:
			parts[len(parts)-1].End = prev.End
			open, ended = false, last
		case !open && !ended && top && (st.Is(t, "ALL") || st.Is(t, "DISTINCT")):
		case !open && !ended && !top:
			return nil, false // parentheses
		case !open && !ended:
			if !st.Is(t, "SELECT") {
				return nil, false
			}
			parts, open = append(parts, sqlparse.Span{Start: t.Start}), true
		}
		if t.Kind == sqlparse.EOF {
			return parts, len(parts) > 1 && t.Depth == 0
		}
		prev = t
	}
}
