package control

import (
	"context"
	"slices"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// A foreign key whose rows lie on different node groups is added to a table with rows as a global index is: all proxies enforce
// it first; then the rows that were there are looked at here; then the servers are told of it without looking at rows. Rows whose values the
// statement itself makes are looked at behind it.

// step runs the job's statement on a server. MySQL looks for the parents of all rows when it copies a table, and refuses where
// they lie on other node groups: then it is told not to. It has looked at the definitions before.
func (d *schemaChange) step(ctx context.Context, s *schema.Server) (affected uint64, err error) {
	if len(d.job.Work.Keys) > 0 {
		return d.unchecked(ctx, s)
	}
	if err := d.takeOff(ctx, s); err != nil {
		return 0, err
	}
	affected, err = s.Exec(ctx, d.job.Work.Step.SQL)
	if sqlerr.HasCode(err, sqlerr.NoReferencedRow) && !d.job.Work.Checked && slices.ContainsFunc(d.job.Work.Refresh, d.refersApart) {
		return d.unchecked(ctx, s)
	}
	return affected, err
}

// refersApart reports whether servers cannot look for the parents of all rows of a table.
func (d *schemaChange) refersApart(r migration.Refresh) bool {
	t := d.snap.Table(r.DB, r.Name)
	return t != nil && d.snap.RefersApart(t)
}

// unchecked runs the job's statement on a server that looks for no parents.
func (d *schemaChange) unchecked(ctx context.Context, s *schema.Server) (affected uint64, err error) {
	if _, err := s.Exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return 0, err
	}
	affected, err = s.Exec(ctx, d.job.Work.Step.SQL)
	if err == nil {
		return affected, s.Use(ctx, d.job.DDL.Session)
	}
	if !sqlerr.HasCode(err, sqlerr.WrongForeignKey, sqlerr.MissingReferencedIndex) {
		return 0, err
	}
	if e := s.Use(ctx, d.job.DDL.Session); e != nil {
		return 0, e
	}
	return s.Exec(ctx, d.job.Work.Step.SQL) // MariaDB has other words for a wrong key where it looks for parents
}

// checkKeys looks for the parents of all rows that new keys speak of: before the step of those whose columns are there as they are, else of those
// that were left.
func (d *schemaChange) checkKeys(ctx context.Context, before bool) error {
	w := d.job.Work
	due := func(k migration.NewKey) bool {
		if before {
			return !k.Late && !w.KeysChecked
		}
		return k.Late || !w.KeysChecked
	}
	if !slices.ContainsFunc(w.Keys, due) {
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
	w.AddKeys(child)
	for _, k := range w.Keys {
		if !due(k) {
			continue
		}
		at := slices.IndexFunc(child.ForeignKeys, func(fk catalog.ForeignKey) bool { return k.Is(child, &fk) })
		if at < 0 {
			continue
		}
		r := &catalog.Relation{Child: child, Key: &child.ForeignKeys[at], Parent: snap.Table(k.RefDB, k.RefTable)}
		if r.Parent == nil {
			continue
		}
		c := &audit.ForeignKeyCheck{Snap: snap, Servers: d.leader.servers, Relation: r}
		if err := c.Run(ctx); err != nil {
			return err
		}
		w.Affected = c.Rows // a server that looks at the rows copies them
	}
	w.KeysChecked = true
	return d.leader.at("checked")
}
