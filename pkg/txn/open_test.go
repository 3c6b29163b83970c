package txn

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/test/realserver"
)

// testPool gives out connections to one real server as if to several node groups.
type testPool struct{ pools *backend.Pools }

func newTestPool(t *testing.T) testPool {
	server := realserver.Start(t)[0]
	p := backend.NewPools(backend.DefaultConfig())
	node := catalog.Node{Addr: "unix:" + server.Addr, User: "root"}
	p.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: node}, {ID: 2, Name: "two", Primary: node}, {ID: 3, Name: "three", Primary: node}})
	t.Cleanup(func() { p.Apply(nil) })
	return testPool{p}
}

func (p testPool) Get(g placement.NodeGroupID) (*backend.Conn, error) {
	return p.pools.Get(g, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
}

func (p testPool) Map() *placement.PartitionMap { return nil }

func (p testPool) Put(c *backend.Conn) { c.Release() }

// TestBranches runs on one server.
func TestBranches(t *testing.T) {
	pool := newTestPool(t)
	for name, run := range map[string]func(*testing.T, testPool){
		"FirstBranchFails":      testFirstBranchFails,
		"ReaderFails":           testReaderFails,
		"FinishedElsewhere":     testFinishedElsewhere,
		"ServerEndsABranch":     testServerEndsABranch,
		"FailedWriteIsPrepared": testFailedWriteIsPrepared,
		"ReadOnlyIsNoWriter":    testReadOnlyIsNoWriter,
		"UnopenedHasAnAge":      testUnopenedHasAnAge,
		"WaitsAreBounded":       testWaitsAreBounded,
		"RolledBackUnnoticed":   testRolledBackUnnoticed,
		"TellsOfADeadlock":      testTellsOfADeadlock,
		"BestEffortIsLost":      testBestEffortIsLost,
		"Unbounded":             testUnbounded,
		"SlowServerIsAwaited":   testSlowServerIsAwaited,
	} {
		t.Run(name, func(t *testing.T) { run(t, pool) })
	}
}

// testFirstBranchFails: what keeps the decision must be the group that the transaction's id names, or nobody finds the
// decision, also when the first statement could not open its branches and the next one goes elsewhere.
func testFirstBranchFails(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "BEGIN", Isolation: "SET no_such_variable = 1", Coordinator: NewCoordinator(Config{})}
	defer tx.Rollback()
	require.Error(t, tx.BeginStatement(pool, []placement.NodeGroupID{1, 2}, true))
	require.False(t, tx.Open())
	require.False(t, tx.Failed())

	tx.Isolation = ""
	require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{3}, true))
	require.NoError(t, tx.EndStatement(nil))
	require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{1, 2}, true))
	require.NoError(t, tx.EndStatement(nil))
	home, ok := tx.id.Group()
	require.True(t, ok)
	require.Equal(t, placement.NodeGroupID(3), home)
	require.Equal(t, home, tx.Group())
}

// testReaderFails: a branch that only read cannot make a client believe that the writer's work, which is committed, is not.
func testReaderFails(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	writer, err := tx.Acquire(pool, 1)
	require.NoError(t, err)
	reader, err := tx.Acquire(pool, 2)
	require.NoError(t, err)
	tx.Writes(writer)
	x := tx.branch(2).xid
	for _, q := range []string{"XA END " + x, "XA ROLLBACK " + x} { // its server has given it up
		_, err := reader.Exec(q)
		require.NoError(t, err)
	}
	_, err = tx.Commit()
	require.NoError(t, err)
}

// testFinishedElsewhere: a prepared branch that its server no longer knows is being ended by a Recoverer, and the
// decision must outlive that.
func testFinishedElsewhere(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	for g := placement.NodeGroupID(1); g <= 2; g++ {
		_, err := tx.Acquire(pool, g)
		require.NoError(t, err)
	}
	b := tx.branch(2)
	for _, q := range []string{"XA END " + b.xid, "XA PREPARE " + b.xid, "XA COMMIT " + b.xid} {
		_, err := b.conn.Exec(q)
		require.NoError(t, err)
	}
	b.wrote, b.prepared = true, true
	tx.free(tx.branches[0], tx.all(tx.branches[:1], (*branch).commit)) // as if with the decision
	id := tx.id
	tx.branches = tx.branches[1:]
	out, err := tx.finish()
	require.NoError(t, err)
	require.Equal(t, id, out.Pending)
	require.Empty(t, tx.Coordinator.ended, "the decision is kept")
}

