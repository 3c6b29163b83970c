package session

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/exec"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// fakeReading is a reading that a test plays.
type fakeReading struct {
	interrupted chan struct{}
	read        func(*fakeReading) error
	ended       error
}

func (f *fakeReading) Read(exec.Sink) (exec.Summary, error) { return exec.Summary{}, f.read(f) }
func (f *fakeReading) Interrupt()                           { close(f.interrupted) }
func (f *fakeReading) End(err error)                        { f.ended = err }

// TestReaderPanics: what goes wrong inside is for the log; the client is told no more than that, and the other readings end, too.
func TestReaderPanics(t *testing.T) {
	var log bytes.Buffer
	a := &atOnce{
		g:    &gathering{s: &Session{log: slog.New(slog.NewTextHandler(&log, nil))}},
		rows: make(chan rowsRead), stop: make(chan struct{}),
	}
	lost := errors.New("the connection is lost")
	waits := &fakeReading{interrupted: make(chan struct{}), read: func(f *fakeReading) error {
		<-f.interrupted
		return lost
	}}
	fails := &fakeReading{interrupted: make(chan struct{}), read: func(*fakeReading) error { panic("a secret") }}
	for i, f := range []*fakeReading{waits, fails} {
		a.reading = append(a.reading, &reader{copying: &copying{g: a.g, all: make([]plan.Copy, 2), at: i}, reading: f})
	}
	err := a.run()
	require.True(t, sqlerr.HasCode(err, sqlerr.Internal), "%v", err)
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "goroutine")
	require.Contains(t, log.String(), "a secret")
	require.Contains(t, log.String(), "TestReaderPanics")
	require.ErrorIs(t, waits.ended, lost)
	require.Equal(t, err, fails.ended)
	select {
	case <-fails.interrupted:
	default:
		t.Fatal("the connection of the reading that panicked can be used again")
	}
}
