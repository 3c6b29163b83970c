package logic

import (
	"fmt"
	"strings"
)

// kind is what a column's values are compared as.
type kind uint8

const (
	number kind = iota
	decimal
	text
	date
)

// column is a column of a table, or of a derived one.
type column struct {
	name, def string
	kind      kind
	// vague: equal values may be spelt differently, and which spelling is there is not fixed (it was grouped).
	vague bool
}

type table struct {
	name    string
	columns []column
	key     []string // empty: none
	auto    bool     // the key is AUTO_INCREMENT
	comment string
	extra   string // more keys
}

func (t *table) create() string {
	var defs []string
	for _, c := range t.columns {
		defs = append(defs, c.name+" "+c.def)
	}
	if len(t.key) > 0 {
		defs = append(defs, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")")
	}
	if t.extra != "" {
		defs = append(defs, t.extra)
	}
	s := fmt.Sprintf("CREATE TABLE %s (%s)", t.name, strings.Join(defs, ", "))
	if t.comment != "" {
		s += " COMMENT '" + t.comment + "'"
	}
	return s
}

func (t *table) column(name string) *column {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// schema makes the tables of one round: each kind of placement, with columns that vary.
func (g *generator) schema() []*table {
	tables := []*table{
		{name: "t1", columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}},
		{name: "t2", columns: []column{{name: "id", def: "INT"}, {name: "n", def: "INT"}}, key: []string{"id", "n"}, comment: "skarv:key=id"},
		{name: "t3", columns: []column{{name: "a", def: "INT"}, {name: "b", def: g.pick("BIGINT", "SMALLINT")}}, key: []string{"a", "b"}},
		{name: "t4", columns: []column{{name: "code", def: "VARCHAR(12)", kind: text}}, key: []string{"code"}},
		{name: "t5", columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}, comment: "skarv:reference"},
		{name: "t6", columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}, comment: "skarv:single"},
		{name: "t7"},
		{name: "t8", columns: []column{{name: "id", def: "INT AUTO_INCREMENT"}}, key: []string{"id"}, auto: true},
	}
	for _, t := range tables {
		more := []column{
			{name: "a", def: "INT"}, {name: "b", def: "BIGINT"}, {name: "c", def: "INT"},
			{name: "s", def: "VARCHAR(10)", kind: text}, {name: "u", def: "VARCHAR(8) COLLATE utf8mb4_bin", kind: text},
			{name: "d", def: "DECIMAL(8,2)", kind: decimal}, {name: "w", def: "DATE", kind: date},
		}
		for _, c := range more {
			if t.column(c.name) != nil || g.oneIn(4) && !(t.name == "t7" && c.name == "a") {
				continue
			}
			switch {
			case g.oneIn(5):
				c.def += " NOT NULL"
			case g.oneIn(4) && c.kind == number:
				c.def += " DEFAULT 3"
			case g.oneIn(6) && c.kind == text:
				c.def += " DEFAULT 'ann'"
			}
			t.columns = append(t.columns, c)
		}
		if len(t.key) == 1 && g.oneIn(3) && t.comment == "" && t.column("a") != nil {
			t.extra = "UNIQUE KEY ua (" + t.key[0] + ", a)"
		}
	}
	return tables
}

// value writes a value for a column; null says whether it may be NULL.
func (g *generator) value(c *column, null bool) string {
	if null && !strings.Contains(c.def, "NOT NULL") && g.oneIn(6) {
		return "NULL"
	}
	switch c.kind {
	case decimal:
		return g.lit(g.pick("0", "1.5", "-2.25", "3", "7.10", "7.1", "100.99", "-0.01"))
	case text:
		return g.lit("'" + g.pick("", "ann", "Ann", "ann ", "bob", "BOB", "é", "e", "E", "zoë", "zoe", "1", "01", "a_b", "a%", "ß", "ss") + "'")
	case date:
		return g.lit("'" + g.pick("2026-01-01", "2026-01-02", "2025-12-31", "2026-02-28", "1999-01-01") + "'")
	}
	if g.oneIn(3) {
		return g.lit(fmt.Sprint(g.r.IntN(30) - 5))
	}
	return g.lit(fmt.Sprint(g.r.IntN(6)))
}
