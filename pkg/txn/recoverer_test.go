package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/test/realserver"
)

// lockTick is between two looks at what a server tells of transactions: it is a copy, which is not made anew for who asks more often.
const lockTick = 120 * time.Millisecond

// home is one real server that is node group 1, with a worker on it.
type home struct {
	*testing.T
	dial Dialer
	work *worker
}

func newHome(t *testing.T) home {
	server := realserver.Start(t)[0]
	dial := func(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
		if g != 1 {
			return nil, fmt.Errorf("node group %d is not in the topology", g)
		}
		return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: "unix:" + server.Addr, User: "root"})
	}
	h := home{T: t, dial: dial}
	c := h.connect()
	for _, q := range append(Schema(), "DELETE FROM `_skarv`.`dt`", "CREATE TABLE IF NOT EXISTS `_skarv`.`held` (id INT PRIMARY KEY)") {
		_, err := c.Exec(q)
		require.NoError(t, err)
	}
	r := NewRecoverer(RecovererConfig{Dial: dial, Groups: func() []placement.NodeGroupID { return []placement.NodeGroupID{1} }})
	h.work = r.newWorker(1)
	t.Cleanup(h.work.end)
	return h
}

func (h home) connect() *mysqlconn.Conn {
	c, err := h.dial(h.Context(), 1)
	require.NoError(h, err)
	h.Cleanup(func() { _ = c.Close() })
	return c
}

func (h home) exec(c *mysqlconn.Conn, q string) {
	_, err := c.Exec(q)
	require.NoError(h, err, q)
}

func (h home) prepare(c *mysqlconn.Conn, x xid) {
	for _, q := range []string{
		"XA START " + x.String(), "INSERT INTO `_skarv`.`held` VALUES (1)", "XA END " + x.String(), "XA PREPARE " + x.String(),
	} {
		h.exec(c, q)
	}
}

// settle looks at a branch and ends it if that may be.
func (h home) settle(x xid) error {
	c, err := h.work.conn(h.Context(), 1)
	require.NoError(h, err)
	require.NoError(h, h.work.look(c, []xid{x}))
	return h.work.settle(h.Context(), x)
}

// settles waits until a branch is ended, which only passing errors may hinder.
func (h home) settles(x xid) {
	require.Eventually(h, func() bool {
		err := h.settle(x)
		if err != nil && !errors.Is(err, errLeaving) && !errors.Is(err, errEnding) {
			require.ErrorIs(h, err, errHeld)
		}
		return err == nil
	}, time.Minute, lockTick)
}

func (h home) state(id ID) State {
	list, err := Find(h.Context(), h.dial, []placement.NodeGroupID{1}, nil, id)
	require.NoError(h, err)
	require.Len(h, list, 1)
	return list[0].State
}

