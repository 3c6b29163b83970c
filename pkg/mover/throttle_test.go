package mover

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
)

// A mover that is to go slowly says why, and goes on all the same: a group that is too slow may be the reason for the move.
func TestThrottleSlowsAndDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := "replica x is behind"
		m, err := New(Config{MaxVersions: -1, Throttle: func() string { return why }}, Move{
			Reorg: "r1", Source: Server{Group: 1}, Targets: map[placement.NodeGroupID]Server{2: {Group: 2}},
			Partitions: map[placement.Partition]placement.NodeGroupID{7: 2},
		})
		require.NoError(t, err)
		began := time.Now()
		for range 3 {
			require.NoError(t, m.throttle(t.Context()))
			require.Equal(t, "replica x is behind", m.Progress().Throttled)
		}
		require.GreaterOrEqual(t, time.Since(began), 3*slowest)
		require.Less(t, time.Since(began), 4*slowest)

		why, began = "", time.Now()
		require.NoError(t, m.throttle(t.Context()))
		require.Empty(t, m.Progress().Throttled)
		require.Zero(t, time.Since(began))
	})
}
