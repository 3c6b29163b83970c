package logic

import (
	"regexp"
	"strings"
)

// act plays statements that belong together, each of which is compared: a transaction, or the life of a temporary table, a trigger, a
// stored function, a procedure. Its rows are those of all tables when it began.
type act struct {
	*runner
	seed    uint64
	i       int
	episode episode
}

func (r *runner) act(seed uint64, i int) {
	a := &act{r, seed, i, episode{rows: r.dump(r.g.tables)}}
	defer func() { r.g.favoured, r.g.function, r.g.hidden = nil, function{}, map[string]string{} }()
	switch r.g.r.IntN(12) {
	case 0:
		a.trigger()
	case 1:
		a.function()
	case 2, 3:
		a.procedure()
	case 4, 5:
		a.temporary()
	default:
		a.transaction()
	}
}

// do runs a statement, and ends the round if the servers are no longer alike.
func (a *act) do(s statement) {
	a.episode.steps = append(a.episode.steps, s)
	if diff := a.differ(s); diff != "" {
		a.report(a.seed, a.i, a.episode, diff)
	}
}

// control runs a statement as text that writes nothing.
func (a *act) control(sql string) { a.do(statement{marked: sql}) }

// change runs a statement as text, and compares its tables afterwards.
func (a *act) change(sql string) { a.do(statement{marked: sql, writes: true}) }

// some is the next statement for which fits holds, or any if there is none soon.
func (a *act) some(next func() statement, fits func(s statement) bool) (s statement) {
	for range 20 {
		if s = next(); fits(s) {
			break
		}
	}
	return s
}

// write is a write of one table, or of several, in some mode.
func (a *act) write() statement {
	g := a.g
	s := a.next()
	for !s.writes || strings.HasSuffix(s.marked, "FOR UPDATE") {
		g.names, g.vague, g.file = 0, false, ""
		s.marked, s.writes, s.vague, s.file = g.write(), true, false, g.file
		if s.mode = min(s.mode, executed); s.file != "" {
			s.mode = asText
		}
	}
	return s
}

// transaction is several statements between BEGIN and its end, with savepoints.
func (a *act) transaction() {
	g := a.g
	a.control(g.pick("BEGIN", "START TRANSACTION"))
	saved, prose := false, false
	do := func(s statement) {
		prose = prose || s.writes && strings.Contains(s.marked, proseTable)
		a.do(s)
	}
	for range 2 + g.r.IntN(5) {
		switch {
		case g.oneIn(5):
			saved = true
			a.control("SAVEPOINT sp")
		case saved && g.oneIn(4) && (a.mysql || !prose): // behind it, servers of MariaDB forget words of a table with FULLTEXT keys
			a.control("ROLLBACK TO sp")
		case g.oneIn(3):
			do(a.write())
		default:
			do(a.next())
		}
	}
	a.control(g.pick("COMMIT", "ROLLBACK", "ROLLBACK"))
	for _, t := range g.tables {
		if t.view == "" {
			a.control("SELECT * FROM " + t.name)
		}
	}
}

// The names of what acts make.
const (
	temporaryName = "t90"
	triggerName   = "tr1"
	functionName  = "f1"
	procedureName = "p1"
)

// temporaryUse matches a temporary table's name where it is not that of a column's table.
var temporaryUse = regexp.MustCompile(`\b` + temporaryName + `(?:[^.\w]|$)`)

// temporary is a temporary table's life.
func (a *act) temporary() {
	g := a.g
	t := g.temporary()
	a.control("DROP TEMPORARY TABLE IF EXISTS " + t.name)
	if a.change(t.create()); !a.worked {
		return
	}
	g.tables, g.favoured = append(g.tables, t), t
	defer func() { g.tables = g.tables[:len(g.tables)-1] }()
	if insert := g.firstRows(t); insert != "" {
		a.change(insert)
	}
	fits := func(s statement) bool {
		n := len(temporaryUse.FindAllString(plain(s.marked), -1))
		return n == 1 || n > 1 && !g.mysql // which refuses it, and Skarv need not: see docs/compatibility.md
	}
	for range 4 + g.r.IntN(6) {
		if s := a.some(a.next, fits); fits(s) {
			a.do(s)
		}
	}
	a.control("DROP TEMPORARY TABLE " + t.name)
}

// trigger is a trigger's life: writes that fire it, none of which uses a table that it writes to, which one server refuses (1442) even where no row fires it.
func (a *act) trigger() {
	g := a.g
	t := g.orderedBase()
	head, body := g.trigger(t)
	if a.control("SET @n = 0"); g.oneIn(8) {
		body = "SET @n = @n + 1"
	}
	if a.change("CREATE TRIGGER " + triggerName + " " + head + " FOR EACH ROW " + body); !a.worked {
		return
	}
	others := tableName.FindAllString(body, -1)
	g.hidden[t.name], g.favoured = body, t
	for range 3 + g.r.IntN(4) {
		s := a.some(a.write, func(s statement) bool { return fires(s.marked, t.name, others) })
		if !fires(s.marked, t.name, others) {
			continue
		}
		a.do(s)
		a.control("SELECT CAST(@n AS CHAR(30)) AS n") // the type of NULL in a variable: see docs/compatibility.md
	}
	a.change("DROP TRIGGER " + triggerName)
}

// fires reports whether a statement names a table, and none of others.
func fires(text, table string, others []string) bool {
	var named bool
	for _, n := range tableName.FindAllString(text, -1) {
		named = named || n == table
		for _, o := range others {
			if n == o || strings.HasPrefix(n, "v") {
				return false
			}
		}
	}
	return named
}

// function is a stored function's life.
func (a *act) function() {
	g := a.g
	f := g.storedFunction()
	if a.change(f.create); !a.worked {
		return
	}
	g.function, g.hidden[f.name] = f, f.create
	for range 4 + g.r.IntN(4) {
		a.do(a.some(a.next, func(s statement) bool { return strings.Contains(s.marked, f.name+"(") }))
	}
	a.change("DROP FUNCTION " + f.name)
}

// procedure is a procedure's life.
func (a *act) procedure() {
	g := a.g
	g.names, g.vague = 0, false
	body := plain(g.body())
	vague := g.vague
	if a.change("CREATE PROCEDURE " + procedureName + "(x INT, y VARCHAR(10), OUT n BIGINT) " + body); !a.worked {
		return
	}
	g.hidden[procedureName] = body
	for range 2 + g.r.IntN(2) {
		call := "CALL " + procedureName + "(" + g.value(&column{}, true) + ", " + g.value(&column{kind: text}, true) + ", @n)"
		a.do(statement{marked: call, writes: true, vague: vague, mode: []int{asText, asText, parametric, executed, variables}[g.r.IntN(5)], seed: g.r.Uint64()})
		a.control("SELECT CAST(@n AS CHAR(30)) AS n") // the type of NULL in a variable: see docs/compatibility.md
	}
	a.change("DROP PROCEDURE " + procedureName)
}
