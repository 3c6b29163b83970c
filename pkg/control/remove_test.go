package control

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
)

// A table that lives on one node group is not made there once that has been taken out of the cluster, by whoever knew of no table on it: what would
// be written to it would be lost. The other way round see TestFirstGroupLeavesWithoutTables in test/reorg.
func TestNoTableIsMadeOnAGroupThatLeaves(t *testing.T) {
	f := newFixture(t, 2)
	var armed atomic.Bool
	made, goOn := make(chan struct{}), make(chan struct{})
	f.control(func(p string) error {
		if p == "executed" && armed.CompareAndSwap(true, false) {
			close(made)
			f.stands(goOn)
		}
		return nil
	})
	f.createDatabase()
	f.emptied(1, 2)
	const create = "CREATE TABLE s (id INT PRIMARY KEY) COMMENT 'skarv:single'"

	armed.Store(true)
	ended := f.begin(create)
	f.reached(made)
	_, err := f.client.RemoveGroup(f.ctx(), 1, Removal{})
	require.NoError(t, err)
	close(goOn)
	require.ErrorContains(t, <-ended, "node group 1, on which the schema change began, is out of the cluster")
	require.Nil(t, f.follower.Snapshot().Table("d", "s"))
	f.must(create)
	require.Equal(t, placement.NodeGroupID(2), f.table("s").Group)
}
