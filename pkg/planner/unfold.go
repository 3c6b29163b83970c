package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// unfolding is a statement whose common table expressions are read from more places than one. MySQL reads the body anew for each place, and
// refuses to read a temporary table more than once (1137). So a body that servers take over into the place that reads it is written out
// there, as a derived table, from the second place on, and has copies of its own. A body whose rows servers store is computed first, and stored
// once for each place.
type unfolding struct {
	b     *build
	ctes  []commonTable
	edits []unfoldEdit
	// refs are the table references of the new texts in order, by their places in the old one.
	refs  []sqlparse.TableRef
	texts []unfoldedText // those of the stored expressions in order, and the statement
	list  bool           // something in the select list is written anew
}

// commonTable is a common table expression of the statement.
type commonTable struct {
	sqlparse.CTE
	head      string // column names in parentheses, or ""
	recursive bool
	reads     int  // how often it is computed where it is not stored
	tables    bool // it reads tables
	stored    bool
	places    int // that read the stored rows
}

// unfoldEdit is a place that reads a table (ref) or a common table expression.
type unfoldEdit struct {
	sqlparse.Span
	ref sqlparse.TableRef
	cte int // position in ctes, or -1
}

// unfoldedText is a new text: that of the stored expression cte, or the statement (-1).
type unfoldedText struct {
	cte    int
	pieces []unfoldPiece
}

// unfoldPiece is a part of the old text, which names the table ref if that is not -1, or new text, or the stored rows for a place that reads the
// expression cte.
type unfoldPiece struct {
	span       sqlparse.Span
	ref        int
	cte, place int
	raw        string
}

// maxUnfolded bounds how often tables are read in the new text: no more copies can be made.
const maxUnfolded = maxCopies

// unfolded makes the unfolding of the statement, whose table references are refs. ok is false where two evaluations of an
// expression may differ, or its text is not known well enough.
func (b *build) unfolded(refs []sqlparse.TableRef) (u *unfolding, ok bool) {
	ctes, sure := b.st.CommonTables()
	if !sure || len(ctes) == 0 || b.a == nil && !ctes[0].Outermost || b.a != nil && b.a.assigns {
		return nil, false
	}
	u = &unfolding{b: b}
	for _, r := range refs {
		u.edits = append(u.edits, unfoldEdit{Span: r.Span, ref: r, cte: -1})
	}
	for i, c := range ctes {
		columns := strings.TrimSpace(string(b.st.SQL()[c.Head.End:c.Body.Start]))
		at := strings.LastIndex(columns, "(")
		columns = strings.TrimSpace(columns[:at])
		if len(columns) < 2 || !strings.EqualFold(columns[len(columns)-2:], "AS") {
			return nil, false
		}
		t := commonTable{CTE: c, head: strings.TrimSpace(columns[:len(columns)-2])}
		for _, ref := range c.Refs {
			if ref.Start < c.Head.Start {
				return nil, false // MariaDB's
			}
			t.recursive = t.recursive || inSpan(ref, c.Body)
			u.edits = append(u.edits, unfoldEdit{Span: ref, ref: sqlparse.TableRef{Name: c.Name, Span: ref}, cte: i})
		}
		u.ctes = append(u.ctes, t)
	}
	slices.SortFunc(u.edits, func(x, y unfoldEdit) int { return x.Start - y.Start })
	if !u.count() {
		return nil, false
	}
	list, _ := b.st.SelectList()
	for _, e := range u.edits {
		if !inSpan(e.Span, list) {
			continue
		}
		if u.list = true; b.st.NumParams() > 0 && !b.aliased(e.Span) {
			return nil, false // columns may be named by parameters
		}
	}
	for i := range u.ctes {
		if u.ctes[i].stored && !u.write(i) {
			return nil, false
		}
	}
	return u, u.write(-1)
}

// mayUnfold makes the unfolding of the statement, whose table references are refs, if it needs one.
func (w *worker) mayUnfold(refs []sqlparse.TableRef) bool {
	if w.twice {
		return false
	}
	u, ok := w.b.unfolded(refs)
	if !ok || !slices.ContainsFunc(u.ctes, func(c commonTable) bool { return c.reads != 1 && c.tables }) {
		return false
	}
	w.unfold = u
	return true
}

