package logic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

type queryText struct {
	sql     string
	columns []column
}

// query is a SELECT; width is the number of columns wanted, 0: any.
func (g *generator) query(depth, width int) queryText { return g.selectOf(depth, width, nil) }

// selectOf is a SELECT whose columns have the given kinds, if not nil.
func (g *generator) selectOf(depth, width int, kinds []kind) queryText {
	s, from := g.from(depth)
	where := ""
	if !g.oneIn(4) {
		where = " WHERE " + g.pred(s, 2)
	}
	if kinds == nil {
		if width == 0 {
			width = 1 + g.r.IntN(3)
		}
		for range width {
			kinds = append(kinds, g.kind())
		}
	}
	switch g.r.IntN(6) {
	case 0, 1:
		return g.grouped(s, from, where, kinds)
	case 2:
		if depth > 0 && g.oneIn(2) && !slices.ContainsFunc(s.sources, func(src source) bool { return src.view }) {
			return g.windowed(s, from, where, kinds)
		}
	}
	var list []string
	var q queryText
	distinct := g.oneIn(6)
	for i, k := range kinds {
		e := g.col(s, k, true)
		if g.oneIn(3) {
			e = g.expr(s, k, 2)
		}
		name := fmt.Sprintf("c%d", i)
		q.columns = append(q.columns, column{name: name, kind: k, vague: true})
		list = append(list, e+" AS "+name)
	}
	if distinct {
		g.vague = true
	}
	q.sql = "SELECT " + map[bool]string{true: "DISTINCT "}[distinct] + strings.Join(list, ", ") + " FROM " + from + where
	keys, ok := s.total()
	if !distinct && ok && g.oneIn(4) {
		for i := range keys {
			keys[i] += g.chance(" DESC", 3)
		}
		if g.oneIn(3) {
			keys = append([]string{g.pick("1", "c0", g.expr(s, number, 1)+" + 0")}, keys...)
		}
		q.sql += " ORDER BY " + strings.Join(keys, ", ") + g.limit()
	}
	return q
}

func (g *generator) limit() string {
	return " LIMIT " + g.lit(fmt.Sprint(g.r.IntN(8))) + g.chance(" OFFSET "+g.lit(fmt.Sprint(g.r.IntN(4))), 3)
}

// aggregate is an aggregate call of the kind.
func (g *generator) aggregate(s *scope, k kind) string {
	if k == number {
		d := g.chance("DISTINCT ", 4)
		arg := g.col(s, g.kind(), true)
		return g.pick("COUNT(*)", "COUNT("+d+arg+")", "SUM("+d+g.expr(s, number, 1)+")", "MIN("+g.col(s, number, false)+")",
			"MAX("+g.expr(s, number, 1)+")", "COUNT(*) + 1", g.pick("BIT_OR(", "BIT_XOR(")+g.col(s, number, false)+")",
			"SUM("+g.col(s, number, false)+") / COUNT(*)", "ROUND(AVG("+g.col(s, number, false)+") * 3, 2)",
			"SUM("+g.col(s, number, false)+") + COUNT(*)", "COUNT(DISTINCT "+arg+", "+g.col(s, number, false)+")")
	}
	if k == decimal {
		return g.pick("SUM", "AVG", "MIN", "MAX", "AVG", "SUM") + "(" + g.chance("DISTINCT ", 5) + g.expr(s, g.pickKind(number, decimal), 1) + ")"
	}
	if k == real && g.oneIn(2) {
		return g.pick("SUM", "AVG") + "(" + g.col(s, real, false) + ")"
	}
	return g.pick("MIN", "MAX") + "(" + g.col(s, k, true) + ")"
}

func (g *generator) pickKind(of ...kind) kind { return of[g.r.IntN(len(of))] }

