package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
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
	if blk.owner == nil || blk.owner.block == nil || !slices.Contains(preserved(blk.owner.block.tree), blk.owner) {
		return list
	}
	for _, c := range a.conjuncts(blk.owner.block) {
		if a.passes(&c, blk) {
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

// passes reports whether a conjunct outside of the derived table blk may as well be checked inside.
func (a *analysis) passes(c *conjunct, blk *block) bool {
	q := blk.owner.sub
	if len(c.subs) > 0 || len(c.deps) == 0 || blk.owner.opaque || q.limit != nil || len(blk.windows) > 0 || blk.namedWin {
		return false
	}
	for _, in := range c.deps {
		if !within(in, blk) {
			return false
		}
	}
	grouped := blk.aggregated || blk.sel.GroupBy != nil
	if !grouped && !blk.sel.Distinct {
		return true
	}
	if blk.sel.GroupBy != nil && blk.sel.GroupBy.WithRollup {
		return false
	}
	// One row stands for several that are equal: they must also be alike, and of one group.
	ok := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if col, is := n.(*sqlparser.ColName); is {
			ref := c.scope.resolve(col, a.lower)
			ok = ok && ref.ok() && alike(ref.column()) && (!grouped || slices.Contains(blk.groupBy, ref))
		}
		return ok, nil
	}, c.expr)
	return ok
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
			if b.a.reads(&c, x.expr, x.scope, nil) && len(c.subs) == 0 && slices.Equal(c.deps, []*instance{in}) &&
				(!b.ws.writes || b.quiet(&c)) {
				p := b.phrase(map[*instance]string{in: plan.CopyRow})
				p.conjunct(&c)
				if t, ok := p.done(); ok {
					and(t)
				}
			}
		}
	} else {
		n := b.neighbourhood(in)
		for i := range n.conds {
			c := &n.conds[i]
			if !slices.Equal(c.deps, []*instance{in}) || b.ws.writes && !b.quiet(c) || (b.ws.writes || b.ws.locks != nil) && len(c.subs) > 0 || !n.usable(c, []*instance{in}) {
				continue
			}
			p := b.phrase(map[*instance]string{in: plan.CopyRow})
			p.conjunct(c)
			if t, ok := p.done(); ok {
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
