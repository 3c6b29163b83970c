package control

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// globalIndexes gives each unique key of t that needs one its global index: that of the table's former self if the key is
// the same, or a new one of refresh.Global, or the number 0, which is for the planner to replace.
func (p *placing) globalIndexes(t *catalog.Table) error {
	old := p.old()
	for i := range t.Unique {
		x := &t.Unique[i]
		full := p.def.full[x.Name]
		if containsAll(full, t.Distribution) {
			continue // the servers enforce it
		}
		if err := indexable(t, *x, p.snap.Flavor); err != nil {
			return err
		}
		if id, fresh := p.refresh.Global[x.Name]; fresh {
			x.Global = id
			continue
		}
		if old != nil {
			x.Global = sameIndex(old, t, *x)
		}
	}
	return nil
}

func containsAll(set, of []int) bool {
	for _, c := range of {
		if !slices.Contains(set, c) {
			return false
		}
	}
	return true
}

// sameIndex is the id of the global index of old that keeps key x of t as well, or 0.
func sameIndex(old, t *catalog.Table, x catalog.Index) uint64 {
	for _, o := range old.Unique {
		if o.Global == 0 || len(o.Columns) != len(x.Columns) {
			continue
		}
		same := true
		for i, c := range o.Columns {
			same = same && keepsEntries(&old.Columns[c], &t.Columns[x.Columns[i]])
		}
		for i, d := range t.Distribution {
			same = same && sameEntries(&old.Columns[old.Distribution[i]], &t.Columns[d])
		}
		if same && strings.EqualFold(o.Name, x.Name) {
			return o.Global
		}
	}
	return 0
}

// keepsEntries reports whether the entries of values of column a, as they are, are those of the same values of column b once
// their column has b's type: it only holds more than a.
func keepsEntries(a, b *catalog.Column) bool {
	if a.Nullable && !b.Nullable || a.Charset != b.Charset || a.Collation != b.Collation {
		return false
	}
	if a.ColumnType == b.ColumnType {
		return true
	}
	whole := []string{"tinyint", "smallint", "mediumint", "int", "bigint"}
	switch from, to := slices.Index(whole, a.DataType), slices.Index(whole, b.DataType); {
	case from >= 0 && to >= from:
		return a.Unsigned == b.Unsigned && !strings.Contains(a.ColumnType+b.ColumnType, "zerofill")
	case a.DataType == b.DataType && (a.DataType == "varchar" || a.DataType == "varbinary"):
		return a.Length < b.Length
	}
	return false
}

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
				changes = append(changes, "MODIFY "+entryColumnSQL(&e))
			}
		}
		if len(changes) > 0 {
			p.work.Widen = append(p.work.Widen, "ALTER TABLE "+object1{DB: ownDB, Name: catalog.EntriesName(x.Global)}.sql()+" "+strings.Join(changes, ", "))
		}
	}
}

// sameEntries reports whether a column of an index's table serves for both: the column may have got another name.
func sameEntries(a, b *catalog.Column) bool {
	return a.ColumnType == b.ColumnType && a.Collation == b.Collation && a.Nullable == b.Nullable
}

// indexable refuses keys whose values cannot be told as exactly as a server does.
func indexable(t *catalog.Table, x catalog.Index, flavor catalog.Flavor) error {
	advice := "leave it out, or choose a distribution key that is part of it with PARTITION BY KEY"
	what := func(why string) error {
		return sqlerr.Unsupported(fmt.Sprintf("UNIQUE KEY '%s' without the distribution key, %s", x.Name, why), advice)
	}
	switch {
	case x.Partial:
		return what("of the beginning of a column or of an expression")
	case t.HiddenKey:
		return sqlerr.Unsupported(fmt.Sprintf("UNIQUE KEY '%s' in a table without a primary key", x.Name), "give the table a primary key")
	}
	for _, c := range x.Columns {
		col := &t.Columns[c]
		switch {
		case col.Generated:
			return what("of a generated column")
		case col.OnUpdate:
			return what("of a column with ON UPDATE")
		}
	}
	try := *t
	x.Global = 1
	try.Unique, try.Building = []catalog.Index{x}, nil
	return try.Prepare(flavor)
}

// entriesSQL is the statement that creates an index's table.
func entriesSQL(e *catalog.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s.%s (", quoteName(e.Database), quoteName(e.Name))
	var key []string
	for i := range e.Columns {
		c := &e.Columns[i]
		b.WriteString(entryColumnSQL(c) + ", ")
		if i < len(e.Primary) {
			key = append(key, quoteName(c.Name))
		}
	}
	fmt.Fprintf(&b, "PRIMARY KEY (%s)) ENGINE=InnoDB", strings.Join(key, ", "))
	return b.String()
}

func entryColumnSQL(c *catalog.Column) string {
	sql := quoteName(c.Name) + " " + c.ColumnType
	if c.Collation != "" && c.Charset != "" {
		sql += fmt.Sprintf(" CHARACTER SET %s COLLATE %s", c.Charset, c.Collation)
	}
	return sql + " NOT NULL"
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
		n := newIndex{ID: id, Name: x.Name, SQL: entriesSQL(fresh.Global[0].Entries)}
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
func (d *ddl) createEntries(ctx context.Context) error {
	return d.onEach(ctx, func(s *server) error {
		for _, sql := range d.job.Work.Widen {
			if _, err := s.exec(ctx, sql); err != nil {
				return err
			}
		}
		for _, x := range d.job.Work.Indexes {
			if _, err := s.exec(ctx, x.SQL); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropEntries drops the tables of indexes. What cannot be dropped stays behind and does no harm: nothing refers to it, and no
// number is used twice.
func (d *ddl) dropEntries(ctx context.Context, ids []uint64) {
	if len(ids) == 0 {
		return
	}
	var names []string
	for _, id := range ids {
		names = append(names, object1{DB: ownDB, Name: catalog.EntriesName(id)}.sql())
	}
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.exec(ctx, "DROP TABLE IF EXISTS "+strings.Join(names, ", ")); err != nil {
			d.leader.log.Info("tables of a global index stay behind", "tables", strings.Join(names, ", "), "error", err)
		}
	}
}

func (d *ddl) onEach(ctx context.Context, f func(*server) error) error {
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
func (d *ddl) entriesInUse() map[string]bool {
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
