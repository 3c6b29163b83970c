package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/workspace"
)

// copyRules follow the rule that has found which tables a workspace copies.
func copyRules() []Rule {
	return []Rule{
		{"CopyKeys", `A table whose distribution key has known values by usable facts has the rows that can matter on the
groups of these values. It must be read in one place only, for which the facts hold.`, copyKeys},
		{"CopyRows", `Rows that cannot matter are left out: those for which some conjunct cannot be true, judged by columns of
the row, and by rows that lie beside it (co-located tables, reference tables). See need.go for the argument. A table
read in several places is copied once, with the rows any of them needs. Conditions on a derived table's grouping columns, on those that all
its windows are partitioned by, and on columns of a union go in; not so past a LIMIT or ROLLUP, nor of strings what looks at more than how they
compare (LIKE, LENGTH, another collation, numbers), for a group has equal strings, not the same. It must not fire for the side an outer join
makes up (but for its ON), for conditions that read the clock, chance or variables, nor in statements that assign
variables, which count the rows.`, copyRows},
		{"CopyColumns", `Columns whose name the text does not mention and no * stands for cannot be read. The copy has them,
so that every name means what it means in the table, but not their values. Columns of unique keys are always
copied, for their values keep rows apart. It must not fire for tables with generated columns, whose expressions
read others, for CHECK constraints on MySQL, which would see the missing values, and for NATURAL joins.`, copyColumns},
		{"LeaveKeys", `A key decides nothing but how rows are found, unless it is unique. One whose first column has no values in the
copy, because the text does not mention it, finds none; so a copy of many rows is written without it, which is faster. It must not
fire where the text mentions the key's name, which may be in an index hint, nor for statements that write.`, leaveKeys},
		{"CopyDifferent", `To a subquery of EXISTS, IN, ANY or ALL that neither counts nor limits rows it does not matter how many equal rows a
table has. So of a table that is read in such places only, each node group gives the different rows there are of the columns
that the text mentions (the others cannot be read), and the copy has these columns and no unique keys. It must not fire where
these columns have a unique key, so that rows are different already, where one is of another type than numbers and times (DISTINCT looks at the
first bytes of long strings only, and equal strings are not alike), for tables with generated columns, where the text may name
keys (hints), for NATURAL joins, where something depends on chance, nor for statements that write, lock or assign.`, copyDifferent},
		{"CopyJoins", `A row that can matter meets, by an equality that must be true, some row that is copied of another table. So
the values of that table's column, seen while it is copied, are the only ones that count: if they are few, they are
asked for, on the groups that own them if the column is the distribution key. The equality must hold at every place
that reads the table; of a table in a derived table it may stand outside, where the column keeps or drops whole groups and partitions. The same is true of a comparison that must be true with the one value of a query that is copied (its MAX or MIN, or what stands for
all values of ALL or ANY): without a value nothing is equal, less or greater, but everything is so to ALL of none. Types and collations must be the same, so that equal here is equal there. It must not fire for
the side an outer join keeps, nor by a table that is read there in a query that is copied itself: of that table
only the rows are copied that matter elsewhere. In a statement that writes a place reads a copy of its own where it is known which, and it must not fire where a
condition might fail, in strict mode, at a row that is left out.`, copyJoins},
		{"CopyFirst", `A derived table that is nothing but the first rows of a table by an order of its columns needs of each node group that many first
rows. It must not fire where a condition of its WHERE is not judged there, where the order is one of expressions, or where it groups, counts or joins.`, copyFirst},
		{"AssembleCopies", `Writes the fragments.`, assembleCopies},
	}
}

// rows plans the fragment of the last copy of a list; st is the text that reads it, only, not nil, the one place where it does.
func (w *worker) rows(list *[]plan.Copy, st *sqlparse.Statement, only *instance) {
	c := &(*list)[len(*list)-1]
	t := c.Table
	f := &plan.Fragment{ID: w.copies, Tables: []*catalog.Table{t}}
	switch t.Kind {
	case catalog.Reference:
		f.Target = plan.Target{Kind: plan.AnyGroup}
	case catalog.Single:
		f.Target = plan.Target{Kind: plan.OneGroup, Group: t.Group}
	default:
		f.Target = plan.Target{Kind: plan.AllGroups}
	}
	c.Input = f
	w.wanted = append(w.wanted, wanted{list: list, at: len(*list) - 1, table: t, only: only, fragment: f, st: st, top: w.views == 0})
}

