package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// The statements below need no trial: what they do follows from the catalog.

func (p *Planner) createView(ctx context.Context) error {
	o := p.Statement.Objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	old := d.Tables[o.Name]
	switch {
	case old != nil && p.Statement.IfExists:
		p.note(sqlerr.TableExists.New(o.Name))
		return errNothingToDo
	case old != nil && p.Statement.Verb == ddl.CreateView && !p.Statement.OrReplace:
		return sqlerr.TableExists.New(o.Name)
	case old == nil:
		if err := p.notSequence(ctx, o); err != nil {
			return err
		}
		if p.Statement.Verb == ddl.AlterView {
			return sqlerr.NoSuchTable.New(o.DB, o.Name)
		}
	}
	if err := p.viewDefiner(old); err != nil {
		return err
	}
	s := Step{SQL: p.Statement.Rewrite(), Repeat: old != nil}
	if old == nil {
		s.Undo = []string{"DROP VIEW IF EXISTS " + o.SQL()}
		p.appear(o.Object)
	}
	p.close(o.Object)
	p.work.Step = &s
	p.work.Refresh = []Refresh{{Object: o.Object}}
	p.watch(o)
	return nil
}

func (p *Planner) dropTables() error {
	views := p.Statement.Verb == ddl.DropView
	isView := false
	var tables []string // not views, as they should be
	var there, missing []string
	var names []ddl.Object
	for _, o := range p.Statement.Objects {
		t := p.Snap.Table(o.DB, o.Name)
		if p.Made != 0 && (t == nil || t.ID != p.Made) {
			return errNothingToDo
		}
		if t == nil || (t.Kind == catalog.View) != views {
			missing = append(missing, o.String())
			isView = isView || t != nil && !views
			if t != nil && views {
				tables = append(tables, o.String())
				p.warnNotView(o)
			}
			continue
		}
		if err := p.mayChange(t.Definer); err != nil {
			return err
		}
		p.dropIndexes(t, nil)
		there = append(there, o.SQL())
		names = append(names, o.Object)
	}
	if len(tables) > 0 && !p.Statement.IfExists && p.Snap.Flavor == catalog.MySQL {
		return sqlerr.WrongObject.New("'" + tables[len(tables)-1] + "' is not VIEW")
	}
	if len(missing) > 0 {
		code := sqlerr.UnknownTable
		switch {
		case views && p.Snap.Flavor == catalog.MariaDB:
			code = sqlerr.UnknownView
		case isView && p.Snap.Flavor == catalog.MariaDB:
			code = sqlerr.IsView
		}
		switch {
		case p.Statement.IfExists && p.Snap.Flavor == catalog.MariaDB:
			p.note(code.New(strings.Join(missing, ",")))
		case p.Statement.IfExists:
			for _, m := range missing {
				if slices.Contains(tables, m) {
					p.note(sqlerr.WrongObject.New("'" + m + "' is not VIEW"))
				} else {
					p.note(code.New(m))
				}
			}
		default:
			e := code.New(strings.Join(missing, ","))
			if p.Snap.Flavor == catalog.MySQL || len(there) == 0 {
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
	p.work.Step = &Step{
		SQL:    "DROP " + what + " IF EXISTS " + strings.Join(there, ", "),
		Repeat: true,
		Drops:  names,
	}
	p.work.Drop = names
	p.work.Watched = names
	return nil
}

// warnNotView is what MariaDB says of a table that is to be dropped as a view, beside its note or its error.
func (p *Planner) warnNotView(o ddl.Name) {
	if p.Snap.Flavor == catalog.MariaDB && len(p.work.Warnings) < schema.MaxWarnings {
		p.work.Warnings = append(p.work.Warnings, schema.Warning{Level: "Warning", Code: sqlerr.WrongObject, Message: "'" + o.String() + "' is not of type 'VIEW'"})
	}
}

func (p *Planner) renameTables(ctx context.Context) error {
	// Pairs are taken one after the other: a TO tmp, b TO a, tmp TO b swaps two tables.
	now := map[ddl.Object]*ddl.Object{} // what stands under a name after the pairs so far: its old name, nil for nothing
	at := func(o ddl.Object) *ddl.Object {
		if from, ok := now[o]; ok {
			return from
		}
		if p.Snap.Table(o.DB, o.Name) != nil {
			return &o
		}
		return nil
	}
	var pairs, undo []string
	for i := 0; i+1 < len(p.Statement.Objects); i += 2 {
		from, to := p.Statement.Objects[i], p.Statement.Objects[i+1]
		moving := at(from.Object)
		if moving == nil {
			if err := p.notRenamed(ctx, from); err != nil {
				return err
			}
			continue
		}
		if _, err := p.database(to); err != nil {
			return err
		}
		if at(to.Object) != nil {
			return sqlerr.TableExists.New(to.Name)
		}
		if err := p.notSequence(ctx, to); err != nil {
			return err
		}
		now[to.Object], now[from.Object] = moving, nil
		pairs = append(pairs, from.SQL()+" TO "+to.SQL())
		undo = append([]string{to.SQL() + " TO " + from.SQL()}, undo...)
	}
	if len(pairs) == 0 {
		return errNothingToDo
	}
	for name, from := range now {
		p.work.Watched = append(p.work.Watched, name)
		switch {
		case from == nil && p.Snap.Table(name.DB, name.Name) == nil: // a name on the way
		case from == nil:
			p.work.Drop = append(p.work.Drop, name)
		case *from != name:
			p.work.Refresh = append(p.work.Refresh, Refresh{Object: name, Origin: sharding.Origin{Old: from}})
		}
		if from == nil || *from != name {
			if p.Snap.Table(name.DB, name.Name) == nil {
				p.appear(name)
			}
			p.close(name)
			for _, child := range childrenOf(p.Snap, name) {
				p.close(child)
				if _, moved := now[child]; !moved {
					p.work.Refresh = append(p.work.Refresh, refreshed(child))
				}
			}
		}
	}
	s := Step{SQL: p.Statement.Rewrite(), Undo: []string{"RENAME TABLE " + strings.Join(undo, ", ")}}
	if p.Statement.IfExists { // nothing but what the catalog knows of is renamed on any server
		s.SQL = "RENAME TABLE " + strings.Join(pairs, ", ")
	}
	if len(undo) > 1 {
		p.mark(&s)
	}
	p.work.Step = &s
	return nil
}

// mark lets a RENAME tell whether it ran: texts do not, when two tables of equal shape have changed places.
func (p *Planner) mark(s *Step) {
	marker := schema.Trial(p.Job, "_m")
	p.work.Marker = marker.Name
	to := ddl.Object{DB: catalog.OwnDB, Name: marker.Name + "_done"}
	s.SQL += ", " + marker.SQL() + " TO " + to.SQL()
	s.Undo[0] += ", " + to.SQL() + " TO " + marker.SQL()
}

// notRenamed is what a RENAME TABLE says of a table that is not there.
func (p *Planner) notRenamed(ctx context.Context, from ddl.Name) error {
	if p.Snap.Flavor == catalog.MariaDB && p.Snap.Databases[from.DB] != nil {
		if is, err := schema.IsSequence(ctx, p.Sequences, from.Object); err != nil {
			return err
		} else if is {
			return sqlerr.Unsupported(fmt.Sprintf("renaming the sequence '%s'", from.Name), "create a sequence of the new name, and give it the value with SETVAL()")
		}
	}
	if p.Statement.IfExists {
		p.note(sqlerr.NoSuchTable.New(from.DB, from.Name))
		return nil
	}
	if _, err := p.database(from); err != nil {
		return err
	}
	return sqlerr.NoSuchTable.New(from.DB, from.Name)
}

func (p *Planner) truncate(ctx context.Context) error {
	o := p.Statement.Objects[0]
	if _, err := p.database(o); err != nil {
		return err
	}
	t := p.Snap.Table(o.DB, o.Name)
	if t == nil || t.Kind == catalog.View {
		return sqlerr.NoSuchTable.New(o.DB, o.Name)
	}
	p.work.Step = &Step{SQL: p.Statement.Text, Repeat: true, Empties: true}
	r := Refresh{Object: o.Object, Origin: sharding.Origin{Old: &o.Object}, NewID: true}
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
		p.work.Build = &o.Object
	}
	p.closeForSequence(t)
	p.work.Refresh = []Refresh{r}
	p.watch(o)
	return nil
}

func (p *Planner) createDatabase() error {
	o := p.Statement.Objects[0]
	if len(o.DB) > 64 {
		return sqlerr.WrongDatabaseName.New(o.DB)
	}
	switch p.Snap.Databases[o.DB] {
	case nil:
	default:
		if !p.Statement.IfExists {
			return sqlerr.DatabaseExists.New(o.DB)
		}
		p.note(sqlerr.DatabaseExists.New(o.DB))
		if p.Snap.Flavor == catalog.MySQL {
			p.work.Affected = 1
		}
		return errNothingToDo
	}
	if p.Statement.OrReplace {
		return sqlerr.Unsupported("CREATE OR REPLACE DATABASE", "use DROP DATABASE IF EXISTS and CREATE DATABASE")
	}
	p.work.Step = &Step{
		SQL:  p.Statement.Rewrite(),
		Undo: []string{"DROP DATABASE IF EXISTS " + sqltypes.QuoteName(o.DB)},
	}
	p.work.Watched = []ddl.Object{{DB: o.DB}}
	p.work.PutDB, p.work.Single = o.DB, p.Statement.Single
	p.work.Affected = 1
	return nil
}

func (p *Planner) alterDatabase() error {
	o := p.Statement.Objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	single := d.Single
	if p.Statement.HasComment && p.Statement.Single != d.Single {
		if len(d.Tables) > 0 {
			return sqlerr.Unsupported("changing skarv:single of a database with tables", "say for each new table where it lives")
		}
		single = p.Statement.Single
	}
	p.work.Step = &Step{SQL: p.Statement.Rewrite(), Repeat: true}
	p.work.PutDB, p.work.Single = o.DB, single
	p.work.Affected = 1
	return nil
}

func (p *Planner) dropDatabase(ctx context.Context) error {
	o := p.Statement.Objects[0]
	d := p.Snap.Databases[o.DB]
	if d == nil {
		if !p.Statement.IfExists {
			return sqlerr.DatabaseNotExists.New(o.DB)
		}
		p.note(sqlerr.DatabaseNotExists.New(o.DB))
		return errNothingToDo
	}
	if err := p.heldDatabase(ctx, d); err != nil {
		return err
	}
	p.work.Step = &Step{SQL: "DROP DATABASE IF EXISTS " + sqltypes.QuoteName(o.DB), Repeat: true}
	p.work.DropDB = o.DB
	for _, t := range d.Tables {
		p.dropIndexes(t, nil)
		p.work.Affected++
	}
	return nil
}

// heldDatabase refuses to drop a database to whose tables foreign keys of others refer: MariaDB would drop tables until it meets one of these.
func (p *Planner) heldDatabase(ctx context.Context, d *catalog.Database) error {
	if p.Snap.Flavor != catalog.MariaDB {
		return nil
	}
	for _, other := range p.Snap.Databases {
		for _, t := range other.Tables {
			if other == d || !slices.ContainsFunc(t.ForeignKeys, func(fk catalog.ForeignKey) bool { return fk.RefDB == d.Name && d.Tables[fk.RefTable] != nil }) {
				continue
			}
			if checks, err := p.Trial.One(ctx, "SELECT @@foreign_key_checks"); err != nil || checks == "0" {
				return err
			}
			return sqlerr.Unsupported(fmt.Sprintf("DROP DATABASE of '%s', to which foreign keys of table '%s.%s' refer", d.Name, other.Name, t.Name), "drop these keys first")
		}
	}
	return nil
}
