//go:build unix && !linux

package socket

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// Loop is for Linux only.
type Loop struct{ Local any }

// Task is a session on a Loop.
type Task struct{ loop *Loop }

// NewLoop makes no Loop here.
func NewLoop() (*Loop, error) { return nil, errors.ErrUnsupported }

// Run returns at once.
func (l *Loop) Run(context.Context) error { return nil }

func (l *Loop) close() {}

// Blocking runs f.
func (t *Task) Blocking(f func()) { f() }

// OnLoop is false.
func (t *Task) OnLoop() bool { return false }

// Crowded is false.
func (t *Task) Crowded() bool { return false }

// Gather returns at once; so do Wait and Resume.
func (t *Task) Gather() {}
func (t *Task) Wait()   {}
func (t *Task) Resume() {}

// Loop is where no session is.
func (t *Task) Loop() *Loop { return t.loop }

// joined is a Conn on a Loop: there is none.
type joined struct {
	loop *Loop
	task *Task
}

func join(*Loop, syscall.RawConn, net.Conn) (*joined, error) { return nil, errors.ErrUnsupported }

func (j *joined) leave() (net.Conn, []byte, error)  { return nil, nil, errors.ErrUnsupported }
func (j *joined) move(*Loop)                        {}
func (j *joined) begin()                            {}
func (j *joined) read([]byte) (int, error)          { return 0, errors.ErrUnsupported }
func (j *joined) write([]byte) (int, error)         { return 0, errors.ErrUnsupported }
func (j *joined) exchange(_, _ []byte) (int, error) { return 0, errors.ErrUnsupported }
func (j *joined) serve(func() bool, func(error))    {}
func (j *joined) stale() bool                       { return true }
func (j *joined) halfClosed() bool                  { return false }
func (j *joined) sending() bool                     { return false }
func (j *joined) close() error                      { return errors.ErrUnsupported }
func (j *joined) readDeadline(time.Time)            {}
func (j *joined) writeDeadline(time.Time)           {}