// moved are what belongs to the references of the new text, of what belongs to those of the old one.
func moved[T any](before []sqlparse.TableRef, of []T, refs []sqlparse.TableRef) (list []T) {
	for _, r := range refs {
		list = append(list, of[slices.Index(before, r)])
	}
	return list
}

// onlyOnce are instances without those that are there more than once: of these it is not sure which is meant.
func onlyOnce(list []*instance) (once []*instance) {
	for i, in := range list {
		if in != nil && (slices.Contains(list[:i], in) || slices.Contains(list[i+1:], in)) {
			in = nil
		}
		once = append(once, in)
	}
	return once
}

// with is the one WITH that the statement has; nil: it has none, or more, or nobody has read it.
func (b *build) with() (with *sqlparser.With) {
	var of sqlparser.SQLNode
	switch {
	case b.query != nil:
		of = b.query.stmt
	case b.mod != nil && b.mod.update != nil:
		of = b.mod.update
	case b.mod != nil && b.mod.del != nil:
		of = b.mod.del
	case b.ins != nil:
		of = b.ins.stmt.Rows
	default:
		return nil
	}
	found := 0
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if w, is := n.(*sqlparser.With); is {
			found++
			with = w
		}
		return true, nil
	}, of)
	if found != 1 {
		return nil
	}
	return with
}

// keptUnread is keptApart for the query of an expression in a statement that nobody has read. known: it may be stored.
func (b *build) keptUnread(body sqlparse.Span) (kept, known bool) {
	st, _, ok := b.scanPart(body)
	if !ok || textUses(st.Uses())&plan.WritesUserVariable != 0 {
		return true, false
	}
	tree, _, err := b.p.parser.Parse(st)
	stmt, is := tree.(sqlparser.TableStatement)
	if err != nil || !is {
		return true, st.NumParams() == 0 // a set operation that it cannot read
	}
	chance := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		f, is := n.(*sqlparser.FuncExpr)
		chance = chance || is && b.byChance(f)
		return true, nil
	}, stmt)
	return chance || keptApart(stmt), !(&build{st: st}).selectsParameter(stmt)
}

// standsAlone reports whether the query of a common table expression reads nothing of the queries around it.
func (b *build) standsAlone(body sqlparser.TableStatement) bool {
	i := slices.IndexFunc(b.a.written, func(q *query) bool { return q.stmt == body })
	if i < 0 {
		return false
	}
	first := b.a.written[i]
	for first.block == nil && len(first.parts) > 0 {
		first = first.parts[0]
	}
	return first.block != nil && b.a.closed(b.a.written[i], first.block.parent)
}

// ofChance reports whether a query in the statement may give other rows each time.
func (b *build) ofChance(body sqlparser.TableStatement) bool {
	return slices.ContainsFunc(b.a.written, func(q *query) bool { return q.stmt == body && b.a.chance(q) })
}

func inSpan(part, of sqlparse.Span) bool { return of.Start <= part.Start && part.End <= of.End }

// body is the expression in whose body a place is, or -1.
func (u *unfolding) body(at sqlparse.Span) int {
	return slices.IndexFunc(u.ctes, func(c commonTable) bool { return inSpan(at, c.Body) })
}

