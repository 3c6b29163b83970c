package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// displaced refuses what would have servers write, by a foreign key to a reference table, what sharded rows are placed by: each would keep
// the rows it has, wherever they then belong. Keys between sharded tables that do so are Skarv's to enforce (catalog.Together).
func (b *build) displaced() error {
	if b.sess.Unchecked {
		return nil
	}
	switch n, _ := b.plan.Root.(*plan.Workspace); {
	case b.ins != nil:
		return b.displacedBy(b.ins.table, b.plan.Kind == plan.Replace, b.ins.changed())
	case b.mod != nil:
		for _, in := range b.mod.written {
			if err := b.displaces(in.table, b.mod.update == nil, b.mod.changed(b, in), nil); err != nil {
				return err
			}
		}
	case n != nil && n.Stage != nil:
		return b.displacedBy(n.Stage.Table, b.st.Kind() == sqlparse.Replace, everyColumn(n.Stage.Table))
	case n != nil:
		for _, c := range n.Copies {
			if c.Written == nil {
				continue
			}
			if err := b.displaces(c.Table, b.st.Kind() == sqlparse.Delete, everyColumn(c.Table), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// displacedBy is displaced for an INSERT, or REPLACE, into t that may give columns of a row that is there other values.
func (b *build) displacedBy(t *catalog.Table, replace bool, columns []int) error {
	if replace {
		if err := b.replaces(t); err != nil {
			return err
		}
	}
	return b.displaces(t, replace, columns, nil)
}

// replaces refuses REPLACE of a reference table's rows to which rows refer that would go with them, on MySQL: a server deletes the row, and those, or
// changes it in place, by what it has done before, and each of them its own way.
func (b *build) replaces(t *catalog.Table) error {
	if b.snap.Flavor != catalog.MySQL || t == nil || t.Kind != catalog.Reference || t.Temporary != "" {
		return nil
	}
	_, children, _ := b.snap.Relations(t)
	for i := range children {
		if k := children[i].Key; k.OnDelete == "CASCADE" || k.OnDelete == "SET NULL" {
			return sqlerr.Unsupported("REPLACE in reference table '"+t.Name+"', to which foreign key '"+k.Name+"' refers with "+k.OnDelete,
				"DELETE the row and INSERT it: servers differ in what becomes of the rows that refer to it")
		}
	}
	return nil
}

func everyColumn(t *catalog.Table) (columns []int) {
	for c := range t.Columns {
		columns = append(columns, c)
	}
	return columns
}

// changed are the columns that ON DUPLICATE KEY UPDATE may give other values.
func (in *insertion) changed() (columns []int) {
	for c := range in.table.Columns {
		if in.changes(c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// changed are the columns of in that may get other values.
func (m *modification) changed(b *build, in *instance) (columns []int) {
	if m.update == nil {
		return nil
	}
	for c := range in.table.Columns {
		if m.changes(b, in, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// cascade is a table that a cascade has come to: its rows go, or get other values.
type cascade struct {
	table *catalog.Table
	gone  bool
}

// displaces is displaced where rows of t go, or columns of theirs get other values.
func (b *build) displaces(t *catalog.Table, gone bool, columns []int, above []cascade) error {
	if len(above) == 0 && (t == nil || t.Kind != catalog.Reference || t.Temporary != "") || slices.Contains(above, cascade{t, gone}) {
		return nil
	}
	above = append(above, cascade{t, gone})
	_, children, _ := b.snap.Relations(t)
	for i := range children {
		r := &children[i]
		deletes := gone && r.Key.OnDelete == "CASCADE"
		writes := gone && r.Key.OnDelete == "SET NULL" || catalog.Cascades(r.Key.OnUpdate) && common(r.ParentColumns(), columns)
		if writes && common(r.Child.Distribution, r.Key.Columns) {
			return sqlerr.Unsupported("a change of table '"+t.Name+"' by which foreign key '"+r.Key.Name+"' may write the distribution key of table '"+r.Child.Name+"'",
				"insert the new row, change the rows that refer to the old one, then delete that one")
		}
		var written []int
		if writes {
			written = r.Key.Columns
		}
		if deletes || writes {
			if err := b.displaces(r.Child, deletes, written, above); err != nil {
				return err
			}
		}
	}
	return nil
}

// common reports whether a column is in both lists.
func common(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}
