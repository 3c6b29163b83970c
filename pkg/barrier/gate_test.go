package barrier

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// TestGate: while the gate is closed and AwaitCommits has returned, nobody commits.
func TestGate(t *testing.T) {
	b := New()
	const rounds = 300
	var committing, commits atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	for range 4 {
		h := b.Join(owner{})
		g.Go(func() error {
			for ctx.Err() == nil {
				h.Commit()
				committing.Add(1)
				commits.Add(1)
				committing.Add(-1)
				h.EndCommit()
			}
			return nil
		})
	}
	for range rounds {
		before := commits.Load()
		require.Eventually(t, func() bool { return commits.Load() > before }, time.Minute, time.Microsecond)
		b.CloseGate()
		b.CloseGate() // a second one changes nothing
		require.NoError(t, b.AwaitCommits(ctx))
		stands := commits.Load()
		assert.Zero(t, committing.Load())
		for range 100 {
			assert.Equal(t, stands, commits.Load())
		}
		b.OpenGate()
	}
	cancel()
	require.NoError(t, g.Wait())

	h := b.Join(owner{})
	h.Commit()
	b.CloseGate()
	require.ErrorIs(t, b.AwaitCommits(ctx), context.Canceled)
	b.OpenGate()
	b.OpenGate()
	h.EndCommit()
}
