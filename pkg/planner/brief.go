package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// briefBytes is how long the row of a brief statement may be.
const briefBytes = 8 << 10

// brief reports whether a SELECT that lies where t says is one that servers have answered as soon as they have read it: it passes on stored
// columns, short ones, of at most one row, found by the primary key, and asks for nothing else. Nothing it does can be seen by others or
// makes it wait for them, but for who closes the table.
func (b *build) brief(t plan.Target) bool {
	if t.Kind != plan.ByKey || len(t.Also) > 0 || b.plan.Uses != 0 || len(b.plan.Guards) > 0 || b.st.Uses()&sqlparse.Hint != 0 ||
		len(b.a.insts) != 1 || len(b.reads)+len(b.a.behind) > 0 || b.query == nil || b.query.block == nil || b.query.limit != nil {
		return false
	}
	in, sel := b.a.insts[0], b.query.block.sel
	if in.table != t.Table || in.inView || in.table.Temporary != "" || sel == nil || in.block != b.query.block {
		return false
	}
	if sel.With != nil || sel.Distinct || sel.SQLCalcFoundRows || sel.GroupBy != nil || sel.Having != nil || sel.Windows != nil || sel.OrderBy != nil ||
		sel.Limit != nil || sel.Lock != sqlparser.NoLock || sel.Into != nil || sel.Where == nil {
		return false
	}
	return b.onePrimary(in) && b.comparesOnly(sel.Where.Expr) && b.short(in.table, sel.SelectExprs.Exprs)
}

// onePrimary reports whether each column of in's primary key is one of its distribution key, which has one value.
func (b *build) onePrimary(in *instance) bool {
	_, single, ok := keyOperands(in)
	if !ok || !single || len(in.table.Primary) == 0 {
		return false
	}
	return !slices.ContainsFunc(in.table.Primary, func(i int) bool { return !slices.Contains(in.table.Distribution, i) })
}

// comparesOnly reports whether e says of columns that they are equal to values, and nothing else.
func (b *build) comparesOnly(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return b.comparesOnly(e.Left) && b.comparesOnly(e.Right)
	case *sqlparser.ComparisonExpr:
		if e.Operator != sqlparser.EqualOp {
			return false
		}
		_, column := e.Left.(*sqlparser.ColName)
		_, value := argumentOf(e.Right)
		return column && value
	}
	return false
}

// short reports whether exprs are columns of t alone whose values are short.
func (b *build) short(t *catalog.Table, exprs []sqlparser.SelectExpr) bool {
	size := 0
	add := func(c *catalog.Column) bool {
		switch c.Type {
		case sqltypes.TypeBlob, sqltypes.TypeJSON, sqltypes.TypeGeometry, sqltypes.TypeVector:
			return false
		}
		const character, other = 4, 128 // bytes, at most: numbers have no Length
		size += character*int(c.Length) + other
		return size <= briefBytes && !c.Generated
	}
	for _, e := range exprs {
		switch e := e.(type) {
		case *sqlparser.StarExpr:
			for i := range t.Columns {
				if !add(&t.Columns[i]) {
					return false
				}
			}
		case *sqlparser.AliasedExpr:
			col, ok := e.Expr.(*sqlparser.ColName)
			if !ok {
				return false
			}
			i := t.Column(col.Name.String())
			if i < 0 || !add(&t.Columns[i]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
