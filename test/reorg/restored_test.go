package reorg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/reorg"
	"skarv/pkg/server"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// A server that is restored from a backup of before a move has rows that are another's now, and would show them beside those: it is not taken for
// its node group's. One of after the move is.
func TestRestoredBackup(t *testing.T) {
	dir := t.TempDir()
	c := cluster.Start(t, cluster.Groups(2), cluster.DataDir(dir), cluster.Tune(func(cfg *server.Config) { cfg.Backend.FailAfter = server.Duration(2 * time.Second) }))
	db := c.DB(t, "")
	exec(t, db, "CREATE DATABASE d")
	exec(t, db, "CREATE TABLE d.t (id INT PRIMARY KEY)")
	exec(t, db, "INSERT INTO d.t WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 500) SELECT id FROM n")
	const count = "SELECT COUNT(*) FROM d.t"
	data := filepath.Join(dir, "ng-1", "data")
	offline := func(do func()) {
		t.Helper()
		require.NoError(t, c.Node(1).Stop(t.Context()))
		do()
		require.NoError(t, c.Node(1).Start(t.Context()))
	}
	backup := func(to string) { require.NoError(t, os.CopyFS(to, os.DirFS(data))) }
	restore := func(from string) {
		require.NoError(t, os.RemoveAll(data))
		require.NoError(t, os.CopyFS(data, os.DirFS(from)))
	}
	before, after := filepath.Join(t.TempDir(), "before"), filepath.Join(t.TempDir(), "after")
	offline(func() { backup(before) })

	api := adminv1.NewAdminClient(c.Admin(t))
	var r *adminv1.ReorganiseResponse
	require.Eventually(t, func() (ok bool) {
		var err error
		r, err = api.Reorganise(t.Context(), &adminv1.ReorganiseRequest{Kind: "move", Partitions: "0-1919", To: "ng2"})
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	require.Eventually(t, func() bool {
		list, err := api.Reorganisations(t.Context(), &adminv1.ReorganisationsRequest{})
		require.NoError(t, err)
		require.Equal(t, r.Reorganisation.Id, list.Reorganisations[0].Id)
		return list.Reorganisations[0].State == string(reorg.Done)
	}, time.Minute, 100*time.Millisecond)
	counted := func() string {
		var n string
		if err := db.QueryRow(count).Scan(&n); err != nil {
			return err.Error()
		}
		return n
	}
	require.Eventually(t, func() bool { return counted() == "500" }, time.Minute, 100*time.Millisecond)
	offline(func() { backup(after) })
	offline(func() { restore(before) })
	require.Eventually(t, func() bool {
		said := counted()
		require.Contains(t, said, "Error 1430")
		return strings.Contains(said, "the server there is as it was before partitions have moved to it or from it")
	}, time.Minute, 100*time.Millisecond)
	offline(func() { restore(after) })
	require.Eventually(t, func() bool { return counted() == "500" }, time.Minute, 100*time.Millisecond)
}
