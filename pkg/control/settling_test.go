package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
)

// TestAbsences: a process that is missing for a moment, now and then, is not gone.
func TestAbsences(t *testing.T) {
	begin := time.Now()
	at := func(n int) time.Time { return begin.Add(time.Duration(n) * evictAfter) }
	slot := func(incarnation int64, gone bool) topology.Silent {
		return topology.Silent{Slot: topology.Slot{Incarnation: incarnation}, Gone: gone}
	}
	a, enough := absences{}, int(goneFor/evictAfter)
	for i := range enough {
		a.look([]topology.Silent{slot(1, true), slot(2, i != enough-1), slot(3, false)}, at(i))
		require.False(t, a.lasts(slot(1, true), at(i)))
	}
	a.look([]topology.Silent{slot(1, true), slot(2, true), slot(3, false)}, at(enough))
	require.True(t, a.lasts(slot(1, true), at(enough)))
	require.False(t, a.lasts(slot(2, true), at(enough)), "it was there in between")
	require.False(t, a.lasts(slot(3, false), at(enough)))
	a.look(nil, at(enough+1))
	require.Empty(t, a)
}
