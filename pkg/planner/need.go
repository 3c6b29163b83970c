package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// A query over copies needs of each table only the rows that can matter. Which ones is said here as a condition that a
// node group can judge alone, for one reference (instance) of a table after the other; a copy that serves several
// references has the rows any of them needs.
//
// The argument. A combination of rows passes a block's FROM and WHERE only if all its conjuncts (WHERE, and ON of inner
// joins) are true; so a row of an instance whose columns no outer join makes up is needed only if, together with some
// rows of the others, it makes them true. Here the others are those whose rows lie beside it: tables with the same
// distribution key, and reference tables. In a subquery the enclosing blocks' rows belong to the combination too, for
// it is looked at only for rows that pass there; but of the enclosing blocks only conjuncts without subqueries count:
// what such a conjunct says may depend on the very rows that would be left out. The copy may always have more rows.
//
// What is said of a column of a derived table goes in where it keeps or drops all rows together that a row of the result depends on: of a
// grouping column, of one that all windows are partitioned by, or of any column of rows that are only filtered, joined or made
// different; in a union in each part. Rows of a group have equal values, which are the same value or, of strings, the same to comparisons by
// the column's own collation. Where an outer join makes up the derived table's rows, the conditions of its ON say which can be matches.

// conjunct is a condition that must be true for every row a block yields: an expression with the scope of its names,
// or the equality of a column with another or with a value.
type conjunct struct {
	expr  sqlparser.Expr
	scope *block
	equal [2]colRef
	op    plan.Operand
	// deps are the instances it reads, those of its own subqueries left out.
	deps []*instance
	// subs are its subqueries.
	subs []*query
	// outer: it belongs to an enclosing block.
	outer bool
}

// conjuncts are those of blk that hold for the instances its FROM clause preserves, with those that what is outside of a
// derived table says of its columns.
func (a *analysis) conjuncts(blk *block) (list []conjunct) {
	add := func(e sqlparser.Expr, scope *block) {
		conjuncts(e, func(x sqlparser.Expr) {
			c := conjunct{expr: x, scope: scope}
			if a.reads(&c, x, scope, nil) {
				list = append(list, c)
				list = append(list, a.implied(&c)...)
			}
		})
	}
	if blk.where != nil {
		add(blk.where.Expr, blk)
	}
	var walk func(t *tree)
	walk = func(t *tree) {
		if t == nil || t.kind == leaf {
			return
		}
		walk(t.l)
		if t.kind == inner {
			walk(t.r)
			if t.on != nil {
				add(t.on, t.onScope)
			}
		}
	}
	walk(blk.tree)
	return append(list, a.conjunctsOutside(blk)...)
}

// conjunctsOutside are those that what is outside of a derived table says of the columns of blk, which is its SELECT or a part of its union:
// rows for which they are not true cannot matter. On the side that an outer join makes up these are the conditions of its ON.
func (a *analysis) conjunctsOutside(blk *block) (list []conjunct) {
	if owner := blk.owner; owner != nil && owner.block != nil && !owner.opaque {
		for _, c := range a.conjunctsOf(owner) {
			if a.passes(&c, blk) {
				list = append(list, c)
			}
		}
		return list
	}
	top, sets := blk.outerUnion()
	if top == nil {
		return nil
	}
	for _, c := range a.conjunctsOf(top.owner) {
		if len(c.subs) > 0 || !slices.Equal(c.deps, []*instance{top.virtual}) || sets && !a.even(c.expr, c.scope) {
			continue
		}
		inside := conjunct{expr: c.expr, scope: blk.throughUnion(c.scope, top)}
		if a.reads(&inside, inside.expr, inside.scope, nil) && a.passes(&inside, blk) {
			list = append(list, inside)
		}
	}
	return list
}

// conjunctsOf are the conditions without which rows of a derived table cannot matter in the block where it stands.
func (a *analysis) conjunctsOf(derived *instance) (list []conjunct) {
	tree := derived.block.tree
	if slices.Contains(preserved(tree), derived) {
		return a.conjuncts(derived.block)
	}
	for _, c := range matching(tree, derived) {
		if a.reads(&c, c.expr, c.scope, nil) {
			list = append(list, c)
		}
	}
	return list
}

