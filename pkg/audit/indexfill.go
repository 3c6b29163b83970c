package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/workspace"
)

// IndexFill makes the entries of a new global index anew while nobody writes to its table. Two rows of one value are an error, in a server's words.
type IndexFill struct {
	Snap    *catalog.Snapshot
	Servers schema.Dialer
	Index   *catalog.GlobalIndex

	connections
}

// Run may be called once.
func (f *IndexFill) Run(ctx context.Context) error {
	f.connections = connections{snap: f.Snap, dialer: f.Servers}
	defer f.close()
	for _, g := range f.Snap.Groups {
		s, err := f.on(ctx, "entry ", g.ID)
		if err == nil {
			_, err = s.Exec(ctx, "TRUNCATE TABLE "+f.Index.Entries.SQL())
		}
		if err != nil {
			return err
		}
	}
	for _, g := range f.Snap.Groups {
		if err := f.rowsOf(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf makes the entries of the rows of a node group, those that go to one group at a time by one statement.
func (f *IndexFill) rowsOf(ctx context.Context, g *catalog.NodeGroup) error {
	t, e := f.Index.Table, f.Index.Entries
	s, err := f.on(ctx, "row ", g.ID)
	if err != nil {
		return err
	}
	keys, units := len(t.Primary), len(f.Index.Columns)
	list := selectList(t, t.Primary) + ", " + selectList(t, f.Index.Columns) + ", " + selectList(t, t.Distribution)
	for last := [][]byte(nil); ; {
		rows, err := s.Values(ctx, keys+units+len(t.Distribution), "SELECT "+list+" FROM "+t.SQL()+after(t, t.Primary, last)+
			" ORDER BY "+t.ColumnList(t.Primary)+fmt.Sprintf(" LIMIT %d", checkRows))
		if err != nil {
			return err
		}
		inserts := map[placement.NodeGroupID][]byte{}
		for _, r := range rows {
			last = r[:keys]
			if home, err := f.owner(t, r[keys+units:]); err != nil {
				return err
			} else if home != g.ID || slices.ContainsFunc(r[keys:keys+units], func(v []byte) bool { return v == nil }) {
				continue
			}
			copy(r[keys:], f.Index.Unit(r[keys:keys+units]))
			to, err := f.entryOwner(e, r[keys:keys+units])
			if err != nil {
				return err
			}
			if inserts[to] == nil {
				inserts[to] = []byte("INSERT INTO " + e.SQL() + " VALUES ")
			} else {
				inserts[to] = append(inserts[to], ", "...)
			}
			inserts[to] = appendEntry(inserts[to], e, r[keys:])
		}
		for _, to := range slices.Sorted(maps.Keys(inserts)) {
			s, err := f.on(ctx, "entry ", to)
			if err == nil {
				_, err = s.Exec(ctx, string(inserts[to]))
			}
			if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
				return f.Index.Duplicate(refused, f.Snap.Flavor, inUTC)
			}
			if err != nil {
				return err
			}
		}
		if len(rows) < checkRows {
			return nil
		}
	}
}

// appendEntry writes an entry as INSERT has it.
func appendEntry(q []byte, e *catalog.Table, values [][]byte) []byte {
	q = append(q, '(')
	for i, v := range values {
		if i > 0 {
			q = append(q, ", "...)
		}
		q = workspace.AppendKeyValue(q, &e.Columns[i], v)
	}
	return append(q, ')')
}

// fillRows is how many rows one transaction gives entries to.
const fillRows = 20000

// FillIndex makes the entries of a new global index on the server that has all rows and all entries, to which nobody else writes them
// meanwhile. progress is told of how many rows so far.
func FillIndex(ctx context.Context, s *schema.Server, g *catalog.GlobalIndex, progress func(rows uint64)) error {
	t := g.Table
	var present []string
	var values []string // of the key, as entries have them
	for i, c := range g.Columns {
		col := t.At(c)
		name := workspace.Beginning(col, g.Length(i), "")
		present = append(present, name+" IS NOT NULL")
		if col.DataType == "timestamp" {
			name = workspace.ReadKey(col)
		}
		values = append(values, name)
	}
	insert := "INSERT INTO " + g.Entries.SQL() + " SELECT " + strings.Join(values, ", ") + ", " + t.ColumnList(t.Distribution) + " FROM " + t.SQL()
	var done uint64
	for last := [][]byte(nil); ; {
		progress(done)
		end, err := s.Values(ctx, len(t.Primary), "SELECT "+selectList(t, t.Primary)+" FROM "+t.SQL()+after(t, t.Primary, last)+
			" ORDER BY "+t.ColumnList(t.Primary)+fmt.Sprintf(" LIMIT %d, 1", fillRows))
		if err != nil {
			return err
		}
		where := after(t, t.Primary, last)
		if where == "" {
			where = " WHERE TRUE"
		} else {
			where = " WHERE (" + strings.TrimPrefix(where, " WHERE ") + ")"
		}
		if len(end) > 0 {
			where += " AND NOT (" + strings.TrimPrefix(after(t, t.Primary, end[0]), " WHERE ") + ")"
		}
		n, err := s.Exec(ctx, insert+where+" AND "+strings.Join(present, " AND "))
		if err != nil {
			return err
		}
		done += n
		if len(end) == 0 {
			return nil
		}
		last = end[0]
	}
}
