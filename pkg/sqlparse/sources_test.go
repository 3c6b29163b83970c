package sqlparse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every source gets a condition in its block: what comes out is the statement with all of them.
func TestSources(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM t", "SELECT * FROM t WHERE t"},
		{"SELECT * FROM t -- x", "SELECT * FROM t WHERE t -- x"},
		{"SELECT 1", "SELECT 1"},
		{"SELECT * FROM d.t AS x WHERE a OR b GROUP BY c", "SELECT * FROM d.t AS x WHERE x AND (a OR b) GROUP BY c"},
		{"SELECT * FROM t x, u WHERE a LIMIT 1", "SELECT * FROM t x, u WHERE x AND u AND (a) LIMIT 1"},
		{"SELECT * FROM `t` JOIN u USING (a) ORDER BY 1 LIMIT 3 FOR UPDATE", "SELECT * FROM `t` JOIN u USING (a) WHERE `t` AND u ORDER BY 1 LIMIT 3 FOR UPDATE"},
		{"SELECT * FROM a LEFT JOIN b ON a.x=b.x JOIN c ON LEFT(c.y,1)=2", "SELECT * FROM a LEFT JOIN b ON a.x=b.x JOIN c ON LEFT(c.y,1)=2 WHERE a AND b? AND c"},
		{"SELECT * FROM a RIGHT OUTER JOIN b ON a.x=b.x", "SELECT * FROM a RIGHT OUTER JOIN b ON a.x=b.x WHERE a? AND b"},
		{"SELECT * FROM z, a LEFT JOIN (b JOIN c ON 1) ON 2", "SELECT * FROM z, a LEFT JOIN (b JOIN c ON 1) ON 2 WHERE z AND a AND b? AND c?"},
		{"SELECT * FROM a LEFT JOIN b JOIN c ON 1 ON 2 JOIN d ON 3", "SELECT * FROM a LEFT JOIN b JOIN c ON 1 ON 2 JOIN d ON 3 WHERE a AND b? AND c? AND d"},
		{"SELECT * FROM a LEFT JOIN b LEFT JOIN c JOIN d ON 1 ON 2 ON 3, e", "SELECT * FROM a LEFT JOIN b LEFT JOIN c JOIN d ON 1 ON 2 ON 3, e WHERE a AND b? AND c? AND d? AND e"},
		{"SELECT * FROM a LEFT JOIN b NATURAL JOIN c STRAIGHT_JOIN d USING (x) ON 2 JOIN e", "SELECT * FROM a LEFT JOIN b NATURAL JOIN c STRAIGHT_JOIN d USING (x) ON 2 JOIN e WHERE a AND b? AND c? AND d? AND e"},
		{"SELECT * FROM a NATURAL LEFT JOIN b JOIN c ON 1", "SELECT * FROM a NATURAL LEFT JOIN b JOIN c ON 1 WHERE a AND b? AND c"},
		{"SELECT * FROM a JOIN b ON 1 NATURAL RIGHT OUTER JOIN c JOIN d", "SELECT * FROM a JOIN b ON 1 NATURAL RIGHT OUTER JOIN c JOIN d WHERE a? AND b? AND c AND d"},
		{"SELECT * FROM a JOIN b RIGHT JOIN c ON 1 ON 2", "SELECT * FROM a JOIN b RIGHT JOIN c ON 1 ON 2 WHERE a AND b? AND c"},
		{"SELECT * FROM z, a JOIN b RIGHT JOIN c ON 1, d", "SELECT * FROM z, a JOIN b RIGHT JOIN c ON 1, d WHERE z AND a? AND b? AND c AND d"},
		{"INSERT INTO t SELECT * FROM a CROSS JOIN b RIGHT JOIN c ON 1 JOIN d ON DUPLICATE KEY UPDATE x = 1",
			"INSERT INTO t SELECT * FROM a CROSS JOIN b RIGHT JOIN c ON 1 JOIN d WHERE a? AND b? AND c AND d ON DUPLICATE KEY UPDATE x = 1"},
		{"SELECT * FROM a LEFT JOIN b RIGHT JOIN c ON 1 ON 2 WHERE 3", "SELECT * FROM a LEFT JOIN b RIGHT JOIN c ON 1 ON 2 WHERE a AND b? AND c? AND (3)"},
		{"SELECT * FROM a LEFT JOIN (b JOIN c RIGHT JOIN d ON 1) ON 2", "SELECT * FROM a LEFT JOIN (b JOIN c RIGHT JOIN d ON 1) ON 2 WHERE a AND b? AND c? AND d?"},
		{"SELECT * FROM (a JOIN b RIGHT JOIN c ON 1) JOIN d", "SELECT * FROM (a JOIN b RIGHT JOIN c ON 1) JOIN d WHERE a? AND b? AND c AND d"},
		{"SELECT * FROM (a JOIN b ON 1) RIGHT JOIN (c LEFT JOIN d ON 2) ON 3", "SELECT * FROM (a JOIN b ON 1) RIGHT JOIN (c LEFT JOIN d ON 2) ON 3 WHERE a? AND b? AND c AND d?"},
		{"SELECT (SELECT x FROM b LIMIT 1) FROM (SELECT x FROM c) y RIGHT JOIN d ON 1", "SELECT (SELECT x FROM b WHERE b LIMIT 1) FROM (SELECT x FROM c WHERE c) y RIGHT JOIN d ON 1 WHERE d"},
		{"SELECT * FROM a LEFT JOIN b USE INDEX FOR JOIN (i) JOIN c ON 1 ON 2", "SELECT * FROM a LEFT JOIN b USE INDEX FOR JOIN (i) JOIN c ON 1 ON 2 WHERE a AND b? AND c?"},
		{"UPDATE a LEFT JOIN b JOIN c ON 1 ON 2 SET a.x = 1", "UPDATE a LEFT JOIN b JOIN c ON 1 ON 2 SET a.x = 1 WHERE a AND b? AND c?"},
		{"DELETE FROM a USING a LEFT JOIN b JOIN c ON 1 ON 2", "DELETE FROM a USING a LEFT JOIN b JOIN c ON 1 ON 2 WHERE a AND b? AND c?"},
		{"SELECT * FROM {OJ a LEFT JOIN b JOIN c ON 1 ON 2} WHERE 3", "SELECT * FROM {OJ a LEFT JOIN b JOIN c ON 1 ON 2} WHERE a AND b? AND c? AND (3)"},
		{"SELECT (SELECT MAX(x) FROM b WHERE b.y=a.y) FROM (a) WHERE a.x IN (SELECT c.x FROM c)",
			"SELECT (SELECT MAX(x) FROM b WHERE b AND (b.y=a.y)) FROM (a) WHERE a AND (a.x IN (SELECT c.x FROM c WHERE c))"},
		{"SELECT * FROM (SELECT k, COUNT(*) n FROM t GROUP BY k) d WHERE n > 1", "SELECT * FROM (SELECT k, COUNT(*) n FROM t WHERE t GROUP BY k) d WHERE n > 1"},
		{"SELECT a FROM t WHERE x UNION ALL SELECT b FROM u ORDER BY 1", "SELECT a FROM t WHERE t AND (x) UNION ALL SELECT b FROM u WHERE u ORDER BY 1"},
		{"(SELECT a FROM t) UNION (SELECT b FROM u LIMIT 1) LIMIT 2", "(SELECT a FROM t WHERE t) UNION (SELECT b FROM u WHERE u LIMIT 1) LIMIT 2"},
		{"WITH c AS (SELECT * FROM t) SELECT * FROM c JOIN u ON 1", "WITH c AS (SELECT * FROM t WHERE t) SELECT * FROM c JOIN u ON 1 WHERE u"},
		{"SELECT EXTRACT(DAY FROM d), TRIM(x FROM y) FROM t", "SELECT EXTRACT(DAY FROM d), TRIM(x FROM y) FROM t WHERE t"},
		{"SELECT * FROM t USE INDEX FOR ORDER BY (i) WHERE a ORDER BY b", "SELECT * FROM t USE INDEX FOR ORDER BY (i) WHERE t AND (a) ORDER BY b"},
		{"UPDATE t SET a = 1, b = (SELECT 2)", "UPDATE t SET a = 1, b = (SELECT 2) WHERE t"},
		{"UPDATE t, u SET t.a = u.a WHERE t.k = u.k", "UPDATE t, u SET t.a = u.a WHERE t AND u AND (t.k = u.k)"},
		{"UPDATE IGNORE t x SET a = 1 ORDER BY b LIMIT 1", "UPDATE IGNORE t x SET a = 1 WHERE x ORDER BY b LIMIT 1"},
		{"DELETE FROM t", "DELETE FROM t WHERE t"},
		{"DELETE FROM d.t WHERE a OR b LIMIT 2", "DELETE FROM d.t WHERE d.t AND (a OR b) LIMIT 2"},
		{"DELETE x FROM t x JOIN u ON x.a = u.a WHERE b", "DELETE x FROM t x JOIN u ON x.a = u.a WHERE x AND u AND (b)"},
		{"DELETE FROM x USING t x JOIN u ON x.a = u.a", "DELETE FROM x USING t x JOIN u ON x.a = u.a WHERE x AND u"},
		{"DELETE FROM t RETURNING a", "DELETE FROM t WHERE t RETURNING a"},
		{"INSERT INTO t SELECT * FROM u", "INSERT INTO t SELECT * FROM u WHERE u"},
		{"INSERT INTO t (a) SELECT a FROM u ON DUPLICATE KEY UPDATE a = 1", "INSERT INTO t (a) SELECT a FROM u WHERE u ON DUPLICATE KEY UPDATE a = 1"},
		{"INSERT INTO t (a) SELECT a FROM u WHERE b ON DUPLICATE KEY UPDATE a = 1", "INSERT INTO t (a) SELECT a FROM u WHERE u AND (b) ON DUPLICATE KEY UPDATE a = 1"},
		{"REPLACE INTO t VALUES (1, (SELECT 2))", "REPLACE INTO t VALUES (1, (SELECT 2))"},
		{"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = a + 1", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = a + 1"},
		{"SELECT a INTO @x FROM t", "SELECT a INTO @x FROM t WHERE t"},
		{"SELECT a FROM t INTO @x", "SELECT a FROM t WHERE t INTO @x"},
		{"SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t", "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t WHERE t"},
		{"SELECT a FROM t WHERE b LOCK IN SHARE MODE", "SELECT a FROM t WHERE t AND (b) LOCK IN SHARE MODE"},
	} {
		d := NewDialect(true, "10.11.6-MariaDB")
		st := d.NewStatement()
		require.NoError(t, st.Scan([]byte(c.sql), 0))
		sources, blocks, sure := st.Sources()
		assert.True(t, sure, c.sql)
		assert.Equal(t, c.want, conditions(c.sql, sources, blocks))
	}
}

