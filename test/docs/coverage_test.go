package docs

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/coverage"
)

// TestCoverage keeps the table of docs/sql-coverage.md that needs no server, and holds that of constructs, which test/compat writes, against
// the tests. The tables of queries are written by test/tpch, which runs them.
func TestCoverage(t *testing.T) {
	text, err := os.ReadFile("../../docs/sql-coverage.md")
	require.NoError(t, err)
	doc := string(text)
	checkConstructs(t, doc)
	doc = between(t, doc, "trouble", troubleTable(t))
	for i := 1; i <= 22; i++ {
		require.Contains(t, doc, fmt.Sprintf("\n| Q%d |", i), "run go test ./test/tpch -write-coverage")
	}
	for i := 1; i <= 99; i++ {
		require.Contains(t, doc, fmt.Sprintf("\n| DS%d ", i), "run go test ./test/tpch -write-coverage")
	}
	same(t, "sql-coverage.md", doc)
}

// between replaces what stands between the marks of a table.
func between(t *testing.T, doc, name, table string) string {
	begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
	head, rest, ok := strings.Cut(doc, begin)
	require.True(t, ok, begin)
	_, tail, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	return head + begin + table + end + tail
}

// checkConstructs holds the table of constructs, which a run of the stories has written, against the tests there are: every construct has a
// row with a test, every test that a row names is there and has the construct, and no story has a statement of no construct.
func checkConstructs(t *testing.T, doc string) {
	stories, err := coverage.ReadStories("../compat/testdata")
	require.NoError(t, err)
	const advice = "go test ./test/compat -run 'TestCompat$' -write-coverage"
	constructs := coverage.Constructs()
	for _, s := range stories {
		for _, st := range s.Statements {
			known := slices.ContainsFunc(constructs, func(c coverage.Construct) bool { return c.In(s, st.SQL) })
			require.True(t, known, "%s.sql: %s\nhas no construct that test/coverage knows", s.Name, st.SQL)
		}
	}
	_, rest, _ := strings.Cut(doc, "<!-- constructs: begin -->\n")
	table, _, _ := strings.Cut(rest, "<!-- constructs: end -->")
	rows := strings.Split(strings.TrimSpace(table), "\n")[2:]
	require.Len(t, rows, len(constructs), "docs/sql-coverage.md has other constructs than test/coverage: %s", advice)
	for i, c := range constructs {
		cells := strings.Split(strings.Trim(rows[i], "| "), " | ")
		require.Len(t, cells, 3, "%s: a row without a strategy or a test: %s", c.Name, advice)
		require.Equal(t, c.Name, cells[0], advice)
		ran := slices.ContainsFunc(coverage.Strategies(), func(s string) bool { return slices.Contains(fields(cells[1]), s) })
		require.True(t, ran || cells[1] == "MySQL only" || strings.HasPrefix(cells[1], "refused: ") || !c.InStories() || len(c.Tests) > 0, "%s: nothing has run: %s", c.Name, advice)
		tests := 0
		for test := range strings.SplitSeq(cells[2], ", ") {
			name, isStory := strings.CutSuffix(test, ".sql")
			if !isStory {
				file, function, _ := strings.Cut(test, ": ")
				text, err := os.ReadFile("../../" + file)
				require.NoError(t, err, c.Name)
				require.Contains(t, string(text), "func "+function+"(t ", "%s: the test is gone", c.Name)
				require.Contains(t, c.Tests, test, "%s: %s", c.Name, advice)
				tests++
				continue
			}
			at := slices.IndexFunc(stories, func(s *coverage.Story) bool { return s.Name == name })
			require.GreaterOrEqual(t, at, 0, "%s: the story %s is gone: %s", c.Name, name, advice)
			has := slices.ContainsFunc(stories[at].Statements, func(st coverage.Statement) bool { return c.In(stories[at], st.SQL) })
			require.True(t, has, "%s is not in %s.sql any more: %s", c.Name, name, advice)
			tests++
		}
		require.Positive(t, tests, "nothing tests %s", c.Name)
	}
	_, rest, _ = strings.Cut(doc, "<!-- refusals: begin -->\n")
	table, _, _ = strings.Cut(rest, "<!-- refusals: end -->")
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		at := slices.IndexFunc(stories, func(s *coverage.Story) bool { return s.Name+".sql" == cells[len(cells)-1] })
		require.GreaterOrEqual(t, at, 0, "%s: %s", row, advice)
		refuses := slices.ContainsFunc(stories[at].Statements, func(st coverage.Statement) bool { return st.Refused })
		require.True(t, refuses, "%s: %s", row, advice)
	}
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// troubles are the types of trouble that others had, each with the tests against it: a file and what must stand in it.
func troubles() [][]string {
	const trouble, session = "test/compat/testdata/trouble.sql", "test/session/"
	return [][]string{
		{"shards that disagree on columns", "pkg/exec/run_test.go", "func TestGroupsDisagreeOnColumns"},
		{"empty shards in aggregates", trouble, "-- trouble: empty shards in aggregates"},
		{"MIN, MAX and SUM of nothing", trouble, "-- trouble: MIN, MAX and SUM of nothing"},
		{"-0, NULL, trailing spaces and case in DISTINCT, UNION, GROUP BY", trouble, "-- trouble: minus zero, NULL, trailing spaces and case in DISTINCT, UNION and GROUP BY"},
		{"LEFT JOIN predicates moved into WHERE", trouble, "-- trouble: LEFT JOIN predicates moved into WHERE"},
		{"LIMIT with GROUP BY", trouble, "-- trouble: LIMIT with GROUP BY"},
		{"a backend killed in the middle of a result", "test/e2e/failure_test.go", "server killed in the middle of a result"},
		{"a fragment's result missing", "pkg/exec/run_test.go", "func TestGroupFailsAmongRows"},
		{"two connections to one group in one transaction", trouble, "-- trouble: two connections to one node group in one transaction"},
		{"a multi-row INSERT partly outside its transaction", trouble, "-- trouble: a multi-row INSERT partly outside of its transaction"},
		{"a batch replayed after its first result was sent", session + "batch_test.go", "func TestBatchIsNotReplayed"},
		{"row buffers reused while a row is still read", "pkg/merge/merge_test.go", "func TestSourcesReuseTheirBuffers"},
		{"window functions pushed below a partitioning without the distribution key", trouble, "-- trouble: windows below a partitioning without the distribution key"},
		{"NOW, RAND, UUID evaluated once per group", trouble, "-- trouble: NOW, RAND and UUID evaluated once for each node group"},
		{"the clock of each group", "pkg/exec/run_test.go", "func TestOneTimeForAllGroups"},
		{"case and type dependent hashing; ENUM, SET, DECIMAL, collated keys", trouble, "-- trouble: hashing that depends on case and type"},
		{"equal values in different partitions", "pkg/placement/key_test.go", "func TestEqualValuesMeet"},
	}
}

func troubleTable(t *testing.T) string {
	var w strings.Builder
	w.WriteString("| trouble | test |\n|---|---|\n")
	for _, tr := range troubles() {
		text, err := os.ReadFile("../../" + tr[1])
		require.NoError(t, err)
		require.Contains(t, string(text), tr[2], "the test against %q is gone", tr[0])
		name := strings.TrimPrefix(strings.TrimPrefix(tr[2], "-- trouble: "), "func ")
		fmt.Fprintf(&w, "| %s | %s: %s |\n", tr[0], tr[1], name)
	}
	return w.String()
}