func (g *generator) grouped(s *scope, from, where string, kinds []kind) (q queryText) {
	g.vague = true
	g.names++
	level := g.names // GROUP BY must not find a column of the same name
	var list, by []string
	for i, k := range kinds {
		name := fmt.Sprintf("g%d_%d", level, i)
		q.columns = append(q.columns, column{name: name, kind: k, vague: true})
		e := g.aggregate(s, k)
		if g.oneIn(2) {
			e = g.col(s, k, true)
			if g.oneIn(4) {
				e = g.expr(s, k, 1)
			}
			if strings.HasPrefix(e, litStart) || strings.HasPrefix(e, "NULL") { // a number would be a position
				e = "CONCAT(" + e + ")"
			}
			switch {
			case strings.Contains(e, litStart) || strings.Contains(e, "SELECT") || g.oneIn(4):
				by = append(by, name)
			default:
				by = append(by, e)
			}
		}
		list = append(list, e+" AS "+name)
	}
	q.sql = "SELECT " + g.chance("DISTINCT ", 10) + strings.Join(list, ", ") + " FROM " + from + where
	if len(by) > 0 {
		if g.oneIn(5) {
			if extra := g.col(s, number, true); !strings.HasPrefix(extra, litStart) {
				by = append(by, extra)
			}
		}
		q.sql += " GROUP BY " + strings.Join(by, ", ")
		computed := slices.ContainsFunc(by, func(e string) bool { return strings.ContainsAny(e, "( ") })                                                                                                                                                               // see docs/testing.md: one that mixes character sets
		if g.oneIn(12) && (g.mysql || !computed && !strings.HasPrefix(q.sql, "SELECT DISTINCT")) && !(g.mysql && constant.MatchString(q.sql)) && !strings.Contains(q.sql, "(DISTINCT") && !slices.ContainsFunc(s.sources, func(src source) bool { return src.view }) { // see rollup
			q.sql += " WITH ROLLUP"
			return q
		}
	}
	if g.oneIn(4) {
		q.sql += " HAVING " + g.pick(g.aggregate(s, number)+" > "+g.lit("1"), q.columns[0].name+" IS NOT NULL", "COUNT(*) > "+g.lit("2"))
	}
	if g.oneIn(3) { // every column: what is equal in all is equal
		var order []string
		for i := range kinds {
			order = append(order, fmt.Sprint(i+1)+g.chance(" DESC", 3))
		}
		q.sql += " ORDER BY " + strings.Join(order, ", ")
		if g.oneIn(2) {
			q.sql += g.limit()
		}
	}
	return q
}

// constant matches an aggregate of a literal, which MySQL takes for NULL in the rows of ROLLUP where it has sorted, not where a
// temporary table has held the groups.
var constant = regexp.MustCompile(`(MIN|MAX)\(` + litStart)

func (g *generator) windowed(s *scope, from, where string, kinds []kind) (q queryText) {
	keys, ok := s.total()
	order := strings.Join(keys, ", ")
	var list []string
	for i, k := range kinds {
		e := g.col(s, k, true)
		if g.oneIn(2) {
			over := ""
			if g.oneIn(2) {
				over = "PARTITION BY " + g.col(s, number, true) + " + 0"
			}
			f := g.pick("COUNT(*)", "SUM("+g.col(s, number, false)+")", "MAX("+g.col(s, number, false)+")")
			if ok {
				over = strings.TrimSpace(over + " ORDER BY " + order)
				f = g.pick(f, "ROW_NUMBER()", "RANK()", "LAG("+g.col(s, number, false)+")")
			}
			e, k = f+" OVER ("+over+")", number
		}
		name := fmt.Sprintf("c%d", i)
		q.columns = append(q.columns, column{name: name, kind: k, vague: true})
		list = append(list, e+" AS "+name)
	}
	q.sql = "SELECT " + strings.Join(list, ", ") + " FROM " + from + where
	return q
}

var grouped = regexp.MustCompile(`DISTINCT|GROUP BY`)