// TestRecoverer runs on one server.
func TestRecoverer(t *testing.T) {
	h := newHome(t)
	for name, run := range map[string]func(*testing.T, home){
		"StaleThread":                      testStaleThread,
		"Holder":                           testHolder,
		"TombstoneOfACommittedTransaction": testTombstoneOfACommittedTransaction,
		"ManyParticipants":                 testManyParticipants,
		"ParticipantThatLeft":              testParticipantThatLeft,
		"DeadlocksBesideASilentGroup":      testDeadlocksBesideASilentGroup,
		"OldCopies":                        testOldCopies,
		"WideStrings":                      testWideStrings,
		"ClockOfTheServer":                 testClockOfTheServer,
	} {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

// testStaleThread: after its server was started again, the thread that an xid names may be anybody's connection.
func testStaleThread(t *testing.T, h home) {
	holder, stranger := h.connect(), h.connect()
	if !isMariaDB(holder) {
		t.Log("branches have no holder on this server")
	}
	started, err := Fit(holder)
	require.NoError(t, err)
	again, err := Fit(stranger)
	require.NoError(t, err)
	require.Equal(t, started, again)

	stale := newXID("1-aa-1", 1, stranger.ThreadID(), started-1)
	h.prepare(holder, stale)
	if !isMariaDB(holder) {
		require.NoError(t, h.settle(stale))
		return
	}
	require.Eventually(t, func() bool { return errors.Is(h.settle(stale), errEnding) }, time.Minute, lockTick)
	h.exec(stranger, "DO 1") // it lives
	h.exec(holder, "XA ROLLBACK "+stale.String())
}

// seen prepares a branch on c, which another connection finds.
func seen(t *testing.T, h home, c *mysqlconn.Conn, id ID) xid {
	started, err := Fit(c)
	require.NoError(t, err)
	x := newXID(id, 1, c.ThreadID(), started)
	h.prepare(c, x)
	list, err := prepared(h.connect())
	require.NoError(t, err)
	require.Contains(t, list, x)
	return x
}

// testWideStrings: the strings of a client may be in UTF-16; the branches of its transactions are told by their names all the same.
func testWideStrings(t *testing.T, h home) {
	c := h.connect()
	h.exec(c, "SET collation_connection = utf16_general_ci")
	x := seen(t, h, c, "1-dd-1")
	h.exec(c, "XA ROLLBACK "+x.String())
}

// testHolder: MariaDB lets nobody end a branch while the connection that prepared it lives, and answers OK to an XA COMMIT that does nothing in the
// moment in which that goes: it is ended, and the server given time.
func testHolder(t *testing.T, h home) {
	holder := h.connect()
	if !isMariaDB(holder) {
		t.Log("branches have no holder on this server")
		return
	}
	started, err := Fit(holder)
	require.NoError(t, err)
	own := newXID("1-aa-2", 1, holder.ThreadID(), started)
	h.prepare(holder, own)
	require.ErrorIs(t, h.settle(own), errHeld)
	h.exec(holder, "DO 1") // it may be ending it at this moment
	require.ErrorIs(t, h.settle(own), errHeld)
	_, err = holder.Exec("DO 1")
	require.Error(t, err, "it was ended")
	for err = h.settle(own); errors.Is(err, errHeld); {
		err = h.settle(own)
	}
	require.ErrorIs(t, err, errLeaving)
	gone := h.work.seen[own].left
	h.settles(own)
	require.GreaterOrEqual(t, time.Since(gone), letGo)
	require.Equal(t, RolledBack, h.state(own.id))

	// What was seen is over when it is acted on: the connection is another transaction's.
	late := h.connect()
	over := newXID("1-aa-3", 1, late.ThreadID(), started)
	h.prepare(late, over)
	require.ErrorIs(t, h.settle(over), errHeld)
	h.exec(late, "XA ROLLBACK "+over.String())
	require.NoError(t, h.work.finish(t.Context(), over, "XA ROLLBACK "))
	h.exec(late, "DO 1")
}

// testTombstoneOfACommittedTransaction: a Recoverer that saw a branch prepared, and asks after all is over and
// forgotten, must not make it look as if the transaction was rolled back.
func testTombstoneOfACommittedTransaction(t *testing.T, h home) {
	c := h.connect()
	x := seen(t, h, c, "1-bb-1")
	h.exec(c, "XA COMMIT "+x.String())           // and its decision is forgotten
	require.NoError(t, h.work.look(c, []xid{x})) // it has seen it before
	require.NoError(t, h.work.settle(t.Context(), x))
	require.Equal(t, Ended, h.state(x.id))
	h.exec(c, "DELETE FROM `_skarv`.`held`")

	y := xid{"1-bb-2", x.bqual}
	h.prepare(c, y)
	_ = c.Close()
	h.settles(y)
	require.Equal(t, RolledBack, h.state(y.id))
}

// testParticipantThatLeft: decisions are forgotten although a node group that took part is not in the cluster any more.
func testParticipantThatLeft(t *testing.T, h home) {
	c := h.connect()
	sweep := func() (left int) {
		require.NoError(t, h.work.sweep(t.Context()))
		_, rows, err := c.QueryAll("SELECT id FROM `_skarv`.`dt` WHERE id LIKE '1-dd-%'", 9)
		require.NoError(t, err)
		return len(rows)
	}
	h.exec(c, "INSERT INTO `_skarv`.`dt` VALUES ('1-dd-1','C','1,9',UTC_TIMESTAMP() - INTERVAL 48 HOUR), ('1-dd-2','C','1',UTC_TIMESTAMP() - INTERVAL 48 HOUR)")
	require.Equal(t, 2, sweep(), "the clock of who wrote them may be wrong")
	require.Equal(t, 2, sweep())
	for id, since := range h.work.old {
		h.work.old[id] = since.Add(-staleDecision)
	}
	require.Zero(t, sweep())
}

// testDeadlocksBesideASilentGroup: who waits for whom is known of the node groups that answer, and one that does not is not asked
// each time.
func testDeadlocksBesideASilentGroup(t *testing.T, h home) {
	holder, waiter := h.connect(), h.connect()
	h.exec(holder, "BEGIN")
	h.exec(holder, "INSERT INTO `_skarv`.`held` VALUES (77)")
	waits := make(chan error, 1)
	go func() {
		_, err := waiter.Exec("INSERT INTO `_skarv`.`held` VALUES (77)")
		waits <- err
	}()
	asked, began := 0, time.Now()
	dial := func(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
		if g != 1 {
			asked++
		}
		return h.dial(ctx, g)
	}
	w := &watcher{Coordinator: NewCoordinator(Config{Dial: dial}), conns: map[placement.NodeGroupID]*mysqlconn.Conn{}, silent: map[placement.NodeGroupID]time.Time{}}
	defer w.quiet()
	want := edge{Branch{1, waiter.ThreadID()}, Branch{1, holder.ThreadID()}}
	require.Eventually(t, func() bool {
		found, err := w.edges(t.Context(), []Waiter{{Branches: []Branch{{2, 5}, {1, waiter.ThreadID()}}}})
		require.Error(t, err)
		return slices.Contains(found, want)
	}, time.Minute, lockTick)
	require.Positive(t, asked)
	require.LessOrEqual(t, asked, 1+int(time.Since(began)/silence))
	h.exec(holder, "ROLLBACK")
	require.NoError(t, <-waits)
	h.exec(waiter, "DELETE FROM `_skarv`.`held`")
}

// testOldCopies: what a server shows while others read it all the time is not taken for what is.
func testOldCopies(t *testing.T, h home) {
	ctx, stop := context.WithCancel(t.Context())
	c, read := h.connect(), make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if _, _, err := c.QueryAll("SELECT trx_id FROM information_schema.INNODB_TRX", 1000); err != nil {
				read <- err
				return
			}
		}
		read <- nil
	}()
	holder, waiter := h.connect(), h.connect()
	h.exec(holder, "BEGIN")
	h.exec(holder, "INSERT INTO `_skarv`.`held` VALUES (78)")
	waits := make(chan error, 1)
	go func() {
		_, err := waiter.Exec("INSERT INTO `_skarv`.`held` VALUES (78)")
		waits <- err
	}()
	dialled := 0
	dial := func(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
		dialled++
		return h.dial(ctx, g)
	}
	w := &watcher{Coordinator: NewCoordinator(Config{Dial: dial}), conns: map[placement.NodeGroupID]*mysqlconn.Conn{}, silent: map[placement.NodeGroupID]time.Time{}}
	defer w.quiet()
	look := func() ([]edge, error) {
		return w.edges(t.Context(), []Waiter{{Branches: []Branch{{1, waiter.ThreadID()}}}})
	}
	require.Eventually(t, func() bool {
		_, err := look()
		return errors.Is(err, errOldCopy)
	}, time.Minute, lockTick)
	stop()
	require.NoError(t, <-read)
	want := edge{Branch{1, waiter.ThreadID()}, Branch{1, holder.ThreadID()}}
	require.Eventually(t, func() bool {
		found, err := look()
		return err == nil && slices.Contains(found, want)
	}, time.Minute, lockTick)
	require.Equal(t, 1, dialled, "the server has answered all the time")
	h.exec(holder, "ROLLBACK")
	require.NoError(t, <-waits)
	h.exec(waiter, "DELETE FROM `_skarv`.`held`")
}

