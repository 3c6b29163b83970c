package control

import (
	"context"
	"fmt"
	"slices"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// A foreign key whose rows lie on different node groups is added to a table with rows as a global index is: all proxies enforce
// it first; then the servers are told of it without looking at rows; then the rows that were there are looked at here.

// newKey is a foreign key that a statement adds.
type newKey struct {
	catalog.ForeignKey
	// Names are those of its columns.
	Names []string `json:"names"`
}

// newKeys notes the foreign keys of t that old has not and that servers cannot check.
func (p *planner) newKeys(o ddl.Name, old, t *catalog.Table, snap *catalog.Snapshot) error {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == fk.Name }) {
			continue
		}
		parent := snap.Table(fk.RefDB, fk.RefTable)
		if fk.RefDB == t.Database && fk.RefTable == t.Name {
			parent = t
		}
		if parent == nil || catalog.Together(t, fk, parent) {
			continue
		}
		if err := p.referable(fk, t, parent); err != nil {
			return err
		}
		k := newKey{ForeignKey: *fk}
		for _, c := range fk.Columns {
			k.Names = append(k.Names, t.Columns[c].Name)
		}
		p.work.Keys = append(p.work.Keys, k)
		p.work.Build = &o.Object
	}
	return nil
}

// referable is the servers' refusal of a key to columns that have no index, which they do not give while they do not look at
// foreign keys.
func (p *planner) referable(fk *catalog.ForeignKey, t, parent *catalog.Table) error {
	var columns []int
	for _, n := range fk.RefColumns {
		columns = append(columns, parent.Column(n))
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
	if p.snap.Flavor == catalog.MySQL {
		return &sqlerr.Error{Code: 1822, State: "HY000", Message: fmt.Sprintf(
			"Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'", fk.Name, parent.Name)}
	}
	return &sqlerr.Error{Code: 1005, State: "HY000", Message: fmt.Sprintf(
		"Can't create table `%s`.`%s` (errno: 150 \"Foreign key constraint is incorrectly formed\")", t.Database, t.Name)}
}

// addKeys makes the new keys keys of t, as far as t has their columns already.
func (w *work) addKeys(t *catalog.Table) {
	w.removeKeys(t)
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

func (w *work) removeKeys(t *catalog.Table) {
	t.ForeignKeys = slices.DeleteFunc(slices.Clone(t.ForeignKeys), func(fk catalog.ForeignKey) bool {
		return slices.ContainsFunc(w.Keys, func(k newKey) bool { return k.Name == fk.Name })
	})
}

// step runs the job's statement on a server.
func (d *schemaChange) step(ctx context.Context, s *schema.Server) (affected uint64, err error) {
	unchecked := len(d.job.Work.Keys) > 0
	if unchecked {
		if _, err := s.Exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
			return 0, err
		}
	}
	affected, err = s.Exec(ctx, d.job.Work.Step.SQL)
	if unchecked && err == nil {
		err = s.Use(ctx, d.job.DDL.Session)
	}
	return affected, err
}

// checkKeys looks for the parents of all rows that new keys speak of.
func (d *schemaChange) checkKeys(ctx context.Context) error {
	w := d.job.Work
	if len(w.Keys) == 0 {
		return nil
	}
	snap, err := d.leader.store.Load(ctx)
	if err != nil {
		return err
	}
	def, err := schema.ReadDefinition(ctx, d.servers[0], *w.Build) // with columns that the statement has added
	if err != nil {
		return err
	}
	old := snap.Table(w.Build.DB, w.Build.Name)
	if def == nil || old == nil {
		return sqlerr.NoSuchTable.New(w.Build.DB, w.Build.Name)
	}
	child := def.Table
	child.Kind = catalog.Sharded
	child.Distribution = nil
	for _, c := range old.Distribution {
		child.Distribution = append(child.Distribution, child.Column(old.Columns[c].Name))
	}
	if len(child.Primary) == 0 {
		def.Keyless()
	}
	if slices.Contains(child.Distribution, -1) {
		return sqlerr.Unsupported("renaming columns of the distribution key together with a new foreign key", "use two statements")
	}
	if err := child.Prepare(d.snap.Flavor); err != nil {
		return err
	}
	w.addKeys(child)
	for _, k := range w.Keys {
		at := slices.IndexFunc(child.ForeignKeys, func(fk catalog.ForeignKey) bool { return fk.Name == k.Name })
		if at < 0 {
			continue
		}
		r := &catalog.Relation{Child: child, Key: &child.ForeignKeys[at], Parent: snap.Table(k.RefDB, k.RefTable)}
		if r.Parent == nil {
			continue
		}
		c := &audit.ForeignKeyCheck{Snap: snap, Relation: r}
		if err := c.Run(ctx); err != nil {
			return err
		}
		w.Affected = c.Rows // a server that looks at the rows copies them
	}
	return d.leader.at("checked")
}
