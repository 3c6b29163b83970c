package reorg

import (
	"testing"

	"github.com/stretchr/testify/require"

	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// A dry run tells what would be refused, once for all node groups, and nothing is queued.
func TestDryRunTellsWhatIsRefused(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	exec(t, c.DB(t, "d"), "CREATE TABLE t (id INT PRIMARY KEY)")
	api := adminv1.NewAdminClient(c.Admin(t))
	ask := func() *adminv1.ReorganiseResponse {
		r, err := api.Reorganise(t.Context(), &adminv1.ReorganiseRequest{Kind: "drain", Without: []string{"ng2"}, DryRun: true})
		require.NoError(t, err)
		require.EqualValues(t, 1920, r.Reorganisation.Transfers[0].Count)
		return r
	}
	require.Empty(t, ask().Refusals)
	for g := 1; g <= 2; g++ {
		exec(t, c.NodeGroupDB(t, g, "d"), "SET GLOBAL binlog_row_image = MINIMAL")
	}
	refusals := ask().Refusals
	require.Len(t, refusals, 1)
	require.Regexp(t, `^on node groups ng\d, ng\d: binlog_row_image is 'MINIMAL'; set binlog_row_image to 'FULL'$`, refusals[0])
	list, err := api.Reorganisations(t.Context(), &adminv1.ReorganisationsRequest{})
	require.NoError(t, err)
	require.Empty(t, list.Reorganisations)
}
