package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// partialAggregate: see its rule's Doc.
func partialAggregate(b *build) (bool, error) {
	blk := b.query.block
	if !blk.aggregated && blk.sel.GroupBy == nil || blk.grouped(b.a) {
		return false, nil
	}
	refuse := func(what, how string) (bool, error) { return false, b.refuseScatter(what, how) }
	const local = "put the distribution key into GROUP BY, or give its value"
	switch {
	case blk.sel.GroupBy != nil && blk.sel.GroupBy.WithRollup:
		return refuse("WITH ROLLUP over several node groups", "compute the totals with a second statement")
	case len(blk.windows) > 0 || blk.namedWin:
		return refuse("window functions together with GROUP BY over several node groups", local)
	case len(blk.subs) > 0 && b.subsOutsideWhere():
		return refuse("subqueries together with aggregates over several node groups", local)
	}
	items, ok := b.plainItems()
	if !ok {
		return refuse("* together with GROUP BY over several node groups", "list the columns")
	}
	s := b.frag
	agg := &plan.Aggregate{}
	grouped := blk.sel.GroupBy != nil
	for i, item := range items {
		c, ok, err := b.aggregateColumn(blk, i, item, grouped)
		if !ok || err != nil {
			return false, err
		}
		agg.Columns = append(agg.Columns, c)
	}
	if grouped {
		var keys []plan.Order
		byColumn := map[colRef]plan.Order{}
		for i, e := range blk.sel.GroupBy.Exprs {
			if b.parameter(e) {
				return refuse("GROUP BY of a parameter over several node groups", "write the expression into the statement")
			}
			if constant(e) && !isOrdinal(b, e) {
				continue
			}
			k, ok, err := b.orderKey(e, groupItem, i, true)
			if !ok || err != nil {
				return false, err
			}
			keys = append(keys, k)
			if ref := b.a.groupColumn(blk, e); ref.ok() {
				byColumn[ref] = k
			}
		}
		if len(keys) == 0 {
			return refuse("GROUP BY of a constant over several node groups", "leave it out")
		}
		if blk.sel.Having != nil && !b.evenOnKeys(blk, blk.sel.Having.Expr) {
			return refuse("HAVING over several node groups with anything but the grouping columns", local)
		}
		order, ok, err := b.groupOrder(blk, byColumn)
		if !ok || err != nil {
			return false, err
		}
		if slices.ContainsFunc(order, func(o plan.Order) bool {
			return !slices.ContainsFunc(keys, func(k plan.Order) bool { return k.Column == o.Column })
		}) {
			if slices.ContainsFunc(order, func(o plan.Order) bool { return o.Column >= s.visible || o.Weight >= 0 }) {
				return refuse("ORDER BY an aggregate and an expression that is not in the select list over several node groups",
					"put the expression into the select list")
			}
			s.sort, order = order, nil
		}
		for _, k := range keys {
			if !slices.ContainsFunc(order, func(o plan.Order) bool { return k.Column == o.Column }) {
				order = append(order, k)
			}
		}
		s.order, s.reorder = order, true
		agg.GroupBy = order
	} else if blk.sel.Having != nil {
		return refuse("HAVING over several node groups without GROUP BY", "check the value at the client")
	}
	s.aggregate = agg
	return true, nil
}

// groupOrder is resultOrder for grouped rows: what is grouped by need not be in the select list.
func (b *build) groupOrder(blk *block, byColumn map[colRef]plan.Order) (keys []plan.Order, ok bool, err error) {
	for _, o := range blk.sel.OrderBy {
		if col, is := o.Expr.(*sqlparser.ColName); is && blk.alias(col.Name) == nil {
			if k, is := byColumn[blk.resolve(col, b.a.lower)]; is {
				k.Desc = o.Direction == sqlparser.DescOrder
				keys = append(keys, k)
				continue
			}
		}
		more, ok, err := b.resultOrder(sqlparser.OrderBy{o}, false)
		if !ok || err != nil {
			return nil, false, err
		}
		keys = append(keys, more...)
	}
	return keys, true, nil
}

// subsOutsideWhere reports whether a subquery stands where aggregates do.
func (b *build) subsOutsideWhere() bool {
	sel := b.query.block.sel
	var nodes []sqlparser.SQLNode
	if sel.Having != nil {
		nodes = append(nodes, sel.Having)
	}
	if sel.GroupBy != nil {
		nodes = append(nodes, sel.GroupBy)
	}
	found := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		_, is := n.(*sqlparser.Subquery)
		found = found || is
		return !found, nil
	}, sel.SelectExprs, nodes...)
	return found
}

// onKeys is a condition in HAVING with the grouping columns that its aliases name, if it looks at nothing but grouping columns; else nil.
func (b *build) onKeys(blk *block, e sqlparser.Expr) sqlparser.Expr {
	ok := !b.volatile(e)
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case sqlparser.AggrFunc, *sqlparser.Subquery:
			ok = false
		case *sqlparser.ColName:
			ref := b.a.groupColumn(blk, n)
			ok = ok && ref.ok() && slices.Contains(blk.groupBy, ref)
			if item := blk.alias(n.Name); n.Qualifier.IsEmpty() && ok && item != nil {
				c, plain := item.Expr.(*sqlparser.ColName)
				ok = plain && blk.resolve(c, b.a.lower) == ref
			}
		}
		return ok, nil
	}, e)
	if !ok {
		return nil
	}
	return sqlparser.CopyOnRewrite(e, nil, func(c *sqlparser.CopyOnWriteCursor) {
		if n, is := c.Node().(*sqlparser.ColName); is && n.Qualifier.IsEmpty() {
			if item := blk.alias(n.Name); item != nil {
				c.Replace(item.Expr)
			}
		}
	}, nil).(sqlparser.Expr)
}

