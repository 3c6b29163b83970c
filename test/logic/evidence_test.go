package logic

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"skarv/test/differ"
)

// Some differences are gone when the same statement is run over the same rows again, elsewhere or later: they hang on something that
// a story does not have, a plan that a server made by its statistics, or what a session has become. So everything that may
// tell is asked for at once, while the servers are as they were.

// evidence prints what may tell why s has differed. It changes no table; of a statement that writes nothing is run.
func (r *runner) evidence(s statement) {
	r.quiet = true
	defer func() { r.quiet = false }()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	text := plain(s.marked)
	r.t.Logf("before it, in this session:\n%s", indented(r.earlier))
	r.t.Logf("EXPLAIN by the cluster:\n%s", asked(ctx, r.many, "EXPLAIN "+text))
	r.t.Logf("EXPLAIN by the one server:\n%s", asked(ctx, r.one, "EXPLAIN "+text))
	r.t.Logf("variables of the session, other than the global ones: of the one server\n%sof the cluster\n%s", asked(ctx, r.one, r.changedVariables()), asked(ctx, r.many, r.changedVariables()))
	if s.writes {
		return
	}
	r.t.Logf("EXPLAIN ANALYZE by the cluster:\n%s", asked(ctx, r.many, "EXPLAIN ANALYZE "+text))
	r.t.Logf("once more:\n%s", r.onceMore(ctx, s))
	for group := 1; group <= groups; group++ {
		r.t.Logf("on node group %d it ran:\n%s", group, r.ranOn(ctx, group, s))
	}
}

// asked is what a server answers to a query, a row a line.
func asked(ctx context.Context, c *sql.Conn, query string) string {
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return indented([]string{err.Error()})
	}
	defer rows.Close()
	names, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		values, dest := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return indented(append(lines, err.Error()))
		}
		var line []string
		for i, v := range values {
			switch {
			case len(names) == 1:
				line = append(line, v.String)
			case v.Valid && v.String != "":
				line = append(line, names[i]+"="+v.String)
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	if rows.Err() != nil {
		lines = append(lines, rows.Err().Error())
	}
	return indented(lines)
}

func shown(o differ.Outcome) string {
	if o.Errno != 0 {
		return fmt.Sprintf("    %d %s\n", o.Errno, o.Err)
	}
	return indented(o.Rows)
}

// longest is what is shown of a line: a session may have a hundred user variables.
const longest = 1200

func indented(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("    " + l[:min(len(l), longest)] + "\n")
	}
	return b.String()
}

func (r *runner) changedVariables() string {
	from := "information_schema."
	if r.mysql {
		from = "performance_schema."
	}
	return "SELECT s.variable_name, s.variable_value FROM " + from + "session_variables s JOIN " + from + "global_variables g ON g.variable_name = s.variable_name WHERE s.variable_value <> g.variable_value"
}

