package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
)

// queryLink is a comparison of a column of a table with one of the result of a query that is copied.
type queryLink struct {
	column int
	query  *plan.Query
	source int
	op     string // empty: the column equals some value
	always bool   // it is true, too, where the query has no value
}

// queryLinks are those that hold wherever the statement reads c.
func (w *worker) queryLinks(c *wanted) (list []queryLink) {
	refs, ok := w.references(c)
	if len(w.b.pushed) == 0 || !ok || c.table.Kind != catalog.Sharded || len(refs) > maxAlternatives {
		return nil
	}
	for i, in := range refs {
		one := append(w.b.queryLinks(in), w.b.bounds(in)...)
		if i == 0 {
			list = one
			continue
		}
		list = slices.DeleteFunc(list, func(l queryLink) bool { return !slices.Contains(one, l) })
	}
	return list
}

// queryLinks are the columns of in without whose equality to a copied query's a row cannot matter. Integers only: other
// values have several texts.
func (b *build) queryLinks(in *instance) (list []queryLink) {
	for c := range in.table.Columns {
		start := colRef{in, c}
		if keyClass(start.column()) != "int" {
			continue
		}
		cols, _ := equals(start, in.usable)
		for _, p := range b.pushed {
			if p.rest != nil {
				continue // the copy has other columns
			}
			for _, q := range p.of {
				at := -1
				for _, ref := range cols {
					if q.holds(ref.inst) {
						at = max(at, q.output(ref))
					}
				}
				for _, s := range in.block.subs {
					if s.semi && !s.on && s.q == q && slices.Contains(cols, s.left) && slices.Contains(preserved(in.block.tree), s.left.inst) &&
						len(q.columns) == 1 && q.columns[0].ref.ok() && compatible(start.column(), q.columns[0].ref.column()) {
						at = 0
					}
				}
				if at >= 0 {
					list = append(list, queryLink{column: c, query: p.query, source: at})
					break
				}
			}
		}
	}
	return list
}
