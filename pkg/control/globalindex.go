package control

import (
	"context"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
)

// createEntries creates the tables of new indexes on every node group, and makes those of others as wide as the statement will
// make their columns: wider than their column does no harm, should it fail.
func (d *schemaChange) createEntries(ctx context.Context) error {
	return d.onEach(ctx, func(s *schema.Server) error {
		for _, sql := range d.job.Work.Widen {
			if _, err := s.Exec(ctx, sql); err != nil {
				return err
			}
		}
		for _, x := range d.job.Work.Indexes {
			if _, err := s.Exec(ctx, x.SQL); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropEntries drops the tables of indexes. What cannot be dropped stays behind and does no harm: nothing refers to it, and no
// number is used twice.
func (d *schemaChange) dropEntries(ctx context.Context, ids []uint64) {
	if len(ids) == 0 {
		return
	}
	var names []string
	for _, id := range ids {
		names = append(names, ddl.Object{DB: catalog.OwnDB, Name: catalog.EntriesName(id)}.SQL())
	}
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+strings.Join(names, ", ")); err != nil {
			d.leader.log.Info("tables of a global index stay behind", "tables", strings.Join(names, ", "), "error", err)
		}
	}
}

func (d *schemaChange) onEach(ctx context.Context, f func(*schema.Server) error) error {
	for i, s := range d.servers {
		if s == nil {
			if err := d.connectOne(ctx, i); err != nil {
				return err
			}
			s = d.servers[i]
		}
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}
