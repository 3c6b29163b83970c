package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// planTrigger plans CREATE and DROP TRIGGER.
func (p *planner) planTrigger(o object, d *catalog.Database) error {
	p.work.Watched = []object1{{DB: o.db, Name: o.name, Kind: routine.Trigger}}
	t := triggerTable(p.snap, p.st)
	if p.st.verb == dropProgram {
		if t == nil {
			if p.st.ifExists {
				p.note(1360, "Trigger does not exist")
				return errNothingToDo
			}
			return &sqlerr.Error{Code: 1360, State: "HY000", Message: "Trigger does not exist"}
		}
		p.work.Step = &step{SQL: "DROP TRIGGER IF EXISTS " + o.sql(), Repeat: true}
		p.work.Refresh = []refresh{{object1: object1{DB: t.Database, Name: t.Name}, Old: &object1{DB: t.Database, Name: t.Name}}}
		return nil
	}
	prog := p.st.prog
	name := prog.Table
	if name.DB == "" {
		name.DB = p.req.DB
	}
	if name.DB != "" && name.DB != o.db && prog.Name.DB == "" {
		// The trigger belongs to the default database, and its table must.
		return &sqlerr.Error{Code: 1435, State: "HY000", Message: "Trigger in wrong schema"}
	}
	if t == nil {
		return sqlerr.NoSuchTable.New(name.DB, name.Name)
	}
	if t.Kind == catalog.View {
		return &sqlerr.Error{Code: 1347, State: "HY000", Message: fmt.Sprintf("'%s.%s' is not of type 'BASE TABLE'", t.Database, t.Name)}
	}
	text, err := p.triggerText(t)
	if err != nil {
		return err
	}
	s := step{SQL: text, Repeat: prog.OrReplace}
	if !slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return routine.Same(tr.Name, o.name) }) {
		s.Undo = []string{"DROP TRIGGER IF EXISTS " + o.sql()}
	}
	p.work.Step = &s
	p.work.Refresh = []refresh{{object1: object1{DB: t.Database, Name: t.Name}, Old: &object1{DB: t.Database, Name: t.Name}}}
	return nil
}

// triggerText is the CREATE TRIGGER that servers get: the client's own if they can fire it by themselves, else that of an inert one,
// which sessions run. The error says what neither may do.
func (p *planner) triggerText(t *catalog.Table) (string, error) {
	prog := p.st.prog
	others := slices.DeleteFunc(slices.Clone(t.Triggers), func(tr catalog.Trigger) bool { return prog.OrReplace && routine.Same(tr.Name, prog.Name.Name) })
	beside := func(program bool) bool {
		return slices.ContainsFunc(others, func(tr catalog.Trigger) bool {
			return (tr.Program != nil) == program && tr.Before && prog.Timing == "BEFORE" && tr.Event == prog.Event
		})
	}
	fresh := *t
	trigger, native := triggerFacts(p.snap, prog, t)
	if native == nil {
		fresh.Triggers = append(others, *trigger)
		native = checkTriggers(p.snap, &fresh)
	}
	if native == nil && !beside(true) {
		return p.st.withoutDefiner(), nil
	}
	if native != nil && !sqlerr.HasCode(native, sqlerr.NotSupportedYet) {
		return "", native
	}
	if beside(false) {
		return "", sqlerr.Unsupported("a BEFORE trigger that uses tables, or assigns what a row is placed by, behind one that does not",
			"put both into one trigger")
	}
	definer, err := p.programDefiner(prog)
	if err != nil {
		return "", err
	}
	if len(t.Primary) == 0 || t.HiddenKey {
		return "", native // its rows cannot be told apart
	}
	if err := judgeProgram(prog, t); err != nil {
		return "", err
	}
	d := prog.Definer
	return p.st.source[:d.Start] + p.st.source[d.End:prog.BodyAt] + routine.Inert(prog.TriggerBody(), definer), nil
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

// programTrigger is what statements have to know of a trigger that sessions run. prog is nil if its body cannot be read any more,
// which whoever runs it will say.
func programTrigger(x *triggerText, body, definer string, prog *routine.Program, t *catalog.Table) *catalog.Trigger {
	out := &catalog.Trigger{Name: x.name, Before: x.before, Event: x.event, Volatile: true,
		Program: &catalog.TriggerProgram{Body: body, SQLMode: x.mode, Definer: definer}}
	if prog == nil {
		return out
	}
	assigns, _ := prog.Judge()
	for _, name := range assigns {
		if c := t.Column(name); c >= 0 {
			out.Sets = append(out.Sets, c)
		}
	}
	return out
}

// triggerTable is the table of a trigger that is created or dropped, or nil.
func triggerTable(snap *catalog.Snapshot, st *statement) *catalog.Table {
	if st.kind != routine.Trigger {
		return nil
	}
	o := st.objects[0]
	if st.prog != nil {
		db := st.prog.Table.DB
		if db == "" {
			db = o.db
		}
		return snap.Table(db, st.prog.Table.Name)
	}
	if d := snap.Databases[o.db]; d != nil {
		for _, t := range d.Tables {
			if slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return tr.Name == o.name }) {
				return t
			}
		}
	}
	return nil
}

