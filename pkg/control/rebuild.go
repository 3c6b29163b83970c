package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// A table that was made without a primary key and gets one is made anew, for its rows belong to other node groups then:
//
//	catalog: the table is being rebuilt        statements about it wait, in every proxy
//	all proxies say so; LOCK TABLES            what began before has ended
//	the new table on every node group          empty, in our own database
//	all rows, each to where it belongs         finds duplicates
//	RENAME, group by group                     the tables change places: the step of the job
//	checksums of the old tables                nobody has written to them since
//	entries of new global indexes              finds duplicates in other keys
//	catalog: the table as it is now            the old tables are dropped
//
// Any failure goes back: the tables change places again, the catalog forgets the rebuilding, the new tables are dropped. What cannot
// be taken back because a server does not answer is gone on with when it does, until when the table cannot be used.

// rebuild is the making of a table anew.
type rebuild struct {
	Table ddl.Object `json:"table"`
	// New and Old are the names in our own database of the table before, and after, it changes places with Table.
	New string `json:"new"`
	Old string `json:"old"`
	SQL string `json:"sql"` // the statement, about New
	// Columns are the names of columns with values, by those they had before.
	Columns map[string]string `json:"columns"`
	// Number is the AUTO_INCREMENT column, if there is one. ZeroIsValue: the client's sql_mode has NO_AUTO_VALUE_ON_ZERO.
	Number      string `json:"number,omitempty"`
	ZeroIsValue bool   `json:"zero_is_value,omitempty"`
	// Counts: what the column holds is counted from now on, for which one server writes all rows anew and says how many.
	Counts bool `json:"counts,omitempty"`
	// Sums are checksums of Table, by node group, once all its rows are in New.
	Sums map[placement.NodeGroupID]string `json:"sums,omitempty"`
}

func (r *rebuild) made() ddl.Object  { return ddl.Object{DB: catalog.OwnDB, Name: r.New} }
func (r *rebuild) taken() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.Old} }

