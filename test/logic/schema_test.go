package logic

import (
	"fmt"
	"slices"
	"strings"
)

// kind is what a column's values are compared as.
type kind uint8

const (
	number kind = iota
	decimal
	text
	date
	// The rest stand in few tables, and in no arithmetic.
	unsigned
	real
	moment
	clock
	enum
	bits
	bytesOf
	json
	year
	set
	big
	prose
	kinds
)

// plainKinds are those that every table may have.
const plainKinds = 4

// proseTable has FULLTEXT keys.
const proseTable = "t16"

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
	extra   string   // more keys
	indexes []index  // made later
	fixed   []string // columns that no statement changes to an arbitrary value: of keys whose duplicates depend on an order
	parent  string   // table its foreign key refers to
	view    string   // its SELECT; it is only read
	empty   bool     // it begins without rows
	// temporary: it is there for some statements of a session.
	temporary bool
}

// index is a key that is not unique.
type index struct {
	name    string
	columns []string
}

func (t *table) create() string {
	if t.view != "" {
		return "CREATE VIEW " + t.name + " AS " + t.view
	}
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
	for _, x := range t.indexes {
		defs = append(defs, "KEY "+x.name+" ("+strings.Join(x.columns, ", ")+")")
	}
	s := fmt.Sprintf("CREATE %sTABLE %s (%s)", map[bool]string{true: "TEMPORARY "}[t.temporary], t.name, strings.Join(defs, ", "))
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

func (t *table) isKey(name string) bool { return slices.Contains(t.key, name) }

// odd are columns of the kinds and types that few tables have.
func (g *generator) odd() []column {
	collation := g.pick("utf8mb4_unicode_ci", "utf8mb4_general_ci", "utf8mb4_unicode_520_ci")
	if g.mysql {
		collation = g.pick("utf8mb4_unicode_ci", "utf8mb4_general_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin")
	}
	return []column{
		{name: "un", def: "BIGINT UNSIGNED", kind: unsigned}, {name: "re", def: "DOUBLE", kind: real},
		{name: "mo", def: "DATETIME(3)", kind: moment}, {name: "cl", def: "TIME", kind: clock},
		{name: "en", def: "ENUM('red', 'green', 'Blue')", kind: enum}, {name: "bi", def: "BIT(9)", kind: bits},
		{name: "vb", def: "VARBINARY(6)", kind: bytesOf}, {name: "js", def: "JSON", kind: json}, {name: "ye", def: "YEAR", kind: year},
		{name: "st", def: "SET('a', 'b', 'c')", kind: set}, {name: "bg", def: "BIGINT", kind: big}, {name: "fl", def: "FLOAT", kind: real},
		{name: "ch", def: "CHAR(5)", kind: text}, {name: "uc", def: "VARCHAR(10) COLLATE " + collation, kind: text},
		{name: "la", def: "VARCHAR(10) CHARACTER SET latin1", kind: text}, {name: "tx", def: "TEXT", kind: text},
		{name: "bl", def: "BLOB", kind: bytesOf}, {name: "ts", def: "TIMESTAMP(3) NULL", kind: moment}, {name: "dd", def: "DECIMAL(30,10)", kind: decimal},
	}
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
		{name: "t9", columns: append([]column{{name: "id", def: "INT"}}, g.odd()...), key: []string{"id"}},
		{name: "t10", columns: []column{{name: "id", def: "INT"}, {name: "e", def: g.pick("INT", "INT NOT NULL")}}, key: []string{"id"},
			extra: "UNIQUE KEY ue (e)", fixed: []string{"e"}},
		{name: "t11", columns: []column{{name: "id", def: "INT"}, {name: "p", def: "INT"}}, key: []string{"id"}, parent: "t1"},
		{name: "t12", columns: []column{{name: "p", def: "INT"}, {name: "id", def: "INT"}}, key: []string{"p", "id"}, comment: "skarv:key=p", parent: "t1"},
		{name: "t13", columns: []column{g.keyColumn()}, key: []string{"k"}},
		{name: "t14", columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}, empty: true},
		{name: "t15", columns: []column{{name: "code", def: "VARCHAR(8)", kind: text}, {name: "n", def: "INT"}}, key: []string{"code", "n"},
			comment: g.pick("", "skarv:key=code")},
		{name: proseTable, columns: []column{{name: "id", def: "INT"}, {name: "body", def: "TEXT", kind: prose}}, key: []string{"id"}, extra: "FULLTEXT KEY fb (body)"},
	}
	for _, t := range tables {
		if t.parent != "" {
			t.extra = "FOREIGN KEY (p) REFERENCES " + t.parent + " (id)" + g.pick("", " ON DELETE CASCADE", " ON UPDATE CASCADE ON DELETE CASCADE")
			if t.name == "t11" {
				t.extra = strings.Replace(t.extra, " ON DELETE CASCADE", g.pick(" ON DELETE CASCADE", " ON DELETE SET NULL"), 1)
			}
		}
		more := []column{
			{name: "a", def: "INT"}, {name: "b", def: "BIGINT"}, {name: "c", def: "INT"},
			{name: "s", def: "VARCHAR(10)", kind: text}, {name: "u", def: "VARCHAR(8) COLLATE utf8mb4_bin", kind: text},
			{name: "d", def: "DECIMAL(8,2)", kind: decimal}, {name: "w", def: "DATE", kind: date},
		}
		if g.oneIn(4) && t.name != "t9" {
			o := g.odd()
			more = append(more, o[g.r.IntN(len(o))])
		}
		for _, c := range more {
			if t.column(c.name) != nil || g.oneIn(4) && !(t.name == "t7" && c.name == "a") || t.name == "t9" && g.oneIn(2) {
				continue
			}
			switch {
			case g.oneIn(5) && c.kind < plainKinds:
				c.def += " NOT NULL"
			case g.oneIn(4) && c.kind == number:
				c.def += " DEFAULT 3"
			case g.oneIn(6) && c.kind == text && !(g.mysql && strings.HasPrefix(c.def, "TEXT")): // has no default there
				c.def += " DEFAULT 'ann'"
			}
			t.columns = append(t.columns, c)
		}
		if len(t.key) == 1 && g.oneIn(3) && t.comment == "" && t.extra == "" && t.column("a") != nil {
			t.extra, t.fixed = "UNIQUE KEY ua ("+t.key[0]+", a)", []string{"a"}
		}
	}
	return append(tables, g.views(tables)...)
}

