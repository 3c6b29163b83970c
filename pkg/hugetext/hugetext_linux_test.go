package hugetext

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Code is moved while it runs. Where the kernel has no huge pages it stays where it is.
func TestUse(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			for ctx.Err() == nil {
				if strings.ToUpper("skarv") != "SKARV" {
					return errors.New("code is broken")
				}
			}
			return nil
		})
	}
	moved, err := Use()
	stop()
	require.NoError(t, g.Wait())
	enabled, rerr := os.ReadFile(settings)
	if rerr != nil || strings.Contains(string(enabled), "[never]") {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.Zero(t, moved)
		return
	}
	require.NoError(t, err)
	require.Positive(t, moved)
	require.Zero(t, moved%pageSize)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	anonymous := 0
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) == 5 && f[1] == "r-xp" && f[4] == "0" {
			anonymous++
		}
	}
	require.Equal(t, 1, anonymous, "the code is one mapping of no file:\n%s", maps)
}
