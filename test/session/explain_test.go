package session

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// explained is the rows of EXPLAIN, as text and prepared.
func explained(t *testing.T, c *client, query string, args ...any) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query, args...)
	require.NoError(t, err, query)
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	require.NoError(t, rows.Err())
	return strings.Join(lines, "\n")
}

func TestExplain(t *testing.T) {
	c := connect(t)
	text := explained(t, c, "EXPLAIN SELECT v FROM t WHERE id = 5")
	require.Regexp(t, `\nserver: fragment #1 on node group \d: id=1 select_type=SIMPLE table=t .*type=const .*key=PRIMARY .*rows=1`, text)
	require.Contains(t, text, "relay fragment #1 key(t ?1) brief")
	require.Regexp(t, `"brief": ?true`, explained(t, c, "EXPLAIN FORMAT=JSON SELECT v FROM t WHERE id = 5"))
	require.Regexp(t, `now: relayed to node group \d`, text)
	require.Regexp(t, `now: relayed to node group \d`, explained(t, c, "EXPLAIN SELECT v FROM t WHERE id = ?", 5), "prepared")
	require.Contains(t, explained(t, c, "EXPLAIN FORMAT=TRADITIONAL SELECT v FROM t"),
		"now: fragment #1 on node group 1, 2, 3, 4: the statement as it is written")
	text = explained(t, c, "EXPLAIN SELECT a.v FROM t a JOIN u b ON a.v = b.v WHERE a.id = 3")
	require.Contains(t, text, "workspace")
	require.Regexp(t, `now: fragment #1 on node group \d\n`, text)
	require.Contains(t, text, "now: fragment #2 on node group 1, 2, 3, 4")
	require.Contains(t, text, "server: fragment #1 on node group")
	require.NotContains(t, text, "server: fragment #2", "it waits for values of the first one")
	text = explained(t, c, "EXPLAIN ANALYZE SELECT a.v FROM t a JOIN u b ON a.v = b.v WHERE a.id = 3")
	require.Contains(t, text, "server: fragment #2 on node group", text)
	text = explained(t, c, "EXPLAIN SELECT v, COUNT(*) FROM t WHERE id > 2 GROUP BY v")
	require.Regexp(t, `\nserver: fragment #1 on node group 1: id=1 select_type=SIMPLE table=t .*type=range .*key=PRIMARY`, text)
	require.Contains(t, explained(t, c, "EXPLAIN UPDATE t SET v = 'x'"), "now: fragment #1 on node group 1, 2, 3, 4")
	require.Regexp(t, `server: fragment #1 on node group \d: id=1 select_type=(SIMPLE|UPDATE) table=t`, explained(t, c, "EXPLAIN UPDATE t SET v = 'x' WHERE id = 3"))

	c.exec("CREATE TABLE IF NOT EXISTS mailed (id INT PRIMARY KEY, mail VARCHAR(20), UNIQUE KEY (mail))")
	require.Regexp(t, `(?m)now: fragment #1 on node group 1, 2, 3, 4$`, explained(t, c, "EXPLAIN DELETE FROM mailed WHERE id > 2"))
	for _, query := range []string{"SELECT id FROM mailed WHERE mail = 'x'", "UPDATE mailed SET mail = 'y' WHERE mail = 'x'", "DELETE FROM mailed WHERE mail = 'x'"} {
		require.Regexp(t, `now: fragment #1 on the node group that the entry of mailed.mail leads to, which is on node group \d`, explained(t, c, "EXPLAIN "+query))
		require.Regexp(t, `"fragment": 1,\s+"entry": {\s+"index": "mailed.mail",\s+"node_groups": \[\s+\d\s+\]`, explained(t, c, "EXPLAIN FORMAT=JSON "+query))
	}
}

// As servers of the kind do, EXPLAIN that is prepared tells its column at once, or when it runs.
func TestPreparedExplainTellsColumns(t *testing.T) {
	r := rawClient(t)
	for _, sql := range []string{"EXPLAIN SELECT v FROM t WHERE id = ?", "EXPLAIN FORMAT=JSON SELECT v FROM t"} {
		st, err := r.Prepare([]byte(sql))
		require.NoError(t, err)
		if cluster.TestEngine() == datanode.MySQL {
			require.Empty(t, st.Columns, sql)
			continue
		}
		require.Len(t, st.Columns, 1, sql)
		require.Equal(t, "EXPLAIN", st.Columns[0].Name)
	}
}

