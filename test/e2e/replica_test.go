package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// follow makes a fresh server a replica of another one.
func follow(t *testing.T, replica, primary *cluster.Server) {
	t.Helper()
	host, port, err := net.SplitHostPort(primary.Addr())
	require.NoError(t, err)
	_, id, err := net.SplitHostPort(replica.Addr())
	require.NoError(t, err)
	statements := []string{"STOP SLAVE", "RESET MASTER", "SET GLOBAL gtid_slave_pos = ''", "SET GLOBAL server_id = " + id,
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '%s', MASTER_PORT = %s, MASTER_USER = '%s', MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos",
			host, port, serverUser, serverPassword),
		"START SLAVE"}
	if cluster.TestEngine() == datanode.MySQL {
		statements = []string{"RESET BINARY LOGS AND GTIDS", "SET GLOBAL server_id = " + id,
			fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = '%s', SOURCE_PASSWORD = '%s', "+
				"SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1", host, port, serverUser, serverPassword),
			"START REPLICA"}
	}
	// One thread applies what several clients wrote: without waiting for the disk it keeps up with them.
	onServer(t, replica, append(statements, "SET GLOBAL sync_binlog = 0", "SET GLOBAL innodb_flush_log_at_trx_commit = 0")...)
}

// awaitReplica waits until a replica has everything that its primary has.
func awaitReplica(t *testing.T, primary, replica *cluster.Server) {
	t.Helper()
	end, has := "SELECT @@global.gtid_binlog_pos", "SELECT MASTER_GTID_WAIT('%s', 1) = 0"
	status := "SHOW SLAVE STATUS"
	if cluster.TestEngine() == datanode.MySQL {
		end, has, status = "SELECT REPLACE(@@global.gtid_executed, '\n', '')", "SELECT GTID_SUBSET('%s', @@global.gtid_executed)", "SHOW REPLICA STATUS"
	}
	position := strings.TrimSpace(onServerText(t, primary, end))
	for limit := time.Now().Add(5 * time.Minute); strings.TrimSpace(onServerText(t, replica, fmt.Sprintf(has, position))) != "1"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("the replica does not come to %s: %s", position, onServerText(t, replica, status))
		}
	}
}

// A server is imported together with its replica, and a checksum compares the two under load.
func TestChecksumOfReplica(t *testing.T) {
	etcd := startEtcd(t, "http")
	primary, replica := cluster.StartServer(t), cluster.StartServer(t)
	reset := map[bool]string{false: "RESET MASTER", true: "RESET BINARY LOGS AND GTIDS"}[cluster.TestEngine() == datanode.MySQL]
	onServer(t, primary, reset, "CREATE USER "+serverUser+"@'127.0.0.1' IDENTIFIED BY '"+serverPassword+"'",
		"GRANT ALL ON *.* TO "+serverUser+"@'127.0.0.1' WITH GRANT OPTION")
	follow(t, replica, primary)
	onServer(t, primary, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE d.s (id INT PRIMARY KEY, n INT NOT NULL) ENGINE=InnoDB COMMENT='skarv:single'")
	for i := range 50 {
		onServer(t, primary, fmt.Sprintf("INSERT INTO d.t VALUES (%d, 0)", i), fmt.Sprintf("INSERT INTO d.s VALUES (%d, 0)", i))
	}
	p := serve(t, etcdSection(etcd)+"move: {replica_lag: 1ms}\n")
	r := p.ctlWith(t, serverPassword, "import", "a="+primary.Addr()+","+replica.Addr(), "--user", serverUser, "--password-file", "-", "--yes", "--connected")
	require.Zero(t, r.code, r.errs)
	p.awaitReady(t)
	r = p.ctlWith(t, adminPassword, "user", "add", "admin", "--grant", "*:admin", "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	db := p.db(t, "admin", adminPassword, "d")
	s := &story{}
	for w := range 2 {
		s.g.Go(func() error {
			pace := time.NewTicker(10 * time.Millisecond) // a replica on a busy machine would be minutes behind
			defer pace.Stop()
			for i := 0; !s.end.Load(); i++ {
				<-pace.C
				if err := s.run(db, fmt.Sprintf("UPDATE t SET n = n + 1 WHERE id = %d", (2*i+w)%50)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	checksum := func(code int) (found []string, rows int) {
		t.Helper()
		r := p.ctl(t, "checksum", "-o", "json")
		require.Equal(t, code, r.code, "%s%s", r.out, r.errs)
		var out struct {
			Tables []struct {
				Table, Comparison string
				Rows              int
				Differences       []struct{ Key, What string }
			}
			Skipped []string
		}
		require.NoError(t, json.Unmarshal([]byte(r.out), &out))
		require.Empty(t, out.Skipped)
		for _, x := range out.Tables {
			if x.Comparison == "replica" {
				rows += x.Rows
			}
			for _, d := range x.Differences {
				found = append(found, strings.Join([]string{x.Table, x.Comparison, d.Key, d.What}, " "))
			}
		}
		return found, rows
	}
	awaitReplica(t, primary, replica) // the mark by which it is known
	found, rows := checksum(0)
	require.Empty(t, found)
	require.Equal(t, 100, rows)
	s.stop(t)
	awaitReplica(t, primary, replica) // who was behind for long is no fault of the comparison, which waits for it
	// Past the binary log: a transaction of its own would end the replication, and the comparison would wait for it.
	onServer(t, replica, "SET GLOBAL read_only = 0", "SET sql_log_bin = 0", "UPDATE d.s SET n = 5 WHERE id = 7")
	found, _ = checksum(1)
	require.Equal(t, []string{"d.s replica id=7 n on node group a"}, found)

	// Partitions that move away from it move slowly while it is behind, which the reorganisation says, and they do move.
	stop, start := "STOP SLAVE SQL_THREAD", "START SLAVE SQL_THREAD"
	if cluster.TestEngine() == datanode.MySQL {
		stop, start = "STOP REPLICA SQL_THREAD", "START REPLICA SQL_THREAD"
	}
	onServer(t, replica, stop)
	other := cluster.StartServer(t)
	onServer(t, other, "CREATE USER "+serverUser+"@'127.0.0.1' IDENTIFIED BY '"+serverPassword+"'",
		"GRANT ALL ON *.* TO "+serverUser+"@'127.0.0.1' WITH GRANT OPTION")
	r = p.ctlWith(t, serverPassword, "nodegroup", "add", other.Addr(), "--user", serverUser, "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	r = p.ctl(t, "rebalance", "--yes")
	require.Zero(t, r.code, r.errs)
	var shown string
	require.Eventually(t, func() bool {
		shown = p.ctl(t, "reorg", "show").out
		return strings.Contains(shown, "replica "+replica.Addr()) || strings.Contains(shown, "REVERSE")
	}, time.Minute, 100*time.Millisecond)
	require.Contains(t, shown, "replica "+replica.Addr())
	require.Eventually(t, func() bool {
		shown = p.ctl(t, "reorg", "show").out
		return strings.Contains(shown, "REVERSE")
	}, 5*time.Minute, 100*time.Millisecond, "%s", shown)
	onServer(t, replica, start)
}
