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
	if in.table == nil || in.table.Kind == catalog.View || in.inView || in.from == nil || in.from.Hints != nil || in.table.Temporary != "" || sel == nil ||
		in.block != b.query.block {
		return false
	}
	if sel.With != nil || sel.Distinct || sel.SQLCalcFoundRows || sel.GroupBy != nil || sel.Having != nil || sel.Windows != nil || sel.OrderBy != nil ||
		sel.Limit != nil || sel.Lock != sqlparser.NoLock || sel.Into != nil || sel.Where == nil {
		return false
	}
	return b.onePrimary(in) && comparesOnly(in.table, sel.Where.Expr) && short(in.table, sel.SelectExprs.Exprs)
}

// onePrimary reports whether each column of in's primary key is equal to one value, by which a server finds it in the key: not a string to a
// number. Of a distribution key that is looked at when a statement is routed.
func (b *build) onePrimary(in *instance) bool {
	for _, i := range in.table.Primary {
		c := &in.table.Columns[i]
		_, ops := equals(colRef{in, i}, in.usable)
		if !slices.ContainsFunc(ops, func(f fact) bool {
			return !f.list && (slices.Contains(in.table.Distribution, i) || columnClass(c).kind == numberClass || b.sameKind(c, f.op.Arg))
		}) {
			return false
		}
	}
	return len(in.table.Primary) > 0
}

// comparesOnly reports whether e says of stored columns of t that they are equal to values, and nothing else.
func comparesOnly(t *catalog.Table, e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return comparesOnly(t, e.Left) && comparesOnly(t, e.Right)
	case *sqlparser.ComparisonExpr:
		if e.Operator != sqlparser.EqualOp {
			return false
		}
		c := stored(t, e.Left)
		_, value := argumentOf(e.Right)
		return c != nil && value
	}
	return false
}

// stored is the column of t that e is, if its values stand in the row; else nil.
func stored(t *catalog.Table, e sqlparser.Expr) *catalog.Column {
	col, ok := e.(*sqlparser.ColName)
	if !ok {
		return nil
	}
	i := t.Column(col.Name.String())
	if i < 0 || !inRow(&t.Columns[i]) {
		return nil
	}
	return &t.Columns[i]
}

// inRow reports whether servers keep c's values in the row itself.
func inRow(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "bit", "year", "date", "time", "datetime", "timestamp",
		"char", "varchar", "binary", "varbinary", "enum", "set", "uuid", "inet4", "inet6":
		return !c.Generated
	}
	return false
}

// short reports whether exprs are columns of t alone whose values are short.
func short(t *catalog.Table, exprs []sqlparser.SelectExpr) bool {
	size := 0
	add := func(c *catalog.Column) bool {
		const character, other = 4, 128 // bytes, at most: numbers have no Length
		size += character*int(c.Length) + other
		return size <= briefBytes && inRow(c)
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
			if c := stored(t, e.Expr); c == nil || !add(c) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
