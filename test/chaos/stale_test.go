package chaos

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
	"skarv/test/process"
)

// TestPausedBeforeAnIndex stops a proxy one of whose statements waits for a connection, and adds a global index meanwhile. The
// proxy must not write the row when it goes on, for it does not know of the index.
func TestPausedBeforeAnIndex(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "")
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.held (id INT PRIMARY KEY, n INT)", "CREATE TABLE d.x (id INT PRIMARY KEY, email VARCHAR(40))"} {
		_, err := db.Exec(q)
		require.NoError(t, err)
	}
	for id := range 50 {
		_, err := db.Exec("INSERT INTO d.held VALUES (?, 0)", id)
		require.NoError(t, err)
	}
	_, err := adminv1.NewAdminClient(c.Admin(t)).PutUser(t.Context(), &adminv1.PutUserRequest{ // administrators get places of their own
		Name: "client", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
		Grants: map[string]string{"d": "write"},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	const places, reserve = 8, 1
	p := &process.Process{
		Orders:  process.Orders{Etcd: c.Info().Etcd, Addr: process.FreeAddr(t), Log: filepath.Join(c.Info().DataDir, "proxy.log"), Connections: places},
		Next:    func() process.Step { return process.Step{} },
		Reached: func(string, bool) {},
	}
	var procs, client errgroup.Group
	ready := make(chan struct{})
	procs.Go(func() error { return p.Run(ctx, ready) })
	defer func() {
		cancel()
		require.NoError(t, procs.Wait())
	}()
	process.Await(t, ready, "the process serves")
	through, err := sql.Open("mysql", "client:pw@tcp("+p.Orders.Addr+")/d")
	require.NoError(t, err)
	defer through.Close()
	require.Eventually(t, func() bool { return through.Ping() == nil }, time.Minute, 10*time.Millisecond)
	for range places - reserve {
		tx, err := through.Begin()
		require.NoError(t, err)
		defer func() { _ = tx.Rollback() }()
		for g := range 2 {
			var id, n int
			require.NoError(t, c.NodeGroupDB(t, 1+g, "d").QueryRow("SELECT MIN(id) FROM held").Scan(&id))
			require.NoError(t, tx.QueryRow("SELECT n FROM d.held WHERE id = ? LOCK IN SHARE MODE", id).Scan(&n))
		}
	}
	client.Go(func() error {
		_, err := through.Exec("INSERT INTO d.x VALUES (7, 'seven')")
		return err
	})
	require.Eventually(t, func() bool {
		rows, err := db.Query("SELECT info FROM information_schema.processlist WHERE info LIKE 'INSERT INTO d.x%'")
		require.NoError(t, err)
		defer rows.Close()
		return rows.Next()
	}, time.Minute, 10*time.Millisecond)
	resume := cluster.Pause(t, p.PID())
	_, err = db.Exec("ALTER TABLE d.x ADD UNIQUE KEY e (email)")
	require.NoError(t, err)
	resume()
	err = client.Wait()
	t.Logf("the client was told: %v", err)

	// Either there is no row, or there is one with its entry.
	var rows, found int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM d.x").Scan(&rows))
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM d.x WHERE email = 'seven'").Scan(&found))
	require.Equal(t, rows, found)
	if err == nil {
		require.Equal(t, 1, rows)
	}
	_, err = db.Exec("INSERT INTO d.x VALUES (8, 'seven')")
	if rows == 1 {
		require.ErrorContains(t, err, "1062")
	} else {
		require.NoError(t, err)
	}
	// It serves again.
	require.Eventually(t, func() bool {
		_, err := through.Exec("INSERT INTO d.x VALUES (9, 'seven')")
		return err != nil && strings.Contains(err.Error(), "1062")
	}, time.Minute, 10*time.Millisecond)
}
