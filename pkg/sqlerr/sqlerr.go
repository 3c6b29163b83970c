// Package sqlerr is the one error type a client of Skarv can see: a MySQL error number, its SQLSTATE and
// a text. It knows nothing of statements, connections or topology; every other package may import it.
//
// Errors that come from a backend server keep the number, state and text that server sent. Errors that Skarv
// itself raises are made from the Codes below, so that number, SQLSTATE and text stand in one table.
package sqlerr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is what a client reads in an ERR packet.
type Error struct {
	Code    Code
	State   string // SQLSTATE, five characters
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("ERROR %d (%s): %s", uint16(e.Code), e.State, e.Message)
}

// Is reports whether target is an *Error of the same code, so that errors.Is(err, code.New()) is never needed:
// use HasCode.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.State == e.State && t.Message == e.Message
}

// HasCode reports whether err is, or wraps, an *Error with one of the codes.
func HasCode(err error, codes ...Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, e.Code)
}

// MayRollBack reports whether err is, or wraps, an *Error with which servers roll back a whole transaction, some of them always and some as they are
// configured.
func MayRollBack(err error) bool { return RollsBack(err) || HasCode(err, LockWaitTimeout) }

// RollsBack reports whether err is, or wraps, an *Error with which all servers roll back a whole transaction.
func RollsBack(err error) bool { return HasCode(err, LockDeadlock, TooManyLocks, RowChanged) }

// CutShort reports whether err is, or wraps, an *Error of a statement that was ended from outside: by KILL QUERY, or by the limit of its time. A server
// that finds a deadlock at the same moment, and rolls the transaction back for it, tells this one.
func CutShort(err error) bool {
	return HasCode(err, QueryInterrupted, 1969, 3024) // max_statement_time of MariaDB, max_execution_time of MySQL
}

// From returns the *Error inside err, or an Internal one that carries err's text when there is none.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Internal.New(err.Error())
}

// Unsupported is error 1235: what is not supported, named so that whoever wrote the statement finds it there, and how to write it
// instead, or what else to do. There is no refusal without both.
func Unsupported(what, how string) *Error {
	return NotSupportedYet.New(what + "; " + how)
}

// Refusal returns the two parts that Unsupported was given; ok is false of other errors.
func Refusal(err error) (what, how string, ok bool) {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != NotSupportedYet {
		return "", "", false
	}
	before, after, _ := strings.Cut(definitionOf(NotSupportedYet).format, "%s")
	text := strings.TrimSuffix(strings.TrimPrefix(e.Message, before), after)
	what, how, _ = strings.Cut(text, "; ")
	return what, how, true
}
