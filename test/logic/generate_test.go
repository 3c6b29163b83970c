package logic

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random statements. What it writes has one right answer: LIMIT stands only under an order that is
// total, nothing reads which of equal spellings a server happened to keep.
type generator struct {
	r      *rand.Rand
	tables []*table
	names  int
	// vague: the statement's strings may differ by case, accents and trailing spaces.
	vague bool
	// strict: in a write, a string that is compared as a number is an error, if the row is looked at at all.
	strict bool
}

const (
	litStart = "\x01" // around literals, which a prepared statement may have as parameters
	litEnd   = "\x02"
)

func (g *generator) oneIn(n int) bool         { return g.r.IntN(n) == 0 }
func (g *generator) pick(of ...string) string { return of[g.r.IntN(len(of))] }
func (g *generator) lit(s string) string      { return litStart + s + litEnd }
func (g *generator) table() *table            { return g.tables[g.r.IntN(len(g.tables))] }
func (g *generator) chance(a string, n int) string { // a in one of n cases
	if g.oneIn(n) {
		return a
	}
	return ""
}

// source is a table reference in FROM.
type source struct {
	alias   string
	columns []column
	unique  []string // columns that identify a row; empty: none do
}

type scope struct {
	sources []source
	outer   *scope
}

func (s *scope) total() (keys []string, ok bool) {
	for _, src := range s.sources {
		if len(src.unique) == 0 {
			return nil, false
		}
		for _, k := range src.unique {
			keys = append(keys, src.alias+"."+k)
		}
	}
	return keys, true
}

// col finds a column of a kind; vague ones only where they do no harm.
func (g *generator) col(s *scope, k kind, vague bool) string {
	if s.outer != nil && g.oneIn(4) {
		s = s.outer
	}
	var have []string
	for _, src := range s.sources {
		for _, c := range src.columns {
			if c.kind == k && (vague || !c.vague) {
				have = append(have, src.alias+"."+c.name)
			}
		}
	}
	if len(have) == 0 {
		return g.value(&column{kind: k}, false)
	}
	return have[g.r.IntN(len(have))]
}

func (g *generator) expr(s *scope, k kind, depth int) string {
	if depth <= 0 || g.oneIn(2) {
		if g.oneIn(4) {
			return g.value(&column{kind: k}, true)
		}
		return g.col(s, k, false)
	}
	sub := func(k kind) string { return g.expr(s, k, depth-1) }
	if g.oneIn(8) {
		return "COALESCE(" + sub(k) + ", " + sub(k) + ")"
	}
	if g.oneIn(8) {
		return "CASE WHEN " + g.pred(s, depth-1) + " THEN " + sub(k) + g.chance(" ELSE "+sub(k), 2) + " END"
	}
	switch k {
	case number:
		switch g.r.IntN(9) {
		case 0:
			return "-" + g.col(s, number, false)
		case 1:
			return "(" + sub(number) + " % 3)"
		case 2:
			return "ABS(" + sub(number) + ")"
		case 3:
			return "LENGTH(" + sub(text) + ")"
		case 4:
			return "YEAR(" + sub(date) + ")"
		case 5:
			if q := g.scalar(s, depth-1); q != "" {
				return q
			}
		case 6:
			return "(" + sub(number) + " DIV 2)"
		}
		return "(" + sub(number) + " " + g.pick("+", "-", "*") + " " + sub(number) + ")"
	case decimal:
		return g.pick("ROUND("+sub(decimal)+", 1)", "("+sub(decimal)+" * "+sub(number)+")", "("+sub(number)+" / 4)", "("+sub(decimal)+" - "+sub(decimal)+")")
	case text:
		return g.pick("CONCAT("+sub(text)+", "+sub(text)+")", "UPPER("+sub(text)+")", "TRIM("+sub(text)+")", "LEFT("+sub(text)+", 2)",
			"CAST("+sub(number)+" AS CHAR)", "IFNULL("+sub(text)+", 'x')")
	}
	return "(" + g.col(s, date, false) + " + INTERVAL " + g.lit("1") + " DAY)"
}

