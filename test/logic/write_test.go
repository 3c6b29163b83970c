package logic

import (
	"fmt"
	"slices"
	"strings"
)

// writeOver is a write that needs more than the rows of one table, or rows chosen by an order: joins, subqueries, ORDER BY and LIMIT,
// other keys. Its outcome depends on no order that is not said: a row that is joined with several gets the same value
// from each.
func (g *generator) writeOver() string {
	g.strict = true
	defer func() { g.strict = false }()
	t := g.target()
	for t.name == "t7" {
		t = g.target() // its hidden key gives it no order
	}
	switch g.r.IntN(12) {
	case 11:
		if g.oneIn(3) {
			return g.pick("DELETE FROM t16", "UPDATE t16 SET body = "+g.value(&column{kind: prose}, true)) + " WHERE " + g.match()
		}
		return g.load()
	case 10:
		return g.insertBeside()
	case 9:
		return g.returning(t)
	case 5:
		return g.several(t)
	case 6:
		return g.insertSet(t)
	case 7:
		return g.insertUnion(t)
	case 0:
		return g.updateJoin(t)
	case 1:
		return g.deleteJoin(t)
	case 2:
		return g.updateSub(t)
	case 3, 4:
		return g.insertSelect(t)
	}
	return g.insertSub(t)
}

func (t *table) scope(alias string) source {
	return source{alias: alias, columns: t.columns, unique: t.key}
}

// joined is "t JOIN o ON ..." of other tables, and their scope; t comes first.
func (g *generator) joined(t *table) (string, *scope) {
	s := &scope{sources: []source{t.scope("t")}}
	text := t.name + " t"
	for i := range 1 + g.r.IntN(2) {
		alias := fmt.Sprintf("o%d", i)
		o := g.base()
		src, ref := o.scope(alias), o.name+" "+alias
		if g.oneIn(5) {
			q := g.selectOf(0, 2, []kind{number, number})
			src, ref = source{alias: alias, columns: q.columns}, "("+q.sql+") "+alias
		}
		join := g.pick(" JOIN ", " JOIN ", " LEFT JOIN ")
		on := "t." + g.kindOf(s.sources[0], number) + " = " + alias + "." + g.kindOf(src, number)
		if len(src.unique) > 0 && g.oneIn(2) {
			on = "t." + t.key[0] + " = " + alias + "." + src.unique[0]
		}
		if !sameKinds(on, s.sources[0], src) {
			on = "TRUE"
		}
		text += join + ref + " ON " + on
		s.sources = append(s.sources, src)
	}
	return text, s
}

// plainValue is a value for a column that is the same for every row a row is joined with: of own are the row's own columns.
func (g *generator) plainValue(c *column, own *scope) string {
	v := g.value(c, true)
	if c.kind == number && g.oneIn(3) {
		v = "COALESCE(" + g.col(own, number, false) + ", 0) + 1"
	}
	return v
}

func (g *generator) where(s *scope, depth int) string {
	if g.oneIn(5) {
		return ""
	}
	return " WHERE " + g.pred(s, depth)
}

// payload is a column of t that is in no key; nil if there is none.
func (g *generator) payload(t *table) *column {
	for range 10 {
		c := &t.columns[g.r.IntN(len(t.columns))]
		if !slices.Contains(t.fixed, c.name) && !t.isKey(c.name) {
			return c
		}
	}
	return nil
}

func (g *generator) updateJoin(t *table) string {
	from, s := g.joined(t)
	c := g.payload(t)
	if c == nil {
		return g.deleteJoin(t)
	}
	own := &scope{sources: s.sources[:1]}
	return "UPDATE " + g.chance("IGNORE ", 6) + from + " SET t." + c.name + " = " + g.plainValue(c, own) + g.where(s, 1)
}

func (g *generator) deleteJoin(t *table) string {
	from, s := g.joined(t)
	if g.oneIn(3) {
		return "DELETE FROM t USING " + from + g.where(s, 1)
	}
	return "DELETE t FROM " + from + g.where(s, 1)
}

// updateSub is an UPDATE or DELETE of one table with subqueries, of keys, or of the first rows by some order.
func (g *generator) updateSub(t *table) string {
	s := &scope{sources: []source{t.scope(t.name)}}
	limit := ""
	if g.oneIn(2) {
		limit = " ORDER BY " + g.chance(g.expr(s, number, 1)+" + 0"+g.chance(" DESC", 2)+", ", 2) + t.name + "." + strings.Join(t.key, ", "+t.name+".") +
			g.chance(" LIMIT "+g.lit(fmt.Sprint(g.r.IntN(4))), 2)
	}
	if g.oneIn(4) {
		return "DELETE " + g.chance("IGNORE ", 6) + "FROM " + t.name + g.where(s, 2) + limit
	}
	var set []string
	for range 1 + g.r.IntN(3) {
		c := &t.columns[g.r.IntN(len(t.columns))]
		v := g.plainValue(c, s)
		if c.kind == number && g.oneIn(3) && !strings.Contains(c.def, "NOT NULL") {
			if q := g.scalar(s, 1); q != "" && strings.Contains(q, "COUNT(") {
				v = q
			}
		}
		set = append(set, c.name+" = "+v)
	}
	return "UPDATE " + g.chance("IGNORE ", 6) + t.name + " SET " + strings.Join(set, ", ") + g.where(s, 2) + limit
}

