package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// A table whose rows are to live elsewhere (by another distribution key, as copies, on one node group) is made anew, and so is one that was made
// without a primary key and gets one:
//
//	catalog: the table is closed               statements about it wait, in every proxy
//	all proxies say so; LOCK TABLES            what began before has ended
//	copies of it, if values are computed       the statement is done to them, on every node group
//	the new table on every node group          empty, in our own database
//	all rows, each to where it belongs         finds duplicates
//	foreign keys are taken off                 group by group, those of the table and to it: see attached.go
//	RENAME, group by group                     the tables change places: the step of the job
//	foreign keys are put on                    on the new table, and to it
//	checksums of the old tables                nobody has written to them since
//	entries of new global indexes              finds duplicates in other keys
//	catalog: the table as it is now            the old tables are dropped
//
// The tables that foreign keys join to it are closed as well. Any failure goes back: the tables change places again, the keys are put on, the catalog forgets the rebuilding, the new tables are dropped. What cannot
// be taken back because a server does not answer is gone on with when it does, until when the table cannot be used.

// fillNew makes the new tables and copies all rows. It begins anew after whoever died before it was done.
func (d *schemaChange) fillNew(ctx context.Context) error {
	w := d.job.Work.Rebuild
	if w.Sums != nil {
		return nil
	}
	sums, err := d.sums(ctx, w.Table)
	if err != nil {
		return err
	}
	if err := d.copyOld(ctx); err != nil {
		return err
	}
	if err := d.onEach(ctx, func(s *schema.Server) error { return d.makeNew(ctx, s) }); err != nil {
		return err
	}
	if err := d.leader.at("made"); err != nil {
		return err
	}
	if err := d.spread(ctx); err != nil {
		return err
	}
	d.dropOwn(ctx, w.Copied())
	w.Sums = sums
	return d.leader.save(ctx, d.job)
}

// copyOld makes the copies of which the values are taken.
func (d *schemaChange) copyOld(ctx context.Context) error {
	if d.job.Work.Rebuild.Copy == "" {
		return nil
	}
	warnings := make([][]schema.Warning, len(d.snap.Groups))
	g, gctx := errgroup.WithContext(ctx)
	for i := range d.snap.Groups {
		g.Go(func() (err error) {
			warnings[i], err = d.copyOldOn(gctx, i)
			return err
		})
	}
	err := g.Wait()
	if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
		named := *refused
		named.Message = called(d.job.Work.Rebuild).Replace(named.Message)
		return &named
	}
	d.job.Work.Warnings = nil
	for i := range warnings {
		for _, w := range warnings[i] {
			if w.Message = called(d.job.Work.Rebuild).Replace(w.Message); (i == 0 || strings.Contains(w.Message, " at row ")) && len(d.job.Work.Warnings) < schema.MaxWarnings {
				d.job.Work.Warnings = append(d.job.Work.Warnings, w)
			}
		}
	}
	return err
}

// copyOldOn makes the copy of the ith group, on a connection of its own, and does the statement to it. It returns what the server warns of.
func (d *schemaChange) copyOldOn(ctx context.Context, i int) ([]schema.Warning, error) {
	w, group := d.job.Work.Rebuild, d.snap.Groups[i]
	s, err := d.leader.servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := unlogged(ctx, s); err != nil {
		return nil, err
	}
	if err := d.emptyOld(ctx, s, w.Copied()); err != nil {
		return nil, err
	}
	list := strings.Join(w.Filled, ", ")
	for _, q := range []string{"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s", w.Copied().SQL(), list, list, w.Table.SQL())} {
		if _, err := s.Exec(ctx, q); err != nil {
			return nil, err
		}
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return nil, err
	}
	if _, err := s.Exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return nil, err
	}
	if err := s.Try(ctx, d.job.ID, w.CopySQL); err != nil {
		return nil, err
	}
	warnings, err := s.Warnings(ctx)
	if err != nil {
		return nil, err
	}
	if w.Hides { // it is read in the order of a key
		if _, err := s.Exec(ctx, "ALTER TABLE "+w.Copied().SQL()+migration.WithHiddenKey(d.snap.Flavor, true)); err != nil {
			return nil, err
		}
	}
	return warnings, withoutOwn(ctx, s, w, w.Copied(), (*migration.Attached).Off) // the new table is to have the names of its CHECK constraints
}

