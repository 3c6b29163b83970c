package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// bounds are the comparisons of columns of in with the one value of a query that is copied without which a row cannot matter:
// col = (SELECT MAX(x) ...), col >= ALL (SELECT x ...).
func (b *build) bounds(in *instance) (list []queryLink) {
	if len(b.pushed) == 0 || !slices.Contains(preserved(in.block.tree), in) {
		return nil
	}
	for _, c := range b.a.conjuncts(in.block) {
		cmp, is := c.expr.(*sqlparser.ComparisonExpr)
		if !is {
			continue
		}
		left, right, op := cmp.Left, cmp.Right, cmp.Operator
		if _, is := left.(*sqlparser.Subquery); is {
			left, right, op = right, left, turned(op)
		}
		col, is := left.(*sqlparser.ColName)
		sub, also := right.(*sqlparser.Subquery)
		if !is || !also || ordered(op) == "" && op != sqlparser.EqualOp {
			continue
		}
		q, ref := b.a.queries[sub], c.scope.resolve(col, b.a.lower)
		at := slices.IndexFunc(b.pushed, func(p *pushed) bool { return slices.Contains(p.of, q) })
		if at < 0 || !ref.ok() || ref.inst != in {
			continue
		}
		p := b.pushed[at]
		if value := oneValue(q, b.a.lower); cmp.Modifier == sqlparser.Missing && p.rest == nil && value != nil && asLiteral(ref.column(), value) ||
			p.bound && asLiteral(ref.column(), q.columns[0].ref.column()) {
			list = append(list, queryLink{column: ref.col, query: p.query, op: ordered(op), always: cmp.Modifier == sqlparser.All})
		}
	}
	return list
}

// ordered is the SQL of a comparison of what is greater, empty for others.
func ordered(op sqlparser.ComparisonExprOperator) string {
	switch op {
	case sqlparser.LessThanOp, sqlparser.LessEqualOp, sqlparser.GreaterThanOp, sqlparser.GreaterEqualOp:
		return op.ToString()
	}
	return ""
}

// turned is the operator for the operands in the other order.
func turned(op sqlparser.ComparisonExprOperator) sqlparser.ComparisonExprOperator {
	switch op {
	case sqlparser.LessThanOp:
		return sqlparser.GreaterThanOp
	case sqlparser.LessEqualOp:
		return sqlparser.GreaterEqualOp
	case sqlparser.GreaterThanOp:
		return sqlparser.LessThanOp
	case sqlparser.GreaterEqualOp:
		return sqlparser.LessEqualOp
	}
	return op
}

// asLiteral reports whether a value of column y, written as a literal, compares with column x as y does.
func asLiteral(x, y *catalog.Column) bool {
	switch x.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "date", "datetime":
		return compatible(x, y)
	}
	return false
}

// oneValue is the column whose greatest or least value is all that q gives, in one row; or nil.
func oneValue(q *query, lower bool) *catalog.Column {
	blk := q.block
	if blk == nil || blk.sel == nil || blk.sel.GroupBy != nil || blk.sel.SelectExprs == nil || len(blk.sel.SelectExprs.Exprs) != 1 {
		return nil
	}
	item, is := blk.sel.SelectExprs.Exprs[0].(*sqlparser.AliasedExpr)
	if !is {
		return nil
	}
	var arg sqlparser.Expr
	switch call := item.Expr.(type) {
	case *sqlparser.Max:
		arg = call.Arg
	case *sqlparser.Min:
		arg = call.Arg
	}
	col, is := arg.(*sqlparser.ColName)
	if !is || len(blk.windows) > 0 || blk.namedWin {
		return nil
	}
	if ref := blk.resolve(col, lower); ref.ok() {
		return ref.column()
	}
	return nil
}

// bound is the aggregate whose value says as much as all values of a query whose values only are looked at (see valuesOnly), by a
// comparison with ALL or ANY; empty if there is none. There must be no NULL among them.
func (b *build) bound(of []*query) string {
	if len(of) != 1 || len(of[0].columns) != 1 || of[0].block.sel.Having != nil {
		return ""
	}
	ref := of[0].columns[0].ref
	if !ref.ok() || ref.column().Nullable || !slices.Contains(preserved(of[0].block.tree), ref.inst) || !asLiteral(ref.column(), ref.column()) {
		return ""
	}
	for sub, cmp := range b.a.compared {
		if b.a.queries[sub] != of[0] || cmp.Modifier == sqlparser.Missing {
			continue
		}
		greater := cmp.Operator == sqlparser.GreaterThanOp || cmp.Operator == sqlparser.GreaterEqualOp
		switch {
		case ordered(cmp.Operator) == "":
		case greater == (cmp.Modifier == sqlparser.All):
			return "MAX"
		default:
			return "MIN"
		}
	}
	return ""
}

// scanBound is scanPart of a SELECT of one column with an aggregate of it instead.
func (b *build) scanBound(span sqlparse.Span, aggregate string) (st *sqlparse.Statement, args []int, ok bool) {
	part0, _, ok := b.scanPart(span)
	if !ok {
		return nil, nil, false
	}
	items := part0.SelectItems(nil)
	list, found := part0.SelectList()
	if !found || len(items) != 1 || items[0].Star {
		return nil, nil, false
	}
	within := func(s sqlparse.Span) sqlparse.Span {
		return sqlparse.Span{Start: s.Start + span.Start, End: s.End + span.Start}
	}
	expr, rest := within(items[0].Expr), sqlparse.Span{Start: within(list).End, End: span.End}
	before, after := "SELECT "+aggregate+"(", ") AS "+sqltypes.QuoteName(columnName(0))
	text := before + string(b.st.Text(expr)) + after
	st = b.st.Dialect().NewStatement()
	if st.Scan([]byte(text+string(b.st.Text(rest))), b.st.Mode()) != nil {
		return nil, nil, false
	}
	args, ok = b.arguments(st, []part{{at: len(before), span: expr}, {at: len(text), span: rest}})
	return st, args, ok
}

// boundRest is the query over the copy of a bound: it has no row where there was no value.
func boundRest(t *catalog.Table) plan.Text {
	name := sqltypes.QuoteName(columnName(0))
	return plan.Text{{SQL: "SELECT " + name + " FROM " + t.SQL() + " WHERE " + name + " IS NOT NULL", Arg: plan.NoArg}}
}