// implied are conditions on one instance each that a disjunction about several cannot be true without: what every
// alternative says of the instance, one or the other. (x.a = 1 AND y.b = 2) OR (x.a = 3 AND y.b = 4) needs x.a = 1 OR x.a = 3.
func (a *analysis) implied(c *conjunct) (list []conjunct) {
	if _, or := c.expr.(*sqlparser.OrExpr); !or || len(c.deps) < 2 || len(c.subs) > 0 {
		return nil
	}
	arms := alternatives(c.expr)
next:
	for _, in := range c.deps {
		var any sqlparser.Expr
		for _, arm := range arms {
			var all sqlparser.Expr
			conjuncts(arm, func(x sqlparser.Expr) {
				one := conjunct{}
				if a.reads(&one, x, c.scope, nil) && slices.Equal(one.deps, []*instance{in}) {
					if all == nil {
						all = x
					} else {
						all = &sqlparser.AndExpr{Left: all, Right: x}
					}
				}
			})
			if all == nil {
				continue next
			}
			if any == nil {
				any = all
			} else {
				any = &sqlparser.OrExpr{Left: any, Right: all}
			}
		}
		list = append(list, conjunct{expr: any, scope: c.scope, deps: []*instance{in}})
	}
	return list
}

// alternatives are the operands of the ORs at the top of e.
func alternatives(e sqlparser.Expr) []sqlparser.Expr {
	if or, ok := e.(*sqlparser.OrExpr); ok {
		return slices.Concat(alternatives(or.Left), alternatives(or.Right))
	}
	return []sqlparser.Expr{e}
}

// passes reports whether a conjunct outside of blk, the SELECT of a derived table or a part of its union, may as well be checked inside.
func (a *analysis) passes(c *conjunct, blk *block) bool {
	return a.looksInside(c, blk) && (!blk.combines() || a.even(c.expr, c.scope))
}

// divides reports whether a condition outside of q, a derived table, may keep a part of the rows that a row of q stands for: servers check
// inside what looks at columns that all of these have equal values in.
func (a *analysis) divides(q *query) bool {
	if q.block == nil {
		return slices.ContainsFunc(q.parts, a.divides)
	}
	if owner := q.block.owner; owner != nil && owner.block != nil && !owner.opaque {
		return q.block.combines() && slices.ContainsFunc(a.conjunctsOf(owner), func(c conjunct) bool {
			return a.looksInside(&c, q.block) && !a.even(c.expr, c.scope)
		})
	}
	top, sets := q.block.outerUnion()
	return top != nil && (sets || q.block.combines()) && slices.ContainsFunc(a.conjunctsOf(top.owner), func(c conjunct) bool {
		return len(c.subs) == 0 && slices.Equal(c.deps, []*instance{top.virtual}) && !a.even(c.expr, c.scope)
	})
}

// looksInside reports whether a conjunct outside of blk looks at nothing but columns that rows of FROM keep in blk.
func (a *analysis) looksInside(c *conjunct, blk *block) bool {
	if len(c.subs) > 0 || len(c.deps) == 0 || c.expr == nil || slices.ContainsFunc(c.deps, func(in *instance) bool { return !within(in, blk) }) {
		return false
	}
	columns := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if col, is := n.(*sqlparser.ColName); is {
			ref := c.scope.resolve(col, a.lower)
			columns = columns && ref.ok() && a.kept(ref, blk)
		}
		return columns, nil
	}, c.expr)
	return columns
}

// combines reports whether a row of blk's result depends on several rows, or stands for several.
func (blk *block) combines() bool {
	return blk.aggregated || blk.sel.GroupBy != nil || blk.sel.Distinct || len(blk.windows) > 0 || blk.namedWin
}

// kept reports whether all rows of FROM that a row of blk's result depends on have equal values in ref, a column of the result, and no row of
// the result depends on others: so that those with some values can be left out together. ROLLUP makes rows of all.
func (a *analysis) kept(ref colRef, blk *block) bool {
	if blk.query == nil || blk.query.limit != nil {
		return false
	}
	if blk.aggregated || blk.sel.GroupBy != nil {
		if blk.sel.GroupBy == nil || blk.sel.GroupBy.WithRollup || !slices.Contains(blk.groupBy, ref) {
			return false
		}
	}
	partitions, ok := blk.partitions()
	return ok && !slices.ContainsFunc(partitions, func(by []sqlparser.Expr) bool { return !slices.Contains(blk.columnsOf(a, by), ref) })
}

// partitions are the PARTITION BYs of all window functions; ok is false if one is not known.
func (blk *block) partitions() (list [][]sqlparser.Expr, ok bool) {
	for _, w := range blk.windows {
		list = append(list, w.PartitionClause)
	}
	if !blk.namedWin {
		return list, true
	}
	// A window by name has the partitions of its definition, or of that which the definition names.
	for _, named := range blk.sel.Windows {
		for _, d := range named.Windows {
			if d.WindowSpec != nil && d.WindowSpec.Name.IsEmpty() {
				list = append(list, d.WindowSpec.PartitionClause)
			}
		}
	}
	return list, len(blk.sel.Windows) > 0
}