// testServerEndsABranch: when a server ends its part of a transaction over several groups, what the others have must not
// be committed beside it.
func testServerEndsABranch(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	first, err := tx.Acquire(pool, 1)
	require.NoError(t, err)
	_, err = tx.Acquire(pool, 2)
	require.NoError(t, err)
	_, err = first.Exec("COMMIT")
	require.NoError(t, err)
	require.False(t, tx.Ended(first))
	require.ErrorContains(t, tx.Err(), "node group 1 has ended its part")
	_, err = tx.Commit()
	require.ErrorContains(t, err, "rolled back")
	tx.Rollback()

	alone := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	c, err := alone.Acquire(pool, 1)
	require.NoError(t, err)
	require.True(t, alone.Ended(c), "with one group that is the transaction's end")
	alone.Rollback()
}

// testFailedWriteIsPrepared: a statement that failed may have left something behind.
func testFailedWriteIsPrepared(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	defer tx.Rollback()
	require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{1, 2}, false))
	require.Error(t, tx.EndStatement(errNotUsable))
	for _, b := range tx.branches {
		require.True(t, b.wrote)
	}
}

// testReadOnlyIsNoWriter: a READ ONLY transaction has plain branches, which cannot be prepared, whatever joins it.
func testReadOnlyIsNoWriter(t *testing.T, pool testPool) {
	tx := &Txn{Begin: "START TRANSACTION READ ONLY", ReadOnly: true, Coordinator: NewCoordinator(Config{})}
	require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{1}, true))
	require.NoError(t, tx.JoinStatement(pool, 1, true))
	require.NoError(t, tx.JoinStatement(pool, 2, true))
	require.NoError(t, tx.EndStatement(nil))
	for _, b := range tx.branches {
		require.False(t, b.wrote)
		require.Empty(t, b.xid)
	}
	_, err := tx.Commit()
	require.NoError(t, err)
}

// testUnopenedHasAnAge: of transactions that wait for each other the youngest is ended, so every one must have an age, also
// one whose first statement brings its BEGIN with it.
func testUnopenedHasAnAge(t *testing.T, pool testPool) {
	before := time.Now()
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	defer tx.Rollback()
	c, opening, err := tx.AcquireUnopened(pool, 1)
	require.NoError(t, err)
	_, err = c.Exec(opening)
	require.NoError(t, err)
	_, err = tx.Acquire(pool, 2)
	require.NoError(t, err)
	require.WithinRange(t, tx.watched.began, before, time.Now())
}

// refuse makes c's server tell the error of a deadlock that was none.
func refuse(t *testing.T, c *backend.Conn) error {
	_, err := c.Exec("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213")
	require.True(t, sqlerr.HasCode(err, sqlerr.LockDeadlock), "%v", err)
	return err
}

// testTellsOfADeadlock: a trigger may tell the error of a deadlock where there is none. The statement is undone on all groups then like any other.
func testTellsOfADeadlock(t *testing.T, pool testPool) {
	c, err := pool.Get(3)
	require.NoError(t, err)
	defer pool.Put(c)
	for _, q := range []string{"CREATE DATABASE undone", "CREATE TABLE undone.t (id INT PRIMARY KEY)"} {
		_, err := c.Exec(q)
		require.NoError(t, err)
	}
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	defer tx.Rollback()
	statement := func(id string) {
		require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{1, 2}, true))
		_, err := tx.Branch(1).Exec("INSERT INTO undone.t VALUES (" + id + ")")
		require.NoError(t, err)
	}
	statement("1")
	require.NoError(t, tx.EndStatement(nil))
	statement("2")
	failed := refuse(t, tx.Branch(2))
	require.Equal(t, failed, tx.EndStatement(failed))
	require.False(t, tx.Failed())
	_, rows, err := tx.Branch(1).QueryAll("SELECT id FROM undone.t", 2)
	require.NoError(t, err)
	require.Equal(t, [][][]byte{{[]byte("1")}}, rows)
}

// testRolledBackUnnoticed: where an error by which servers may roll back was nobody's, the transaction goes on only if it is still there.
func testRolledBackUnnoticed(t *testing.T, pool testPool) {
	begin := func() (tx *Txn, c *backend.Conn) {
		tx = &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
		require.NoError(t, tx.BeginStatement(pool, []placement.NodeGroupID{1}, true))
		return tx, tx.Branch(1)
	}
	tx, c := begin()
	_ = refuse(t, c)
	again, err := tx.Acquire(pool, 1)
	require.NoError(t, err)
	require.Equal(t, c, again)
	tx.Doubt(c)
	_, err = tx.Commit()
	require.NoError(t, err)

	for name, use := range map[string]func(*Txn, *backend.Conn) error{
		"Acquire":        func(tx *Txn, _ *backend.Conn) error { _, err := tx.Acquire(pool, 1); return err },
		"JoinStatement":  func(tx *Txn, _ *backend.Conn) error { return tx.JoinStatement(pool, 1, true) },
		"BeginStatement": func(tx *Txn, _ *backend.Conn) error { return tx.BeginStatement(pool, []placement.NodeGroupID{1}, true) },
		"Commit":         func(tx *Txn, _ *backend.Conn) error { _, err := tx.Commit(); return err },
		"Doubt":          func(tx *Txn, c *backend.Conn) error { tx.Doubt(c); _, err := tx.Commit(); return err },
	} {
		tx, c := begin()
		_, err := c.Exec("ROLLBACK") // as a server does it
		require.NoError(t, err)
		_ = refuse(t, c)
		require.ErrorContains(t, use(tx, c), "rolled", name)
		tx.Rollback()
	}
}

