package logic

import (
	"fmt"
	"strings"
)

// form is a SELECT of a form that query does not make. Where rows are numbered, cut or put into one string, the order is total.
func (g *generator) form() string {
	switch g.r.IntN(17) {
	case 16:
		return g.matching()
	case 0:
		return g.recursive()
	case 1:
		return g.setOperations()
	case 2, 3:
		return g.windows()
	case 4:
		return g.rollup()
	case 5:
		return g.groupConcat()
	case 6: // a row of values among rows
		t := g.table()
		s := g.alone(t)
		in, from := g.subScope(s)
		own := &scope{sources: in.sources}
		return "SELECT * FROM " + t.name + " WHERE (" + g.col(s, number, false) + ", " + g.col(s, text, false) + ") " + g.pick("IN", "NOT IN") + " (SELECT " +
			g.col(own, number, false) + ", " + g.col(own, text, false) + " FROM " + from + " WHERE " + g.pred(own, 1) + ")"
	case 7: // scalar subqueries in the list
		s, from := g.from(0)
		return "SELECT " + g.col(s, g.kind(), true) + ", " + g.scalar(s, 1) + " AS q1, " + g.pick("EXISTS", "NOT EXISTS") + " (SELECT 1 FROM " + g.base().name + " z WHERE z." +
			g.pick("a", "b", "id") + " = " + g.col(s, number, false) + ") AS q2 FROM " + from
	case 8: // the first rows of each part
		t, u := g.ordered(), g.ordered()
		return "SELECT x.*, y.* FROM (SELECT * FROM " + t.name + " WHERE " + g.pred(g.alone(t), 1) + " ORDER BY " + keysOf(t.name, t) + g.limit() + ") x " +
			g.pick("JOIN", "LEFT JOIN") + " (SELECT * FROM " + u.name + " ORDER BY " + keysOf(u.name, u) + " DESC" + g.limit() + ") y ON x." + t.kindOf(number) + " = y." + u.kindOf(number)
	case 9: // comma, and conditions in WHERE
		t, u := g.table(), g.table()
		s := &scope{sources: []source{t.scope("l"), u.scope("r")}}
		join, where := g.pick(", ", " STRAIGHT_JOIN "), g.pred(s, 2)
		if strings.Contains(where, "1.5") { // MariaDB 10.11 then takes 2 = 1.5 for true
			join = ", "
		}
		return "SELECT " + g.col(s, g.kind(), true) + ", " + g.expr(s, g.kind(), 1) + " AS e FROM " + t.name + " l" + join + u.name + " r WHERE l." +
			t.kindOf(number) + " = r." + u.kindOf(number) + " AND " + where
	case 10:
		t := g.base()
		return "SELECT " + g.pick("*", "COUNT(*)", t.columns[0].name) + " FROM " + t.name + " WHERE " + g.pred(g.alone(t), 1) + g.pick(" FOR UPDATE", " LOCK IN SHARE MODE")
	case 11: // several common table expressions, one over the other
		a, b := g.query(1, 2), g.table()
		return "WITH p AS (" + a.sql + "), q AS (SELECT " + a.columns[0].name + " AS z, COUNT(*) AS n FROM p GROUP BY " + a.columns[0].name + ") SELECT p.*, q.n, b." +
			b.columns[0].name + " FROM p JOIN q ON p." + a.columns[0].name + " <=> q.z LEFT JOIN " + b.name + " b ON b." + b.kindOf(number) + " = q.n"
	case 12:
		g.vague = true
		t := g.table()
		s := g.alone(t)
		return "SELECT DISTINCT " + g.col(s, number, true) + " AS x, " + g.col(s, g.kind(), true) + " AS y FROM " + t.name + " WHERE " + g.pred(s, 1) + " ORDER BY 1, 2"
	case 13:
		t := g.table()
		s := g.alone(t)
		g.vague = true
		return "SELECT COUNT(DISTINCT " + g.col(s, g.kind(), true) + ", " + g.col(s, g.kind(), true) + "), COUNT(DISTINCT " + g.col(s, g.kind(), true) + ") FROM " + t.name
	case 14:
		if !g.mysql {
			return g.jsonTable()
		}
		t, u := g.table(), g.ordered() // LATERAL
		s := &scope{sources: []source{t.scope("l")}}
		return "SELECT l.*, z.* FROM " + t.name + " l" + g.pick(" JOIN", " LEFT JOIN") + " LATERAL (SELECT " + u.name + "." + u.kindOf(number) + " AS lz FROM " + u.name + " WHERE " + u.name + "." +
			u.kindOf(number) + " >= " + g.col(s, number, false) + " ORDER BY " + keysOf(u.name, u) + " LIMIT 2) z ON TRUE"
	}
	return g.jsonTable()
}

// alone is the scope of a table under its own name.
func (g *generator) alone(t *table) *scope { return &scope{sources: []source{t.scope(t.name)}} }

// ordered is a table that has a key.
func (g *generator) ordered() *table {
	for {
		if t := g.table(); len(t.key) > 0 {
			return t
		}
	}
}