// even reports whether a condition says the same of rows that have equal values in the columns that it reads, as servers compare them to
// make groups: equal strings may differ, in case or in spaces behind them, but not in how they compare by their column's own collation.
func (a *analysis) even(e sqlparser.Expr, scope *block) bool {
	if e == nil {
		return true // an equality of a column with a value
	}
	return eachCondition(e, func(e sqlparser.Expr) bool {
		return a.identical(e, scope) || a.evenLeaf(e, scope)
	})
}

// identical reports whether equal values in the columns that e reads are the same values.
func (a *analysis) identical(e sqlparser.Expr, scope *block) bool {
	identical := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if col, is := n.(*sqlparser.ColName); is {
			ref := scope.resolve(col, a.lower)
			identical = identical && ref.ok() && alike(ref.column())
		}
		return identical, nil
	}, e)
	return identical
}

// evenLeaf is even of a condition of strings that consists of no others.
func (a *analysis) evenLeaf(e sqlparser.Expr, scope *block) bool {
	switch e := e.(type) {
	case *sqlparser.BetweenExpr:
		return a.evenStrings(e.Left, scope, e.From, e.To)
	case *sqlparser.ComparisonExpr:
		if e.Escape != nil || e.Modifier != sqlparser.Missing {
			return false
		}
		switch e.Operator {
		case sqlparser.EqualOp, sqlparser.NotEqualOp, sqlparser.NullSafeEqualOp, sqlparser.LessThanOp, sqlparser.GreaterThanOp, sqlparser.LessEqualOp, sqlparser.GreaterEqualOp:
			return a.evenStrings(e.Left, scope, e.Right) || a.evenStrings(e.Right, scope, e.Left)
		case sqlparser.InOp, sqlparser.NotInOp:
			return a.evenStrings(e.Left, scope, e.Right)
		}
	}
	return false
}

// maxEvenChars bounds the strings that servers surely compare whole when they make groups.
const maxEvenChars = 190

// evenStrings reports whether e is a column of strings that is compared by its own collation with values, string literals: weaker than a
// column, and of characters that it has.
func (a *analysis) evenStrings(e sqlparser.Expr, scope *block, values ...sqlparser.Expr) bool {
	col, is := e.(*sqlparser.ColName)
	if !is {
		return false
	}
	ref := scope.resolve(col, a.lower)
	if !ref.ok() {
		return false
	}
	c := ref.column()
	if c.DataType != "char" && c.DataType != "varchar" || c.Length > maxEvenChars || !strings.HasPrefix(c.Collation, "utf8mb4_") {
		return false
	}
	st := a.b.st
	for _, v := range values {
		if _, null := v.(*sqlparser.NullVal); null {
			continue
		}
		n, ok := argumentOf(v)
		if !ok || n >= st.NumArgs() {
			return false
		}
		for i := range st.NumElems(n) {
			if class := st.Elem(n, i).Class; class != sqlparse.ClassString && class != sqlparse.ClassNull {
				return false
			}
		}
	}
	return true
}

// alike reports that two equal values of the column are the same value.
func alike(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year", "date", "time", "datetime", "timestamp":
		return true
	}
	return false
}

// within reports whether an instance stands in blk or in a derived table of it.
func within(in *instance, blk *block) bool {
	for b := in.block; b != nil; b = b.owner.block {
		if b == blk {
			return true
		}
		if b.owner == nil {
			return false
		}
	}
	return false
}

// reads notes what e reads; false if a name or a subquery is not known, or if it is about groups of rows: an aggregate in a
// condition is one of an enclosing query.
func (a *analysis) reads(c *conjunct, e sqlparser.SQLNode, scope *block, own []*instance) bool {
	ok := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ColName:
			ref := scope.resolve(n, a.lower)
			if !ref.ok() {
				ok = false
				break
			}
			if !slices.Contains(own, ref.inst) && !slices.Contains(c.deps, ref.inst) {
				c.deps = append(c.deps, ref.inst)
			}
		case *sqlparser.DerivedTable:
			ok = false
		case sqlparser.AggrFunc:
			ok = own != nil
		case *sqlparser.FuncExpr:
			ok = !a.readsTables(n)
		case *sqlparser.Subquery:
			q := a.queries[n]
			if q == nil || q.block == nil || q.block.where != nil && aggregates(q.block.where.Expr) {
				ok = false
				break
			}
			if own == nil {
				c.subs = append(c.subs, q)
			}
			ok = a.reads(c, n.Select, q.block, slices.Concat(own, q.block.insts)) && ok
			return false, nil
		}
		return ok, nil
	}, e)
	return ok
}