// wanted is the copy of a table whose fragment is being planned.
type wanted struct {
	list     *[]plan.Copy
	at       int // in list
	table    *catalog.Table
	only     *instance // the one place that reads the copy; nil: all that read the table may
	fragment *plan.Fragment
	st       *sqlparse.Statement // the text that reads it: the client's or a view's
	top      bool                // it is the client's
	called   bool                // functions read it
	rows     []plan.Text         // conditions, any of which a row may meet; none: all rows
	dated    bool                // some compare with what must be a date: else all rows are copied that meet any of careful
	careful  []plan.Text
	first    *firstOf // not nil: only the first rows are copied
	found    bool     // those that matter are locked by then: see waits
	columns  []int    // those that are read; nil: all
	joins    []plan.Join
	unused   []string // keys that are left out
	// different: only different rows of columns are copied.
	different bool
}

// references are the places where the statement itself reads c, if they are sure to be all there are.
func (w *worker) references(c *wanted) (refs []*instance, ok bool) {
	refs, ok = w.referencesOf(c.table)
	if ok && c.only != nil {
		return []*instance{c.only}, true
	}
	return refs, ok
}

// referencesOf are the places where the statement itself reads table t, if they are sure to be all there are.
func (w *worker) referencesOf(t *catalog.Table) (refs []*instance, ok bool) {
	a := w.b.a
	if w.b.outermost() == nil && w.b.query == nil || a.unseen || a.assigns || slices.Contains(w.whole, t) {
		return nil, false
	}
	for _, in := range a.insts {
		if in.table == t && !in.inView && !w.b.inPushed(in) {
			refs = append(refs, in)
		}
	}
	named := 0
	for _, n := range w.named {
		if n == t {
			named++
		}
	}
	return refs, len(refs) > 0 && named <= len(refs)
}

// copyKeys: see its rule's Doc.
func copyKeys(b *build) (fired bool, err error) {
	if b.ws == nil {
		return false, nil
	}
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		t := c.table
		if !c.top || t.Kind != catalog.Sharded {
			continue
		}
		refs, ok := b.ws.references(c)
		if !ok || len(refs) != 1 {
			continue
		}
		if key, _, ok := keyOperands(refs[0]); ok {
			c.fragment.Target = plan.Target{Kind: plan.ByKey, Table: t, Key: key}
			fired = true
		}
	}
	return fired, nil
}

// copyRows: see its rule's Doc.
func copyRows(b *build) (fired bool, err error) {
	if b.ws == nil {
		return false, nil
	}
	done := map[*catalog.Table][]plan.Text{} // of copies that serve the same places
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		if !c.top {
			continue
		}
		rows, known := done[c.table]
		if !known || c.only != nil {
			rows = b.ws.needed(c)
		}
		if c.careful = rows; b.ws.writes {
			end := b.ws.trustDates()
			rows = b.ws.needed(c)
			end()
			c.dated = !sameTexts(rows, c.careful)
		}
		if c.only == nil {
			done[c.table] = c.careful
		}
		c.rows = rows
		fired = fired || len(rows) > 0
	}
	return fired, nil
}

// maxAlternatives bounds the references of one table whose conditions are told apart.
const maxAlternatives = 8

// needed are the conditions any of which a row of c must meet to matter; nil if all rows may.
func (w *worker) needed(c *wanted) (rows []plan.Text) {
	refs, ok := w.references(c)
	if !ok || len(refs) > maxAlternatives {
		return nil
	}
	for _, in := range refs {
		text := w.b.need(in)
		if text == nil {
			return nil
		}
		if !slices.ContainsFunc(rows, func(have plan.Text) bool { return have.String() == text.String() }) {
			rows = append(rows, text)
		}
	}
	return rows
}