func (g *generator) pred(s *scope, depth int) string {
	if depth > 0 && g.oneIn(3) {
		switch g.r.IntN(4) {
		case 0:
			return "NOT (" + g.pred(s, depth-1) + ")"
		case 1:
			return "(" + g.pred(s, depth-1) + " OR " + g.pred(s, depth-1) + ")"
		}
		return "(" + g.pred(s, depth-1) + " AND " + g.pred(s, depth-1) + ")"
	}
	if depth > 0 && g.oneIn(5) {
		if p := g.subPred(s, depth-1); p != "" {
			return p
		}
	}
	if g.oneIn(5) {
		if p := g.keyPred(s); p != "" {
			return p
		}
	}
	k := kind(g.r.IntN(4))
	if g.oneIn(2) {
		k = number
	}
	c := g.col(s, k, true)
	plain := g.col(s, k, false)
	switch g.r.IntN(11) {
	case 0:
		var list []string
		for range 1 + g.r.IntN(4) {
			list = append(list, g.value(&column{kind: k}, true))
		}
		return c + g.pick(" IN (", " IN (", " NOT IN (") + strings.Join(list, ", ") + ")"
	case 1:
		return c + g.pick(" BETWEEN ", " NOT BETWEEN ") + g.value(&column{kind: k}, false) + " AND " + g.value(&column{kind: k}, false)
	case 2:
		return c + g.pick(" IS NULL", " IS NOT NULL")
	case 3:
		return c + " <=> " + g.value(&column{kind: k}, true)
	case 4:
		return g.col(s, text, false) + g.pick(" LIKE ", " NOT LIKE ") + g.lit(g.pick("'a%'", "'%n'", "'_nn'", "'e'", "'ann'", "'a\\_b'", "'%'"))
	case 5:
		if g.strict {
			break
		}
		return plain + " = " + g.lit(g.pick("1", "'1'", "1.5", "'ann'", "0", "'2026-01-01'", "2", "3e0", "'2 '"))
	case 6:
		return c + " = " + g.col(s, k, true)
	case 7:
		return "(" + c + ", " + g.col(s, number, false) + ") = (" + g.value(&column{kind: k}, false) + ", " + g.value(&column{}, false) + ")"
	case 8:
		return g.expr(s, k, depth) + g.pick(" = ", " > ", " <= ", " <> ") + g.expr(s, k, depth)
	}
	return c + g.pick(" = ", " = ", " = ", " > ", " < ", " >= ", " <> ") + g.value(&column{kind: k}, false)
}

// keyPred is about the key of a source: what says where rows are.
func (g *generator) keyPred(s *scope) string {
	src := s.sources[g.r.IntN(len(s.sources))]
	if len(src.unique) == 0 {
		return ""
	}
	var names []string
	var columns []*column
	for _, k := range src.unique {
		for i := range src.columns {
			if src.columns[i].name == k {
				columns = append(columns, &src.columns[i])
			}
		}
		names = append(names, src.alias+"."+k)
	}
	tuple := func() string {
		var v []string
		for _, c := range columns {
			v = append(v, g.value(c, false))
		}
		return strings.Join(v, ", ")
	}
	if len(names) > 1 {
		switch g.r.IntN(3) {
		case 0:
			return "(" + strings.Join(names, ", ") + ") IN ((" + tuple() + "), (" + tuple() + "), (" + tuple() + "))"
		case 1:
			return "(" + strings.Join(names, ", ") + ") = (" + tuple() + ")"
		}
		return names[0] + " IN (" + g.value(columns[0], true) + ", " + g.value(columns[0], true) + ") AND " + names[1] + " = " + g.value(columns[1], false)
	}
	c := columns[0]
	switch g.r.IntN(8) {
	case 0:
		return names[0] + " IN (" + g.value(c, true) + ", " + g.value(c, true) + ", " + g.value(c, false) + ")"
	case 1:
		return "(" + names[0] + " = " + g.value(c, false) + " OR " + names[0] + " = " + g.value(c, false) + ")"
	case 2:
		if g.strict {
			break
		}
		return names[0] + " = " + g.lit(g.pick("'1'", "1.0", "'1 '", "1.5", "'x'", "'ANN'", "'Bob  '", "'É'", "TRUE", "'2e0'", "NULL"))
	case 3:
		return names[0] + " <=> " + g.value(c, true)
	case 4:
		return g.value(c, false) + " = " + names[0]
	case 5:
		return names[0] + " = " + g.value(c, false) + " + 1"
	}
	return names[0] + " = " + g.value(c, false)
}

