package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
)

// firstOf is the first rows of a table by an order: what a derived table with LIMIT reads.
type firstOf struct {
	order  []firstKey
	count  plan.Operand
	offset *plan.Operand
}

// copyFirst: see its rule's Doc.
func copyFirst(b *build) (fired bool, err error) {
	if b.ws == nil || b.first != nil {
		return false, nil
	}
	defer b.ws.trustDates()()
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		refs, ok := b.ws.references(c)
		if !ok || !c.top || c.table.Kind != catalog.Sharded || len(refs) != 1 || len(c.joins) > 0 || c.different {
			continue
		}
		c.first = b.firstOf(refs[0])
		fired = fired || c.first != nil
	}
	return fired, nil
}

// firstOf is what the derived table that in stands in reads of it, if that is the first of its rows by columns of its own; else nil.
func (b *build) firstOf(in *instance) *firstOf {
	blk := in.block
	if blk.owner == nil || blk.sel == nil || blk.query == nil || blk.query.limit == nil || len(blk.insts) != 1 || len(blk.subs) > 0 ||
		blk.sel.Distinct || blk.sel.SQLCalcFoundRows || blk.sel.GroupBy != nil || blk.sel.Having != nil || blk.aggregated || len(blk.windows) > 0 || blk.namedWin || blk.collects {
		return nil
	}
	f, ok := &firstOf{}, false
	if f.count, f.offset, ok = limitOf(blk.query.limit); !ok {
		return nil
	}
	if blk.where != nil {
		conjuncts(blk.where.Expr, func(e sqlparser.Expr) {
			c := conjunct{expr: e, scope: blk}
			if ok = ok && b.a.reads(&c, e, blk, nil) && len(c.subs) == 0; ok {
				_, ok = b.judged(&c, in)
			}
		})
	}
	if !ok {
		return nil
	}
	for _, o := range blk.sel.OrderBy {
		ref, plain := blk.sortColumn(o.Expr, b.a.lower)
		if !plain || ref.inst != in {
			return nil
		}
		f.order = append(f.order, firstKey{ref.col, o.Direction == sqlparser.DescOrder})
	}
	return f
}

// sortColumn is the column of FROM that an expression of ORDER BY means, if it is one under any rule of names.
func (blk *block) sortColumn(e sqlparser.Expr, lower bool) (ref colRef, ok bool) {
	col, is := e.(*sqlparser.ColName)
	if !is || !blk.query.known {
		return ref, false
	}
	ref = blk.resolve(col, lower)
	for _, c := range blk.query.columns {
		if col.Qualifier.IsEmpty() && col.Name.EqualString(c.name) && c.ref != ref {
			return colRef{}, false
		}
	}
	return ref, ref.ok()
}

// write ends the fragment that reads c with the order and the limit.
func (f *firstOf) write(e *editor, c *wanted) {
	c.orderBy(e, f.order)
	e.raw(" LIMIT ")
	switch {
	case f.offset != nil:
		e.total(f.count, *f.offset)
	case f.count.Arg >= 0:
		e.arg(plan.Piece{Arg: f.count.Arg})
	default:
		e.raw(string(f.count.Const.Raw))
	}
}

// orderBy writes an order of c's rows.
func (c *wanted) orderBy(e *editor, order []firstKey) {
	for i, k := range order {
		if i == 0 {
			e.raw(" ORDER BY ")
		} else {
			e.raw(", ")
		}
		e.raw(plan.CopyRow + "." + sqltypes.QuoteName(c.table.Columns[k.column].Name))
		if k.desc {
			e.raw(" DESC")
		}
	}
}

// trustDates lets conditions that compare columns which hold dates with strings count as quiet, until what it returns is called: see
// plan.Workspace.Moments.
func (w *worker) trustDates() (done func()) {
	w.dates = w.writes
	return func() { w.dates = false }
}

// sameTexts reports whether two lists of texts are the same.
func sameTexts(x, y []plan.Text) bool {
	return slices.EqualFunc(x, y, func(x, y plan.Text) bool { return x.String() == y.String() })
}
