package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
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

// stopApplying and startApplying are the statements that have a replica stand still, and go on.
func stopApplying() string { return "STOP " + replicaWord() + " SQL_THREAD" }

func startApplying() string { return "START " + replicaWord() + " SQL_THREAD" }

func replicaWord() string {
	if cluster.TestEngine() == datanode.MySQL {
		return "REPLICA"
	}
	return "SLAVE"
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
	onServer(t, replica, stopApplying())
	reset, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: d.proxies[0].mysql, User: "admin", Password: adminPassword, DB: "shop"})
	require.NoError(t, err)
	defer reset.Close()
	_, err = reset.Exec("UPDATE t SET v = 55 WHERE id = " + id)
	require.NoError(t, err)
	_, err = reset.Relay(wire.AppendCommand(nil, wire.ComResetConnection, nil), wire.ComResetConnection, io.Discard, make([]byte, 1<<10))
	require.NoError(t, err)
	_, err = reset.Exec("SET skarv_read_from = replica")
	require.NoError(t, err)
	_, rows, err := reset.QueryAll(r.row, 1)
	require.NoError(t, err)
	require.Equal(t, "55", string(rows[0][0]), "also behind a reset of the connection")
	onServer(t, replica, startApplying())
	r.from(replica, "it has nothing that others have not")
	_, port := r.read(r.row + " FOR UPDATE")
	require.Equal(t, primaryPort, port, "rows are locked on the primary")
	exec(r.db, "BEGIN")
	_, port = r.read(r.row)
	require.Equal(t, primaryPort, port, "transactions read from the primary")
	exec(r.db, "ROLLBACK")

	r.from(replica, "before it stands still")
	onServer(t, replica, stopApplying())
	exec(other, "ALTER TABLE t ADD w INT NOT NULL DEFAULT 7")
	v, _ := r.read(strings.Replace(r.row, "v", "w", 1)) // at once
	require.Equal(t, 7, v, "what the schema says")
	exec(other, "UPDATE t SET v = 12345 WHERE id = "+id)
	require.Eventually(t, func() bool {
		v, _ := r.read(r.row)
		return v == 12345
	}, 20*time.Second, 10*time.Millisecond, "a replica that stands still is read from for as long as it may be behind")
	onServer(t, replica, startApplying())
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

// link passes bytes on to an address, until it hangs.
type link struct {
	net.Listener
	to   string
	hang chan struct{} // closed: it does
}

func newLink(t *testing.T, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	k := &link{l, to, make(chan struct{})}
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go k.pass(t.Context(), c)
		}
	}()
	return k
}

func (l *link) pass(ctx context.Context, c net.Conn) {
	to, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = c.Close()
		return
	}
	one := func(dst, src net.Conn) {
		defer dst.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := src.Read(b)
			select {
			case <-l.hang:
				<-ctx.Done()
				return
			default:
			}
			if _, failed := dst.Write(b[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go one(to, c)
	one(c, to)
}

// A process that the cluster goes on without, because it does not reach etcd, reads nothing of before from replicas either: rows that have moved
// away, and been deleted where they were, are found, or there is an error.
func TestReadsFromReplicasEndWithTheProcess(t *testing.T) {
	etcd := startEtcd(t, "http")
	d := &deployment{etcd: etcd, servers: bareServers(t, 2)}
	replica := cluster.StartServer(t)
	follow(t, replica, d.servers[0])
	awaitAccount(t, d.servers[0], replica)
	l := newLink(t, strings.TrimPrefix(etcd.url, "http://"))
	d.proxies = append(d.proxies, serve(t, etcdSection(etcd)), serve(t, "etcd: {endpoints: ['http://"+l.Addr().String()+"']}\n"))
	d.initialise(t, replica)
	d.admit(t)
	_, err := d.admin(t, 0, "").Exec("CREATE DATABASE shop")
	require.NoError(t, err)
	db := d.admin(t, 0, "shop")
	_, err = db.Exec("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO t VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1)")
	require.NoError(t, err)
	awaitReplica(t, d.servers[0], replica)
	_, primaryPort, err := net.SplitHostPort(d.servers[0].Addr())
	require.NoError(t, err)
	var id string
	require.NoError(t, db.QueryRow("SELECT id FROM (SELECT id, @@port AS port FROM t) AS x WHERE port = "+primaryPort+" LIMIT 1").Scan(&id))
	r := &reader{t, one(t, d.admin(t, 1, "shop")), "SELECT v, @@port FROM t WHERE id = " + id}
	_, err = r.db.ExecContext(t.Context(), "SET skarv_read_from = replica")
	require.NoError(t, err)
	r.from(replica, "it is up to date")

	close(l.hang)
	moved := make(chan result, 1)
	go func() {
		moved <- d.proxies[0].ctl(t, "nodegroup", "drain", "g1", "--yes", "--wait", "--rollback-window", "0s", "--timeout", "90s")
	}()
	var failure error
	for failure == nil {
		var v int
		var port string
		failure = r.db.QueryRowContext(t.Context(), r.row).Scan(&v, &port)
		require.NotErrorIs(t, failure, sql.ErrNoRows, "a row that is there")
	}
	require.ErrorContains(t, failure, "1430", "it was shut out")
	m := <-moved
	require.Zero(t, m.code, m.errs)
	_, err = db.Exec("UPDATE t SET v = 2")
	require.NoError(t, err)
	for range 100 {
		var v int
		var port string
		require.Error(t, r.db.QueryRowContext(t.Context(), r.row).Scan(&v, &port), "%d from %s", v, port)
	}
}
