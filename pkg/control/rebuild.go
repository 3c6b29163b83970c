package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
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
	Table object1 `json:"table"`
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

func (r *rebuild) made() object1  { return object1{DB: ownDB, Name: r.New} }
func (r *rebuild) taken() object1 { return object1{DB: ownDB, Name: r.Old} }

// rebuildTable plans a statement after which old has no hidden key any more; before and after are those of a copy without it.
func (p *planner) rebuildTable(ctx context.Context, o object, old *catalog.Table, before, after *definition) error {
	refuse := func(what, how string) error {
		return sqlerr.Unsupported(what+" in the ALTER TABLE that gives table '"+old.Name+"' a primary key", how)
	}
	const two = "use one ALTER TABLE for the primary key and another one for the rest"
	switch {
	case old.Kind != catalog.Sharded:
		return sqlerr.Unsupported("adding a primary key to a reference table that was made without one",
			"create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	case p.st.renameTo != nil:
		return refuse("RENAME", two)
	case p.mentions("IGNORE"):
		return refuse("IGNORE", "delete the duplicates first")
	case len(old.Triggers) > 0:
		return refuse("triggers", "drop the triggers, and create them again behind it")
	case len(after.table.ForeignKeys) > 0 || len(before.table.ForeignKeys) > 0 || len(childrenOf(p.snap, o.plain())) > 0:
		return refuse("foreign keys", two)
	case p.snap.Flavor == catalog.MySQL && len(before.checks)+len(after.checks) > 0:
		return refuse("CHECK constraints", "drop the constraints, and add them again behind it")
	}
	w := &rebuild{Table: o.plain(), New: p.trialName("_n").Name, Old: p.trialName("_o").Name, Columns: map[string]string{}}
	came := p.came(before)
	for i := range after.table.Columns {
		c := &after.table.Columns[i]
		from := came[strings.ToLower(c.Name)]
		switch {
		case c.Generated:
		case from == nil && i == after.auto:
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
	if after.auto >= 0 {
		w.Number, w.ZeroIsValue = after.table.Columns[after.auto].Name, p.zeroIsValue
		w.Counts = came[strings.ToLower(w.Number)] != nil
	}
	r := refresh{object1: o.plain(), Old: o.plain().ptr(), Renamed: p.st.renamedColumns(), NewID: true, Rebuilt: true}
	after.table.Database, after.table.Name = o.db, o.name
	t, _, err := (&placing{snap: p.snap, def: after, refresh: r}).place()
	if err != nil {
		return err
	}
	if err := mover.Movable(t, p.snap.Flavor); err != nil {
		return refuse(err.Error(), "create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	w.SQL = p.st.rewrite(append(p.st.cleanup(p.snap.Flavor), edit{start: o.start, end: o.end, with: w.made().sql()})...)
	p.work.Rebuild, p.work.Build = w, o.plain().ptr()
	p.work.Step = &step{
		SQL:  fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.sql(), w.taken().sql(), w.made().sql(), o.sql()),
		Undo: []string{fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.sql(), w.made().sql(), w.taken().sql(), o.sql())},
	}
	p.work.Refresh = append(p.work.Refresh, r)
	return nil
}

// fillNew makes the new tables and copies all rows. It begins anew after whoever died before it was done.
func (d *ddl) fillNew(ctx context.Context) error {
	w := d.job.Work.Rebuild
	if w.Sums != nil {
		return nil
	}
	if err := d.onEach(ctx, func(s *server) error { return d.makeNew(ctx, s) }); err != nil {
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

func (d *ddl) makeNew(ctx context.Context, s *server) error {
	w := d.job.Work.Rebuild
	if err := s.emptyCopy(ctx, w.Table, w.made()); err != nil {
		return err
	}
	if _, err := s.exec(ctx, "ALTER TABLE "+w.made().sql()+withoutHiddenKey); err != nil {
		return err
	}
	if err := s.settings(ctx, *d.job.DDL); err != nil {
		return err
	}
	_, err := s.exec(ctx, w.SQL)
	return err
}

// newTable is the table's catalog entry as it will be, under the name it has on the servers now. It has no ID.
func (d *ddl) newTable(ctx context.Context, now object1) (*catalog.Table, error) {
	w := d.job.Work
	def, err := readDefinition(ctx, d.servers[0], now.DB, now.Name)
	if err != nil {
		return nil, err
	}
	if def == nil {
		return nil, sqlerr.NoSuchTable.New(now.DB, now.Name)
	}
	def.table.Database, def.table.Name = w.Rebuild.Table.DB, w.Rebuild.Table.Name
	t, _, err := (&placing{snap: d.snap, def: def, refresh: w.Refresh[0]}).place()
	if err != nil {
		return nil, err
	}
	t.Database, t.Name = now.DB, now.Name
	return t, nil
}

// spread copies the rows.
func (d *ddl) spread(ctx context.Context) error {
	w := d.job.Work.Rebuild
	to, err := d.newTable(ctx, w.made())
	if err != nil {
		return err
	}
	run := &mover.Spreading{From: d.snap.Table(w.Table.DB, w.Table.Name), To: to, Owner: d.snap.Map.Owner, Columns: w.Columns, Number: w.Number, First: 1, ZeroIsValue: w.ZeroIsValue}
	if w.Number != "" {
		def, err := readDefinition(ctx, d.servers[0], ownDB, w.New)
		if err != nil {
			return err
		}
		run.First = max(def.next, 1)
	}
	for _, g := range d.snap.Groups {
		run.Servers = append(run.Servers, mover.Server{Group: g.ID, Name: groupName(g), Flavor: d.snap.Flavor, Conn: d.leader.login(g)})
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
func (d *ddl) sums(ctx context.Context, o object1) (map[placement.NodeGroupID]string, error) {
	out := map[placement.NodeGroupID]string{}
	for i, g := range d.snap.Groups {
		rows, err := readRows(ctx, d.servers[i], 2, "CHECKSUM TABLE "+o.sql()+" EXTENDED")
		if err != nil {
			return nil, err
		}
		if len(rows) != 1 || rows[0][1] == nil {
			return nil, fmt.Errorf("node group %s: table %s has no checksum", groupName(g), o)
		}
		out[g.ID] = string(rows[0][1])
	}
	return out, nil
}

// settleNew checks, when the tables have changed places, that the rows copied are all there are, and fills the new indexes.
func (d *ddl) settleNew(ctx context.Context) error {
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
		c := &indexCheck{snap: d.snap, index: g, servers: map[string]*server{}, repair: true}
		if err := c.run(ctx); err != nil {
			return err
		}
	}
	return d.leader.at("filled")
}

// dropRebuilt drops the tables of a rebuilding that has ended. What cannot be dropped now is swept away by a later change.
func (d *ddl) dropRebuilt(ctx context.Context) {
	w := d.job.Work.Rebuild
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.exec(ctx, "DROP TABLE IF EXISTS "+w.made().sql()+", "+w.taken().sql()); err != nil {
			d.leader.log.Info("the tables of a rebuilding stay behind", "table", w.Table.String(), "error", err)
		}
	}
}
