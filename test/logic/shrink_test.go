package logic

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"

	"skarv/test/differ"
)

// tables are the rows of every table, written as values.
type tables map[string][]string

// dump reads the one server's tables.
func (r *runner) dump(all []*table) tables {
	d := tables{}
	for _, t := range all {
		if t.view != "" {
			continue
		}
		rows, err := r.one.QueryContext(r.t.Context(), "SELECT * FROM "+t.name)
		r.must(err, t.name)
		for rows.Next() {
			dest := make([]any, len(t.columns))
			for i := range dest {
				dest[i] = new(sql.NullString)
			}
			r.must(rows.Scan(dest...), t.name)
			var row []string
			for i, v := range dest {
				s := v.(*sql.NullString)
				switch {
				case !s.Valid:
					row = append(row, "NULL")
				case t.columns[i].kind == bits || t.columns[i].kind == bytesOf:
					row = append(row, fmt.Sprintf("x'%x'", s.String))
				case t.columns[i].kind != number && t.columns[i].kind != decimal && t.columns[i].kind != real && t.columns[i].kind != unsigned && t.columns[i].kind != big:
					row = append(row, "'"+strings.NewReplacer("'", "''", `\`, `\\`).Replace(s.String)+"'")
				default:
					row = append(row, s.String)
				}
			}
			d[t.name] = append(d[t.name], "("+strings.Join(row, ",")+")")
		}
		r.must(rows.Err(), t.name)
	}
	return d
}

// fill makes both servers' tables have these rows; false if they cannot.
func (r *runner) fill(d tables, used []*table) bool {
	r.both("SET SESSION foreign_key_checks = 0")
	defer r.both("SET SESSION foreign_key_checks = 1")
	for _, t := range used {
		if t.view != "" {
			continue
		}
		stmts := []string{"DELETE FROM " + t.name}
		if rows := d[t.name]; len(rows) > 0 {
			stmts = append(stmts, "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
				"INSERT INTO "+t.name+" ("+names(t)+") VALUES "+strings.Join(rows, ","), "SET SESSION sql_mode = DEFAULT")
		}
		for _, s := range stmts {
			for _, c := range []*sql.Conn{r.one, r.many} {
				if _, err := c.ExecContext(r.t.Context(), s); err != nil {
					return false
				}
			}
		}
	}
	return true
}

func names(t *table) string {
	var n []string
	for _, c := range t.columns {
		n = append(n, c.name)
	}
	return strings.Join(n, ", ")
}

var bothErrors = regexp.MustCompile(`error: one server (\d+)(?s:.*), cluster (\d+)`)

var token = regexp.MustCompile(litStart + `[^` + litEnd + `]*` + litEnd + `|'[^']*'|[\w.]+|\s+|[^\w\s]`)

// shrink takes away steps, rows and words as long as the servers differ, and returns what is left with what then differs. diff is what
// differs now.
func (r *runner) shrink(e episode, diff string) (small episode, last string) {
	deadline := time.Now().Add(r.shrinking * time.Duration(min(len(e.steps), 4)))
	r.quiet = true
	defer func() { r.quiet = false }()
	final := func(e episode) statement { return e.steps[len(e.steps)-1] }
	strict := r.groups(final(e))
	lastDiff, answered, errors := "", true, bothErrors.FindStringSubmatch(diff)
	differs := func(e episode) bool {
		if time.Now().After(deadline) || !r.reset(e) {
			return false
		}
		d := ""
		for i, s := range e.steps {
			if d = r.differ(s); d != "" && i < len(e.steps)-1 {
				return false // another difference
			}
		}
		if d == "" || strings.Contains(d, "error: one server 1064") || strict && !r.groups(final(e)) {
			return false
		}
		if e := bothErrors.FindStringSubmatch(d); answered && !strings.Contains(d, noAnswer) && (len(e) != len(errors) || len(e) > 0 && (e[1] != errors[1] || e[2] != errors[2])) {
			return false // another difference
		}
		if answered && strings.Contains(d, noAnswer) { // another fault, which is not looked for
			r.found.Add(1)
			r.t.Errorf("while a difference was made smaller:\n%s\n%s", d, e.story())
			return false
		}
		lastDiff = d
		return true
	}
	answered = !strings.Contains(diff, noAnswer)
	if !differs(e) {
		return e, "not seen again over the same rows:\n" + diff
	}
	for i := 0; i < len(e.steps)-1; {
		if try := e.without(i, 1); differs(try) {
			e = try
		} else {
			i++
		}
	}
	e = simplest(e, differs)
	for n := 8; n >= 1; n /= 2 {
		for _, t := range e.used {
			for i := 0; i < len(e.rows[t.name]); {
				if try := e.fewer(t, i, n); differs(try) {
					e = try
				} else {
					i += n
				}
			}
		}
	}
	words := token.FindAllString(final(e).marked, -1)
	for n := len(words) / 2; n >= 1 && final(e).file == ""; n-- {
		if n > 30 && n%4 > 0 {
			continue
		}
		for i := 0; i+n <= len(words); {
			s := final(e)
			fewer := append(append([]string(nil), words[:i]...), words[i+n:]...)
			s.marked = strings.Join(fewer, "")
			cut := strings.Join(words[i:i+n], "")
			if strings.TrimSpace(cut) != "" && balanced(cut) && (!strings.Contains(s.marked, "LIMIT") || !strings.Contains(cut, "ORDER")) && differs(e.last(s)) {
				e, words = e.last(s), fewer
			} else {
				i++
			}
		}
	}
	differs(e)
	e.used = r.used(e.steps)
	return e, lastDiff
}

// simplest is the episode with its last step run in the simplest way that differs.
func simplest(e episode, differs func(episode) bool) episode {
	s := e.steps[len(e.steps)-1]
	if s.file != "" {
		return e
	}
	for _, joins := range []string{"auto", s.joins} {
		for _, mode := range []int{asText, prepared, parametric} {
			try := s
			try.joins, try.mode = joins, mode
			if joins == s.joins && mode == s.mode || mode != asText && textOnly.MatchString(s.marked) {
				continue
			}
			if differs(e.last(try)) {
				return e.last(try)
			}
		}
	}
	return e
}

// reset takes back what the steps have made, and fills the tables.
func (r *runner) reset(e episode) bool {
	r.both("ROLLBACK")
	r.within = false
	if len(e.steps) > 1 {
		for _, what := range []string{"TEMPORARY TABLE IF EXISTS " + temporaryName, "TRIGGER IF EXISTS " + triggerName, "FUNCTION IF EXISTS " + functionName,
			"PROCEDURE IF EXISTS " + procedureName} {
			r.both("DROP " + what)
		}
	}
	return r.fill(e.rows, e.used)
}

func balanced(s string) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// groups reports that the one server finds no column beside groups: else any of several answers would be right.
func (r *runner) groups(s statement) bool {
	if _, err := r.one.ExecContext(r.t.Context(), "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ONLY_FULL_GROUP_BY')"); err != nil {
		return false
	}
	o := differ.Run(r.t.Context(), r.one, "EXPLAIN "+plain(s.marked), false)
	_, err := r.one.ExecContext(r.t.Context(), "SET SESSION sql_mode = DEFAULT")
	return err == nil && o.Errno == 0
}