// testWaitsAreBounded: a transaction over several node groups waits for no lock as long as servers would let it, not for a
// table's either, and its connections are as before afterwards.
func testWaitsAreBounded(t *testing.T, pool testPool) {
	waits := func(c *backend.Conn) string {
		_, rows, err := c.QueryAll("SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@lock_wait_timeout)", 1)
		require.NoError(t, err)
		return string(rows[0][0])
	}
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{})}
	c, err := tx.Acquire(pool, 1)
	require.NoError(t, err)
	before := waits(c)
	require.NotEqual(t, "5 50", before)
	other, err := tx.Acquire(pool, 2)
	require.NoError(t, err)
	require.Equal(t, "5 50", waits(c))
	require.Equal(t, "5 50", waits(other))
	_, err = tx.Commit()
	require.NoError(t, err)
	for g := placement.NodeGroupID(1); g <= 2; g++ {
		c, err := pool.Get(g)
		require.NoError(t, err)
		require.Equal(t, before, waits(c))
		pool.Put(c)
	}
}

// testBestEffortIsLost: of a COMMIT whose answer is lost nobody can say that nothing of the transaction stands, not of the first one either.
func testBestEffortIsLost(t *testing.T, pool testPool) {
	for name, wrote := range map[string]bool{"outcome there is unknown": true, "node group 1": false} {
		tx := &Txn{Begin: "BEGIN", BestEffort: true, Coordinator: NewCoordinator(Config{})}
		for g := placement.NodeGroupID(1); g <= 3; g++ {
			c, err := tx.Acquire(pool, g)
			require.NoError(t, err)
			if g > 1 || wrote {
				tx.Writes(c)
			}
		}
		require.Empty(t, backend.Kill(t.Context(), false, tx.Branch(1)))
		require.Eventually(t, tx.Branch(1).Stale, time.Minute, time.Millisecond)
		_, err := tx.Commit()
		require.ErrorContains(t, err, name)
		require.Equal(t, wrote, strings.Contains(err.Error(), "unknown"), "%v", err)
		require.Equal(t, sqlerr.ServerLost, sqlerr.From(err).Code)
		require.False(t, tx.Open())
	}
}

// Commits of one writer, and those of best effort, wait for as long as servers let them; a commit with a decision has its own bounds.
func testUnbounded(t *testing.T, pool testPool) {
	for want, tx := range map[int]*Txn{2: {}, 0: {}, 3: {BestEffort: true}} {
		tx.Begin, tx.Coordinator = "BEGIN", NewCoordinator(Config{})
		for g := placement.NodeGroupID(1); g <= placement.NodeGroupID(max(want, 2)); g++ {
			c, err := tx.Acquire(pool, g)
			require.NoError(t, err)
			if want != 2 || g == 1 {
				tx.Writes(c)
			}
		}
		require.Len(t, tx.Unbounded(nil), want)
		tx.Rollback()
	}
}

// testSlowServerIsAwaited: whoever is told OK finds what he has committed on every node group, also where one of them takes its time.
func testSlowServerIsAwaited(t *testing.T, pool testPool) {
	c, err := pool.Get(3)
	require.NoError(t, err)
	for _, q := range append(Schema(), "CREATE DATABASE slow", "CREATE TABLE slow.t (id INT PRIMARY KEY)") {
		_, err = c.Exec(q)
		require.NoError(t, err)
	}
	pool.Put(c)
	tx := &Txn{Begin: "BEGIN", Coordinator: NewCoordinator(Config{Failpoint: func(point string, _ ID) error {
		if point == PointFinishing {
			return pause.For(t.Context(), 2*time.Second) // as if the answer took so long
		}
		return nil
	}})}
	for g := placement.NodeGroupID(1); g <= 2; g++ {
		c, err := tx.Acquire(pool, g)
		require.NoError(t, err)
		tx.Writes(c)
		_, err = c.Exec(fmt.Sprintf("INSERT INTO slow.t VALUES (%d)", g))
		require.NoError(t, err)
	}
	out, err := tx.Commit()
	require.NoError(t, err)
	require.Empty(t, out.Pending)
}
