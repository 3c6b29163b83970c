package control

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Who works alone interrupts others, waits for their end, and keeps those that come away.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w work
		first, end, err := w.begin(t.Context(), false)
		require.NoError(t, err)
		order := make(chan string, 3)
		go func() {
			_, end, err := w.begin(t.Context(), true)
			if err == nil {
				order <- "alone"
				end()
			}
		}()
		synctest.Wait()
		require.ErrorIs(t, context.Cause(first), errInterrupted)
		go func() {
			_, end, err := w.begin(t.Context(), false)
			if err == nil {
				order <- "later"
				end()
			}
		}()
		synctest.Wait()
		require.Empty(t, order)
		end()
		require.Equal(t, "alone", <-order)
		require.Equal(t, "later", <-order)
		given, cancel := context.WithCancel(t.Context())
		_, end, err = w.begin(t.Context(), true)
		require.NoError(t, err)
		cancel()
		_, _, err = w.begin(given, false)
		require.ErrorIs(t, err, context.Canceled)
		end()
	})
}
