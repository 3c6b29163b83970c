package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// copyDifferent: see its rule's Doc.
func copyDifferent(b *build) (fired bool, err error) {
	if b.ws == nil || b.query == nil || b.ws.writes || b.ws.locks != nil || b.plan.Uses&plan.Nondeterministic != 0 {
		return false, nil
	}
	m := mentions(b.st)
	if m.names["index"] || m.names["key"] || m.names["partition"] || hinted(b.st) {
		return false, nil // what is named may not be there
	}
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		if !c.top || c.columns == nil || c.table.Kind != catalog.Sharded || c.table.Temporary != "" {
			continue
		}
		refs, ok := b.ws.references(c)
		if !ok || slices.ContainsFunc(refs, func(in *instance) bool { return !b.a.setsOnly(in) }) {
			continue
		}
		columns := m.named(c.table)
		if len(columns) == 0 || keyWithin(c.table, columns) || slices.ContainsFunc(columns, func(i int) bool { return !alike(&c.table.Columns[i]) }) {
			continue
		}
		c.columns, c.unused, c.different = columns, nil, true
		fired = true
	}
	return fired, nil
}

// setsOnly reports whether it does not matter how many equal rows in has: it stands in a subquery of EXISTS, IN, ANY or ALL that
// neither counts nor limits rows.
func (a *analysis) setsOnly(in *instance) bool {
	for sub, q := range a.queries {
		blk := q.block
		if blk == nil || blk != in.block {
			continue
		}
		return (a.tested[sub] || a.sets[sub]) && blk.sel != nil && blk.sel.With == nil && blk.sel.GroupBy == nil && blk.sel.Having == nil &&
			!blk.aggregated && len(blk.windows) == 0 && !blk.namedWin && q.limit == nil
	}
	return false
}

// named are the columns of t whose names the text mentions; none where that is not sure, or some are generated.
func (m *mentioned) named(t *catalog.Table) (columns []int) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated || strings.ContainsFunc(c.Name, func(r rune) bool { return r > '~' }) {
			return nil
		}
		if m.names[strings.ToLower(c.Name)] {
			columns = append(columns, i)
		}
	}
	return columns
}

// keyWithin reports whether no two rows of t have the same values in columns.
func keyWithin(t *catalog.Table, columns []int) bool {
	within := func(key []int) bool {
		return len(key) > 0 && !slices.ContainsFunc(key, func(c int) bool { return !slices.Contains(columns, c) })
	}
	return within(t.Primary) || slices.ContainsFunc(t.Unique, func(u catalog.Index) bool { return !u.Partial && within(u.Columns) })
}

// hinted reports whether the text has optimizer hints, which may name keys.
func hinted(st *sqlparse.Statement) bool {
	for toks := st.Tokens(); ; {
		switch toks.Next().Kind {
		case sqlparse.HintComment:
			return true
		case sqlparse.EOF, sqlparse.Invalid:
			return false
		}
	}
}

// keysOf are the columns of a copy of different rows that are to be indexed: those by which it is joined, and those by which indexes
// of the table begin.
func (w *worker) keysOf(c *wanted) (names []string) {
	var joined []int
	for _, l := range w.links(c) {
		joined = append(joined, l.column)
	}
	for _, k := range slices.Concat(c.table.Indexes, c.table.Unique) {
		if len(k.Columns) > 0 && !k.Partial {
			joined = append(joined, k.Columns[0])
		}
	}
	for _, column := range append(joined, c.table.Primary[:min(1, len(c.table.Primary))]...) {
		if col := &c.table.Columns[column]; slices.Contains(c.columns, column) && indexable(col) && !slices.Contains(names, col.Name) && len(names) < maxQueryKeys {
			names = append(names, col.Name)
		}
	}
	return names
}

// indexable reports whether a key over c is worth having, and short enough.
func indexable(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "date":
		return true
	case "char", "varchar":
		return c.Length <= maxKeyChars
	}
	return false
}