// rebuildTable plans a statement after which old has no hidden key any more; before and after are those of a copy without it.
func (p *planner) rebuildTable(ctx context.Context, o ddl.Name, old *catalog.Table, before, after *schema.Definition) error {
	refuse := func(what, how string) error {
		return sqlerr.Unsupported(what+" in the ALTER TABLE that gives table '"+old.Name+"' a primary key", how)
	}
	const two = "use one ALTER TABLE for the primary key and another one for the rest"
	switch {
	case old.Kind != catalog.Sharded:
		return sqlerr.Unsupported("adding a primary key to a reference table that was made without one",
			"create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	case p.st.RenameTo != nil:
		return refuse("RENAME", two)
	case p.st.Mentions("IGNORE"):
		return refuse("IGNORE", "delete the duplicates first")
	case len(old.Triggers) > 0:
		return refuse("triggers", "drop the triggers, and create them again behind it")
	case len(after.Table.ForeignKeys) > 0 || len(before.Table.ForeignKeys) > 0 || len(childrenOf(p.snap, o.Object)) > 0:
		return refuse("foreign keys", two)
	case p.snap.Flavor == catalog.MySQL && len(before.Checks)+len(after.Checks) > 0:
		return refuse("CHECK constraints", "drop the constraints, and add them again behind it")
	}
	w := &rebuild{Table: o.Object, New: schema.Trial(p.id, "_n").Name, Old: schema.Trial(p.id, "_o").Name, Columns: map[string]string{}}
	came := p.came(before)
	for i := range after.Table.Columns {
		c := &after.Table.Columns[i]
		from := came[strings.ToLower(c.Name)]
		switch {
		case c.Generated:
		case from == nil && i == after.Auto:
		case from == nil:
			if !c.NullDefault && (strings.ContainsAny(c.Default, "()") || !c.HasDefault && c.Type.IsTemporal() || strings.HasPrefix(strings.ToUpper(c.Default), "CURRENT_")) {
				return refuse("column '"+c.Name+"'", two)
			}
		case from.Generated || from.ColumnType != c.ColumnType || from.Charset != c.Charset || from.Collation != c.Collation:
			return refuse("changing column '"+c.Name+"'", two)
		default:
			w.Columns[from.Name] = c.Name
		}
	}
	if after.Auto >= 0 {
		w.Number, w.ZeroIsValue = after.Table.Columns[after.Auto].Name, p.zeroIsValue
		w.Counts = came[strings.ToLower(w.Number)] != nil
	}
	r := refresh{Object: o.Object, Origin: sharding.Origin{Old: &o.Object, Renamed: p.st.RenamedColumns(), Rebuilt: true}, NewID: true}
	after.Table.Database, after.Table.Name = o.DB, o.Name
	t, _, err := sharding.Place(p.snap, after, r.Origin)
	if err != nil {
		return err
	}
	if err := mover.Movable(t, p.snap.Flavor); err != nil {
		return refuse(err.Error(), "create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	w.SQL = p.st.Rewrite(o.As(w.made()))
	p.work.Rebuild, p.work.Build = w, &o.Object
	p.work.Step = &step{
		SQL:  fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.taken().SQL(), w.made().SQL(), o.SQL()),
		Undo: []string{fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.made().SQL(), w.taken().SQL(), o.SQL())},
	}
	p.work.Refresh = append(p.work.Refresh, r)
	return nil
}

// fillNew makes the new tables and copies all rows. It begins anew after whoever died before it was done.
func (d *schemaChange) fillNew(ctx context.Context) error {
	w := d.job.Work.Rebuild
	if w.Sums != nil {
		return nil
	}
	if err := d.onEach(ctx, func(s *schema.Server) error { return d.makeNew(ctx, s) }); err != nil {
		return err
	}
	if err := d.leader.at("made"); err != nil {
		return err
	}
	sums, err := d.sums(ctx, w.Table)
	if err != nil {
		return err
	}
	if err := d.spread(ctx); err != nil {
		return err
	}
	w.Sums = sums
	return d.leader.save(ctx, d.job)
}

func (d *schemaChange) makeNew(ctx context.Context, s *schema.Server) error {
	w := d.job.Work.Rebuild
	if err := s.EmptyCopy(ctx, w.Table, w.made()); err != nil {
		return err
	}
	if _, err := s.Exec(ctx, "ALTER TABLE "+w.made().SQL()+withoutHiddenKey); err != nil {
		return err
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return err
	}
	_, err := s.Exec(ctx, w.SQL)
	return err
}

// newTable is the table's catalog entry as it will be, under the name it has on the servers now. It has no ID.
func (d *schemaChange) newTable(ctx context.Context, now ddl.Object) (*catalog.Table, error) {
	w := d.job.Work
	def, err := schema.ReadDefinition(ctx, d.servers[0], now)
	if err != nil {
		return nil, err
	}
	if def == nil {
		return nil, sqlerr.NoSuchTable.New(now.DB, now.Name)
	}
	def.Table.Database, def.Table.Name = w.Rebuild.Table.DB, w.Rebuild.Table.Name
	t, _, err := sharding.Place(d.snap, def, w.Refresh[0].Origin)
	if err != nil {
		return nil, err
	}
	t.Database, t.Name = now.DB, now.Name
	return t, nil
}

// spread copies the rows.
func (d *schemaChange) spread(ctx context.Context) error {
	w := d.job.Work.Rebuild
	to, err := d.newTable(ctx, w.made())
	if err != nil {
		return err
	}
	run := &mover.Spreading{From: d.snap.Table(w.Table.DB, w.Table.Name), To: to, Owner: d.snap.Map.Owner, Columns: w.Columns, Number: w.Number, First: 1, ZeroIsValue: w.ZeroIsValue}
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
	if err == nil && w.Counts {
		d.job.Work.Affected = rows
	}
	var null *mover.NullError
	var refused *sqlerr.Error
	switch {
	case errors.As(err, &null) && d.snap.Flavor == catalog.MariaDB:
		return &sqlerr.Error{Code: 1265, State: "01000", Message: fmt.Sprintf("Data truncated for column '%s' at row %d", null.Column, null.Row)}
	case errors.As(err, &null):
		return &sqlerr.Error{Code: 1138, State: "22004", Message: "Invalid use of NULL value"}
	case errors.As(err, &refused):
		named := *refused
		named.Message = strings.ReplaceAll(named.Message, w.New, w.Table.Name)
		return &named
	}
	return err
}

// sums are checksums of a table, by node group.
func (d *schemaChange) sums(ctx context.Context, o ddl.Object) (map[placement.NodeGroupID]string, error) {
	out := map[placement.NodeGroupID]string{}
	for i, g := range d.snap.Groups {
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
	for i, s := range d.servers {
		if s == nil {
			if err := d.connectOne(ctx, i); err != nil {
				return err
			}
		}
	}
	sums, err := d.sums(ctx, w.Rebuild.taken())
	if err != nil {
		return err
	}
	for g, sum := range sums {
		if sum != w.Rebuild.Sums[g] {
			return sqlerr.UnknownError.New(fmt.Sprintf("rows of table %s were written while it was given a primary key; run it again", w.Rebuild.Table))
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
		c := &audit.IndexCheck{Snap: d.snap, Index: g, Repair: true}
		if err := c.Run(ctx); err != nil {
			return err
		}
	}
	return d.leader.at("filled")
}

// dropRebuilt drops the tables of a rebuilding that has ended. What cannot be dropped now is swept away by a later change.
func (d *schemaChange) dropRebuilt(ctx context.Context) {
	w := d.job.Work.Rebuild
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+w.made().SQL()+", "+w.taken().SQL()); err != nil {
			d.leader.log.Info("the tables of a rebuilding stay behind", "table", w.Table.String(), "error", err)
		}
	}
}