// count finds out how often each expression is read, and which are stored. It returns false where neither can be done.
func (u *unfolding) count() bool {
	with := u.b.with()
	if u.b.a != nil && (with == nil || len(with.CTEs) != len(u.ctes)) {
		return false
	}
	for i := range u.ctes { // an expression reads those before it
		u.ctes[i].tables = slices.ContainsFunc(u.edits, func(e unfoldEdit) bool {
			return inSpan(e.Span, u.ctes[i].Body) && (e.cte < 0 || e.cte != i && u.ctes[e.cte].tables)
		})
	}
	for i := range slices.Backward(u.ctes) {
		c := &u.ctes[i]
		for _, ref := range c.Refs {
			switch at := u.body(ref); {
			case at == i:
			case at < 0:
				c.reads++
			case u.ctes[at].stored:
				c.reads++
			default:
				c.reads += u.ctes[at].reads
			}
		}
		if c.reads > maxUnfolded {
			return false
		}
		if !c.tables || c.reads < 2 {
			continue
		}
		kept, known := false, false
		if with == nil {
			kept, known = u.b.keptUnread(c.Body)
		} else {
			body := with.CTEs[i].Subquery
			kept = keptApart(body) || u.b.ofChance(body)
			known = !u.b.selectsParameter(body) && (c.Outermost || u.b.standsAlone(body)) // the type of a parameter hangs on its value
		}
		if c.stored = kept || c.recursive || !repeatable(u.b.st, c.Body); c.stored && !known {
			return false
		}
	}
	return true
}

// keptApart reports whether a server stores the rows of a query where it is read, and does not take it over into the query around it.
func keptApart(stmt sqlparser.TableStatement) bool {
	s, ok := stmt.(*sqlparser.Select)
	if !ok || s.Distinct || s.GroupBy != nil || s.Having != nil || s.Limit != nil || len(s.From) == 0 {
		return true
	}
	found := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case *sqlparser.Subquery, *sqlparser.DerivedTable:
			return false, nil
		case sqlparser.AggrFunc, *sqlparser.OverClause:
			found = true
		}
		return !found, nil
	}, s.SelectExprs)
	return found
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

// named are the tables that the statement reads, as often as it does where nothing is stored, as far as names, by the references of the text, has them.
func (u *unfolding) named(names []*catalog.Table) (read []*catalog.Table) {
	reads := make([]int, len(u.ctes))
	for i := range slices.Backward(u.ctes) {
		for _, ref := range u.ctes[i].Refs {
			if at := u.body(ref); at < 0 {
				reads[i]++
			} else if at != i {
				reads[i] += reads[at]
			}
		}
	}
	n := 0
	for _, e := range u.edits {
		if e.cte >= 0 {
			continue
		}
		times := 1
		if at := u.body(e.Span); at >= 0 {
			times = reads[at]
		}
		for range times {
			read = append(read, names[n])
		}
		n++
	}
	return read
}

// write makes the text of the stored expression of, or that of the statement (-1). It returns false where tables are read too often.
func (u *unfolding) write(of int) bool {
	t := unfoldedText{cte: of}
	needed, taken := make([]bool, len(u.ctes)), make([]bool, len(u.ctes))
	first, last, sql := u.ctes[0], len(u.ctes)-1, len(u.b.st.SQL())
	end := u.ctes[last].Body.End
	if of < 0 {
		u.need(sqlparse.Span{Start: end, End: sql}, needed)
		t.write(u, 0, first.Head.Start, taken)
	} else {
		u.need(u.ctes[of].Body, needed)
		needed[of], last = true, of
		if t.raw("WITH "); wordBefore(u.b.st, first.Head.Start, "RECURSIVE") {
			t.raw("RECURSIVE ")
		}
	}
	at := first.Head.Start
	for i, c := range u.ctes[:last+1] {
		t.span(at, c.Body.Start)
		if needed[i] {
			t.write(u, c.Body.Start, c.Body.End, taken)
		} else {
			t.span(c.Body.Start, c.Body.End)
		}
		at = c.Body.End
	}
	if of < 0 {
		t.write(u, end, sql, taken)
	} else {
		t.raw(") SELECT * FROM " + sqltypes.QuoteName(u.ctes[of].Name))
	}
	u.texts = append(u.texts, t)
	return len(u.refs) <= maxUnfolded
}

// need finds the expressions that are read, in a part of the text or in what that reads, and are not stored.
func (u *unfolding) need(part sqlparse.Span, needed []bool) {
	for _, e := range u.edits {
		if e.cte >= 0 && inSpan(e.Span, part) && !u.ctes[e.cte].stored && !needed[e.cte] {
			needed[e.cte] = true
			u.need(u.ctes[e.cte].Body, needed)
		}
	}
}

func (t *unfoldedText) raw(text string) {
	t.pieces = append(t.pieces, unfoldPiece{ref: -1, cte: -1, raw: text})
}

