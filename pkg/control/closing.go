package control

import (
	"context"
	"maps"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/topology"
)

// closeTables keeps all statements from the tables that are to be changed while they are closed, and waits until those that have
// begun have ended.
func (d *schemaChange) closeTables(ctx context.Context) error {
	if err := d.putClosed(ctx, true); err != nil {
		return err
	}
	if err := d.leader.at("closed"); err != nil {
		return err
	}
	return d.settle(ctx, d.changed, d.job.Work.Close)
}

// putClosed writes whether the tables of Close are closed.
func (d *schemaChange) putClosed(ctx context.Context, closed bool) error {
	snap, err := d.leader.snapshot(ctx)
	if err != nil {
		return err
	}
	change := d.leader.store.Change(d.leader.guard)
	for _, o := range d.job.Work.Close {
		if t := snap.Table(o.DB, o.Name); t != nil {
			putClosed(change, t, closed)
		}
	}
	d.changed, err = d.leader.commit(ctx, change)
	return err
}

func putClosed(change *topology.Change, t *catalog.Table, closed bool) {
	fresh := *t
	fresh.Closed = closed
	change.PutTable(&fresh, topology.Any)
}

// reopen adds to the change that ends the job the tables that were closed and that it does not write anyway.
func (d *schemaChange) reopen(change *topology.Change) {
	w := d.job.Work
	for _, o := range w.Close {
		written := slices.Contains(w.Drop, o) || slices.ContainsFunc(w.Refresh, func(r migration.Refresh) bool { return r.Object == o })
		if t := d.snap.Table(o.DB, o.Name); t != nil && !written {
			putClosed(change, t, false)
		}
	}
}

// Who makes a table must know that no statement is left about another one that had its name: it would place rows by that one. So a
// leader does not go on after it has dropped a name before no such statement is left. It remembers those of which it does not know
// that, which are all when it begins to lead.
type names struct {
	known   bool // what leaders before have dropped
	dropped map[ddl.Object]bool
}

// gone are the names of tables that there are no more once the job has ended.
func (d *schemaChange) gone() []ddl.Object {
	out := slices.Clone(d.job.Work.Drop)
	if db := d.snap.Databases[d.job.Work.DropDB]; db != nil {
		for name := range db.Tables {
			out = append(out, ddl.Object{DB: db.Name, Name: name})
		}
	}
	return out
}

// vanished waits until no statement is left about tables whose names are gone.
func (d *schemaChange) vanished(ctx context.Context, names []ddl.Object) {
	if len(names) == 0 {
		return
	}
	if err := d.settle(ctx, d.changed, names); err != nil {
		d.leader.log.Info("statements may be left about tables that are gone", "error", err)
		d.leader.mu.Lock()
		defer d.leader.mu.Unlock()
		for _, o := range names {
			d.leader.names.dropped[o] = true
		}
	}
}

// appear waits until no statement is left about tables that had the names under which the job makes some.
func (d *schemaChange) appear(ctx context.Context) error {
	l := d.leader
	l.mu.Lock()
	doubtful := slices.DeleteFunc(slices.Clone(d.job.Work.Appear), func(o ddl.Object) bool { return l.names.known && !l.names.dropped[o] })
	l.mu.Unlock()
	if len(doubtful) == 0 {
		return nil
	}
	// A change that says nothing, for the proxies to acknowledge.
	change := l.store.Change(l.guard)
	databases := map[string]bool{}
	for _, o := range doubtful {
		databases[o.DB] = true
	}
	for _, name := range slices.Sorted(maps.Keys(databases)) {
		if db := d.snap.Databases[name]; db != nil {
			change.PutDatabase(db, topology.Any)
		}
	}
	revision, err := l.commit(ctx, change)
	if err != nil {
		return err
	}
	if err := d.settle(ctx, revision, doubtful); err != nil {
		return err
	}
	look, cancel := context.WithTimeout(ctx, evictAfter)
	defer cancel()
	_, behind := l.store.AwaitSlots(look, func(m topology.Member) bool { return m.Acked >= revision && len(m.Stale) == 0 })
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range doubtful {
		delete(l.names.dropped, o)
	}
	l.names.known = l.names.known || behind == nil
	return nil
}
