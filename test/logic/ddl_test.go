package logic

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"skarv/test/differ"
)

// change is DDL for a table that no view reads and no foreign key refers to; done makes the generator's table what it then is.
func (g *generator) change() (sql string, t *table, done func()) {
	for t = g.base(); slices.Contains([]string{"t1", "t2", "t3", "t5"}, t.name); t = g.base() {
	}
	g.changes++
	name := fmt.Sprintf("z%d", g.changes)
	last := &t.columns[len(t.columns)-1]
	added := strings.HasPrefix(last.name, "z")
	switch g.r.IntN(7) {
	case 0, 1:
		if len(t.columns) < 11 {
			c := column{name: name}
			switch g.r.IntN(4) {
			case 0:
				c.def, c.kind = g.pick("INT", "INT NOT NULL DEFAULT 4", "BIGINT DEFAULT 2"), number
			case 1:
				c.def, c.kind = g.pick("VARCHAR(9)", "VARCHAR(9) DEFAULT 'ann'"), text
			case 2:
				c.def, c.kind = g.pick("DECIMAL(8,2)", "DECIMAL(8,2) NOT NULL DEFAULT 1.5"), decimal
			case 3:
				c.def, c.kind = "DATE", date
			}
			return "ALTER TABLE " + t.name + " ADD COLUMN " + c.name + " " + c.def, t, func() { t.columns = append(t.columns, c) }
		}
	case 2:
		if added {
			return "ALTER TABLE " + t.name + " DROP COLUMN " + last.name, t, func() {
				t.columns = t.columns[:len(t.columns)-1]
				t.unindex(last.name)
			}
		}
	case 3:
		if added {
			return "ALTER TABLE " + t.name + " RENAME COLUMN " + last.name + " TO " + name, t, func() {
				t.reindex(last.name, name)
				t.columns[len(t.columns)-1].name = name
			}
		}
	case 4:
		return "TRUNCATE TABLE " + t.name, t, func() {}
	case 5: // not where IGNORE may have made a date 0000-00-00, which a new copy of the table could not have
		dated := slices.ContainsFunc(t.columns, func(c column) bool { return c.kind == date && (t.isKey(c.name) || strings.Contains(c.def, "NOT NULL")) })
		for i := range t.columns {
			if dated {
				break
			}
			c := &t.columns[i]
			if rest, ok := strings.CutPrefix(c.def, "INT"); ok && c.name == "c" {
				return "ALTER TABLE " + t.name + " MODIFY COLUMN c BIGINT" + rest, t, func() { c.def = "BIGINT" + rest }
			}
		}
	}
	for range 8 {
		if c := &t.columns[g.r.IntN(len(t.columns))]; c.kind < plainKinds && !strings.HasPrefix(c.def, "TEXT") {
			columns := []string{c.name}
			if g.oneIn(2) {
				columns = append(columns, t.columns[0].name)
			}
			return "CREATE INDEX i" + name + " ON " + t.name + " (" + strings.Join(columns, ", ") + ")", t, func() { t.indexes = append(t.indexes, index{"i" + name, columns}) }
		}
	}
	return "TRUNCATE TABLE " + t.name, t, func() {}
}

// unindex takes a column out of all indexes.
func (t *table) unindex(column string) {
	for i := range t.indexes {
		x := &t.indexes[i]
		x.columns = slices.DeleteFunc(x.columns, func(c string) bool { return c == column })
	}
	t.indexes = slices.DeleteFunc(t.indexes, func(x index) bool { return len(x.columns) == 0 })
}

// reindex gives a column of indexes another name.
func (t *table) reindex(from, to string) {
	for _, x := range t.indexes {
		for i, c := range x.columns {
			if c == from {
				x.columns[i] = to
			}
		}
	}
}

// alter changes a table on both.
func (r *runner) alter(seed uint64, i int) {
	sql, _, done := r.g.change()
	r.try(statement{marked: sql, writes: true}, seed, i)
	if r.worked {
		done()
	}
}

// compareTables says how the tables' rows differ.
func (r *runner) compareTables(all []*table) string {
	for _, t := range all {
		if t.view != "" {
			continue
		}
		query := "SELECT * FROM " + t.name
		wants, gots := r.onBoth(func(c *sql.Conn) []differ.Outcome {
			return []differ.Outcome{differ.Run(r.t.Context(), c, query, false)}
		})
		if lost(wants[0]) || lost(gots[0]) {
			r.checkEnded()
		}
		if d := differ.Compare(wants[0], gots[0]); d != "" {
			return "table " + t.name + " afterwards:\n" + d
		}
	}
	return ""
}
