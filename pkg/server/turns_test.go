package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who comes before a gate is closed looks with the others; who comes later waits for the next.
func TestOneGateServesAllWhoWait(t *testing.T) {
	isClosed := func(c chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	var turns turns
	a, leads := turns.join()
	require.True(t, leads)
	b, leads := turns.join()
	require.False(t, leads)
	require.Same(t, a, b)
	require.False(t, isClosed(a.closed))
	turns.seal(a)
	require.True(t, isClosed(a.closed))
	c, leads := turns.join()
	require.True(t, leads)
	require.NotSame(t, a, c)
	turns.leave(a)
	require.False(t, isClosed(a.looked))
	turns.leave(a)
	require.True(t, isClosed(a.looked), "the gate can be opened when all have looked")
	turns.fail(c)
	_, leads = turns.join()
	require.True(t, leads, "nobody waits for a gate that could not be closed")
}