// onceMore says which sessions still differ from what the one server answers now: this one, in each of the ways to join, and, outside of
// transactions, new ones, whose workspaces are on every node group.
func (r *runner) onceMore(ctx context.Context, s statement) string {
	var b strings.Builder
	wants := s.run(ctx, r.one)
	tell := func(what string, c *sql.Conn) {
		answer := "the same"
		for i, o := range s.run(ctx, c) {
			if i >= len(wants) || r.compare(&s, wants[i], o) != "" {
				answer = "other: " + strings.TrimSpace(shown(o))
			}
		}
		fmt.Fprintf(&b, "    %s: %s\n", what, answer)
	}
	tell("the session of the one server", r.one)
	tell("this session", r.many)
	for _, joins := range []string{"auto", "broadcast", "first", "queries", "workspace"} {
		if _, err := r.many.ExecContext(ctx, "SET skarv_joins = "+joins); err != nil {
			return b.String() + err.Error()
		}
		tell("this session, skarv_joins = "+joins, r.many)
	}
	if _, err := r.many.ExecContext(ctx, "SET skarv_joins = "+or(r.joining, "auto")); err != nil {
		return b.String() + err.Error()
	}
	if r.within {
		return b.String()
	}
	tell("a new session of the one server", r.fresh(ctx, r.server.DSN(r.db)))
	for range groups {
		c := r.fresh(ctx, r.cluster.DSN(r.db))
		if _, err := c.ExecContext(ctx, "SET skarv_joins = "+or(r.joining, "auto")); err != nil {
			return b.String() + err.Error()
		}
		tell("a new session of the cluster", c)
	}
	return b.String()
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// fresh is a new session with the settings that those of the runner have.
func (r *runner) fresh(ctx context.Context, dsn string) *sql.Conn {
	c := r.open(dsn)
	if !r.mysql {
		_, err := c.ExecContext(ctx, subqueryCacheOff)
		r.must(err, subqueryCacheOff)
	}
	return c
}

// logged is a statement in a server's log.
type logged struct{ thread, kind, text string }

var (
	reads    = regexp.MustCompile(`^\(*(SELECT|WITH)\b`)
	prepares = regexp.MustCompile(`^(SET|ALTER TABLE|ANALYZE LOCAL|(CREATE|DROP) TEMPORARY|INSERT INTO \S*skarv_copy_)`)
)

// ranOn runs s in this session once more and tells what node group's server was sent meanwhile by the connections that have to do
// with the worker's database. Each is then done again on a connection of its own; what a SELECT finds there, and by which plan, is told beside it.
func (r *runner) ranOn(ctx context.Context, group int, s statement) string {
	log := r.open(r.cluster.NodeGroup(group, r.db))
	for _, set := range []string{"SET GLOBAL log_output = 'TABLE'", "TRUNCATE TABLE mysql.general_log", "SET GLOBAL general_log = ON"} {
		if _, err := log.ExecContext(ctx, set); err != nil {
			return err.Error()
		}
	}
	outcome := s.run(ctx, r.many)
	if o := differ.Run(ctx, log, "SET GLOBAL general_log = OFF", false); o.Errno != 0 {
		return o.Err
	}
	rows, err := log.QueryContext(ctx, "SELECT thread_id, command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log")
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var all []logged
	ours := map[string]bool{}
	for rows.Next() {
		var x logged
		if err := rows.Scan(&x.thread, &x.kind, &x.text); err != nil {
			return err.Error()
		}
		ours[x.thread] = ours[x.thread] || strings.Contains(x.text, r.db)
		all = append(all, x)
	}
	if rows.Err() != nil {
		return rows.Err().Error()
	}
	all = slices.DeleteFunc(all, func(x logged) bool { return !ours[x.thread] })
	var b strings.Builder
	fmt.Fprintf(&b, "    (the cluster's answer: %s)\n", strings.TrimSpace(shown(outcome[0])))
	again := map[string]*sql.Conn{}
	for _, x := range all {
		b.WriteString(indented([]string{x.thread + " " + x.kind + ": " + x.text}))
		if x.kind != "Query" && x.kind != "Execute" || r.within {
			continue
		}
		c := again[x.thread]
		if c == nil {
			c = r.fresh(ctx, r.cluster.NodeGroup(group, r.db))
			again[x.thread] = c
		}
		switch {
		case reads.MatchString(x.text):
			b.WriteString(asked(ctx, c, "EXPLAIN "+x.text))
			o := differ.RunAsIs(ctx, c, x.text, false)
			fmt.Fprintf(&b, "        done again: %d rows %s\n", len(o.Rows), o.Err)
		case prepares.MatchString(x.text):
			if o := differ.RunAsIs(ctx, c, x.text, false); o.Errno != 0 && o.Errno != differ.Broken {
				fmt.Fprintf(&b, "        done again: %d %s\n", o.Errno, o.Err)
			}
		}
	}
	return b.String()
}