// keyColumn is a distribution key that is no integer.
func (g *generator) keyColumn() column {
	return []column{
		{name: "k", def: "DECIMAL(8,2)", kind: decimal}, {name: "k", def: "DATE", kind: date}, {name: "k", def: "BIGINT UNSIGNED", kind: unsigned},
		{name: "k", def: "VARCHAR(10) COLLATE utf8mb4_bin", kind: text}, {name: "k", def: "VARBINARY(6)", kind: bytesOf},
		{name: "k", def: "ENUM('red', 'green', 'Blue')", kind: enum}, {name: "k", def: "DATETIME(3)", kind: moment},
	}[g.r.IntN(7)]
}

// views are read as tables are. MariaDB 10.11 decides what they look like: it dies of preparing a window function that orders by a
// view's column, mixes a view's aliases up with the statement's, leaves rows out of a LEFT JOIN to a view that has a LEFT
// JOIN itself, and refuses AVG((SELECT COUNT(*) ...)) when the count is a view's. A BIT of a view is a BIGINT
// where a temporary table has held it.
func (g *generator) views(tables []*table) []*table {
	simple, joined := tables[g.r.IntN(2)], tables[1]
	columns := slices.DeleteFunc(slices.Clone(simple.columns), func(c column) bool { return c.kind == bits })
	var list []string
	for _, c := range columns {
		list = append(list, c.name)
	}
	v1 := &table{name: "v1", columns: columns, key: simple.key, view: "SELECT " + strings.Join(list, ", ") + " FROM " + simple.name + g.pick("", " WHERE id > 1")}
	v2 := &table{name: "v2", columns: []column{{name: "id", def: "INT"}, {name: "n", def: "INT"}, {name: "m", def: "INT"}}, key: []string{"id", "n"},
		view: "SELECT vl.id, vl.n, vr." + tables[4].kindOf(number) + " AS m FROM " + joined.name + " vl JOIN t5 vr ON vr.id = vl.n"}
	v3 := &table{name: "v3", columns: []column{{name: "x", def: "INT"}, {name: "y", def: "INT"}},
		view: "SELECT DISTINCT COALESCE(b, 0) % 3 AS x, a AS y FROM t3"}
	return []*table{v1, v2, v3}
}

