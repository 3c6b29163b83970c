package reorg

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/reorg"
)

// A client that has locked tables keeps them through a reorganisation: no cutover is tried before it unlocks them, nobody else is held up
// for that, and the reorganisation says what it waits for.
func TestCutoverWaitsForLockedTables(t *testing.T) {
	m := newMachine(t, 2)
	exec(t, m.db, "CREATE TABLE other (id BIGINT PRIMARY KEY, n INT NOT NULL)")
	exec(t, m.db, "INSERT INTO other VALUES (1, 0), (2, 0), (3, 0), (4, 0)")
	client, err := m.db.Conn(t.Context())
	require.NoError(t, err)
	defer client.Close()
	run := func(q string) {
		t.Helper()
		_, err := client.ExecContext(t.Context(), q)
		require.NoError(t, err, q)
	}
	read := func() (n int) {
		t.Helper()
		require.NoError(t, client.QueryRowContext(t.Context(), "SELECT SUM(n) FROM t WHERE id < 10").Scan(&n))
		return n
	}
	for _, lock := range []string{"WRITE", "READ"} {
		m.when("entered.CATCHUP", func() { // before, a mover waits for the locks itself
			run("LOCK TABLES t " + lock)
			assert.Equal(t, 0, read())
		})
		id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
		require.Eventually(t, func() bool {
			r, err := reorg.Get(t.Context(), m.store, id)
			require.NoError(t, err)
			require.Zero(t, r.Attempts)
			return r.State == reorg.Verify && r.Problem != ""
		}, time.Minute, 10*time.Millisecond)
		r, err := reorg.Get(t.Context(), m.store, id)
		require.NoError(t, err)
		assert.Contains(t, r.Problem, "waiting for UNLOCK TABLES: 1 clients of process ")
		exec(t, m.db, "UPDATE other SET n = n + 1")
		assert.Equal(t, 0, read())
		if lock == "WRITE" {
			run("UPDATE t SET n = 0 WHERE id = 3")
		}
		run("UNLOCK TABLES")
		m.await(id, reorg.Reverse)
		assert.Equal(t, 0, read())
		_, err = reorg.Ask(t.Context(), m.store, id, reorg.WishRollback)
		require.NoError(t, err)
		assert.Equal(t, reorg.RolledBack, m.await(id, reorg.Done).Outcome)
	}
	m.wantRows()
	assert.Equal(t, "1 2,2 2,3 2,4 2", text(t, m.db, "SELECT id, n FROM other ORDER BY id"))
}
