package pack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node group whose answers come slowly, one after the other, is left alone for a while; now and then one slow pack is nothing.
func TestPace(t *testing.T) {
	ps := New(nil)
	p, now := ps.pace(3), time.Minute
	require.Same(t, p, ps.pace(3))
	for range 100 {
		p.note(slowAnswer, now)
		p.note(slowAnswer-1, now)
	}
	require.Zero(t, p.rest)
	for range slowPacks - 1 {
		p.note(time.Second, now)
	}
	require.Zero(t, p.rest)
	p.note(slowAnswer, now)
	require.Equal(t, now+packPause, p.rest)
	p.rest = 0
	p.note(slowAnswer, now+packPause)
	require.Equal(t, now+2*packPause, p.rest, "it is still slow")
	require.Zero(t, ps.pace(1).rest)
	p.rest = 0
	for range slowPacks {
		p.note(0, now)
	}
	p.note(slowAnswer, now)
	require.Zero(t, p.rest, "it has been fast since")
}
