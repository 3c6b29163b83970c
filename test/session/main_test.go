// Package session tests what belongs to one client: its state, its transaction, its prepared statements, against a
// cluster of four node groups shared by all tests.
package session

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/dev"
	"skarv/test/cluster"
)

var shared *cluster.Cluster

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "skarv-test-")
	if err == nil {
		shared, err = cluster.Open(dev.Config{NodeGroups: 4, Engine: cluster.TestEngine(), DataDir: dir, Version: "test"})
	}
	if err == nil {
		err = createTables()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start cluster:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop cluster:", err)
		code = max(code, 1)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func createTables() error {
	db, err := sql.Open("mysql", shared.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	values := make([]string, 100)
	for i := range values {
		values[i] = fmt.Sprintf("(%d,'v%d')", i+1, i+1)
	}
	for _, stmt := range []string{
		"CREATE DATABASE d",
		"CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
		"CREATE TABLE d.u (id INT PRIMARY KEY, v VARCHAR(20))",
		"CREATE TABLE d.single (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20)) COMMENT 'skarv:single'",
		"CREATE DATABASE secret",
		"CREATE TABLE secret.s (id INT PRIMARY KEY)",
		"INSERT INTO d.t VALUES " + strings.Join(values, ","),
	} {
		if _, err := db.Exec(stmt); err != nil {
			return fmt.Errorf("%s: %w", stmt, err)
		}
	}
	return nil
}

// client is one connection to the cluster. Its statements end with the test: closing a connection waits for them.
type client struct {
	t   *testing.T
	ctx context.Context
	*sql.Conn
}

func connect(t *testing.T, params ...string) *client {
	t.Helper()
	return connectTo(t, shared.DSN("d", params...))
}

func connectTo(t *testing.T, dsn string) *client {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	c, err := db.Conn(context.Background())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); c.Close(); db.Close() })
	return &client{t, ctx, c}
}

func (c *client) exec(query string, args ...any) {
	c.t.Helper()
	_, err := c.ExecContext(c.ctx, query, args...)
	require.NoError(c.t, err, query)
}

// end closes the connection instead of giving it back to the driver's pool.
func (c *client) end() {
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
}

// fails runs a statement that must end with the error number.
func (c *client) fails(number int, query string, args ...any) {
	c.t.Helper()
	rows, err := c.QueryContext(c.ctx, query, args...)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	var e *mysql.MySQLError
	require.True(c.t, errors.As(err, &e), "%s: %v", query, err)
	require.Equal(c.t, number, int(e.Number), "%s: %v", query, err)
}

// get returns a result: values joined by commas, rows by semicolons.
func (c *client) get(query string, args ...any) string {
	c.t.Helper()
	s, err := c.try(query, args...)
	require.NoError(c.t, err, query)
	return s
}

func (c *client) try(query string, args ...any) (string, error) {
	rows, err := c.QueryContext(c.ctx, query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	return textOf(rows)
}

// batch runs statements that are sent at once, so that the client is never idle in between, and returns the results of those that
// have rows.
func (c *client) batch(statements ...string) (results []string) {
	c.t.Helper()
	rows, err := c.QueryContext(c.ctx, strings.Join(statements, "; "))
	require.NoError(c.t, err, statements)
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() {
		cols, _ := rows.Columns()
		text, err := textOf(rows)
		require.NoError(c.t, err, statements)
		if len(cols) > 0 {
			results = append(results, text)
		}
	}
	require.NoError(c.t, rows.Err(), statements)
	return results
}

// textOf reads a result.
func textOf(rows *sql.Rows) (string, error) {
	cols, _ := rows.Columns()
	var out []string
	for rows.Next() {
		values := make([]sql.NullString, len(cols))
		into := make([]any, len(cols))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		texts := make([]string, len(cols))
		for i, v := range values {
			texts[i] = v.String
			if !v.Valid {
				texts[i] = "NULL"
			}
		}
		out = append(out, strings.Join(texts, ","))
	}
	return strings.Join(out, ";"), rows.Err()
}

// groupOf returns the node group that has row id of d.t.
func groupOf(t *testing.T, id int) int {
	for g := 1; g <= 4; g++ {
		var n int
		require.NoError(t, shared.NodeGroupDB(t, g, "d").QueryRow("SELECT COUNT(*) FROM t WHERE id = ?", id).Scan(&n))
		if n == 1 {
			return g
		}
	}
	t.Fatalf("no group has row %d", id)
	return 0
}

// idsApart returns two ids of d.t in two node groups.
func idsApart(t *testing.T) (a, b int) {
	g := groupOf(t, 1)
	for id := 2; ; id++ {
		if groupOf(t, id) != g {
			return 1, id
		}
	}
}

func ping(dsn string) error {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Ping()
}

// endConnections ends the connections of a server that the condition is about, and returns when they are gone: one that is about to end
// would be given to a later test.
func endConnections(t *testing.T, db *sql.DB, condition string) {
	t.Helper()
	rows, err := db.Query("SELECT id FROM information_schema.processlist WHERE " + condition)
	require.NoError(t, err)
	var ids []int
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(t, rows.Err())
	for _, id := range ids {
		_, _ = db.Exec(fmt.Sprint("KILL ", id)) // it may be gone by itself
	}
	require.Eventually(t, func() bool {
		for _, id := range ids {
			var left int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?", id).Scan(&left))
			if left > 0 {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
}
