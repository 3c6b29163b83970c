package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// The statements below need no trial: what they do follows from the catalog.

func (p *planner) createView() error {
	o := p.st.objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	old := d.Tables[o.name]
	switch {
	case old != nil && p.st.ifExists:
		p.note(sqlerr.TableExists, "Table '%s' already exists", o.name)
		return errNothingToDo
	case old != nil && p.st.verb == createView && !p.st.orReplace:
		return sqlerr.TableExists.New(o.name)
	case old == nil && p.st.verb == alterView:
		return sqlerr.NoSuchTable.New(o.db, o.name)
	}
	s := step{SQL: p.st.rewrite(p.st.cleanup(p.snap.Flavor)...), Repeat: old != nil}
	if old == nil {
		s.Undo = []string{"DROP VIEW IF EXISTS " + o.sql()}
	}
	p.work.Step = &s
	p.work.Refresh = []refresh{{object1: o.plain()}}
	p.watch(o)
	return nil
}

func (p *planner) dropTables() error {
	views := p.st.verb == dropView
	isView := false
	var notView string
	var there, missing []string
	var names []object1
	for _, o := range p.st.objects {
		t := p.snap.Table(o.db, o.name)
		if t == nil || (t.Kind == catalog.View) != views {
			missing = append(missing, o.String())
			isView = isView || t != nil && !views
			if t != nil && views {
				notView = o.String()
			}
			continue
		}
		p.dropIndexes(t, nil)
		there = append(there, o.sql())
		names = append(names, o.plain())
	}
	if notView != "" && !p.st.ifExists && p.snap.Flavor == catalog.MySQL {
		return &sqlerr.Error{Code: 1347, State: "HY000", Message: "'" + notView + "' is not VIEW"}
	}
	if len(missing) > 0 {
		code := sqlerr.UnknownTable
		if views && p.snap.Flavor == catalog.MariaDB {
			code = 4092
		}
		text := "Unknown table '%s'"
		switch {
		case code == 4092:
			text = "Unknown VIEW: '%s'"
		case isView && p.snap.Flavor == catalog.MariaDB:
			code, text = 1965, "'%s' is a view"
		}
		switch {
		case p.st.ifExists && p.snap.Flavor == catalog.MariaDB:
			p.note(code, text, strings.Join(missing, ","))
		case p.st.ifExists:
			for _, m := range missing {
				p.note(code, text, m)
			}
		default:
			e := &sqlerr.Error{Code: code, State: "42S02", Message: fmt.Sprintf(text, strings.Join(missing, ","))}
			if p.snap.Flavor == catalog.MySQL || len(there) == 0 {
				return e // MySQL drops all of them or none
			}
			p.work.Error = e
		}
	}
	if len(there) == 0 {
		return errNothingToDo
	}
	what := "TABLE"
	if views {
		what = "VIEW"
	}
	p.work.Step = &step{
		SQL:    "DROP " + what + " IF EXISTS " + strings.Join(there, ", "),
		Repeat: true,
		Drops:  names,
	}
	p.work.Drop = names
	p.work.Watched = names
	return nil
}

func (p *planner) renameTables() error {
	// Pairs are taken one after the other: a TO tmp, b TO a, tmp TO b swaps two tables.
	now := map[object1]*object1{} // what stands under a name after the pairs so far: its old name, nil for nothing
	at := func(o object1) *object1 {
		if from, ok := now[o]; ok {
			return from
		}
		if p.snap.Table(o.DB, o.Name) != nil {
			return o.ptr()
		}
		return nil
	}
	var undo []string
	for i := 0; i+1 < len(p.st.objects); i += 2 {
		from, to := p.st.objects[i], p.st.objects[i+1]
		if _, err := p.database(from); err != nil {
			return err
		}
		if _, err := p.database(to); err != nil {
			return err
		}
		moving := at(from.plain())
		if moving == nil {
			return sqlerr.NoSuchTable.New(from.db, from.name)
		}
		if at(to.plain()) != nil {
			return sqlerr.TableExists.New(to.name)
		}
		now[to.plain()], now[from.plain()] = moving, nil
		undo = append([]string{to.sql() + " TO " + from.sql()}, undo...)
	}
	for name, from := range now {
		p.work.Watched = append(p.work.Watched, name)
		switch {
		case from == nil:
			p.work.Drop = append(p.work.Drop, name)
		case *from != name:
			p.work.Refresh = append(p.work.Refresh, refresh{object1: name, Old: from})
		}
		if from == nil || *from != name {
			for _, child := range childrenOf(p.snap, name) {
				if _, moved := now[child]; !moved {
					p.work.Refresh = append(p.work.Refresh, refresh{object1: child, Old: child.ptr()})
				}
			}
		}
	}
	s := step{SQL: p.st.rewrite(), Undo: []string{"RENAME TABLE " + strings.Join(undo, ", ")}}
	if len(undo) > 1 {
		// Texts do not tell whether two tables of equal shape have changed places.
		marker := p.trialName("_m")
		p.work.Marker = marker.Name
		to := object1{DB: ownDB, Name: marker.Name + "_done"}
		s.SQL += ", " + marker.sql() + " TO " + to.sql()
		s.Undo[0] += ", " + to.sql() + " TO " + marker.sql()
	}
	p.work.Step = &s
	return nil
}

