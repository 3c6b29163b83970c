package chaos

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/txn"
	"skarv/test/cluster"
	"skarv/test/process"
)

// TestPausedProxy stops a proxy at every step of a commit for as long as it takes another process to end the
// transaction in its place, and lets it go on: what it tells its client then must be what happened. On MariaDB the paused
// proxy's connections hold the prepared branches until they are ended.
func TestPausedProxy(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(groups))
	db := c.DB(t, "")
	for _, q := range []string{"CREATE DATABASE bank", "CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT NOT NULL)"} {
		_, err := db.Exec(q)
		require.NoError(t, err)
	}
	const rows = 16 // over all groups
	for id := range rows {
		_, err := db.Exec("INSERT INTO bank.account VALUES (?, 0)", id)
		require.NoError(t, err)
	}
	balance := 0
	for _, point := range txn.Points() {
		t.Run(point, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			stopped, ready := make(chan struct{}), make(chan struct{})
			p := &process.Process{
				Orders:  process.Orders{Etcd: c.Info().Etcd, Addr: process.FreeAddr(t), Log: filepath.Join(c.Info().DataDir, "proxy.log")},
				Next:    func() process.Step { return process.Step{Points: []string{point}, Stops: 1} },
				Reached: func(string, bool) { close(stopped) },
			}
			var procs, client errgroup.Group
			procs.Go(func() error { return p.Run(ctx, ready) })
			defer func() {
				cancel()
				require.NoError(t, procs.Wait())
			}()
			process.Await(t, ready, "the process serves")
			clients, err := sql.Open("mysql", "root@tcp("+p.Orders.Addr+")/bank") // who wait for as long as it takes
			require.NoError(t, err)
			defer clients.Close()
			through, err := clients.Conn(ctx)
			require.NoError(t, err)
			defer through.Close()
			client.Go(func() error {
				_, err := through.ExecContext(context.Background(), "UPDATE bank.account SET balance = balance + 1")
				return err
			})
			process.Await(t, stopped, "the process stops at "+point)
			decided := awaitDecision(t, c, point)
			(&bank{}).awaitRecovered(t, c)
			p.Signal(syscall.SIGCONT)
			err = client.Wait()
			t.Logf("the client was told: %v", err)
			if err == nil {
				balance++
			} else {
				require.ErrorContains(t, err, "1213", "it knows what became of it")
			}
			if point == txn.PointDecided { // others have finished it
				var level, message string
				var code int
				require.NoError(t, through.QueryRowContext(ctx, "SHOW WARNINGS").Scan(&level, &code, &message))
				require.Contains(t, message, "is committed; some node groups have yet to show it")
			}
			// Its last branches may have been prepared only now, and committed so slowly that the client was not kept waiting.
			(&bank{}).awaitRecovered(t, c)
			var low, high int
			require.NoError(t, db.QueryRow("SELECT MIN(balance), MAX(balance) FROM bank.account").Scan(&low, &high))
			require.Equal(t, fmt.Sprint(balance, balance), fmt.Sprint(low, high), "all groups, and what the client was told")
			if decided == "A" {
				require.Error(t, err, "it was given up meanwhile")
			} else {
				require.NoError(t, err, "nothing was prepared yet, or it was decided")
			}
		})
	}
}

// awaitDecision returns what was decided of the transaction that stopped at point, "C" or "A", when that is certain; "" if it
// has nothing prepared there.
func awaitDecision(t *testing.T, c *cluster.Cluster, point string) (state string) {
	switch point {
	case txn.PointPrepare, txn.PointFinishing, txn.PointFinished:
		return ""
	}
	var servers []*sql.DB
	for i := 1; i <= groups; i++ {
		servers = append(servers, c.NodeGroupDB(t, i, ""))
	}
	var id txn.ID
	seen := map[*sql.DB]bool{}
	require.Eventually(t, func() bool { // its branches but the first: each stays for two seconds at least
		for _, db := range servers {
			for _, id = range prepared(t, db) {
				seen[db] = true
			}
		}
		return len(seen) == groups-1
	}, time.Minute, 10*time.Millisecond)
	home, ok := id.Group()
	require.True(t, ok, id)
	db := servers[home-1]
	require.Eventually(t, func() bool {
		return db.QueryRow("SELECT state FROM _skarv.dt WHERE id = ?", string(id)).Scan(&state) == nil
	}, time.Minute, 10*time.Millisecond)
	switch point {
	case txn.PointPreparing, txn.PointPrepared:
		require.Equal(t, "A", state)
	case txn.PointDecided:
		require.Equal(t, "C", state)
	}
	return state
}
