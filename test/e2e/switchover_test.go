package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// replicated makes a cluster of two node groups, of which g1 has a replica, and two processes.
func replicated(t *testing.T) (d *deployment, replica *cluster.Server) {
	t.Helper()
	etcd := startEtcd(t, "http")
	d = &deployment{etcd: etcd, servers: bareServers(t, 2)}
	replica = cluster.StartServer(t)
	follow(t, replica, d.servers[0])
	awaitAccount(t, d.servers[0], replica)
	for range 2 {
		d.proxies = append(d.proxies, serve(t, etcdSection(etcd)))
	}
	d.initialise(t, replica)
	d.admit(t)
	return d, replica
}

// awaitAccount gives both servers Skarv's account, whose making may have come before replication.
func awaitAccount(t *testing.T, primary, replica *cluster.Server) {
	t.Helper()
	awaitReplica(t, primary, replica)
	onServer(t, primary, "CREATE USER IF NOT EXISTS "+serverUser+"@'127.0.0.1' IDENTIFIED BY '"+serverPassword+"'",
		"GRANT ALL ON *.* TO "+serverUser+"@'127.0.0.1' WITH GRANT OPTION")
	awaitReplica(t, primary, replica)
	onServer(t, replica, "SET GLOBAL read_only = ON")
}

// traffic is writers that note what was acknowledged: rows of their own, and transfers between node groups.
type traffic struct {
	end    atomic.Bool
	wait   sync.WaitGroup
	acked  []atomic.Int64 // by writer: its last row
	failed atomic.Pointer[string]
}

func (w *traffic) start(t *testing.T, dbs ...*sql.DB) {
	w.acked = make([]atomic.Int64, 4)
	for i := range w.acked {
		db := dbs[i%len(dbs)]
		w.wait.Go(func() {
			pace := time.NewTicker(100 * time.Millisecond) // a replica on a busy machine would be minutes behind
			defer pace.Stop()
			for n := 1; !w.end.Load(); n++ {
				<-pace.C
				if err := w.step(t.Context(), db, i, n); err != nil {
					text := fmt.Sprintf("writer %d, step %d: %v", i, n, err)
					w.failed.CompareAndSwap(nil, &text)
					return
				}
				w.acked[i].Store(int64(n))
			}
		})
	}
}

// step is one row, and one transfer: a transaction that takes too long on a busy machine is rolled back, and is to be tried again.
func (w *traffic) step(ctx context.Context, db *sql.DB, writer, n int) error {
	if _, err := db.ExecContext(ctx, "INSERT INTO r VALUES (?, ?)", writer*1_000_000+n, n); err != nil {
		return err
	}
	for {
		err := w.transfer(ctx, db, n)
		if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != 1213 {
			return err
		}
	}
}

func (w *traffic) transfer(ctx context.Context, db *sql.DB, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	// Always in the same order: no deadlocks.
	from, to := n%7, 7+n%5
	if _, err := tx.ExecContext(ctx, "UPDATE a SET v = v - 1 WHERE id = ?", from); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE a SET v = v + 1 WHERE id = ?", to); err != nil {
		return err
	}
	return tx.Commit()
}

// switchover makes a server the primary of g1, as soon as the replica of a busy machine is near.
func switchover(t *testing.T, p *proxy, to *cluster.Server, args ...string) result {
	t.Helper()
	var r result
	eventually(t, 3*time.Minute, "the replica is near its primary", func() bool {
		r = p.ctl(t, append([]string{"--timeout", "2m", "nodegroup", "switchover", "g1", "--to", to.Addr()}, args...)...)
		return r.code == 0 || !strings.Contains(r.errs, "too far behind")
	})
	return r
}

// total is how many steps were acknowledged.
func (w *traffic) total() (n int64) {
	for i := range w.acked {
		n += w.acked[i].Load()
	}
	return n
}

// grows waits until more is acknowledged.
func (w *traffic) grows(t *testing.T) {
	t.Helper()
	least := w.total() + 40
	eventually(t, time.Minute, "writers get on", func() bool { return w.total() >= least || w.failed.Load() != nil })
	if why := w.failed.Load(); why != nil {
		t.Fatal(*why)
	}
}

