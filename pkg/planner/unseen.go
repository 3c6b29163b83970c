package planner

import (
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// unseen notes where servers may not come to see all of the statement's text: what is assigned to rows that are changed one by one, of which there
// may be none, or to rows that an INSERT meets. An error in it would be told only where there are such rows, when others have been written. What is
// known to be right, as most of such texts is, need not be shown to a server.
func (b *build) unseen() {
	if b.sess.RowWrite {
		return
	}
	switch n := b.plan.Root.(type) {
	case *plan.RowByRow:
		b.plan.Unseen = true
	case *plan.ChangeRows:
		in, m := b.mod.scope.insts[0], b.mod
		if m.del != nil {
			b.plan.Unseen = m.del.OrderBy != nil
			return
		}
		b.plan.Unseen = m.update.OrderBy != nil || !b.plainAssignments(m.update.Exprs, n.Table, func(q sqlparser.TableName) bool { return in.called(q, b.a.lower) })
	case *plan.InsertRows:
		b.plan.Unseen = n.Indexed != nil && n.Update && !b.plainAssignments(b.ins.stmt.OnDup, n.Table, func(q sqlparser.TableName) bool {
			return q.Qualifier.IsEmpty() && sameName(q.Name.String(), n.Table.Name, b.snap.LowerCaseTableNames != 0)
		})
	}
}

// plainAssignments reports whether every server takes the assignments to columns of t: literals, parameters, columns, and sums of numbers. called
// reports whether a qualifier means t.
func (b *build) plainAssignments(list []*sqlparser.UpdateExpr, t *catalog.Table, called func(sqlparser.TableName) bool) bool {
	column := func(name *sqlparser.ColName) *catalog.Column {
		c := t.Column(name.Name.String())
		if c < 0 || !name.Qualifier.IsEmpty() && !called(name.Qualifier) {
			return nil
		}
		return &t.Columns[c]
	}
	stored := func(c *catalog.Column) bool {
		return columnClass(c).kind != unknownClass || c.DataType == "json" || c.DataType == "bit"
	}
	var plain func(e sqlparser.Expr, number bool) bool
	plain = func(e sqlparser.Expr, number bool) bool {
		of := func(name *sqlparser.ColName) bool {
			c := column(name)
			return c != nil && stored(c) && (!number || columnClass(c).kind == numberClass)
		}
		switch e := e.(type) {
		case *sqlparser.Literal:
			return e.Type == sqlparser.IntVal || e.Type == sqlparser.DecimalVal || e.Type == sqlparser.FloatVal || e.Type == sqlparser.StrVal
		case *sqlparser.Argument:
			return b.plainLiteral(e)
		case *sqlparser.NullVal, sqlparser.BoolVal:
			return true
		case *sqlparser.ColName:
			return of(e)
		case *sqlparser.ValuesFuncExpr:
			return of(e.Name)
		case *sqlparser.CurTimeFuncExpr:
			return e.Fsp == 0
		case *sqlparser.UnaryExpr:
			return e.Operator == sqlparser.UMinusOp && plain(e.Expr, true)
		case *sqlparser.BinaryExpr:
			switch e.Operator {
			case sqlparser.PlusOp, sqlparser.MinusOp, sqlparser.MultOp, sqlparser.DivOp:
				return plain(e.Left, true) && plain(e.Right, true)
			}
		}
		return false
	}
	for _, u := range list {
		if c := column(u.Name); c == nil || c.Generated || !stored(c) || !plain(u.Expr, false) {
			return false
		}
	}
	return true
}

// plainLiteral reports whether an argument is a number, a string or a parameter, which no server finds fault with.
func (b *build) plainLiteral(e *sqlparser.Argument) bool {
	n, ok := argumentOf(e)
	if !ok {
		return false
	}
	switch b.st.Arg(n).Class {
	case sqlparse.ClassInt, sqlparse.ClassDecimal, sqlparse.ClassFloat, sqlparse.ClassString, sqlparse.ClassParam:
		return true
	}
	return false
}