// insertSelect takes rows from a query with a total order, so that it is said which of equal rows comes first.
func (g *generator) insertSelect(t *table) string {
	var names []string
	var used []*column
	for i := range t.columns {
		c := &t.columns[i]
		if i >= len(t.key) && g.oneIn(4) && !strings.Contains(c.def, "NOT NULL") {
			continue
		}
		used = append(used, c)
		names = append(names, c.name)
	}
	s, from := g.from(0)
	keys, ok := s.total()
	if !ok {
		t := g.tables[0]
		s = &scope{sources: []source{t.scope("s")}}
		from = t.name + " s"
		keys, _ = s.total()
	}
	var list []string
	for i, c := range used {
		e := g.col(s, c.kind, false)
		switch {
		case c.kind == number && g.oneIn(3):
			e = "COALESCE(" + e + ", 0) + " + g.lit(fmt.Sprint(g.r.IntN(40)))
		case c.kind == number && (i < len(t.key) || strings.Contains(c.def, "NOT NULL")):
			e = "COALESCE(" + e + ", " + g.value(c, false) + ")"
		case g.oneIn(3):
			e = g.value(c, true)
		}
		if t.auto && i == 0 { // values given out depend on what was given out before
			e = "ABS(COALESCE(" + g.col(s, number, false) + ", 0)) + 1"
		}
		list = append(list, e)
	}
	verb := g.pick("INSERT", "INSERT IGNORE", "INSERT IGNORE", "REPLACE")
	sql := verb + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(list, ", ") + " FROM " + from + g.where(s, 1) +
		" ORDER BY " + strings.Join(keys, ", ") + g.chance(" LIMIT "+g.lit(fmt.Sprint(g.r.IntN(6))), 3)
	if c := g.payload(t); verb == "INSERT" && c != nil && g.oneIn(2) && !(g.mysql && t.parent != "") {
		v := g.value(c, true)
		for i, n := range names {
			if n == c.name {
				v = "VALUES(" + n + ")"
				if e := list[i]; g.oneIn(3) && !strings.Contains(e, "SELECT") {
					v = e // a column of the query
				}
			}
		}
		if c.kind == number && g.oneIn(2) {
			v = "COALESCE(" + t.name + "." + c.name + ", 0) + 1"
		}
		sql += " ON DUPLICATE KEY UPDATE " + c.name + " = " + v
	}
	return sql
}