func (t *unfoldedText) span(from, to int) {
	if from < to {
		t.pieces = append(t.pieces, unfoldPiece{span: sqlparse.Span{Start: from, End: to}, ref: -1, cte: -1})
	}
}

// write appends a part of the old text; taken tells which expressions have been read where they are defined.
func (t *unfoldedText) write(u *unfolding, from, to int, taken []bool) {
	at := from
	for _, x := range u.edits {
		if x.Start < from || x.End > to {
			continue
		}
		if x.cte < 0 {
			t.span(at, x.Start)
			t.pieces = append(t.pieces, unfoldPiece{span: x.Span, ref: len(u.refs), cte: -1})
			if at = x.End; len(u.refs) <= maxUnfolded {
				u.refs = append(u.refs, x.ref)
			}
			continue
		}
		c := &u.ctes[x.cte]
		if !c.stored && !taken[x.cte] || !c.tables || inSpan(x.Span, c.Body) {
			taken[x.cte] = true
			continue
		}
		alias, _ := aliasFor(u.b.st, x.ref)
		before, behind, enclosed := parentheses(u.b.st, x.ref)
		if enclosed {
			x.Start = before.Start
		}
		t.span(at, x.Start)
		if c.stored {
			t.pieces = append(t.pieces, unfoldPiece{ref: -1, cte: x.cte, place: c.places})
			c.places++
		} else {
			t.derived(u, c, taken)
		}
		t.raw(alias)
		if enclosed {
			t.span(x.End, behind.Start)
			x.End = behind.End
		}
		at = x.End
	}
	t.span(at, to)
}

// derived appends an expression that is written out.
func (t *unfoldedText) derived(u *unfolding, c *commonTable, taken []bool) {
	if c.head != "" {
		t.raw("(SELECT * FROM ")
	}
	t.raw("(")
	if len(u.refs) <= maxUnfolded {
		t.write(u, c.Body.Start, c.Body.End, taken)
	}
	t.raw(")")
	if c.head != "" {
		t.raw(" AS skarv_body " + c.head + ")")
	}
}

// plan puts the new texts into p, with tables renamed: Rename.Ref counts references of the new texts. The stored rows are in the database db, and what
// stands in the old text from end on is left out.
func (u *unfolding) plan(w *worker, p *plan.Workspace, db string, end int) {
	names := make([][]string, len(u.ctes))
	for i, c := range u.ctes {
		for range c.places {
			names[i] = append(names[i], w.freeName(db))
		}
	}
	write := func(renames []plan.Rename) (list []plan.Stored, main plan.Text) {
		renamed := map[int]string{}
		for _, r := range renames {
			renamed[r.Ref] = r.Text
		}
		for _, t := range u.texts {
			text := t.text(u, db, names, renamed, end)
			if t.cte < 0 {
				main = text
			} else {
				list = append(list, plan.Stored{Database: db, Names: names[t.cte], Text: text})
			}
		}
		return list, main
	}
	p.Stored, p.Text = write(p.Renames)
	if p.Own != nil {
		p.Own.Stored, p.Own.Text = write(p.Own.Renames)
		p.Own.Renames = nil
	}
	p.Renames = nil
}

// text is the new text with tables renamed, by numbers of references, and names for the stored rows in the database db.
func (t *unfoldedText) text(u *unfolding, db string, names [][]string, renamed map[int]string, end int) plan.Text {
	e := &editor{st: u.b.st}
	span := e.asWritten
	if u.list {
		span = e.span
	}
	for _, x := range t.pieces {
		switch text, ok := renamed[x.ref]; {
		case x.cte >= 0:
			// As on one server, it is stored before it is read: what is read by a condition is looked for there by a key made for it.
			e.raw("(SELECT * FROM " + sqltypes.QuoteIn(db, names[x.cte][x.place]) + plan.CopyEnd + ")")
		case ok:
			e.raw(text)
		case x.span.Start < min(x.span.End, end):
			span(x.span.Start, min(x.span.End, end))
		default:
			e.raw(x.raw)
		}
	}
	return e.done()
}
