package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCoverage keeps the tables of docs/sql-coverage.md that need no server: what is found in the stories of test/compat and
// in the plans of pkg/planner. The tables of queries are written by test/tpch, which runs them.
func TestCoverage(t *testing.T) {
	text, err := os.ReadFile("../../docs/sql-coverage.md")
	require.NoError(t, err)
	doc := string(text)
	stories, plans := readStories(t), readPlans(t)
	if rewriting() {
		doc = between(t, doc, "constructs", constructTable(stories, plans))
	}
	checkConstructs(t, doc, stories, plans)
	doc = between(t, doc, "trouble", troubleTable(t))
	for i := 1; i <= 22; i++ {
		require.Contains(t, doc, fmt.Sprintf("\n| Q%d |", i), "run go test ./test/tpch -write-coverage")
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

// story is a file of test/compat: its statements, without those that a mark says are refused.
type story struct {
	name       string
	statements []string
}

func readStories(t *testing.T) (stories []story) {
	files, err := filepath.Glob("../compat/testdata/*.sql")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		s := story{name: strings.TrimSuffix(filepath.Base(f), ".sql")}
		refused := false
		var sql []string
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if mark, ok := strings.CutPrefix(line, "-- "); ok && len(sql) == 0 {
				refused = refused || strings.HasPrefix(mark, "refused") || strings.HasPrefix(mark, "gap")
				continue
			}
			if sql = append(sql, line); !strings.HasSuffix(line, ";") {
				continue
			}
			if !refused {
				s.statements = append(s.statements, strings.Join(sql, " "))
			}
			refused, sql = false, nil
		}
		stories = append(stories, s)
	}
	return stories
}

// planned is a statement of a golden file and how it may run.
type planned struct {
	sql        string
	strategies []string
}

func readPlans(t *testing.T) (plans []planned) {
	files, err := filepath.Glob("../../pkg/planner/testdata/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for block := range strings.SplitSeq(string(text), "\n\n") {
			sql, plan, ok := strings.Cut(block, "\n----\n")
			if !ok {
				continue
			}
			if at := strings.Index(sql, "plan"); at < 0 || !strings.Contains(sql[at:], "\n") {
				continue
			} else {
				_, sql, _ = strings.Cut(sql[at:], "\n")
			}
			p := planned{sql: sql}
			for way := range strings.SplitSeq(plan, "\nor\n") {
				p.strategies = append(p.strategies, strategyOf(way))
			}
			plans = append(plans, p)
		}
	}
	return plans
}

// strategyOf is the last resort of a plan, which is what it is when its values do not lead to one group.
func strategyOf(plan string) string {
	if _, rest, ok := strings.Cut(plan, "\nelse\n"); ok {
		plan = rest
	}
	first, _, _ := strings.Cut(plan, "\n")
	word, _, _ := strings.Cut(first, " ")
	switch word {
	case "relay", "workspace", "broadcast", "session":
		return word
	case "concatenate", "merge", "aggregate", "distinct", "limit", "keep", "sort", "fragment":
		return "scatter"
	case "insert":
		return "split"
	case "refuse", "judge,", "ERROR":
		return "refused"
	}
	return "other"
}

