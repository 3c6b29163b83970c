package catalog

import "slices"

// PrimaryKey is the primary key of t as an Index.
func (t *Table) PrimaryKey() Index {
	return Index{Name: "PRIMARY", Columns: t.Primary, Unique: true, Lengths: t.Lengths, Partial: t.Lengths != nil}
}

// Computed reports whether key x of t has columns whose values servers compute, or is over an expression.
func (t *Table) Computed(x Index) bool { return x.Expression() || t.computes(x.Columns) }

// Computed reports whether servers compute values of the key.
func (g *GlobalIndex) Computed() bool { return g.Table.computes(g.Columns) }

func (t *Table) computes(columns []int) bool {
	return slices.ContainsFunc(columns, func(c int) bool { return t.At(c).Generated })
}

// At is a column of t, or behind its last one the expression of a key as one: GlobalIndex.Columns has both.
func (t *Table) At(c int) *Column {
	if n := c - len(t.Columns); n >= 0 {
		return &t.hidden[n].Column
	}
	return &t.Columns[c]
}

// Made are the columns of Table that entries' values are made of: Columns, and those that are in expressions.
func (g *GlobalIndex) Made() (out []int) {
	for _, c := range g.Columns {
		if n := c - len(g.Table.Columns); n >= 0 {
			out = append(out, g.Table.hidden[n].Reads...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// Parts is how many columns and expressions the key has.
func (x *Index) Parts() int { return len(x.Columns) + len(x.Expressions) }

// part is what the i-th part of the key is: a column, by its place in Columns, or an expression.
func (x *Index) part(i int) (at int, e *KeyExpression) {
	for n := range x.Expressions {
		switch e := &x.Expressions[n]; {
		case e.At == i:
			return -1, e
		case e.At > i:
			return i - n, nil
		}
	}
	return i - len(x.Expressions), nil
}

// Part is the i-th part of key x of t, as a column, and how much the key has of it.
func (t *Table) Part(x Index, i int) (c *Column, length int) {
	at, e := x.part(i)
	if e != nil {
		return &e.Column, 0
	}
	return &t.Columns[x.Columns[at]], x.Length(at)
}

// Length is how much key x holds of the i-th of its columns, 0 for all of it.
func (x *Index) Length(i int) int { return lengthAt(x.Lengths, i) }

func lengthAt(lengths []int, i int) int {
	if lengths == nil {
		return 0
	}
	return lengths[i]
}

// Whole are the columns that key x holds in full; all, where it is not known of which it has the beginning.
func (x *Index) Whole() (out []int) {
	for i, c := range x.Columns {
		if x.Length(i) == 0 {
			out = append(out, c)
		}
	}
	return out
}

// Expression reports whether key x is, or may be, over an expression that is not in Columns.
func (x *Index) Expression() bool { return x.Partial && (x.Lengths == nil || x.Expressions != nil) }
