package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/server"
	"skarv/test/cluster"
)

// anotherProxy runs a second proxy of the shared cluster until the test ends and returns how to connect to it.
func anotherProxy(t *testing.T) (dsn string) {
	cfg := server.DefaultConfig()
	cfg.Roles = []server.Role{server.RoleProxy}
	cfg.Etcd.Endpoints = []string{shared.Info().Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = "127.0.0.1:0", "", "127.0.0.1:0"
	s, err := server.New(cfg, server.Options{Version: "test"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	require.Eventually(t, func() bool { return s.Ready() == nil }, patience, tick)
	return "root@tcp(" + s.MySQLAddr() + ")/d"
}

// TestDeadlockOverGroups: two transactions that wait for each other on different node groups, which no server sees. The
// younger one is rolled back with the error one server would give, and the other goes on. Lock waits are so long that
// nothing else can end them.
func TestDeadlockOverGroups(t *testing.T) {
	x, y := idsApart(t)
	patient := func(c *client) *client {
		c.exec("SET innodb_lock_wait_timeout = 1000")
		return c
	}
	// A lock wait that is no deadlock ends as one, and takes as long as all the rest.
	holder, waits := connect(t), connect(t)
	z := 1
	for groupOf(t, z) == groupOf(t, x) || groupOf(t, z) == groupOf(t, y) {
		z++
	}
	holder.exec("BEGIN")
	holder.exec(fmt.Sprintf("UPDATE t SET v = 'held' WHERE id = %d", z))
	timeout := make(chan error, 1)
	waits.exec("BEGIN")
	waits.exec("INSERT INTO u VALUES (?, 'waits')", x)
	go func() { _, err := waits.try(fmt.Sprintf("UPDATE t SET v = 'waits' WHERE id = %d", z)); timeout <- err }()

	update := func(c *client, v string, id int) error {
		_, err := c.try(fmt.Sprintf("UPDATE t SET v = '%s' WHERE id = %d", v, id))
		return err
	}
	prepared := func(c *client, v string, id int) error {
		_, err := c.ExecContext(context.Background(), "UPDATE t SET v = ? WHERE id = ?", v, id)
		return err
	}
	for name, k := range map[string]struct {
		one, other *client
		update     func(*client, string, int) error
	}{
		"one proxy":             {connect(t), connect(t), update},
		"two proxies":           {connect(t), connectTo(t, anotherProxy(t)), update},
		"two proxies, prepared": {connectTo(t, anotherProxy(t)), connect(t), prepared},
	} {
		t.Run(name, func(t *testing.T) {
			old, young := patient(k.one), patient(k.other)
			old.exec("BEGIN")
			require.NoError(t, k.update(old, "old", x))
			young.exec("BEGIN")
			require.NoError(t, k.update(young, "young", y))
			done := make(chan error, 1)
			go func() { done <- k.update(old, "old", y) }()
			err := k.update(young, "young", x)
			require.ErrorContains(t, err, "1213")
			require.NoError(t, <-done)
			require.Equal(t, "0", young.get("SELECT COUNT(*) FROM t WHERE v = 'young'"), "all of it is rolled back")
			old.exec("COMMIT")
			require.Equal(t, "2", young.get("SELECT COUNT(*) FROM t WHERE v = 'old'"))
			for _, id := range []int{x, y} { // a scan would wait for the row that is held
				old.exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id = %d", id))
			}
		})
	}
	t.Run("a statement", func(t *testing.T) {
		low, high := x, y
		if groupOf(t, x) > groupOf(t, y) {
			low, high = y, x
		}
		old, young := patient(connect(t)), patient(connect(t))
		old.exec("BEGIN")
		require.NoError(t, update(old, "old", high))
		done := make(chan error, 1)
		go func() {
			_, err := young.try(fmt.Sprintf("UPDATE t SET v = 'young' WHERE id IN (%d, %d)", low, high))
			done <- err
		}()
		// It has the one row, and waits for the other one.
		node := shared.NodeGroupDB(t, groupOf(t, high), "")
		require.Eventually(t, func() bool {
			var n int
			require.NoError(t, node.QueryRow("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'").Scan(&n))
			return n > 0
		}, patience, cluster.LockTick)
		require.NoError(t, update(old, "old", low))
		require.ErrorContains(t, <-done, "1213")
		old.exec("ROLLBACK")
		require.Equal(t, "0", old.get("SELECT COUNT(*) FROM t WHERE v IN ('old', 'young')"))
	})
	t.Run("a lock wait", func(t *testing.T) {
		require.ErrorContains(t, <-timeout, "1213")
		require.Equal(t, "0", waits.get("SELECT COUNT(*) FROM u"))
		holder.exec("ROLLBACK")
	})
}

// TestNoWaitOverGroups: NOWAIT is no wait that has become too long: it says what it says on one server, and the transaction goes on.
func TestNoWaitOverGroups(t *testing.T) {
	x, y := idsApart(t)
	holder, asks := connect(t), connect(t)
	holder.exec("BEGIN")
	holder.exec(fmt.Sprintf("UPDATE t SET v = 'held' WHERE id = %d", y))
	asks.exec("BEGIN")
	asks.exec(fmt.Sprintf("UPDATE t SET v = 'asks' WHERE id = %d", x))
	_, err := asks.try(fmt.Sprintf("SELECT v FROM t WHERE id = %d FOR UPDATE NOWAIT", y))
	code := uint16(1205)
	if cluster.TestEngine() == datanode.MySQL {
		code = 3572
	}
	var told *mysql.MySQLError
	require.ErrorAs(t, err, &told)
	require.Equal(t, code, told.Number, told.Message)
	if cluster.TestEngine() == datanode.MariaDB {
		asks.fails(1205, "SELECT COUNT(*) FROM t FOR UPDATE NOWAIT")
	}
	holder.exec("ROLLBACK")
	asks.exec(fmt.Sprintf("UPDATE t SET v = 'asks' WHERE id = %d", y))
	asks.exec("COMMIT")
	require.Equal(t, "2", asks.get("SELECT COUNT(*) FROM t WHERE v = 'asks'"))
	asks.exec("UPDATE t SET v = CONCAT('v', id) WHERE v = 'asks'") // as other tests have it
}

// TestDeadlockWhileRowsAreChanged: changes that were sent behind the one at which a server rolls the transaction back do not stay, although
// the connection is in no transaction any more.
func TestDeadlockWhileRowsAreChanged(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE ahead (id INT PRIMARY KEY, u INT NOT NULL, KEY (u))")
	c.exec("CREATE TABLE ahead_by (id INT PRIMARY KEY, x INT NOT NULL)")
	c.exec("CREATE TABLE ahead_heavy (id INT PRIMARY KEY, v CHAR(200) NOT NULL)")
	defer c.exec("DROP TABLE ahead, ahead_by, ahead_heavy")
	const rows = 60
	var there []int // on the node group whose server is talked to
	for id := 1; id <= rows; id++ {
		c.exec("INSERT INTO ahead VALUES (?, 0)", id)
		if groupOf(t, id) == 1 {
			there = append(there, id)
		}
	}
	require.Greater(t, len(there), 5)
	beyond := rows + 1 // has the greatest value there, so that what is kept free ends at it
	for groupOf(t, beyond) != 1 {
		beyond++
	}
	c.exec("INSERT INTO ahead VALUES (?, 700)", beyond)
	met := there[len(there)/2]
	for id := 1; id <= rows; id++ {
		x := 1000 + id
		if id == met {
			x = 500
		}
		c.exec("INSERT INTO ahead_by VALUES (?, ?)", rows-id, x) // not on the same node group
	}
	// Another transaction on that server keeps rows with 500 from coming, and has done so much that it is not the one to be rolled back.
	other := connectTo(t, shared.NodeGroup(1, "d"))
	other.exec("SET innodb_lock_wait_timeout = 100")
	other.exec("BEGIN")
	values := make([]string, 2000)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, 'v')", i)
	}
	other.exec("INSERT INTO ahead_heavy VALUES " + strings.Join(values, ","))
	other.exec("SELECT * FROM ahead WHERE u = 500 FOR UPDATE")
	ended := make(chan error, 1)
	go func() {
		_, err := c.try("UPDATE ahead JOIN ahead_by b ON b.id = 60 - ahead.id SET ahead.u = b.x")
		ended <- err
	}()
	watch := connectTo(t, shared.NodeGroup(1, "d"))
	require.Eventually(t, func() bool {
		return watch.get("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'") == "Innodb_row_lock_current_waits,1"
	}, patience, tick)
	other.exec(fmt.Sprintf("SELECT * FROM ahead WHERE id = %d FOR UPDATE", met))
	var e *mysql.MySQLError
	require.ErrorAs(t, <-ended, &e)
	require.EqualValues(t, 1213, e.Number, "%v", e)
	require.Equal(t, "0", watch.get("SELECT COUNT(*) FROM ahead WHERE u <> 0 AND u <> 700"))
	other.exec("ROLLBACK")
	require.Equal(t, "0", c.get("SELECT COUNT(*) FROM ahead WHERE u <> 0 AND u <> 700"))
	c.exec("UPDATE ahead JOIN ahead_by b ON b.id = 60 - ahead.id SET ahead.u = b.x")
	require.Equal(t, "60", c.get("SELECT COUNT(*) FROM ahead WHERE u <> 0 AND u <> 700"))
}

// TestDeadlockBesideALockWait: one server says that a lock was waited for too long, which ends the statement alone, and another one has found a
// deadlock and rolled the transaction back: the client is told of the deadlock, for nothing is left of the transaction.
func TestDeadlockBesideALockWait(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE beside_heavy (id INT PRIMARY KEY, v CHAR(200) NOT NULL)")
	low, met := idsApart(t) // the lower group's answer is read first
	if groupOf(t, low) > groupOf(t, met) {
		low, met = met, low
	}
	g := groupOf(t, met)
	first := met + 1
	for first == low || groupOf(t, first) != g {
		first++
	}
	values := make([]string, 2000)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, 'v')", i)
	}
	holder, heavy, victim := connect(t), connectTo(t, shared.NodeGroup(g, "d")), connect(t)
	holder.exec("BEGIN")
	holder.exec("UPDATE t SET v = 'held' WHERE id = ?", low)
	victim.exec("SET innodb_lock_wait_timeout = 1")
	victim.exec("BEGIN")
	victim.exec("INSERT INTO u VALUES (?, 'first')", low) // so that the transaction is on both groups
	victim.exec("UPDATE t SET v = 'first' WHERE id = ?", first)
	heavy.exec("SET innodb_lock_wait_timeout = 100")
	heavy.exec("BEGIN")
	heavy.exec("INSERT INTO beside_heavy VALUES " + strings.Join(values, ",")) // so that it is not the one to be rolled back
	heavy.exec("UPDATE t SET v = 'heavy' WHERE id = ?", met)
	waited := make(chan error, 1)
	go func() {
		_, err := heavy.try(fmt.Sprintf("UPDATE t SET v = 'heavy' WHERE id = %d", first))
		waited <- err
	}()
	node := shared.NodeGroupDB(t, g, "")
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, node.QueryRow("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'").Scan(&n))
		return n > 0
	}, patience, cluster.LockTick)
	victim.fails(1213, fmt.Sprintf("SELECT v FROM t WHERE id IN (%d, %d) ORDER BY id FOR UPDATE", low, met)) // which asks both at once
	require.NoError(t, <-waited)
	heavy.exec("ROLLBACK")
	holder.exec("ROLLBACK")
	require.Equal(t, "0", victim.get("SELECT COUNT(*) FROM u"))
	require.Equal(t, "0", victim.get("SELECT COUNT(*) FROM t WHERE v IN ('first', 'heavy', 'held')"))
	c.exec("DROP TABLE beside_heavy")
}
