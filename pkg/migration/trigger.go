package migration

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// planTrigger plans CREATE and DROP TRIGGER.
func (p *Planner) planTrigger(ctx context.Context, o ddl.Name) error {
	p.work.Watched = []ddl.Object{{DB: o.DB, Name: o.Name, Kind: routine.Trigger}}
	t := TriggerTable(p.Snap, p.Statement)
	if p.Statement.Verb == ddl.DropProgram {
		if t == nil {
			if p.Statement.IfExists {
				p.note(sqlerr.NoSuchTrigger.New())
				return errNothingToDo
			}
			return sqlerr.NoSuchTrigger.New()
		}
		p.closeForTrigger(t)
		p.work.Step = &Step{SQL: "DROP TRIGGER IF EXISTS " + o.SQL(), Repeat: true}
		p.work.Refresh = []Refresh{refreshed(ddl.Table(t))}
		return nil
	}
	prog := p.Statement.Prog
	name := prog.Table
	if name.DB == "" {
		name.DB = p.Session.DB
	}
	if name.DB != "" && name.DB != o.DB && prog.Name.DB == "" {
		// The trigger belongs to the default database, and its table must.
		return sqlerr.TriggerInWrongSchema.New()
	}
	if t == nil {
		return sqlerr.NoSuchTable.New(name.DB, name.Name)
	}
	if t.Kind == catalog.View {
		return sqlerr.WrongObject.New(fmt.Sprintf("'%s.%s' is not of type 'BASE TABLE'", t.Database, t.Name))
	}
	text, err := p.triggerText(ctx, t)
	if err != nil {
		return err
	}
	s := Step{SQL: text, Repeat: prog.OrReplace}
	if !slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return routine.Same(tr.Name, o.Name) }) {
		s.Undo = []string{"DROP TRIGGER IF EXISTS " + o.SQL()}
	}
	p.closeForTrigger(t)
	p.work.Step = &s
	p.work.Refresh = []Refresh{refreshed(ddl.Table(t))}
	return nil
}

// triggerText is the CREATE TRIGGER that servers get: the client's own if they can fire it by themselves, else that of an inert one,
// which sessions run. The error says what neither may do.
func (p *Planner) triggerText(ctx context.Context, t *catalog.Table) (string, error) {
	prog := p.Statement.Prog
	definer, err := p.programDefiner(prog)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(slices.Clone(t.Triggers), func(tr catalog.Trigger) bool { return prog.OrReplace && routine.Same(tr.Name, prog.Name.Name) })
	beside := func(program bool) bool {
		return slices.ContainsFunc(others, func(tr catalog.Trigger) bool {
			return (tr.Program != nil) == program && tr.Before && prog.Timing == "BEFORE" && tr.Event == prog.Event
		})
	}
	fresh := *t
	trigger, native := sharding.TriggerFacts(p.Snap, prog, t)
	if native == nil {
		fresh.Triggers = append(others, *trigger)
		native = sharding.CheckTriggers(p.Snap, &fresh)
	}
	if native == nil && !beside(true) {
		return p.Statement.WithoutDefiner(), nil
	}
	if native != nil && !sqlerr.HasCode(native, sqlerr.NotSupportedYet) {
		return "", native
	}
	if err := p.tryTrigger(ctx, t); err != nil {
		return "", err
	}
	if beside(false) {
		return "", sqlerr.Unsupported("a BEFORE trigger that uses tables, or assigns what a row is placed by, behind one that does not",
			"put both into one trigger")
	}
	if len(t.Primary) == 0 || t.HiddenKey {
		return "", native // its rows cannot be told apart
	}
	if err := judgeProgram(prog, t); err != nil {
		return "", err
	}
	return p.Statement.WithBody(routine.Inert(prog.TriggerBody(), string(definer))), nil
}

// tryTrigger has a server read the body that the client wrote, which it will never get, on an empty copy of the table.
func (p *Planner) tryTrigger(ctx context.Context, t *catalog.Table) (err error) {
	trial := schema.Trial(p.Job, "")
	defer func() {
		_, e := p.Trial.Exec(ctx, "DROP TABLE IF EXISTS "+trial.SQL())
		if e == nil {
			e = p.Trial.Use(ctx, p.Session)
		}
		if err == nil {
			err = e
		}
	}()
	of := ddl.Object{DB: t.Database, Name: t.Name}
	if err := p.Trial.EmptyCopy(ctx, p.Job, of, trial); err != nil {
		return err
	}
	if err := p.Trial.Use(ctx, p.Session); err != nil {
		return err
	}
	prog := p.Statement.Prog
	_, err = p.Trial.Exec(ctx, fmt.Sprintf("CREATE TRIGGER %s %s %s ON %[1]s FOR EACH ROW %[4]s", trial.SQL(), prog.Timing, prog.Event, prog.TriggerBody()))
	if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
		return p.realNames(refused, ddl.Name{Object: of})
	}
	return err
}

// judgeProgram refuses what no trigger may do, and what the sessions that run triggers do not know.
func judgeProgram(prog *routine.Program, t *catalog.Table) error {
	if _, _, err := prog.RowText(t.ColumnName); err != nil {
		return err
	}
	assigns, err := prog.Judge()
	for _, name := range assigns {
		if c := &t.Columns[t.Column(name)]; err == nil && c.Generated {
			err = sqlerr.Unsupported("a trigger that assigns the generated column '"+c.Name+"'", "assign what it is computed from")
		}
	}
	return err
}

// TriggerTable is the table of a trigger that is created or dropped, or nil.
func TriggerTable(snap *catalog.Snapshot, st *ddl.Statement) *catalog.Table {
	if st.Kind != routine.Trigger {
		return nil
	}
	o := st.Objects[0]
	if st.Prog != nil {
		db := st.Prog.Table.DB
		if db == "" {
			db = o.DB
		}
		return snap.Table(db, st.Prog.Table.Name)
	}
	if d := snap.Databases[o.DB]; d != nil {
		for _, t := range d.Tables {
			if slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return tr.Name == o.Name }) {
				return t
			}
		}
	}
	return nil
}