// constructs are what is looked for, by patterns that match statements which have them.
func constructs() [][2]string {
	return [][2]string{
		{"WHERE, ORDER BY, LIMIT", `(?i)^SELECT .* (WHERE|ORDER BY|LIMIT) `},
		{"inner join", `(?i)^SELECT .* JOIN `},
		{"LEFT, RIGHT JOIN", `(?i) (LEFT|RIGHT)( OUTER)? JOIN `},
		{"NATURAL JOIN, USING", `(?i)NATURAL|USING \(`},
		{"join by comma, CROSS JOIN", `(?i)CROSS JOIN|FROM \w+( \w+)?, \w+`},
		{"derived table", `(?i)(FROM|JOIN|,) \(SELECT`},
		{"WITH", `(?i)WITH \w+( \([^)]*\))? AS \(`},
		{"WITH RECURSIVE", `(?i)WITH RECURSIVE`},
		{"UNION", `(?i)UNION (SELECT|DISTINCT|\()`},
		{"UNION ALL", `(?i)UNION ALL`},
		{"INTERSECT, EXCEPT", `(?i)INTERSECT|EXCEPT`},
		{"VALUES, TABLE as queries", `(?i)VALUES ROW|^TABLE `},
		{"EXISTS", `(?i)EXISTS \(SELECT`},
		{"IN (SELECT)", `(?i)[^T] IN \(SELECT`},
		{"NOT IN, NOT EXISTS", `(?i)NOT (IN|EXISTS) \(SELECT`},
		{"ANY, ALL", `(?i) (ANY|SOME|ALL) \(SELECT`},
		{"subquery as value", `(?i)(SELECT|=|<|>|,) \(SELECT`},
		{"GROUP BY, HAVING", `(?i)GROUP BY|HAVING`},
		{"WITH ROLLUP", `(?i)WITH ROLLUP`},
		{"COUNT, SUM, AVG, MIN, MAX", `(?i)(COUNT|SUM|AVG|MIN|MAX)\(`},
		{"DISTINCT in aggregates", `(?i)(COUNT|SUM|AVG)\(DISTINCT`},
		{"GROUP_CONCAT, STD, BIT_OR", `(?i)(GROUP_CONCAT|STD|VARIANCE|BIT_\w+)\(`},
		{"SELECT DISTINCT", `(?i)SELECT DISTINCT`},
		{"window functions", `(?i) OVER `},
		{"JSON_TABLE", `(?i)JSON_TABLE`},
		{"LATERAL", `(?i)LATERAL`},
		{"views", `(?i)CREATE (OR REPLACE )?(ALGORITHM=\w+ )?VIEW| FROM v\b`},
		{"FOR UPDATE, LOCK IN SHARE MODE", `(?i)FOR UPDATE|FOR SHARE|LOCK IN SHARE`},
		{"user variables", `(?i)@[a-z]`},
		{"MATCH AGAINST", `(?i)AGAINST`},
		{"INSERT, REPLACE", `(?i)^(INSERT|REPLACE)`},
		{"INSERT ... SELECT", `(?i)^(INSERT|REPLACE) .*SELECT`},
		{"ON DUPLICATE KEY UPDATE", `(?i)ON DUPLICATE KEY`},
		{"UPDATE, DELETE", `(?i)^(UPDATE|DELETE)`},
		{"UPDATE, DELETE with joins", `(?i)^(UPDATE .*(JOIN|,).* SET|DELETE .* (USING|JOIN) )`},
		{"UPDATE, DELETE with LIMIT", `(?i)^(UPDATE|DELETE) .* LIMIT`},
		{"transactions, savepoints", `(?i)^(BEGIN|START|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)`},
		{"LOCK TABLES", `(?i)^LOCK TABLES`},
		{"PREPARE, EXECUTE", `(?i)^(PREPARE|EXECUTE|DEALLOCATE)`},
		{"temporary tables", `(?i)TEMPORARY`},
		{"SHOW, DESCRIBE", `(?i)^(SHOW|DESC)`},
		{"stored functions", `(?i)^CREATE( OR REPLACE)? FUNCTION`},
		{"procedures, CALL", `(?i)^(CALL|CREATE( OR REPLACE)? PROCEDURE)`},
		{"triggers", `(?i)^CREATE( OR REPLACE)? TRIGGER`},
		{"DDL", `(?i)^(CREATE|ALTER|DROP|TRUNCATE|RENAME)`},
	}
}

// covered is how a construct runs, in which stories it is compared.
func covered(pattern string, stories []story, plans []planned) (how, where []string) {
	re := regexp.MustCompile(pattern)
	for _, p := range plans {
		if !re.MatchString(p.sql) {
			continue
		}
		for _, way := range p.strategies {
			if !slices.Contains(how, way) && way != "other" {
				how = append(how, way)
			}
		}
	}
	for _, s := range stories {
		if slices.ContainsFunc(s.statements, re.MatchString) {
			where = append(where, s.name+".sql")
		}
	}
	slices.Sort(how)
	return how, where
}

func constructTable(stories []story, plans []planned) string {
	var w strings.Builder
	w.WriteString("| construct | runs as | compared with one server in |\n|---|---|---|\n")
	for _, c := range constructs() {
		how, where := covered(c[1], stories, plans)
		if len(where) > 4 {
			where = where[:4]
		}
		fmt.Fprintf(&w, "| %s | %s | %s |\n", c[0], strings.Join(how, ", "), strings.Join(where, ", "))
	}
	return w.String()
}

// checkConstructs holds what the document claims against the tests. There may be more tests than it lists, so that not every
// new statement makes it stale, but none less.
func checkConstructs(t *testing.T, doc string, stories []story, plans []planned) {
	for _, c := range constructs() {
		_, row, ok := strings.Cut(doc, "\n| "+c[0]+" | ")
		require.True(t, ok, "docs/sql-coverage.md has no row for %s: make golden", c[0])
		row, _, _ = strings.Cut(row, " |\n")
		strategies, names, _ := strings.Cut(row, " | ")
		how, where := covered(c[1], stories, plans)
		require.NotEmpty(t, slices.Concat(how, where), "nothing tests %s", c[0])
		require.Subset(t, how, fields(strategies), "%s: docs/sql-coverage.md is stale: make golden", c[0])
		require.Subset(t, where, fields(names), "%s: docs/sql-coverage.md is stale: make golden", c[0])
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