// orderedBase is a table that has a key, and no view.
func (g *generator) orderedBase() *table {
	for {
		if t := g.base(); len(t.key) > 0 {
			return t
		}
	}
}

// keysOf is the key's columns as an order.
func keysOf(alias string, t *table) string {
	return alias + "." + strings.Join(t.key, ", "+alias+".")
}

func (g *generator) recursive() string {
	t := g.base()
	if t.column("id") == nil || t.column("a") == nil || g.oneIn(3) {
		return "WITH RECURSIVE r AS (SELECT " + g.lit("0") + " AS n UNION ALL SELECT n + 1 FROM r WHERE n < " + g.lit(fmt.Sprint(2+g.r.IntN(5))) + ") SELECT r.n, COUNT(t." +
			t.columns[0].name + ") AS m FROM r LEFT JOIN " + t.name + " t ON t." + t.kindOf(number) + " = r.n GROUP BY r.n ORDER BY r.n"
	}
	return "WITH RECURSIVE r AS (SELECT id, a FROM " + t.name + " WHERE id " + g.pick("=", "<=") + " " + g.lit(fmt.Sprint(g.r.IntN(6))) + " UNION SELECT t.id, t.a FROM " + t.name +
		" t JOIN r ON " + g.pick("t.a = r.id", "t.id = r.a") + ") SELECT " + g.pick("*", "COUNT(*)", "id, a + 0 AS a") + " FROM r"
}

