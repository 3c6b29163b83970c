package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// reader is a client that reads from replicas.
type reader struct {
	t   *testing.T
	db  *sql.Conn
	row string // reads the row that others change, and the port of the server
}

// read is what a query of one row and two columns says: a value, and the port of the server that was asked.
func (r *reader) read(query string) (value int, port string) {
	r.t.Helper()
	require.NoError(r.t, r.db.QueryRowContext(r.t.Context(), query).Scan(&value, &port), query)
	return value, port
}

// from waits until the row is read from a server.
func (r *reader) from(s *cluster.Server, why string) {
	r.t.Helper()
	_, want, err := net.SplitHostPort(s.Addr())
	require.NoError(r.t, err)
	require.Eventually(r.t, func() bool {
		_, port := r.read(r.row)
		return port == want
	}, time.Minute, 20*time.Millisecond, why)
}

// What sessions read from replicas has all that they have written and all that the schema says, is no older than it may be, and is read from the
// primary where a replica cannot give it.
func TestReadsFromReplicas(t *testing.T) {
	d, replica := replicated(t)
	primary := d.servers[0]
	db := d.admin(t, 0, "")
	_, err := db.Exec("CREATE DATABASE shop")
	require.NoError(t, err)
	db = d.admin(t, 0, "shop")
	other := one(t, db)
	exec := func(c *sql.Conn, statements ...string) {
		t.Helper()
		for _, q := range statements {
			_, err := c.ExecContext(t.Context(), q)
			require.NoError(t, err, q)
		}
	}
	exec(other, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0)")
	awaitReplica(t, primary, replica)
	onServer(t, replica, "SET GLOBAL read_only = 1")
	_, primaryPort, err := net.SplitHostPort(primary.Addr())
	require.NoError(t, err)
	var id string // of a row of the node group that has a replica
	require.NoError(t, other.QueryRowContext(t.Context(), "SELECT id FROM (SELECT id, @@port AS port FROM t) AS x WHERE port = "+primaryPort+" LIMIT 1").Scan(&id))
	r := &reader{t, one(t, db), "SELECT v, @@port FROM t WHERE id = " + id}
	exec(r.db, "SET skarv_read_from = replica")
	r.from(replica, "it is up to date")

	for i := range 200 { // its own writes, also those of transactions
		exec(r.db, fmt.Sprintf("UPDATE t SET v = %d WHERE id = %s", i, id))
		v, _ := r.read(r.row)
		require.Equal(t, i, v)
		exec(r.db, "BEGIN", "UPDATE t SET v = -v - 1 WHERE id = "+id, "COMMIT")
		v, _ = r.read("SELECT SUM(v), 0 FROM t")
		require.Equal(t, -i-1, v)
	}
	r.from(replica, "it has nothing that others have not")
	_, port := r.read(r.row + " FOR UPDATE")
	require.Equal(t, primaryPort, port, "rows are locked on the primary")
	exec(r.db, "BEGIN")
	_, port = r.read(r.row)
	require.Equal(t, primaryPort, port, "transactions read from the primary")
	exec(r.db, "ROLLBACK")

	stop, start := "STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"
	if cluster.TestEngine() == datanode.MySQL {
		stop, start = "STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD"
	}
	r.from(replica, "before it stands still")
	onServer(t, replica, stop)
	exec(other, "ALTER TABLE t ADD w INT NOT NULL DEFAULT 7")
	v, _ := r.read(strings.Replace(r.row, "v", "w", 1)) // at once
	require.Equal(t, 7, v, "what the schema says")
	exec(other, "UPDATE t SET v = 12345 WHERE id = "+id)
	require.Eventually(t, func() bool {
		v, _ := r.read(r.row)
		return v == 12345
	}, 20*time.Second, 10*time.Millisecond, "a replica that stands still is read from for as long as it may be behind")
	onServer(t, replica, start)
	r.from(replica, "it goes on")
	onServer(t, replica, "SET GLOBAL read_only = 0")
	r.from(primary, "somebody might write there")
	onServer(t, replica, "SET GLOBAL read_only = 1")
	r.from(replica, "nobody can")

	// The replica stands still, then dies, while it is read from: nobody is told.
	var reads atomic.Int64
	failed := make(chan error, 4)
	ctx, end := context.WithCancel(t.Context())
	for range 4 {
		c := one(t, db)
		exec(c, "SET skarv_read_from = 'replica'")
		go func() {
			var v, n int
			for ctx.Err() == nil {
				q := []string{"SELECT v FROM t WHERE id = " + id, "SELECT SUM(v) FROM t"}[n%2]
				if err := c.QueryRowContext(context.WithoutCancel(ctx), q).Scan(&v); err != nil {
					failed <- fmt.Errorf("%s: %w", q, err)
					return
				}
				n++
				reads.Add(1)
			}
			failed <- nil
		}()
	}
	more := func() {
		t.Helper()
		at := reads.Load()
		require.Eventually(t, func() bool { return reads.Load() > at+200 }, time.Minute, 10*time.Millisecond)
	}
	more()
	require.NoError(t, syscall.Kill(replica.Status().Pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(replica.Status().Pid, syscall.SIGCONT) })
	more()
	require.NoError(t, syscall.Kill(replica.Status().Pid, syscall.SIGCONT))
	r.from(replica, "it goes on")
	more()
	require.NoError(t, replica.Kill(t.Context()))
	more()
	end()
	for range 4 {
		require.NoError(t, <-failed)
	}
	r.from(primary, "there is no replica")
	_, metrics := d.proxies[0].get(t, "/metrics")
	require.True(t, strings.Contains(metrics, `skarv_replica_reads_total{addr="`+replica.Addr()+`"`), "metrics")
}
