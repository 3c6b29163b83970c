package takeover

import (
	"context"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// Functions, procedures and events of an imported server become the cluster's, if they could have been created through Skarv.
// Procedures and events then run statement by statement, wherever the rows are.

// takeOver decides which stored programs are taken over, and says of each other one why it is not.
func (i *importer) takeOver() {
	i.snap.Routines = map[catalog.RoutineKey]*catalog.Routine{}
	for _, kind := range []routine.Kind{routine.Function, routine.Procedure, routine.Event} { // functions first: others call them
		for _, b := range i.bodies {
			if b.kind != kind || b.hidden || b.shown == nil || b.shown.Text == "" {
				continue
			}
			if err := i.takeOne(b); err != nil {
				why := err.Error()
				if e, ok := err.(*sqlerr.Error); ok {
					why = e.Message
				}
				i.findings = append(i.findings, Finding{LevelWarning, b.what + " is not taken over: " + why,
					"the tables it uses stay single tables; clients of Skarv cannot use it until it is written anew with CREATE OR REPLACE"})
				continue
			}
			b.ours = true
		}
	}
	if len(i.events) == 0 {
		return
	}
	var names []string
	for _, b := range i.events {
		names = append(names, b.event.Database+"."+b.event.Name)
	}
	i.findings = append(i.findings, Finding{LevelNote,
		"events are run by Skarv from now on, as their definers, and are DISABLE ON SLAVE on the server: " + strings.Join(names, ", "),
		"see that their definers are accounts of the cluster (--accounts); SELECT * FROM skarv.events tells how they end"})
}

func (i *importer) takeOne(b *body) error {
	prog, err := ddl.ParseProgram(b.shown.Text, b.shown.SQLMode, i.facts.Node.Flavor, i.facts.Node.Version)
	if err != nil {
		return err
	}
	if b.kind == routine.Event {
		if b.event == nil {
			return sqlerr.Unsupported("its schedule", "make the event anew through Skarv")
		}
		i.events = append(i.events, b)
		return nil
	}
	r := &catalog.Routine{Database: b.db, Name: b.name, Function: b.kind == routine.Function, Text: b.shown.Text, SQLMode: b.shown.SQLMode,
		Collation: b.shown.Collation, Security: catalog.Security{Invoker: prog.Invoker}}
	if r.Function {
		if err := sharding.FunctionFacts(i.snap, prog, r); err != nil {
			return err
		}
	}
	if !r.Invoker {
		r.Definer = i.definer(b.what, b.definer)
	}
	i.routines = append(i.routines, r)
	i.snap.Routines[r.Key()] = r
	return nil
}

// takeEvents keeps the server from running the events that were taken over, and then lets Skarv run them, if the server did.
func (i *importer) takeEvents(ctx context.Context) error {
	if len(i.events) == 0 {
		return nil
	}
	var list []*catalog.Event
	for _, b := range i.events {
		list = append(list, b.event)
	}
	if err := schema.StandAside(ctx, i.s, list, i.facts.Node.Version); err != nil {
		return err
	}
	value, err := i.s.One(ctx, "SELECT @@GLOBAL.event_scheduler")
	if err != nil || value != "ON" && value != "1" {
		return err
	}
	_, err = i.store.Change(nil).PutEventsOff(false).Commit(ctx)
	return err
}
