package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReorganisationInOneLine(t *testing.T) {
	opened := time.Now()
	for want, r := range map[string]reorganisation{
		"r1 PLANNED": {ID: "r1", State: "PLANNED"},
		"r1 COPY [############............]  50% 10 k rows, 20 MB, lag 1.5s, d.t, 1m30s left, waiting: replica lags": {
			ID: "r1", State: "COPY", Progress: &progress{
				Rows: 10_000, RowsEstimated: 20_000, Bytes: 20 << 20, LagSeconds: 1.5, Table: "d.t", ETASeconds: 90, Throttled: "replica lags",
			},
		},
		"r1 VERIFY 0 rows, 0 kB, lag 0s, 12 k compared, waiting for the rain to end": {ID: "r1", State: "VERIFY", Progress: &progress{
			Compared: 12_000, Waits: []wait{{"the rain to end", 12}, {"the sun", 11}},
		}},
		"r1 DONE (moved) 12 k rows, 3072 kB, cut over in 18ms": {
			ID: "r1", State: "DONE", Outcome: "moved", Rows: 12_345, Bytes: 3 << 20, Opened: &opened, PauseSeconds: 0.018,
		},
		"r1 DONE (aborted): no luck":     {ID: "r1", State: "DONE", Outcome: "aborted", Problem: "no luck"},
		"r1 REVERSE, cut over in 18ms":   {ID: "r1", State: "REVERSE", Opened: &opened, PauseSeconds: 0.018},
		"r1 CATCHUP paused: is tried so": {ID: "r1", State: "CATCHUP", Paused: true, Problem: "is tried so"},
	} {
		assert.Equal(t, want, r.line())
	}
	assert.Equal(t, "0-9, 12", shortly("0-9,12"))
	assert.True(t, (&reorganisation{State: "REVERSE"}).moved())
	assert.False(t, (&reorganisation{State: "REVERSE", Wish: "rollback"}).moved())
}
