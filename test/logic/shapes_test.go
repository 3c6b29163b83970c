package logic

import "fmt"

// shape is a SELECT of several parts, most of which groups can answer and the rest of which cannot be pushed down whole.
func (g *generator) shape() string {
	t, u := g.orderedBase(), g.orderedBase()
	l, r := &scope{sources: []source{t.scope("l")}}, &scope{sources: []source{u.scope("r")}}
	both := &scope{sources: []source{t.scope("l"), u.scope("r")}}
	n := func(s *scope) string { return g.noLiteral(s, number) }
	where := func(s *scope) string { return g.chance(" WHERE "+g.pred(s, 1), 2) }
	eq := "l." + t.kindOf(number) + " = r." + u.kindOf(number)
	if len(t.key) > 0 && g.oneIn(2) {
		eq = "l." + t.key[0] + " = r." + u.key[0]
	}
	switch g.r.IntN(19) {
	case 14: // what a unique key leads to
		t := g.tables[9]
		return "SELECT " + g.pick("*", "id, e", g.expr(g.alone(t), g.kind(), 1)) + " FROM t10 WHERE e = " + g.value(t.column("e"), false) + g.chance(" AND "+g.pred(g.alone(t), 1), 2)
	case 15: // the sum of what groups find
		return "SELECT " + n(l) + ", " + g.noLiteral(l, text) + " FROM " + t.name + " l" + where(l) + " UNION ALL SELECT " + n(r) + ", " + g.noLiteral(r, text) + " FROM " + u.name + " r" + where(r)
	case 16: // the first rows of a join
		return "SELECT l.*, r." + u.columns[0].name + " AS o FROM " + t.name + " l" + g.pick(" JOIN ", " LEFT JOIN ") + u.name + " r ON r." + u.key[0] + " = l." + g.kindOf(l.sources[0], u.columns[0].kind) +
			where(l) + " ORDER BY " + g.chance(n(l)+", ", 3) + keysOf("l", t) + ", " + keysOf("r", u) + g.limit()
	case 17: // forms without a tree over tables that are everywhere
		t := g.tables[4]
		part := func() string { return "SELECT " + g.noLiteral(g.alone(t), number) + " FROM t5" + where(g.alone(t)) }
		return part() + g.pick(" EXCEPT ", " INTERSECT ", " EXCEPT ALL ", " INTERSECT ALL ") + part()
	case 18: // a table in a set of values, and elsewhere
		g.vague = true
		m := &scope{sources: []source{t.scope("m")}}
		set := "SELECT " + n(r) + " AS c FROM " + u.name + " r WHERE r." + u.kindOf(number) + g.pick(" IN (", " = ANY (", " >= ALL (") + "SELECT " + n(m) + " FROM " + t.name + " m)"
		other := " FROM " + t.name + " l WHERE " + g.pred(l, 1)
		return g.pick(set+" UNION ALL SELECT "+n(l)+other, "SELECT "+n(l)+other+" UNION "+set, set+" AND EXISTS (SELECT 1"+other+")")
	case 0: // aggregates of the parts of a union
		return "SELECT " + g.pick("SUM(q.n)", "COUNT(*), MAX(q.n)", "q.n, COUNT(*)") + " FROM (SELECT COUNT(*) AS n FROM " + t.name + " l" + where(l) + " UNION ALL SELECT COUNT(*) FROM " +
			u.name + " r" + where(r) + ") q" + g.chance(" GROUP BY q.n", 1)
	case 1: // a union joined as one table
		return "SELECT q.k, COUNT(*), MIN(" + n(l) + ") FROM (SELECT " + n(r) + " AS k FROM " + u.name + " r" + where(r) + g.pick(" UNION ALL ", " UNION ") + "SELECT " + n(l) +
			" FROM " + t.name + " l) q JOIN " + t.name + " l ON l." + t.kindOf(number) + " = q.k GROUP BY q.k"
	case 2: // a correlated first row
		return "SELECT " + g.col(l, g.kind(), true) + ", (SELECT " + n(r) + " FROM " + u.name + " r WHERE " + eq + " ORDER BY " + keysOf("r", u) + " LIMIT 1) AS q FROM " + t.name + " l" + where(l)
	case 3: // groups joined
		return "SELECT l.*, q.n, q.m FROM " + t.name + " l" + g.pick(" JOIN", " LEFT JOIN") + " (SELECT " + n(r) + " AS k, COUNT(*) AS n, MAX(" + n(r) + ") AS m FROM " + u.name + " r" + where(r) +
			" GROUP BY k) q ON q.k = l." + t.kindOf(number)
	case 4: // frames by value
		return "SELECT " + keysOf("l", t) + ", " + g.pick("SUM", "COUNT", "MAX") + "(" + n(l) + ") OVER (" + g.chance("PARTITION BY "+n(l)+" ", 2) + "ORDER BY " + n(l) +
			" RANGE BETWEEN " + g.pick("2 PRECEDING", "UNBOUNDED PRECEDING", "CURRENT ROW") + " AND " + g.pick("CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING") + ") AS f FROM " + t.name + " l" + where(l)
	case 5: // conditions on groups by subqueries
		return "SELECT " + n(l) + " AS h, COUNT(*) AS i FROM " + t.name + " l" + where(l) + " GROUP BY h HAVING i " + g.pick(">", "<=", "<>") + " (SELECT " + g.pick("COUNT(*)", "MIN("+n(r)+")") +
			" FROM " + u.name + " r" + where(r) + ")" + g.chance(" ORDER BY h DESC LIMIT 3", 3)
	case 6: // two levels deep
		v := g.ordered()
		return "SELECT " + keysOf("l", t) + " FROM " + t.name + " l WHERE " + g.pick("EXISTS", "NOT EXISTS") + " (SELECT 1 FROM " + u.name + " r WHERE " + eq + " AND " + g.pick("EXISTS", "NOT EXISTS") +
			" (SELECT 1 FROM " + v.name + " m WHERE m." + v.kindOf(number) + " = " + g.pick("l."+t.kindOf(number), "r."+u.kindOf(number)) + "))"
	case 7: // a common table expression that is read twice
		return "WITH w AS (SELECT " + n(l) + " AS k, COUNT(*) AS n FROM " + t.name + " l" + where(l) + " GROUP BY k) SELECT a.k, a.n, b.n AS m FROM w a " + g.pick("JOIN", "LEFT JOIN") +
			" w b ON " + g.pick("a.n = b.n", "a.k = b.n", "a.k + 1 = b.k")
	case 8: // rows locked in a join
		return "SELECT " + g.col(both, g.kind(), true) + ", " + g.col(both, g.kind(), true) + " AS y FROM " + t.name + " l JOIN " + u.name + " r ON " + eq + where(both) + " FOR UPDATE"
	case 9: // groups of a join, with aggregates over either side
		h, of, sum, k := n(both), n(both), n(r), g.kind()
		least := g.noLiteral(l, k)
		if k != number {
			least = "CHAR_LENGTH(" + least + ")" // of strings that compare equal MIN has any
		}
		return "SELECT " + h + " AS h, COUNT(DISTINCT " + of + "), SUM(" + sum + "), MIN(" + least + ") FROM " + t.name + " l " + g.pick("JOIN ", "LEFT JOIN ") + u.name +
			" r ON " + eq + where(both) + " GROUP BY h" + g.chance(" WITH ROLLUP", 6)
	case 10: // the order of a subquery
		return "SELECT " + keysOf("l", t) + " FROM " + t.name + " l" + where(l) + " ORDER BY (SELECT COUNT(*) FROM " + u.name + " r WHERE " + eq + ")" + g.chance(" DESC", 2) + ", " + keysOf("l", t) + g.chance(g.limit(), 2)
	case 11: // bits
		return "SELECT " + n(l) + " AS h, BIT_AND(" + n(l) + "), BIT_XOR(" + n(l) + "), SUM(" + n(l) + ") / COUNT(*) FROM " + t.name + " l" + where(l) + " GROUP BY h"
	case 12: // one row of a window
		return "SELECT * FROM (SELECT l.*, ROW_NUMBER() OVER (PARTITION BY " + n(l) + " ORDER BY " + keysOf("l", t) + g.chance(" DESC", 2) + ") AS rn FROM " + t.name + " l" + where(l) + ") q WHERE q.rn " +
			g.pick("= 1", "<= 2")
	}
	var parts string // pages of a table
	for i := range 2 {
		parts += map[bool]string{true: " UNION ALL "}[i > 0] + fmt.Sprintf("(SELECT %s FROM %s l%s ORDER BY %s%s)", n(l), t.name, where(l), keysOf("l", t), g.limit())
	}
	return parts
}
