package control

import (
	"context"
	"fmt"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

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
		r := &catalog.Routine{Database: o.DB, Name: o.Name, Function: function, Text: first.Text, SQLMode: first.SQLMode, Collation: first.Collation}
		prog, err := ddl.ParseProgram(r.Text, r.SQLMode, d.snap.Flavor, d.snap.ServerVersion)
		if err != nil {
			return err
		}
		if r.Invoker, r.Definer = prog.Invoker, d.job.Work.Definer; r.Definer == "" {
			if old := d.snap.Routine(o.DB, o.Name, function); old != nil {
				r.Definer = old.Definer
			}
		}
		if function {
			if err = sharding.FunctionFacts(d.snap, prog, r); err != nil {
				return err
			}
		}
		change.PutRoutine(r, topology.Any)
	}
	return nil
}
