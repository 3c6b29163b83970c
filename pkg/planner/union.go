package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// unionRules is the list for UNION and VALUES.
func unionRules() []Rule {
	return slices.Concat(placeRules(), []Rule{
		{"PushUnion", `UNION ALL of parts each of which is the sum of the groups' parts is that sum itself: every group runs the
whole statement over its rows. UNION DISTINCT of such parts, whatever they are joined by themselves, has each different row of that sum
once. It must not fire for a part without sharded table (it would be there once per group), nor for UNION ALL behind a UNION DISTINCT,
whose rows are no sum.`, pushUnion},
		{"UnionDistinct", `Each group sends its different rows sorted by all columns; equal neighbours become one while merging. The values
of a column must compare alike in all parts: numbers, the same type of time, strings of one collation. Of others the result has a
type that is made of theirs, and it must not fire; nor for FLOAT, of which different values have one text, and DOUBLE, of which equal
values (0 and -0) have two.`, unionDistinct},
		{"UnionSorted", `ORDER BY behind the last part is about the result's columns: by name or by position. Every group sorts its
rows so; merging gives the sorted whole. It must not fire for expressions, which servers take from the parts, nor for columns that
UnionDistinct could not compare.`, unionSorted},
	}, lastRules())
}

// pushUnion: see its rule's Doc.
func pushUnion(b *build) (bool, error) {
	const unfit = plan.WritesUserVariable | plan.SetsLastInsertID | plan.LocksRows | plan.CalcFoundRows
	u, is := b.query.stmt.(*sqlparser.Union)
	if !is || len(b.reads) > 0 || b.plan.Uses&unfit != 0 || b.st.Uses()&(sqlparse.CalcFoundRows|sqlparse.LocksRows) != 0 || u.Into != nil || u.Lock != sqlparser.NoLock ||
		!b.a.sums(b.query.parts[0], u.Distinct) || !b.a.sums(b.query.parts[1], u.Distinct) {
		return false, b.refuseUnion()
	}
	b.frag = &scatter{target: plan.Target{Kind: plan.AllGroups}, visible: -1}
	if b.query.known {
		b.frag.visible = len(b.query.columns)
	}
	return true, nil
}

func (b *build) refuseUnion() error {
	return b.refuseScatter("UNION and VALUES over sharded tables of several node groups",
		"give the distribution key in every part, or send the parts one after the other")
}

// unionDistinct: see its rule's Doc.
func unionDistinct(b *build) (bool, error) {
	u := b.query.stmt.(*sqlparser.Union)
	if !u.Distinct {
		return false, nil
	}
	keys, ok := b.unionOrder(u.OrderBy, true)
	if !ok || b.frag.visible < 0 {
		return false, b.refuseUnion()
	}
	for i := range b.frag.visible {
		k, ok := b.unionKey(i, true)
		if !ok {
			return false, b.refuseUnion()
		}
		if !slices.ContainsFunc(keys, func(o plan.Order) bool { return o.Column == i }) {
			keys = append(keys, k)
		}
	}
	b.frag.order, b.frag.distinct, b.frag.reorder = keys, slices.Clone(keys), true
	return true, nil
}

// unionSorted: see its rule's Doc.
func unionSorted(b *build) (bool, error) {
	u := b.query.stmt.(*sqlparser.Union)
	if b.frag.reorder || len(u.OrderBy) == 0 {
		return false, nil
	}
	keys, ok := b.unionOrder(u.OrderBy, false)
	if !ok {
		return false, b.refuseUnion()
	}
	b.frag.order = keys
	return true, nil
}

// unionOrder turns the ORDER BY of a union into keys over its columns, as unionKey finds them; ok is false where that cannot be.
func (b *build) unionOrder(order sqlparser.OrderBy, alike bool) (keys []plan.Order, ok bool) {
	for _, o := range order {
		at := -1
		if n, is := b.ordinal(o.Expr); is {
			at = n - 1
		} else if col, is := o.Expr.(*sqlparser.ColName); is && col.Qualifier.IsEmpty() {
			for i, c := range b.query.columns {
				if !col.Name.EqualString(c.name) {
					continue
				}
				if at >= 0 {
					return nil, false
				}
				at = i
			}
		}
		if at < 0 || at >= len(b.query.columns) {
			return nil, false
		}
		k, ok := b.unionKey(at, alike)
		if !ok {
			return nil, false
		}
		k.Desc = o.Direction == sqlparser.DescOrder
		keys = append(keys, k)
	}
	return keys, true
}

