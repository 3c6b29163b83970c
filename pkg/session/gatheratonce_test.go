package session

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/exec"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// fakeReading is a reading that a test plays.
type fakeReading struct {
	interrupted chan struct{}
	read        func(*fakeReading) error
	columns     []sqltypes.Column
	ended       error
}

func (f *fakeReading) Read(to exec.Sink) (exec.Summary, error) {
	if f.columns != nil {
		if err := to.Columns(f.columns); err != nil {
			return exec.Summary{}, err
		}
	}
	return exec.Summary{}, f.read(f)
}
func (f *fakeReading) Interrupt()    { close(f.interrupted) }
func (f *fakeReading) End(err error) { f.ended = err }

// toldConn is a workspace's connection that notes what it is told.
type toldConn struct {
	workspace.Conn
	told []string
}

func (c *toldConn) Usable() bool                      { return true }
func (c *toldConn) ReadHead() (mysqlconn.Head, error) { return mysqlconn.Head{OK: &wire.OK{}}, nil }
func (c *toldConn) Send(_ wire.Command, body []byte) error {
	c.told = append(c.told, string(body))
	return nil
}

func (c *toldConn) Exec(sql string) (wire.OK, error) {
	c.told = append(c.told, sql)
	return wire.OK{}, nil
}

func (c *toldConn) QueryAll(sql string, _ int) ([]sqltypes.Column, [][][]byte, error) {
	c.told = append(c.told, sql)
	return nil, [][][]byte{{[]byte("a"), []byte("bigint(20)"), nil}}, nil
}

// TestColumnsOfReaders: what columns make a filler say to the workspace's server, the session's goroutine says, which may be talking to
// it while rows are read.
func TestColumnsOfReaders(t *testing.T) {
	conn := &toldConn{}
	w, err := workspace.Open(conn, workspace.NewBudget(workspace.Limits{Rows: 100, Bytes: 1 << 20, Total: 1 << 20}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	result, err := w.Result("d", "SELECT 1 AS a", nil)
	require.NoError(t, err)
	before := len(conn.told)
	a := &atOnce{g: &gathering{s: &Session{}, w: w}, rows: make(chan rowsRead), stop: make(chan struct{})}
	reading := &fakeReading{columns: []sqltypes.Column{{Name: "a", Type: sqltypes.TypeLong}}, read: func(*fakeReading) error {
		require.Len(t, conn.told, before)
		return nil
	}}
	r := &reader{copying: &copying{g: a.g, all: make([]plan.Copy, 1), filler: w.FillResult(result, true)}, reading: reading}
	a.readers.Go(func() { r.read(a) })
	rows := <-a.rows
	a.readers.Wait()
	require.Len(t, conn.told, before)
	rows.last = false // what follows is not looked at here
	require.NoError(t, a.take(rows))
	require.Len(t, conn.told, before+1)
	require.True(t, strings.HasPrefix(conn.told[before], "ALTER TABLE"), conn.told[before])
}

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
