package audit

import (
	"context"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/schema"
	"skarv/pkg/sqltypes"
)

// fillRows is how many rows one transaction gives entries to.
const fillRows = 20000

// FillIndex makes the entries of a new global index on the server that has all rows and all entries, to which nobody else writes them
// meanwhile. progress is told of how many rows so far.
func FillIndex(ctx context.Context, s *schema.Server, g *catalog.GlobalIndex, progress func(rows uint64)) error {
	t := g.Table
	var present []string
	for _, c := range g.Columns {
		present = append(present, sqltypes.QuoteName(t.Columns[c].Name)+" IS NOT NULL")
	}
	insert := "INSERT INTO " + g.Entries.SQL() + " SELECT " + t.ColumnList(g.Columns) + ", " + t.ColumnList(t.Distribution) + " FROM " + t.SQL()
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