// unionKey is how to sort by column i of the union. alike: numbers that are equal are to be alike, which those of DOUBLE (0 and -0) are not.
func (b *build) unionKey(i int, alike bool) (k plan.Order, ok bool) {
	k = plan.Order{Column: i, Weight: -1}
	switch c, _ := b.unionClass(b.query, i, alike); c.kind {
	case numberClass:
		return k, !b.byMoment(c)
	case bytesClass:
		k.Collation = "binary"
		return k, true
	case stringClass:
		k.Collation = c.collation
		return k, b.sess.UTF8Results && b.knownCollation(c.collation)
	}
	return k, false
}

// unionClass is the class that column i has in all parts of q, and of what kind its values are: values of one class and kind make a
// column of the same class. unknownClass where they differ.
func (b *build) unionClass(q *query, i int, alike bool) (c class, kind string) {
	for n, p := range q.parts {
		one, of := b.unionClass(p, i, alike)
		if n > 0 && (one.kind != c.kind || one.collation != c.collation || of != kind) {
			return class{}, ""
		}
		c, kind = one, of
	}
	if q.block == nil {
		return c, kind
	}
	if !q.known || i >= len(q.columns) {
		return class{}, ""
	}
	if ref := q.columns[i].ref; ref.ok() {
		column := ref.column()
		switch c = columnClass(column); {
		case c.kind == memberClass, c.kind == floatClass, alike && column.DataType == "double":
			return class{}, "" // a union of members is of strings; the text of a FLOAT does not tell all of it
		case c.kind == numberClass && !isNumeric(column):
			return c, column.DataType
		}
		return c, ""
	}
	list := q.block.sel.SelectExprs.Exprs
	if len(list) != len(q.columns) {
		return class{}, ""
	}
	if item, is := list[i].(*sqlparser.AliasedExpr); is && b.computesNumber(item.Expr, alike) {
		return class{kind: numberClass}, ""
	}
	return class{}, ""
}

// computesNumber reports whether an expression that is no plain column is surely a number; alike: none that may be a DOUBLE.
func (b *build) computesNumber(e sqlparser.Expr, alike bool) bool {
	switch e := e.(type) {
	case *sqlparser.CountStar, *sqlparser.Count:
		return true
	case *sqlparser.Sum, *sqlparser.Avg:
		return !alike
	case *sqlparser.BinaryExpr:
		return !alike && arithmetic(e.Operator)
	case *sqlparser.Argument:
		i, ok := sqlparse.ArgNumber(e.Name)
		return ok && i < b.st.NumArgs() && (b.st.Arg(i).Class == sqlparse.ClassInt || b.st.Arg(i).Class == sqlparse.ClassDecimal)
	}
	return false
}

// sums reports whether the rows of q are those that the node groups find, put together: q is UNION ALL of SELECTs each of
// which has a sharded table that every row comes from, with all others attached to it, and computes nothing over groups. sets: only
// different rows count, so that it may be UNION DISTINCT, too.
func (a *analysis) sums(q *query, sets bool) bool {
	if q.block == nil {
		u, is := q.stmt.(*sqlparser.Union)
		if !is || !q.sum && !(sets && u.Distinct && len(u.OrderBy) == 0 && u.Into == nil && u.Lock == sqlparser.NoLock) || q.limit != nil {
			return false
		}
		return a.sums(q.parts[0], sets) && a.sums(q.parts[1], sets)
	}
	if len(q.block.sel.OrderBy) > 0 || !a.distributive(q) {
		return false
	}
	var sharded []*instance
	if !a.shardedIn(q, &sharded) {
		return false
	}
	edges := make([][]int, len(sharded))
	for i := range sharded {
		for j := range sharded {
			if i != j && attached(sharded[i], sharded[j]) {
				edges[i] = append(edges[i], j)
			}
		}
	}
	return findRoot(sharded, edges) != nil
}

// shardedIn collects the sharded tables of q and everything below it; false if there is anything else but reference tables.
func (a *analysis) shardedIn(q *query, list *[]*instance) bool {
	for _, p := range q.parts {
		if !a.shardedIn(p, list) {
			return false
		}
	}
	if q.block == nil {
		return true
	}
	for _, in := range q.block.insts {
		switch {
		case in.sharded():
			*list = append(*list, in)
		case in.table != nil && in.table.Kind == catalog.Reference:
		case in.table == nil && in.sub != nil && !in.opaque:
			if !a.shardedIn(in.sub, list) {
				return false
			}
		default:
			return false
		}
	}
	for _, s := range q.block.subs {
		if !a.shardedIn(s.q, list) {
			return false
		}
	}
	return true
}