func (p *planner) truncate(ctx context.Context) error {
	o := p.st.objects[0]
	if _, err := p.database(o); err != nil {
		return err
	}
	t := p.snap.Table(o.db, o.name)
	if t == nil || t.Kind == catalog.View {
		return sqlerr.NoSuchTable.New(o.db, o.name)
	}
	p.work.Step = &step{SQL: p.st.text, Repeat: true}
	r := refresh{object1: o.plain(), Old: o.plain().ptr(), NewID: true}
	if len(t.Global) > 0 {
		// Rows may come while others go: the indexes are made anew, from the rows that are there then.
		bare := *t
		bare.Unique = slices.Clone(t.Unique)
		for i := range bare.Unique {
			bare.Unique[i].Global = 0
		}
		if err := p.newIndexes(ctx, &bare, &r); err != nil {
			return err
		}
		p.dropIndexes(t, nil)
		p.work.Build = o.plain().ptr()
	}
	p.work.Refresh = []refresh{r}
	p.watch(o)
	return nil
}

func (p *planner) createDatabase() error {
	o := p.st.objects[0]
	if len(o.db) > 64 {
		return &sqlerr.Error{Code: 1102, State: "42000", Message: fmt.Sprintf("Incorrect database name '%s'", o.db)}
	}
	switch p.snap.Databases[o.db] {
	case nil:
	default:
		if !p.st.ifExists {
			return sqlerr.DatabaseExists.New(o.db)
		}
		p.note(sqlerr.DatabaseExists, "Can't create database '%s'; database exists", o.db)
		return errNothingToDo
	}
	if p.st.orReplace {
		return sqlerr.Unsupported("CREATE OR REPLACE DATABASE", "use DROP DATABASE IF EXISTS and CREATE DATABASE")
	}
	p.work.Step = &step{
		SQL:  p.st.rewrite(p.st.cleanup(p.snap.Flavor)...),
		Undo: []string{"DROP DATABASE IF EXISTS " + quoteName(o.db)},
	}
	p.work.Watched = []object1{{DB: o.db}}
	p.work.PutDB, p.work.Single = o.db, p.st.single
	p.work.Affected = 1
	return nil
}

func (p *planner) alterDatabase() error {
	o := p.st.objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	single := d.Single
	if p.st.hasComment && p.st.single != d.Single {
		if len(d.Tables) > 0 {
			return sqlerr.Unsupported("changing skarv:single of a database with tables", "say for each new table where it lives")
		}
		single = p.st.single
	}
	p.work.Step = &step{SQL: p.st.rewrite(p.st.cleanup(p.snap.Flavor)...), Repeat: true}
	p.work.PutDB, p.work.Single = o.db, single
	p.work.Affected = 1
	return nil
}

func (p *planner) dropDatabase() error {
	o := p.st.objects[0]
	d := p.snap.Databases[o.db]
	if d == nil {
		if !p.st.ifExists {
			return sqlerr.DatabaseNotExists.New(o.db)
		}
		p.note(sqlerr.DatabaseNotExists, "Can't drop database '%s'; database doesn't exist", o.db)
		return errNothingToDo
	}
	p.work.Step = &step{SQL: "DROP DATABASE IF EXISTS " + quoteName(o.db), Repeat: true}
	p.work.DropDB = o.db
	for _, t := range d.Tables {
		p.dropIndexes(t, nil)
		if t.Kind != catalog.View {
			p.work.Affected++
		}
	}
	return nil
}