// aggregates reports whether e computes an aggregate outside of its subqueries.
func aggregates(e sqlparser.Expr) (has bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case sqlparser.AggrFunc:
			has = true
		case *sqlparser.Subquery:
			return false, nil
		}
		return !has, nil
	}, e)
	return has
}

// exactBeside reports whether a subquery gives on each node group what it gives over all of them, looked at for rows of
// anchors that lie there: its sharded tables are attached to them.
func (a *analysis) exactBeside(q *query, anchors []*instance) bool {
	var all []*instance
	var collect func(q *query) bool
	collect = func(q *query) bool {
		if q.block == nil || q.limit != nil || len(q.parts) > 0 {
			return false
		}
		for _, in := range q.block.insts {
			if in.table == nil || in.table.Kind != catalog.Sharded && in.table.Kind != catalog.Reference {
				return false
			}
			if in.sharded() {
				all = append(all, in)
			}
		}
		for _, s := range q.block.subs {
			if !collect(s.q) {
				return false
			}
		}
		return true
	}
	if !collect(q) {
		return false
	}
	n := len(all)
	for _, in := range anchors {
		if in.sharded() {
			all = append(all, in)
		}
	}
	edges, marked := make([][]int, len(all)), make([]bool, len(all))
	for i := range all {
		marked[i] = i >= n
		for j := range all {
			if i != j && attached(all[i], all[j]) {
				edges[i] = append(edges[i], j)
			}
		}
	}
	for i := range n {
		if !reaches(edges, i, marked) {
			return false
		}
	}
	return true
}

// need is the condition on rows of in that can matter, called plan.CopyRow in it: nil if there is none.
func (b *build) need(in *instance) plan.Text {
	blk := in.block
	if blk == nil {
		return nil
	}
	e := &editor{st: b.st}
	and := func(t plan.Text) {
		if e.text != nil || len(e.sql) > 0 {
			e.raw(" AND ")
		}
		e.add(t)
	}
	if !slices.Contains(preserved(blk.tree), in) {
		for _, x := range matching(blk.tree, in) {
			c := conjunct{expr: x.expr, scope: x.scope}
			if b.a.reads(&c, x.expr, x.scope, nil) && len(c.subs) == 0 {
				if t, ok := b.judged(&c, in); ok {
					and(t)
				}
			}
		}
	} else {
		n := b.neighbourhood(in)
		for i := range n.conds {
			c := &n.conds[i]
			if (b.ws.writes || b.ws.locks != nil) && len(c.subs) > 0 || !n.usable(c, []*instance{in}) {
				continue
			}
			if t, ok := b.judged(c, in); ok {
				and(t)
			}
		}
		if !b.ws.writes && b.ws.locks == nil { // which lock the copies' rows: what is read beside them would not be
			if t, ok := n.exists(); ok {
				and(t)
			}
		}
	}
	if e.text == nil && len(e.sql) == 0 {
		return nil
	}
	return e.done()
}

// judged is c, a condition on rows of in alone, for the fragment that reads them, called plan.CopyRow in it; ok is false if it cannot be judged there.
func (b *build) judged(c *conjunct, in *instance) (t plan.Text, ok bool) {
	if !slices.Equal(c.deps, []*instance{in}) || b.ws.writes && !b.quiet(c) {
		return nil, false
	}
	p := b.phrase(map[*instance]string{in: plan.CopyRow})
	p.conjunct(c)
	return p.done()
}

// matching are the conjuncts of the ON clauses that rows of in, which an outer join may replace by NULLs, must pass to be
// matches.
func matching(t *tree, in *instance) (list []conjunct) {
	var walk func(t *tree) (found, kept bool)
	walk = func(t *tree) (bool, bool) {
		if t == nil {
			return false, false
		}
		if t.kind == leaf {
			return t.inst == in, t.inst == in
		}
		add := func() {
			conjuncts(t.on, func(x sqlparser.Expr) { list = append(list, conjunct{expr: x, scope: t.onScope}) })
		}
		if found, kept := walk(t.l); found {
			if kept && t.kind == inner {
				add()
			}
			return true, kept
		}
		found, kept := walk(t.r)
		if found && kept {
			add()
		}
		return found, kept && t.kind == inner
	}
	walk(t)
	return list
}
