package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

func TestTransactionStart(t *testing.T) {
	c := connect(t)
	a, b := idsApart(t)
	t.Run("SET does not decide where the transaction is", func(t *testing.T) {
		for id := range 10 {
			c.exec("BEGIN")
			c.exec("SET @x = 5")
			c.exec(fmt.Sprintf("UPDATE t SET v = 'x' WHERE id = %d", id+1))
			c.exec("ROLLBACK")
		}
	})
	t.Run("nor does a statement that was refused", func(t *testing.T) {
		for _, stmt := range []string{
			fmt.Sprintf("UPDATE t SET v = 'x' WHERE id IN (%d, %d)", a, b),
			"UPDATE t SET v = 'x'",
		} {
			for _, id := range []int{a, b} {
				c.exec("BEGIN")
				if _, err := c.try(stmt); err != nil {
					c.exec(fmt.Sprintf("UPDATE t SET v = 'x' WHERE id = %d", id))
				}
				c.exec("ROLLBACK")
			}
		}
	})
	t.Run("a query brings BEGIN with it", func(t *testing.T) {
		for _, begin := range []string{"BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT"} {
			c.exec(begin)
			require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
			c.exec("UPDATE t SET v = 'begun' WHERE id = 1")
			c.exec("ROLLBACK")
			require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
			c.exec(begin)
			c.fails(1054, "SELECT nothing FROM t WHERE id = 1")
			c.exec("UPDATE t SET v = 'begun' WHERE id = 1")
			c.exec("ROLLBACK")
			require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
		}
		c.exec("START TRANSACTION READ ONLY")
		require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
		c.fails(1792, "UPDATE t SET v = 'begun' WHERE id = 1")
		c.exec("COMMIT")
		c.exec("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
		c.exec("BEGIN")
		require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
		c.exec("COMMIT")
	})
	t.Run("savepoints before the first statement", func(t *testing.T) {
		c.exec("BEGIN")
		c.fails(1305, "ROLLBACK TO SAVEPOINT nothing")
		c.fails(1305, "RELEASE SAVEPOINT nothing")
		c.exec("SAVEPOINT a")
		c.exec("SAVEPOINT b")
		c.exec("ROLLBACK TO SAVEPOINT A")
		c.fails(1305, "ROLLBACK TO SAVEPOINT b")
		c.exec("UPDATE t SET v = 'sp' WHERE id = 1")
		c.exec("ROLLBACK TO a")
		require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
		c.exec("ROLLBACK")
	})
	t.Run("in_transaction", func(t *testing.T) {
		if cluster.TestEngine() == datanode.MySQL {
			c.fails(1193, "SELECT @@in_transaction")
			return
		}
		c.exec("BEGIN")
		require.Equal(t, "1", c.get("SELECT @@in_transaction"))
		c.exec("ROLLBACK")
		require.Equal(t, "0", c.get("SELECT @@in_transaction"))
	})
	t.Run("SET TRANSACTION is for the next transaction", func(t *testing.T) {
		c.exec("SET TRANSACTION READ ONLY")
		c.fails(1792, "UPDATE t SET v = 'ro' WHERE id = 1")
		c.fails(1792, "UPDATE t SET v = 'ro' WHERE id = 1") // what it forbids was no transaction
		require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
		c.exec("UPDATE t SET v = 'v1' WHERE id = 1")
	})
}

func TestDeadlockEndsTransaction(t *testing.T) {
	a, b := connect(t), connect(t)
	g := groupOf(t, 1)
	other := 2
	for groupOf(t, other) != g {
		other++
	}
	lock := func(c *client, id int) error {
		_, err := c.try(fmt.Sprintf("UPDATE t SET v = 'dead' WHERE id = %d", id))
		return err
	}
	a.exec("BEGIN")
	b.exec("BEGIN")
	require.NoError(t, lock(a, 1))
	require.NoError(t, lock(b, other))
	done := make(chan error, 1)
	go func() { done <- lock(a, other) }()
	errB := lock(b, 1)
	errA := <-done
	victim, winner, err := a, b, errA
	if errB != nil {
		victim, winner, err = b, a, errB
	}
	require.ErrorContains(t, err, "1213")
	victim.exec("SET TRANSACTION READ WRITE") // which is an error in a transaction
	winner.exec("ROLLBACK")
	require.Equal(t, "v1", victim.get("SELECT v FROM t WHERE id = 1"))
}

// A prepared transaction on a table without a primary key stops the replica of its server.
func TestNoPrimaryKey(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE keyless (v INT) COMMENT 'skarv:single'")
	defer c.exec("DROP TABLE keyless")
	far := 1
	for groupOf(t, far) == 1 {
		far++
	}
	c.exec("BEGIN")
	c.exec("INSERT INTO keyless VALUES (1)")
	c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", far))
	c.exec("COMMIT")
	c.exec("BEGIN")
	c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", far))
	require.Equal(t, "1", c.get("SELECT COUNT(*) FROM keyless"))
	c.fails(1235, "INSERT INTO keyless VALUES (2)")
	c.exec("ROLLBACK")
	c.exec("SET skarv_commit = best_effort")
	c.exec("BEGIN")
	c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", far))
	c.exec("INSERT INTO keyless VALUES (2)")
	c.exec("COMMIT")
	c.exec("SET skarv_commit = atomic")
	require.Equal(t, "2", c.get("SELECT COUNT(*) FROM keyless"))
}

func TestImplicitCommit(t *testing.T) {
	c, d := connect(t), connect(t)
	for _, stmt := range []string{
		"BEGIN", "CREATE TABLE ic (id INT PRIMARY KEY)", "DROP TABLE ic", "LOCK TABLES t READ", "ANALYZE TABLE t", "SET autocommit = 1",
	} {
		t.Run(stmt, func(t *testing.T) {
			if stmt == "SET autocommit = 1" {
				c.exec("SET autocommit = 0")
			} else {
				c.exec("BEGIN")
			}
			c.exec("UPDATE t SET v = 'ic' WHERE id = 1")
			if stmt == "ANALYZE TABLE t" {
				c.get(stmt)
			} else {
				c.exec(stmt)
			}
			require.Equal(t, "ic", d.get("SELECT v FROM t WHERE id = 1"))
			c.exec("UNLOCK TABLES")
			c.exec("ROLLBACK")
			c.exec("UPDATE t SET v = 'v1' WHERE id = 1")
		})
	}
}

func TestAutocommitOff(t *testing.T) {
	c, d := connect(t), connect(t)
	c.exec("SET autocommit = 0")
	c.exec("UPDATE t SET v = 'ac' WHERE id = 1")
	require.Equal(t, "v1", d.get("SELECT v FROM t WHERE id = 1"))
	c.exec("ROLLBACK")
	require.Equal(t, "v1", c.get("SELECT v FROM t WHERE id = 1"))
	c.exec("COMMIT")
	require.Equal(t, "1", d.get("SELECT @@autocommit"))
	c.exec("UPDATE t SET v = 'ac' WHERE id = 1")
	c.Close()
	require.Equal(t, "v1", d.get("SELECT v FROM t WHERE id = 1"))
}

func TestLockTables(t *testing.T) {
	c, d := connect(t), connect(t)
	a, b := idsApart(t)
	t.Run("with autocommit off, rollback rolls back", func(t *testing.T) {
		c.exec("SET autocommit = 0, skarv_commit = best_effort")
		c.exec("LOCK TABLES t WRITE")
		c.exec(fmt.Sprintf("UPDATE t SET v = 'lt' WHERE id IN (%d, %d)", a, b))
		c.exec("ROLLBACK")
		require.Equal(t, "0", c.get("SELECT COUNT(*) FROM t WHERE v = 'lt'"))
		c.exec(fmt.Sprintf("UPDATE t SET v = 'lt' WHERE id IN (%d, %d)", a, b))
		c.exec("COMMIT")
		c.exec("UNLOCK TABLES")
		c.exec("SET autocommit = 1, skarv_commit = atomic")
		require.Equal(t, "2", d.get("SELECT COUNT(*) FROM t WHERE v = 'lt'"))
		d.exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id IN (%d, %d)", a, b))
	})
	t.Run("what cannot be atomic is refused", func(t *testing.T) {
		c.exec("LOCK TABLES t WRITE, u READ")
		c.fails(1235, fmt.Sprintf("UPDATE t SET v = 'lt' WHERE id IN (%d, %d)", a, b))
		c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", a))
		c.fails(1099, fmt.Sprintf("INSERT INTO u VALUES (%d, 'a'), (%d, 'b')", a, b))
		c.exec("SET autocommit = 0")
		c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", a))
		c.fails(1235, fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", b))
		c.exec("COMMIT")
		c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", b))
		c.exec("UNLOCK TABLES")
		c.exec("SET autocommit = 1")
		c.exec("LOCK TABLES u WRITE")
		c.get("SELECT COUNT(*) FROM u")
		c.fails(1235, fmt.Sprintf("INSERT INTO u VALUES (%d, 'a'), (%d, 'b')", a, b))
		c.exec("UNLOCK TABLES")
	})
	t.Run("rows are inserted as dumps do", func(t *testing.T) {
		for _, autocommit := range []int{1, 0} {
			c.exec(fmt.Sprintf("SET autocommit = %d", autocommit))
			c.exec("LOCK TABLES u WRITE")
			c.exec(fmt.Sprintf("INSERT INTO u VALUES (%d, 'a'), (%d, 'b')", a, b))
			c.exec(fmt.Sprintf("REPLACE INTO u VALUES (%d, 'c'), (%d, 'd')", a, b))
			if autocommit == 0 {
				c.fails(1235, "SELECT COUNT(*) FROM u")
				c.exec("COMMIT")
			}
			require.Equal(t, "2", c.get("SELECT COUNT(*) FROM u"))
			d.exec("SET lock_wait_timeout = 1")
			d.fails(1205, "SELECT COUNT(*) FROM u") // the lock is back
			c.fails(1100, "SELECT COUNT(*) FROM t")
			c.exec("UNLOCK TABLES")
			require.Equal(t, "2", d.get("SELECT COUNT(*) FROM u"))
			d.exec("SET lock_wait_timeout = DEFAULT")
			d.exec("DELETE FROM u")
		}
		c.exec("SET autocommit = 1")
	})
	t.Run("a statement over groups is done or not done", func(t *testing.T) {
		c.exec("INSERT INTO u VALUES (?, 'there')", b)
		c.exec("LOCK TABLES u WRITE")
		c.fails(1062, fmt.Sprintf("INSERT INTO u VALUES (%d, 'a'), (%d, 'b')", a, b))
		require.Equal(t, "1", c.get("SELECT COUNT(*) FROM u"))
		c.exec("UNLOCK TABLES")
		c.exec("DELETE FROM u")
	})
	t.Run("a single table", func(t *testing.T) {
		c.exec("LOCK TABLES single READ")
		c.get("SELECT COUNT(*) FROM single")
		c.fails(1235, "SELECT COUNT(*) FROM t")
		c.exec("UNLOCK TABLES")
	})
	t.Run("KILL QUERY reaches a session that waits for locks", func(t *testing.T) {
		d.exec("LOCK TABLES t WRITE")
		id := c.get("SELECT CONNECTION_ID()")
		done := make(chan error, 1)
		go func() { _, err := c.try("LOCK TABLES t WRITE"); done <- err }()
		k := connect(t)
		require.Eventually(t, func() bool {
			k.exec("KILL QUERY " + id)
			select {
			case err := <-done:
				require.ErrorContains(t, err, "1317")
				return true
			default:
				return false
			}
		}, patience, tick)
		d.exec("UNLOCK TABLES")
	})
}

// COMMIT RELEASE is answered before the connection ends, and not taken together with AND CHAIN.
func TestCommitRelease(t *testing.T) {
	a, _ := idsApart(t)
	for _, end := range []string{"COMMIT RELEASE", "COMMIT WORK AND NO CHAIN RELEASE", "ROLLBACK RELEASE"} {
		c := connect(t)
		c.exec("BEGIN")
		c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", a))
		c.fails(1064, "COMMIT AND CHAIN RELEASE")
		c.exec(end)
		_, err := c.try("SELECT 1")
		require.Error(t, err, end)
	}
}

// What SET SESSION TRANSACTION says is for transactions that begin later, on all node groups.
func TestSessionTransactionInTransaction(t *testing.T) {
	other := 2
	for groupOf(t, other) == groupOf(t, 1) {
		other++
	}
	read := fmt.Sprintf("SELECT v FROM t WHERE id = %d", other)
	write := fmt.Sprintf("UPDATE t SET v = 'later' WHERE id = %d", other)
	old := fmt.Sprintf("v%d", other)
	writer := connect(t)
	defer writer.exec(fmt.Sprintf("UPDATE t SET v = '%s' WHERE id = %d", old, other))
	for _, begin := range []string{"BEGIN", "SET autocommit = 0"} {
		for _, first := range []string{"SELECT v FROM t WHERE id = 1", "SELECT id FROM t WHERE id = 1"} {
			c := connect(t)
			c.exec(begin)
			c.get(first)
			c.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			require.Equal(t, old, c.get(read))
			writer.exec(write)
			require.Equal(t, old, c.get(read))
			c.exec("COMMIT")
			c.exec("BEGIN")
			require.Equal(t, "later", c.get(read))
			writer.exec(fmt.Sprintf("UPDATE t SET v = '%s' WHERE id = %d", old, other))
			require.Equal(t, old, c.get(read))
			c.exec("ROLLBACK")
		}
	}
	c := connect(t)
	c.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	c.exec("BEGIN")
	c.get("SELECT v FROM t WHERE id = 1")
	c.exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	require.Equal(t, old, c.get(read))
	writer.exec(write)
	require.Equal(t, "later", c.get(read))
	c.exec("ROLLBACK")

	c.exec("BEGIN")
	c.get("SELECT v FROM t WHERE id = 1")
	c.exec("SET SESSION TRANSACTION READ ONLY")
	c.exec(write)
	c.exec("UPDATE t SET v = CONCAT(v, 'x') WHERE id < 20")
	c.exec("ROLLBACK")
	c.exec("BEGIN")
	c.fails(1792, write)
	c.exec("ROLLBACK")
	c.exec("START TRANSACTION READ ONLY")
	c.get("SELECT v FROM t WHERE id = 1")
	c.exec("SET SESSION TRANSACTION READ WRITE")
	c.fails(1792, write)
	c.exec("ROLLBACK")
	c.exec(write)
}
