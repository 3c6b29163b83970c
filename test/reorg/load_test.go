package reorg

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	adminv1 "skarv/proto/admin/v1"
)

// Statements on two partitions of one node group: they are the hottest, and by load one of the two moves.
func TestHotPartitions(t *testing.T) {
	m := newMachine(t, 2)
	pm, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	var hot []string
	for i := 0; len(hot) < 2; i++ {
		if id := fmt.Sprint(i); pm.Owner(partition(id)) == 1 {
			hot = append(hot, id)
		}
	}
	st, err := m.db.Prepare("UPDATE t SET n = n + 1 WHERE id = ?")
	require.NoError(t, err)
	defer st.Close()
	for range 200 {
		for _, id := range hot {
			_, err := st.Exec(id)
			require.NoError(t, err)
		}
	}
	_ = text(t, m.db, "SELECT COUNT(*) FROM t")
	api := adminv1.NewAdminClient(m.Admin(t))
	load, err := api.PartitionLoad(t.Context(), &adminv1.PartitionLoadRequest{Cluster: true})
	require.NoError(t, err)
	require.Empty(t, load.Missing)
	require.Len(t, load.Rates, placement.Partitions)
	require.NotZero(t, load.Scattered)
	busy := map[placement.Partition]bool{partition(hot[0]): true, partition(hot[1]): true}
	for p, rate := range load.Rates {
		for q := range busy {
			if !busy[placement.Partition(p)] {
				require.Greater(t, load.Rates[q], 10*rate, "partition %d", p)
			}
		}
	}
	shown := text(t, m.db, "SELECT partition_id FROM skarv.partitions ORDER BY statements_per_second DESC, 1 LIMIT 2")
	for p := range busy {
		assert.Contains(t, strings.Split(shown, ","), fmt.Sprint(p))
	}
	_, metrics := m.Get(t, "/metrics")
	for p := range busy {
		assert.Contains(t, metrics, fmt.Sprintf(`skarv_partition_statements_per_second{node_group="1",partition="%d"}`, p))
	}
	r, err := api.Reorganise(t.Context(), &adminv1.ReorganiseRequest{Kind: "rebalance", ByLoad: true})
	require.NoError(t, err)
	rec := m.await(r.Reorganisation.Id, reorg.Done)
	require.Equal(t, reorg.Moved, rec.Outcome, rec.Problem)
	pm, _, err = m.store.Map(t.Context())
	require.NoError(t, err)
	owners := []placement.NodeGroupID{pm.Owner(partition(hot[0])), pm.Owner(partition(hot[1]))}
	assert.ElementsMatch(t, []placement.NodeGroupID{1, 2}, owners)
	assert.Equal(t, "200", text(t, m.db, "SELECT n FROM t WHERE id = "+hot[0]))
}
