package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// copyColumns: see its rule's Doc.
func copyColumns(b *build) (fired bool, err error) {
	if b.ws == nil || b.ws.writes {
		return false, nil
	}
	stars := b.starTables()
	texts := map[*sqlparse.Statement]*mentioned{}
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		if texts[c.st] == nil {
			texts[c.st] = mentions(c.st)
		}
		m := texts[c.st]
		switch {
		case slices.Contains(b.reads, c.table), m.natural, (b.query == nil || !c.top) && m.star, c.top && slices.Contains(stars, c.table):
			continue
		}
		all := allColumns(c.table)
		if c.columns = m.columns(c.table); len(c.columns) < len(all) {
			fired = true
		}
	}
	return fired, nil
}

// leaveKeys: see its rule's Doc.
func leaveKeys(b *build) (fired bool, err error) {
	if b.ws == nil || b.ws.writes {
		return false, nil
	}
	for i := range b.ws.wanted {
		c := &b.ws.wanted[i]
		if c.columns == nil {
			continue
		}
		m := mentions(c.st)
		for _, k := range c.table.Indexes {
			if !k.Unique && !k.Partial && !k.Fulltext && len(k.Columns) > 0 && !slices.Contains(c.columns, k.Columns[0]) && !m.names[strings.ToLower(k.Name)] {
				c.unused = append(c.unused, k.Name)
				fired = true
			}
		}
	}
	return fired, nil
}

// allColumns are those of a copy: what is generated is generated there again.
func allColumns(t *catalog.Table) (cols []int) {
	for i := range t.Columns {
		if !t.Columns[i].Generated {
			cols = append(cols, i)
		}
	}
	return cols
}

// mentioned is the names in a text, in lower case.
type mentioned struct {
	names         map[string]bool
	star, natural bool // there is a * that is no COUNT(*) and may stand for columns; a NATURAL join
}

func mentions(st *sqlparse.Statement) *mentioned {
	m := &mentioned{names: map[string]bool{}}
	var prev sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch t.Kind {
		case sqlparse.EOF:
			return m
		case sqlparse.Invalid:
			m.star = true
			return m
		case sqlparse.Word:
			m.natural = m.natural || st.Is(t, "NATURAL")
			m.star = m.star || st.Is(t, "TABLE")
			m.names[strings.ToLower(string(st.Text(t.Span)))] = true
		case sqlparse.QuotedName:
			m.names[strings.ToLower(string(st.AppendName(nil, t)))] = true
		case sqlparse.Op:
			if st.Is(t, "*") && !(prev.Kind == sqlparse.Op && st.Is(prev, "(")) {
				m.star = true
			}
		}
		prev = t
	}
}

// columns are the columns of t that a copy needs values of; all of them where leaving some out might show.
func (m *mentioned) columns(t *catalog.Table) (cols []int) {
	all := allColumns(t)
	if len(all) < len(t.Columns) {
		return all
	}
	keep := make([]bool, len(t.Columns))
	for _, c := range t.Primary {
		keep[c] = true
	}
	for _, u := range t.Unique {
		if u.Partial {
			return all // maybe an expression
		}
		for _, c := range u.Columns {
			keep[c] = true
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if strings.ContainsFunc(c.Name, func(r rune) bool { return r > '~' }) {
			return all // the servers know better which of these names are equal
		}
		if keep[i] || m.names[strings.ToLower(c.Name)] || !mayBeMissing(c) || mayBeNumbered(t, i) {
			cols = append(cols, i)
		}
	}
	return cols
}

// mayBeMissing reports whether a row can be written without a value for the column.
func mayBeMissing(c *catalog.Column) bool {
	if c.Nullable {
		return true
	}
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year", "date", "time", "datetime",
		"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return true
	}
	return false
}

// mayBeNumbered reports whether a server may number a column in rows that say nothing of it, of which there may be more than it has numbers:
// that of AUTO_INCREMENT, which the catalog does not know of single tables. It begins a key, holds no NULL and has no default.
func mayBeNumbered(t *catalog.Table, column int) bool {
	if t.Kind != catalog.Single {
		return column == t.AutoIncrement
	}
	c := &t.Columns[column]
	return !c.Nullable && !c.HasDefault && keyClass(c) == "int" &&
		slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return len(x.Columns) > 0 && x.Columns[0] == column })
}

// starTables are the tables all of whose visible columns are read because a * stands for them. EXISTS does not read them.
func (b *build) starTables() (tables []*catalog.Table) {
	if b.query == nil {
		return nil
	}
	var blind []*sqlparser.Select
	for sub := range b.a.queries {
		if sel, ok := sub.Select.(*sqlparser.Select); ok && b.a.tested[sub] && !sel.Distinct {
			blind = append(blind, sel)
		}
	}
	for _, in := range b.a.insts {
		if in.table == nil || in.block.sel == nil || in.block.sel.SelectExprs == nil || slices.Contains(blind, in.block.sel) ||
			slices.Contains(tables, in.table) {
			continue
		}
		for _, e := range in.block.sel.SelectExprs.Exprs {
			star, ok := e.(*sqlparser.StarExpr)
			if ok && (star.TableName.IsEmpty() || in.called(star.TableName, b.a.lower)) {
				tables = append(tables, in.table)
				break
			}
		}
	}
	return tables
}
