package session

import (
	"database/sql"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// TestSequences: what a sequence gives to many sessions is different for all, and each has its own last value, whatever connections
// they have to the server.
func TestSequences(t *testing.T) {
	if cluster.TestEngine() == datanode.MySQL {
		return // it has none
	}
	admin := connect(t)
	for _, stmt := range []string{"CREATE SEQUENCE d.seq", "CREATE TABLE d.sequenced (id BIGINT PRIMARY KEY, session INT)"} {
		_, err := admin.ExecContext(t.Context(), stmt)
		require.NoError(t, err)
	}
	const sessions, each = 8, 25
	var all sync.WaitGroup
	for n := range sessions {
		c := connect(t)
		var last sql.NullInt64
		require.NoError(t, c.QueryRowContext(t.Context(), "SELECT LASTVAL(seq)").Scan(&last))
		require.False(t, last.Valid, "it has asked for none yet")
		all.Go(func() {
			for range each {
				if _, err := c.ExecContext(t.Context(), "INSERT INTO sequenced VALUES (NEXTVAL(seq), ?), (NEXT VALUE FOR seq, ?)", n, n); err != nil {
					t.Error(err)
					return
				}
				var last, stored int64
				if err := c.QueryRowContext(t.Context(), "SELECT LASTVAL(seq)").Scan(&last); err != nil {
					t.Error(err)
					return
				}
				if err := c.QueryRowContext(t.Context(), "SELECT session FROM sequenced WHERE id = ?", last).Scan(&stored); err != nil || stored != int64(n) {
					t.Errorf("session %d: row %d is of session %d: %v", n, last, stored, err)
					return
				}
			}
		})
	}
	all.Wait()
	var rows, highest int
	require.NoError(t, admin.QueryRowContext(t.Context(), "SELECT COUNT(*), MAX(id) FROM sequenced").Scan(&rows, &highest))
	require.Equal(t, 2*sessions*each, rows)
	require.Equal(t, rows, highest, "none is left out")
	_, err := admin.ExecContext(t.Context(), "DROP SEQUENCE seq")
	require.NoError(t, err)
}