// kindOf is the name of a column of the kind, or of the first one.
func (t *table) kindOf(k kind) string {
	for _, c := range t.columns {
		if c.kind == k {
			return c.name
		}
	}
	return t.columns[0].name
}

// value writes a value for a column; null says whether it may be NULL.
func (g *generator) value(c *column, null bool) string {
	if null && !strings.Contains(c.def, "NOT NULL") && g.oneIn(6) {
		return g.lit("NULL")
	}
	switch c.kind {
	case decimal:
		return g.lit(g.pick("0", "1.5", "-2.25", "3", "7.10", "7.1", "100.99", "-0.01"))
	case text:
		return g.lit("'" + g.pick("", "ann", "Ann", "ann ", "bob", "BOB", "é", "e", "E", "zoë", "zoe", "1", "01", "a_b", "a%", "ß", "ss") + "'")
	case date:
		return g.lit("'" + g.pick("2026-01-01", "2026-01-02", "2025-12-31", "2026-02-28", "1999-01-01") + "'")
	case unsigned:
		return g.lit(g.pick("0", "1", "2", "7", "9223372036854775807", "9223372036854775808", "18446744073709551615"))
	case real: // sums of these are exact, in whatever order
		return g.lit(g.pick("0e0", "1.5e0", "-2.25e0", "1024e0", "0.5e0", "3e0"))
	case moment:
		return g.lit("'" + g.pick("2026-01-01 00:00:00", "2026-01-01 10:00:00.500", "2026-01-01 10:00:00.050", "1999-12-31 23:59:59.999", "2026-01-02") + "'")
	case clock:
		return g.lit("'" + g.pick("00:00:00", "10:00:00", "-01:30:00", "23:59:59", "100:00:01") + "'")
	case enum:
		return g.lit("'" + g.pick("red", "green", "Blue", "RED") + "'")
	case bits:
		return g.pick("b'0'", "b'1'", "b'101'", "b'111111111'", g.lit("5"))
	case bytesOf:
		return g.pick(g.lit("'a'"), g.lit("'A'"), g.lit("'a '"), "x'00ff'", "x''", "x'6100'")
	case json:
		return g.lit("'" + g.pick(`{"a": 1}`, `{"a": 2, "b": "x"}`, `[1, 2, 3]`, `"x"`, `7`, `null`, `{"a": null}`, `{}`) + "'")
	case year:
		return g.lit(g.pick("2026", "1999", "2000", "1901"))
	case set:
		return g.lit("'" + g.pick("a", "b", "a,b", "a,c", "", "A") + "'")
	case prose:
		return g.lit("'" + g.pick("hello world", "goodbye moon", "hello hello there", "", "Moon over the world", "there, moonlight", "the") + "'")
	case big:
		return g.lit(g.pick("-9223372036854775808", "9223372036854775807", "-1", "0", "2", "9007199254740993"))
	}
	if g.oneIn(3) {
		return g.lit(fmt.Sprint(g.r.IntN(30) - 5))
	}
	return g.lit(fmt.Sprint(g.r.IntN(6)))
}
