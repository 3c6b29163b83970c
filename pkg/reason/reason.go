// Package reason says why a connection or a request failed as people read it: Go's library speaks of an "i/o timeout", an
// "unexpected EOF" and a "context deadline exceeded". It knows no servers: who it was is for the caller to add.
package reason

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Plain is err with a text for people. Errors that say themselves what has happened are returned as they are; all wrap err.
func Plain(err error) error {
	if text := told(err); text != "" {
		return Say(text, err)
	}
	return err
}

// Say is err under another text.
func Say(text string, err error) error { return &plain{text, err} }

// told is what happened, or empty if err says it itself. It looks at err and what that is made of by the library, not at what callers have
// wrapped: their words would be lost.
func told(err error) string {
	if op, ok := err.(*net.OpError); ok { //nolint:errorlint // as above
		if said := told(op.Err); said != "" {
			return said
		}
		return op.Err.Error() // the rest are addresses, which callers name
	}
	if call, ok := err.(*os.SyscallError); ok { //nolint:errorlint // as above
		if said := told(call.Err); said != "" {
			return said
		}
		return call.Err.Error()
	}
	switch err { //nolint:errorlint // as above
	case context.DeadlineExceeded, os.ErrDeadlineExceeded, syscall.ETIMEDOUT:
		return "no answer in time"
	case context.Canceled:
		return "it was given up before there was an answer"
	case io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE:
		return "the connection was closed by the other side"
	case net.ErrClosed:
		return "the connection was closed here"
	}
	if _, dns := errors.AsType[*net.DNSError](err); dns {
		return "" // it names what was looked up
	}
	if t, ok := err.(net.Error); ok && t.Timeout() { //nolint:errorlint // as above
		return "no answer in time"
	}
	return ""
}

// plain is an error under another text.
type plain struct {
	text string
	err  error
}

func (p *plain) Error() string { return p.text }

// Unwrap is the error whose text is another one.
func (p *plain) Unwrap() error { return p.err }
