package session

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// A client that negotiated session tracking is told of changes that a server tells of.
func TestSessionTracking(t *testing.T) {
	c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.Addr(), User: "root", Caps: wire.CapSessionTrack})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	changes := func(sql string) map[string]string {
		ok, err := c.Exec(sql)
		require.NoError(t, err, sql)
		found := map[string]string{}
		for state := ok.SessionState; len(state) > 0; {
			var change wire.SessionChange
			change, state, err = wire.NextSessionChange(state)
			require.NoError(t, err)
			switch change.Type {
			case wire.ChangeSchema:
				found["schema"] = string(change.Text())
			case wire.ChangeVariable:
				name, value, _ := change.Variable()
				found[string(name)] = string(value)
			}
		}
		return found
	}
	require.Equal(t, "d", changes("USE d")["schema"])
	require.Equal(t, "OFF", changes("SET autocommit = 0")["autocommit"])
	require.Equal(t, "latin1", changes("SET NAMES latin1")["character_set_client"])
	require.Empty(t, changes("DO 1"))
	changes("SET session_track_schema = 0")
	require.Empty(t, changes("USE d"))
	changes("SET session_track_schema = DEFAULT")
	require.Equal(t, "d", changes("USE d")["schema"])
	// What it would be told of transactions nobody tells: Skarv's transactions are not those of one server.
	_, err = c.Exec("SET session_track_transaction_info = 'STATE'")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
	changes("SET session_track_transaction_info = 'OFF'")
	changes("SET session_track_transaction_info = DEFAULT")
	_, rows, err := c.QueryAll("SELECT @@session_track_transaction_info, @@autocommit", 1)
	require.NoError(t, err)
	require.Equal(t, "OFF", string(rows[0][0]))
	require.Equal(t, "0", string(rows[0][1]))
}
