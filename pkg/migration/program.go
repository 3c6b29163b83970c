package migration

import (
	"context"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// Functions, procedures and triggers are created on every node group as the client wrote them, so that servers show and dump them. A
// function is computed by whatever server needs its value, over copies of the tables that it reads where these are elsewhere (see package
// planner); a trigger that touches nothing but values fires where its row is written, others are run by sessions (see trigger.go). A
// procedure is run by the proxy, statement by statement, and may do what its client may.

// planProgram plans CREATE, ALTER and DROP of stored programs.
func (p *Planner) planProgram(ctx context.Context) error {
	o := p.Statement.Objects[0]
	_, err := p.database(o)
	switch mysqlTrigger := p.Statement.Kind == routine.Trigger && p.Snap.Flavor == catalog.MySQL; {
	case err == nil, p.Statement.Verb == ddl.DropProgram && !mysqlTrigger: // there is no such program
	case p.Statement.Verb == ddl.DropProgram && p.Statement.IfExists:
		p.note(sqlerr.UnknownDatabase.New(o.DB))
		return errNothingToDo
	default:
		return err
	}
	switch p.Statement.Kind {
	case routine.Trigger:
		return p.planTrigger(ctx, o)
	case routine.Event:
		return p.planEvent(o)
	}
	function := p.Statement.Kind == routine.Function
	old := p.Snap.Routine(o.DB, o.Name, function)
	kind := strings.ToUpper(string(p.Statement.Kind))
	watched := ddl.Object{DB: o.DB, Name: o.Name, Kind: p.Statement.Kind}
	p.work.Watched = []ddl.Object{watched}
	defer func() {
		if p.work.Step != nil {
			p.work.Routines = []ddl.Object{watched}
		}
	}()
	missing := func() *sqlerr.Error {
		return sqlerr.NoSuchRoutine.New(kind, o)
	}
	switch p.Statement.Verb {
	case ddl.DropProgram:
		if old == nil {
			if !p.Statement.IfExists {
				return missing()
			}
			p.note(sqlerr.NoSuchRoutine.New(kind, o))
			return errNothingToDo
		}
		if err := p.mayChange(old.Definer); err != nil {
			return err
		}
		p.work.Step = &Step{SQL: "DROP " + kind + " IF EXISTS " + o.SQL(), Repeat: true}
		return nil
	case ddl.AlterProgram:
		if old == nil {
			return missing()
		}
		if err := p.mayChange(old.Definer); err != nil {
			return err
		}
		p.work.Step = &Step{SQL: strings.TrimSpace(p.Statement.Text), Repeat: true}
		return nil
	}
	if old != nil && !p.Statement.Prog.OrReplace {
		if !p.Statement.Prog.IfNotExists {
			return sqlerr.RoutineExists.New(kind, o.Name)
		}
		p.note(sqlerr.RoutineExists.New(kind, o.Name))
		return errNothingToDo
	}
	if function {
		if err := sharding.FunctionFacts(p.Snap, p.Statement.Prog, &catalog.Routine{Database: o.DB}); err != nil {
			return err
		}
	}
	if p.work.Definer, err = p.programDefiner(p.Statement.Prog); err != nil {
		return err
	}
	s := Step{SQL: p.Statement.WithoutDefiner(), Repeat: p.Statement.Prog.OrReplace}
	if drop := "DROP " + kind + " IF EXISTS " + o.SQL(); old == nil {
		s.Undo = []string{drop}
	} else {
		s.Dropping = drop
	}
	p.work.Step = &s
	return nil
}
