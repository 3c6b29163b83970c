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
	// changes counts DDL, for names.
	changes int
	// vague: the statement's strings may differ by case, accents and trailing spaces.
	vague bool
	mysql bool // the servers are MySQL
	// favoured is a table, or nil, that half of the statements use. A function is called where there is one of that kind.
	favoured *table
	function function
	// hidden are texts by the names of what they are behind: a trigger by its table's, a program by its own.
	hidden map[string]string
	file   string // what the statement reads by LOAD DATA LOCAL
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

func (g *generator) table() *table {
	if g.favoured != nil && g.oneIn(2) {
		return g.favoured
	}
	return g.tables[g.r.IntN(len(g.tables))]
}

// base is a table, and no view.
func (g *generator) base() *table {
	for {
		if t := g.table(); t.view == "" {
			return t
		}
	}
}

// target is a table that statements write to. On MySQL it is not one with FULLTEXT keys, which know nothing of the rows before a duplicate in an INSERT IGNORE.
func (g *generator) target() *table {
	for {
		if t := g.base(); !g.mysql || t.name != "t16" {
			return t
		}
	}
}

// kind is most often one that every table has.
func (g *generator) kind() kind {
	if g.oneIn(7) {
		return plainKinds + kind(g.r.IntN(int(kinds)-plainKinds))
	}
	return kind(g.r.IntN(plainKinds))
}

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
	view    bool
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
	if g.oneIn(4) && !g.strict {
		if c := g.call(s, k, sub); c != "" {
			return c
		}
	}
	switch k {
	case number:
		switch g.r.IntN(14) {
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
		case 7:
			return g.pick("GREATEST", "LEAST") + "(" + sub(number) + ", " + sub(number) + ")"
		case 8:
			return "NULLIF(" + sub(number) + ", " + sub(number) + ")"
		case 9:
			return "DATEDIFF(" + sub(date) + ", " + sub(date) + ")"
		case 10:
			return g.pick("CHAR_LENGTH(", "ASCII(", "CRC32(") + sub(text) + ")"
		case 11:
			return g.pick("LOCATE", "INSTR", "FIND_IN_SET") + "(" + sub(text) + ", " + sub(text) + ")"
		case 12:
			return "IF(" + g.pred(s, depth-1) + ", " + sub(number) + ", " + sub(number) + ")"
		}
		return "(" + sub(number) + " " + g.pick("+", "-", "*") + " " + sub(number) + ")"
	case decimal:
		return g.pick("ROUND("+sub(decimal)+", 1)", "("+sub(decimal)+" * "+sub(number)+")", "("+sub(number)+" / 4)", "("+sub(decimal)+" - "+sub(decimal)+")")
	case text:
		return g.pick("CONCAT("+sub(text)+", "+sub(text)+")", "UPPER("+sub(text)+")", "TRIM("+sub(text)+")", "LEFT("+sub(text)+", 2)",
			"CAST("+sub(number)+" AS CHAR)", "IFNULL("+sub(text)+", 'x')", "SUBSTRING("+sub(text)+", 2)", "REPLACE("+sub(text)+", 'n', 'm')",
			"DATE_FORMAT("+sub(date)+", '%Y-%m')", "CONCAT_WS('-', "+sub(text)+", "+sub(number)+")", "LOWER("+sub(text)+")", "HEX("+sub(number)+")")
	case date:
	default:
		return g.col(s, k, false)
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
	if g.oneIn(8) && !g.strict {
		return g.test(s)
	}
	k := g.kind()
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
		return plain + " = " + g.lit(g.pick("1", "'1'", g.fraction(), "'ann'", "0", "'2026-01-01'", "2", "3e0", "'2 '"))
	case 6:
		return c + " = " + g.col(s, k, true)
	case 7:
		return "(" + c + ", " + g.col(s, number, false) + ") = (" + g.value(&column{kind: k}, false) + ", " + g.value(&column{}, false) + ")"
	case 8:
		return g.expr(s, k, depth) + g.pick(" = ", " > ", " <= ", " <> ") + g.expr(s, k, depth)
	}
	return c + g.pick(" = ", " = ", " = ", " > ", " < ", " >= ", " <> ") + g.value(&column{kind: k}, false)
}

// fraction is a number that equals no integer. MariaDB 10.11 finds the integer 2 by 1.5 where it looks a constant up in a key.
func (g *generator) fraction() string {
	if g.mysql {
		return "1.5"
	}
	return "1.0"
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
		return names[0] + " = " + g.lit(g.pick("'1'", "1.0", "'1 '", g.fraction(), "'x'", "'ANN'", "'Bob  '", "'É'", "TRUE", "'2e0'", "NULL"))
	case 3:
		return names[0] + " <=> " + g.value(c, true)
	case 4:
		return g.value(c, false) + " = " + names[0]
	case 5:
		if g.strict && c.kind != number && c.kind != decimal {
			break
		}
		return names[0] + " = " + g.value(c, false) + " + 1"
	}
	return names[0] + " = " + g.value(c, false)
}

// union is q and another SELECT of columns of the same kinds.
func (g *generator) union(q queryText) queryText {
	g.vague = true
	var kinds []kind
	for _, c := range q.columns {
		kinds = append(kinds, c.kind)
	}
	op := g.pick(" UNION ALL ", " UNION ALL ", " UNION ")
	return queryText{sql: "(" + q.sql + ")" + op + "(" + g.selectOf(0, 0, kinds).sql + ")", columns: q.columns}
}

// subScope makes a FROM of one table, seeing the outer scope.
func (g *generator) subScope(s *scope) (*scope, string) {
	t := g.table()
	src := g.sourceOf(t)
	return &scope{sources: []source{src}, outer: s}, t.name + " " + src.alias
}

func (g *generator) sourceOf(t *table) source {
	g.names++
	return source{alias: fmt.Sprintf("x%d", g.names), columns: t.columns, unique: t.key, view: t.view != ""}
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
		more := ""
		if g.oneIn(8) && !g.strict {
			more = " UNION ALL SELECT " + g.pick("id", "1") + " FROM " + g.tables[0].name
		}
		item := g.col(own, k, false)
		if g.mysql && k == text && strings.HasPrefix(item, litStart) {
			// MySQL compares by the literal's collation where it keeps the subquery's rows, and else by the column's.
			k, item = number, g.col(own, number, false)
		}
		return g.col(s, k, true) + g.pick(" IN ", " IN ", " NOT IN ") + "(SELECT " + item + " FROM " + from + where + more + ")"
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
			if g.oneIn(4) {
				q = g.union(q)
			}
			g.names++
			src = source{alias: fmt.Sprintf("x%d", g.names), columns: q.columns}
			ref = "(" + q.sql + ") " + src.alias
		} else {
			t := g.table()
			src = g.sourceOf(t)
			ref = t.name + " " + src.alias
			if g.oneIn(16) {
				ref = "(" + ref + ")"
			}
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
