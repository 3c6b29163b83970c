package control

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/migration"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// readBack reads what the servers have now, compares it and returns the change of the catalog that shows it.
func (d *schemaChange) readBack(ctx context.Context) (*topology.Change, error) {
	w := d.job.Work
	change := d.leader.store.Change(d.leader.guard)
	for _, o := range w.Drop {
		change.DeleteTable(o.DB, o.Name)
		if old := d.snap.Table(o.DB, o.Name); old != nil && !w.Keeps(o) {
			change.DeleteSequence(old.ID)
		}
	}
	if w.DropDB != "" {
		change.DeleteDatabase(w.DropDB)
		left := maxObjects // of many tables some sequences stay behind: nothing refers to them any more
		for _, t := range d.snap.Databases[w.DropDB].Tables {
			if left--; left >= 0 && t.ID != 0 {
				change.DeleteSequence(t.ID)
			}
		}
	}
	if w.PutDB != "" {
		db, err := d.readDatabase(ctx, w.PutDB)
		if err != nil {
			return nil, err
		}
		db.Single = w.Single
		change.PutDatabase(db, topology.Any)
	}
	snap := d.snap
	if len(w.Refresh) > 0 && len(w.Drop) > 0 {
		snap = d.after(w)
	}
	for _, r := range w.Refresh {
		t, err := d.refreshOne(ctx, snap.Referring(r.DB, r.Name, r.Renamed), r, change)
		if err != nil {
			return nil, err
		}
		change.PutTable(t, topology.Any)
		if t.Kind == catalog.Single { // which nobody may have taken out meanwhile, who knew of no table on it
			change.ExpectGroup(t.Group)
		}
		if len(r.Renamed) > 0 { // tables with foreign keys to it come behind
			snap = snap.With(nil, []*catalog.Table{t})
		}
	}
	return change, d.readRoutines(ctx, change)
}

// after is the snapshot with the tables of a rename under their new names.
func (d *schemaChange) after(w *migration.Work) *catalog.Snapshot {
	var gone, moved []*catalog.Table
	for _, o := range w.Drop {
		if t := d.snap.Table(o.DB, o.Name); t != nil {
			gone = append(gone, t)
		}
	}
	for _, r := range w.Refresh {
		if r.Old == nil || *r.Old == r.Object {
			continue
		}
		if t := d.snap.Table(r.Old.DB, r.Old.Name); t != nil {
			moved = append(moved, t.Renamed(r.DB, r.Name))
		}
	}
	return d.snap.With(gone, moved)
}

