// Package pause waits between two tries. It knows nothing of what is tried.
package pause

import (
	"context"
	"time"
)

// For waits for d, or returns early with ctx's error.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
