package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// widenEntries notes how the tables of indexes that stay follow columns that hold more afterwards.
func (p *Planner) widenEntries(old, after *catalog.Table) {
	for _, x := range after.Unique {
		i := slices.IndexFunc(old.Global, func(g *catalog.GlobalIndex) bool { return g.ID == x.Global })
		if x.Global == 0 || i < 0 {
			continue
		}
		var changes []string
		for n := range x.Parts() {
			e, now := old.Global[i].Entries.Columns[n], after.EntryColumn(x, n)
			if e.ColumnType != now.ColumnType {
				e.ColumnType = now.ColumnType
				changes = append(changes, "MODIFY "+ddl.EntryColumn(&e))
			}
		}
		if len(changes) > 0 {
			p.work.Widen = append(p.work.Widen, "ALTER TABLE "+ddl.Object{DB: catalog.OwnDB, Name: catalog.EntriesName(x.Global)}.SQL()+" "+strings.Join(changes, ", "))
		}
	}
}

// NewIndex is a global index that a statement makes.
type NewIndex struct {
	ID  uint64 `json:"id"`
	SQL string `json:"sql"`
	// Name, Columns and Lengths are those of the unique key it keeps.
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Lengths []int    `json:"lengths,omitempty"`
	// Expressions are those of the key; the table's columns stay where they are if it is built while the table is used.
	Expressions []catalog.KeyExpression `json:"expressions,omitempty"`
}

// newIndexes numbers the global indexes that t has not got yet.
func (p *Planner) newIndexes(ctx context.Context, t *catalog.Table, r *Refresh) error {
	for _, x := range t.Unique {
		if x.Global != 0 || !t.NeedsGlobal(x) {
			continue
		}
		id, err := p.NextID(ctx)
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
		if err := fresh.Prepare(p.Snap.Flavor); err != nil {
			return err
		}
		n := NewIndex{ID: id, Name: x.Name, Lengths: x.Lengths, Expressions: x.Expressions, SQL: ddl.CreateEntries(fresh.Global[0].Entries)}
		for _, c := range x.Columns {
			n.Columns = append(n.Columns, t.Columns[c].Name)
		}
		p.work.Indexes = append(p.work.Indexes, n)
	}
	return nil
}

// dropIndexes notes the indexes of t that keep none of the keys it has afterwards.
func (p *Planner) dropIndexes(old, after *catalog.Table) {
	for _, g := range old.Global {
		if after == nil || !slices.ContainsFunc(after.Unique, func(x catalog.Index) bool { return x.Global == g.ID }) {
			p.work.Obsolete = append(p.work.Obsolete, g.ID)
		}
	}
}

// otherColumns reports whether key x of t, which has the index of a key of old by its name, is one of other columns than that, or of others by
// the same names.
func otherColumns(old, t *catalog.Table, x catalog.Index, came map[string]*catalog.Column) bool {
	for _, g := range old.Global {
		if g.ID != x.Global {
			continue
		}
		were := slices.DeleteFunc(slices.Clone(g.Columns), func(c int) bool { return old.At(c).Expression != "" })
		for i, c := range x.Columns {
			if from := came[strings.ToLower(t.Columns[c].Name)]; from == nil || from.Name != old.Columns[were[i]].Name {
				return true
			}
		}
		for _, e := range x.Expressions { // the text is the same
			for _, c := range e.Reads {
				if from := came[strings.ToLower(t.Columns[c].Name)]; from == nil || !strings.EqualFold(from.Name, t.Columns[c].Name) {
					return true
				}
			}
		}
	}
	return false
}

// otherDefinitions reports whether the columns of a table are defined otherwise than before, so that what servers compute may be something else.
func otherDefinitions(before, after *schema.Definition) bool {
	columns := func(create string) (out []string) {
		for line := range strings.Lines(create) {
			if strings.HasPrefix(line, "  `") {
				out = append(out, strings.TrimRight(line, ",\n"))
			}
		}
		return out
	}
	return !slices.Equal(columns(before.Create), columns(after.Create))
}

// build decides how the new indexes of t get the entries of rows that are there: while the table is used, or, where the statement cannot be
// taken back exactly or changes what entries are made of, while no statement may use it. See pkg/control/indexbuild.go.
func (p *Planner) build(old, t *catalog.Table, r Refresh, came map[string]*catalog.Column) error {
	p.work.Build = r.Old
	p.work.BuildClosed = !p.work.Step.Altered.Exact() && !p.Statement.DropsRows
	for _, x := range t.Unique {
		if _, fresh := r.Global[x.Name]; !fresh {
			continue
		}
		if r.Object != *r.Old {
			return sqlerr.Unsupported("renaming a table together with UNIQUE KEY '"+x.Name+"', which does not contain the distribution key",
				"use one ALTER TABLE for the columns and another one for the key")
		}
		p.work.BuildClosed = p.work.BuildClosed || t.Computed(x) // of what it computes there may be more to change than the columns
		for _, c := range slices.Concat(x.Columns, t.Distribution, t.Primary) {
			col := &t.Columns[c]
			from := came[strings.ToLower(col.Name)]
			if from == nil && !slices.Contains(t.Primary, c) && !slices.Contains(t.Distribution, c) {
				// Where the default is NULL, no row has a value, nor gets one from who does not know the column.
				p.work.BuildClosed = p.work.BuildClosed || !col.NullDefault
				continue
			}
			if from == nil {
				return sqlerr.Unsupported(fmt.Sprintf("UNIQUE KEY '%s', which does not contain the distribution key, in a statement that adds its column '%s'",
					x.Name, col.Name), "use one ALTER TABLE for the columns and another one for the key")
			}
			p.work.BuildClosed = p.work.BuildClosed || from.Name != col.Name || !sharding.SameEntries(from, col)
		}
	}
	return nil
}
