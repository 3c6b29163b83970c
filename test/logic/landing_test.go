package logic

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/differ"
)

// expecting is a test that takes differences for what they are: not its own failures.
type expecting struct {
	*testing.T
	told []string
}

func (e *expecting) Errorf(format string, args ...any) {
	e.told = append(e.told, fmt.Sprintf(format, args...))
}

// TestDifferenceLands has the one server answer wrongly, with more digits of a quotient than the cluster's have: a statement alone, and one in
// a transaction. Each must become a story, a small one, that shows the fault when it is played, and none once the server is right.
func TestDifferenceLands(t *testing.T) {
	c := newCampaign(t)
	c.stories, c.shrinking = t.TempDir(), 5*time.Minute // till it is as small as it becomes
	told := &expecting{T: t}
	r := &runner{campaign: c, t: told, db: "logic0"}
	set := func(digits string) {
		_, err := c.server.DB(t, "").ExecContext(t.Context(), "SET GLOBAL div_precision_increment = "+digits)
		require.NoError(t, err)
	}
	set("7")
	r.ready()
	r.begin(&generator{r: rand.New(rand.NewPCG(1, 7)), mysql: c.mysql, tables: []*table{{name: "t1", columns: []column{{name: "id", def: "INT"}}, key: []string{"id"}}}})
	r.both("REPLACE INTO t1 VALUES (1), (2), (3), (4), (5)")
	ends := func(run func()) {
		t.Helper()
		require.PanicsWithValue(t, roundOver{}, run, "no difference")
	}
	ends(func() {
		r.try(statement{marked: "SELECT t1.id, t1.id / \x013\x02 AS q FROM t1 WHERE t1.id > \x010\x02", mode: parametric, joins: "queries"}, 1, 10)
	})
	ends(func() {
		a := &act{r, 1, 20, episode{rows: r.dump(r.g.tables)}}
		a.control("BEGIN")
		a.change("DELETE FROM t1 WHERE id > 2")
		a.control("SAVEPOINT sp")
		a.control("SELECT AVG(id) FROM t1")
	})
	require.Len(t, told.told, 2)
	require.False(t, r.within)

	play := func(file string) (faults []string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		story, err := differ.ParseStory(string(text), string(cluster.TestEngine()))
		require.NoError(t, err)
		err = differ.Play{Joins: "auto"}.Run(t.Context(), r.open(c.server.DSN("")), r.open(c.cluster.DSN("")), "played", story, func(s differ.Step, fault string) {
			faults = append(faults, s.SQL+"\n"+fault)
		})
		require.NoError(t, err)
		return faults
	}
	files, err := filepath.Glob(filepath.Join(c.stories, "found_*.sql"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for i, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "-- found: columns: one server", "the head tells what differed")
		require.NotContains(t, string(text), "WHERE", "it is small")
		require.Len(t, play(file), 1, "%s\n%s", file, text)
		if i == 1 {
			require.NotContains(t, string(text), "SAVEPOINT")
		}
	}
	set("DEFAULT")
	for _, file := range files {
		require.Empty(t, play(file), file)
	}
}
