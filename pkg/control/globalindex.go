package control

import (
	"context"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
)

// widenEntries notes how the tables of indexes that stay follow columns that hold more afterwards.
func (p *planner) widenEntries(old, after *catalog.Table) {
	for _, x := range after.Unique {
		i := slices.IndexFunc(old.Global, func(g *catalog.GlobalIndex) bool { return g.ID == x.Global })
		if x.Global == 0 || i < 0 {
			continue
		}
		var changes []string
		for n, c := range x.Columns {
			e := old.Global[i].Entries.Columns[n]
			if now := &after.Columns[c]; e.ColumnType != now.ColumnType {
				e.ColumnType = now.ColumnType
				changes = append(changes, "MODIFY "+ddl.EntryColumn(&e))
			}
		}
		if len(changes) > 0 {
			p.work.Widen = append(p.work.Widen, "ALTER TABLE "+ddl.Object{DB: catalog.OwnDB, Name: catalog.EntriesName(x.Global)}.SQL()+" "+strings.Join(changes, ", "))
		}
	}
}

// newIndex is a global index that a statement makes.
type newIndex struct {
	ID  uint64 `json:"id"`
	SQL string `json:"sql"`
	// Name and Columns are those of the unique key it keeps.
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// newIndexes numbers the global indexes that t has not got yet.
func (p *planner) newIndexes(ctx context.Context, t *catalog.Table, r *refresh) error {
	for _, x := range t.Unique {
		if x.Global != 0 || !t.NeedsGlobal(x) {
			continue
		}
		id, err := p.nextID(ctx)
		if err != nil {
			return err
		}
		if r.Global == nil {
			r.Global = map[string]uint64{}
		}
		r.Global[x.Name] = id
		fresh := *t
		x.Global = id
		fresh.Unique, fresh.Building = []catalog.Index{x}, nil
		if err := fresh.Prepare(p.snap.Flavor); err != nil {
			return err
		}
		n := newIndex{ID: id, Name: x.Name, SQL: ddl.CreateEntries(fresh.Global[0].Entries)}
		for _, c := range x.Columns {
			n.Columns = append(n.Columns, t.Columns[c].Name)
		}
		p.work.Indexes = append(p.work.Indexes, n)
	}
	return nil
}

// dropIndexes notes the indexes of t that keep none of the keys it has afterwards.
func (p *planner) dropIndexes(old, after *catalog.Table) {
	for _, g := range old.Global {
		if after == nil || !slices.ContainsFunc(after.Unique, func(x catalog.Index) bool { return x.Global == g.ID }) {
			p.work.Obsolete = append(p.work.Obsolete, g.ID)
		}
	}
}

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

// entriesInUse names the tables of global indexes that exist or are being made.
func (d *schemaChange) entriesInUse() map[string]bool {
	out := map[string]bool{}
	for _, db := range d.snap.Databases {
		for _, t := range db.Tables {
			for _, g := range t.Global {
				out[g.Entries.Name] = true
			}
		}
	}
	if w := d.job.Work; w != nil {
		for _, x := range w.Indexes {
			out[catalog.EntriesName(x.ID)] = true
		}
	}
	return out
}
