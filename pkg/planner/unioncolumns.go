package planner

import (
	"slices"

	"skarv/pkg/catalog"
)

// A column of a union that is, in each of its parts, a plain column of the same type has that type, and what is true of its value is true of
// the part's. So what is outside of a union that is a derived table, a view or a common table expression can be said of each
// part: it is said of columns of an instance that stands for the union's rows, and those are the part's columns there.

// unionColumns finds the columns of a union.
func (a *analysis) unionColumns(q *query) {
	first := q.parts[0]
	q.virtual = &instance{table: &catalog.Table{Kind: catalog.View, AutoIncrement: -1}}
	for _, p := range q.parts {
		p.union = q
	}
	for i, c := range first.columns {
		out := outColumn{name: c.name}
		like := slices.IndexFunc(q.parts, func(p *query) bool {
			return !p.known || i >= len(p.columns) || !c.ref.ok() || !p.columns[i].ref.ok() || !sameValues(c.ref.column(), p.columns[i].ref.column())
		}) < 0
		column := catalog.Column{}
		if like {
			column = *c.ref.column()
			column.Nullable = slices.ContainsFunc(q.parts, func(p *query) bool { return p.columns[i].ref.column().Nullable })
			out.ref = colRef{inst: q.virtual, col: i}
		}
		q.virtual.table.Columns = append(q.virtual.table.Columns, column)
		q.columns = append(q.columns, out)
	}
}

// sameValues reports whether a column made of two has the values that either has, which compare as they do in either.
func sameValues(x, y *catalog.Column) bool {
	switch x.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "varchar", "varbinary":
		return compatible(x, y)
	case "decimal", "date", "time", "datetime", "year", "char", "binary":
		return x.ColumnType == y.ColumnType && x.Collation == y.Collation
	}
	return false // members become strings, and of others the servers' rules are not known
}

// part is the column of part p that a column of the union q is; others are themselves.
func (q *query) part(p *query, ref colRef) colRef {
	if ref.inst == nil || ref.inst != q.virtual {
		return ref
	}
	return p.columns[ref.col].ref
}

// spreadUnion hands facts about a union's columns to its parts.
func (a *analysis) spreadUnion(q *query, ctx []fact) {
	for _, p := range q.parts {
		var known []fact
		for _, f := range ctx {
			x, y := q.part(p, f.a), q.part(p, f.b)
			if x.ok() && (y.ok() || !f.b.ok()) {
				f.a, f.b = x, y
				known = append(known, f)
			}
		}
		switch {
		case q.limit != nil:
			a.spread(p, nil, false)
		case p.block == nil && p.virtual != nil:
			a.spreadUnion(p, known)
		case p.block != nil && a.distributive(p):
			a.spread(p, known, false)
		default:
			a.spread(p, nil, false)
		}
	}
}

// outerUnion is the union that blk is a part of, over whatever unions between: one that is a derived table. sets: rows that are equal
// become one on the way.
func (blk *block) outerUnion() (q *query, sets bool) {
	for q = blk.query; q != nil && q.union != nil; q = q.union {
		if q.union.limit != nil {
			return nil, false
		}
		sets = sets || !q.union.sum
	}
	if q == nil || q == blk.query || q.owner == nil || q.owner.opaque || q.owner.block == nil {
		return nil, false
	}
	return q, sets
}

// throughUnion is the scope of a condition about columns of the union top as one about those of blk, which is a part of it.
func (blk *block) throughUnion(scope *block, top *query) *block {
	var path []*query // from blk's query up to top
	for q := blk.query; q != top; q = q.union {
		path = append(path, q)
	}
	path = append(path, top)
	s := *scope
	s.inside = func(ref colRef) colRef {
		if scope.inside != nil {
			ref = scope.inside(ref)
		}
		for i := len(path) - 1; i > 0; i-- {
			ref = path[i].part(path[i-1], ref)
		}
		return ref
	}
	return &s
}
