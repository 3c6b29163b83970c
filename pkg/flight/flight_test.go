package flight

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/plan"
)

func TestFlightRecorder(t *testing.T) {
	var f Recorder
	now := time.Now()
	require.Empty(t, f.Steps(0, now))
	at := 19 * time.Hour // close to where the clock of the steps begins anew
	for i := range 3 * size / 2 {
		at += 10 * time.Minute
		f.Note(at, Fragment, 300, uint16(i))
	}
	at += time.Second
	f.Note(at, Sent, 7, uint16(plan.Select))
	steps := f.Steps(at+time.Millisecond, now)
	require.Len(t, steps, size)
	last := steps[size-1]
	require.Equal(t, Step{At: now.Add(-time.Millisecond), Name: "sent", Group: 7, Kind: "select"}, last)
	require.Equal(t, "sent select group=7", last.String())
	for i, s := range steps[:size-1] {
		require.Equal(t, 3*size/2-(size-1)+i, s.Code)
		require.Equal(t, 255, s.Group)
	}
	require.Equal(t, 10*time.Minute, steps[1].At.Sub(steps[0].At))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Note(at, End, 1, 0) }))
}

// Whoever reads while the session writes sees whole steps, in order.
func TestFlightRecorderIsReadWhileWritten(t *testing.T) {
	var f Recorder
	began := time.Now()
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Code and group tell the same, so that a torn step would show.
			f.Note(time.Since(began), Statement, 1+100, 0)
			f.Note(time.Since(began), End, 2+100, 2)
		}
	})
	for range 2000 {
		steps := f.Steps(time.Since(began), time.Now())
		for i, s := range steps {
			switch s.Name {
			case "statement":
				require.Equal(t, [2]int{101, 0}, [2]int{s.Group, s.Code})
			case "end":
				require.Equal(t, [2]int{102, 2}, [2]int{s.Group, s.Code})
			default:
				t.Fatal(s)
			}
			if i > 0 {
				require.False(t, s.At.Before(steps[i-1].At), "%v", steps)
			}
		}
	}
	close(stop)
	writer.Wait()
}
