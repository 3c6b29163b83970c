package reorg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
	"skarv/test/cluster"
)

func code(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// partition returns where the row with an integer key lies.
func partition(id string) placement.Partition { return placement.PartitionOf([]byte(id)) }

// change publishes without waiting for the proxies.
func change(t *testing.T, s *topology.Store, moving ...placement.Moving) *placement.PartitionMap {
	t.Helper()
	old, revision, err := s.Map(t.Context())
	require.NoError(t, err)
	next, err := old.Next(nil, moving)
	require.NoError(t, err)
	_, err = s.Change(nil).PutMap(next, revision).Commit(t.Context())
	require.NoError(t, err)
	return next
}

// withTable starts a cluster of two node groups with a table t (id, v) that has rows with these ids, and v 0.
func withTable(t *testing.T, ids ...int) (*cluster.Cluster, *topology.Store, *sql.DB) {
	c := cluster.Start(t, cluster.Groups(2))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	db := c.DB(t, "d")
	exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
	for _, id := range ids {
		exec(t, db, "INSERT INTO t VALUES (?, 0)", id)
	}
	return c, store(t, c), db
}

// frozenHome is the partition of row 7, frozen for as long as a test takes, and its owner.
func frozenHome(t *testing.T, s *topology.Store) (placement.NodeGroupID, placement.Moving) {
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	from := m.Owner(partition("7"))
	return from, placement.Moving{
		Reorg: "r", A: from, B: 3 - from, Partitions: placement.SetOf(partition("7")), Phase: placement.Frozen, Drain: 50 * time.Millisecond, Deadline: time.Minute,
	}
}

func TestFrozenPartitions(t *testing.T) {
	c, s, db := withTable(t, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	exec(t, db, "CREATE TABLE u (id BIGINT PRIMARY KEY, v INT)")
	_, frozen := frozenHome(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	// A transaction that uses the partition and goes on finishes; one that thinks is rolled back.
	using, err := db.Begin()
	require.NoError(t, err)
	_, err = using.Exec("UPDATE t SET v = 1 WHERE id = 7")
	require.NoError(t, err)
	all, err := db.Begin()
	require.NoError(t, err)
	require.NoError(t, all.QueryRow("SELECT COUNT(*) FROM t").Scan(new(int)))
	other, err := db.Begin()
	require.NoError(t, err)
	_, err = other.Exec("UPDATE t SET v = 1 WHERE id = 8")
	require.NoError(t, err)

	next := change(t, s, frozen)
	_, err = s.AwaitDrained(ctx, next.Epoch())
	require.NoError(t, err)

	_, err = using.Exec("UPDATE t SET v = 2 WHERE id = 7")
	assert.Equal(t, uint16(1213), code(err), "%v", err)
	require.NoError(t, using.Rollback())
	assert.Equal(t, uint16(1213), code(all.Commit()))
	_, err = other.Exec("UPDATE t SET v = 2 WHERE id = 8")
	require.NoError(t, err)
	require.NoError(t, other.Commit())

	// Statements on other partitions go on; others wait for the end. So do reads of everything: that the freeze is over, and rows were
	// written elsewhere, other processes may know before this one.
	assert.Equal(t, "8 2", text(t, db, "SELECT id, v FROM t WHERE id = 8"))
	waiting := map[string]chan error{}
	for _, q := range []string{
		"UPDATE t SET v = v + 10 WHERE id = 7", "UPDATE t SET v = v + 100", "SELECT v FROM t WHERE id = 7",
		"SELECT COUNT(*), SUM(v) FROM t", "SELECT a.id FROM t a JOIN t b ON a.v = b.id",
		"SELECT u.id FROM t JOIN u ON u.v = t.v WHERE t.id = 8", // of which the first part could run
	} {
		done := make(chan error, 1)
		waiting[q] = done
		go func() {
			_, err := db.ExecContext(ctx, q)
			done <- err
		}()
	}
	exec(t, db, "UPDATE t SET v = v WHERE id = 9")
	held := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, metrics := c.Get(t, "/metrics")
			return strings.Contains(metrics, fmt.Sprintf("\nskarv_statements_held_total %d\n", n))
		}, time.Minute, 10*time.Millisecond, "a statement has run while partitions were frozen")
	}
	held(len(waiting))

	// KILL QUERY ends the wait.
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	var id int
	require.NoError(t, conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id))
	killed := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(ctx, "SELECT v FROM t WHERE id = 7")
		killed <- err
	}()
	held(len(waiting) + 1)
	exec(t, db, fmt.Sprint("KILL QUERY ", id))
	assert.Equal(t, uint16(1317), code(<-killed))
	for q, done := range waiting {
		assert.Empty(t, done, q)
	}
	change(t, s)
	for q, done := range waiting {
		require.NoError(t, <-done, q)
	}
	assert.Equal(t, "110", text(t, db, "SELECT v FROM t WHERE id = 7"))
}

