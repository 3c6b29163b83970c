package reorg

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/datanode"
	"skarv/pkg/reorg"
	"skarv/pkg/server"

	adminv1 "skarv/proto/admin/v1"
)

// From two node groups to three, back by rollback, to three again, and to two: with the real mover, on real servers, while
// clients write rows, count them, and rely on a unique key of the whole cluster.
func TestGrowRollBackAndShrink(t *testing.T) {
	m := &machine{t: t, faults: &faults{}}
	m.begin(2, func(o *server.Options) {
		o.Reorg = func(c *reorg.Config) {
			c.Times.Retry, c.Times.MaxLag = 200*time.Millisecond, 2*time.Second // the machine is busy
			c.Times.Ack, c.Times.Deadline = 3*time.Second, 10*time.Second
		}
	})
	exec(t, m.db, "CREATE TABLE u (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, UNIQUE KEY (name))")
	exec(t, m.db, "CREATE TABLE r (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference'")
	exec(t, m.db, "INSERT INTO r VALUES (1, 1)")
	stop := m.load(4)
	var end atomic.Bool
	var inserted atomic.Int64
	var g errgroup.Group
	g.Go(func() error {
		for i := 0; !end.Load(); i++ {
			name := fmt.Sprintf("name %d", i)
			_, err := m.db.Exec("INSERT INTO u (name) VALUES (?)", name)
			switch code(err) {
			case 1213, 1205, 1317:
				i--
				continue
			case 1062:
				return fmt.Errorf("name %d is there already", i)
			}
			if err != nil {
				return err
			}
			inserted.Add(1)
			if _, err = m.db.Exec("INSERT INTO u (name) VALUES (?)", name); err == nil {
				return fmt.Errorf("%s is there twice", name)
			}
		}
		return nil
	})

	api := adminv1.NewAdminClient(m.Admin(t))
	added, err := api.AddNodeGroup(t.Context(), &adminv1.AddNodeGroupRequest{Count: 1})
	require.NoError(t, err)
	require.Equal(t, []uint32{3}, added.Ids)
	begin := func(req *adminv1.ReorganiseRequest) string {
		req.DryRun = true
		plan, err := api.Reorganise(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, plan.Reorganisation.Id)
		req.DryRun = false
		r, err := api.Reorganise(t.Context(), req)
		require.NoError(t, err)
		again, err := api.Reorganise(t.Context(), req)
		require.NoError(t, err)
		require.True(t, again.Resumed)
		require.Equal(t, r.Reorganisation.Id, again.Reorganisation.Id)
		return r.Reorganisation.Id
	}
	id := begin(&adminv1.ReorganiseRequest{Kind: "rebalance", WindowSeconds: 3600})
	m.await(id, reorg.Reverse)
	assert.Contains(t, text(t, m.db, "SELECT id, kind, state, partitions FROM skarv.reorganisations"), id+" rebalance REVERSE 1280")
	assert.Contains(t, text(t, m.db, "SELECT advice FROM skarv.reorganisations"), "skarvctl reorg rollback "+id)
	_, err = api.Reorganise(t.Context(), &adminv1.ReorganiseRequest{Kind: "rebalance", Pins: []*adminv1.Pin{{Partitions: "0-2000", NodeGroup: "ng1"}}})
	require.ErrorContains(t, err, "skarvctl reorg complete "+id, "that is something else")
	_, err = api.ChangeReorganisation(t.Context(), &adminv1.ChangeReorganisationRequest{Action: adminv1.ChangeReorganisationRequest_ACTION_ROLLBACK})
	require.NoError(t, err)
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.RolledBack, r.Outcome, r.Problem)

	// What another cluster has left on these servers, whose reorganisations were called the same, is not taken for the next one's.
	for g := 1; g <= 3; g++ {
		db := m.NodeGroupDB(t, g, "")
		for source := 1; source <= 3; source++ {
			for _, name := range []string{"r2", "r2-clean"} {
				exec(t, db, "INSERT INTO _skarv.reorg_pos VALUES (?, ?, ?, 'over', '', '', '', UNIX_TIMESTAMP())", name, source, uint64(1)<<62)
			}
			exec(t, db, "INSERT INTO _skarv.journal VALUES ('r2', ?, 999999, 'published', UTC_TIMESTAMP(6))", source)
		}
	}
	exec(t, m.db, "ALTER TABLE t REORGANIZE PARTITION")
	list, err := reorg.List(t.Context(), m.store)
	require.NoError(t, err)
	id = list[len(list)-1].ID
	require.Equal(t, "r2", id)
	m.await(id, reorg.Reverse)
	_, err = api.ChangeReorganisation(t.Context(), &adminv1.ChangeReorganisationRequest{Id: id, Action: adminv1.ChangeReorganisationRequest_ACTION_COMPLETE})
	require.NoError(t, err)
	r = m.await(id, reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)

	list, err = reorg.List(t.Context(), m.store)
	require.NoError(t, err)
	assert.Positive(t, list[len(list)-1].Rows)

	id = begin(&adminv1.ReorganiseRequest{Kind: "drain", Without: []string{"ng3"}})
	r = m.await(id, reorg.Done)
	assert.Equal(t, reorg.Moved, r.Outcome, r.Problem)
	// Nobody reads what a group has that may be gone for other processes: they no longer write to it.
	exec(t, m.NodeGroupDB(t, 3, "d"), "UPDATE r SET v = 2")
	for range 6 {
		c, err := m.db.Conn(t.Context())
		require.NoError(t, err)
		defer c.Close()
		var v int
		require.NoError(t, c.QueryRowContext(t.Context(), "SELECT v FROM r").Scan(&v))
		require.Equal(t, 1, v)
	}
	_, err = api.RemoveNodeGroup(t.Context(), &adminv1.RemoveNodeGroupRequest{NodeGroup: "ng3"})
	require.NoError(t, err)
	assert.Equal(t, datanode.Uninitialised, m.Node(3).Status().State)
	assert.NoDirExists(t, filepath.Join(m.Node(3).Status().Dir, "data"))

	counts := stop()
	end.Store(true)
	require.NoError(t, g.Wait())
	m.wantRows()
	m.wantCounts(counts)
	n := inserted.Load()
	assert.Equal(t, fmt.Sprintf("%d %d", n, n), text(t, m.db, "SELECT COUNT(*), COUNT(DISTINCT name) FROM u"))
	for i := range min(n, 20) {
		assert.NotEmpty(t, text(t, m.db, fmt.Sprintf("SELECT id FROM u WHERE name = 'name %d'", i)))
	}
	_, metrics := m.Get(t, "/metrics")
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "skarv_late_writes_total") {
			assert.Equal(t, "skarv_late_writes_total 0", strings.TrimSpace(line))
		}
	}
}
