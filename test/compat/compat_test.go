// Package compat runs statements on one plain server and on a Skarv cluster of four node groups of the same servers,
// as text and prepared, and compares what a client sees: rows, column names and types, affected rows, insert ids and
// error numbers. The statements are in testdata, one story a file:
//
//	-- refused: why        the next statement must be refused by the cluster with error 1235; the other server skips it
//	-- gap: why            the next statement differs for a known reason; it is an error once it does not
//	-- unordered           (default without ORDER BY) rows are compared as a set; "ordered" otherwise
//	-- only: mariadb       the next statement is for that kind of server
//	-- story: mariadb      all of the story is
//	-- skip-prepared       the next statement is run as text only
//	-- args: [1, "x"]      the next statement is always prepared, with these parameters
//	-- auto: why           the next statement is not run where skarv_joins is set
//
// Stories about joins run with each way of joining in turn.
package compat

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/differ"
)

// statement is one step of a story.
type statement struct {
	line         int
	sql          string
	refused, gap string
	only         string
	textOnly     bool
	args         []any
	auto         bool
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
				runStory(t, file, mode == "prepared", "auto", one, many)
			})
		}
	}
	// What is chosen by the sizes of tables must be right whatever is chosen.
	for _, joins := range []string{"broadcast", "first", "queries"} {
		for _, name := range []string{"joins", "copies", "join", "queries", "trouble", "workspace", "workspace_types"} {
			if only := joins == "queries"; only && name != "queries" && name != "copies" && name != "workspace" {
				continue
			}
			for _, mode := range []string{"text", "prepared"} {
				if mode == "prepared" && name != "joins" && name != "workspace_types" && name != "queries" {
					continue
				}
				t.Run(joins+"/"+mode+"/"+name, func(t *testing.T) {
					runStory(t, "testdata/"+name+".sql", mode == "prepared", joins, one, many)
				})
			}
		}
	}
}

// runStory runs a story with skarv_joins set to joins.
func runStory(t *testing.T, file string, prepared bool, joins string, one *cluster.Server, many *cluster.Cluster) {
	story := readStory(t, file)
	a, b := connect(t, one.DSN("")), connect(t, many.DSN(""))
	for _, setup := range []string{"DROP DATABASE IF EXISTS compat", "CREATE DATABASE compat", "USE compat"} {
		_, err := a.ExecContext(t.Context(), setup)
		require.NoError(t, err)
		_, err = b.ExecContext(t.Context(), setup)
		require.NoError(t, err, setup)
	}
	if _, err := b.ExecContext(t.Context(), "SET skarv_joins = "+joins); err != nil {
		t.Fatal(err)
	}
	for _, s := range story {
		if s.only != "" && s.only != string(cluster.TestEngine()) || s.auto && joins != "auto" {
			continue
		}
		where := fmt.Sprintf("%s:%d: %s", file, s.line, s.sql)
		asPrepared := s.args != nil || prepared && !s.textOnly
		got := differ.Run(t.Context(), b, s.sql, asPrepared, s.args...)
		if s.refused != "" { // the other server does not run it either: the story goes on from equal tables
			require.Equal(t, uint16(1235), got.Errno, "%s\nmust be refused: %s, got %+v", where, s.refused, got)
			continue
		}
		want := differ.Run(t.Context(), a, s.sql, asPrepared, s.args...)
		diff := differ.Compare(want, got)
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
				case "story":
					if value != string(cluster.TestEngine()) {
						return nil
					}
				case "args":
					require.NoError(t, json.Unmarshal([]byte(value), &s.args), "%s:%d", file, i+1)
					for j, a := range s.args {
						if f, ok := a.(float64); ok && f == float64(int64(f)) && !strings.Contains(value, ".") {
							s.args[j] = int64(f)
						}
					}
				case "auto":
					s.auto = true
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
