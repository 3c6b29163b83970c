package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/fence"
)

// A server with a mark of before its node group's is not given a later one: it was restored from a backup, and has rows that have moved away.
func TestRemarking(t *testing.T) {
	const first, second, third, fourth = "a1b2", "a1b2/000000000007", "a1b2/000000000012", "a1b2/000000000100"
	for _, c := range []struct{ has, before, gets string }{
		{first, first, fourth}, {second, second, fourth}, {third, second, fourth}, {fourth, second, fourth},
		{first, second, first}, {second, third, second}, {"0abc", first, "0abc"}, {"c3", third, "c3"},
	} {
		tx, err := shared.NodeGroupDB(t, 1, "").BeginTx(t.Context(), nil)
		require.NoError(t, err)
		for _, q := range []string{"UPDATE _skarv.node_group SET mark = '" + c.has + "'", fence.Remarking(c.before, fence.Later(c.before, 100))} {
			_, err = tx.ExecContext(t.Context(), q)
			require.NoError(t, err, q)
		}
		var mark string
		require.NoError(t, tx.QueryRowContext(t.Context(), fence.MarkOf).Scan(&mark))
		require.NoError(t, tx.Rollback())
		require.Equal(t, c.gets, mark, "%v", c)
	}
}
