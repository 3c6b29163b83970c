package catalog

import "slices"

// PrimaryKey is the primary key of t as an Index.
func (t *Table) PrimaryKey() Index {
	return Index{Name: "PRIMARY", Columns: t.Primary, Unique: true, Lengths: t.Lengths, Partial: t.Lengths != nil}
}

// Computed reports whether key x of t has columns whose values servers compute.
func (t *Table) Computed(x Index) bool { return t.computes(x.Columns) }

// Computed reports whether servers compute values of the key.
func (g *GlobalIndex) Computed() bool { return g.Table.computes(g.Columns) }

func (t *Table) computes(columns []int) bool {
	return slices.ContainsFunc(columns, func(c int) bool { return t.Columns[c].Generated })
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
func (x *Index) Expression() bool { return x.Partial && x.Lengths == nil }
