package logic

import (
	"slices"
	"strings"
)

// load is LOAD DATA of a client's file, which the generator keeps. A value that does not fit, and a row whose key is there, are warnings.
func (g *generator) load() string {
	t := g.target()
	for t.auto || slices.ContainsFunc(t.columns, func(c column) bool {
		return c.kind >= plainKinds && (t.isKey(c.name) || strings.Contains(c.def, "NOT NULL"))
	}) {
		t = g.target()
	}
	var used []*column
	for i := range t.columns {
		if c := &t.columns[i]; c.kind < plainKinds && (t.isKey(c.name) || strings.Contains(c.def, "NOT NULL") || !g.oneIn(4)) {
			used = append(used, c)
		}
	}
	if len(used) == 0 {
		return "TRUNCATE TABLE " + t.name
	}
	between, enclosed := "\t", ""
	fields := ""
	if g.oneIn(2) {
		between, enclosed, fields = ",", `"`, ` FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"'`
	}
	var file strings.Builder
	head := g.chance("id\n", 4)
	file.WriteString(head)
	for range g.r.IntN(7) {
		var row []string
		for _, c := range used {
			v := plain(g.value(c, !t.isKey(c.name)))
			switch s, quoted := strings.CutPrefix(v, "'"); {
			case v == "NULL":
				v = `\N`
			case quoted:
				v = enclosed + strings.TrimSuffix(s, "'") + enclosed
			}
			row = append(row, v)
		}
		file.WriteString(strings.Join(row, between) + "\n")
	}
	g.file = file.String()
	if g.file == "" {
		g.file = "\n"
	}
	names := make([]string, len(used))
	set := ""
	for i, c := range used {
		names[i] = c.name
		if set == "" && c.kind == number && !t.isKey(c.name) && g.oneIn(4) {
			names[i], set = "@v", " SET "+c.name+" = @v + 1"
		}
	}
	return "LOAD DATA LOCAL INFILE 'Reader::story'" + g.pick("", "", " IGNORE", " REPLACE") + " INTO TABLE " + t.name + fields + map[bool]string{true: " IGNORE 1 LINES"}[head != ""] +
		" (" + strings.Join(names, ", ") + ")" + set
}
