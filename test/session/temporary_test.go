package session

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

func TestTemporaryTables(t *testing.T) {
	t.Run("are the session's own, until its end", func(t *testing.T) {
		a, b := connect(t), connect(t)
		a.exec("CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY)")
		a.exec("INSERT INTO mine VALUES (1), (2), (3)")
		b.fails(1146, "SELECT * FROM mine")
		require.Equal(t, "3", a.get("SELECT COUNT(*) FROM t JOIN mine ON t.id = mine.id"))
		a.end()
		for range 8 {
			c := connect(t)
			c.fails(1146, "SELECT * FROM mine")
			c.exec("CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY)")
			require.Equal(t, "0", c.get("SELECT COUNT(*) FROM mine"))
			c.end()
		}
	})
	t.Run("go with a reset of the connection", func(t *testing.T) {
		r := rawClient(t)
		r.exec("CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY)")
		r.exec("INSERT INTO mine VALUES (1)")
		r.command(wire.ComResetConnection, nil)
		_, err := r.Exec("SELECT * FROM mine")
		require.True(t, sqlerr.HasCode(err, sqlerr.NoSuchTable), "%v", err)
		r.exec("SELECT COUNT(*) FROM t")
	})
	t.Run("hide a table of their name from one session only", func(t *testing.T) {
		a, b := connect(t), connect(t)
		const q = "SELECT COUNT(*) FROM t WHERE id > 0"
		require.Equal(t, "100", a.get(q))
		a.exec("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY)")
		require.Equal(t, "0", a.get(q))
		require.Equal(t, "100", b.get(q))
		a.exec("DROP TEMPORARY TABLE t")
		require.Equal(t, "100", a.get(q))
	})
	t.Run("in a transaction over several node groups", func(t *testing.T) {
		a := connect(t)
		x, y := idsApart(t)
		a.exec("CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY, v VARCHAR(20))")
		a.exec("BEGIN")
		a.exec(fmt.Sprintf("UPDATE t SET v = 'x' WHERE id = %d", x))
		a.exec(fmt.Sprintf("UPDATE t SET v = 'x' WHERE id = %d", y))
		a.exec("INSERT INTO mine VALUES (1, 'one')")
		require.Equal(t, "1", a.get("SELECT COUNT(*) FROM mine"))
		a.exec("ROLLBACK")
		require.Equal(t, "0", a.get("SELECT COUNT(*) FROM mine"))
		require.Equal(t, "0", a.get("SELECT COUNT(*) FROM t WHERE v = 'x'"))
	})
	t.Run("in a transaction with a snapshot of all node groups", func(t *testing.T) {
		for _, how := range []string{"SET skarv_read_atomicity = gate", "SET skarv_read_atomicity = validated", "SELECT 1"} {
			for range 4 { // on whichever group the table is
				a := connect(t)
				a.exec("CREATE TEMPORARY TABLE mine (id INT PRIMARY KEY, v VARCHAR(20))")
				a.exec(how)
				a.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
				require.Equal(t, "100", a.get("SELECT COUNT(*) FROM t"))
				a.exec("INSERT INTO mine VALUES (1, 'one')")
				a.exec("UPDATE t SET v = 'x'")
				require.Equal(t, "1", a.get("SELECT COUNT(*) FROM mine"))
				a.exec("ROLLBACK")
				require.Equal(t, "0", a.get("SELECT COUNT(*) FROM mine"))
				a.exec("SET autocommit = 0")
				require.Equal(t, "0", a.get("SELECT COUNT(*) FROM t JOIN mine ON t.id = mine.id"))
				a.exec("INSERT INTO mine VALUES (2, 'two')")
				a.exec("COMMIT")
				require.Equal(t, "2", a.get("SELECT id FROM mine"))
				a.end()
			}
		}
	})
	t.Run("a lost server ends the session", func(t *testing.T) {
		a := connect(t)
		a.exec("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY)")
		for g := 1; g <= 4; g++ { // wherever it is
			db := shared.NodeGroupDB(t, g, "d")
			endConnections(t, db, "id <> CONNECTION_ID() AND command IN ('Sleep', 'Query')")
		}
		n, err := a.try("SELECT COUNT(*) FROM t")
		require.Error(t, err, "%s rows", n) // never those of the other table
		_, err = a.QueryContext(context.Background(), "SELECT COUNT(*) FROM t")
		require.Error(t, err)
		answersAgain(t)
	})
	t.Run("a lost server ends the session also where a transaction notices it", func(t *testing.T) {
		a := connect(t)
		a.exec("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
		for g := 1; g <= 4; g++ {
			endConnections(t, shared.NodeGroupDB(t, g, "d"), "id <> CONNECTION_ID() AND command IN ('Sleep', 'Query')")
		}
		a.exec("BEGIN")
		for range 3 { // never into the other table
			_, err := a.ExecContext(context.Background(), "INSERT INTO t (id) VALUES (70001)")
			require.Error(t, err)
			_, _ = a.ExecContext(context.Background(), "ROLLBACK")
		}
		answersAgain(t)
		require.Equal(t, "0", connect(t).get("SELECT COUNT(*) FROM t WHERE id = 70001"))
	})
}

// answersAgain waits until no connection is in use any more that was ended: else a later test's first write would find out.
func answersAgain(t *testing.T) {
	t.Helper()
	c := connect(t)
	require.Eventually(t, func() bool {
		_, err := c.try("SELECT COUNT(*) FROM t")
		return err == nil
	}, patience, tick)
}
