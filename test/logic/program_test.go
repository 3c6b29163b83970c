package logic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// temporary is a temporary table.
func (g *generator) temporary() *table {
	t := &table{name: temporaryName, temporary: true, columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}}
	for _, c := range []column{{name: "a", def: "INT"}, {name: "b", def: "BIGINT DEFAULT 3"}, {name: "s", def: "VARCHAR(10)", kind: text},
		{name: "d", def: "DECIMAL(8,2)", kind: decimal}, {name: "w", def: "DATE", kind: date}} {
		if !g.oneIn(4) {
			t.columns = append(t.columns, c)
		}
	}
	return t
}

// firstRows is an INSERT of a table's first rows; "" if it has none.
func (g *generator) firstRows(t *table) string {
	var rows []string
	for range g.r.IntN(12) {
		var row []string
		for i := range t.columns {
			row = append(row, g.value(&t.columns[i], !t.isKey(t.columns[i].name)))
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	if len(rows) == 0 {
		return ""
	}
	return "INSERT IGNORE INTO " + t.name + " VALUES " + strings.Join(rows, ", ")
}

// trigger is when a trigger of t fires, and what it does: what does not depend on the order of the rows.
func (g *generator) trigger(t *table) (when, body string) {
	event := g.pick("INSERT", "UPDATE", "DELETE")
	row := "NEW."
	if event == "DELETE" || event == "UPDATE" && g.oneIn(3) {
		row = "OLD."
	}
	number := row + t.kindOf(number)
	o := g.apart(t)
	c := g.payload(t)
	if event != "DELETE" && c != nil && g.oneIn(2) {
		v := g.value(c, true)
		switch {
		case c.kind == 0 && g.oneIn(2):
			v = g.pick("COALESCE("+number+", 0) + 1", "(SELECT COUNT(*) FROM "+o.name+")")
		case c.kind == text:
			v = "LEFT(CONCAT(COALESCE(NEW." + c.name + ", ''), 'x'), 8)"
		}
		return "BEFORE " + event + " ON " + t.name, plain("SET NEW." + c.name + " = " + v)
	}
	when = g.pick("BEFORE ", "AFTER ", "AFTER ") + event + " ON " + t.name
	d := g.payload(o)
	switch g.r.IntN(4) {
	case 0:
		return when, "BEGIN IF " + number + " > " + fmt.Sprint(g.r.IntN(6)) + " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; END"
	case 1:
		if d != nil {
			v := g.value(d, true)
			if d.kind == 0 {
				v = "COALESCE(" + d.name + ", 0) + 1"
			}
			return when, plain("UPDATE " + o.name + " SET " + d.name + " = " + v + " WHERE " + o.kindOf(0) + " = " + number)
		}
	case 2:
		return when, "DELETE FROM " + o.name + " WHERE " + o.kindOf(0) + " = " + number
	}
	var columns, values []string
	for i := range o.columns {
		c := &o.columns[i]
		v := g.value(c, !o.isKey(c.name))
		if i == 0 && c.kind == 0 {
			v = "ABS(COALESCE(" + number + ", 0)) + 1"
		}
		columns, values = append(columns, c.name), append(values, v)
	}
	return when, plain("INSERT INTO " + o.name + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")")
}

// apart is a table that has nothing to do with t.
func (g *generator) apart(t *table) *table {
	for {
		if o := g.target(); o != t && o.parent == "" && o.name != t.parent && o.name != "t1" {
			return o
		}
	}
}

// function is a stored function of one argument.
type function struct {
	name, create string
	kind         kind
}

func (g *generator) storedFunction() function {
	f := function{name: functionName}
	if g.oneIn(3) {
		f.kind = text
		f.create = "(x VARCHAR(200)) RETURNS VARCHAR(210) DETERMINISTIC RETURN " + g.pick("CONCAT(UPPER(x), '!')", "COALESCE(x, 'none')", "REVERSE(x)")
	} else {
		o := g.base()
		f.create = "(x BIGINT) RETURNS BIGINT " + g.pick("DETERMINISTIC RETURN COALESCE(x, 0) % 7 + 1",
			"DETERMINISTIC BEGIN DECLARE r BIGINT DEFAULT 0; IF x > 3 THEN SET r = x % 5; ELSE SET r = -1; END IF; RETURN r; END",
			"READS SQL DATA RETURN (SELECT COUNT(*) FROM "+o.name+" WHERE "+o.kindOf(number)+" > x)",
			"READS SQL DATA BEGIN DECLARE r BIGINT; SELECT MAX("+o.kindOf(number)+") INTO r FROM "+o.name+"; RETURN COALESCE(r, 0) % 9 + COALESCE(x, 0) % 5; END")
	}
	f.create = "CREATE FUNCTION " + f.name + f.create
	return f
}

var (
	wholeNumber = regexp.MustCompile(litStart + `-?\d{1,3}` + litEnd)
	nullSafe    = regexp.MustCompile(`<=> ([xy])\b`)
	word        = regexp.MustCompile(litStart + `'[a-zA-Z]*'` + litEnd)
	listOfRows  = regexp.MustCompile(` IN \(\(`)

	joinedUpdate = regexp.MustCompile(`UPDATE \w+( \w+)? JOIN`)
)

// withParameters has parameters of a procedure in the place of some literals. Of the NULLs in a UNIQUE key MySQL 9.7 finds one by `key <=> x`,
// where x is a parameter that is NULL; and of such an x in a list of rows see docs/compatibility.md, variables in conditions.
func (g *generator) withParameters(s string) string {
	if g.mysql && listOfRows.MatchString(s) {
		return s
	}
	s = g.replaced(s)
	if g.mysql {
		s = nullSafe.ReplaceAllString(s, "= $1")
	}
	return s
}

func (g *generator) replaced(s string) string {
	s = wholeNumber.ReplaceAllStringFunc(s, func(lit string) string {
		if g.oneIn(2) {
			return "x"
		}
		return lit
	})
	if g.foreign(s) {
		return s
	}
	return word.ReplaceAllStringFunc(s, func(lit string) string {
		if g.oneIn(2) {
			return "y"
		}
		return lit
	})
}

// foreign reports whether a text has strings that are not of the database's collation: see docs/compatibility.md, procedures.
func (g *generator) foreign(s string) bool {
	return strings.Contains(s, "x'") || slices.ContainsFunc(tableName.FindAllString(s, -1), func(name string) bool {
		return slices.ContainsFunc(g.tables, func(t *table) bool { return t.name == name && (t.column("uc") != nil || t.column("la") != nil) })
	})
}

// body is what a procedure does.
func (g *generator) body() string {
	var steps []string
	for range 1 + g.r.IntN(3) {
		steps = append(steps, g.step())
	}
	all := strings.Join(steps, " ")
	handler := ""
	// Of several faults one may be the handler's and another not, nor is on MariaDB a duplicate that an UPDATE with a join meets.
	if !strings.Contains(all, "INSERT") && !strings.Contains(all, "REPLACE") && (g.mysql || !joinedUpdate.MatchString(all)) {
		handler = g.chance("DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SET n = -1; END; ", 2)
	}
	if g.oneIn(5) {
		all = "START TRANSACTION; " + all + g.pick(" COMMIT;", " ROLLBACK;")
	}
	return "BEGIN DECLARE i INT DEFAULT 0; " + handler + all + " END"
}

func (g *generator) step() string {
	t := g.ordered()
	s := g.alone(t)
	switch g.r.IntN(8) {
	case 0:
		return "SELECT " + keysOf(t.name, t) + ", " + g.noLiteral(s, g.kind()) + " FROM " + t.name + " WHERE " + g.withParameters(g.pred(s, 1)) + ";"
	case 1:
		return "SELECT " + g.pick("COUNT(*)", "MAX("+g.noLiteral(s, number)+")") + " INTO n FROM " + t.name + " WHERE " + g.withParameters(g.pred(s, 1)) + ";"
	case 2:
		return "IF x " + g.pick(">", "<=", "=") + " " + fmt.Sprint(g.r.IntN(5)) + " THEN " + g.withParameters(g.write()) + "; ELSE SET n = x; END IF;"
	case 3:
		o := g.target()
		if g.mysql && o.column(o.kindOf(number)).kind != number {
			break // see docs/compatibility.md, variables in conditions
		}
		return "WHILE i < 3 DO SET i = i + 1; DELETE FROM " + o.name + " WHERE " + o.kindOf(number) + " = x + i; END WHILE; SET n = i;"
	case 4:
		g.names++ // Skarv refuses one name in two blocks
		return strings.NewReplacer("$k", fmt.Sprint("k", g.names), "$done", fmt.Sprint("done", g.names)).Replace("BEGIN DECLARE $k BIGINT; DECLARE $done INT DEFAULT 0; DECLARE c CURSOR FOR SELECT " + t.name + "." + t.kindOf(number) + " FROM " + t.name + " ORDER BY " + keysOf(t.name, t) +
			"; DECLARE CONTINUE HANDLER FOR NOT FOUND SET $done = 1; SET n = 0; OPEN c; l: LOOP FETCH c INTO $k; IF $done THEN LEAVE l; END IF; SET n = n * 2 % 1000 + COALESCE($k, 0) % 100; END LOOP; CLOSE c; END;")
	case 5:
		return "SELECT " + g.aggregate(s, number) + " AS r FROM " + t.name + ";"
	}
	return g.withParameters(g.write()) + ";"
}