// triggerFacts is what statements have to know of a trigger. The error says what it may not touch.
func triggerFacts(snap *catalog.Snapshot, prog *routine.Program, t *catalog.Table) (*catalog.Trigger, error) {
	touches, err := prog.Plain("triggers")
	if err != nil {
		return nil, err
	}
	if calls := ownCalls(touches.Calls, t.Database); len(calls) > 0 {
		return nil, sqlerr.Unsupported("the function "+calls[0].Name+" in triggers", "it may read tables, now or once it is another")
	}
	out := &catalog.Trigger{Name: prog.Name.Name, Before: prog.Timing == "BEFORE", Event: prog.Event,
		Volatile: touches.Volatile}
	for _, name := range touches.Sets {
		if c := t.Column(name); c >= 0 && !slices.Contains(out.Sets, c) { // else the server has an error to tell
			out.Sets = append(out.Sets, c)
		}
	}
	if c := t.AutoIncrement; c >= 0 && out.Before && out.Event == "INSERT" && prog.Mentions("NEW", t.Columns[c].Name) {
		return nil, sqlerr.Unsupported("a BEFORE INSERT trigger that uses the AUTO_INCREMENT column '"+t.Columns[c].Name+"'",
			"on one server it is 0 there: use an AFTER INSERT trigger")
	}
	return out, nil
}

// checkTriggers refuses triggers that would change, behind the proxy's back, what a row's place, an index entry or a foreign
// key over several node groups depends on, or each copy of a reference table in another way.
func checkTriggers(snap *catalog.Snapshot, t *catalog.Table) error {
	if len(t.Triggers) == 0 || t.Kind == catalog.Single {
		return nil
	}
	var watched []int
	if t.Kind == catalog.Sharded {
		parents, children, own := snap.Relations(t)
		if !own {
			parents, children = nil, nil
		}
		watched = append(catalog.WatchedColumns(t, parents, children), t.Primary...)
		if t.AutoIncrement >= 0 {
			watched = append(watched, t.AutoIncrement)
		}
		for _, x := range t.Unique {
			if x.Global != 0 || t.NeedsGlobal(x) {
				watched = append(watched, x.Columns...)
			}
		}
	}
	for _, tr := range t.Triggers {
		if tr.Program != nil {
			continue // what a session makes of a row goes the way of a client's
		}
		for _, c := range tr.Sets {
			if slices.Contains(watched, c) {
				return sqlerr.Unsupported(fmt.Sprintf("trigger '%s' that assigns column '%s'", tr.Name, t.Columns[c].Name),
					"where a row lies, and what is unique or refers to other rows, must be in the statement: assign it there")
			}
		}
		if t.Kind == catalog.Reference && tr.Volatile {
			return sqlerr.Unsupported(fmt.Sprintf("trigger '%s' with a clock or random values on a reference table", tr.Name),
				"every node group's copy would become another: give the value in the statement")
		}
	}
	return nil
}

// readTriggers reads the table's triggers, in the order in which they fire.
func (d *definition) readTriggers(ctx context.Context, s *server) error {
	type row struct{ name, timing, event, body, mode string }
	var found []row
	err := s.rows(ctx, func(r *sql.Rows) error {
		var x row
		if err := r.Scan(&x.name, &x.timing, &x.event, &x.body, &x.mode); err != nil {
			return err
		}
		found = append(found, x)
		return nil
	}, "SELECT trigger_name, action_timing, event_manipulation, action_statement, sql_mode FROM information_schema.triggers"+
		d.where("event_object_schema", "event_object_table")+" ORDER BY action_timing, event_manipulation, action_order, trigger_name")
	for _, x := range found {
		quote := func(name string) string {
			if hasMode(x.mode, "ANSI_QUOTES") {
				return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			}
			return quoteName(name)
		}
		d.triggers = append(d.triggers, triggerText{x.name, x.timing == "BEFORE", x.event, x.mode, fmt.Sprintf("CREATE TRIGGER %s %s %s ON %s FOR EACH ROW %s",
			quote(x.name), x.timing, x.event, quote(d.table.Name), x.body)})
	}
	return err
}

// triggerText is a trigger as a server has it.
type triggerText struct {
	name       string
	before     bool
	event      string
	mode, text string
}

// triggers fills in what statements have to know of the triggers a server has.
func (p *placing) triggers(t *catalog.Table) error {
	if p.def.triggers == nil {
		return checkTriggers(p.snap, t) // those of the table that it follows from
	}
	t.Triggers = nil
	for _, x := range p.def.triggers {
		if at, body, definer := routine.Live(x.text); at >= 0 {
			prog, err := parseProgram(x.text[:at]+body, x.mode, p.snap.Flavor, p.snap.ServerVersion)
			if err != nil {
				prog = nil
			}
			t.Triggers = append(t.Triggers, *programTrigger(&x, body, definer, prog, t))
			continue
		}
		tr := &catalog.Trigger{Name: x.name, Before: x.before, Event: x.event, Unknown: true}
		prog, err := parseProgram(x.text, x.mode, p.snap.Flavor, p.snap.ServerVersion)
		if err == nil {
			if facts, e := triggerFacts(p.snap, prog, t); e == nil {
				tr = facts
			} else {
				err = e
			}
		}
		if err != nil && t.Kind != catalog.Single { // all that a single table's may use is where the table is
			return fmt.Errorf("trigger %s: %w", x.name, err)
		}
		t.Triggers = append(t.Triggers, *tr)
	}
	return checkTriggers(p.snap, t)
}