// subScope makes a FROM of one table, seeing the outer scope.
func (g *generator) subScope(s *scope) (*scope, string) {
	t := g.table()
	src := g.sourceOf(t)
	return &scope{sources: []source{src}, outer: s}, t.name + " " + src.alias
}

func (g *generator) sourceOf(t *table) source {
	g.names++
	return source{alias: fmt.Sprintf("x%d", g.names), columns: t.columns, unique: t.key}
}

func (g *generator) subPred(s *scope, depth int) string {
	in, from := g.subScope(s)
	where := ""
	if !g.oneIn(4) {
		where = " WHERE " + g.pred(in, depth)
	}
	link := func() { // equate a column with the outer one: what co-location is about
		k := kind(number)
		if a, b := in.sources[0], s.sources[g.r.IntN(len(s.sources))]; len(a.unique) > 0 && len(b.unique) > 0 && (!g.strict || (a.columns[0].kind == b.columns[0].kind)) && g.oneIn(2) {
			eq := a.alias + "." + a.unique[0] + " = " + b.alias + "." + b.unique[0]
			if where == "" {
				where = " WHERE " + eq
			} else {
				where += " AND " + eq
			}
			return
		}
		eq := in.sources[0].alias + "." + g.kindOf(in.sources[0], k) + " = " + g.col(&scope{sources: s.sources}, k, false)
		if where == "" {
			where = " WHERE " + eq
		} else {
			where += " AND " + eq
		}
	}
	own := &scope{sources: in.sources}
	switch g.r.IntN(4) {
	case 0, 1:
		if g.oneIn(2) {
			link()
		}
		return g.pick("EXISTS", "EXISTS", "NOT EXISTS") + " (SELECT 1 FROM " + from + where + ")"
	case 2:
		k := kind(g.r.IntN(2)) * text
		return g.col(s, k, true) + g.pick(" IN ", " IN ", " NOT IN ") + "(SELECT " + g.col(own, k, false) + " FROM " + from + where + ")"
	}
	return g.col(s, number, false) + g.pick(" > ", " = ", " <= ") + g.pick("ALL ", "ANY ") + "(SELECT " + g.col(own, number, false) + " FROM " + from + where + ")"
}

func (g *generator) kindOf(src source, k kind) string {
	var have []string
	for _, c := range src.columns {
		if c.kind == k {
			have = append(have, c.name)
		}
	}
	if len(have) == 0 {
		return src.columns[0].name
	}
	return have[g.r.IntN(len(have))]
}

// scalar is a scalar subquery of a number, one row by an aggregate.
func (g *generator) scalar(s *scope, depth int) string {
	if depth < 0 {
		return ""
	}
	in, from := g.subScope(s)
	own := &scope{sources: in.sources}
	where := ""
	if g.oneIn(2) {
		where = " WHERE " + g.pred(in, depth)
	}
	return "(SELECT " + g.pick("MAX", "MIN", "COUNT", "SUM") + "(" + g.col(own, number, false) + ") FROM " + from + where + ")"
}

