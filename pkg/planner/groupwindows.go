package planner

import (
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/sqlparse"
)

// overOf is the OVER clause of a window function, nil for what is none.
func overOf(e sqlparser.SQLNode) *sqlparser.OverClause {
	if win, is := e.(sqlparser.WindowFunc); is {
		return win.GetOverClause()
	}
	return nil
}

// hasWindow reports whether e computes a window function.
func hasWindow(e sqlparser.Expr) (has bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		has = has || overOf(n) != nil
		return !has, nil
	}, e)
	return has
}

// window writes a window function over the groups: what it looks at are columns of them. Functions of rows before and behind are not
// known here.
func (g *grouping) window(p *phrase, e sqlparser.Expr, over *sqlparser.OverClause) {
	scope := g.b.query.block
	call := func(before string, arg sqlparser.Expr) {
		p.raw(before)
		p.expr(arg, scope)
		p.raw(")")
	}
	switch e := e.(type) {
	case *sqlparser.ArgumentLessWindowExpr:
		p.raw(e.Type.ToString() + "()")
	case *sqlparser.CountStar:
		p.raw("COUNT(*)")
	case *sqlparser.Sum:
		call("SUM(", e.Arg)
	case *sqlparser.Avg:
		call("AVG(", e.Arg)
	default: // of MIN and MAX the type depends on what holds their argument
		p.fail()
		return
	}
	spec := over.WindowSpec
	if spec == nil || g.values || g.again || isDistinct(e.(sqlparser.SQLNode)) {
		p.fail()
		return
	}
	p.raw(" OVER (")
	for i, x := range spec.PartitionClause {
		p.raw(map[bool]string{true: "PARTITION BY ", false: ", "}[i == 0])
		p.expr(x, scope)
	}
	for i, o := range spec.OrderClause {
		p.raw(map[bool]string{true: " ORDER BY ", false: ", "}[i == 0])
		p.expr(o.Expr, scope)
		if o.Direction == sqlparser.DescOrder {
			p.raw(" DESC")
		}
	}
	if f := spec.FrameClause; f != nil {
		p.raw(" " + f.Unit.ToString() + " ")
		if f.End == nil {
			g.framePoint(p, f.Start)
		} else {
			p.raw("BETWEEN ")
			g.framePoint(p, f.Start)
			p.raw(" AND ")
			g.framePoint(p, f.End)
		}
	}
	p.raw(")")
}

// framePoint writes an end of a frame: a number of rows, or all, or this one.
func (g *grouping) framePoint(p *phrase, f *sqlparser.FramePoint) {
	if f.Expr != nil {
		op, ok := operandOf(f.Expr)
		if !ok || f.Unit != sqlparser.IntervalNone || op.Arg < 0 || g.b.st.Arg(op.Arg).Class != sqlparse.ClassInt {
			p.fail()
			return
		}
		p.operand(op)
		p.raw(" ")
	}
	p.raw(f.Type.ToString())
}
