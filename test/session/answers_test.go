package session

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
	"skarv/test/cluster"
)

// plainServer is a raw client of a server of its own, which has the databases that clients of the cluster see.
func plainServer(t *testing.T) raw {
	t.Helper()
	dsn, err := mysql.ParseDSN(cluster.StartServer(t).DSN(""))
	require.NoError(t, err)
	server, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: "unix:" + dsn.Addr, User: dsn.User, Password: dsn.Passwd, Caps: wire.CapMultiStatements})
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	return raw{t, server}
}

// answer is all that the server says to sql: as text or, if prepared, to an execution without parameters.
func (r raw) answer(sql string, columns bool) (out []string) {
	r.t.Helper()
	require.NoError(r.t, r.Send(wire.ComQuery, []byte(sql)))
	for more := true; more; more = r.MoreResults() {
		head, err := r.ReadHead()
		if err != nil {
			return append(out, err.Error())
		}
		if head.OK != nil {
			out = append(out, fmt.Sprintf("OK %d, %d warnings, %q, more %t", head.OK.AffectedRows, head.OK.Warnings, head.OK.Info, head.OK.Status.Has(wire.StatusMoreResults)))
			continue
		}
		for _, c := range head.Columns {
			if columns {
				out = append(out, fmt.Sprintf("%s.%s (%s.%s) type %d length %d", c.Table, c.Name, c.OrgTable, c.OrgName, c.Type, c.Length))
			}
		}
		for {
			row, err := r.ReadRow()
			if err != nil {
				require.True(r.t, errors.Is(err, io.EOF), err)
				break
			}
			out = append(out, fmt.Sprintf("%q", row))
		}
		end := r.EndStatus()
		out = append(out, fmt.Sprintf("end, %d warnings, more %t", end.Warnings, end.Status.Has(wire.StatusMoreResults)))
	}
	return out
}

// Whole answers, with what database/sql does not show of them, are those of one server.
func TestAnswersAsOneServer(t *testing.T) {
	one, many := plainServer(t), rawClient(t)
	for _, r := range []raw{one, many} {
		for _, sql := range []string{
			"CREATE DATABASE answers", "USE answers",
			"CREATE TABLE t (id INT PRIMARY KEY, a INT, s VARCHAR(20))",
			"INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 1, 'c'), (4, 3, 'd'), (5, NULL, NULL)",
		} {
			r.exec(sql)
		}
	}
	t.Cleanup(func() { rawClient(t).exec("DROP DATABASE answers") })
	for _, sql := range []string{
		"SELECT 1;; SELECT 2", "SELECT 1; ; SELECT 2", "SELECT 1;/* x */; SELECT 2", "SELECT 1; -- x", "SELECT 1; /* x */ ;", "SELECT 1;", "SELECT 1;;;",
		"; SELECT 1", " ;SELECT 1", ";", "", "/* x */", "/* x */; SELECT 1", "SELECT 1 ;; ;SELECT 2;", "DO 1;; DO 2", "DO 1; DO 2;",
		"SELECT 1; SELECT nosuch; SELECT 2",
	} {
		require.Equal(t, one.answer(sql, false), many.answer(sql, false), sql)
	}
	for _, sql := range []string{
		"SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP",
		"SELECT a, SUM(id), MIN(s) FROM t GROUP BY a WITH ROLLUP",
		"SELECT FOUND_ROWS() AS f, ROW_COUNT() + 1",
		"SELECT a, COUNT(*) FROM (SELECT a FROM t ORDER BY id LIMIT 3) d GROUP BY a ORDER BY a",
		"SELECT * FROM (SELECT a, COUNT(*) n FROM t GROUP BY a) d ORDER BY 1",
		"SELECT * FROM (SELECT id, s FROM t ORDER BY id LIMIT 2) d ORDER BY 1",
		"SELECT x.id, y.a, x.s FROM t x JOIN t y ON x.id = y.a ORDER BY x.id, y.a",
		"SELECT t.id, (SELECT MAX(s) FROM t z WHERE z.a = t.id) m FROM t ORDER BY id",
	} {
		a, b := one.answer(sql, true), many.answer(sql, true)
		if cluster.TestEngine() == "mysql" {
			a[len(a)-1], b[len(b)-1] = "", "" // MySQL warns of FOUND_ROWS()
		}
		require.Equal(t, a, b, sql)
	}
	for _, sql := range []string{
		"ALTER TABLE t ADD COLUMN x INT", "ALTER TABLE t ADD COLUMN y INT, ALGORITHM=COPY", "ALTER TABLE t DROP COLUMN x", "ALTER TABLE t ADD INDEX (a)",
		"CREATE INDEX ia ON t (s)", "DROP INDEX ia ON t", "ALTER TABLE t RENAME COLUMN y TO z", "ALTER TABLE t COMMENT 'x'", "ALTER TABLE t RENAME TO tt", "ALTER TABLE tt RENAME TO t, COMMENT 'y'",
		"ALTER TABLE t",
	} {
		require.Equal(t, one.answer(sql, false), many.answer(sql, false), sql)
	}
	for _, r := range []raw{one, many} { // a name with a parameter in it, and its type
		st, err := r.Prepare([]byte("SELECT LAST_INSERT_ID(), ? + 1"))
		require.NoError(t, err)
		body := append(wire.AppendExecuteHead(nil, st.ID, 0), 0, 1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0)
		require.NoError(t, r.Send(wire.ComStmtExecute, body))
		head, err := r.ReadHead()
		require.NoError(t, err)
		require.Equal(t, "? + 1", head.Columns[1].Name)
		require.EqualValues(t, 8, head.Columns[1].Type, "BIGINT")
		require.NoError(t, r.DiscardRows())
	}
}
