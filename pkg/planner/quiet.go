package planner

import (
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
	return eachCondition(c.expr, func(e sqlparser.Expr) bool { return b.quietLeaf(e, c.scope) })
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
