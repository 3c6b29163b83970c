package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// moveRows plans an UPDATE that assigns distribution columns, or a change of rows that have entries in global indexes.
func moveRows(b *build) (bool, error) {
	m := b.mod
	var one *instance
	var indexes []*catalog.GlobalIndex
	moves := false
	for _, in := range m.written {
		if m.update != nil && (readsClock(in.table) || in.table.FiresVolatile("UPDATE")) || m.update == nil && in.table.FiresVolatile("DELETE") {
			b.plan.Uses |= plan.ReadsClock
		}
		touched := m.indexes(b, in)
		if len(touched) > 0 {
			one, indexes = in, touched
		}
		if m.foreign(b, in) {
			one = in
		}
		if m.update == nil {
			continue
		}
		for _, c := range in.table.Distribution {
			if in.table.Kind != catalog.Sharded || !m.changes(b, in, c) {
				continue
			}
			if one, moves = in, true; m.lastAssignment(b, in, c) < 0 {
				name := in.table.Columns[c].Name
				return false, sqlerr.Unsupported("UPDATE of table '"+in.table.Name+"', whose distribution column '"+name+"' servers set by ON UPDATE CURRENT_TIMESTAMP",
					"assign that column, too, if only as it is: "+name+" = "+name)
			}
		}
	}
	if one == nil {
		return m.byIndex(b)
	}
	n, err := b.changeRows(one, indexes, moves)
	if err != nil {
		return false, err
	}
	b.plan.Root, b.done = n, true
	return true, nil
}

// foreign reports whether the statement changes something that foreign keys speak of which servers cannot enforce.
func (m *modification) foreign(b *build, in *instance) bool {
	if b.sess.Unchecked {
		return false
	}
	parents, children, own := b.snap.Relations(in.table)
	switch {
	case !own:
		return false
	case m.update == nil:
		return len(children) > 0
	}
	watched := catalog.WatchedColumns(&catalog.Table{}, parents, children)
	return slices.ContainsFunc(slices.Concat(watched, b.snap.CheckedColumns(in.table, parents)), func(c int) bool { return m.changes(b, in, c) })
}

// byIndex plans a change of the row that a global index leads to: the entry is locked, then the row is changed by its key.
func (m *modification) byIndex(b *build) (bool, error) {
	if len(m.written) != 1 || len(m.scope.insts) != 1 || m.written[0].table.Kind != catalog.Sharded {
		return false, nil
	}
	in := m.written[0]
	if _, _, located := keyOperands(in); located {
		return false, nil
	}
	if _, ok := indexTarget(in); !ok {
		return false, nil
	}
	n, err := b.changeRows(in, nil, false)
	if err != nil {
		return false, nil // in the ordinary way
	}
	b.plan.Root, b.done = n, true
	return true, nil
}

// indexes are the global indexes whose entries change with the rows of in.
func (m *modification) indexes(b *build, in *instance) (out []*catalog.GlobalIndex) {
	for _, x := range in.table.Global {
		if m.update == nil || slices.ContainsFunc(slices.Concat(x.Made(), in.table.Distribution), func(c int) bool { return m.changes(b, in, c) }) {
			out = append(out, x)
		}
	}
	return out
}

// changes reports whether an UPDATE may give column c of in another value: it assigns it, or servers do so, in a row that changes or by a trigger.
func (m *modification) changes(b *build, in *instance, c int) bool {
	return in.table.TriggerSets("UPDATE", c) || givesAnother(m.update.Exprs, &in.table.Columns[c], func(e *sqlparser.UpdateExpr) bool {
		n, ok := m.assigned(b, in, e)
		return ok && n == c
	}, keepsOwn)
}

// assigned finds the column of in that e assigns, if it is one of in.
func (m *modification) assigned(b *build, in *instance, e *sqlparser.UpdateExpr) (column int, ok bool) {
	if !e.Name.Qualifier.IsEmpty() && !in.called(e.Name.Qualifier, b.a.lower) {
		return -1, false
	}
	column = in.table.Column(e.Name.Name.String())
	return column, column >= 0
}

// modifyText is where the parts of an UPDATE or DELETE of one table stand in its text.
type modifyText struct {
	from   sqlparse.Span // table reference, with its alias
	set    int           // of SET
	values []sqlparse.Span
	where  sqlparse.Span // with its WHERE; empty if there is none
	order  []sqlparse.Span
	limit  sqlparse.Span
	ignore bool
}

