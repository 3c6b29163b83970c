package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// briefBytes is how long the row of a brief statement may be.
const briefBytes = 8 << 10

// brief reports whether a SELECT that lies where t says is one that servers have answered as soon as they have read it: it passes on stored
// columns, short ones, of at most one row, found by the primary key, and asks for nothing else. Nothing it does can be seen by others or
// makes it wait for them, but for who closes the table.
func (b *build) brief(t plan.Target) bool {
	if t.Kind == plan.AllGroups || len(t.Also) > 0 || b.plan.Uses != 0 || len(b.plan.Guards) > 0 || b.st.Uses()&sqlparse.Hint != 0 ||
		len(b.a.insts) != 1 || len(b.reads)+len(b.a.behind) > 0 || b.query == nil || b.query.block == nil || b.query.limit != nil {
		return false
	}
	in, sel := b.a.insts[0], b.query.block.sel
	if in.table == nil || in.table.Kind == catalog.View || in.inView || in.table.Temporary != "" || sel == nil || in.block != b.query.block {
		return false
	}
	if sel.With != nil || sel.Distinct || sel.SQLCalcFoundRows || sel.GroupBy != nil || sel.Having != nil || sel.Windows != nil || sel.OrderBy != nil ||
		sel.Limit != nil || sel.Lock != sqlparser.NoLock || sel.Into != nil || sel.Where == nil {
		return false
	}
	return onePrimary(in) && comparesOnly(sel.Where.Expr) && short(in.table, sel.SelectExprs.Exprs)
}

// onePrimary reports whether each column of in's primary key is equal to one value.
func onePrimary(in *instance) bool {
	for _, i := range in.table.Primary {
		_, ops := equals(colRef{in, i}, in.usable)
		if !slices.ContainsFunc(ops, func(f fact) bool { return !f.list }) {
			return false
		}
	}
	return len(in.table.Primary) > 0
}

// comparesOnly reports whether e says of columns that they are equal to values, and nothing else.
func comparesOnly(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return comparesOnly(e.Left) && comparesOnly(e.Right)
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
func short(t *catalog.Table, exprs []sqlparser.SelectExpr) bool {
	size := 0
	add := func(c *catalog.Column) bool {
		switch c.DataType {
		case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year", "date", "time", "datetime", "timestamp",
			"char", "varchar", "binary", "varbinary", "enum", "set", "uuid", "inet4", "inet6":
		default:
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
