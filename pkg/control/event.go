package control

import (
	"context"
	"fmt"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
)

// eventClock is the clock of the job for sessions in which events are created and changed: servers compute their times, and all are to
// come to the same.
func (d *schemaChange) eventClock() string {
	return fmt.Sprintf("SET timestamp = %d", d.job.Created.Unix())
}

// clock is the time of the job, to the microsecond, for what all servers are to fill in alike.
func (d *schemaChange) clock() string {
	return fmt.Sprintf("SET timestamp = %d.%06d", d.job.Created.Unix(), d.job.Created.Nanosecond()/1000)
}

// refreshEvent puts into change what the servers have of an event now; shown is what the first of them shows.
func (d *schemaChange) refreshEvent(ctx context.Context, o ddl.Object, shown *schema.Program, change *topology.Change) error {
	key := catalog.NewEventKey(o.DB, o.Name)
	if shown.Text == "" {
		change.DeleteEvent(key) // it may never have been in the catalog: its time can be over when it is to be created
		return nil
	}
	old := d.snap.Event(d.job.Work.Routines[0].DB, d.job.Work.Routines[0].Name) // under the name before a RENAME
	e, err := schema.ReadEvent(ctx, d.servers[0], shown, d.job.Work.Event, old, d.snap.ServerVersion)
	if err != nil {
		return err
	}
	change.PutEvent(e, topology.Any)
	return nil
}
