// Package compat runs statements on one plain server and on a Skarv cluster of four node groups of the same servers,
// as text and prepared, and compares what a client sees: rows, column names and types, affected rows, insert ids and
// error numbers. The statements are in testdata, one story a file (see test/differ/story.go for the marks).
//
// Stories about joins run with each way of joining in turn.
package compat

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/differ"
)

func TestCompat(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	cluster.AllowLocalFiles(t, one, many, 4)
	for _, mode := range []string{"text", "prepared"} {
		for _, file := range files {
			t.Run(mode+"/"+strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
				runStory(t, file, mode == "prepared", "auto", one, many)
			})
		}
	}
	// What is chosen by the sizes of tables must be right whatever is chosen.
	for _, joins := range []string{"broadcast", "first", "queries"} {
		for _, name := range []string{"joins", "copies", "join", "queries", "trouble", "workspace", "workspace_types", "viewcopies", "derived"} {
			if only := joins == "queries"; only && name != "queries" && name != "copies" && name != "workspace" && name != "viewcopies" && name != "derived" {
				continue
			}
			for _, mode := range []string{"text", "prepared"} {
				if mode == "prepared" && name != "joins" && name != "workspace_types" && name != "queries" && name != "viewcopies" {
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
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	story, err := differ.ParseStory(string(text), string(cluster.TestEngine()))
	require.NoError(t, err, file)
	a, b := connect(t, one.DSN("")), connect(t, many.DSN(""))
	err = differ.Play{Prepared: prepared, Joins: joins}.Run(t.Context(), a, b, "compat", story, func(s differ.Step, fault string) {
		t.Errorf("%s:%d: %s\n%s", file, s.Line, s.SQL, fault)
	})
	require.NoError(t, err)
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