// A transaction that has inserted a row uses the partition of the row that it refers to, too: until it ends, that must not be handed to
// another node group, where it can be deleted.
func TestFrozenParent(t *testing.T) {
	_, s, db := withTable(t, 7)
	exec(t, db, "CREATE TABLE child (id BIGINT PRIMARY KEY, tid BIGINT, FOREIGN KEY (tid) REFERENCES t (id))")
	_, frozen := frozenHome(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	using, err := db.Begin()
	require.NoError(t, err)
	_, err = using.Exec("INSERT INTO child VALUES (8, 7)")
	require.NoError(t, err)
	next := change(t, s, frozen)
	_, err = s.AwaitDrained(ctx, next.Epoch())
	require.NoError(t, err)
	assert.Equal(t, uint16(1213), code(using.Commit()))
	change(t, s)
	assert.Equal(t, "0", text(t, db, "SELECT COUNT(*) FROM child"))
	exec(t, db, "INSERT INTO child VALUES (8, 7)")
}

// A statement that takes longer than it may when partitions freeze is ended on its server. One that is its own transaction is run again
// after that, unseen by its client; a transaction is told that it was rolled back.
func TestStatementThatGivesWay(t *testing.T) {
	c, s, db := withTable(t, 7, 8)
	from, frozen := frozenHome(t, s)
	server := c.NodeGroupDB(t, int(from), "d")
	other, err := server.Begin() // holds the row
	require.NoError(t, err)
	defer func() { _ = other.Rollback() }()
	_, err = other.Exec("SELECT v FROM t WHERE id = 7 FOR UPDATE")
	require.NoError(t, err)

	single, whole := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := db.Exec("UPDATE t SET v = v + 1 WHERE id = 7")
		single <- err
	}()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("UPDATE t SET v = v + 10 WHERE id = 8")
	require.NoError(t, err)
	go func() {
		_, err := tx.Exec("UPDATE t SET v = v + 10 WHERE id = 7")
		whole <- err
	}()
	waiting := func() string {
		return text(t, server, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE t SET v = v + 1%'")
	}
	require.Eventually(t, func() bool { return waiting() == "2" }, time.Minute, 10*time.Millisecond)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := change(t, s, frozen)
	_, err = s.AwaitDrained(ctx, next.Epoch())
	require.NoError(t, err)
	err = <-whole
	assert.Equal(t, uint16(1213), code(err), "%v", err)
	_ = tx.Rollback()
	require.Eventually(t, func() bool { return waiting() == "0" }, time.Minute, 10*time.Millisecond) // a server shows what it has answered for a moment
	assert.Empty(t, single)
	require.NoError(t, other.Rollback())
	change(t, s)
	require.NoError(t, <-single)
	assert.Equal(t, "7 1,8 0", text(t, db, "SELECT id, v FROM t ORDER BY id"))
}

// A statement of which a part is done, and whose further part meets frozen partitions, ends its transaction, as a deadlock does: nothing
// of it is left that the client's next BEGIN would commit.
func TestPartDoneMeetsFreeze(t *testing.T) {
	c, s, db := withTable(t)
	exec(t, db, "CREATE TABLE acc (id BIGINT PRIMARY KEY, email VARCHAR(20) UNIQUE, v INT)")
	exec(t, db, "CREATE TABLE log (id BIGINT PRIMARY KEY)")
	exec(t, db, "CREATE TABLE fires (id BIGINT PRIMARY KEY, v INT)")
	exec(t, db, "CREATE TRIGGER logs AFTER UPDATE ON fires FOR EACH ROW INSERT INTO log VALUES (NEW.v)")
	_, frozen := frozenHome(t, s)
	for _, q := range []string{
		"SELECT v FROM acc WHERE email = 'seven' FOR UPDATE",
		"UPDATE fires SET v = 7 WHERE id = 8",
	} {
		for _, table := range []string{"acc", "fires", "log"} {
			exec(t, db, "DELETE FROM "+table)
		}
		exec(t, db, "INSERT INTO acc VALUES (7, 'seven', 0), (8, 'eight', 0)")
		exec(t, db, "INSERT INTO fires VALUES (8, 0)")
		conn, err := c.DB(t, "d").Conn(t.Context())
		require.NoError(t, err)
		run := func(q string) error {
			_, err := conn.ExecContext(t.Context(), q)
			return err
		}
		require.NoError(t, run("BEGIN"))
		require.NoError(t, run("UPDATE acc SET v = 1 WHERE id = 8"))
		next := change(t, s, frozen)
		_, err = s.AwaitDrained(t.Context(), next.Epoch())
		require.NoError(t, err)
		err = run(q)
		assert.Equal(t, uint16(1213), code(err), "%s: %v", q, err)
		require.NoError(t, run("BEGIN"))
		require.NoError(t, run("COMMIT"))
		change(t, s)
		assert.Equal(t, "0", text(t, db, "SELECT SUM(v) FROM acc"), q)
		assert.Equal(t, "0", text(t, db, "SELECT SUM(v) FROM fires"), q)
		require.NoError(t, conn.Close())
	}
}

// A proxy that was shut out of the servers cannot write with the connections it has, and starts anew in another slot.
func TestEvictedProxy(t *testing.T) {
	_, s, db := withTable(t, 1, 2, 3, 4)
	slots, _, err := s.Slots(t.Context())
	require.NoError(t, err)
	require.Len(t, slots, 1)
	old := slots[0]

	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("UPDATE t SET v = 1")
	require.NoError(t, err)
	silent, err := db.Conn(t.Context())
	require.NoError(t, err)
	const idBits = 20
	id := func() (id int) {
		require.NoError(t, db.QueryRow("SELECT CONNECTION_ID()").Scan(&id))
		return id
	}
	require.Equal(t, old.N-1, id()>>idBits)

	fenced := old
	fenced.Fenced = true
	_, err = s.Change(nil).PutSlot(&fenced, old.Revision).Commit(t.Context())
	require.NoError(t, err)
	snap, err := s.Load(t.Context())
	require.NoError(t, err)
	for _, g := range snap.Groups {
		dial := func(ctx context.Context) (*mysqlconn.Conn, error) {
			return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: g.Primary.Addr, User: g.Primary.User, Password: g.Primary.Password})
		}
		entitled := func(context.Context) error { return nil }
		require.NoError(t, fence.Evict(t.Context(), dial, entitled, g.Primary.Flavor, old.N, old.Incarnation))
		// What the old incarnation still tries is refused, on both ways.
		admin, err := dial(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, fence.Activate(admin, g, fence.Slot{N: old.N, Incarnation: old.Incarnation, Secret: []byte("x")}), fence.ErrFenced)
		require.NoError(t, admin.Close())
	}
	require.Error(t, tx.Commit())
	require.Eventually(t, func() bool {
		_, err := db.Exec("UPDATE t SET v = v + 10 WHERE id = 1")
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	assert.Equal(t, "10", text(t, db, "SELECT SUM(v) FROM t"))
	slots, _, err = s.Slots(t.Context())
	require.NoError(t, err)
	slots = slices.DeleteFunc(slots, func(s topology.Slot) bool { return s.Fenced }) // the old one, unless it was cleared already
	require.Len(t, slots, 1)
	assert.NotEqual(t, old.N, slots[0].N)
	assert.Greater(t, slots[0].Incarnation, old.Incarnation)
	// Nobody goes on with an id that the next holder of the old slot gives, too.
	assert.Equal(t, slots[0].N-1, id()>>idBits)
	require.Eventually(t, func() bool { return silent.PingContext(t.Context()) != nil }, time.Minute, 10*time.Millisecond)
	_ = silent.Close()
}

// While a node group gets its copies of reference tables nothing writes to such a table, in whatever way the statement is run.
func TestFrozenCopies(t *testing.T) {
	c, s, db := withTable(t, 1, 2, 3, 4, 5, 6, 7, 8)
	exec(t, db, "CREATE TABLE r (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference'")
	exec(t, db, "INSERT INTO r VALUES (1, 0), (2, 0)")
	exec(t, db, "CREATE TABLE fires (id BIGINT PRIMARY KEY, v INT)")
	exec(t, db, "INSERT INTO fires VALUES (7, 0), (8, 0)")
	exec(t, db, "CREATE TRIGGER notes AFTER UPDATE ON fires FOR EACH ROW INSERT INTO r VALUES (100 + NEW.id, NEW.v)")
	old, revision, err := s.Map(t.Context())
	require.NoError(t, err)
	next, err := old.FreezeCopies(time.Minute)
	require.NoError(t, err)
	_, err = s.Change(nil).PutMap(next, revision).Commit(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = s.AwaitDrained(ctx, next.Epoch())
	require.NoError(t, err)

	exec(t, db, "UPDATE t JOIN r ON r.id = t.id SET t.v = 5") // it reads the reference table
	// A part of it that writes to the reference table comes behind others over several node groups.
	_, err = db.Exec("UPDATE fires SET v = v + 1 WHERE v + id = 7")
	assert.Equal(t, uint16(1213), code(err), "%v", err)
	assert.Equal(t, "2", text(t, db, "SELECT COUNT(*) FROM r"))
	waiting := map[string]chan error{}
	for _, q := range []string{
		"INSERT INTO r VALUES (3, 0)",
		"UPDATE r SET v = v + 1 WHERE id = 1",
		"INSERT INTO r SELECT 10 + id, v FROM t",
		"UPDATE r SET v = (SELECT COUNT(*) FROM t) WHERE id = 2",
		"UPDATE r JOIN t ON r.id = t.id SET r.v = r.v + 10 WHERE r.id = 1",
		"DELETE r FROM r JOIN t ON r.id = t.id WHERE r.id = 3",
	} {
		done := make(chan error, 1)
		waiting[q] = done
		go func() {
			_, err := db.ExecContext(ctx, q)
			done <- err
		}()
	}
	require.Eventually(t, func() bool {
		_, metrics := c.Get(t, "/metrics")
		return strings.Contains(metrics, fmt.Sprintf("\nskarv_statements_held_total %d\n", len(waiting)))
	}, time.Minute, 10*time.Millisecond, "a statement has written to a reference table")
	for q, done := range waiting {
		assert.Empty(t, done, q)
	}
	change(t, s)
	for q, done := range waiting {
		require.NoError(t, <-done, q)
	}
	exec(t, db, "UPDATE fires SET v = v + 1")
}

// A group that joins gets its reference tables only when nothing changes them any more that a proxy has lost.
func TestLostWritesToCopiesAreWaitedFor(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	db, s := c.DB(t, "d"), store(t, c)
	exec(t, db, "CREATE TABLE r (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference'")
	exec(t, db, "INSERT INTO r VALUES (7, 0)")
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "UPDATE r SET v = SLEEP(100) WHERE id = 7")
		asked <- err
	}()
	resume := pauseInStatement(t, c, 1, "SLEEP(100)", cancel)
	require.Error(t, <-asked)
	old, revision, err := s.Map(t.Context())
	require.NoError(t, err)
	next, err := old.FreezeCopies(time.Minute)
	require.NoError(t, err)
	_, err = s.Change(nil).PutMap(next, revision).Commit(t.Context())
	require.NoError(t, err)
	short, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	_, err = s.AwaitDrained(short, next.Epoch())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	resume()
	long, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	_, err = s.AwaitDrained(long, next.Epoch())
	require.NoError(t, err)
}
