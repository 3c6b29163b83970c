package e2e

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// loses makes a cluster of node groups with a replica each, whose primaries may be lost, and two processes that soon take silence for loss.
func loses(t *testing.T, groups int) (d *deployment, replicas []*cluster.Server) {
	t.Helper()
	etcd := startEtcd(t, "http")
	d = &deployment{etcd: etcd, servers: bareServers(t, groups)}
	for _, primary := range d.servers {
		replica := cluster.StartServer(t)
		replicas = append(replicas, replica)
		follow(t, replica, primary)
		awaitAccount(t, primary, replica)
		lossless(t, primary, replica)
	}
	for range 2 {
		d.proxies = append(d.proxies, serve(t, etcdSection(etcd)+"failover: {after: 5s}\nbackend: {fail_after: 3s}\n"))
	}
	d.initialise(t, replicas...)
	d.admit(t)
	return d, replicas
}

// leader tells the process that leads, and another one.
func (d *deployment) leader(t *testing.T) (leads, other *proxy) {
	t.Helper()
	leads, other = d.proxies[0], d.proxies[1]
	if r := other.ctl(t, "status", "--output", "json"); !strings.Contains(r.out, `"controller": "`+leads.admin+`"`) {
		leads, other = other, leads
	}
	return leads, other
}

// lossless sets what must be set, but that the primary waits for its replica, which the controller does.
func lossless(t *testing.T, primary, replica *cluster.Server) {
	t.Helper()
	settings := []string{"SET GLOBAL sync_binlog = 1", "SET GLOBAL innodb_flush_log_at_trx_commit = 1"}
	if cluster.TestEngine() == datanode.MySQL {
		settings = append(settings, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'", "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'",
			"SET GLOBAL rpl_semi_sync_source_timeout = 4294967295")
	} else {
		settings = append(settings, "SET GLOBAL rpl_semi_sync_master_timeout = 4294967295", "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC")
	}
	onServer(t, primary, settings...)
	acknowledge(t, replica)
}

// acknowledge has a replica acknowledge what it receives.
func acknowledge(t *testing.T, replica *cluster.Server) {
	t.Helper()
	if cluster.TestEngine() == datanode.MySQL {
		onServer(t, replica, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'", "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'",
			"SET GLOBAL rpl_semi_sync_replica_enabled = ON", "STOP REPLICA IO_THREAD", "START REPLICA IO_THREAD")
		return
	}
	onServer(t, replica, "SET GLOBAL rpl_semi_sync_slave_enabled = ON", "STOP SLAVE IO_THREAD", "START SLAVE IO_THREAD")
}

// arm turns automatic failover of a group on, and waits until it is armed.
func arm(t *testing.T, p *proxy, group string) {
	t.Helper()
	p.must(t, "nodegroup", "failover", group, "--automatic", "on")
	awaitArmed(t, p, group)
}

func awaitArmed(t *testing.T, p *proxy, group string) {
	t.Helper()
	armed := regexp.MustCompile(group + ` .* armed`)
	not := regexp.MustCompile(group + ` .* not armed`)
	eventually(t, 2*time.Minute, group+" is armed", func() bool {
		list := p.ctl(t, "nodegroup", "list").out
		if armed.MatchString(list) && !not.MatchString(list) {
			return true
		}
		t.Log(p.ctl(t, "status").out)
		return false
	})
}

// awaitPrimary waits until a server is a group's primary.
func awaitPrimary(t *testing.T, p *proxy, group string, server *cluster.Server) {
	t.Helper()
	primary := regexp.MustCompile(`(?m)^\d+ +` + group + ` +` + server.Addr() + ` `)
	last := ""
	eventually(t, 3*time.Minute, server.Addr()+" is the primary of "+group, func() bool {
		r := p.ctl(t, "status")
		if i := strings.Index(r.out, "PROBLEM"); i >= 0 && r.out[i:] != last {
			last = r.out[i:]
			t.Log(last)
		}
		return primary.MatchString(r.out)
	})
}

// survivors are writers that go on after errors, and note what was acknowledged.
type survivors struct {
	end     atomic.Bool
	wait    sync.WaitGroup
	mu      sync.Mutex
	rows    []int // acknowledged
	moved   int   // transfers that were
	unsure  int   // and those of which it is not known
	counted atomic.Int64
}

