package migration

import (
	"context"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlerr"
)

// NewKey is a foreign key that a statement adds and servers do not check.
type NewKey struct {
	catalog.ForeignKey
	// Names are those of its columns.
	Names []string `json:"names"`
	// Late: what its columns hold can be told behind the statement only.
	Late bool `json:"late,omitempty"`
}

// Is reports whether k is a foreign key of t.
func (k *NewKey) Is(t *catalog.Table, fk *catalog.ForeignKey) bool {
	return k.Name == fk.Name && k.RefDB == fk.RefDB && k.RefTable == fk.RefTable && equalFolds(k.RefColumns, fk.RefColumns) &&
		equalFolds(k.Names, columnNames(t, fk)) && k.OnDelete == fk.OnDelete && k.OnUpdate == fk.OnUpdate
}

// newKeys notes the foreign keys of t that old has not, if servers cannot check all that there are: then they look at none.
func (p *Planner) newKeys(ctx context.Context, o ddl.Name, old, t *catalog.Table, snap *catalog.Snapshot, came map[string]*catalog.Column) error {
	parentOf := func(fk *catalog.ForeignKey) *catalog.Table {
		if fk.RefDB == t.Database && fk.RefTable == t.Name {
			return t
		}
		return snap.Table(fk.RefDB, fk.RefTable)
	}
	p.work.Checked = !slices.ContainsFunc(t.ForeignKeys, func(fk catalog.ForeignKey) bool {
		parent := parentOf(&fk)
		return parent != nil && !catalog.Together(t, &fk, parent)
	})
	if p.work.Checked {
		return nil
	}
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return p.sameKey(old, &k, t, fk) }) {
			continue
		}
		parent := parentOf(fk)
		if parent == nil {
			continue
		}
		if err := p.referable(ctx, fk, t, parent); err != nil {
			return err
		}
		late := slices.ContainsFunc(fk.Columns, func(c int) bool {
			from := came[strings.ToLower(t.Columns[c].Name)]
			return from == nil || *from != t.Columns[c]
		})
		p.work.Keys = append(p.work.Keys, NewKey{ForeignKey: *fk, Names: columnNames(t, fk), Late: late})
		p.work.Build = &o.Object
	}
	if len(p.work.Keys) == 0 {
		return nil
	}
	looks, err := p.Trial.One(ctx, "SELECT @@foreign_key_checks")
	if looks == "0" { // as of a server, which then takes the rows as they are
		p.work.KeysChecked = true
		for i := range p.work.Keys {
			p.work.Keys[i].Late = false
		}
	}
	return err
}

func columnNames(t *catalog.Table, fk *catalog.ForeignKey) []string {
	var names []string
	for _, c := range fk.Columns {
		names = append(names, t.Columns[c].Name)
	}
	return names
}

// equalFolds is slices.Equal for names of columns.
func equalFolds(a, b []string) bool { return slices.EqualFunc(a, b, strings.EqualFold) }

// sameKey reports whether a foreign key of old is that of t, which old becomes. A statement may drop one and add another by the same name.
func (p *Planner) sameKey(old *catalog.Table, was *catalog.ForeignKey, t *catalog.Table, is *catalog.ForeignKey) bool {
	renamed := p.Statement.RenamedColumns()
	now := func(names []string) []string {
		names = slices.Clone(names)
		for i, name := range names {
			names[i] = calledNow(renamed, name)
		}
		return names
	}
	parent, columns := ddl.Object{DB: was.RefDB, Name: was.RefTable}, was.RefColumns
	if parent == ddl.Table(old) {
		parent, columns = ddl.Table(t), now(columns)
	}
	return was.Name == is.Name && parent == (ddl.Object{DB: is.RefDB, Name: is.RefTable}) && equalFolds(columns, is.RefColumns) &&
		equalFolds(now(columnNames(old, was)), columnNames(t, is)) && was.OnDelete == is.OnDelete && was.OnUpdate == is.OnUpdate
}

// referable is the servers' refusal of a key to columns that are not there, or have no index, which they do not give while they do not look at
// foreign keys.
func (p *Planner) referable(ctx context.Context, fk *catalog.ForeignKey, t, parent *catalog.Table) error {
	var columns []int
	for _, n := range fk.RefColumns {
		columns = append(columns, parent.Column(n))
		if p.Snap.Flavor == catalog.MySQL && columns[len(columns)-1] < 0 {
			return sqlerr.MissingReferencedColumn.New(n, fk.Name, parent.Name)
		}
	}
	for i, c := range columns {
		if p.Snap.Flavor == catalog.MySQL && c >= 0 && parent.Columns[c].Type != t.Columns[fk.Columns[i]].Type {
			return sqlerr.IncompatibleReference.New(t.Columns[fk.Columns[i]].Name, parent.Columns[c].Name, fk.Name)
		}
	}
	if p.Snap.Flavor == catalog.MySQL {
		if unique, err := p.Trial.One(ctx, "SELECT @@restrict_fk_on_non_standard_key"); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) {
			return err
		} else if unique == "1" {
			return uniquelyReferable(fk, parent, columns)
		}
	}
	keys := [][]int{parent.Primary}
	for _, x := range append(slices.Clone(parent.Unique), parent.Indexes...) {
		if !x.Partial {
			keys = append(keys, x.Columns)
		}
	}
	for _, k := range keys {
		if len(k) >= len(columns) && !slices.ContainsFunc(k[:len(columns)], func(c int) bool { return !slices.Contains(columns, c) }) && !slices.Contains(columns, -1) {
			return nil
		}
	}
	if p.Snap.Flavor == catalog.MySQL {
		return sqlerr.MissingReferencedIndex.New(fk.Name, parent.Name)
	}
	return sqlerr.MalformedForeignKey.New(t.Database, t.Name)
}

// uniquelyReferable is MySQL's refusal of a key to columns that are no unique key.
func uniquelyReferable(fk *catalog.ForeignKey, parent *catalog.Table, columns []int) error {
	if slices.Equal(parent.Primary, columns) || slices.ContainsFunc(parent.Unique, func(x catalog.Index) bool { return !x.Partial && slices.Equal(x.Columns, columns) }) {
		return nil
	}
	return sqlerr.MissingReferencedKey.New(fk.Name, parent.Name)
}

// Parents are the other tables that the new keys refer to, each once.
func (w *Work) Parents() []ddl.Object {
	var out []ddl.Object
	for _, k := range w.Keys {
		if o := (ddl.Object{DB: k.RefDB, Name: k.RefTable}); o != *w.Build && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// AddKeys makes the new keys keys of t, as far as t has their columns already, beside those by their names that the statement drops.
func (w *Work) AddKeys(t *catalog.Table) {
	w.RemoveKeys(t)
	for _, k := range w.Keys {
		fk := k.ForeignKey
		fk.Columns = nil
		for _, n := range k.Names {
			fk.Columns = append(fk.Columns, t.Column(n))
		}
		if !slices.Contains(fk.Columns, -1) {
			t.ForeignKeys = append(t.ForeignKeys, fk)
		}
	}
}

// RemoveKeys takes them out again.
func (w *Work) RemoveKeys(t *catalog.Table) {
	t.ForeignKeys = slices.DeleteFunc(slices.Clone(t.ForeignKeys), func(fk catalog.ForeignKey) bool {
		return slices.ContainsFunc(w.Keys, func(k NewKey) bool { return k.Is(t, &fk) })
	})
}