// refreshOne reads a table from all groups and makes its catalog entry.
func (d *schemaChange) refreshOne(ctx context.Context, snap *catalog.Snapshot, r migration.Refresh, change *topology.Change) (*catalog.Table, error) {
	defs := make([]*schema.Definition, len(d.servers))
	g, gctx := errgroup.WithContext(ctx)
	for i, s := range d.servers {
		g.Go(func() (err error) {
			defs[i], err = schema.ReadDefinition(gctx, s, r.Object)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	next := uint64(0)
	for i, def := range defs {
		if def == nil {
			return nil, sqlerr.UnknownError.New(fmt.Sprintf("table %s is not on node group %s", r, d.snap.Groups[i].Label()))
		}
		if what := difference(defs[0].Table, def.Table); what != "" {
			return nil, sqlerr.UnknownError.New(fmt.Sprintf("table %s differs between node groups %s and %s in %s",
				r, d.snap.Groups[0].Label(), d.snap.Groups[i].Label(), what))
		}
		next = max(next, def.Next)
	}
	placed := r
	if r.Old != nil && snap != d.snap && *r.Old != r.Object {
		placed.Old = &r.Object
	}
	t, needsKey, err := sharding.Place(snap, defs[0], placed.Origin)
	if err != nil {
		return nil, err
	}
	if needsKey {
		return nil, sqlerr.UnknownError.New(fmt.Sprintf("table %s has no primary key on the servers", r))
	}
	if err := d.triggersOf(t, snap, placed, defs); err != nil {
		return nil, err
	}
	return t, d.number(ctx, t, r, next, change)
}

// triggersOf takes the triggers of a single table from the server that has its rows, where it may have brought them along;
// those of others must be alike on all servers.
func (d *schemaChange) triggersOf(t *catalog.Table, snap *catalog.Snapshot, r migration.Refresh, defs []*schema.Definition) error {
	for i, g := range d.snap.Groups {
		switch {
		case t.Kind == catalog.Single && g.ID == t.Group:
			t.Triggers = nil
			return sharding.Triggers(snap, defs[i], t)
		case t.Kind != catalog.Single && !reflect.DeepEqual(defs[0].Triggers, defs[i].Triggers):
			return sqlerr.UnknownError.New(fmt.Sprintf("table %s differs between node groups %s and %s in triggers",
				r, d.snap.Groups[0].Label(), g.Label()))
		}
	}
	return nil
}

// number gives the table its id and with that its sequence.
func (d *schemaChange) number(ctx context.Context, t *catalog.Table, r migration.Refresh, next uint64, change *topology.Change) error {
	var old *catalog.Table
	if r.Old != nil {
		old = d.snap.Table(r.Old.DB, r.Old.Name)
	}
	if old != nil && old.ID != 0 && !r.NewID && !r.TakeCounter {
		t.ID = old.ID
		return nil
	}
	if t.Kind == catalog.View {
		if t.Definer = d.job.Work.Definer; t.Definer == "" {
			if old == nil {
				old = d.snap.Table(t.Database, t.Name)
			}
			if old != nil {
				t.Definer = old.Definer
			}
		}
		return nil
	}
	id, err := d.leader.store.NextID(ctx, "table")
	if err != nil {
		return err
	}
	t.ID, d.job.Result.Made = id, id
	if r := d.job.Work.Rebuild; r != nil && r.Hides {
		next = r.Next
	}
	if next > 1 && t.Numbered() >= 0 {
		change.PutSequence(id, next)
	}
	if old != nil {
		change.DeleteSequence(old.ID)
	}
	return nil
}

// difference names what is not the same in two tables, "" if nothing.
func difference(a, b *catalog.Table) string {
	switch {
	case a.Kind != b.Kind:
		return "kind"
	case !reflect.DeepEqual(a.Columns, b.Columns):
		return "columns"
	case !reflect.DeepEqual(a.Primary, b.Primary):
		return "primary key"
	case !reflect.DeepEqual(byName(a.Unique), byName(b.Unique)) || !reflect.DeepEqual(a.Indexes, b.Indexes):
		return "keys"
	case !reflect.DeepEqual(a.ForeignKeys, b.ForeignKeys):
		return "foreign keys"
	case a.Collation != b.Collation:
		return "collation"
	case a.ViewText != b.ViewText || a.Updatable != b.Updatable || a.CheckOption != b.CheckOption || a.Apart != b.Apart || a.Security != b.Security:
		return "text"
	}
	return ""
}

// readDatabase reads a database's character set from all groups.
func (d *schemaChange) readDatabase(ctx context.Context, name string) (*catalog.Database, error) {
	var out *catalog.Database
	for i, s := range d.servers {
		db, err := schema.ReadDatabase(ctx, s, name)
		if err != nil {
			return nil, err
		}
		switch {
		case db == nil:
			return nil, sqlerr.UnknownError.New(fmt.Sprintf("database %s is not on node group %s", name, d.snap.Groups[i].Label()))
		case out == nil:
			out = db
		case out.Collation != db.Collation:
			return nil, sqlerr.UnknownError.New(fmt.Sprintf("database %s has collation %s on node group %s and %s on node group %s: "+
				"give the servers the same collation_server, or name the collation", name, out.Collation, d.snap.Groups[0].Label(),
				db.Collation, d.snap.Groups[i].Label()))
		}
	}
	return out, nil
}

// byName returns indexes ordered by their names: servers may have come to the same ones in another order.
func byName(indexes []catalog.Index) []catalog.Index {
	return slices.SortedFunc(slices.Values(indexes), func(a, b catalog.Index) int { return strings.Compare(a.Name, b.Name) })
}