func (w *survivors) start(t *testing.T, dbs ...*sql.DB) {
	for i, db := range dbs {
		w.wait.Go(func() {
			pace := time.NewTicker(50 * time.Millisecond)
			defer pace.Stop()
			for n := 1; !w.end.Load(); n++ {
				<-pace.C
				id := i*1_000_000 + n
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				_, row := db.ExecContext(ctx, "INSERT INTO r VALUES (?, ?)", id, n)
				sent, transfer := transferred(ctx, db, n)
				cancel()
				w.mu.Lock()
				if row == nil {
					w.rows = append(w.rows, id)
				}
				switch {
				case transfer == nil:
					w.moved++
				case sent:
					w.unsure++
				}
				w.mu.Unlock()
				if row == nil && transfer == nil {
					w.counted.Add(1)
				}
			}
		})
	}
}

// transferred is traffic.transfer; sent: its COMMIT was.
func transferred(ctx context.Context, db *sql.DB, n int) (sent bool, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	for _, q := range []string{"UPDATE a SET v = v - 1 WHERE id = ?", "UPDATE a SET v = v + 1 WHERE id = ?"} {
		if _, err := tx.ExecContext(ctx, q, map[bool]int{true: n % 7, false: 7 + n%5}[strings.Contains(q, "- 1")]); err != nil {
			return false, err
		}
	}
	return true, tx.Commit()
}

// grows waits until much more is acknowledged.
func (w *survivors) grows(t *testing.T) {
	t.Helper()
	least := w.counted.Load() + 20
	eventually(t, 2*time.Minute, "writers get on", func() bool { return w.counted.Load() >= least })
}

// stop ends the writers: what was acknowledged is there, once, and no transfer by halves.
func (w *survivors) stop(t *testing.T, db *sql.DB) {
	t.Helper()
	w.end.Store(true)
	w.wait.Wait()
	there := map[int]int{}
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM r")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int
		require.NoError(t, rows.Scan(&id))
		there[id]++
	}
	require.NoError(t, rows.Err())
	for _, id := range w.rows {
		require.Equal(t, 1, there[id], "row %d was acknowledged", id)
	}
	t.Logf("%d rows, %d transfers acknowledged, %d unsure", len(w.rows), w.moved, w.unsure)
	require.Equal(t, "0", strings.TrimSpace(rowsOf(t, db, "SELECT SUM(v) FROM a")))
	var moved int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT SUM(v) FROM a WHERE id >= 7").Scan(&moved))
	require.GreaterOrEqual(t, moved, w.moved)
	require.LessOrEqual(t, moved, w.moved+w.unsure)
}

// A primary dies under writers, and so does the process that leads: the other one has the replica take its place, and everything that was acknowledged is
// there. The node group beside it, which does not do that, waits for its primary.
func TestAutomaticFailover(t *testing.T) {
	d, replicas := loses(t, 2)
	makeTables(t, d.admin(t, 0, ""))
	leads, ctl := d.leader(t)
	arm(t, ctl, "g1")
	db := ctl.db(t, "admin", adminPassword, "d")
	w := &survivors{}
	w.start(t, db, db, db)
	w.grows(t)
	require.NoError(t, d.servers[0].Kill(t.Context()))
	leads.end(t, syscall.SIGKILL)
	awaitPrimary(t, ctl, "g1", replicas[0])
	w.grows(t)
	w.stop(t, db)
	eventually(t, time.Minute, "no transaction is in doubt", func() bool { return !strings.Contains(ctl.ctl(t, "transactions").out, "in doubt") })
	eventually(t, time.Minute, "the controller looks at the new primary", func() bool { return strings.Contains(ctl.ctl(t, "status").out, "has no replica") })

	// It comes back: nobody writes there, and it is told of.
	require.NoError(t, d.servers[0].Start(t.Context()))
	eventually(t, time.Minute, "it is read-only", func() bool {
		return strings.TrimSpace(onServerText(t, d.servers[0], "SELECT @@global.read_only")) == "1"
	})
	eventually(t, time.Minute, "it is told of", func() bool {
		return strings.Contains(ctl.ctl(t, "status").out, "the server at "+d.servers[0].Addr()+" was the primary of node group g1")
	})
	r := ctl.ctl(t, "nodegroup", "failover", "g1", "--automatic", "off")
	require.Zero(t, r.code, r.errs)
}

