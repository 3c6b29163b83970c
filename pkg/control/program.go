package control

import (
	"context"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Functions, procedures and triggers are created on every node group as the client wrote them, so that servers show and dump them. A function
// is computed by whatever server needs its value, over copies of the tables that it reads where these are elsewhere (see the planner);
// a trigger that touches nothing but values fires where its row is written, others are run by sessions (see trigger.go). A procedure is run by the proxy, statement by statement, and may do what its client may.

// planProgram plans CREATE, ALTER and DROP of stored programs.
func (p *planner) planProgram() error {
	o := p.st.Objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	switch p.st.Kind {
	case routine.Trigger:
		return p.planTrigger(o, d)
	case routine.Event:
		return p.planEvent(o, p.created)
	}
	function := p.st.Kind == routine.Function
	old := p.snap.Routine(o.DB, o.Name, function)
	kind := strings.ToUpper(string(p.st.Kind))
	watched := ddl.Object{DB: o.DB, Name: o.Name, Kind: p.st.Kind}
	p.work.Watched = []ddl.Object{watched}
	defer func() {
		if p.work.Step != nil {
			p.work.Routines = []ddl.Object{watched}
		}
	}()
	missing := func() *sqlerr.Error {
		return &sqlerr.Error{Code: 1305, State: "42000", Message: fmt.Sprintf("%s %s does not exist", kind, o)}
	}
	switch p.st.Verb {
	case ddl.DropProgram:
		if old == nil {
			if !p.st.IfExists {
				return missing()
			}
			p.note(1305, "%s %s does not exist", kind, o)
			return errNothingToDo
		}
		p.work.Step = &step{SQL: "DROP " + kind + " IF EXISTS " + o.SQL(), Repeat: true}
		return nil
	case ddl.AlterProgram:
		if old == nil {
			return missing()
		}
		p.work.Step = &step{SQL: strings.TrimSpace(p.st.Text), Repeat: true}
		return nil
	}
	if old != nil && !p.st.Prog.OrReplace {
		if !p.st.Prog.IfNotExists {
			return &sqlerr.Error{Code: 1304, State: "42000", Message: fmt.Sprintf("%s %s already exists", kind, o.Name)}
		}
		p.note(1304, "%s %s already exists", kind, o.Name)
		return errNothingToDo
	}
	if function {
		if err := sharding.FunctionFacts(p.snap, p.st.Prog, &catalog.Routine{Database: o.DB}); err != nil {
			return err
		}
	}
	s := step{SQL: p.st.WithoutDefiner(), Repeat: p.st.Prog.OrReplace}
	if old == nil {
		s.Undo = []string{"DROP " + kind + " IF EXISTS " + o.SQL()}
	}
	p.work.Step = &s
	return nil
}

// readRoutines puts into change what the servers have of the routines that a step has changed.
func (d *schemaChange) readRoutines(ctx context.Context, change *topology.Change) error {
	for _, o := range d.job.Work.Routines {
		var first *schema.Program
		for i, s := range d.servers {
			now, err := schema.ReadProgram(ctx, s, o)
			if err != nil {
				return err
			}
			if i == 0 {
				first = now
			} else if first.Text != now.Text {
				return sqlerr.UnknownError.New(fmt.Sprintf("%s %s differs between node groups %s and %s",
					o.Kind, o, d.snap.Groups[0].Label(), d.snap.Groups[i].Label()))
			}
		}
		if o.Kind == routine.Event {
			if err := d.refreshEvent(ctx, o, first, change); err != nil {
				return err
			}
			continue
		}
		function := o.Kind == routine.Function
		if first.Text == "" {
			change.DeleteRoutine(catalog.NewRoutineKey(o.DB, o.Name, function))
			continue
		}
		r := &catalog.Routine{Database: o.DB, Name: o.Name, Function: function, Text: first.Text, SQLMode: first.SQLMode}
		if function {
			prog, err := ddl.ParseProgram(r.Text, r.SQLMode, d.snap.Flavor, d.snap.ServerVersion)
			if err != nil {
				return err
			}
			if err = sharding.FunctionFacts(d.snap, prog, r); err != nil {
				return err
			}
		}
		change.PutRoutine(r, topology.Any)
	}
	return nil
}
