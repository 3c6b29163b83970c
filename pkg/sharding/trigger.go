package sharding

import (
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// TriggerFacts is what statements have to know of a trigger. The error says what it may not touch.
func TriggerFacts(snap *catalog.Snapshot, prog *routine.Program, t *catalog.Table) (*catalog.Trigger, error) {
	touches, err := prog.Plain("triggers")
	if err != nil {
		return nil, err
	}
	if calls := ownCalls(touches.Calls, t.Database); len(calls) > 0 {
		return nil, sqlerr.Unsupported("the function "+calls[0].Name+" in triggers", "compute the value in the trigger: a function may read tables, now or once it is another")
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
			"use an AFTER INSERT trigger: in this one the column is 0 on one server")
	}
	return out, nil
}

// CheckTriggers refuses triggers that would change, behind the proxy's back, what a row's place, an index entry or a foreign
// key over several node groups depends on, or each copy of a reference table in another way.
func CheckTriggers(snap *catalog.Snapshot, t *catalog.Table) error {
	if len(t.Triggers) == 0 || t.Kind == catalog.Single {
		return nil
	}
	var watched []int
	if t.Kind == catalog.Sharded {
		parents, children, own := snap.Relations(t)
		if !own {
			parents, children = nil, nil
		}
		watched = slices.Concat(catalog.WatchedColumns(t, parents, children), t.Primary)
		if t.AutoIncrement >= 0 {
			watched = append(watched, t.AutoIncrement)
		}
		for _, x := range t.Unique {
			if x.Global != 0 || t.NeedsGlobal(x) {
				watched = append(watched, x.Columns...)
				for _, e := range x.Expressions {
					watched = append(watched, e.Reads...)
				}
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
					"assign it in the statement: where a row lies, and what is unique or refers to other rows, must stand there")
			}
		}
		if t.Kind == catalog.Reference && tr.Volatile {
			return sqlerr.Unsupported(fmt.Sprintf("trigger '%s' with a clock or random values on a reference table", tr.Name),
				"give the value in the statement: every node group's copy would become another")
		}
	}
	return nil
}

// programTrigger is what statements have to know of a trigger that sessions run. prog is nil if its body cannot be read any more,
// which whoever runs it will say.
func programTrigger(x *schema.Trigger, body string, definer catalog.AccountName, prog *routine.Program, t *catalog.Table) *catalog.Trigger {
	out := &catalog.Trigger{Name: x.Name, Before: x.Before, Event: x.Event, Volatile: true,
		Program: &catalog.TriggerProgram{Body: body, SQLMode: x.SQLMode, Collation: x.Collation, Definer: definer}}
	if prog == nil {
		return out
	}
	assigns, _ := prog.Judge()
	for _, name := range assigns {
		if c := t.Column(name); c >= 0 && !t.Columns[c].Generated && !slices.Contains(out.Sets, c) {
			out.Sets = append(out.Sets, c)
		}
	}
	return out
}

// Triggers fills in t what statements have to know of the triggers that the definition shows.
func Triggers(snap *catalog.Snapshot, def *schema.Definition, t *catalog.Table) error {
	if def.Triggers == nil {
		return CheckTriggers(snap, t) // those of the table that it follows from
	}
	t.Triggers = nil
	for _, x := range def.Triggers {
		if at, body, definer := routine.Live(x.Text); at >= 0 {
			prog, err := ddl.ParseProgram(x.Text[:at]+body, x.SQLMode, snap.Flavor, snap.ServerVersion)
			if err != nil {
				prog = nil
			}
			t.Triggers = append(t.Triggers, *programTrigger(&x, body, catalog.AccountName(definer), prog, t))
			continue
		}
		tr := &catalog.Trigger{Name: x.Name, Before: x.Before, Event: x.Event, Unknown: true}
		prog, err := ddl.ParseProgram(x.Text, x.SQLMode, snap.Flavor, snap.ServerVersion)
		if err == nil {
			if facts, e := TriggerFacts(snap, prog, t); e == nil {
				tr = facts
			} else {
				err = e
			}
		}
		if err != nil && t.Kind != catalog.Single { // all that a single table's may use is where the table is
			return fmt.Errorf("trigger %s: %w", x.Name, err)
		}
		t.Triggers = append(t.Triggers, *tr)
	}
	return CheckTriggers(snap, t)
}
