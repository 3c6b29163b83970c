package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/sqltypes"
)

// Copy creates every database, table, view, routine and event of a snapshot on another server, as the first one has them. The tables
// are empty and have no triggers. What is there already stays.
func Copy(ctx context.Context, snap *catalog.Snapshot, from, to *Server) error {
	plain := Session{Set: []string{"SET SESSION foreign_key_checks = 0"}}
	for _, s := range []*Server{from, to} {
		if err := s.Use(ctx, plain); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(snap.Databases))
	for name := range snap.Databases {
		names = append(names, name)
	}
	slices.Sort(names)
	var views []ddl.Object
	functions := sortedRoutines(snap, true)
	for _, name := range names {
		d := snap.Databases[name]
		q := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s CHARACTER SET %s COLLATE %s", sqltypes.QuoteName(name), d.Charset, d.Collation)
		if _, err := to.Exec(ctx, q); err != nil {
			return err
		}
		for _, f := range functions { // views may call them
			if f.DB == name {
				if err := copyProgram(ctx, from, to, f); err != nil {
					return err
				}
			}
		}
		if err := to.Use(ctx, plain); err != nil {
			return err
		}
		for _, t := range d.Tables {
			o := ddl.Object{DB: name, Name: t.Name}
			if column := t.AsksSequence(); column != "" {
				return fmt.Errorf("the DEFAULT of column %s of table %s asks a sequence, which a new node group cannot have: drop the DEFAULT first", column, o)
			}
			if t.Kind == catalog.View {
				views = append(views, o)
				continue
			}
			if err := copyOne(ctx, from, to, o); err != nil {
				return err
			}
			for _, g := range t.Global {
				if err := copyOne(ctx, from, to, ddl.Object{DB: catalog.OwnDB, Name: g.Entries.Name}); err != nil {
					return err
				}
			}
		}
	}
	if err := copyViews(ctx, from, to, views); err != nil {
		return err
	}
	for _, p := range sortedRoutines(snap, false) {
		if err := copyProgram(ctx, from, to, p); err != nil {
			return err
		}
	}
	return copyEvents(ctx, snap, from, to)
}

// CopyTriggers creates every trigger, but those of single tables, once the new server has its rows.
func CopyTriggers(ctx context.Context, snap *catalog.Snapshot, from, to *Server) error {
	var triggers []ddl.Object
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if t.Kind == catalog.Single {
				continue // they are where its rows are
			}
			for _, tr := range t.Triggers { // of one table in the order in which they fire
				triggers = append(triggers, ddl.Object{DB: d.Name, Name: tr.Name, Kind: routine.Trigger})
			}
		}
	}
	for _, t := range triggers {
		if err := copyProgram(ctx, from, to, t); err != nil {
			return err
		}
	}
	return nil
}

// copyViews creates views in an order in which each finds those it reads.
func copyViews(ctx context.Context, from, to *Server, views []ddl.Object) error {
	for len(views) > 0 {
		var left []ddl.Object
		var last error
		for _, v := range views {
			if err := copyOne(ctx, from, to, v); err != nil {
				left, last = append(left, v), err
			}
		}
		if len(left) == len(views) {
			return last
		}
		views = left
	}
	return nil
}

// copyOne creates a table or view as another server has it.
func copyOne(ctx context.Context, from, to *Server, o ddl.Object) error {
	create, err := ReadCreate(ctx, from, o)
	if err != nil {
		return err
	}
	if create == "" {
		return fmt.Errorf("node group %s has no table %s", from.Group, o)
	}
	if there, err := ReadCreate(ctx, to, o); err != nil || there != "" {
		return err
	}
	if at := strings.Index(create, " DEFINER="); at >= 0 && strings.HasPrefix(create, "CREATE ALGORITHM") {
		if end := strings.Index(create, " SQL SECURITY"); end > at {
			create = create[:at] + create[end:]
		}
	}
	if _, err := to.Exec(ctx, "USE "+sqltypes.QuoteName(o.DB)); err != nil {
		return err
	}
	_, err = to.Exec(ctx, create)
	return err
}

// copyProgram creates a stored program as another server has it, in a session that statements bring into its state.
func copyProgram(ctx context.Context, from, to *Server, o ddl.Object, session ...string) error {
	p, err := ReadProgram(ctx, from, o)
	if err != nil {
		return err
	}
	if p.Text == "" {
		return fmt.Errorf("node group %s has no %s %s", from.Group, o.Kind, o)
	}
	if there, err := ReadProgram(ctx, to, o); err != nil || there.Text != "" {
		return err
	}
	return p.Create(ctx, to, session...)
}

// copyEvents creates all events on a new node group.
func copyEvents(ctx context.Context, snap *catalog.Snapshot, from, to *Server) error {
	for _, e := range snap.SortedEvents() {
		o := ddl.Object{DB: e.Database, Name: e.Name, Kind: routine.Event}
		if err := copyProgram(ctx, from, to, o, fmt.Sprintf("SET timestamp = %d", e.Since.Unix())); err != nil {
			return err
		}
	}
	return nil
}

// sortedRoutines are the functions, or the procedures, in the order of their names.
func sortedRoutines(snap *catalog.Snapshot, function bool) (out []ddl.Object) {
	kind := routine.Procedure
	if function {
		kind = routine.Function
	}
	for k, r := range snap.Routines {
		if k.Function == function {
			out = append(out, ddl.Object{DB: r.Database, Name: r.Name, Kind: kind})
		}
	}
	slices.SortFunc(out, func(a, b ddl.Object) int { return strings.Compare(a.String(), b.String()) })
	return out
}
