package migration

import (
	"context"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// Rebuild is the making of a table anew, in place of another one: see package control for its steps.
type Rebuild struct {
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

// Made is the new table before they change places.
func (r *Rebuild) Made() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.New} }

// Taken is the old table when they have.
func (r *Rebuild) Taken() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.Old} }

// rebuildTable plans a statement after which old has no hidden key any more; before and after are those of a copy without it.
func (p *Planner) rebuildTable(ctx context.Context, o ddl.Name, old *catalog.Table, before, after *schema.Definition) error {
	refuse := func(what, how string) error {
		return sqlerr.Unsupported(what+" in the ALTER TABLE that gives table '"+old.Name+"' a primary key", how)
	}
	const two = "use one ALTER TABLE for the primary key and another one for the rest"
	switch {
	case old.Kind != catalog.Sharded:
		return sqlerr.Unsupported("adding a primary key to a reference table that was made without one",
			"create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	case p.Statement.RenameTo != nil:
		return refuse("RENAME", two)
	case len(old.Triggers) > 0:
		return refuse("triggers", "drop the triggers, and create them again behind it")
	case len(before.Table.ForeignKeys) > 0 || len(childrenOf(p.Snap, o.Object)) > 0:
		return sqlerr.Unsupported("adding a primary key to table '"+old.Name+"', which was made without one and has foreign keys, or others have foreign keys to it",
			"drop the foreign keys, add the primary key, and add them again behind it")
	case len(after.Table.ForeignKeys) > 0:
		return refuse("foreign keys", two)
	case p.Snap.Flavor == catalog.MySQL && len(before.Checks)+len(after.Checks) > 0:
		return refuse("CHECK constraints", "drop the constraints, and add them again behind it")
	}
	w := &Rebuild{Table: o.Object, New: schema.Trial(p.Job, "_n").Name, Old: schema.Trial(p.Job, "_o").Name, Columns: map[string]string{}}
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
		w.Number, w.ZeroIsValue = after.Table.Columns[after.Auto].Name, p.ZeroIsValue
		w.Counts = came[strings.ToLower(w.Number)] != nil
	}
	r := Refresh{Object: o.Object, Origin: sharding.Origin{Old: &o.Object, Renamed: p.Statement.RenamedColumns(), Rebuilt: true}, NewID: true}
	after.Table.Database, after.Table.Name = o.DB, o.Name
	t, _, err := sharding.Place(p.Snap, after, r.Origin)
	if err != nil {
		return err
	}
	if err := mover.Movable(t, p.Snap.Flavor); err != nil {
		return refuse(err.Error(), "create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	w.SQL = p.Statement.Rewrite(o.As(w.Made()))
	p.work.Rebuild, p.work.Build = w, &o.Object
	p.work.Step = &Step{
		SQL:  fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.Taken().SQL(), w.Made().SQL(), o.SQL()),
		Undo: []string{fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.Made().SQL(), w.Taken().SQL(), o.SQL())},
	}
	p.work.Refresh = append(p.work.Refresh, r)
	return nil
}
