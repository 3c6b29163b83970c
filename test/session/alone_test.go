package session

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
	"skarv/test/cluster"
)

// Where one node group owns every partition, every SELECT is that group's own: relayed, with nothing allocated, although
// with several groups it would be merged or computed in a workspace.
func TestOneNodeGroupAnswersAlone(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	db := c.DB(t, "")
	for _, sql := range []string{
		"CREATE DATABASE one",
		"CREATE TABLE one.t (id INT PRIMARY KEY, k INT, v VARCHAR(20))",
		"CREATE TABLE one.u (id INT PRIMARY KEY, k INT)",
		"CREATE TABLE one.s (id INT PRIMARY KEY, k INT) COMMENT 'skarv:single'",
		"INSERT INTO one.t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 10, 'c')",
		"INSERT INTO one.u VALUES (7, 10), (8, 20)",
		"INSERT INTO one.s VALUES (5, 10)",
	} {
		_, err := db.Exec(sql)
		require.NoError(t, err, sql)
	}
	conn, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: c.Addr(), User: "root", DB: "one"})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	buf := make([]byte, 16<<10)
	for sql, want := range map[string]string{
		"SELECT DISTINCT v FROM t WHERE id BETWEEN 1 AND 2 ORDER BY v":           "a b",
		"SELECT SUM(k) FROM t WHERE id > 1":                                      "30",
		"SELECT t.v FROM t JOIN u ON t.k = u.k WHERE u.id = 7 ORDER BY t.v DESC": "c a",
		"SELECT v FROM t WHERE k IN (SELECT k FROM s) ORDER BY v":                "a c",
	} {
		_, rows, err := conn.QueryAll("EXPLAIN "+sql, 100)
		require.NoError(t, err, sql)
		require.Truef(t, strings.HasPrefix(string(rows[0][0]), "relay"), "%s: %s", sql, rows[0][0])
		_, rows, err = conn.QueryAll(sql, 100)
		require.NoError(t, err, sql)
		var got []string
		for _, r := range rows {
			got = append(got, string(r[0]))
		}
		require.Equal(t, want, strings.Join(got, " "), sql)

		var seq byte
		request := wire.AppendPacket(nil, &seq, append([]byte{byte(wire.ComQuery)}, sql...))
		run := func() {
			sum, err := conn.Relay(request, wire.ComQuery, io.Discard, buf)
			if err != nil || sum.Failed() {
				t.Fatalf("%s: %v, error %d", sql, err, sum.ErrCode)
			}
		}
		for range 100 {
			run()
		}
		requireNoAllocation(t, run, sql)
	}
}
