package mysqlconn

import (
	"errors"

	"skarv/pkg/reason"
	"skarv/pkg/sqlerr"
)

// LostError says that the connection to the server failed, or that the server sent what is no answer. The connection is of
// no more use. errors.As finds in it the *sqlerr.Error for the client, and the cause.
type LostError struct {
	Err   *sqlerr.Error // ServerLost, naming the server
	Cause error

	// Of Relay: whether part of the answer has been passed on already, whether that part ends where a packet ends, and
	// which sequence number comes next. Only at a packet's end can an ERR packet be put behind it.
	Partial  bool
	Boundary bool
	NextSeq  byte
}

func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap gives errors.Is and errors.As both parts.
func (e *LostError) Unwrap() []error { return []error{e.Err, e.Cause} }

// IsLost reports whether err is, or wraps, a *LostError.
func IsLost(err error) bool {
	_, lost := errors.AsType[*LostError](err)
	return lost
}

// UnansweredError says that the server has asked for the password in a way that is not answered. MySQL asks in any way for that of an
// account that it has not.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }

// Unwrap is the reason.
func (e *UnansweredError) Unwrap() error { return e.Err }

// DstError says that Relay could not write to its destination: the client is gone. The connection is usable if the answer had
// been read to its end.
type DstError struct{ Err error }

func (e *DstError) Error() string { return "write to the client: " + e.Err.Error() }

// Unwrap is the writer's error.
func (e *DstError) Unwrap() error { return e.Err }

// lost marks the connection broken and returns the error for it.
func (c *Conn) lost(cause error) *LostError {
	c.broken = true
	return &LostError{Err: sqlerr.ServerLost.New(c.name + ": " + reason.Plain(cause).Error()), Cause: cause}
}