// selectStatement is a whole SELECT.
func (g *generator) selectStatement() string {
	switch g.r.IntN(20) {
	case 12, 13, 14, 15, 16:
		return g.form()
	case 17, 18, 19:
		return g.shape()
	case 0, 1:
		g.vague = true
		n := 1 + g.r.IntN(3)
		var kinds []kind
		for range n {
			kinds = append(kinds, g.kind())
		}
		op := g.pick(" UNION ALL ", " UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ")
		left, right := g.selectOf(0, n, kinds).sql, g.selectOf(0, n, kinds).sql
		if slices.Contains(kinds, text) && (grouped.MatchString(left) || grouped.MatchString(right)) {
			op = " UNION ALL " // of equal strings any is left, which then may not be equal by the other part's collation
		}
		sql := "(" + left + ")" + op + "(" + right + ")"
		if g.oneIn(3) {
			var order []string
			for i := range n {
				order = append(order, fmt.Sprint(i+1))
			}
			sql += " ORDER BY " + strings.Join(order, ", ") + g.chance(g.limit(), 2)
		}
		return sql
	case 2:
		g.vague = true
		q := g.query(1, 0)
		t := g.table()
		k := q.columns[0].kind
		on := "w." + q.columns[0].name + " = y." + t.kindOf(k)
		if t.column(t.kindOf(k)).kind != k || k == text && grouped.MatchString(q.sql) { // of equal strings any is left: see above
			on = "w." + q.columns[0].name + " IS NOT NULL" // MariaDB 10.11 finds the integers 0 and 2 by -0.01 and 1.5e0 where these are constants
		}
		return "WITH w AS (" + q.sql + ") SELECT w.*, y.* FROM w " + g.pick("JOIN ", "LEFT JOIN ") + t.name + " y ON " + on
	case 5: // groups without aliases
		g.vague = true
		t := g.table()
		s := &scope{sources: []source{{alias: t.name, columns: t.columns, unique: t.key}}}
		by, more := g.col(s, g.kind(), true), g.aggregate(s, g.pickKind(number, decimal))
		if strings.HasPrefix(by, litStart) {
			by = t.name + "." + t.columns[0].name
		}
		if g.oneIn(3) {
			by = g.pick("COALESCE("+by+", 'x')", "CONCAT("+by+", '')", by+" IS NULL", "LENGTH("+t.name+"."+t.columns[0].name+")")
		}
		sql := "SELECT " + g.pick(by+", "+more, more+", "+by, by, g.aggregate(s, text)+","+by+" AS z, "+more) + " FROM " + t.name
		if g.oneIn(2) {
			sql += " WHERE " + g.pred(s, 1)
		}
		sql += " GROUP BY " + by
		if g.oneIn(3) {
			sql += " HAVING " + g.pick("COUNT(*) > "+g.lit("1"), g.aggregate(s, number)+" < "+g.lit("5"), by+" IS NOT NULL")
		}
		if g.oneIn(2) {
			sql += " ORDER BY " + g.pick(by, "COUNT(*) DESC, "+by, by+" DESC", g.aggregate(s, number)+", "+by) + g.chance(g.limit(), 2)
		}
		return sql
	case 6: // aggregates without groups
		g.vague = true
		s, from := g.from(1)
		sql := "SELECT " + g.aggregate(s, g.pickKind(number, decimal)) + ", " + g.aggregate(s, g.kind()) + " FROM " + from
		if g.oneIn(2) {
			sql += " WHERE " + g.pred(s, 2)
		}
		return sql + g.chance(" HAVING COUNT(*) > "+g.lit("2"), 6)
	case 7: // stars over joins
		s, from := g.from(0)
		sql := "SELECT " + g.pick("*", "*", s.sources[0].alias+".*", s.sources[0].alias+".*, "+g.expr(s, number, 1)) + " FROM " + from
		if !g.oneIn(3) {
			sql += " WHERE " + g.pred(s, 2)
		}
		if keys, ok := s.total(); ok && g.oneIn(2) {
			sql += " ORDER BY " + strings.Join(keys, ", ") + g.chance(g.limit(), 3)
		}
		return sql
	case 3, 4: // plain statements without aliases, whose columns are named by their texts
		t := g.table()
		s := &scope{sources: []source{{alias: t.name, columns: t.columns, unique: t.key}}}
		sql := "SELECT " + g.pick("*", t.name+".*", g.expr(s, g.kind(), 2)+",  "+g.col(s, g.kind(), true)) + " FROM " + t.name
		if !g.oneIn(4) {
			sql += " WHERE " + g.pred(s, 2)
		}
		if keys, ok := s.total(); ok && g.oneIn(2) {
			sql += " ORDER BY " + g.pick("", g.expr(s, number, 1)+" + 0 DESC, ", g.col(s, text, true)+", ") + strings.Join(keys, ", ") + g.chance(g.limit(), 2)
		}
		return sql
	}
	return g.query(2, 0).sql
}
