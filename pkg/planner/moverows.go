package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/workspace"
)

// moveRows plans an UPDATE that assigns distribution columns.
func moveRows(b *build) (bool, error) {
	m := b.mod
	if m.update == nil {
		return false, nil
	}
	var moved *instance
	for _, in := range m.written {
		if readsClock(in.table) {
			b.plan.Uses |= plan.ReadsClock
		}
		for _, e := range m.update.Exprs {
			if n, ok := m.assigned(b, in, e); ok && in.table.Kind == catalog.Sharded && slices.Contains(in.table.Distribution, n) && !keepsValue(e.Name, e.Expr) {
				moved = in
			}
		}
	}
	if moved == nil {
		return false, nil
	}
	n, err := b.changeRows(moved)
	if err != nil {
		return false, err
	}
	b.plan.Root, b.done = n, true
	return true, nil
}

// assigned finds the column of in that e assigns, if it is one of in.
func (m *modification) assigned(b *build, in *instance, e *sqlparser.UpdateExpr) (column int, ok bool) {
	if !e.Name.Qualifier.IsEmpty() && !in.called(e.Name.Qualifier, b.a.lower) {
		return -1, false
	}
	column = in.table.Column(e.Name.Name.String())
	return column, column >= 0
}

// updateText is where the parts of an UPDATE of one table stand in its text.
type updateText struct {
	from   sqlparse.Span // table reference, with its alias
	set    int           // of SET
	values []sqlparse.Span
	where  sqlparse.Span // with its WHERE; empty if there is none
	order  []sqlparse.Span
	limit  sqlparse.Span
	ignore bool
}

// updateText cuts an UPDATE; ok is false if its text has another form than expected.
func (b *build) updateText() (t updateText, ok bool) {
	c, ok := b.scissors()
	if !ok {
		return t, false
	}
	toks := b.st.Tokens()
	begin, depth := -1, 0
	t.set = -1
	var prev sqlparse.Token
	for t.set < 0 {
		tok := toks.Next()
		switch {
		case tok.Kind == sqlparse.EOF || tok.Kind == sqlparse.Invalid:
			return t, false
		case tok.Kind == sqlparse.Op && b.st.Is(tok, "("):
			depth++
		case tok.Kind == sqlparse.Op && b.st.Is(tok, ")"):
			depth--
		case depth > 0:
		case begin < 0 && isWord(b.st, tok, "UPDATE"):
			begin = 0
		case begin == 0 && isWord(b.st, tok, "LOW_PRIORITY"):
		case begin == 0 && isWord(b.st, tok, "IGNORE"):
			t.ignore = true
		case begin == 0:
			begin = tok.Start
		case begin > 0 && isWord(b.st, tok, "SET"):
			t.from, t.set = sqlparse.Span{Start: begin, End: prev.End}, tok.Start
		}
		prev = tok
	}
	end := c.end
	for _, at := range []int{c.limit.Start, c.order, c.where} {
		if at > t.set {
			end = at
		}
	}
	t.values = assignments(b.st, t.set, end)
	if c.where > t.set {
		stop := c.end
		for _, at := range []int{c.limit.Start, c.order} {
			if at > c.where {
				stop = at
			}
		}
		t.where = sqlparse.Span{Start: c.where, End: stop}
	}
	if c.order > t.set {
		t.order = c.orderItems
	}
	t.limit = c.limit
	return t, len(t.values) == len(b.mod.update.Exprs)
}

