package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A statement over several node groups under LOCK TABLES, by skarv_commit = best_effort, turns autocommit off on the connections for as long as it
// runs. Where one of them is lost the others have it again: what the next client writes on them is committed.
func TestAutocommitIsGivenBackUnderLocks(t *testing.T) {
	a, b := idsApart(t)
	first, second := groupOf(t, a), groupOf(t, b)
	if first > second {
		a, b, first, second = b, a, second, first
	}
	for name, sql := range map[string]string{
		"written": "UPDATE t SET v = 'lost' WHERE id IN (%d, %d)",
		"program": "UPDATE t SET id = id + 1000 WHERE id IN (%d, %d)",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.exec("SET skarv_commit = best_effort")
			c.exec("LOCK TABLES t WRITE")
			endConnections(t, shared.NodeGroupDB(t, first, "d"), "user LIKE 'skarv_w%'")
			_, err := c.try(fmt.Sprintf(sql, a, b))
			require.Error(t, err)
			_, _ = c.try("UNLOCK TABLES") // it tells that a connection is lost
			other := connect(t)
			other.exec(fmt.Sprintf("UPDATE t SET v = 'kept' WHERE id = %d", b))
			var v string
			require.NoError(t, shared.NodeGroupDB(t, second, "d").QueryRow("SELECT v FROM t WHERE id = ?", b).Scan(&v))
			require.Equal(t, "kept", v)
			other.exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id IN (%d, %d)", a, b))
		})
	}
}

// Locks that were given back for a schema change, and cannot be had again, are none that the client has silently lost: what it does next waits for
// them, and fails without them.
func TestLocksAreTakenAgain(t *testing.T) {
	c, other, third := connect(t), connect(t), connect(t)
	c.exec("CREATE TABLE locked (id INT PRIMARY KEY, v INT)")
	c.exec("CREATE TABLE changed (id INT PRIMARY KEY)")
	t.Cleanup(func() {
		connect(t).exec("DROP TABLE locked, changed")
	})
	c.exec("INSERT INTO locked VALUES (1, 0)")
	c.exec("LOCK TABLES locked WRITE, changed WRITE")
	c.exec("SET lock_wait_timeout = 1")
	other.exec("BEGIN")
	written := make(chan error, 1)
	go func() {
		_, err := other.try("UPDATE locked SET v = v + 1") // when the locks are given back
		written <- err
	}()
	server := shared.NodeGroupDB(t, 1, "")
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, server.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'").Scan(&n))
		return n > 0
	}, patience, tick)
	c.exec("ALTER TABLE changed ADD COLUMN v INT")
	require.NoError(t, <-written)
	c.fails(1205, "SELECT v FROM locked WHERE id = 1")
	c.fails(1205, "UPDATE locked SET v = v + 10 WHERE id = 1")
	other.exec("COMMIT")
	require.Equal(t, "1", c.get("SELECT v FROM locked WHERE id = 1"))
	third.exec("SET lock_wait_timeout = 1")
	third.fails(1205, "UPDATE locked SET v = v + 100 WHERE id = 1")
	c.exec("UNLOCK TABLES")
	third.exec("UPDATE locked SET v = v + 100 WHERE id = 1")
	require.Equal(t, "101", c.get("SELECT v FROM locked WHERE id = 1"))
}

// A lock belongs to its session, whatever its name is in capitals and small letters, and is free when the session has ended.
func TestUserLocksOfAnyName(t *testing.T) {
	a, b := connect(t), connect(t)
	for _, name := range []string{"İ", "ſ", "A b"} {
		require.Equal(t, "1", a.get("SELECT GET_LOCK('"+name+"', 0)"))
		a.get("SELECT RELEASE_LOCK('another')")
		require.Equal(t, "0", b.get("SELECT GET_LOCK('"+name+"', 0)"))
		require.Equal(t, "1", a.get("SELECT RELEASE_LOCK('"+name+"')"))
	}
	a.get("SELECT GET_LOCK('İ', 0), RELEASE_LOCK('another')")
	a.end()
	require.Eventually(t, func() bool { return b.get("SELECT GET_LOCK('İ', 0)") == "1" }, patience, tick)
	b.get("SELECT RELEASE_ALL_LOCKS()")
}
