package reorg

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a mover that ends with an error as soon as it runs.
type failing struct {
	Mover
	err error
}

func (f failing) Run(context.Context) error { return f.err }

// TestCauseSaidOnce is about what an operator reads when several movers end for the same reason.
func TestCauseSaidOnce(t *testing.T) {
	c := &crew{failed: make(chan struct{})}
	full := errors.New("disk full")
	c.run(t.Context(), []Mover{failing{err: full}, failing{err: errors.New("disk full")}, failing{err: full}, failing{}})
	require.NoError(t, c.group.Wait())
	require.EqualError(t, c.err(), "disk full")
	require.ErrorIs(t, c.err(), c.causes[0])
	<-c.failed
	c.stop()
}
