package planner

import (
	"math"
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
)

// The part of a table's rows that a condition lets through is guessed from its form, as query optimizers do that have no
// histogram. Only the choice between ways that are all right depends on it.
const (
	equalShare   = 0.1
	rangeShare   = 0.3
	betweenShare = 0.2
	likeShare    = 0.2
	besideShare  = 0.5 // of rows that lie beside
	otherShare   = 0.5
)

// share is the part of t's rows that the conditions on them, as needed finds them, are expected to let through; equal are
// columns that must have one value besides.
func (w *worker) share(c *wanted) (share float64, equal []int) {
	if c.fragment.Target.Kind == plan.ByKey {
		return 0, nil // one row, or a few
	}
	if len(c.rows) == 0 {
		return 1, nil
	}
	refs, _ := w.references(c)
	if len(refs) == 1 {
		share = w.b.shareOf(refs[0], &equal)
		return share, equal
	}
	for _, in := range refs {
		share += w.b.shareOf(in, nil)
	}
	return math.Min(1, share), nil
}

// shareOf is share for one reference of a table. Columns that equal a value go to equal if it is not nil.
func (b *build) shareOf(in *instance, equal *[]int) float64 {
	share := 1.0
	if !slices.Contains(preserved(in.block.tree), in) {
		for _, x := range matching(in.block.tree, in) {
			c := conjunct{expr: x.expr, scope: x.scope}
			if b.a.reads(&c, x.expr, x.scope, nil) && slices.Equal(c.deps, []*instance{in}) {
				share *= b.exprShare(x.expr, x.scope)
			}
		}
		return share
	}
	n := b.neighbourhood(in)
	for i := range n.conds {
		c := &n.conds[i]
		switch {
		case !slices.Equal(c.deps, []*instance{in}):
		case equal != nil && b.equalColumn(c) >= 0:
			*equal = append(*equal, b.equalColumn(c))
		case c.expr == nil:
			share *= equalTo(in.table, c.equal[0].col)
		default:
			share *= b.exprShare(c.expr, c.scope)
		}
	}
	if len(n.partners()) > 0 {
		share *= besideShare
	}
	return share
}

// equalColumn is the column that must equal a value for c to be true, or -1; keys that one row has are none.
func (b *build) equalColumn(c *conjunct) int {
	ref := c.equal[0]
	if c.expr != nil {
		cmp, ok := c.expr.(*sqlparser.ComparisonExpr)
		if !ok || cmp.Operator != sqlparser.EqualOp || cmp.Modifier != sqlparser.Missing {
			return -1
		}
		ref = colRef{}
		for _, sides := range [][2]sqlparser.Expr{{cmp.Left, cmp.Right}, {cmp.Right, cmp.Left}} {
			if col, ok := sides[0].(*sqlparser.ColName); ok && constant(sides[1]) {
				ref = c.scope.resolve(col, b.a.lower)
			}
		}
	}
	if !ref.ok() || equalTo(ref.inst.table, ref.col) == 0 {
		return -1
	}
	return ref.col
}

// exprShare is the part of rows for which e is expected to be true.
func (b *build) exprShare(e sqlparser.Expr, scope *block) float64 {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return b.exprShare(e.Left, scope) * b.exprShare(e.Right, scope)
	case *sqlparser.OrExpr:
		return math.Min(1, b.exprShare(e.Left, scope)+b.exprShare(e.Right, scope))
	case *sqlparser.NotExpr:
		return 1 - math.Min(1, b.exprShare(e.Expr, scope))
	case *sqlparser.BetweenExpr:
		if e.IsBetween {
			return betweenShare
		}
		return 1 - betweenShare
	case *sqlparser.IsExpr:
		if e.Right == sqlparser.IsNullOp {
			return equalShare
		}
		return 1 - equalShare
	case *sqlparser.ComparisonExpr:
		switch e.Operator {
		case sqlparser.EqualOp, sqlparser.NullSafeEqualOp:
			for _, side := range []sqlparser.Expr{e.Left, e.Right} {
				if col, ok := side.(*sqlparser.ColName); ok {
					if ref := scope.resolve(col, b.a.lower); ref.ok() {
						return equalTo(ref.inst.table, ref.col)
					}
				}
			}
			return equalShare
		case sqlparser.InOp:
			return 3 * equalShare
		case sqlparser.LessThanOp, sqlparser.GreaterThanOp, sqlparser.LessEqualOp, sqlparser.GreaterEqualOp:
			return rangeShare
		case sqlparser.LikeOp, sqlparser.RegexpOp:
			return likeShare
		case sqlparser.NotEqualOp, sqlparser.NotInOp, sqlparser.NotLikeOp, sqlparser.NotRegexpOp:
			return 1 - equalShare
		}
	}
	return otherShare
}

// equalTo is the part of t's rows that have one value in column: 0 for one row.
func equalTo(t *catalog.Table, column int) float64 {
	if slices.Equal(t.Primary, []int{column}) {
		return 0
	}
	for _, u := range t.Unique {
		if !u.Partial && slices.Equal(u.Columns, []int{column}) {
			return 0
		}
	}
	return equalShare
}
