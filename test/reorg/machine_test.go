package reorg

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
	"skarv/pkg/topology"
	"skarv/test/cluster"
)

// machine is a cluster whose reorganisations are carried out by plainMovers.
type machine struct {
	*cluster.Cluster
	t      *testing.T
	store  *topology.Store
	db     *sql.DB
	faults *faults

	mu  sync.Mutex
	hit map[string]int    // how often a point is still to be the end of its controller
	at  map[string]func() // what happens at a point, once
}

func newMachine(t *testing.T, groups int) *machine {
	m := &machine{t: t, faults: &faults{}, hit: map[string]int{}}
	m.begin(groups, func(o *server.Options) {
		o.ControlRetry = 10 * time.Millisecond
		o.Reorg = func(c *reorg.Config) {
			c.NewMover = func(_ mover.Config, mv mover.Move) (reorg.Mover, error) {
				p := &plainMover{move: mv, copied: make(chan struct{}), faults: m.faults}
				close(p.copied)
				return p, nil
			}
			c.Times = reorg.Times{Deadline: 20 * time.Second, Ack: 10 * time.Second, Retry: 50 * time.Millisecond, Tick: 10 * time.Millisecond}
			c.Hit = m.crash
		}
	})
	return m
}

// begin starts the cluster, with rows.
func (m *machine) begin(groups int, options func(*server.Options)) {
	t := m.t
	m.Cluster = cluster.Start(t, cluster.Groups(groups), cluster.Options(options))
	m.store = store(t, m.Cluster)
	db := m.DB(t, "")
	exec(t, db, "CREATE DATABASE d")
	m.db = m.DB(t, "d")
	exec(t, m.db, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL)")
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("(%d, 0)", i))
	}
	exec(t, m.db, "INSERT INTO t VALUES "+strings.Join(rows, ","))
}

func (m *machine) crash(point string) error {
	m.mu.Lock()
	happens := m.at[point]
	delete(m.at, point)
	m.mu.Unlock()
	if happens != nil {
		happens()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hit[point] > 0 {
		m.hit[point]--
		return errors.New(point)
	}
	return nil
}

func (m *machine) crashAt(point string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hit[point] = 1
}

// when has something happen at a step.
func (m *machine) when(point string, happens func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == nil {
		m.at = map[string]func(){}
	}
	m.at[point] = happens
}

// start begins a reorganisation.
func (m *machine) start(req reorg.Request, window time.Duration) string {
	m.t.Helper()
	snap, err := m.store.Load(m.t.Context())
	require.NoError(m.t, err)
	moves, err := reorg.Plan(snap, req)
	require.NoError(m.t, err)
	require.NotEmpty(m.t, moves)
	r, err := reorg.Create(m.t.Context(), m.store, "test", moves, window)
	require.NoError(m.t, err)
	return r.ID
}

// await returns the record once it is in one of the states, and nothing else of it runs.
func (m *machine) await(id string, states ...reorg.State) *reorg.Record {
	m.t.Helper()
	var r *reorg.Record
	require.Eventually(m.t, func() bool {
		var err error
		r, err = reorg.Get(m.t.Context(), m.store, id)
		require.NoError(m.t, err)
		_, running, err := reorg.Current(m.t.Context(), m.store)
		require.NoError(m.t, err)
		return slices.Contains(states, r.State) && (r.State != reorg.Done || !running)
	}, 2*time.Minute, 10*time.Millisecond, "%+v", r)
	return r
}

// wantRows checks that every row is there once, on the group that owns it and nowhere else.
func (m *machine) wantRows() {
	m.t.Helper()
	pm, _, err := m.store.Map(m.t.Context())
	require.NoError(m.t, err)
	require.Empty(m.t, pm.Moving())
	assert.Equal(m.t, "200 200", text(m.t, m.db, "SELECT COUNT(*), COUNT(DISTINCT id) FROM t"))
	seen := 0
	for g := range m.Info().NodeGroups {
		db := m.NodeGroupDB(m.t, g+1, "d")
		for _, id := range strings.Split(text(m.t, db, "SELECT id FROM t"), ",") {
			if id == "" {
				continue
			}
			seen++
			assert.Equal(m.t, placement.NodeGroupID(g+1), pm.Owner(partition(id)), "row %s", id)
		}
	}
	assert.Equal(m.t, 200, seen)
}

// load writes and counts until stop, and returns how often each row was changed.
func (m *machine) load(clients int) (stop func() []int64) {
	counts := make([]int64, 200)
	var end atomic.Bool
	var g errgroup.Group
	for c := range clients {
		g.Go(func() error {
			for i := c; !end.Load(); i += clients {
				id, other := i%200, (i*7+3)%200
				switch {
				case i%5 == 4:
					var n, distinct int
					if err := m.db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id) FROM t").Scan(&n, &distinct); err != nil || n != 200 || distinct != 200 {
						return fmt.Errorf("%d rows, %d of them different: %w", n, distinct, err)
					}
				case i%5 == 3 && other != id:
					tx, err := m.db.Begin()
					if err != nil {
						return err
					}
					for _, x := range []int{min(id, other), max(id, other)} {
						if _, err = tx.Exec("UPDATE t SET n = n + 1 WHERE id = ?", x); err != nil {
							break
						}
					}
					if err == nil {
						err = tx.Commit()
					}
					if err != nil {
						_ = tx.Rollback()
						if code(err) == 1213 || code(err) == 1317 || code(err) == 1205 {
							continue
						}
						return err
					}
					atomic.AddInt64(&counts[id], 1)
					atomic.AddInt64(&counts[other], 1)
				default:
					_, err := m.db.Exec("UPDATE t SET n = n + 1 WHERE id = ?", id)
					if code(err) == 1213 || code(err) == 1317 || code(err) == 1205 {
						continue
					}
					if err != nil {
						return err
					}
					atomic.AddInt64(&counts[id], 1)
				}
			}
			return nil
		})
	}
	return func() []int64 {
		end.Store(true)
		require.NoError(m.t, g.Wait())
		return counts
	}
}

