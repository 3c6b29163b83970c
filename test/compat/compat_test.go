// Package compat runs statements on one plain server and on a Skarv cluster of four node groups of the same servers,
// as text and prepared, and compares what a client sees: rows, column names and types, affected rows, insert ids and
// error numbers; on MariaDB also all else of the definitions of columns, warnings, and errors as they are worded, but for what sent_test.go
// allows. The statements are in testdata, one story a file (see test/differ/story.go for the marks).
//
// With -write-coverage it notes how the statements of the stories that run as text ran, and writes that into docs/sql-coverage.md.
//
// Stories about joins run with each way of joining in turn.
package compat

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
	"skarv/test/differ"
)

var writeCoverage = flag.Bool("write-coverage", false, "write docs/sql-coverage.md from what the stories show")

func TestCompat(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	cluster.AllowLocalFiles(t, one, many, 4)
	if *writeCoverage {
		watch := watchStories(t, many)
		for _, file := range files {
			runStory(t, file, differ.Play{Joins: "auto", Watch: watch.of(file)}, one, many)
		}
		for _, joins := range []string{"broadcast", "queries"} { // which small tables do not show
			for _, name := range []string{"joins", "copies", "queries", "workspace"} {
				file := "testdata/" + name + ".sql"
				runStory(t, file, differ.Play{Joins: joins, Watch: watch.of(file)}, one, many)
			}
		}
		watch.write()
		return
	}
	for _, mode := range []string{"text", "prepared"} {
		for _, file := range files {
			t.Run(mode+"/"+strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
				runStory(t, file, differ.Play{Prepared: mode == "prepared", Joins: "auto"}, one, many)
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
					runStory(t, "testdata/"+name+".sql", differ.Play{Prepared: mode == "prepared", Joins: joins}, one, many)
				})
			}
		}
	}
}

func runStory(t *testing.T, file string, play differ.Play, one *cluster.Server, many *cluster.Cluster) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	story, err := differ.ParseStory(string(text), string(cluster.TestEngine()))
	require.NoError(t, err, file)
	a, b := connect(t, one.DSN("")), connect(t, many.DSN(""))
	unsorted := slices.Contains([]string{"derived", "fulltext", "viewcopies"}, strings.TrimSuffix(filepath.Base(file), ".sql")) // nobody has looked at them yet
	if play.Joins == "auto" && play.Watch == nil && cluster.TestEngine() == datanode.MariaDB && !unsorted {
		play.Allowed = func(s *differ.Step, d differ.Difference) bool { return allowed(s, d) != "" }
	}
	play.As = func(account string) (differ.Conn, differ.Conn, func(), error) {
		c, err := differ.Open(t.Context(), as(t, one.DSN(""), account))
		if err != nil {
			return nil, nil, nil, err
		}
		d, err := differ.Open(t.Context(), as(t, many.DSN(""), account))
		return c, d, func() { _ = c.Close(); _ = d.Close() }, err
	}
	err = play.Run(t.Context(), a, b, "compat", story, func(s differ.Step, fault string) {
		t.Errorf("%s:%d: %s\n%s", file, s.Line, s.SQL, fault)
	})
	require.NoError(t, err)
}

// as is dsn for an account whose password is its name.
func as(t *testing.T, dsn, account string) string {
	cfg, err := mysql.ParseDSN(dsn)
	require.NoError(t, err)
	cfg.User, cfg.Passwd = account, account
	return cfg.FormatDSN()
}

func connect(t *testing.T, dsn string) *differ.Client {
	c, err := differ.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
