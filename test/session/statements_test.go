package session

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cost is what skarv.statements has of the one shape that is like pattern: how many, how many failed, the rows sent, and how they were run.
func cost(c *client, pattern string) string {
	return c.get("SELECT db, statement, count, errors, rows_sent, strategy FROM skarv.statements WHERE statement LIKE ? AND statement NOT LIKE '%skarv%'", pattern)
}

// What statements cost is added up by their shape, whichever way they come, and statements that others run inside of them are not counted for them.
func TestStatementsTable(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE costly (id INT PRIMARY KEY, v INT)")
	t.Cleanup(func() { c.exec("DROP TABLE costly") })
	c.exec("INSERT INTO costly VALUES (1, 1), (2, 2), (3, 3)")
	for _, id := range []string{"1", "2", "77"} {
		c.get("SELECT v FROM costly WHERE id = " + id)
	}
	c.get("SELECT v FROM costly WHERE id = ?", 3)
	require.Equal(t, "d,SELECT v FROM costly WHERE id = ?,4,0,3,relay", cost(c, "SELECT v FROM costly WHERE id%"), "as text, and prepared")
	c.get("SELECT v FROM costly ORDER BY v")
	require.Equal(t, "d,SELECT v FROM costly ORDER BY v,1,0,3,scatter", cost(c, "SELECT v FROM costly ORDER BY v"))
	require.Equal(t, "1", c.get("SELECT bytes_sent > 5 FROM skarv.statements WHERE statement = 'SELECT v FROM costly ORDER BY v'"))
	c.fails(1062, "INSERT INTO costly VALUES (1, 5)")
	require.Equal(t, "d,INSERT INTO costly VALUES (?, ?),2,1,0,relay, split", cost(c, "INSERT INTO costly%"))
	c.fails(1146, "SELECT v FROM costlier")
	require.Equal(t, "d,SELECT v FROM costlier,1,1,0,local", cost(c, "%costlier%"), "what has no plan")
	c.exec("CREATE PROCEDURE costs() BEGIN SELECT MAX(v) FROM costly; SELECT MAX(v) FROM costly; END")
	t.Cleanup(func() { c.exec("DROP PROCEDURE costs") })
	c.exec("CALL costs()")
	require.Equal(t, "d,CALL costs(),1,0", upTo(cost(c, "CALL costs%"), 4))
	require.Empty(t, cost(c, "SELECT MAX(v) FROM costly%"), "inside of CALL")
	c.exec("CREATE USER costs IDENTIFIED BY 'open sesame'")
	c.exec("DROP USER costs")
	require.NotContains(t, c.get("SELECT statement FROM skarv.statements WHERE statement LIKE 'CREATE USER%'"), "sesame")
	require.Equal(t, "1", c.get("SELECT MIN(total_us >= max_us AND max_us >= average_us AND last_seen >= first_seen) FROM skarv.statements"))
}

// upTo is the first n values of a row.
func upTo(row string, n int) string {
	return strings.Join(strings.SplitN(row, ",", n+1)[:n], ",")
}

// Statements of all processes are added up.
func TestStatementsOfTwoProxies(t *testing.T) {
	a, b := connect(t), connectTo(t, secondProxy(t))
	a.get("SELECT 'both', v FROM t WHERE id = 1")
	b.get("SELECT 'both', v FROM t WHERE id = 2")
	for _, c := range []*client{a, b} {
		require.Equal(t, "2", c.get("SELECT count FROM skarv.statements WHERE statement = ? AND db = 'd'", "SELECT ?, v FROM t WHERE id = ?"))
	}
}