func (m *machine) wantCounts(counts []int64) {
	m.t.Helper()
	var want []string
	for i, n := range counts {
		want = append(want, fmt.Sprint(i, " ", n))
	}
	assert.Equal(m.t, strings.Join(want, ","), text(m.t, m.db, "SELECT id, n FROM t ORDER BY id"))
}

func TestShrinkAndGrowUnderLoad(t *testing.T) {
	m := newMachine(t, 3)
	stop := m.load(6)
	r := m.await(m.start(reorg.Request{Without: []placement.NodeGroupID{3}}, 0), reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	r = m.await(m.start(reorg.Request{}, 0), reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	r = m.await(m.start(reorg.Request{Partitions: placement.SetOf(17, 90, 91), To: 2}, 0), reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	counts := stop()
	m.wantRows()
	m.wantCounts(counts)
	pm, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	assert.Equal(t, placement.NodeGroupID(2), pm.Owner(90))
}

// A controller that dies at any step is followed by one that goes on, under load.
func TestControllerDiesAtEveryStep(t *testing.T) {
	m := newMachine(t, 2)
	stop := m.load(3)
	points := []string{
		"entered.IN", "in.acked", "entered.COPY", "entered.CATCHUP", "entered.VERIFY", "freeze", "entered.FROZEN", "drained",
		"recovered", "cut", "thawed", "entered.REVERSE", "entered.CLEANING", "cleaning.acked", "cleaned", "forgotten", "entered.DONE", "end",
	}
	for _, point := range points {
		m.crashAt(point)
	}
	r := m.await(m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, 0), reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	for _, point := range points {
		assert.Zero(t, m.hit[point], point)
	}
	counts := stop()
	m.wantRows()
	m.wantCounts(counts)
}

func TestRollback(t *testing.T) {
	m := newMachine(t, 2)
	stop := m.load(4)
	before, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, time.Hour)
	m.await(id, reorg.Reverse)
	_, err = reorg.Ask(t.Context(), m.store, id, reorg.WishAbort)
	require.ErrorContains(t, err, "rollback")
	_, err = m.db.Exec("ALTER TABLE t ADD COLUMN x INT")
	require.ErrorContains(t, err, id)
	_, err = m.db.Exec("CREATE TABLE u (id INT PRIMARY KEY)")
	require.ErrorContains(t, err, "reorg complete "+id)
	_, err = reorg.Create(t.Context(), m.store, "test", nil, 0)
	require.ErrorIs(t, err, reorg.ErrBusy)
	m.crashAt("cut")
	_, err = reorg.Ask(t.Context(), m.store, id, reorg.WishRollback)
	require.NoError(t, err)
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.RolledBack, r.Outcome)
	counts := stop()
	m.wantRows()
	m.wantCounts(counts)
	after, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	assert.Empty(t, before.Diff(after))
	exec(t, m.db, "ALTER TABLE t ADD COLUMN x INT")
}

func TestGivenUp(t *testing.T) {
	m := newMachine(t, 2)
	req := reorg.Request{Without: []placement.NodeGroupID{2}}

	m.faults.set("check", nil)
	// What does not go well on the way back, and a controller that dies, do not take the place of the reason.
	m.faults.report = mover.Report{Differs: 1, Differing: []mover.Difference{{Table: "d.t", Key: "7", Target: 1, What: "missing"}}}
	m.faults.set("clean", errors.New("no luck"))
	m.crashAt("entered.CLEANING")
	m.crashAt("entered.DONE")
	id := m.start(req, 0)
	awaitProblem := func(text string) {
		t.Helper()
		require.Eventually(t, func() bool {
			r, err := reorg.Get(t.Context(), m.store, id)
			require.NoError(t, err)
			return strings.Contains(r.Problem, text)
		}, time.Minute, time.Millisecond)
	}
	awaitProblem("no luck")
	m.faults.set("clean", nil)
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.Aborted, r.Outcome)
	assert.Contains(t, r.Problem, "d.t 7")
	m.wantRows()
	m.faults.report = mover.Report{}

	// A cutover that fails is tried again; then somebody gives up.
	m.faults.set("cut", errors.New("no luck"))
	id = m.start(req, 0)
	awaitProblem("no luck")
	require.Eventually(t, func() bool {
		r, err := reorg.Get(t.Context(), m.store, id)
		require.NoError(t, err)
		return r.Attempts >= 2
	}, time.Minute, time.Millisecond)
	exec(t, m.db, "UPDATE t SET n = n + 1")
	_, err := reorg.Ask(t.Context(), m.store, id, reorg.WishRollback)
	require.ErrorContains(t, err, "abort")
	_, err = reorg.Ask(t.Context(), m.store, id, reorg.WishAbort)
	require.NoError(t, err)
	r = m.await(id, reorg.Done)
	assert.Equal(t, reorg.Aborted, r.Outcome)
	m.wantRows()
	m.faults.set("cut", nil)

	// Paused before it cuts over, it stays where it is.
	id = m.start(req, 0)
	_, err = reorg.Pause(t.Context(), m.store, id, true)
	require.NoError(t, err)
	_, err = reorg.Pause(t.Context(), m.store, id, false)
	require.NoError(t, err)
	r = m.await(id, reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome)
	m.wantRows()
}