// emptyOld makes o a copy of the table that is made anew, without rows, foreign keys and the hidden key that it loses.
func (d *schemaChange) emptyOld(ctx context.Context, s *schema.Server, o ddl.Object) error {
	w := d.job.Work.Rebuild
	if err := s.EmptyCopy(ctx, d.job.ID, w.Table, o); err != nil {
		return err
	}
	if !w.Places {
		if _, err := s.Exec(ctx, "ALTER TABLE "+o.SQL()+migration.WithoutHiddenKey); err != nil {
			return err
		}
	}
	return withoutOwn(ctx, s, w, o, (*migration.Attached).KeysOff)
}

// makeNew makes the new table on a server. What the first one warns of the statement's definitions the client is told.
func (d *schemaChange) makeNew(ctx context.Context, s *schema.Server) error {
	w := d.job.Work.Rebuild
	if err := d.emptyOld(ctx, s, w.Made()); err != nil {
		return err
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return err
	}
	if err := s.Try(ctx, d.job.ID, w.SQL); err != nil {
		return err
	}
	warnings, err := s.Warnings(ctx)
	if err != nil {
		return err
	}
	if w.Hides {
		if _, err := s.Exec(ctx, "ALTER TABLE "+w.Made().SQL()+migration.WithHiddenKey(d.snap.Flavor, false)); err != nil {
			return err
		}
	}
	next, err := d.counter(ctx, s)
	if err != nil {
		return err
	}
	if next > 1 {
		if _, err := s.Exec(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", w.Made().SQL(), next)); err != nil {
			return err
		}
	}
	if s != d.servers[0] || w.Copy != "" { // those of the copies are told
		return nil
	}
	says := called(w)
	for i := range warnings {
		warnings[i].Message = says.Replace(warnings[i].Message)
	}
	d.job.Work.Warnings = warnings
	return nil
}

// called writes what servers say of the new table as it is for the one it is made for.
func called(w *migration.Rebuild) *strings.Replacer {
	names := []string{w.Made().SQL(), w.Table.SQL(), w.Made().String(), w.Table.String(), w.New, w.Table.Name}
	if w.Copy != "" {
		names = append(names, w.Copied().SQL(), w.Table.SQL(), w.Copied().String(), w.Table.String(), w.Copy, w.Table.Name)
	}
	return strings.NewReplacer(names...)
}

// counter is where the numbers of a table that is placed anew go on, 0 for none: as a single table has them of its server, others of the cluster.
func (d *schemaChange) counter(ctx context.Context, s *schema.Server) (next uint64, err error) {
	w := d.job.Work.Rebuild
	old := d.snap.Table(w.Table.DB, w.Table.Name)
	switch {
	case !w.Places || w.SetsCounter || w.Number != "":
		return 0, nil
	case old.Kind == catalog.Single:
		def, err := schema.ReadDefinition(ctx, s, w.Table)
		if err != nil || def == nil || def.Auto < 0 {
			return 0, err
		}
		return def.Next, nil
	case old.AutoIncrement >= 0:
		return d.leader.store.Sequence(ctx, old.ID)
	}
	return 0, nil
}

// newTable is the catalog entry that Build will have, under the name the table has on the servers now. It has no ID.
func (d *schemaChange) newTable(ctx context.Context, now ddl.Object) (*catalog.Table, error) {
	w := d.job.Work
	r := w.Refresh[0]
	def, err := schema.ReadDefinition(ctx, d.servers[0], now)
	if err != nil {
		return nil, err
	}
	if def == nil {
		return nil, sqlerr.NoSuchTable.New(now.DB, now.Name)
	}
	def.Table.Database, def.Table.Name = w.Build.DB, w.Build.Name
	schema.FixReferences(def.Table, w.Build.DB)
	t, _, err := sharding.Place(d.snap.Referring(r.DB, r.Name, r.Renamed), def, r.Origin)
	if err != nil {
		return nil, err
	}
	t.Database, t.Name = now.DB, now.Name
	return t, nil
}