// insertSub has subqueries among its values, and values that are not what is stored.
func (g *generator) insertSub(t *table) string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	var rows []string
	for range 1 + g.r.IntN(3) {
		var row []string
		for i := range t.columns {
			c := &t.columns[i]
			v := g.value(c, i >= len(t.key))
			switch {
			case c.kind == number && g.oneIn(3):
				o := g.base()
				for o == t {
					o = g.base() // which may have the rows before or not
				}
				v = g.pick("(SELECT COUNT(*) FROM "+o.name+")", "(SELECT COALESCE(MAX("+g.kindOf(o.scope("z"), number)+"), 1) FROM "+o.name+" z)", v+" + 1")
			case c.kind == number && g.oneIn(4):
				v = g.lit("'" + fmt.Sprint(g.r.IntN(40)) + " '")
			}
			if t.auto && i == 0 {
				v = "1 + " + g.lit(fmt.Sprint(g.r.IntN(25)))
			}
			row = append(row, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	return g.pick("INSERT", "INSERT IGNORE", "REPLACE") + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
}

// several writes to two tables at once, or deletes from one under two names. Both are written by what is in neither, or is in their own rows.
func (g *generator) several(t *table) string {
	o := g.target()
	for o == t && !g.oneIn(3) || len(o.key) == 0 {
		o = g.target()
	}
	s := &scope{sources: []source{t.scope("t"), o.scope("o")}}
	x, y := t.kindOf(number), o.kindOf(number)
	on := "t." + x + " = o." + y
	c, d := g.payload(t), g.payload(o)
	if o == t || c == nil || d == nil || c.name == x || d.name == y || g.oneIn(3) {
		return "DELETE t, o FROM " + t.name + " t JOIN " + o.name + " o ON " + on + g.where(s, 1)
	}
	// A row that is joined with several others is changed with the first of them: whether a condition sees that depends on the plan.
	s.sources[0].columns, s.sources[1].columns = without(t.columns, c), without(o.columns, d)
	return "UPDATE " + t.name + " t JOIN " + o.name + " o ON " + on + " SET t." + c.name + " = " + g.value(c, true) + ", o." + d.name + " = " + g.value(d, true) + g.where(s, 1)
}

// without is columns but for c.
func without(columns []column, c *column) []column {
	return slices.DeleteFunc(slices.Clone(columns), func(o column) bool { return o.name == c.name })
}

// insertSet is INSERT or REPLACE with SET.
func (g *generator) insertSet(t *table) string {
	var set []string
	for i := range t.columns {
		c := &t.columns[i]
		if !t.isKey(c.name) && g.oneIn(5) && !strings.Contains(c.def, "NOT NULL") {
			continue
		}
		v := g.value(c, !t.isKey(c.name))
		if t.auto && i == 0 {
			v = g.lit(fmt.Sprint(1 + g.r.IntN(25)))
		}
		set = append(set, c.name+" = "+v)
	}
	return g.pick("INSERT", "INSERT IGNORE", "REPLACE") + " INTO " + t.name + " SET " + strings.Join(set, ", ")
}

// insertUnion inserts the sorted rows of a query of several parts.
func (g *generator) insertUnion(t *table) string {
	var list, order []string
	vague := false
	part := func(o *table) string {
		list, order = nil, nil
		s := g.alone(o)
		for i := range t.columns {
			c := &t.columns[i]
			e := g.col(s, c.kind, false)
			if t.isKey(c.name) || strings.Contains(c.def, "NOT NULL") {
				e = "COALESCE(" + e + ", " + g.value(c, false) + ")"
			}
			if t.auto && i == 0 {
				e = "ABS(COALESCE(" + g.col(s, number, false) + ", 0)) + 1"
			}
			list = append(list, e+" AS i"+fmt.Sprint(i))
			if vague = vague || c.kind == text; c.kind == text { // to the byte: which of equal rows comes first is seen
				order = append(order, "HEX(i"+fmt.Sprint(i)+")")
			} else {
				order = append(order, fmt.Sprint(i+1))
			}
		}
		return "SELECT " + strings.Join(list, ", ") + " FROM " + o.name + g.where(s, 1)
	}
	first, op := part(g.table()), g.pick(" UNION ", " UNION ALL ", " UNION ALL ")
	if vague {
		op = " UNION ALL "
	}
	query := first + op + part(g.table())
	return g.pick("INSERT IGNORE", "INSERT IGNORE", "REPLACE", "INSERT") + " INTO " + t.name + " (" + names(t) + ") SELECT * FROM (" + query + ") q ORDER BY " + strings.Join(order, ", ")
}

// returning is a write that returns rows, on MySQL an INSERT with a name for its row.
func (g *generator) returning(t *table) string {
	c := g.payload(t)
	if g.mysql && (c == nil || t.parent != "") {
		return g.insertSet(t)
	}
	if g.mysql {
		row := func() string {
			var list []string
			for i := range t.columns {
				v := g.value(&t.columns[i], !t.isKey(t.columns[i].name))
				if t.auto && i == 0 {
					v = g.lit(fmt.Sprint(1 + g.r.IntN(25)))
				}
				list = append(list, v)
			}
			return "(" + strings.Join(list, ", ") + ")"
		}
		return "INSERT INTO " + t.name + " (" + names(t) + ") VALUES " + row() + ", " + row() + " AS new ON DUPLICATE KEY UPDATE " + c.name + " = " + g.pick("new."+c.name, g.value(c, true))
	}
	list := plain(g.pick("*", t.columns[0].name, t.columns[0].name+", "+g.expr(g.alone(t), number, 0)))
	if g.oneIn(2) {
		return "DELETE FROM " + t.name + g.where(g.alone(t), 1) + " RETURNING " + list
	}
	return g.insertSet(t) + " RETURNING " + list
}

// insertBeside inserts rows where those lie that they are made of: their key is that of one row.
func (g *generator) insertBeside() string {
	names := []string{"t1", "t9", "t10", "t14"}
	t := g.tables[0]
	for t.parent != "" || len(t.key) != 1 || t.key[0] != "id" || t.auto || t.view != "" || t.comment != "" || t.name == "t10" || g.mysql && t.name == "t16" {
		t = g.table()
	}
	from := g.tables[0]
	for from == t || !slices.Contains(names, from.name) {
		from = g.table()
	}
	s := &scope{sources: []source{from.scope("f")}}
	key, where := "f.id", g.where(s, 1)
	if g.oneIn(3) {
		key = g.value(&column{}, false)
		where = " WHERE f.id = " + g.pick(key, g.value(&column{}, false))
	}
	columns, list := []string{"id"}, []string{key}
	for i := range t.columns {
		if c := &t.columns[i]; i > 0 && !slices.Contains(t.fixed, c.name) || strings.Contains(c.def, "NOT NULL") {
			e := g.col(s, c.kind, false)
			if strings.Contains(c.def, "NOT NULL") {
				e = "COALESCE(" + e + ", " + g.value(c, false) + ")"
			}
			columns, list = append(columns, c.name), append(list, e)
		}
	}
	return g.pick("INSERT", "INSERT IGNORE", "REPLACE") + " INTO " + t.name + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(list, ", ") + " FROM " + from.name + " f" + where
}
