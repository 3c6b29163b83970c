package reorg

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/control"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// What somebody asks for while the partitions are frozen counts, up to the moment the new owners are published.
func TestAskedForDuringTheCutover(t *testing.T) {
	m := newMachine(t, 2)
	stop := m.load(2)
	ask := func(id *string, w reorg.Wish) func() {
		return func() {
			_, err := reorg.Ask(t.Context(), m.store, *id, w)
			assert.NoError(t, err)
		}
	}
	var id string
	for _, point := range []string{"entered.FROZEN", "drained", "cut"} {
		m.when("entered.VERIFY", func() { m.when(point, ask(&id, reorg.WishAbort)) })
		id = m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
		r := m.await(id, reorg.Done)
		assert.Equal(t, reorg.Aborted, r.Outcome, point)
	}
	id = m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	m.await(id, reorg.Reverse)
	m.when("cut", ask(&id, reorg.WishComplete))
	ask(&id, reorg.WishRollback)()
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome)
	counts := stop()
	m.wantRows()
	m.wantCounts(counts)
}

// When the old owners get their partitions back nobody looks for late writes there any more.
func TestWatchersEndBeforeARollback(t *testing.T) {
	m := newMachine(t, 2)
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	m.await(id, reorg.Reverse)
	running := func() int {
		m.faults.mu.Lock()
		defer m.faults.mu.Unlock()
		return m.faults.runs
	}
	require.Eventually(t, func() bool { return running() == 2 }, time.Minute, 10*time.Millisecond)
	published := -1
	m.when("entered.CLEANING", func() { published = running() })
	_, err := reorg.Ask(t.Context(), m.store, id, reorg.WishRollback)
	require.NoError(t, err)
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.RolledBack, r.Outcome)
	assert.Zero(t, published)
}

