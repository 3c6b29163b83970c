package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// A statement that writes fails, in strict mode, at a row whose value cannot be converted for a comparison: 'abc' = 5 is
// error 1292 there, and only a warning in a query. A condition that leaves out rows of a copy must not hide that error:
// for statements that write only quiet conditions do, which compare plain columns with values of their own kind.

// quiet reports whether c converts nothing.
func (b *build) quiet(c *conjunct) bool {
	if c.expr == nil {
		return !c.equal[1].ok() && b.sameKind(c.equal[0].column(), c.op.Arg)
	}
	return eachCondition(c.expr, func(e sqlparser.Expr) bool { return b.quietLeaf(e, c.scope) || b.ws.dates && b.quietMoment(e, c.scope) })
}

// quietLeaf is quiet of a condition that consists of no others.
func (b *build) quietLeaf(e sqlparser.Expr, scope *block) bool {
	switch e := e.(type) {
	case *sqlparser.BetweenExpr:
		return b.quietValues(e.Left, scope, e.From, e.To)
	case *sqlparser.ComparisonExpr:
		if e.Escape != nil {
			return false
		}
		return b.quietValues(e.Left, scope, e.Right) || e.Operator != sqlparser.InOp && e.Operator != sqlparser.NotInOp &&
			b.quietValues(e.Right, scope, e.Left)
	}
	return false
}

// quietValues reports whether e is a column and all of values are of its kind.
func (b *build) quietValues(e sqlparser.Expr, scope *block, values ...sqlparser.Expr) bool {
	col, ok := e.(*sqlparser.ColName)
	if !ok {
		return false
	}
	ref := scope.resolve(col, b.a.lower)
	if !ref.ok() {
		return false
	}
	for _, v := range values {
		n, ok := argumentOf(v)
		if !ok || !b.sameKind(ref.column(), n) {
			return false
		}
	}
	return true
}

// sameKind reports whether argument arg, or each of its elements, is written as values of c's type are.
func (b *build) sameKind(c *catalog.Column, arg int) bool {
	if arg < 0 || arg >= b.st.NumArgs() {
		return false
	}
	for i := range b.st.NumElems(arg) {
		class := b.st.Elem(arg, i).Class
		switch c.DataType {
		case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double":
			if class != sqlparse.ClassInt && class != sqlparse.ClassDecimal && class != sqlparse.ClassFloat {
				return false
			}
		case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
			if class != sqlparse.ClassString {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// quietThroughout reports whether no condition of the statement converts anything, at any row: what a join leaves out hides no error then.
// What stands behind the conditions is computed for rows that pass them, which are not left out.
func (b *build) quietThroughout() bool {
	if b.a == nil {
		return false
	}
	for _, in := range b.a.insts {
		blk := in.block
		if in.opaque || in.lateral() || blk == nil || blk.where != nil && !b.quietJoin(blk.where.Expr, blk) || !b.quietTree(blk.tree) {
			return false
		}
	}
	return true
}

// quietTree is quiet of what the joins of t say.
func (b *build) quietTree(t *tree) bool {
	switch {
	case t == nil || t.kind == leaf:
		return true
	case t.on != nil && !b.quietJoin(t.on, t.onScope):
		return false
	case t.on == nil && t.join != nil && (!b.comparesAlike(t.facts) || len(t.facts) != len(t.merged)):
		return false
	}
	return b.quietTree(t.l) && b.quietTree(t.r)
}

// comparesAlike reports whether columns that are equal by facts are of one kind.
func (b *build) comparesAlike(facts []fact) bool {
	return !slices.ContainsFunc(facts, func(f fact) bool { return !compatible(f.a.column(), f.b.column()) })
}

// quietJoin is quiet of a condition that may compare columns with each other, and with those of subqueries, whose own conditions are
// not its.
func (b *build) quietJoin(e sqlparser.Expr, scope *block) bool {
	return eachCondition(e, func(e sqlparser.Expr) bool {
		switch e := e.(type) {
		case *sqlparser.ExistsExpr:
			return b.a.queries[e.Subquery].plain()
		case *sqlparser.ComparisonExpr:
			left, right := b.columnIn(e.Left, scope), b.columnIn(e.Right, scope)
			if sub, is := e.Right.(*sqlparser.Subquery); is && (e.Operator == sqlparser.InOp || e.Operator == sqlparser.NotInOp) {
				if q := b.a.queries[sub]; q.plain() && q.known && len(q.columns) == 1 {
					right = q.columns[0].ref
				}
			}
			if left.ok() && right.ok() {
				return e.Escape == nil && compatible(left.column(), right.column())
			}
		}
		return b.quietLeaf(e, scope) || b.quietMoment(e, scope)
	})
}

// quietMoment is quietLeaf of a comparison of a column that holds dates with strings, if these turn out to be dates: see plan.Workspace.Moments.
func (b *build) quietMoment(e sqlparser.Expr, scope *block) bool {
	var column sqlparser.Expr
	var values []sqlparser.Expr
	switch e := e.(type) {
	case *sqlparser.BetweenExpr:
		column, values = e.Left, []sqlparser.Expr{e.From, e.To}
	case *sqlparser.ComparisonExpr:
		switch e.Operator {
		case sqlparser.EqualOp, sqlparser.NotEqualOp, sqlparser.LessThanOp, sqlparser.LessEqualOp, sqlparser.GreaterThanOp, sqlparser.GreaterEqualOp:
			column, values = e.Left, []sqlparser.Expr{e.Right}
		}
	}
	ref := b.columnIn(column, scope)
	if !ref.ok() || ref.column().DataType != "date" && ref.column().DataType != "datetime" {
		return false
	}
	for _, v := range values {
		if _, now := v.(*sqlparser.CurTimeFuncExpr); now {
			continue
		}
		arg, ok := argumentOf(v)
		if !ok || arg < 0 || arg >= b.st.NumArgs() || b.st.NumElems(arg) != 1 || b.st.Elem(arg, 0).Class != sqlparse.ClassString {
			return false
		}
		if !slices.Contains(b.ws.plan.Moments, arg) {
			b.ws.plan.Moments = append(b.ws.plan.Moments, arg)
		}
	}
	return true
}

// plain reports whether q is a SELECT whose rows are those of its tables that pass its conditions.
func (q *query) plain() bool {
	return q != nil && q.block != nil && len(q.block.insts) > 0 && q.block.sel != nil && q.block.sel.Having == nil && q.block.sel.GroupBy == nil && !q.block.aggregated
}

// lateral reports whether a derived table is computed for each row of what stands before it.
func (i *instance) lateral() bool {
	var within func(q *query) bool
	within = func(q *query) bool {
		return q != nil && (q.block != nil && q.block.parent == i.block && i.block != nil || slices.ContainsFunc(q.parts, within))
	}
	return within(i.sub)
}

// columnIn is the column of a table that e is, if it is one.
func (b *build) columnIn(e sqlparser.Expr, scope *block) colRef {
	if col, ok := e.(*sqlparser.ColName); ok {
		return scope.resolve(col, b.a.lower)
	}
	return colRef{}
}