// A primary that stands still is replaced, and what it does when it goes on is of no account.
func TestAutomaticFailoverOfStoppedPrimary(t *testing.T) {
	d, replicas := loses(t, 1)
	ctl := d.proxies[0]
	makeTables(t, d.admin(t, 0, ""))
	arm(t, ctl, "g1")
	w := &survivors{}
	w.start(t, d.admin(t, 0, "d"), d.admin(t, 1, "d"))
	w.grows(t)
	require.NoError(t, syscall.Kill(d.servers[0].Status().Pid, syscall.SIGSTOP))
	awaitPrimary(t, ctl, "g1", replicas[0])
	require.NoError(t, syscall.Kill(d.servers[0].Status().Pid, syscall.SIGCONT))
	w.grows(t)
	w.stop(t, d.admin(t, 1, "d"))
	eventually(t, time.Minute, "it is told of", func() bool {
		return strings.Contains(ctl.ctl(t, "status").out, "the server at "+d.servers[0].Addr()+" was the primary of node group g1")
	})
}

// The process that leads stands still while two primaries die, as it is when a machine goes that had them all. Its successor has found them lost, and replaced
// them, when it goes on: it has been shut out, and comes back.
func TestAutomaticFailoverBesidePausedController(t *testing.T) {
	d, replicas := loses(t, 2)
	makeTables(t, d.admin(t, 0, ""))
	leads, ctl := d.leader(t)
	arm(t, ctl, "g1")
	arm(t, ctl, "g2")
	paused, db := leads.db(t, "admin", adminPassword, "d"), ctl.db(t, "admin", adminPassword, "d")
	w := &survivors{}
	w.start(t, db, db)
	w.grows(t)
	require.NoError(t, leads.Process.Signal(syscall.SIGSTOP))
	for _, s := range d.servers {
		require.NoError(t, s.Kill(t.Context()))
	}
	awaitPrimary(t, ctl, "g1", replicas[0])
	awaitPrimary(t, ctl, "g2", replicas[1])
	require.NoError(t, leads.Process.Signal(syscall.SIGCONT))
	eventually(t, time.Minute, "the process serves again", func() bool {
		_, err := paused.ExecContext(t.Context(), "UPDATE a SET v = v")
		return err == nil
	})
	w.grows(t)
	w.stop(t, paused)
	require.Equal(t, "0", strings.TrimSpace(onServerText(t, replicas[0], "SELECT @@global.read_only")))
}

// A node group's only replica is lost for good, under writers, and another server is named in its place: it takes the primary's place when that is lost, too, and everything that
// was acknowledged is there.
func TestReplicaIsReplaced(t *testing.T) {
	second := bareServers(t, 1)[0] // a replica that has just been started is not relied on
	d, replicas := loses(t, 1)
	primary, first := d.servers[0], replicas[0]
	makeTables(t, d.admin(t, 0, ""))
	ctl := d.proxies[0]
	arm(t, ctl, "g1")
	r := ctl.ctl(t, "nodegroup", "replica", "add", "g1", second.Addr())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "is no replica: load a backup of the primary of node group g1 there")
	onServer(t, second, "DROP USER "+serverUser+"@'127.0.0.1'") // the primary's log has it, too
	follow(t, second, primary)
	awaitReplica(t, primary, second)
	acknowledge(t, second)
	onServer(t, second, "SET GLOBAL read_only = ON")
	w := &survivors{}
	w.start(t, d.admin(t, 0, "d"), d.admin(t, 1, "d"))
	w.grows(t)
	require.NoError(t, first.Kill(t.Context()))
	w.grows(t)
	eventually(t, time.Minute, "the controller misses it", func() bool {
		return strings.Contains(ctl.ctl(t, "status").out, "if it is lost for good: skarvctl nodegroup replica remove")
	})
	require.Contains(t, ctl.must(t, "nodegroup", "replica", "add", "g1", second.Addr()), second.Addr()+" is a replica of node group g1.")
	require.Regexp(t, "g1 .*"+first.Addr()+","+second.Addr(), ctl.must(t, "nodegroup", "list"))
	require.Contains(t, d.proxies[1].must(t, "nodegroup", "replica", "remove", "g1", first.Addr()), first.Addr()+" is no replica of node group g1.")
	awaitArmed(t, ctl, "g1")
	require.NoError(t, primary.Kill(t.Context()))
	awaitPrimary(t, ctl, "g1", second)
	w.grows(t)
	w.stop(t, d.admin(t, 1, "d"))
}