// setOperations is three SELECTs with two operations between them.
func (g *generator) setOperations() string {
	g.vague = true
	n := 1 + g.r.IntN(2)
	var of []kind
	for range n {
		of = append(of, kind(g.r.IntN(plainKinds)))
	}
	part := func() string {
		t := g.table()
		s := g.alone(t)
		var list []string
		for i, k := range of {
			list = append(list, g.col(s, k, true)+fmt.Sprintf(" AS k%d", i))
		}
		return "SELECT " + strings.Join(list, ", ") + " FROM " + t.name + " WHERE " + g.pred(s, 1)
	}
	op := func() string { return g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ") }
	sql := part() + op() + part() + op() + part()
	if g.oneIn(3) {
		sql = part() + op() + "(" + part() + op() + part() + ")"
	}
	switch g.r.IntN(4) {
	case 0:
		sql += " ORDER BY k0" + g.chance(", 2", 2)
		if n == 2 && !strings.HasSuffix(sql, "2") {
			sql += ", k1"
		} else if n == 1 {
			sql = strings.TrimSuffix(sql, ", 2")
		}
		sql += g.chance(g.limit(), 2)
	case 1:
		return "SELECT COUNT(*), MIN(k0) FROM (" + sql + ") u"
	}
	return sql
}

func (g *generator) windows() string {
	t := g.orderedBase()
	s := &scope{sources: []source{t.scope("l")}}
	from := t.name + " l"
	order := keysOf("l", t)
	if g.oneIn(3) {
		u := g.orderedBase()
		s.sources = append(s.sources, u.scope("r"))
		from += g.pick(" JOIN ", " LEFT JOIN ") + u.name + " r ON l." + t.kindOf(number) + " = r." + u.kindOf(number)
		order += ", " + keysOf("r", u)
	}
	part := func() string {
		switch g.r.IntN(3) {
		case 0:
			return "PARTITION BY " + g.noLiteral(s, g.kind()) + " "
		case 1:
			return "PARTITION BY l." + t.key[0] + " "
		}
		return ""
	}
	frame := func() string {
		return g.pick("", "", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING",
			" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING")
	}
	n, x := g.noLiteral(s, number), g.noLiteral(s, kind(g.r.IntN(plainKinds)))
	over := func() string {
		switch f := g.r.IntN(9); f {
		case 0:
			return g.pick("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(3)", "CUME_DIST()", "PERCENT_RANK()") + " OVER (" + part() + "ORDER BY " + order + g.chance(" DESC", 3) + ")"
		case 1:
			return g.pick("LAG(", "LEAD(") + x + ") OVER (" + part() + "ORDER BY " + order + ")"
		case 2:
			return g.pick("FIRST_VALUE(", "LAST_VALUE(") + x + ") OVER (" + part() + "ORDER BY " + order + frame() + ")"
		case 3:
			return g.pick("RANK()", "DENSE_RANK()") + " OVER (" + part() + "ORDER BY " + n + ")"
		case 4:
			return g.pick("COUNT(*)", "SUM("+n+")", "MIN("+n+")", "AVG("+n+")") + " OVER (" + strings.TrimSpace(part()) + ")"
		case 5:
			return "SUM(" + n + ") OVER w"
		}
		return g.pick("COUNT("+x+")", "SUM("+n+")", "MAX("+n+")", "AVG("+n+")") + " OVER (" + part() + "ORDER BY " + order + frame() + ")"
	}
	sql := "SELECT " + g.col(s, g.kind(), true) + " AS c0, " + over() + " AS c1" + g.chance(", "+over()+" AS c2", 2) + " FROM " + from + g.chance(" WHERE "+g.pred(s, 1), 2)
	if strings.Contains(sql, "OVER w") {
		sql += " WINDOW w AS (PARTITION BY " + g.noLiteral(s, number) + " ORDER BY " + order + ")"
	}
	return sql + g.chance(" ORDER BY "+order+g.chance(g.limit(), 2), 2)
}

// noLiteral is a column, since a literal would be a position.
func (g *generator) noLiteral(s *scope, k kind) string {
	if c := g.col(s, k, true); !strings.Contains(c, litStart) && !strings.HasPrefix(c, "b'") && !strings.HasPrefix(c, "x'") {
		return c
	}
	return s.sources[0].alias + "." + s.sources[0].columns[0].name
}

// rollup is over no view: the columns of one then have another type in MySQL, depending on how it is opened. DISTINCT is left out, which
// MariaDB 10.11 leaves out itself where the groups of a single table have a whole unique key: it thinks of one row in each, and not of those
// that ROLLUP adds.
func (g *generator) rollup() string {
	g.vague = true
	t := g.base()
	s := g.alone(t)
	x, y := g.noLiteral(s, kind(g.r.IntN(plainKinds))), g.noLiteral(s, number)
	aggregate := func(of ...kind) string {
		for {
			if a := g.aggregate(s, g.pickKind(of...)); !strings.Contains(a, "(DISTINCT") {
				return a
			}
		}
	}
	list := "r1, r2"
	sql := "SELECT " + x + " AS r1, " + y + " AS r2, " + aggregate(number) + " AS r3, " + aggregate(number, decimal) + " AS r4 FROM " + t.name
	if g.oneIn(2) {
		sql += " WHERE " + g.pred(s, 1)
	}
	return sql + " GROUP BY " + list + " WITH ROLLUP" + g.chance(" HAVING r3 > "+g.lit("1"), 4)
}

func (g *generator) groupConcat() string {
	g.vague = true
	t := g.ordered()
	s := g.alone(t)
	x := g.noLiteral(s, kind(g.r.IntN(plainKinds)))
	by := g.noLiteral(s, number)
	call := "GROUP_CONCAT(" + g.noLiteral(s, number) + " ORDER BY " + keysOf(t.name, t) + g.chance(" DESC", 3) + g.chance(" SEPARATOR '; '", 2) + ")"
	if g.oneIn(3) {
		call = "GROUP_CONCAT(DISTINCT " + by + " ORDER BY " + by + ")"
	}
	if g.oneIn(3) {
		return "SELECT " + call + ", COUNT(" + x + ") FROM " + t.name
	}
	return "SELECT " + by + " AS h, " + call + " AS i, COUNT(" + x + ") AS j FROM " + t.name + " GROUP BY " + by
}

// match is a condition on the words of a table's texts.
func (g *generator) match() string {
	return "MATCH (body) AGAINST (" + g.lit("'"+g.pick("+hello -there", "hello goodbye", "moon*", "+(world moon) -hello", "\"hello world\"", "nothing", "+the +world")+"'") + " IN BOOLEAN MODE)"
}

// matching is a SELECT of what has some words.
func (g *generator) matching() string {
	g.vague = true
	var t *table
	for t = g.tables[0]; t.name != "t16"; t = g.base() {
	}
	s := g.alone(t)
	where := " WHERE " + g.match() + g.chance(" AND "+g.pred(s, 0), 2)
	switch g.r.IntN(3) {
	case 0:
		by := g.noLiteral(s, number)
		return "SELECT " + by + ", COUNT(*) FROM t16" + where + " GROUP BY " + by
	case 1:
		return "SELECT id, body FROM t16" + where + " ORDER BY id" + g.chance(g.limit(), 2)
	}
	return "SELECT COUNT(*) FROM t16" + g.pick(where, " WHERE NOT "+g.match()+" OR id = "+g.value(&column{}, false))
}

func (g *generator) jsonTable() string {
	if g.oneIn(2) { // the parser has a tree of it with its literals only
		t := g.ordered()
		s := g.alone(t)
		return "SELECT " + g.col(s, g.kind(), true) + ", jt.y FROM (" + t.name + ") JOIN JSON_TABLE('[{\"x\":1,\"y\":\"a\"},{\"x\":2},{\"x\":3,\"y\":\"c\"}]', '$[*]' COLUMNS (x INT PATH '$.x', y VARCHAR(9) PATH '$.y')) jt ON jt.x >= " +
			g.col(s, number, false) + " WHERE " + g.pred(s, 1) + " ORDER BY " + keysOf(t.name, t) + ", jt.x" + g.limit()
	}
	t := g.table()
	s := g.alone(t)
	return "SELECT " + g.col(s, g.kind(), true) + ", jt.x FROM " + t.name + " JOIN JSON_TABLE('[1, 2, 3, 5]', '$[*]' COLUMNS (x INT PATH '$')) jt ON jt.x = " + g.col(s, number, false) +
		" WHERE " + g.pred(s, 1)
}