// testManyParticipants: a decision names all of them.
func testManyParticipants(t *testing.T, h home) {
	c := h.connect()
	long := ""
	for g := range 3000 {
		long += fmt.Sprintf("%d,", 60000+g)
	}
	long += "1"
	h.exec(c, "SET sql_mode = ''") // as a client may
	h.exec(c, "INSERT INTO `_skarv`.`dt` VALUES ('1-cc-1','C','"+long+"','"+now()+"')")
	_, rows, err := c.QueryAll("SELECT participants FROM `_skarv`.`dt` WHERE id = '1-cc-1'", 1)
	require.NoError(t, err)
	require.Equal(t, long, string(rows[0][0]))
}

// testClockOfTheServer: a tombstone is as old as its server says, which forgets it. By the clock of a proxy that is days behind it would be forgotten
// at once, and what it says be decided otherwise.
func testClockOfTheServer(t *testing.T, h home) {
	c := h.connect()
	h.exec(c, "SET time_zone = '+05:00'")
	h.exec(c, "SET timestamp = 86400")
	commit, err := resolve(c, "1-clock-1")
	require.NoError(t, err)
	require.False(t, commit)
	_, rows, err := c.QueryAll("SELECT at FROM `_skarv`.`dt` WHERE id = '1-clock-1' LIMIT 1", 1)
	require.NoError(t, err)
	require.Equal(t, "1970-01-02 00:00:00.000000", string(rows[0][0]))
}

// Nothing is decided or ended on a server that is read-only: another one may be the primary by now, with other decisions.
func TestReadOnlyServerIsLeftAlone(t *testing.T) {
	h := newHome(t)
	admin, held := h.connect(), h.connect()
	x := xid{id: "1-feed-7", bqual: "1-0-0"}
	h.prepare(held, x)
	require.NoError(t, held.Close())
	_, err := h.work.conn(t.Context(), 1) // as of an earlier round
	require.NoError(t, err)
	h.exec(admin, "SET GLOBAL read_only = 1")
	_, err = h.work.conn(t.Context(), 1)
	require.ErrorIs(t, err, errReadOnly)
	require.ErrorIs(t, h.work.round(t.Context()), errReadOnly)
	_, err = resolve(admin, x.id)
	require.ErrorIs(t, err, errReadOnly)
	state, err := look(admin, x.id)
	require.NoError(t, err)
	require.Zero(t, state)
	h.exec(admin, "SET GLOBAL read_only = 0")
	h.settles(x)
}

// A transaction that stays in doubt for one reason is logged once.
func TestDoubtIsLoggedOnce(t *testing.T) {
	h := newHome(t)
	var log bytes.Buffer
	h.work.cfg.Log, h.work.cfg.Age = slog.New(slog.NewTextHandler(&log, nil)), 1
	held := h.connect()
	h.prepare(held, xid{id: "2-feed-8", bqual: "1-0-0"})
	for range 3 {
		require.NoError(t, h.work.round(t.Context()))
	}
	require.Len(t, h.work.InDoubt(), 1)
	require.Equal(t, 1, strings.Count(log.String(), "stays in doubt"), log.String())
	require.Contains(t, log.String(), "node group 2, which keeps the decision, is not in the cluster")
}