// stop ends the writers; everything that was acknowledged is there, and nothing twice or by halves.
func (w *traffic) stop(t *testing.T, db *sql.DB) {
	t.Helper()
	w.end.Store(true)
	w.wait.Wait()
	if why := w.failed.Load(); why != nil {
		t.Fatal(*why)
	}
	require.Equal(t, fmt.Sprint(w.total()), strings.TrimSpace(rowsOf(t, db, "SELECT COUNT(*) FROM r")))
	require.Equal(t, "0", strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM a")))
	require.Equal(t, fmt.Sprint(w.total()), strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM a WHERE id >= 7")))
}

func makeTables(t *testing.T, db *sql.DB) {
	t.Helper()
	exec1(t, db, "CREATE DATABASE d", "CREATE TABLE d.r (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE d.a (id INT PRIMARY KEY, v INT NOT NULL) ENGINE=InnoDB", "CREATE TABLE d.c (id INT PRIMARY KEY, v INT) ENGINE=InnoDB COMMENT='skarv:reference'",
		"CREATE TABLE d.s (id INT PRIMARY KEY, v INT) ENGINE=InnoDB COMMENT='skarv:single'", "INSERT INTO d.c VALUES (1, 1)", "INSERT INTO d.s VALUES (1, 1)",
		"INSERT INTO d.a VALUES (0,0),(1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0),(8,0),(9,0),(10,0),(11,0)")
}

// A replica becomes the primary and the old primary its replica, and back again, while clients of two processes write; none of them gets an
// error, and nothing is lost.
func TestSwitchover(t *testing.T) {
	d, replica := replicated(t)
	primary := d.servers[0]
	ctl := d.proxies[0]
	makeTables(t, d.admin(t, 0, ""))
	w := &traffic{}
	w.start(t, d.admin(t, 0, "d"), d.admin(t, 1, "d"))
	w.grows(t)

	r := ctl.ctl(t, "nodegroup", "switchover", "g1", "--to", d.servers[1].Addr())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "another one than the node group's")
	r = ctl.ctl(t, "nodegroup", "switchover", "g1", "--to", replica.Addr(), "--lost", "--yes")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "answers: leave out --lost")
	r = switchover(t, ctl, replica, "--dry-run")
	require.Zero(t, r.code, r.errs)
	require.Contains(t, r.out, "can become the primary of node group g1")

	for _, to := range []*cluster.Server{replica, primary} {
		began := time.Now()
		r = switchover(t, ctl, to)
		require.Zero(t, r.code, r.errs)
		t.Logf("%s%sin %v", r.out, r.errs, time.Since(began))
		require.NotContains(t, r.out, "does not replicate")
		w.grows(t)
		from := map[*cluster.Server]*cluster.Server{replica: primary, primary: replica}[to]
		require.Equal(t, "1", strings.TrimSpace(onServerText(t, from, "SELECT @@global.read_only")))
		require.Equal(t, "0", strings.TrimSpace(onServerText(t, to, "SELECT @@global.read_only")))
		awaitReplica(t, to, from)
		list := ctl.ctl(t, "nodegroup", "list")
		require.Regexp(t, "g1 .*"+to.Addr()+" .*"+from.Addr(), list.out)
	}
	db := d.admin(t, 1, "d")
	w.stop(t, db)
	exec1(t, db, "UPDATE c SET v = 2", "UPDATE s SET v = 2", "ALTER TABLE r ADD COLUMN w INT", "GRANT SELECT ON d.* TO admin")
	r = ctl.ctl(t, "checksum")
	require.Zero(t, r.code, r.out+r.errs)
	r = ctl.ctl(t, "nodegroup", "switchover", "g1", "--to", primary.Addr())
	require.Zero(t, r.code, "it does what is left: nothing: %s", r.errs)
	r = ctl.ctl(t, "nodegroup", "switchover", "g1", "--to", primary.Addr(), "--dry-run")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "is the primary of node group g1 already")
}

