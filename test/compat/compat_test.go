// Package compat runs statements on one plain server and on a Skarv cluster of four node groups of the same servers,
// as text and prepared, and compares what a client sees: rows, column names and types, affected rows, insert ids and
// error numbers. The statements are in testdata, one story a file:
//
//	-- refused: why        the next statement must be refused by the cluster with error 1235; the other server skips it
//	-- gap: why            the next statement differs for a known reason; it is an error once it does not
//	-- unordered           (default without ORDER BY) rows are compared as a set; "ordered" otherwise
//	-- only: mariadb       the next statement is for that kind of server
//	-- skip-prepared       the next statement is run as text only
package compat

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// statement is one step of a story.
type statement struct {
	line         int
	sql          string
	refused, gap string
	only         string
	textOnly     bool
}

func TestCompat(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	for _, mode := range []string{"text", "prepared"} {
		for _, file := range files {
			t.Run(mode+"/"+strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
				runStory(t, file, mode == "prepared", one, many)
			})
		}
	}
}

// outcome is what a client sees of one statement.
type outcome struct {
	columns  []string
	rows     []string
	affected int64
	insertID int64
	errno    uint16
	err      string
}

func runStory(t *testing.T, file string, prepared bool, one *cluster.Server, many *cluster.Cluster) {
	story := readStory(t, file)
	a, b := connect(t, one.DSN("")), connect(t, many.DSN(""))
	for _, setup := range []string{"DROP DATABASE IF EXISTS compat", "CREATE DATABASE compat", "USE compat"} {
		_, err := a.ExecContext(t.Context(), setup)
		require.NoError(t, err)
		_, err = b.ExecContext(t.Context(), setup)
		require.NoError(t, err, setup)
	}
	for _, s := range story {
		if s.only != "" && s.only != string(cluster.TestEngine()) {
			continue
		}
		where := fmt.Sprintf("%s:%d: %s", file, s.line, s.sql)
		got := run(t.Context(), b, s, prepared && !s.textOnly)
		if s.refused != "" { // the other server does not run it either: the story goes on from equal tables
			require.Equal(t, uint16(1235), got.errno, "%s\nmust be refused: %s, got %+v", where, s.refused, got)
			continue
		}
		want := run(t.Context(), a, s, prepared && !s.textOnly)
		diff := compare(want, got)
		switch {
		case s.gap != "" && diff == "":
			t.Errorf("%s\nthe gap %q is closed: remove the mark", where, s.gap)
		case s.gap == "" && diff != "":
			t.Errorf("%s\n%s", where, diff)
		}
	}
}

func connect(t *testing.T, dsn string) *sql.Conn {
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var returnsRows = regexp.MustCompile(`(?is)^\s*\(*\s*(SELECT|SHOW|DESC|DESCRIBE|WITH|VALUES|TABLE|CHECK|ANALYZE|CHECKSUM)\b|\bRETURNING\b`)
var ordered = regexp.MustCompile(`(?is)\bORDER\s+BY\b`)

func run(ctx context.Context, c *sql.Conn, s statement, prepared bool) (o outcome) {
	fail := func(err error) outcome {
		var me *mysql.MySQLError
		if errors.As(err, &me) {
			o.errno = me.Number
		} else {
			o.errno = 1
		}
		o.err = err.Error()
		return o
	}
	if !returnsRows.MatchString(s.sql) {
		var r sql.Result
		var err error
		if prepared {
			st, perr := c.PrepareContext(ctx, s.sql)
			if perr != nil {
				return fail(perr)
			}
			defer st.Close()
			r, err = st.ExecContext(ctx)
		} else {
			r, err = c.ExecContext(ctx, s.sql)
		}
		if err != nil {
			return fail(err)
		}
		o.affected, _ = r.RowsAffected()
		o.insertID, _ = r.LastInsertId()
		return o
	}
	var rows *sql.Rows
	var err error
	if prepared {
		st, perr := c.PrepareContext(ctx, s.sql)
		if perr != nil {
			return fail(perr)
		}
		defer st.Close()
		rows, err = st.QueryContext(ctx)
	} else {
		rows, err = c.QueryContext(ctx, s.sql)
	}
	if err != nil {
		return fail(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return fail(err)
	}
	for _, ct := range types {
		p, scale, _ := ct.DecimalSize()
		null, _ := ct.Nullable()
		o.columns = append(o.columns, fmt.Sprintf("%s %s(%d,%d) null=%t", ct.Name(), ct.DatabaseTypeName(), p, scale, null))
	}
	values := make([]sql.RawBytes, len(types))
	dest := make([]any, len(types))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fail(err)
		}
		var row []string
		for _, v := range values {
			if v == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, fmt.Sprintf("%q", v))
			}
		}
		o.rows = append(o.rows, strings.Join(row, " | "))
	}
	if err := rows.Err(); err != nil {
		return fail(err)
	}
	if !ordered.MatchString(s.sql) {
		sort.Strings(o.rows)
	}
	return o
}

func compare(want, got outcome) string {
	var d strings.Builder
	line := func(what string, w, g any) {
		if fmt.Sprint(w) != fmt.Sprint(g) {
			fmt.Fprintf(&d, "  %s: one server %v, cluster %v\n", what, w, g)
		}
	}
	if want.errno != got.errno {
		fmt.Fprintf(&d, "  error: one server %d %s, cluster %d %s\n", want.errno, want.err, got.errno, got.err)
		return d.String()
	}
	line("columns", strings.Join(want.columns, ", "), strings.Join(got.columns, ", "))
	line("affected rows", want.affected, got.affected)
	line("insert id", want.insertID, got.insertID)
	line("rows", len(want.rows), len(got.rows))
	for i := range min(len(want.rows), len(got.rows)) {
		if want.rows[i] != got.rows[i] {
			line(fmt.Sprintf("row %d", i), want.rows[i], got.rows[i])
			break
		}
	}
	return d.String()
}

// readStory splits a file into statements; a statement ends with a semicolon at the end of a line.
func readStory(t *testing.T, file string) (story []statement) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var s statement
	var sqlText []string
	for i, line := range strings.Split(string(text), "\n") {
		trimmed := strings.TrimSpace(line)
		if len(sqlText) == 0 {
			if mark, ok := strings.CutPrefix(trimmed, "-- "); ok {
				key, value, _ := strings.Cut(mark, ":")
				value = strings.TrimSpace(value)
				switch key {
				case "refused":
					s.refused = value
				case "gap":
					s.gap = value
				case "only":
					s.only = value
				case "skip-prepared":
					s.textOnly = true
				}
				continue
			}
			if trimmed == "" {
				continue
			}
			s.line = i + 1
		}
		sqlText = append(sqlText, line)
		if strings.HasSuffix(trimmed, ";") {
			s.sql = strings.TrimSuffix(strings.TrimSpace(strings.Join(sqlText, "\n")), ";")
			story = append(story, s)
			s, sqlText = statement{}, nil
		}
	}
	require.Empty(t, sqlText, "%s: the last statement has no end", file)
	return story
}