// from makes a FROM clause with its scope.
func (g *generator) from(depth int) (*scope, string) {
	s := &scope{}
	var b strings.Builder
	n := 1
	for n < 3 && g.oneIn(2) {
		n++
	}
	for i := range n {
		var src source
		var ref string
		if depth > 0 && g.oneIn(6) {
			q := g.query(depth-1, 0)
			g.names++
			src = source{alias: fmt.Sprintf("x%d", g.names), columns: q.columns}
			ref = "(" + q.sql + ") " + src.alias
		} else {
			t := g.table()
			src = g.sourceOf(t)
			ref = t.name + " " + src.alias
		}
		if i == 0 {
			s.sources = append(s.sources, src)
			b.WriteString(ref)
			continue
		}
		left := s.sources[g.r.IntN(len(s.sources))]
		var common []string
		for _, c := range src.columns {
			for _, d := range left.columns {
				if c.name == d.name && c.kind == d.kind && len(s.sources) == 1 {
					common = append(common, c.name)
				}
			}
		}
		s.sources = append(s.sources, src)
		join := g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ")
		k := kind(number)
		if g.oneIn(5) {
			k = text
		}
		on := left.alias + "." + g.kindOf(left, k) + " = " + src.alias + "." + g.kindOf(src, k)
		if len(left.unique) > 0 && len(src.unique) > 0 && g.oneIn(2) {
			on = left.alias + "." + left.unique[0] + " = " + src.alias + "." + src.unique[0]
		}
		if g.strict && !sameKinds(on, left, src) {
			on = "TRUE"
		}
		switch {
		case g.oneIn(6) && len(common) > 0:
			b.WriteString(join + ref + " USING (" + common[g.r.IntN(len(common))] + ")")
		case g.oneIn(14) && len(common) > 0:
			b.WriteString(g.pick(" NATURAL JOIN ", " NATURAL LEFT JOIN ") + ref)
		case g.oneIn(10):
			b.WriteString(" CROSS JOIN " + ref)
		default:
			if g.oneIn(4) {
				on += " AND " + g.pred(s, 0)
			}
			b.WriteString(join + ref + " ON " + on)
		}
	}
	return s, b.String()
}

