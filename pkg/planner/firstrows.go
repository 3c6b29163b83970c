package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
)

// first is the table of which a workspace may need the first rows only, and their order.
type first struct {
	table *catalog.Table
	order []firstKey
	plan  *plan.FirstRows
}

// firstKey is a column of the table that the query sorts by.
type firstKey struct {
	column int
	desc   bool
}

// firstRows: see its rule's Doc.
func firstRows(b *build) (fired bool, err error) {
	limit, ok := b.limitOfRows()
	if !ok {
		return false, nil
	}
	kept, rules := *b, b.plan.Rules
	var best *plan.Workspace
	bestUnique := -1
	for _, in := range b.anchors() {
		order, ok := b.orderOf(in)
		if !ok {
			continue
		}
		f := *limit
		b.first = &first{table: in.table, order: order, plan: &f}
		b.done, b.ws, b.plan.Root = false, nil, nil
		err := run(b, workspaceRules())
		w, ok := b.plan.Root.(*plan.Workspace)
		b.plan.Rules, b.plan.Root, b.ws, b.first, b.done = rules, kept.plan.Root, kept.ws, nil, false
		if err != nil {
			return false, err
		}
		if unique, ok := keyed(w); ok && w.First != nil && w.Copies[0].Table == in.table && unique > bestUnique {
			best, bestUnique = w, unique
		}
	}
	b.plan.Root = b.choice.Workspace
	b.choice.First = best
	return best != nil, nil
}

// limitOfRows is the statement's LIMIT, if every row of the result comes from one row of each table of the outermost FROM.
func (b *build) limitOfRows() (f *plan.FirstRows, ok bool) {
	blk := b.query.block
	if blk == nil || b.query.limit == nil || b.a.unseen || blk.sel.Distinct || blk.sel.GroupBy != nil || blk.sel.Having != nil ||
		blk.aggregated || len(blk.windows) > 0 || blk.namedWin {
		return nil, false
	}
	f = &plan.FirstRows{}
	f.Count, f.Offset, ok = limitOf(b.query.limit)
	return f, ok
}

// anchors are the sharded tables of the outermost FROM that every row of the result has a row of, and that are read there only.
func (b *build) anchors() (list []*instance) {
	for _, in := range preserved(b.query.block.tree) {
		if in.table == nil || !in.sharded() || in.inView {
			continue
		}
		refs, ok := b.ws.referencesOf(in.table)
		if _, _, located := keyOperands(in); ok && len(refs) == 1 && refs[0] == in && !located {
			list = append(list, in)
		}
	}
	return list
}

// orderOf is the order of the result as one of in's rows; ok is false if it depends on anything else. What sorts the rows
// of the result that come from one row of in does not matter: further keys may follow those that tell in's rows apart.
func (b *build) orderOf(in *instance) (keys []firstKey, ok bool) {
	for _, o := range b.query.block.sel.OrderBy {
		if constant(o.Expr) && !isOrdinal(b, o.Expr) {
			continue
		}
		ref, ok := b.sortColumn(o.Expr)
		if !ok || ref.inst != in {
			return keys, in.apart(keys)
		}
		switch c := columnClass(ref.column()); c.kind {
		case numberClass, memberClass:
			if b.byMoment(c) {
				return nil, false
			}
		case stringClass:
			if !b.sess.UTF8Results || !b.knownCollation(c.collation) {
				return nil, false
			}
		default:
			return nil, false
		}
		keys = append(keys, firstKey{ref.col, o.Direction == sqlparser.DescOrder})
	}
	return keys, true
}

// apart reports whether no two rows of in's table agree in all of keys.
func (in *instance) apart(keys []firstKey) bool {
	for _, k := range in.table.Primary {
		if !slices.ContainsFunc(keys, func(key firstKey) bool { return key.column == k }) {
			return false
		}
	}
	return len(in.table.Primary) > 0
}

// sortColumn is the plain column that an expression of ORDER BY means: by position, by the name it has in the select list,
// or as a column of FROM.
func (b *build) sortColumn(e sqlparser.Expr) (ref colRef, ok bool) {
	q := b.query
	if n, ok := b.ordinal(e); ok {
		if !q.known || n < 1 || n > len(q.columns) {
			return ref, false
		}
		ref = q.columns[n-1].ref
		return ref, ref.ok()
	}
	col, is := e.(*sqlparser.ColName)
	if !is || !q.known {
		return ref, false
	}
	if col.Qualifier.IsEmpty() {
		found := false
		for _, c := range q.columns {
			if !col.Name.EqualString(c.name) {
				continue
			}
			if found && c.ref != ref {
				return colRef{}, false
			}
			ref, found = c.ref, true
		}
		if found {
			return ref, ref.ok()
		}
	}
	ref = q.block.resolve(col, b.a.lower)
	return ref, ref.ok()
}

// keyed reports that all copies but the first are read by values of those before; unique is for how many the value tells
// one row.
func keyed(w *plan.Workspace) (unique int, ok bool) {
	if w == nil || len(w.Copies) == 0 {
		return 0, false
	}
	for _, c := range w.Copies[1:] {
		if c.Computed() || len(c.Joins) == 0 {
			return 0, false
		}
		if slices.ContainsFunc(c.Joins, func(j plan.Join) bool { return equalTo(c.Table, j.Column) == 0 }) {
			unique++
		}
	}
	return unique, true
}

// firstText ends the fragment that reads the first rows: with what they are sorted by, and without a limit.
func (c *wanted) firstText(b *build, e *editor) {
	f := b.first
	c.orderBy(e, f.order)
	b.ws.plan.First = f.plan
}

// sortHidden adds to the select list what the proxy sorts by, where that is not among the columns as they are copied.
func (c *wanted) sortHidden(b *build, e *editor) {
	f := b.first
	n := len(c.columns)
	f.plan.Order = nil
	for _, k := range f.order {
		column := &c.table.Columns[k.column]
		o := plan.Order{Column: slices.Index(c.columns, k.column), Desc: k.desc, Weight: -1}
		if cls := columnClass(column); cls.kind == stringClass {
			o.Column, o.Collation = -1, cls.collation
		}
		if o.Column < 0 {
			e.raw(", " + plan.CopyRow + "." + sqltypes.QuoteName(column.Name))
			if o.Collation == "" && columnClass(column).kind == memberClass {
				e.raw("+0")
			}
			o.Column, n = n, n+1
		}
		f.plan.Order = append(f.plan.Order, o)
	}
	if n > len(c.columns) {
		f.plan.Keep = len(c.columns)
	}
}