// changeRows is the plan of an UPDATE whose rows are changed one by one, in being the only table it writes.
func (b *build) changeRows(in *instance) (*plan.ChangeRows, error) {
	m, t := b.mod, in.table
	refuse := func(what string) (*plan.ChangeRows, error) {
		return nil, sqlerr.Unsupported("UPDATE of the distribution column '"+t.Columns[t.Distribution[0]].Name+"' "+what,
			"select the rows first, then update them one by one by their keys")
	}
	text, ok := b.updateText()
	p := b.locate()
	switch {
	case len(m.scope.insts) != 1 || m.update.With != nil:
		return refuse("together with other tables")
	case !ok:
		return refuse("in a statement of this form")
	case p.sharded > 1 || len(p.singles) > 0 || b.a.whole != nil:
		return refuse("depending on tables that lie on other node groups")
	case b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable|plan.SetsLastInsertID) != 0:
		return refuse("together with RAND(), UUID() or variables that are assigned")
	}
	target := plan.Target{Kind: plan.AllGroups}
	key, one, located := keyOperands(in)
	if located {
		target = plan.Target{Kind: plan.ByKey, Table: t, Key: key}
	}
	if text.limit.End > 0 && !(located && one) {
		return refuse("with LIMIT over several node groups")
	}
	for _, c := range t.Primary {
		switch t.Columns[c].DataType {
		case "timestamp", "float", "double":
			return refuse("of a table with a primary key of type " + t.Columns[c].DataType)
		}
	}
	n := &plan.ChangeRows{Table: t, Ignore: text.ignore, Stay: b.staying(t)}
	r := &editor{st: b.st}
	r.raw("SELECT ")
	at := map[int]int{} // columns that are selected
	for i, c := range t.Primary {
		if i > 0 {
			r.raw(", ")
		}
		r.raw(workspace.Read(&t.Columns[c]))
		at[c] = i
	}
	next := len(t.Primary)
	for _, d := range t.Distribution {
		if columnClass(&t.Columns[d]).kind != numberClass && !b.sess.UTF8Results {
			return refuse("with results in another character set than UTF-8")
		}
		i := m.lastAssignment(b, in, d)
		if i < 0 {
			r.raw(", " + quoteName(t.Columns[d].Name))
		} else {
			if m.looksBack(b, in, i) {
				return refuse("by an expression that looks at a column assigned before it")
			}
			if !b.computable(m.update.Exprs[i].Expr) {
				return refuse("to DEFAULT")
			}
			r.raw(", (")
			r.span(text.values[i].Start, text.values[i].End)
			r.raw("\n)") // ends a comment
		}
		n.NewKey = append(n.NewKey, next)
		next++
	}
	if err := b.orderRows(n, in, text, r, next, at); err != nil {
		return nil, err
	}
	r.raw(" FROM ")
	r.span(text.from.Start, text.from.End)
	r.raw(" ")
	if text.where.End > 0 {
		r.span(text.where.Start, text.where.End)
	}
	if text.limit.End > 0 {
		c, _ := b.scissors()
		if c.order > 0 {
			r.span(c.order, text.limit.Start)
		}
		r.span(text.limit.Start, text.limit.End)
	}
	r.raw(" FOR UPDATE")
	n.Read = b.fragment(target)
	n.Read.Text = r.done()
	s := &editor{st: b.st}
	end := len(b.st.SQL())
	if l := len(text.values); l > 0 {
		end = text.values[l-1].End
	}
	s.span(0, end)
	n.Set = s.done()
	return n, nil
}

// lastAssignment is the number of the assignment that gives column its value, or -1.
func (m *modification) lastAssignment(b *build, in *instance, column int) int {
	for i := len(m.update.Exprs) - 1; i >= 0; i-- {
		if c, ok := m.assigned(b, in, m.update.Exprs[i]); ok && c == column {
			return i
		}
	}
	return -1
}

// looksBack reports whether assignment i reads a column that an earlier one has changed.
func (m *modification) looksBack(b *build, in *instance, i int) bool {
	found := false
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if name, ok := node.(*sqlparser.ColName); ok {
			c := in.table.Column(name.Name.String())
			for _, e := range m.update.Exprs[:i] {
				if earlier, ok := m.assigned(b, in, e); ok && earlier == c {
					found = true
				}
			}
		}
		return !found, nil
	}, m.update.Exprs[i].Expr)
	return found
}

// computable reports whether a SELECT can compute what an assignment assigns.
func (b *build) computable(e sqlparser.Expr) bool {
	_, isDefault := e.(*sqlparser.Default)
	return !isDefault
}

// orderRows adds what the rows are ordered by to the select list: ORDER BY, or the primary key.
func (b *build) orderRows(n *plan.ChangeRows, in *instance, text updateText, r *editor, next int, at map[int]int) error {
	t := in.table
	whole := func(c int) bool { return isWhole(&t.Columns[c]) }
	if len(text.order) == 0 {
		for _, c := range t.Primary {
			if !whole(c) {
				break
			}
			n.Order = append(n.Order, plan.Order{Column: at[c], Weight: -1})
		}
		return nil
	}
	for _, o := range b.mod.update.OrderBy {
		name, ok := o.Expr.(*sqlparser.ColName)
		c := -1
		if ok {
			c = t.Column(name.Name.String())
		}
		if c < 0 || !whole(c) {
			return sqlerr.Unsupported("UPDATE of a distribution column with ORDER BY of anything but columns of whole numbers",
				"update the rows one by one by their keys")
		}
		pos, selected := at[c]
		if !selected {
			r.raw(", " + workspace.Read(&t.Columns[c]))
			pos = next
			at[c] = next
			next++
		}
		n.Order = append(n.Order, plan.Order{Column: pos, Desc: o.Direction == sqlparser.DescOrder, Weight: -1})
	}
	return nil
}

func isWhole(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return true
	}
	return false
}

// staying is why rows of t may not move to another group, or nil: the rows that refer to them would have to move along.
func (b *build) staying(t *catalog.Table) *sqlerr.Error {
	for _, d := range b.snap.Databases {
		for _, child := range d.Tables {
			for i := range child.ForeignKeys {
				fk := &child.ForeignKeys[i]
				if fk.RefDB == t.Database && fk.RefTable == t.Name && (cascades(fk.OnDelete) || cascades(fk.OnUpdate)) {
					return sqlerr.Unsupported("UPDATE of the distribution column of table '"+t.Name+"', to which table '"+child.Name+
						"' refers with CASCADE or SET NULL, when the row moves to another node group", "insert the new row, update the rows that refer to it, then delete the old one")
				}
			}
		}
	}
	return nil
}

// cascades reports whether a rule of a foreign key changes rows instead of refusing.
func cascades(rule string) bool { return rule != "" && rule != "RESTRICT" && rule != "NO ACTION" }
