package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

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
				Next:    func() process.Step { return process.Step{Points: []string{point}, Stop: true} },
				Reached: func(string, bool) { close(stopped) },
			}
			var procs, client errgroup.Group
			procs.Go(func() error { return p.Run(ctx, ready) })
			defer func() {
				cancel()
				require.NoError(t, procs.Wait())
			}()
			<-ready
			through, err := openAt(t, p.Orders.Addr).Conn(ctx)
			require.NoError(t, err)
			defer through.Close()
			client.Go(func() error {
				_, err := through.ExecContext(context.Background(), "UPDATE bank.account SET balance = balance + 1")
				return err
			})
			<-stopped
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
			var low, high int
			require.NoError(t, db.QueryRow("SELECT MIN(balance), MAX(balance) FROM bank.account").Scan(&low, &high))
			require.Equal(t, fmt.Sprint(balance, balance), fmt.Sprint(low, high), "all groups, and what the client was told")
			switch point {
			case txn.PointPreparing, txn.PointPrepared:
				require.Error(t, err, "it was given up meanwhile")
			default:
				require.NoError(t, err, "nothing was prepared yet, or it was decided")
			}
		})
	}
}
