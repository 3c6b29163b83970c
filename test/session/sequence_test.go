package session

import (
	"database/sql"
	"fmt"
	"strings"
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

// TestSequencesWithoutAutocommit: what a sequence gives is given for good, whatever becomes of the client's transaction: replicas are
// told of it, and the connection serves on.
func TestSequencesWithoutAutocommit(t *testing.T) {
	if cluster.TestEngine() == datanode.MySQL {
		return // it has none
	}
	c := connect(t)
	c.exec("CREATE SEQUENCE given NOCACHE")
	defer c.exec("DROP SEQUENCE given")
	server := shared.NodeGroupDB(t, 1, "d")
	const times = 20
	logins := func() (n int) {
		var name string
		require.NoError(t, server.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Connections'").Scan(&name, &n))
		return n
	}
	for _, temporary := range []bool{false, true} {
		if temporary { // from now on the session has a connection of its own
			c.exec("CREATE TEMPORARY TABLE mine (a INT)")
		}
		c.exec("SET autocommit = 0")
		c.get("SELECT NEXTVAL(given)")
		before, from := logins(), binlogEnd(t, server)
		for range times {
			c.get("SELECT NEXTVAL(given)")
			c.get("SELECT minimum_value FROM given")
		}
		require.Less(t, logins()-before, times, "none of them costs a login")
		require.Equal(t, times, binlogRows(t, server, from, "d.given"), "replicas are told of each")
		c.exec("ROLLBACK")
		c.exec("SET autocommit = 1")
	}
	require.Equal(t, "43", c.get("SELECT NEXTVAL(given)"))
}

type binlogPosition struct {
	file string
	at   int
}

func binlogEnd(t *testing.T, server *sql.DB) (p binlogPosition) {
	var do, ignore string
	require.NoError(t, server.QueryRowContext(t.Context(), "SHOW MASTER STATUS").Scan(&p.file, &p.at, &do, &ignore))
	return p
}

// binlogRows counts the changes of a table in a server's binary log behind from.
func binlogRows(t *testing.T, server *sql.DB, from binlogPosition, table string) (n int) {
	rows, err := server.QueryContext(t.Context(), fmt.Sprintf("SHOW BINLOG EVENTS IN '%s' FROM %d", from.file, from.at))
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var file, at, kind, id, end, info string
		require.NoError(t, rows.Scan(&file, &at, &kind, &id, &end, &info))
		if kind == "Table_map" && strings.Contains(info, "("+table+")") {
			n++
		}
	}
	require.NoError(t, rows.Err())
	return n
}

// TestManySequenceCalls: one statement may ask for more values than a row of an answer has columns.
func TestManySequenceCalls(t *testing.T) {
	if cluster.TestEngine() == datanode.MySQL {
		return
	}
	c := connect(t)
	c.exec("CREATE SEQUENCE many")
	defer c.exec("DROP SEQUENCE many")
	c.exec("CREATE TABLE asked (id BIGINT PRIMARY KEY)")
	defer c.exec("DROP TABLE asked")
	const calls = 1<<16 + 10
	c.exec("INSERT INTO asked VALUES (NEXTVAL(many))" + strings.Repeat(", (NEXTVAL(many))", calls-1))
	require.Equal(t, fmt.Sprintf("%d,1,%d", calls, calls), c.get("SELECT COUNT(*), MIN(id), MAX(id) FROM asked"))
	require.Equal(t, fmt.Sprint(calls), c.get("SELECT LASTVAL(many)"))
}

// TestSequencesUnderLocks: what a server refuses under LOCK TABLES leaves the locks.
func TestSequencesUnderLocks(t *testing.T) {
	if cluster.TestEngine() == datanode.MySQL {
		return
	}
	c := connect(t)
	c.exec("CREATE SEQUENCE kept")
	defer c.exec("DROP SEQUENCE IF EXISTS kept")
	c.exec("LOCK TABLES t READ")
	for _, statement := range []string{"CREATE SEQUENCE another", "CREATE OR REPLACE SEQUENCE kept", "CREATE SEQUENCE IF NOT EXISTS another",
		"ALTER SEQUENCE kept RESTART 100", "DROP SEQUENCE kept", "DROP SEQUENCE IF EXISTS kept"} {
		c.fails(1235, statement)
	}
	c.fails(1100, "SELECT * FROM u")
	c.exec("UNLOCK TABLES")
	require.Equal(t, "1", c.get("SELECT NEXTVAL(kept)"))
}
