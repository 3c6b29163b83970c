// Package workspace tests how queries that copy tables end: at a limit, by KILL, by a client that goes away. Nothing
// of them may stay behind on the servers.
package workspace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/test/cluster"
)

const rows = 2000

func start(t *testing.T, options ...cluster.Option) (c *cluster.Cluster, open func() *sql.Conn) {
	c = cluster.Start(t, options...)
	open = func() *sql.Conn {
		db, err := sql.Open("mysql", c.DSN(""))
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		return conn
	}
	conn := open()
	exec(t, conn, "CREATE DATABASE w")
	exec(t, conn, "CREATE TABLE w.a (id INT PRIMARY KEY, b INT, text VARCHAR(100))")
	exec(t, conn, "CREATE TABLE w.b (id INT PRIMARY KEY, a INT)")
	var a, b []string
	for i := range rows {
		a = append(a, fmt.Sprintf("(%d, %d, '%s')", i, i%100, strings.Repeat("x", 50)))
		b = append(b, fmt.Sprintf("(%d, %d)", i, i%10))
	}
	exec(t, conn, "INSERT INTO w.a VALUES "+strings.Join(a, ","))
	exec(t, conn, "INSERT INTO w.b VALUES "+strings.Join(b, ","))
	return c, open
}

func exec(t *testing.T, c *sql.Conn, stmt string) {
	_, err := c.ExecContext(t.Context(), stmt)
	require.NoError(t, err, "%.100s", stmt)
}

func count(ctx context.Context, c *sql.Conn, query string) (n int, err error) {
	err = c.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// shown reports whether SHOW PROCESSLIST has a statement with text in it.
func shown(t *testing.T, c *sql.Conn, text string) bool {
	rows, err := c.QueryContext(t.Context(), "SHOW FULL PROCESSLIST")
	require.NoError(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	values := make([]sql.RawBytes, len(names))
	dest := make([]any, len(names))
	for i := range values {
		dest[i] = &values[i]
	}
	found := false
	for rows.Next() {
		require.NoError(t, rows.Scan(dest...))
		for _, v := range values {
			found = found || strings.Contains(string(v), text)
		}
	}
	return found
}

func wantError(t *testing.T, err error, number uint16) string {
	t.Helper()
	var e *mysql.MySQLError
	require.True(t, errors.As(err, &e), "%v", err)
	require.Equal(t, number, e.Number, e.Message)
	return e.Message
}

const join = "SELECT COUNT(*) FROM w.a JOIN w.b ON a.b = b.a"

func TestLimits(t *testing.T) {
	for name, tune := range map[string]func(*server.Config){
		"workspace.max_rows":    func(c *server.Config) { c.Workspace.MaxRows = rows + rows/2 },
		"workspace.max_bytes":   func(c *server.Config) { c.Workspace.MaxBytes = 20_000 },
		"workspace.total_bytes": func(c *server.Config) { c.Workspace.TotalBytes = 20_000 },
	} {
		t.Run(name, func(t *testing.T) {
			_, open := start(t, cluster.Tune(tune))
			conn := open()
			exec(t, conn, "SET skarv_joins = workspace")
			for i := range 4 {
				if i == 3 && name != "workspace.max_rows" { // what is too large to be copied everywhere is tried in one place
					exec(t, conn, "SET skarv_joins = broadcast")
				} // what an attempt held is free again
				_, err := count(t.Context(), conn, join)
				require.Contains(t, wantError(t, err, 1235), name)
				n, err := count(t.Context(), conn, "SELECT COUNT(*) FROM w.a x JOIN w.b y ON x.b = y.a WHERE x.id = 5 AND y.id = 7")
				require.NoError(t, err)
				require.Zero(t, n)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	_, open := start(t)
	for _, joins := range []string{"workspace", "broadcast"} {
		t.Run(joins, func(t *testing.T) { ends(t, joins, open) })
	}
}

func ends(t *testing.T, joins string, open func() *sql.Conn) {
	conn, other := open(), open()
	exec(t, conn, "SET skarv_joins = "+joins)
	exec(t, conn, "REPLACE INTO w.b SELECT id, id % 10 FROM w.a")
	n, err := count(t.Context(), conn, join)
	require.NoError(t, err)
	require.Equal(t, rows*20, n) // of each of ten values, 20 rows meet 200

	id, err := count(t.Context(), conn, "SELECT CONNECTION_ID()")
	require.NoError(t, err)
	const slow = "SELECT COUNT(*) FROM w.a JOIN w.b ON a.b <> b.a WHERE SLEEP(0.01) = 0"
	ended := make(chan error, 1)
	go func() {
		_, err := count(t.Context(), conn, slow)
		ended <- err
	}()
	require.Eventually(t, func() bool { return shown(t, other, "SLEEP(0.01)") }, time.Minute, 50*time.Millisecond)
	exec(t, other, fmt.Sprintf("KILL QUERY %d", id))
	select {
	case err := <-ended:
		if err != nil {
			wantError(t, err, 1317)
		}
	case <-time.After(time.Minute):
		t.Fatal("the killed query goes on")
	}
	n, err = count(t.Context(), conn, join)
	require.NoError(t, err)
	require.Equal(t, rows*20, n)

	// Temporary tables would still hide these.
	exec(t, conn, "DELETE FROM w.b WHERE id >= 10")
	for range 3 {
		n, err = count(t.Context(), open(), "SELECT COUNT(*) FROM w.b")
		require.NoError(t, err)
		require.Equal(t, 10, n)
	}
	n, err = count(t.Context(), conn, join)
	require.NoError(t, err)
	require.Equal(t, 200, n)
}

func TestConcurrent(t *testing.T) {
	_, open := start(t)
	ended := make(chan error, 8)
	for i := range cap(ended) {
		conn := open()
		exec(t, conn, "SET skarv_joins = "+[]string{"workspace", "broadcast"}[i%2])
		go func() {
			for range 5 {
				n, err := count(t.Context(), conn, join)
				if err == nil && n != rows*20 {
					err = fmt.Errorf("%d rows", n)
				}
				if err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
	}
	for range cap(ended) {
		require.NoError(t, <-ended)
	}
}