func conditions(sql string, sources []Source, blocks []Block) string {
	type edit struct {
		at   int
		text string
	}
	var edits []edit
	for i, b := range blocks {
		var all []string
		for _, s := range sources {
			if s.Block == i {
				text := sql[s.Qualifier.Start:s.Qualifier.End]
				if s.Optional {
					text += "?"
				}
				all = append(all, text)
			}
		}
		switch cond := strings.Join(all, " AND "); {
		case cond == "":
		case b.Where >= 0:
			edits = append(edits, edit{b.Where, fmt.Sprintf(" %s AND (", cond)}, edit{b.End, ")"})
		default:
			edits = append(edits, edit{b.End, " WHERE " + cond})
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	out, at := "", 0
	for _, e := range edits {
		out += sql[at:e.at] + e.text
		at = e.at
	}
	return strings.ReplaceAll(out+sql[at:], "( ", "(")
}

func TestSourcesNotSure(t *testing.T) {
	d := NewDialect(false, "8.0.36")
	for _, sql := range []string{"TABLE t", "SELECT * FROM t WHERE a IN (TABLE u)"} {
		st := d.NewStatement()
		require.NoError(t, st.Scan([]byte(sql), 0))
		_, _, sure := st.Sources()
		assert.False(t, sure, sql)
	}
}
