package mover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/test/realserver"
)

// A deadlock in the middle of a transaction that is sent at once takes all of it back: what was sent behind the victim
// statement, too, which the server runs after it has rolled back what was before.
func TestDeadlockTakesAllBack(t *testing.T) {
	for _, s := range realserver.Start(t) {
		s.Exec(t, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0)",
			"CREATE TABLE weight (id INT PRIMARY KEY)")
		flavor := catalog.MySQL
		if s.Flavor == "mariadb" {
			flavor = catalog.MariaDB
		}
		c, err := dial(t.Context(), Server{Name: "ng1", Flavor: flavor, Conn: mysqlconn.Config{Addr: "unix:" + s.Addr, User: "root", DB: s.Name}})
		require.NoError(t, err)
		t.Cleanup(c.close)
		// The other one has written more, so that the server gives up ours.
		s.Exec(t, "BEGIN", "INSERT INTO weight VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9)", "UPDATE t SET v = 1 WHERE id = 2")
		done := make(chan error, 1)
		go func() {
			done <- c.transaction([]byte("UPDATE t SET v = 2 WHERE id = 1"), []byte("UPDATE t SET v = 2 WHERE id = 2"),
				[]byte("INSERT INTO t VALUES (3, 2)"))
		}()
		require.Eventually(t, func() bool {
			return len(s.Rows(t, "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")) > 0
		}, time.Minute, 200*time.Millisecond) // the server looks again after a tenth of a second in which nobody asked
		s.Exec(t, "UPDATE t SET v = 1 WHERE id = 1", "COMMIT")
		err = <-done
		require.True(t, sqlerr.HasCode(err, sqlerr.Code(1213)), "%v", err)
		require.Equal(t, [][]string{{"1", "1"}, {"2", "1"}}, s.Rows(t, "SELECT id, v FROM t ORDER BY id"))
		require.NoError(t, c.transaction([]byte("INSERT INTO t VALUES (4, 2)")), "the connection is as good as before")
		require.Len(t, s.Rows(t, "SELECT id FROM t"), 3)
	}
}

// A connection of Spreading outlives the copying of the rows of all other servers, whatever the server's own wait_timeout.
func TestSpreadingHasPatience(t *testing.T) {
	for _, s := range realserver.Start(t) {
		flavor := catalog.MySQL
		if s.Flavor == "mariadb" {
			flavor = catalog.MariaDB
		}
		c, err := dialPatient(t.Context(), Server{Name: "ng1", Flavor: flavor, Conn: mysqlconn.Config{Addr: "unix:" + s.Addr, User: "root", DB: s.Name}})
		require.NoError(t, err)
		t.Cleanup(c.close)
		seconds, err := c.value("SELECT @@session.wait_timeout")
		require.NoError(t, err)
		require.Equal(t, "604800", seconds)
	}
}