// evenOnKeys reports that a condition in HAVING looks at nothing but grouping columns, and says the same of all that is equal in them: it then
// keeps or drops whole groups alike on every node group.
func (b *build) evenOnKeys(blk *block, e sqlparser.Expr) bool {
	on := b.onKeys(blk, e)
	return on != nil && b.a.even(on, blk)
}

// dividesGroups reports whether HAVING may keep a part of a group: MariaDB looks at its conditions about grouping columns before it makes groups.
func (b *build) dividesGroups(blk *block) (divides bool) {
	if blk.sel.Having != nil && b.snap.Flavor == catalog.MariaDB {
		conjuncts(blk.sel.Having.Expr, func(e sqlparser.Expr) {
			divides = divides || b.onKeys(blk, e) != nil && !b.evenOnKeys(blk, e)
		})
	}
	return divides
}

// aggregateColumn is how partial values of select list item i combine.
func (b *build) aggregateColumn(blk *block, i int, item *sqlparser.AliasedExpr, grouped bool) (c plan.AggregateColumn, ok bool, err error) {
	c = plan.AggregateColumn{Column: i, Weight: -1}
	distinctOK := func(distinct bool, args ...sqlparser.Expr) bool {
		return !distinct || b.a.keyed(blk, blk.columnsOf(b.a, args))
	}
	refuseDistinct := func() (plan.AggregateColumn, bool, error) {
		return c, false, b.refuseScatter("an aggregate with DISTINCT over several node groups",
			"put the distribution key into GROUP BY, or count the rows of SELECT DISTINCT at the client")
	}
	switch f := item.Expr.(type) {
	case *sqlparser.CountStar:
		c.Func = plan.Count
		return c, true, nil
	case *sqlparser.Count:
		if !distinctOK(f.Distinct, f.Args...) {
			return refuseDistinct()
		}
		c.Func = plan.Count
		return c, true, nil
	case *sqlparser.Sum:
		if !distinctOK(f.Distinct, f.Arg) {
			return refuseDistinct()
		}
		c.Func = plan.Sum
		d := b.digitsAdded(blk, f.Arg, grouped)
		if d == shown {
			return c, true, nil
		}
		inner, ok := b.callArgument(i)
		sum, all := b.sumOf(blk, f.Arg, inner, d, false)
		if !ok || f.Distinct || !all {
			return c, false, b.refuseDigits()
		}
		c.Sum = b.hide(sum)
		return c, true, nil
	case *sqlparser.Avg:
		if f.Distinct {
			return refuseDistinct()
		}
		if b.parameter(f.Arg) { // its type on MySQL is not that of a sum
			return c, false, b.refuseScatter("AVG of a parameter over several node groups", "write the value into the statement")
		}
		inner, ok := b.callArgument(i)
		if !ok {
			return c, false, b.refuseScatter("AVG written this way over several node groups", "write AVG(expression)")
		}
		c.Func = plan.Avg
		sum, all := b.sumOf(blk, f.Arg, inner, b.digitsAdded(blk, f.Arg, grouped), true)
		if !all {
			return c, false, b.refuseDigits()
		}
		c.Sum = b.hide(sum)
		c.Count = b.hide(hiddenColumn{before: "COUNT(", span: inner, after: ")"})
		return c, true, nil
	case *sqlparser.Min:
		c.Func = plan.Min
	case *sqlparser.Max:
		c.Func = plan.Max
	default:
		if hasAggregate(item.Expr) {
			return c, false, b.refuseScatter("an expression over aggregates over several node groups",
				"select the aggregates by themselves and compute the expression at the client")
		}
		if !grouped && !constant(item.Expr) {
			return c, false, b.refuseScatter("a column beside aggregates without GROUP BY over several node groups",
				"leave the column out, or group by it")
		}
		c.Func = plan.First
		return c, true, nil
	}
	cls := b.class(blk, item.Expr)
	switch cls.kind {
	case memberClass:
		cls.kind = stringClass // MIN and MAX compare members as strings
	case floatClass:
		cls.kind = numberClass // of values with one text either will do
	}
	span, ok := b.itemSpan(i)
	if !ok {
		return c, false, b.refuseOrder()
	}
	k, ok := b.keyFor(i, cls, span, item.Expr)
	if !ok {
		return c, false, b.refuseOrder()
	}
	c.Collation, c.Weight = k.Collation, k.Weight
	return c, true, nil
}

func (b *build) refuseDigits() error {
	return b.refuseScatter("SUM or AVG over several node groups of a number that Skarv does not know all digits of", "ROUND it")
}

// callArgument is the text between the parentheses of select list item i, which is a call.
func (b *build) callArgument(i int) (sqlparse.Span, bool) {
	span, ok := b.itemSpan(i)
	if !ok {
		return span, false
	}
	toks := b.st.Tokens()
	open := -1
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF || t.Start >= span.End {
			break
		}
		if t.Start < span.Start || t.Kind != sqlparse.Op {
			continue
		}
		if open < 0 && b.st.Is(t, "(") {
			open = t.End
		}
		if t.End == span.End && b.st.Is(t, ")") && open >= 0 {
			return sqlparse.Span{Start: open, End: t.Start}, true
		}
	}
	return span, false
}

func hasAggregate(e sqlparser.Expr) bool {
	has := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if _, ok := n.(sqlparser.AggrFunc); ok {
			has = true
		}
		return !has, nil
	}, e)
	return has
}
