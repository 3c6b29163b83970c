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
			case wire.ChangeAnything:
				found["changed"] = string(change.Text())
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
	// Any change at all, to those who want to know.
	require.NotContains(t, changes("USE d"), "changed")
	changes("SET session_track_state_change = 1")
	for _, sql := range []string{
		"USE d", "SET @a = 1", "CREATE TEMPORARY TABLE tracked (id INT)", "CREATE TEMPORARY TABLE IF NOT EXISTS tracked (id INT)", "ALTER TABLE tracked ADD v INT",
		"CREATE INDEX v ON tracked (v)", "DROP TEMPORARY TABLE tracked", "DROP TEMPORARY TABLE IF EXISTS tracked", "PREPARE tracking FROM 'SELECT 1'", "DEALLOCATE PREPARE tracking",
	} {
		require.Equal(t, "1", changes(sql)["changed"], sql)
	}
	changes("CREATE TEMPORARY TABLE tracked (id INT)")
	for _, sql := range []string{"INSERT INTO tracked VALUES (1)", "TRUNCATE tracked", "DROP TABLE tracked", "DO 1"} {
		require.Empty(t, changes(sql), sql)
	}
	changes("SET session_track_state_change = 0")
	require.Empty(t, changes("PREPARE tracking FROM 'SELECT 1'"))
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

// At login and behind COM_CHANGE_USER the default database is told.
func TestSchemaTrackedAtLogin(t *testing.T) {
	r := packetLogin(t, wire.CapSessionTrack)
	r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil, wire.ChangeUser{User: "root", DB: "d", Collation: 33, Plugin: wire.NativePassword}, r.caps)))
	p := r.read()
	if p[0] == wire.EOFHeader {
		r.write(nil)
		p = r.read()
	}
	ok, err := wire.ParseOK(p, r.caps)
	require.NoError(t, err)
	change, _, err := wire.NextSessionChange(ok.SessionState)
	require.NoError(t, err)
	require.Equal(t, wire.ChangeSchema, change.Type)
	require.Equal(t, "d", string(change.Text()))
}

// What a prepared SET with parameters changes is told whole.
func TestTrackingOfPreparedSet(t *testing.T) {
	c, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: shared.Addr(), User: "root", Caps: wire.CapSessionTrack})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Exec("SET session_track_state_change = 1")
	require.NoError(t, err)
	st, err := c.Prepare([]byte("SET @q = ?"))
	require.NoError(t, err)
	require.NoError(t, c.Send(wire.ComStmtExecute, append(wire.AppendExecuteHead(nil, st.ID, 0), 0, 1, 253, 0, 3, 'a', 'b', 'c')))
	head, err := c.ReadHead()
	require.NoError(t, err)
	require.Equal(t, "\x02\x011", string(head.OK.SessionState))
}
