package reorg

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What was true in a state that is over is not told of the next one, but for what stays true.
func TestProgressOfAnEarlierState(t *testing.T) {
	at := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	p := Progress{At: at, Phase: "copying", Rows: 7, Table: "d.t", Lag: time.Second, Throttled: "a replica", Trouble: "no luck", LateWrites: 1}
	r := &Record{State: Copy, Steps: []Step{{Planned, at.Add(-time.Minute)}, {Copy, at.Add(-time.Second)}}}
	require.Equal(t, p, p.of(r))
	r.State, r.Steps = Reverse, append(r.Steps, Step{Reverse, at.Add(time.Millisecond)})
	require.Equal(t, Progress{At: at, Rows: 7, LateWrites: 1}, p.of(r))
}
