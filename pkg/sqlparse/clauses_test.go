package sqlparse

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClauses shows each text cut where its clauses begin.
func TestClauses(t *testing.T) {
	for _, c := range []struct {
		mariadb bool
		sql     string
		want    string // "": of another form than expected
	}{
		{true, "SELECT a, b FROM t WHERE a = 1 GROUP BY a HAVING b > 1 ORDER BY a, b DESC LIMIT 1, 2 FOR UPDATE",
			"list(a, b) from(FROM t) where(WHERE a = 1) group(GROUP BY a HAVING b > 1) order(ORDER BY a, b DESC) limit(LIMIT 1, 2) tail(FOR UPDATE) by[a] sorted[a|b]"},
		{true, "SELECT 1", "list(1) by[] sorted[]"},
		{true, "SELECT 1 LIMIT 2", "list(1) limit(LIMIT 2) by[] sorted[]"},
		{true, "SELECT a INTO @x FROM t", "list(a) from(FROM t) tail(INTO @x FROM t) by[] sorted[]"},
		{true, "SELECT a FROM t USE INDEX FOR ORDER BY (i) USE KEY FOR JOIN (j) ORDER BY f(a, b), (SELECT 1 ORDER BY 2)",
			"list(a) from(FROM t USE INDEX FOR ORDER BY (i) USE KEY FOR JOIN (j)) order(ORDER BY f(a, b), (SELECT 1 ORDER BY 2)) by[] sorted[f(a, b)|(SELECT 1 ORDER BY 2)]"},
		{true, "SELECT a, COUNT(*) FROM t GROUP BY a, b WITH ROLLUP", "list(a, COUNT(*)) from(FROM t) group(GROUP BY a, b WITH ROLLUP) by[a|b] sorted[]"},
		{false, "SELECT a FROM t GROUP BY ROLLUP (a, b) ORDER BY a", "list(a) from(FROM t) group(GROUP BY ROLLUP (a, b)) order(ORDER BY a) by[a|b] sorted[a]"},
		{true, "SELECT a FROM t GROUP BY ROLLUP (a, b)", "list(a) from(FROM t) group(GROUP BY ROLLUP (a, b)) by[ROLLUP (a, b)] sorted[]"}, // a function
		{true, "SELECT a FROM t GROUP BY 1 UNION SELECT b FROM u WHERE b ORDER BY a LIMIT 3", "union order(ORDER BY a) limit(LIMIT 3) sorted[a]"},
		{true, "SELECT a FROM t LOCK IN SHARE MODE", "list(a) from(FROM t) tail(LOCK IN SHARE MODE) by[] sorted[]"},
		{true, "UPDATE t SET a = 1 WHERE b = 2 ORDER BY c LIMIT 3", "where(WHERE b = 2) order(ORDER BY c) limit(LIMIT 3) by[] sorted[c]"},
		{true, "DELETE FROM t WHERE a RETURNING b", "from(FROM t) where(WHERE a) tail(RETURNING b) by[] sorted[]"},
		{true, "(SELECT a FROM t)", ""},
		{true, "SELECT a FROM t WHERE (a", ""},
	} {
		st := NewDialect(c.mariadb, "").NewStatement()
		_ = st.Scan([]byte(c.sql), 0)
		cl, ok := st.Clauses()
		require.Equal(t, c.want != "", ok, c.sql)
		if ok {
			require.Equal(t, c.want, shown(st, &cl), c.sql)
			require.Equal(t, len(c.sql), cl.End)
		}
	}
}

// shown is each clause with its text, up to where the next one begins.
func shown(st *Statement, c *Clauses) string {
	begins := []int{c.Where, c.Group, c.Order, c.Tail, c.End}
	if c.Limit.End > 0 {
		begins = append(begins, c.Limit.Start)
	}
	var out []string
	part := func(name string, from int) {
		if from < 0 || from == c.End {
			return
		}
		to := c.End
		for _, at := range begins {
			if at > from {
				to = min(to, at)
			}
		}
		out = append(out, name+"("+strings.TrimSpace(string(st.SQL()[from:to]))+")")
	}
	items := func(name string, spans []Span) {
		var list []string
		for _, sp := range spans {
			list = append(list, string(st.Text(sp)))
		}
		out = append(out, name+"["+strings.Join(list, "|")+"]")
	}
	if c.Union {
		out = append(out, "union")
	} else {
		if c.List.End > 0 {
			out = append(out, "list("+string(st.Text(c.List))+")")
		}
		if strings.HasPrefix(string(st.SQL()[c.From:]), "FROM") { // else it is where that would stand
			part("from", c.From)
		}
		part("where", c.Where)
		part("group", c.Group)
	}
	part("order", c.Order)
	if c.Limit.End > 0 {
		out = append(out, "limit("+string(st.Text(c.Limit))+")")
	}
	part("tail", c.Tail)
	if !c.Union {
		items("by", c.GroupItems)
	}
	items("sorted", c.OrderItems)
	return strings.Join(out, " ")
}
