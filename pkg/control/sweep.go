package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// sweep drops what jobs that have ended, and leaders that died, have left in our database on a server. What cannot be dropped at once is left to
// a later one.
func (d *schemaChange) sweep(ctx context.Context, s *schema.Server) error {
	names, err := s.Made(ctx)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return d.job.uses(name) || d.leader.queue.keeps(name) })
	if names = slices.DeleteFunc(names, entriesOf(d.snap)); len(names) == 0 {
		return nil
	}
	// Others may have made them since. A job is in the records before it makes tables, and before it ends its indexes are in the catalog.
	records, _, err := d.leader.store.Records(ctx, topology.DDLJobs)
	if err != nil {
		return err
	}
	for _, r := range records {
		if j, err := decodeJob(r); err == nil && !j.ended() {
			names = slices.DeleteFunc(names, j.uses)
		}
	}
	snap, err := d.leader.store.Load(ctx)
	if err != nil {
		return err
	}
	if names = slices.DeleteFunc(names, entriesOf(snap)); len(names) == 0 {
		return nil
	}
	if _, err := s.Exec(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	if err := s.DropMade(ctx, names); err != nil {
		if _, said := errors.AsType[*sqlerr.Error](err); !said {
			return err
		}
		d.leader.log.InfoContext(ctx, "tables that nobody needs are still there", "tables", names, "error", err)
	}
	_, err = s.Exec(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", schema.LockWaitSeconds))
	return err
}

// uses reports whether a table in our own database is one that the job has made.
func (j *job) uses(name string) bool {
	if schema.OfJob(name, j.ID) {
		return true
	}
	return slices.Contains(j.entries(), name)
}

// entries are the tables of the global indexes that the job makes or drops, as far as it is planned. Statements by an older catalog may write to
// those that are dropped when the catalog shows them no more.
func (j *job) entries() (names []string) {
	if j.Work == nil {
		return nil
	}
	for _, x := range j.Work.Indexes {
		names = append(names, catalog.EntriesName(x.ID))
	}
	for _, id := range j.Work.Obsolete {
		names = append(names, catalog.EntriesName(id))
	}
	return names
}

// entriesOf tells the tables of the global indexes in the catalog.
func entriesOf(snap *catalog.Snapshot) func(name string) bool {
	in := map[string]bool{}
	for _, db := range snap.Databases {
		for _, t := range db.Tables {
			for _, g := range t.Global {
				in[g.Entries.Name] = true
			}
		}
	}
	return func(name string) bool { return in[name] }
}