// modifyText cuts an UPDATE or DELETE; ok is false if its text has another form than expected.
func (b *build) modifyText() (t modifyText, ok bool) {
	c, ok := b.clauses()
	if !ok {
		return t, false
	}
	if b.mod.update == nil {
		return b.deleteText(c)
	}
	toks := b.st.Tokens()
	begin := -1
	t.set = -1
	var prev sqlparse.Token
	for t.set < 0 {
		tok := toks.Next()
		switch {
		case tok.Kind == sqlparse.EOF || tok.Kind == sqlparse.Invalid:
			return t, false
		case tok.Depth > 0 || tok.Kind == sqlparse.Op:
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
	end := c.End
	for _, at := range []int{c.Limit.Start, c.Order, c.Where} {
		if at > t.set {
			end = at
		}
	}
	t.values = assignments(b.st, t.set, end)
	t.rest(c)
	return t, len(t.values) == len(b.mod.update.Exprs)
}

// rest finds what stands behind the tables and values.
func (t *modifyText) rest(c sqlparse.Clauses) {
	if c.Where >= 0 {
		stop := c.End
		for _, at := range []int{c.Limit.Start, c.Order} {
			if at > c.Where {
				stop = at
			}
		}
		t.where = sqlparse.Span{Start: c.Where, End: stop}
	}
	if c.Order >= 0 {
		t.order = c.OrderItems
	}
	t.limit = c.Limit
}

// deleteText is modifyText for DELETE FROM t.
func (b *build) deleteText(c sqlparse.Clauses) (t modifyText, ok bool) {
	toks := b.st.TokensFrom(c.From)
	from := toks.Next()
	if !isWord(b.st, from, "FROM") {
		return t, false
	}
	t.rest(c)
	end := c.End
	for _, at := range []int{c.Limit.Start, c.Order, c.Where} {
		if at > c.From {
			end = at
		}
	}
	t.from = sqlparse.Span{Start: from.End, End: end}
	before := b.st.Tokens()
	for tok := before.Next(); tok.Kind != sqlparse.EOF && tok.Start < c.From; tok = before.Next() {
		t.ignore = t.ignore || isWord(b.st, tok, "IGNORE")
	}
	return t, true
}

// changeRows is the plan of a statement whose rows are changed one by one, in being the only table it writes.
func (b *build) changeRows(in *instance, indexes []*catalog.GlobalIndex, moves bool) (*plan.ChangeRows, error) {
	m, t := b.mod, in.table
	if t.Kind != catalog.Sharded { // a cascade from a reference table to rows that have entries, or that others refer to
		return nil, sqlerr.Unsupported("changing rows of table '"+t.Name+"', to which foreign keys with CASCADE or SET NULL refer whose rows servers cannot change alone",
			"change the rows that refer to it first, or use RESTRICT")
	}
	subject := "UPDATE of the distribution column '" + t.Columns[t.Distribution[0]].Name + "' "
	if len(indexes) > 0 {
		subject = "changing rows that UNIQUE KEY '" + indexes[0].Name + "', which does not contain the distribution key, holds, "
	}
	refuse := func(what string) (*plan.ChangeRows, error) {
		return nil, sqlerr.Unsupported(subject+what, "select the rows first, then change them by their keys")
	}
	own := m.foreign(b, in) || moves && b.owns(t)
	if own && len(indexes) == 0 {
		subject = "changing what foreign keys of table '" + t.Name + "' speak of, whose rows lie on other node groups, "
	}
	text, ok := b.modifyText()
	if why := b.rowsApart(in, &text, ok, moves, len(indexes) > 0 || own); why != "" {
		return refuse(why)
	}
	target, one, alone := foundBy(in)
	if why := b.rowsUnordered(t, &text, one); why != "" {
		return refuse(why)
	}
	n := &plan.ChangeRows{Table: t, Ignore: text.ignore, Stay: b.staying(t), Indexes: indexes, Delete: m.del != nil, Own: own, Renew: moves && t.HasFulltext(), Finds: b.findsFirst(in)}
	if own {
		n.Stay = nil
	}
	for _, f := range in.usable {
		if !f.b.ok() && f.a.inst == in && f.a.column().DataType == "bit" && indexed(t, f.a.col) {
			n.Bits = append(n.Bits, f.op)
		}
	}
	if n.Renew {
		b.plan.Uses |= plan.MovesMatched
	}
	s := &selecting{b: b, n: n, in: in, text: text, at: map[int]int{}}
	if s.shared, ok = b.st.SharedReads(b.lockable); !ok {
		return refuse("by a query that cannot lock what it reads")
	}
	s.r = &editor{st: b.st}
	s.r.raw("SELECT ")
	for _, c := range t.Primary {
		s.column(c, workspace.Read(&t.Columns[c]))
	}
	if m.update != nil || own {
		if err := s.order(); err != nil {
			return nil, err
		}
	}
	if alone {
		n.Doubt = plan.NoDoubt
	}
	if len(indexes) > 0 || own || n.Doubt != plan.NoDoubt {
		s.images()
	}
	if moves {
		if why := s.newKey(); why != "" {
			return refuse(why)
		}
	}
	if n.FindsAgain() && m.update != nil && s.otherKeyAssigned() {
		return refuse("together with a column of the primary key")
	}
	s.rest()
	n.Read = b.fragment(target)
	n.Read.Text = s.r.done()
	if m.update != nil {
		set := &editor{st: b.st}
		set.span(0, text.values[len(text.values)-1].End)
		n.Set = set.done()
	}
	return n, nil
}

// rowsApart says what there is about the statement, whose text is cut if ok says so, by which its rows cannot be read first and then changed by their
// keys; "" if there is nothing. moves: rows get other distribution keys; others: rows of other tables change, too.
func (b *build) rowsApart(in *instance, text *modifyText, ok, moves, others bool) string {
	m, t, p := b.mod, in.table, b.locate()
	switch {
	case b.returning:
		return "with RETURNING"
	case len(m.scope.insts) != 1 || m.update != nil && m.update.With != nil || m.del != nil && m.del.With != nil:
		return "together with other tables"
	case !ok || m.del != nil && text.ignore:
		return "in a statement of this form"
	case p.sharded > 1 || len(p.singles) > 0 || b.a.whole != nil:
		return "depending on tables that lie on other node groups"
	case b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable|plan.SetsLastInsertID) != 0:
		return "together with RAND(), UUID() or variables that are assigned"
	case len(b.reads) > 0:
		return "together with functions that read tables" // which lock them where the statement itself runs only
	case !b.sess.UTF8Results && moves && slices.ContainsFunc(t.Distribution, func(c int) bool { return columnClass(&t.Columns[c]).kind != numberClass }):
		return "with results in another character set than UTF-8"
	case text.ignore && others:
		return "with IGNORE"
	}
	return ""
}

// foundBy is where the rows of in are read; one: on one node group, alone: one row at most.
func foundBy(in *instance) (target plan.Target, one, alone bool) {
	key, single, located := keyOperands(in)
	if located {
		return plan.Target{Kind: plan.ByKey, Table: in.table, Key: key}, single, single && len(in.table.Primary) == len(in.table.Distribution)
	}
	if byIndex, ok := indexTarget(in); ok {
		return byIndex, true, true
	}
	return plan.Target{Kind: plan.AllGroups}, false, false
}

// rowsUnordered says why it is not known which rows of t are changed, or in which order; "" if it is.
func (b *build) rowsUnordered(t *catalog.Table, text *modifyText, one bool) string {
	if text.limit.End > 0 && !one {
		return "with LIMIT over several node groups"
	}
	if text.ignore && !one && slices.ContainsFunc(t.Primary, func(c int) bool { return !b.orderable(&t.Columns[c]) }) {
		return "with IGNORE: which of the rows that get one key stays depends on the order of a primary key that only servers know"
	}
	for _, c := range t.Primary {
		switch t.Columns[c].DataType {
		case "timestamp", "float", "double":
			return "of a table with a primary key of type " + t.Columns[c].DataType
		}
	}
	return ""
}

// indexed reports whether column c is in a key of t.
func indexed(t *catalog.Table, c int) bool {
	holds := func(k catalog.Index) bool { return slices.Contains(k.Columns, c) }
	return slices.Contains(t.Primary, c) || slices.ContainsFunc(t.Unique, holds) || slices.ContainsFunc(t.Indexes, holds)
}

// selecting builds the SELECT of the rows that are changed.
type selecting struct {
	b    *build
	n    *plan.ChangeRows
	in   *instance
	text modifyText
	r    *editor
	next int
	at   map[int]int // columns selected with workspace.Read
	// shared: see sqlparse.Statement.SharedReads. The queries of an UPDATE read the present rows, and lock them; in a SELECT in its place they would
	// read what there was when the transaction began to read.
	shared []int
}

// lockable reports whether a name means a table whose rows a query locks, and not a view, which servers may compute by itself.
func (b *build) lockable(r sqlparse.TableRef) bool {
	t, ok, err := b.copyable(r, b.db)
	return ok && err == nil && t.Kind != catalog.View
}

func (s *selecting) item(sql string) int {
	if s.next > 0 {
		s.r.raw(", ")
	}
	s.r.raw(sql)
	s.next++
	return s.next - 1
}

func (s *selecting) column(c int, sql string) int {
	if at, ok := s.at[c]; ok {
		return at
	}
	s.at[c] = s.item(sql)
	return s.at[c]
}

// images selects what the indexes need of each row.
func (s *selecting) images() {
	t := s.in.table
	columns := slices.Clone(t.Distribution)
	for _, x := range s.n.Indexes {
		columns = append(columns, x.Columns...)
	}
	if s.n.Own {
		parents, children, _ := s.b.snap.Relations(t)
		columns = append(columns, catalog.WatchedColumns(t, parents, children)...)
	}
	slices.Sort(columns)
	for _, c := range slices.Compact(columns) {
		s.n.Images = append(s.n.Images, plan.RowImage{Column: c, At: s.item(workspace.ReadKey(t.At(c)))})
	}
}

// newKey selects the new values of the distribution key. why tells what is in the way.
func (s *selecting) newKey() (why string) {
	b, m, t := s.b, s.b.mod, s.in.table
	for _, d := range t.Distribution {
		i := m.lastAssignment(b, s.in, d)
		if s.n.FindsAgain() && !plainKey(&t.Columns[d]) {
			return "in a table distributed by a column of type " + t.Columns[d].ColumnType
		}
		if i < 0 {
			s.n.NewKey = append(s.n.NewKey, s.item(sqltypes.QuoteName(t.Columns[d].Name)))
			continue
		}
		if m.looksBack(b, s.in, i) {
			return "by an expression that looks at a column assigned before it"
		}
		if readsQuery(m.update.Exprs[i].Expr) {
			return "to what a query gives" // once more where the row has moved: another value, perhaps
		}
		if _, isDefault := m.update.Exprs[i].Expr.(*sqlparser.Default); isDefault {
			return "to DEFAULT"
		}
		at := s.item("(")
		s.r.span(s.text.values[i].Start, s.text.values[i].End)
		s.r.raw("\n)") // the newline ends a comment
		s.n.NewKey = append(s.n.NewKey, at)
	}
	return ""
}

// plainKey reports whether a value of the column, as a server prints it in UTF-8, finds it again.
func plainKey(c *catalog.Column) bool {
	switch c.DataType {
	case "date", "datetime", "decimal", "uuid":
		return true
	case "char", "varchar":
		return strings.HasPrefix(c.Charset, "utf8")
	}
	return isWhole(c)
}

// otherKeyAssigned reports whether the statement may change a column of the primary key that is not of the distribution key.
func (s *selecting) otherKeyAssigned() bool {
	t := s.in.table
	for _, c := range t.Primary {
		if !slices.Contains(t.Distribution, c) && (s.b.mod.lastAssignment(s.b, s.in, c) >= 0 || t.Columns[c].SetByServer()) {
			return true
		}
	}
	return false
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

// rest is what follows the select list.
func (s *selecting) rest() {
	s.r.raw(" FROM ")
	s.r.span(s.text.from.Start, s.text.from.End)
	s.r.raw(" ")
	if s.text.where.End > 0 {
		at := s.text.where.Start
		for _, place := range s.shared {
			if place > at && place <= s.text.where.End {
				s.r.span(at, place)
				s.r.raw(" LOCK IN SHARE MODE")
				at = place
			}
		}
		s.r.span(at, s.text.where.End)
	}
	if s.text.limit.End > 0 {
		if c, _ := s.b.clauses(); c.Order > 0 {
			s.r.span(c.Order, s.text.limit.Start)
		}
		s.r.span(s.text.limit.Start, s.text.limit.End)
	}
	s.r.raw(" FOR UPDATE")
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
