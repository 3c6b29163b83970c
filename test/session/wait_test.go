package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// A client that says nothing for wait_timeout is disconnected, and nobody else notices.
func TestWaitTimeout(t *testing.T) {
	one, other := connect(t, "multiStatements=true"), connect(t)
	id := one.get("SELECT CONNECTION_ID()")
	require.Equal(t, []string{"1"}, one.batch("SET wait_timeout = 1", "SELECT @@wait_timeout"))
	require.Eventually(t, func() bool {
		return other.get("SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+id) == "0"
	}, patience, 50*time.Millisecond)
	_, err := one.try("SELECT 1")
	require.Error(t, err)
	for range 20 {
		other.exec("UPDATE t SET v = v WHERE id = 1")
	}
	two := connect(t, "multiStatements=true")
	two.batch("SET wait_timeout = 1", "SET wait_timeout = DEFAULT")
	require.NotEqual(t, "1", two.get("SELECT @@wait_timeout"))
}

// The answers of node groups wait for one another for longer than net_write_timeout, which is about what the client takes of them.
func TestAnswersThatWait(t *testing.T) {
	c := connect(t)
	c.exec("SET net_write_timeout = 3, net_read_timeout = 3")
	rows, err := c.QueryContext(t.Context(), "SELECT SLEEP(IF(id = 50, 7.5, 0)), REPEAT('x', 2000000) FROM t WHERE id >= 50 ORDER BY id")
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	require.Equal(t, 51, n)
	require.Equal(t, "3,3", c.get("SELECT @@net_read_timeout, @@net_write_timeout"))
}

// What a client holds that works it does not lose by wait_timeout and its like, whichever of its connections to servers it uses.
func TestWorkingClientsKeepWhatTheyHold(t *testing.T) {
	x, y := idsApart(t)
	const works = "DO SLEEP(2.2)"
	limits := []string{"wait_timeout"}
	if cluster.TestEngine() == datanode.MariaDB {
		limits = append(limits, "idle_transaction_timeout")
	}
	for _, limit := range limits {
		t.Run(limit, func(t *testing.T) {
			c := connect(t, "multiStatements=true")
			require.Equal(t, []string{"1", "2", "1", "1", "100"}, c.batch(
				"SET "+limit+" = 1",
				"CREATE TEMPORARY TABLE idlers (id INT PRIMARY KEY)",
				"INSERT INTO idlers VALUES (1)",
				"SELECT GET_LOCK('idlers', 0)",
				"BEGIN",
				fmt.Sprintf("UPDATE t SET v = 'idle' WHERE id = %d", x),
				fmt.Sprintf("UPDATE t SET v = 'idle' WHERE id = %d", y),
				works,
				"SELECT COUNT(*) FROM t WHERE v = 'idle'",
				"ROLLBACK",
				"SELECT COUNT(*) FROM idlers",
				"SELECT RELEASE_LOCK('idlers')",
				"DROP TEMPORARY TABLE idlers",
				"LOCK TABLES t READ",
				works,
				"SELECT COUNT(*) FROM t",
				"UNLOCK TABLES",
				"SET "+limit+" = DEFAULT",
			))
		})
	}
}

// A client of MariaDB that says nothing within a transaction is disconnected by the limit for those.
func TestIdleTransactionTimeout(t *testing.T) {
	if cluster.TestEngine() != datanode.MariaDB {
		t.Skip("MySQL has no such limit")
	}
	for _, limit := range []string{"idle_transaction_timeout", "idle_write_transaction_timeout"} {
		one, other := connect(t, "multiStatements=true"), connect(t)
		id := one.get("SELECT CONNECTION_ID()")
		one.exec("SET idle_readonly_transaction_timeout = 1000, " + limit + " = 1")
		require.Equal(t, "1", one.get("SELECT @@"+limit))
		statements := []string{"BEGIN"}
		if limit == "idle_transaction_timeout" {
			statements = append(statements, "SET idle_readonly_transaction_timeout = 0")
		}
		one.batch(append(statements, "UPDATE t SET v = 'idle' WHERE id = 1")...)
		require.Eventually(t, func() bool {
			return other.get("SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+id) == "0"
		}, patience, 50*time.Millisecond)
		require.Equal(t, "v1", other.get("SELECT v FROM t WHERE id = 1"))
	}
}

// KILL QUERY ends the wait for a schema change; one that has begun goes on.
func TestKillEndsTheWaitForASchemaChange(t *testing.T) {
	holder, waits, other := connect(t), connect(t), connect(t)
	other.exec("CREATE TABLE killddl (id INT PRIMARY KEY, v INT)")
	t.Cleanup(func() { other.exec("DROP TABLE killddl") })
	other.exec("INSERT INTO killddl VALUES (1, 1)")
	holder.exec("BEGIN")
	holder.exec("UPDATE killddl SET v = 2 WHERE id = 1")
	id := waits.get("SELECT CONNECTION_ID()")
	ended := make(chan error, 1)
	go func() {
		_, err := waits.try("ALTER TABLE killddl ADD COLUMN w INT")
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return other.get("SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+id+" AND info LIKE 'ALTER TABLE killddl%'") == "1"
	}, time.Minute, 10*time.Millisecond)
	other.exec("KILL QUERY " + id)
	require.ErrorContains(t, <-ended, "1317")
	holder.exec("ROLLBACK")
	require.Equal(t, "1", waits.get("SELECT COUNT(*) FROM killddl"))
}

// A schema change waits for a table that another client uses as long as its own client would: it has changed nothing then.
func TestSchemaChangesWaitAsLongAsTheClient(t *testing.T) {
	holder, waits := connect(t), connect(t)
	waits.exec("CREATE DATABASE waitddl")
	t.Cleanup(func() { waits.exec("DROP DATABASE waitddl") })
	waits.exec("CREATE TABLE waitddl.t (id INT PRIMARY KEY, v INT)")
	waits.exec("INSERT INTO waitddl.t VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)")
	waits.exec("SET lock_wait_timeout = 1")
	for _, hold := range [][2]string{{"LOCK TABLES waitddl.t WRITE", "UNLOCK TABLES"}, {"LOCK TABLES waitddl.t READ", "UNLOCK TABLES"}} {
		holder.exec(hold[0])
		for _, change := range []string{
			"ALTER TABLE waitddl.t ADD COLUMN w INT", "DROP TABLE waitddl.t", "CREATE INDEX i ON waitddl.t (v)", "RENAME TABLE waitddl.t TO waitddl.u",
			"DROP DATABASE waitddl",
		} {
			begin := time.Now()
			waits.fails(1205, change)
			require.Less(t, time.Since(begin), 45*time.Second, change) // it would wait 50 s
		}
		holder.exec(hold[1])
		require.Equal(t, "5", waits.get("SELECT COUNT(v) FROM waitddl.t"))
	}
	waits.exec("ALTER TABLE waitddl.t ADD COLUMN w INT")
}