// spread copies the rows.
func (d *schemaChange) spread(ctx context.Context) error {
	w := d.job.Work.Rebuild
	to, err := d.newTable(ctx, w.Made())
	if err != nil {
		return err
	}
	run := &mover.Spreading{From: d.snap.Table(w.Table.DB, w.Table.Name), To: to, Owner: d.snap.Map.Owner, Columns: w.Columns, Number: w.Number, First: 1, ZeroIsValue: w.ZeroIsValue}
	if w.Copy != "" {
		if run.Copy, err = d.newTable(ctx, w.Copied()); err != nil {
			return err
		}
	}
	told := time.Now()
	run.Tell = func(rows uint64) error {
		d.job.Progress = fmt.Sprint(rows, " rows copied")
		if time.Since(told) < d.leader.retry {
			return nil
		}
		told = time.Now()
		return d.leader.save(ctx, d.job)
	}
	if w.Number != "" {
		def, err := schema.ReadDefinition(ctx, d.servers[0], ddl.Object{DB: catalog.OwnDB, Name: w.New})
		if err != nil {
			return err
		}
		run.First = max(def.Next, 1)
	}
	for _, g := range d.snap.Groups {
		run.Servers = append(run.Servers, mover.Server{Group: g.ID, Name: g.Label(), Flavor: d.snap.Flavor, Conn: d.leader.login(g)})
	}
	rows, err := run.Run(ctx)
	d.job.Progress = fmt.Sprint(rows, " rows copied")
	if w.Hides {
		w.Next = rows + 1
	}
	if err == nil && w.Counts {
		d.job.Work.Affected = rows
	}
	if null, ok := errors.AsType[*mover.NullError](err); ok {
		if d.snap.Flavor == catalog.MariaDB {
			return sqlerr.DataTruncated.New(null.Column, null.Row)
		}
		return sqlerr.InvalidUseOfNull.New()
	}
	if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
		named := *refused
		named.Message = called(w).Replace(named.Message)
		return &named
	}
	return err
}

// sums are checksums of a table, by node group.
func (d *schemaChange) sums(ctx context.Context, o ddl.Object) (map[placement.NodeGroupID]string, error) {
	out := map[placement.NodeGroupID]string{}
	for i, g := range d.snap.Groups {
		if d.servers[i] == nil {
			if err := d.connectOne(ctx, i); err != nil {
				return nil, err
			}
		}
		rows, err := d.servers[i].Values(ctx, 2, "CHECKSUM TABLE "+o.SQL()+" EXTENDED")
		if err != nil {
			return nil, err
		}
		if len(rows) != 1 || rows[0][1] == nil {
			return nil, fmt.Errorf("node group %s: table %s has no checksum", g.Label(), o)
		}
		out[g.ID] = string(rows[0][1])
	}
	return out, nil
}

// settleNew checks, when the tables have changed places, that the rows copied are all there are, and fills the new indexes.
func (d *schemaChange) settleNew(ctx context.Context) error {
	w := d.job.Work
	sums, err := d.sums(ctx, w.Rebuild.Taken())
	if err != nil {
		return err
	}
	for g, sum := range sums {
		if sum != w.Rebuild.Sums[g] {
			return sqlerr.UnknownError.New(fmt.Sprintf("rows of table %s were written while it was made anew; run it again", w.Rebuild.Table))
		}
	}
	if err := d.leader.at("settled"); err != nil {
		return err
	}
	if len(w.Indexes) == 0 {
		return nil
	}
	t, err := d.newTable(ctx, w.Rebuild.Table)
	if err != nil {
		return err
	}
	for _, g := range t.Global {
		c := &audit.IndexCheck{Snap: d.snap, Servers: d.leader.servers, Index: g, Repair: true}
		if err := c.Run(ctx); err != nil {
			return err
		}
	}
	return d.leader.at("filled")
}

// dropRebuilt drops the tables of a rebuilding that has ended.
func (d *schemaChange) dropRebuilt(ctx context.Context) {
	w := d.job.Work.Rebuild
	d.dropOwn(ctx, w.Made(), w.Taken(), w.Copied())
}

// dropOwn drops tables in our own database. What cannot be dropped now is swept away by a later change.
func (d *schemaChange) dropOwn(ctx context.Context, tables ...ddl.Object) {
	var names []string
	for _, o := range tables {
		if o.Name != "" {
			names = append(names, o.SQL())
		}
	}
	if len(names) == 0 {
		return
	}
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+strings.Join(names, ", ")); err != nil {
			d.leader.log.Info("the tables of a rebuilding stay behind", "table", d.job.Work.Rebuild.Table.String(), "error", err)
		}
	}
}
