package reorg

import (
	"context"
	"database/sql"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/test/cluster"
)

// A transaction of REPEATABLE READ that reads from a node group what was there before rows came to it does not see these rows: it is told
// to begin anew when it uses them, and not before.
func TestViewIsOlderThanMovedRows(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	db := c.DB(t, "d")
	exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, g INT, v VARCHAR(20))")
	exec(t, db, "CREATE TABLE line (tid BIGINT, n INT, PRIMARY KEY (tid, n)) PARTITION BY KEY (tid)")
	exec(t, db, "CREATE TABLE ref (id BIGINT PRIMARY KEY) COMMENT 'skarv:reference'")
	exec(t, db, "INSERT INTO ref VALUES (1)")
	for i := range 20 {
		exec(t, db, "INSERT INTO t VALUES (?, 0, '')", i)
	}
	one, two := c.NodeGroupDB(t, 1, "d"), c.NodeGroupDB(t, 2, "d")
	var here, moved, stays int
	require.NoError(t, two.QueryRow("SELECT MIN(id) FROM t").Scan(&here))
	require.NoError(t, one.QueryRow("SELECT MIN(id), MAX(id) FROM t").Scan(&moved, &stays))

	begin := func(first ...string) *sql.Conn {
		conn, err := c.DB(t, "d").Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		for _, q := range first {
			_, err := conn.ExecContext(t.Context(), q)
			require.NoError(t, err, q)
		}
		return conn
	}
	readHere := "SELECT * FROM t WHERE id = " + strconv.Itoa(here)
	readMoved := "SELECT * FROM t WHERE id = " + strconv.Itoa(moved)
	count := "SELECT COUNT(*) FROM t"
	old := map[string]*sql.Conn{}
	uses := []string{
		readMoved, count, readMoved + " FOR UPDATE", "SELECT COUNT(*) FROM t a JOIN t b ON a.g = b.id", "SELECT COUNT(*) FROM ref WHERE id NOT IN (SELECT g FROM t)",
		"SELECT * FROM t WHERE id IN (" + strconv.Itoa(here) + "," + strconv.Itoa(moved) + ")",
	}
	for _, q := range uses {
		old[q] = begin("BEGIN", readHere)
	}
	unstarted := begin("SET autocommit = 0", readHere)
	chained := begin("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN", "COMMIT AND CHAIN", readHere)
	back := begin("BEGIN", "SAVEPOINT s", readHere, "ROLLBACK TO s")
	later := begin("BEGIN", readHere, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	others := map[string]*sql.Conn{
		"nothing used":        begin("BEGIN"),
		"the other group":     begin("BEGIN", "SELECT * FROM t WHERE id = "+strconv.Itoa(stays)),
		"read committed":      begin("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", readHere),
		"read committed, too": begin("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN", readHere),
		"serializable":        begin("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", readHere),
	}
	reference := begin("BEGIN", readHere)

	// The row goes to group 2.
	s := store(t, c)
	p := partition(strconv.Itoa(moved))
	moving := placement.Moving{Reorg: "r1", A: 1, B: 2, Partitions: placement.SetOf(p), Phase: placement.In}
	publish(t, s, nil, moving)
	exec(t, two, "INSERT INTO t VALUES (?, 0, '')", moved)
	frozen := moving
	frozen.Phase, frozen.Drain, frozen.Deadline = placement.Frozen, 50*time.Millisecond, time.Minute
	publish(t, s, nil, frozen)
	publish(t, s, []placement.Move{{Partition: p, From: 1, To: 2}}, moving)

	rows := func(conn *sql.Conn, q string) (n int, err error) {
		r, err := conn.QueryContext(context.Background(), q)
		if err != nil {
			return 0, err
		}
		defer r.Close()
		for r.Next() {
			n++
		}
		return n, r.Err()
	}
	refused := func(conn *sql.Conn, q string) {
		t.Helper()
		n, err := rows(conn, q)
		assert.Equal(t, uint16(1213), code(err), "%s: %d rows, %v", q, n, err)
		n, err = rows(conn, readMoved)
		require.NoError(t, err, "it was rolled back")
		assert.Equal(t, 1, n)
	}
	for _, q := range uses {
		n, err := rows(old[q], readHere)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		refused(old[q], q)
	}
	refused(unstarted, readMoved)
	refused(chained, count)
	refused(back, readMoved)
	refused(later, readMoved)
	for name, conn := range others {
		n, err := rows(conn, readMoved)
		require.NoError(t, err, name)
		assert.Equal(t, 1, n, name)
		var all int
		require.NoError(t, conn.QueryRowContext(t.Context(), count).Scan(&all), name)
		assert.Equal(t, 20, all, name)
		_, err = conn.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err, name)
	}
	n, err := rows(reference, "SELECT * FROM ref")
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	n, err = rows(reference, "SELECT * FROM t WHERE id = "+strconv.Itoa(stays))
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	exec(t, one, "DELETE FROM t WHERE id = ?", moved)
	publish(t, s, nil)
	refused(reference, count)
}