// assembleCopies writes the fragments.
func assembleCopies(b *build) (bool, error) {
	if b.ws == nil {
		return false, nil
	}
	if err := b.ws.waits(); err != nil {
		return false, err
	}
	dates := false // matter
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		if c.columns == nil {
			c.columns = allColumns(c.table)
		}
		have := &(*c.list)[c.at]
		have.Columns, have.Joins, have.Unused = c.columns, c.joins, c.unused
		if have.Different = c.different; c.different {
			have.Keys = b.ws.keysOf(c)
		}
		have.Share, have.Equal = b.ws.share(c)
		c.fragment.Text = c.text(b)
		have.Careful = c.carefully(b)
		dates = dates || c.dated || len(c.joins) > 0
	}
	if !dates {
		b.ws.plan.Moments = nil
	}
	b.plan.Refuse, b.done = nil, true
	b.plan.Root = b.ws.plan
	return true, nil
}

// carefully is c's fragment where a string that must be a date is none; nil if it is the same one.
func (c *wanted) carefully(b *build) *plan.Fragment {
	if !c.dated {
		return nil
	}
	whole := *c
	whole.rows, whole.first, whole.joins = c.careful, nil, nil
	f := *c.fragment
	f.Text = whole.text(b)
	return &f
}

func (c *wanted) text(b *build) plan.Text {
	t := c.table
	w := b.ws
	e := &editor{st: b.st}
	e.raw("SELECT ")
	if c.different {
		e.raw("DISTINCT ")
	}
	for i, col := range c.columns {
		if i > 0 {
			e.raw(", ")
		}
		e.raw(workspace.Read(&t.Columns[col]))
	}
	first := b.first != nil && b.first.table == t && c.list == &w.plan.Copies
	if first {
		c.sortHidden(b, e)
	}
	e.raw(" FROM " + t.SQL())
	if w.tail != nil {
		w.choose(c.fragment, e, t)
	} else if first {
		c.where(e, true)
		c.firstText(b, e)
	} else if c.first != nil {
		c.where(e, true)
		c.first.write(e, c)
	} else {
		c.where(e, false)
		e.raw(plan.CopyEnd)
	}
	lock := strings.ToUpper(w.locks[t])
	locked, _ := w.lockCalled(t)
	switch {
	case c.called && locked:
		e.raw(" LOCK IN SHARE MODE")
	case c.called:
	case (*c.list)[c.at].Written != nil && c.found:
		e.raw(" FOR UPDATE SKIP LOCKED")
	case (*c.list)[c.at].Written != nil:
		e.raw(" FOR UPDATE")
	case lock != "" && (!w.writes || lock == "FOR UPDATE" || waitsNot(w.locks[t])):
		e.raw(" " + lock)
	case w.written[t] != nil: // else two that have read the same rows wait for each other when they write
		e.raw(" FOR UPDATE")
	case w.writes:
		e.raw(" LOCK IN SHARE MODE")
	}
	return e.done()
}

// where writes the conditions on the rows; named: the table gets its name even if there are none.
func (c *wanted) where(e *editor, named bool) {
	switch {
	case len(c.rows) > 0:
		e.raw(" AS " + plan.CopyRow + " WHERE ")
	case len(c.joins) > 0:
		e.raw(" AS " + plan.CopyRow + " WHERE TRUE")
	case named:
		e.raw(" AS " + plan.CopyRow)
	}
	if len(c.rows) > 1 {
		e.raw("(")
	}
	for i, row := range c.rows {
		if i > 0 {
			e.raw(" OR ")
		}
		e.add(row)
	}
	if len(c.rows) > 1 {
		e.raw(")")
	}
}

// preserved are the instances of a join tree whose rows no outer join makes up.
func preserved(t *tree) []*instance {
	switch {
	case t == nil:
		return nil
	case t.kind == inner:
		return slices.Concat(preserved(t.l), preserved(t.r))
	case t.kind == leftOuter:
		return preserved(t.l)
	}
	return []*instance{t.inst}
}

// outermost is the scope of the outermost SELECT, UPDATE or DELETE, or nil.
func (b *build) outermost() *block {
	switch {
	case b.mod != nil:
		return b.mod.scope
	case b.query != nil:
		return b.query.block
	}
	return nil
}