// sameKinds reports whether "a.x = b.y" compares columns of one kind.
func sameKinds(on string, left, right source) bool {
	l, r, _ := strings.Cut(on, " = ")
	kinds := func(src source, name string) (k kind) {
		for _, c := range src.columns {
			if src.alias+"."+c.name == name {
				k = c.kind
			}
		}
		return k
	}
	return kinds(left, l) == kinds(right, r)
}

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
			kinds = append(kinds, kind(g.r.IntN(4)))
		}
	}
	switch g.r.IntN(6) {
	case 0, 1:
		return g.grouped(s, from, where, kinds)
	case 2:
		if depth > 0 && g.oneIn(2) {
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
		arg := g.col(s, kind(g.r.IntN(4)), true)
		return g.pick("COUNT(*)", "COUNT("+d+arg+")", "SUM("+d+g.expr(s, number, 1)+")", "MIN("+g.col(s, number, false)+")",
			"MAX("+g.expr(s, number, 1)+")", "COUNT(*) + 1", "BIT_OR("+g.col(s, number, false)+")")
	}
	if k == decimal {
		return g.pick("SUM", "AVG", "MIN", "MAX", "AVG", "SUM") + "(" + g.chance("DISTINCT ", 5) + g.expr(s, g.pickKind(number, decimal), 1) + ")"
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
		if g.oneIn(12) {
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

// selectStatement is a whole SELECT.
func (g *generator) selectStatement() string {
	switch g.r.IntN(12) {
	case 0, 1:
		g.vague = true
		n := 1 + g.r.IntN(3)
		var kinds []kind
		for range n {
			kinds = append(kinds, kind(g.r.IntN(4)))
		}
		op := g.pick(" UNION ALL ", " UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ")
		sql := "(" + g.selectOf(0, n, kinds).sql + ")" + op + "(" + g.selectOf(0, n, kinds).sql + ")"
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
		return "WITH w AS (" + q.sql + ") SELECT w.*, y.* FROM w " + g.pick("JOIN ", "LEFT JOIN ") + t.name + " y ON w." + q.columns[0].name + " = y." + t.columns[g.r.IntN(len(t.columns))].name
	case 5: // groups without aliases
		g.vague = true
		t := g.table()
		s := &scope{sources: []source{{alias: t.name, columns: t.columns, unique: t.key}}}
		by, more := g.col(s, kind(g.r.IntN(4)), true), g.aggregate(s, g.pickKind(number, decimal))
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
		sql := "SELECT " + g.aggregate(s, g.pickKind(number, decimal)) + ", " + g.aggregate(s, kind(g.r.IntN(4))) + " FROM " + from
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
		sql := "SELECT " + g.pick("*", t.name+".*", g.expr(s, kind(g.r.IntN(4)), 2)+",  "+g.col(s, kind(g.r.IntN(4)), true)) + " FROM " + t.name
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

// write is an INSERT, UPDATE or DELETE of t.
func (g *generator) write() (sql string, t *table) {
	g.strict = true
	defer func() { g.strict = false }()
	t = g.table()
	s := &scope{sources: []source{{alias: t.name, columns: t.columns, unique: t.key}}}
	where := ""
	if !g.oneIn(8) {
		where = " WHERE " + g.pred(s, 2)
	}
	limit := ""
	if len(t.key) > 0 && g.oneIn(5) {
		limit = " ORDER BY " + strings.Join(t.key, ", ") + " LIMIT " + g.lit(fmt.Sprint(1+g.r.IntN(3)))
	}
	switch g.r.IntN(8) {
	case 0:
		return "DELETE FROM " + t.name + where + limit, t
	case 1, 2, 3:
		var set []string
		for range 1 + g.r.IntN(2) {
			c := &t.columns[g.r.IntN(len(t.columns))]
			v := g.value(c, true)
			if g.oneIn(2) && c.kind == number && !strings.Contains(c.def, "NOT NULL") {
				v = g.expr(s, number, 1)
				if strings.Contains(v, "SELECT") || strings.Contains(v, "*") {
					v = "COALESCE(" + c.name + ", 0) + 1"
				}
			}
			set = append(set, c.name+" = "+v)
		}
		if g.oneIn(6) {
			o := g.table()
			if o != t && len(o.key) > 0 && len(t.key) > 0 && o.columns[0].kind == t.columns[0].kind {
				return "UPDATE " + t.name + " JOIN " + o.name + " ON " + t.name + "." + t.key[0] + " = " + o.name + "." + o.key[0] +
					" SET " + t.name + "." + set[0] + where, t
			}
		}
		return "UPDATE " + t.name + " SET " + strings.Join(set, ", ") + where + limit, t
	}
	var names []string
	var used []*column
	for i := range t.columns {
		if t.columns[i].kind != text && i > len(t.key) && g.oneIn(6) && !strings.Contains(t.columns[i].def, "NOT NULL") {
			continue
		}
		used = append(used, &t.columns[i])
		names = append(names, t.columns[i].name)
	}
	verb := g.pick("INSERT", "INSERT", "INSERT IGNORE", "REPLACE")
	if len(used) == 0 {
		return verb + " INTO " + t.name + " VALUES ()", t
	}
	var rows []string
	for range 1 + g.r.IntN(4) {
		var row []string
		for _, c := range used {
			v := g.value(c, c.name != "id")
			if t.auto && c.name == t.key[0] { // values given out depend on what was given out before, gaps too
				v = g.lit(fmt.Sprint(1 + g.r.IntN(25)))
			}
			row = append(row, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	sql = verb + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
	if g.oneIn(12) {
		o := g.table()
		s := &scope{sources: []source{g.sourceOf(o)}}
		var list []string
		for _, c := range used {
			list = append(list, g.col(s, c.kind, false))
		}
		sql = verb + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(list, ", ") + " FROM " + o.name + " " + s.sources[0].alias +
			" WHERE " + g.pred(s, 1)
		if keys, ok := s.total(); ok {
			return sql + " ORDER BY " + strings.Join(keys, ", "), t
		}
		return sql, t
	}
	if verb == "INSERT" && g.oneIn(3) {
		c := used[g.r.IntN(len(used))]
		v := "VALUES(" + c.name + ")"
		if c.kind == number {
			v = g.pick(v, c.name+" + 1", "COALESCE("+c.name+", 0) + VALUES("+c.name+")")
		}
		sql += " ON DUPLICATE KEY UPDATE " + c.name + " = " + v
	}
	return sql, t
}