// A transaction that goes on for too long is rolled back, and its client told; what it has changed is on neither server.
func TestSwitchoverEndsTransactions(t *testing.T) {
	d, replica := replicated(t)
	db := d.admin(t, 1, "")
	makeTables(t, db)
	c := one(t, db)
	exec1(t, c, "BEGIN")
	for i := range 12 { // on both node groups
		exec1(t, c, fmt.Sprintf("UPDATE d.a SET v = 100 WHERE id = %d", i))
	}
	r := switchover(t, d.proxies[0], replica, "--drain", "200ms")
	require.Zero(t, r.code, r.errs)
	_, err := c.ExecContext(t.Context(), "COMMIT")
	require.Error(t, err)
	t.Log(err)
	require.Equal(t, "0", strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM d.a")))
	exec1(t, c, "UPDATE d.a SET v = v + 1 WHERE id < 2", "UPDATE d.a SET v = v - 1 WHERE id < 2")
}

// The primary is lost, together with a process: its replica takes its place, with everything that it had received.
func TestSwitchoverOfLostPrimary(t *testing.T) {
	d, replica := replicated(t)
	db := d.admin(t, 0, "d")
	makeTables(t, d.admin(t, 0, ""))
	for i := range 50 {
		exec1(t, db, fmt.Sprintf("INSERT INTO r VALUES (%d, 1)", i))
	}
	awaitReplica(t, d.servers[0], replica)
	require.NoError(t, d.servers[0].Kill(t.Context()))
	d.proxies[1].end(t, syscall.SIGKILL)
	r := d.proxies[0].ctl(t, "nodegroup", "switchover", "g1", "--to", replica.Addr())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "--lost")
	r = d.proxies[0].ctl(t, "nodegroup", "switchover", "g1", "--to", replica.Addr(), "--lost", "--yes")
	require.Zero(t, r.code, r.errs)
	require.Contains(t, r.out, "had not sent")
	require.Equal(t, "50", strings.TrimSpace(rowsOf(t, db, "SELECT COUNT(*) FROM r")))
	for i := range 50 {
		exec1(t, db, fmt.Sprintf("UPDATE r SET n = 2 WHERE id = %d", i))
	}
	exec1(t, db, "ALTER TABLE r ADD COLUMN w INT", "UPDATE c SET v = 3", "UPDATE s SET v = 3")
	eventually(t, time.Minute, "all is well", func() bool { return d.proxies[0].ctl(t, "status").code == 0 })
}

// A process that does not answer is shut out of the servers, the new primary included; what it was about to write is on none. It comes back.
func TestSwitchoverBesidePausedProcess(t *testing.T) {
	d, replica := replicated(t)
	makeTables(t, d.admin(t, 0, ""))
	paused := d.proxies[1]
	other := one(t, d.admin(t, 1, "d"))
	exec1(t, other, "BEGIN", "UPDATE a SET v = 100")
	require.NoError(t, paused.Process.Signal(syscall.SIGSTOP))
	eventually(t, time.Minute, "the process stands still", func() bool { // else it may commit before
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", paused.Process.Pid))
		require.NoError(t, err)
		return !slices.ContainsFunc(threads, func(stat string) bool {
			text, err := os.ReadFile(stat)
			return err == nil && !strings.Contains(string(text), ") T ")
		})
	})
	committed := make(chan error, 1)
	go func() {
		_, err := other.ExecContext(context.Background(), "COMMIT")
		committed <- err
	}()
	eventually(t, time.Minute, "the switchover is made", func() bool {
		r := d.proxies[0].ctl(t, "nodegroup", "switchover", "g1", "--to", replica.Addr())
		if r.code != 0 {
			t.Log(r.errs)
		}
		return r.code == 0
	})
	db := d.admin(t, 0, "d")
	exec1(t, db, "UPDATE a SET v = 1")
	require.NoError(t, paused.Process.Signal(syscall.SIGCONT))
	require.Error(t, <-committed)
	require.Equal(t, "12", strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM a")))
	back := d.admin(t, 1, "d")
	eventually(t, time.Minute, "the process serves again", func() bool {
		_, err := back.ExecContext(t.Context(), "UPDATE a SET v = 2")
		return err == nil
	})
	require.Equal(t, "24", strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM a")))
}
