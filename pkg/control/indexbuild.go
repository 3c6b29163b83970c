package control

import (
	"context"
	"slices"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// A global index for a table with rows is made while the table is used:
//
//	tables of entries on every node group      the job says which: who resumes it makes those that are missing
//	catalog: the index is being built          every proxy maintains it from now on, and reads it not yet
//	all proxies say so; LOCK TABLES            what began before has ended (see settling.go)
//	the statement itself, group by group       finds duplicates within a group
//	entries for all rows: audit.IndexCheck      finds duplicates between groups
//	catalog: the index is there
//
// Any failure goes back: the statement is undone, the catalog forgets the index, its tables are dropped.

// prepareIndexes makes what new global indexes need before the statement runs; ended tells that the job came to its end here.
func (d *schemaChange) prepareIndexes(ctx context.Context) (ended bool, err error) {
	w := d.job.Work
	if len(w.Indexes) == 0 && len(w.Keys) == 0 && len(w.Widen) == 0 && w.Rebuild == nil && len(w.Close) == 0 && len(w.Appear) == 0 {
		return false, nil
	}
	if err = d.appear(ctx); err == nil {
		err = d.createEntries(ctx)
	}
	if err == nil && w.Build != nil {
		err = d.publishBuilding(ctx)
	}
	if err == nil && len(w.Close) > 0 {
		err = d.closeTables(ctx)
	}
	if err == nil && w.Rebuild != nil {
		err = d.fillNew(ctx)
	}
	switch {
	case err == nil:
		return false, d.leader.at("indexes")
	case fatal(err):
		return false, err
	}
	return true, d.fail(ctx, toClient(err))
}

// publishBuilding lets every proxy maintain the new indexes, and waits until all do.
func (d *schemaChange) publishBuilding(ctx context.Context) error {
	w := d.job.Work
	err := d.changeBuilding(ctx, func(t *catalog.Table) error {
		if t.Building = nil; w.Rebuild != nil {
			t.Closed = true
			return nil
		}
		for _, x := range w.Indexes {
			b := catalog.Index{Name: x.Name, Global: x.ID, Unique: true}
			for _, name := range x.Columns {
				b.Columns = append(b.Columns, t.Column(name))
			}
			if !slices.Contains(b.Columns, -1) { // else it is over a column that the statement adds: see buildable
				t.Building = append(t.Building, b)
			}
		}
		w.AddKeys(t)
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.leader.at("building"); err != nil {
		return err
	}
	if err := d.settle(ctx, d.leader.written, []ddl.Object{*w.Build}); err != nil {
		return err
	}
	// What ran by the catalog as it was is in a transaction that has used the table, or one that a new key refers to.
	lock := "LOCK TABLES " + w.Build.SQL() + " WRITE"
	for _, parent := range w.Parents() {
		lock += ", " + parent.SQL() + " WRITE"
	}
	return d.onEach(ctx, func(s *schema.Server) error {
		_, err := s.Exec(ctx, lock)
		if err == nil {
			_, err = s.Exec(ctx, "UNLOCK TABLES")
		}
		return err
	})
}

// changeBuilding writes the table that indexes are built for as change leaves it.
func (d *schemaChange) changeBuilding(ctx context.Context, change func(t *catalog.Table) error) error {
	snap, err := d.leader.store.Load(ctx)
	if err != nil {
		return err
	}
	b := d.job.Work.Build
	t := snap.Table(b.DB, b.Name)
	if t == nil {
		return nil
	}
	fresh := *t
	if err := change(&fresh); err != nil {
		return err
	}
	if d.leader.written, err = d.leader.store.Change(d.leader.guard).PutTable(&fresh, topology.Any).Commit(ctx); err != nil {
		return err
	}
	return nil
}

// settled is settle where nothing depends on it.
func (d *schemaChange) settled(ctx context.Context, tables ...ddl.Object) {
	if err := d.settle(ctx, d.leader.written, tables); err != nil {
		d.leader.log.Info("statements by an older catalog may still run", "error", err)
	}
}

// buildIndexes fills the new indexes.
func (d *schemaChange) buildIndexes(ctx context.Context) error {
	w := d.job.Work
	if w.Rebuild != nil {
		return d.settleNew(ctx)
	}
	if w.Build == nil || len(w.Indexes) == 0 && len(w.Keys) == 0 {
		return nil
	}
	if err := d.checkKeys(ctx); err != nil {
		return err
	}
	snap, err := d.leader.store.Load(ctx)
	if err != nil {
		return err
	}
	t := snap.Table(w.Build.DB, w.Build.Name)
	if t == nil {
		return sqlerr.NoSuchTable.New(w.Build.DB, w.Build.Name)
	}
	for _, g := range t.Global {
		if !slices.ContainsFunc(w.Indexes, func(x migration.NewIndex) bool { return x.ID == g.ID }) {
			continue
		}
		c := &audit.IndexCheck{Snap: snap, Servers: d.leader.servers, Index: g, Repair: true}
		if err := c.Run(ctx); err != nil {
			return err
		}
		if err := d.leader.at("filled"); err != nil {
			return err
		}
	}
	return nil
}

// dropNewIndexes takes back what prepareIndexes has done.
func (d *schemaChange) dropNewIndexes(ctx context.Context) error {
	w := d.job.Work
	if w == nil || len(w.Indexes) == 0 && len(w.Keys) == 0 && w.Rebuild == nil && len(w.Close) == 0 {
		return nil
	}
	if len(w.Close) > 0 {
		if err := d.putClosed(ctx, false); err != nil {
			return err
		}
	}
	if w.Build != nil {
		if err := d.changeBuilding(ctx, func(t *catalog.Table) error {
			t.Building, t.Closed = nil, false
			w.RemoveKeys(t)
			return nil
		}); err != nil {
			return err
		}
		d.settled(ctx, *w.Build)
	}
	var ids []uint64
	for _, x := range w.Indexes {
		ids = append(ids, x.ID)
	}
	d.dropEntries(ctx, ids)
	if w.Rebuild != nil {
		d.dropRebuilt(ctx)
	}
	return nil
}
