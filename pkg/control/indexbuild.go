package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

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
//	all proxies say so; LOCK TABLES            what began before has ended (see settling.go, indoubt.go)
//	the statement itself, group by group       finds duplicates within a group
//	entries for all rows: audit.IndexCheck      finds duplicates between groups
//	catalog: the index is there
//
// Any failure goes back: the statement is undone, the catalog forgets the index, its tables are dropped.
//
// Where the statement cannot be undone, or changes what entries are made of (MODIFY of a column of the key), the table is closed, and entries
// are made before the statement of what it will make of the rows, or, where it can be undone, behind it:
//
//	tables of entries on every node group
//	catalog: the table is closed               statements about it wait, in every proxy
//	all proxies say so; LOCK TABLES            what began before has ended
//	the statement on copies of the table       finds what rows hinder it (see rehearse.go)
//	entries for all rows of the copies         finds duplicates between groups
//	the statement itself, group by group
//	checksums of the copies and the tables     are the same, or entries are made anew
//	catalog: the index is there                the index that the key had before is dropped
//
// Until the end an index that the key had is as it was, for it is no longer written to, nor are the rows.

// prepareIndexes makes what new global indexes need before the statement runs; ended tells that the job came to its end here.
func (d *schemaChange) prepareIndexes(ctx context.Context) (ended bool, err error) {
	w := d.job.Work
	if len(w.Indexes) == 0 && len(w.Keys) == 0 && len(w.Widen) == 0 && w.Rebuild == nil && len(w.Close) == 0 && len(w.Appear) == 0 {
		return false, nil
	}
	if d.resumed {
		for i := range d.servers {
			if ran, err := d.ran(ctx, i); err != nil || ran {
				return false, err // a leader that died has done all of this, and gone on: to fail here would leave what ran
			}
		}
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
	case w.Rebuild != nil && d.resumed: // whoever died may have begun to take something off
		return true, d.undoFor(ctx, err)
	}
	return true, d.fail(ctx, toClient(err))
}

// publishBuilding lets every proxy maintain the new indexes, and waits until all do.
func (d *schemaChange) publishBuilding(ctx context.Context) error {
	w := d.job.Work
	err := d.changeBuilding(ctx, func(t *catalog.Table) error {
		t.Building = nil
		if t.Closed = w.Rebuild != nil || w.BuildClosed; w.Rebuild != nil {
			return nil
		}
		for _, x := range w.Indexes {
			if w.BuildClosed {
				break
			}
			b := catalog.Index{Name: x.Name, Global: x.ID, Unique: true, Lengths: x.Lengths, Partial: x.Lengths != nil || x.Expressions != nil, Expressions: x.Expressions}
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
	if err := d.settle(ctx, d.changed, []ddl.Object{*w.Build}); err != nil {
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
		if err != nil {
			return err
		}
		return d.awaitBranches(ctx, s)
	})
}

// awaitBranches waits for transactions that are prepared on a server as for others that have used the table.
func (d *schemaChange) awaitBranches(ctx context.Context, s *schema.Server) error {
	err := d.leader.awaitBranches(ctx, s, d.patience())
	if errors.Is(err, errInDoubt) {
		e := sqlerr.LockWaitTimeout.New()
		e.Message += " (" + err.Error() + ")"
		return e
	}
	return err
}

// changeBuilding writes the table that indexes are built for as change leaves it.
func (d *schemaChange) changeBuilding(ctx context.Context, change func(t *catalog.Table) error) error {
	snap, err := d.leader.snapshot(ctx)
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
	d.changed, err = d.leader.commit(ctx, d.leader.store.Change(d.leader.guard).PutTable(&fresh, topology.Any))
	return err
}

// settled is settle where nothing depends on it.
func (d *schemaChange) settled(ctx context.Context, tables ...ddl.Object) {
	if err := d.settle(ctx, d.changed, tables); err != nil {
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
	if err := d.checkKeys(ctx, false); err != nil {
		return err
	}
	if w.BuildClosed {
		return d.confirmEntries(ctx)
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

// fillFromCopies makes the entries of new indexes of what the statement has made of the copies of a closed table.
func (d *schemaChange) fillFromCopies(ctx context.Context) error {
	w := d.job.Work
	made := ddl.Object{DB: catalog.OwnDB, Name: w.Rehearsal.Copy}
	defer func() {
		for _, s := range d.servers { // what stays behind is swept away by a later change
			if s == nil {
				continue
			}
			if _, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+made.SQL()); err != nil {
				d.leader.log.Info("a copy of a table stays behind", "table", made.Name, "error", err)
			}
		}
	}()
	if err := d.leader.at("copied"); err != nil {
		return err
	}
	if err := d.fillEntries(ctx, made); err != nil {
		return err
	}
	sums, err := d.sums(ctx, made)
	if err != nil {
		return err
	}
	w.Sums = sums
	return d.leader.save(ctx, d.job)
}

// confirmEntries finds out whether the statement has made of a closed table what it has made of the copies, and else makes the entries anew.
func (d *schemaChange) confirmEntries(ctx context.Context) error {
	w := d.job.Work
	sums, err := d.sums(ctx, *w.Build)
	if err != nil {
		return err
	}
	if !maps.Equal(sums, w.Sums) {
		if err := d.fillEntries(ctx, *w.Build); err != nil {
			return err
		}
	}
	return d.leader.at("filled")
}

// fillEntries makes the entries of new indexes for all rows of a table, which nobody writes to: the one they are for, or a copy of what it will be.
func (d *schemaChange) fillEntries(ctx context.Context, of ddl.Object) error {
	w := d.job.Work
	t, err := d.newTable(ctx, of)
	if err != nil {
		return err
	}
	for _, g := range t.Global {
		if !slices.ContainsFunc(w.Indexes, func(x migration.NewIndex) bool { return x.ID == g.ID }) {
			continue
		}
		fill := &audit.IndexFill{Snap: d.snap, Servers: d.leader.servers, Index: g}
		err := fill.Run(ctx)
		if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
			named := *refused
			named.Message = strings.ReplaceAll(named.Message, of.Name, w.Build.Name)
			return &named
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mendIndexes makes the indexes that a closed table has agree with its rows where the statement has changed those of some node groups and cannot
// be taken back.
func (d *schemaChange) mendIndexes(ctx context.Context) {
	w := d.job.Work
	if !w.BuildClosed {
		return
	}
	for _, g := range d.snap.Table(w.Build.DB, w.Build.Name).Global {
		c := &audit.IndexCheck{Snap: d.snap, Servers: d.leader.servers, Index: g, Repair: true, Lenient: true}
		if err := c.Run(ctx); err != nil {
			d.leader.log.WarnContext(ctx, "a global index may not agree with its table", "table", w.Build.String(), "key", g.Name, "error", err)
		}
	}
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
