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

var token = regexp.MustCompile(litStart + `[^` + litEnd + `]*` + litEnd + `|'[^']*'|[\w.]+|\s+|[^\w\s]`)

// shrink takes away rows, tables and words as long as the servers differ, and returns a story and the last statement
// with what differs. diff is what differs now.
func (r *runner) shrink(s statement, rows tables, diff string) (story, last string) {
	deadline := time.Now().Add(shrinkBudget)
	r.quiet = true
	defer func() { r.quiet = false }()
	used := r.involved(s)
	strict := r.groups(s)
	lastDiff, answered := "", true
	differs := func(s statement, rows tables) bool {
		if time.Now().After(deadline) || !r.fill(rows, used) {
			return false
		}
		d := r.differ(s)
		if d == "" || strings.Contains(d, "error: one server 1064") || strict && !r.groups(s) {
			return false
		}
		if answered && strings.Contains(d, noAnswer) { // another fault, which is not looked for
			r.found.Add(1)
			r.t.Errorf("while a difference was made smaller:\n%s\n%s%s", plain(s.marked), d, r.story(rows, used))
			return false
		}
		lastDiff = d
		return true
	}
	answered = !strings.Contains(diff, noAnswer)
	if !differs(s, rows) {
		return fmt.Sprintf("-- not seen again over the same rows:\n%s", r.story(rows, used)), plain(s.marked)
	}
	for _, mode := range []int{asText, prepared, parametric} {
		try := s
		if try.mode = mode; differs(try, rows) {
			s = try
			break
		}
	}
	for n := 8; n >= 1; n /= 2 {
		for _, t := range used {
			for i := 0; i < len(rows[t.name]); {
				fewer := tables{}
				for k, v := range rows {
					fewer[k] = v
				}
				have := rows[t.name]
				fewer[t.name] = append(append([]string(nil), have[:i]...), have[min(i+n, len(have)):]...)
				if differs(s, fewer) {
					rows = fewer
				} else {
					i += n
				}
			}
		}
	}
	words := token.FindAllString(s.marked, -1)
	for n := len(words) / 2; n >= 1; n-- {
		if n > 30 && n%4 > 0 {
			continue
		}
		for i := 0; i+n <= len(words); {
			try := s
			fewer := append(append([]string(nil), words[:i]...), words[i+n:]...)
			try.marked = strings.Join(fewer, "")
			cut := strings.Join(words[i:i+n], "")
			if strings.TrimSpace(cut) != "" && balanced(cut) && (!strings.Contains(try.marked, "LIMIT") || !strings.Contains(cut, "ORDER")) && differs(try, rows) {
				s, words = try, fewer
			} else {
				i++
			}
		}
	}
	differs(s, rows)
	return r.story(rows, used), plain(s.marked) + ";\n" + fmt.Sprintf("-- mode %d\n%s", s.mode, lastDiff)
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

func (r *runner) story(rows tables, used []*table) string {
	var b strings.Builder
	for _, t := range used {
		b.WriteString(t.create() + ";\n")
		if len(rows[t.name]) > 0 {
			b.WriteString("INSERT INTO " + t.name + " (" + names(t) + ") VALUES " + strings.Join(rows[t.name], ",") + ";\n")
		}
	}
	return b.String()
}
