package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJoins takes each way that joins tables which do not lie together, and looks at what EXPLAIN says of it.
func TestJoins(t *testing.T) {
	c := connect(t)
	const query = "SELECT a.v, b.v FROM t a JOIN u b ON a.v = b.v ORDER BY a.id LIMIT 3"
	for _, way := range []struct{ set, now, ran string }{
		{"workspace", `\nnow: workspace: about \d+ rows to copy`, `ran: fragment #2 on node group 1`},
		{"broadcast", `\nnow: broadcast [tu]: about \d+ rows to copy`, `ran: fragment #[34] on node group 4`},
		{"first", `\nnow: workspace of the first 3 rows: about \d+ rows to copy`, `ran: fragment #1 on node group 2`},
		{"queries", `\nnow: workspace: about \d+ rows to copy`, `ran: fragment #2 on node group 1`}, // it has none
		{"auto", `\nnow: `, `ran: fragment`},
		{"default", `\nnow: `, `ran: fragment`},
	} {
		c.exec("SET skarv_joins = " + way.set)
		text := explained(t, c, "EXPLAIN "+query)
		require.Regexp(t, way.now, text)
		require.Regexp(t, `\nnot: `, text)
		require.Contains(t, explained(t, c, "EXPLAIN FORMAT=JSON "+query), `"ways"`)
		require.Regexp(t, way.ran, explained(t, c, "EXPLAIN ANALYZE "+query))
	}
	c.exec("SET skarv_joins = queries")
	text := explained(t, c, "EXPLAIN ANALYZE SELECT t.v, d.n FROM t JOIN (SELECT v, COUNT(*) AS n FROM u GROUP BY v) AS d ON t.v = d.v")
	require.Contains(t, text, "copy d.skarv_query_1, by v: a query of the statement")
	require.Regexp(t, `\nnow: workspace of queries: about \d+ rows to copy`, text)
	require.Regexp(t, `ran: fragment #2 on node group 1`, text)

	_, err := c.ExecContext(t.Context(), "SET skarv_joins = fast")
	require.ErrorContains(t, err, "1231")

	// What a transaction has written only its own connections see.
	c.exec("SET skarv_joins = broadcast")
	c.exec("BEGIN")
	require.Regexp(t, `\nnow: workspace`, explained(t, c, "EXPLAIN "+query))
	c.exec("ROLLBACK")
	require.Regexp(t, `\nnow: broadcast`, explained(t, c, "EXPLAIN "+query))
}