func TestExplainJSON(t *testing.T) {
	c := connect(t)
	var got struct {
		Kind      string
		Otherwise struct{ Step string }
		Rules     []string
		Now       struct {
			Targets []struct {
				Fragment int
				Groups   []int `json:"node_groups"`
			}
			Servers []struct {
				Fragment int
				Plan     []map[string]string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(explained(t, c, "EXPLAIN FORMAT=JSON SELECT v FROM t ORDER BY v")), &got))
	require.Equal(t, "select", got.Kind)
	require.Equal(t, "merge sorted", got.Otherwise.Step)
	require.Contains(t, got.Rules, "MergeSorted")
	require.Equal(t, []int{1, 2, 3, 4}, got.Now.Targets[0].Groups)
	require.Equal(t, 1, got.Now.Servers[0].Fragment)
	require.Equal(t, "t", got.Now.Servers[0].Plan[0]["table"])
}

func TestExplainAnalyze(t *testing.T) {
	c := connect(t)
	short := "ANALYZE SELECT v FROM t"
	if cluster.TestEngine() == datanode.MySQL { // which has the long form only
		c.fails(1064, short)
		short = "EXPLAIN " + short
	}
	for _, query := range []string{"EXPLAIN ANALYZE SELECT v FROM t", short, "EXPLAIN ANALYZE FORMAT=TREE SELECT v FROM t WHERE id > 0"} {
		text := explained(t, c, query)
		require.Contains(t, text, "ran: the statement: 100 rows in ", query)
		for _, g := range []string{"1", "2", "3", "4"} {
			require.Regexp(t, `ran: fragment #1 on node group `+g+`: \d+ rows, \d+ bytes, first after [\d.]+ ms, all after [\d.]+ ms`, text)
		}
	}
	text := explained(t, c, "EXPLAIN ANALYZE SELECT v FROM t WHERE id = ?", 7)
	require.Regexp(t, `ran: relayed to node group \d\nran: the statement: 1 rows in `, text)
	text = explained(t, c, "EXPLAIN ANALYZE SELECT a.v FROM t a JOIN t b ON a.v = b.v WHERE a.id < ? AND b.id < ?", 11, 11)
	require.Contains(t, text, "workspace")
	require.Contains(t, text, "ran: the statement: 10 rows in ")
	var got struct {
		Ran struct {
			Rows         int
			Milliseconds float64
			Fragments    []struct {
				NodeGroup int `json:"node_group"`
				Rows      int
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(explained(t, c, "EXPLAIN ANALYZE FORMAT=JSON SELECT v FROM t")), &got))
	require.Equal(t, 100, got.Ran.Rows)
	require.Len(t, got.Ran.Fragments, 4)
	sum := 0
	for _, f := range got.Ran.Fragments {
		sum += f.Rows
	}
	require.Equal(t, 100, sum)

	_, err := c.ExecContext(t.Context(), "EXPLAIN ANALYZE UPDATE t SET v = 'x'")
	require.ErrorContains(t, err, "1235")
	require.Contains(t, explained(t, c, "EXPLAIN ANALYZE SELECT COUNT(*) FROM t WHERE v = 'x'"), "1 rows")
	var n int
	require.NoError(t, c.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t WHERE v = 'x'").Scan(&n))
	require.Zero(t, n, "nothing was written")
}

// What a server would not explain is not explained: the plan of a statement says nothing of tables and columns that do not exist.
func TestExplainOfWhatDoesNotExist(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TEMPORARY TABLE passing (id INT PRIMARY KEY)")
	for query, code := range map[string]string{
		"SELECT * FROM nowhere":                                "1146",
		"SELECT nothing FROM t":                                "1054",
		"SELECT nothing FROM t WHERE id = 1":                   "1054",
		"SELECT a.v FROM t a JOIN u b ON a.v = b.nothing":      "1054",
		"SELECT v FROM t WHERE id IN (SELECT id FROM nowhere)": "1146",
		"SELECT v FROM t GROUP BY nothing":                     "1054",
		"SELECT nothing FROM passing":                          "1054",
		"UPDATE t SET nothing = 1":                             "1054",
		"DELETE FROM nowhere":                                  "1146",
		"INSERT INTO t (nothing) VALUES (1)":                   "1054",
		"(SELECT nothing FROM t)":                              "1054",
	} {
		for _, head := range []string{"EXPLAIN ", "EXPLAIN FORMAT=JSON ", "EXPLAIN ANALYZE "} {
			_, err := c.ExecContext(t.Context(), head+query)
			require.ErrorContains(t, err, "Error "+code, head+query)
		}
	}
	_, err := c.ExecContext(t.Context(), "EXPLAIN SELECT nothing FROM t WHERE id = ?", 1)
	require.ErrorContains(t, err, "Error 1054", "prepared")
	require.Contains(t, explained(t, c, "EXPLAIN SELECT p.id, t.v FROM passing p JOIN t ON t.id = p.id"), "fragment #1", "a temporary table is known")
	require.NotEmpty(t, explained(t, c, "EXPLAIN SELECT * FROM skarv.node_groups"))
	require.NotEmpty(t, explained(t, c, "EXPLAIN SELECT * FROM information_schema.tables"))
	require.NotEmpty(t, explained(t, c, "EXPLAIN INSERT INTO t (id, v) VALUES (5000, 'x')"))
}

// The time of a query is also that of what happens between node groups: copies, the joins over them, merging.
func TestExplainAnalyzeStages(t *testing.T) {
	c := connect(t)
	const took = ` in [\d.]+ ms`
	text := explained(t, c, "EXPLAIN ANALYZE SELECT v FROM t ORDER BY v")
	require.Regexp(t, `ran: merge of fragment #1: 100 rows`+took, text)
	require.NotContains(t, explained(t, c, "EXPLAIN ANALYZE SELECT v FROM t"), "merge of", "rows that are passed on as they come are not merged")

	c.exec("SET skarv_joins = workspace")
	const join = "SELECT a.v FROM t a JOIN t b ON a.v = b.v WHERE a.id < 11"
	text = explained(t, c, "EXPLAIN ANALYZE "+join)
	require.Regexp(t, `ran: copy of \w+\.t to node group \d: \d+ rows, \d+ bytes`+took, text)
	require.Regexp(t, `ran: joins on node group \d, over the copies: 10 rows, \d+ bytes`+took, text)

	c.exec("SET skarv_joins = broadcast")
	c.exec("CREATE TABLE spread (id INT PRIMARY KEY, v VARCHAR(20))")
	c.exec("INSERT INTO spread SELECT id, v FROM t")
	text = explained(t, c, "EXPLAIN ANALYZE SELECT a.v FROM t a JOIN spread b ON a.v = b.v WHERE a.id < 11 ORDER BY a.v")
	require.Regexp(t, `ran: copy of \w+\.\w+ to 4 node groups: \d+ rows, \d+ bytes`+took, text)
	require.Regexp(t, `ran: merge of fragment #\d: 10 rows`+took, text)
	require.NotContains(t, text, "joins on node group")
	c.exec("SET skarv_joins = workspace")

	var got struct {
		Ran struct {
			Milliseconds float64
			Stages       []struct {
				Stage        string
				Rows         int
				Milliseconds float64
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(explained(t, c, "EXPLAIN ANALYZE FORMAT=JSON "+join)), &got))
	require.NotEmpty(t, got.Ran.Stages)
	last := got.Ran.Stages[len(got.Ran.Stages)-1]
	require.Contains(t, last.Stage, "joins on node group")
	require.Equal(t, 10, last.Rows)
	for _, s := range got.Ran.Stages {
		require.Positive(t, s.Milliseconds, s.Stage)
		require.LessOrEqual(t, s.Milliseconds, got.Ran.Milliseconds, s.Stage)
	}
}

// A query in parentheses is explained like any other, with what servers tell of its fragments.
func TestExplainInParentheses(t *testing.T) {
	c := connect(t)
	for _, q := range []string{"(SELECT v + 1, id FROM t ORDER BY v LIMIT 3)", "((SELECT v + 1, COUNT(*) FROM t GROUP BY v + 1))",
		"(SELECT v + 1, id FROM t ORDER BY v LIMIT 3) UNION ALL SELECT 1, 2",
		"WITH p AS (SELECT v FROM t) (SELECT v + 1, COUNT(*) FROM p GROUP BY v + 1)"} {
		require.Contains(t, c.get("EXPLAIN "+q), "server: ", q)
		require.Contains(t, c.get("EXPLAIN FORMAT=JSON "+q), "fragment", q)
	}
	require.Equal(t, "1", c.get("SELECT 1"), "the session goes on")
}