// A cutover waits as long as a process could not be shut out, and as long as movers are behind.
func TestCutoverWaits(t *testing.T) {
	m := newMachine(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	loose := m.store.NewPresence(topology.Member{ID: "loose", Addr: "elsewhere:3306"})
	loose.Unfenced()
	done := make(chan error, 1)
	m.when("entered.CATCHUP", func() {
		go func() { done <- loose.Run(ctx) }()
		assert.Eventually(t, func() bool {
			members, err := m.store.Members(t.Context())
			return err == nil && len(members) == 2
		}, time.Minute, 10*time.Millisecond)
	})
	m.faults.set("lag", errors.New("it does not answer"))
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	m.await(id, reorg.CatchUp)
	m.faults.set("lag", nil)
	require.Eventually(t, func() bool {
		r, err := reorg.Get(t.Context(), m.store, id)
		require.NoError(t, err)
		require.Zero(t, r.Attempts)
		return assert.ObjectsAreEqual(reorg.Verify, r.State) && r.Problem != ""
	}, time.Minute, 10*time.Millisecond)
	r, err := reorg.Get(t.Context(), m.store, id)
	require.NoError(t, err)
	assert.Contains(t, r.Problem, "process loose at elsewhere:3306 uses a server with Skarv's own account")
	cancel()
	require.NoError(t, <-done)
	m.await(id, reorg.Reverse)
}

// A proxy says that it goes by a map with moving partitions only when nothing it has lost can be at work on the servers.
func TestLostStatementsAreWaitedFor(t *testing.T) {
	c, s, db := withTable(t, 7)
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	group := m.Owner(partition("7"))
	moving := placement.Moving{Reorg: "r", A: 3 - group, B: group, Partitions: placement.SetOf(m.Owned(3 - group)[0]), Phase: placement.In}

	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(ctx, "UPDATE t SET v = SLEEP(100) WHERE id = 7")
		asked <- err
	}()
	resume := pauseInStatement(t, c, int(group), "SLEEP(100)", cancel)
	require.Error(t, <-asked)
	next := change(t, s, moving)
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

// pauseInStatement pauses the server of a node group that runs a statement, has its client leave, and returns when the proxy has noticed.
func pauseInStatement(t *testing.T, c *cluster.Cluster, group int, statement string, leave func()) (resume func()) {
	server, api := c.NodeGroupDB(t, group, ""), adminv1.NewAdminClient(c.Admin(t))
	require.Eventually(t, func() bool {
		return text(t, server, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%"+statement+"%' AND info NOT LIKE '%processlist%'") == "1"
	}, time.Minute, 10*time.Millisecond)
	resume = cluster.Pause(t, c.Info().NodeGroups[group-1].Pid)
	leave()
	require.Eventually(t, func() bool {
		r, err := api.Sessions(t.Context(), &adminv1.SessionsRequest{})
		return err == nil && !slices.ContainsFunc(r.Sessions, func(s *adminv1.Session) bool { return strings.Contains(s.Statement, statement) })
	}, time.Minute, 10*time.Millisecond)
	return resume
}

// A process that is starting has no slot yet: a reorganisation begins when it has one, or is gone.
func TestProcessThatStartsIsWaitedFor(t *testing.T) {
	m := newMachine(t, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- m.store.NewPresence(topology.Member{ID: "new", Addr: "elsewhere:3306", Proxy: true, Acked: 1 << 60}).Run(ctx)
	}()
	require.Eventually(t, func() bool {
		members, err := m.store.Members(t.Context())
		return err == nil && len(members) == 2
	}, time.Minute, 10*time.Millisecond)
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, 0)
	require.Eventually(t, func() bool {
		r, err := reorg.Get(t.Context(), m.store, id)
		require.NoError(t, err)
		require.Equal(t, reorg.Planned, r.State)
		return r.Problem != ""
	}, time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	assert.Equal(t, reorg.Moved, m.await(id, reorg.Done).Outcome)
}

// A mover that has to begin anew says so in any state, also to a controller that finds the comparison begun.
func TestBeginsAnewWhileItCompares(t *testing.T) { beginsAnew(t, mover.ErrRecopy) }

// What a mover cannot read stays in the log: only behind it can one begin anew.
func TestBeginsAnewBehindWhatCannotBeRead(t *testing.T) { beginsAnew(t, mover.ErrLog) }

func beginsAnew(t *testing.T, because error) {
	m := newMachine(t, 2)
	m.when("entered.VERIFY", func() {
		m.faults.set("run", because)
		m.faults.set("verify", errors.New("nothing runs"))
		m.when("entered.IN", func() {
			m.faults.set("run", nil)
			m.faults.set("verify", nil)
		})
	})
	m.crashAt("entered.VERIFY")
	r := m.await(m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, 0), reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	m.wantRows()
}

// What has failed is said as long as it fails, and no longer.
func TestTroubleThatIsOver(t *testing.T) {
	m := newMachine(t, 2)
	m.when("entered.REVERSE", func() { m.faults.set("run", errors.New("no luck")) })
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	said := func(problem string) func() bool {
		return func() bool {
			r, err := reorg.Get(t.Context(), m.store, id)
			require.NoError(t, err)
			st, err := reorg.StatusOf(t.Context(), m.store, r, control.Role)
			require.NoError(t, err)
			return r.State == reorg.Reverse && r.Problem == problem && (st.Progress != nil && len(st.Progress.Waits) > 0) == (problem != "")
		}
	}
	require.Eventually(t, said("no luck"), time.Minute, 10*time.Millisecond)
	m.faults.set("run", nil)
	require.Eventually(t, said(""), time.Minute, 10*time.Millisecond)
}

// While nothing moves, nothing is told of what moved last.
func TestPausedTellsNothingOld(t *testing.T) {
	m := newMachine(t, 2)
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	told := func(phase, table string) func() bool {
		return func() bool {
			r, err := reorg.Get(t.Context(), m.store, id)
			require.NoError(t, err)
			st, err := reorg.StatusOf(t.Context(), m.store, r, control.Role)
			require.NoError(t, err)
			return r.State == reorg.Reverse && st.Progress != nil && st.Progress.Phase == phase && st.Progress.Table == table
		}
	}
	require.Eventually(t, told(string(mover.Following), "d.t"), time.Minute, 10*time.Millisecond)
	_, err := reorg.Pause(t.Context(), m.store, id, true)
	require.NoError(t, err)
	require.Eventually(t, told("", ""), time.Minute, 10*time.Millisecond)
}
