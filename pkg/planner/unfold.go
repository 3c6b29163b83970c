package planner

import (
	"slices"
	"strings"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// unfolding is a statement whose common table expressions are written once for each place that reads them, as derived
// tables from the second place on. MySQL reads the body anew for each place, and refuses to read a temporary table more
// than once (1137); written out, each place has copies of its own.
type unfolding struct {
	b     *build
	ctes  []sqlparse.CTE
	heads []string // column names in parentheses, or ""
	edits []unfoldEdit
	// refs are the table references of the new text in order, by their places in the old one.
	refs []sqlparse.TableRef
	list bool // something in the select list is written anew
}

// unfoldEdit is a place that reads a table (ref) or a common table expression.
type unfoldEdit struct {
	sqlparse.Span
	ref sqlparse.TableRef
	cte int // position in ctes, or -1
}

// maxUnfolded bounds how often tables are read in the new text: no more copies can be made.
const maxUnfolded = maxCopies

// unfolded makes the unfolding of the statement, whose table references are refs. ok is false where two evaluations of an
// expression may differ, or its text is not known well enough.
func (b *build) unfolded(refs []sqlparse.TableRef) (u *unfolding, ok bool) {
	ctes, sure := b.st.CommonTables()
	if !sure || len(ctes) == 0 || b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable) != 0 {
		return nil, false
	}
	u = &unfolding{b: b, ctes: ctes}
	for _, r := range refs {
		u.edits = append(u.edits, unfoldEdit{Span: r.Span, ref: r, cte: -1})
	}
	for i, c := range ctes {
		if len(c.Refs) > 1 && !repeatable(b.st, c.Body) {
			return nil, false
		}
		columns := strings.TrimSpace(string(b.st.SQL()[c.Head.End:c.Body.Start]))
		at := strings.LastIndex(columns, "(")
		columns = strings.TrimSpace(columns[:at])
		if len(columns) < 2 || !strings.EqualFold(columns[len(columns)-2:], "AS") {
			return nil, false
		}
		u.heads = append(u.heads, strings.TrimSpace(columns[:len(columns)-2]))
		for _, ref := range c.Refs {
			if ref.Start >= c.Body.Start && ref.End <= c.Body.End {
				return nil, false // recursive
			}
			u.edits = append(u.edits, unfoldEdit{Span: ref, ref: sqlparse.TableRef{Name: c.Name, Span: ref}, cte: i})
		}
	}
	slices.SortFunc(u.edits, func(x, y unfoldEdit) int { return x.Start - y.Start })
	list, _ := b.st.SelectList()
	for _, e := range u.edits {
		u.list = u.list || e.Start >= list.Start && e.End <= list.End
	}
	if u.list && b.st.NumParams() > 0 {
		return nil, false // columns may be named by parameters
	}
	return u, u.walk(0, len(b.st.SQL()), make([]bool, len(ctes)))
}

// repeatable reports whether evaluating the query in a part of the text twice gives the same rows. Windows do where rows
// that are ordered alike get the same value, which those do not that count rows.
func repeatable(st *sqlparse.Statement, body sqlparse.Span) bool {
	toks := st.TokensFrom(body.Start)
	for t := toks.Next(); t.Kind != sqlparse.EOF && t.Start < body.End; t = toks.Next() {
		for _, w := range [...]string{
			"LIMIT", "GROUP_CONCAT", "JSON_ARRAYAGG", "JSON_OBJECTAGG", "ST_COLLECT", "ANY_VALUE",
			"ROWS", "ROW_NUMBER", "NTILE", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE",
		} {
			if t.Kind == sqlparse.Word && st.Is(t, w) {
				return false
			}
		}
	}
	return true
}

// walk finds the references of the new text of a part of the old one; used tells which expressions have been read.
func (u *unfolding) walk(from, to int, used []bool) bool {
	for _, e := range u.edits {
		switch {
		case e.Start < from || e.End > to:
		case e.cte < 0:
			u.refs = append(u.refs, e.ref)
		case !used[e.cte]:
			used[e.cte] = true
		default:
			c := u.ctes[e.cte]
			if !u.walk(c.Body.Start, c.Body.End, used) {
				return false
			}
		}
		if len(u.refs) > maxUnfolded {
			return false
		}
	}
	return true
}

// text is the new text with tables renamed: Rename.Ref counts references of the new text.
func (u *unfolding) text(renames []plan.Rename) plan.Text {
	e := &editor{st: u.b.st}
	n := 0
	used := make([]bool, len(u.ctes))
	span := e.asWritten
	if u.list {
		span = e.span
	}
	var write func(from, to int)
	write = func(from, to int) {
		at := from
		for _, x := range u.edits {
			if x.Start < from || x.End > to {
				continue
			}
			switch {
			case x.cte < 0:
				i := slices.IndexFunc(renames, func(r plan.Rename) bool { return r.Ref == n })
				if n++; i < 0 {
					continue
				}
				span(at, x.Start)
				e.raw(renames[i].Text)
			case !used[x.cte]:
				used[x.cte] = true
				continue
			default:
				c := u.ctes[x.cte]
				alias, _ := aliasFor(u.b.st, x.ref)
				before, behind, enclosed := parentheses(u.b.st, x.ref)
				if enclosed {
					x.Start = before.Start
				}
				span(at, x.Start)
				if u.heads[x.cte] != "" {
					e.raw("(SELECT * FROM ")
				}
				e.raw("(")
				write(c.Body.Start, c.Body.End)
				e.raw(")")
				if h := u.heads[x.cte]; h != "" {
					e.raw(" AS skarv_body " + h + ")")
				}
				e.raw(alias)
				if enclosed {
					span(x.End, behind.Start)
					x.End = behind.End
				}
			}
			at = x.End
		}
		span(at, to)
	}
	write(0, len(u.b.st.SQL()))
	return e.done()
}
