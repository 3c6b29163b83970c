package logic

import (
	"fmt"
	"strings"
)

// write is an INSERT, UPDATE or DELETE of one table.
func (g *generator) write() (sql string) {
	g.strict = true
	defer func() { g.strict = false }()
	t := g.target()
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
		return "DELETE FROM " + t.name + where + limit
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
			o := g.base()
			if o != t && len(o.key) > 0 && len(t.key) > 0 && o.columns[0].kind == t.columns[0].kind {
				return "UPDATE " + t.name + " JOIN " + o.name + " ON " + t.name + "." + t.key[0] + " = " + o.name + "." + o.key[0] +
					" SET " + t.name + "." + set[0] + where
			}
		}
		return "UPDATE " + t.name + " SET " + strings.Join(set, ", ") + where + limit
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
		return verb + " INTO " + t.name + " VALUES ()"
	}
	var rows []string
	for range 1 + g.r.IntN(4) {
		var row []string
		for _, c := range used {
			v := g.value(c, !t.isKey(c.name))
			if t.auto && c.name == t.key[0] { // values given out depend on what was given out before, gaps too
				v = g.lit(fmt.Sprint(1 + g.r.IntN(25)))
			}
			row = append(row, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	sql = verb + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
	if g.oneIn(12) {
		o := g.base()
		s := &scope{sources: []source{g.sourceOf(o)}}
		var list []string
		for i, c := range used {
			if t.auto && i == 0 { // as above
				list = append(list, "ABS(COALESCE("+g.col(s, number, false)+", 0)) + 1")
				continue
			}
			list = append(list, g.col(s, c.kind, false))
		}
		sql = verb + " INTO " + t.name + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(list, ", ") + " FROM " + o.name + " " + s.sources[0].alias +
			" WHERE " + g.pred(s, 1)
		if keys, ok := s.total(); ok {
			return sql + " ORDER BY " + strings.Join(keys, ", ")
		}
		return sql
	}
	if verb == "INSERT" && g.oneIn(3) && !(g.mysql && t.parent != "") { // see docs/compatibility.md: a row without parent that meets another one
		c := used[g.r.IntN(len(used))]
		v := "VALUES(" + c.name + ")"
		if c.kind == number {
			v = g.pick(v, c.name+" + 1", "COALESCE("+c.name+", 0) + VALUES("+c.name+")")
		}
		sql += " ON DUPLICATE KEY UPDATE " + c.name + " = " + v
	}
	return sql
}
