package mysqlserver

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Times for taking leave of a client.
const (
	tellTimeout   = 2 * time.Second  // to send the last error
	skipTimeout   = 10 * time.Second // to let the client finish the command that was too long
	lingerTimeout = time.Second      // to let the client read the error before the socket is gone
)

// hangUp tells the client why the connection ends, where the protocol has room for that. err is nil if the client
// said goodbye.
func (c *Conn) hangUp(err error) {
	if err == nil {
		c.count1("quit")
		return
	}
	e, reason := c.farewell(err)
	c.count1(reason)
	if c.loggedIn && reason != "closed" {
		c.server.cfg.Log.Debug("connection ended", "connection", c.id, "reason", reason, "error", err)
	}
	if e == nil {
		return
	}
	if e.Code == sqlerr.PacketTooLarge {
		// The client reads nothing before it has sent everything, and wants the number after its last packet.
		_ = c.sock.SetDeadline(time.Now().Add(skipTimeout))
		if err := c.skipCommand(); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return
		}
	}
	_ = c.sock.SetDeadline(time.Now().Add(tellTimeout))
	if c.WriteErr(e) != nil || c.Flush() != nil {
		return
	}
	if sqlerr.HasCode(e, sqlerr.AccessDenied) {
		return // the client has sent nothing else
	}
	// Closing a socket with unread bytes in it resets the connection, which may take the error from the client's hands.
	nc := c.sock.Socket()
	half, ok := nc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.sock.SetDeadline(time.Now().Add(lingerTimeout))
	_, _ = io.Copy(io.Discard, nc)
}

// farewell returns the error to tell the client, nil if there is none to tell, and what the metrics call the reason. It leaves the
// number that packet must have in seq.
func (c *Conn) farewell(err error) (*sqlerr.Error, string) {
	if IsClientGone(err) {
		if c.endReason() == writeTooSlow {
			return nil, "write_timeout"
		}
		return nil, "closed"
	}
	if broken, ok := errors.AsType[*brokenError](err); ok {
		return broken.err, "protocol"
	}
	halfSent := c.start < c.end || errors.Is(err, io.ErrUnexpectedEOF)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		// Who waits for nothing is told nothing, as by servers: it would be taken for the answer to the next statement, and clients know what to
		// do about connections that are lost.
		unasked := c.loggedIn && !c.wrote && !halfSent
		if unasked {
			c.seq = 0
		}
		var told *sqlerr.Error
		switch c.endReason() {
		case terminated:
			if !unasked {
				told = c.endWith.Load()
			}
			return told, "terminated"
		case shutdown:
			if !unasked {
				told = sqlerr.ServerShutdown.New()
			}
			return told, "shutdown"
		case idleTooLong:
			return nil, "idle_timeout"
		case writeTooSlow:
			return nil, "write_timeout"
		case halfClosed:
			return nil, "closed"
		case readTooSlow:
			return sqlerr.NetReadInterrupted.New(), "read_timeout"
		}
		if !c.loggedIn {
			return sqlerr.NetReadInterrupted.New(), "handshake_timeout"
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if halfSent && (!c.wrote || !c.loggedIn) {
			return sqlerr.PacketReadError.New(), "half_sent"
		}
		return nil, "closed"
	}
	if errors.Is(err, errPanicked) {
		if c.wrote {
			return nil, "panic"
		}
		return sqlerr.Internal.New("the session failed; see the server's log"), "panic"
	}
	if isClientError(err) {
		if c.loggedIn && c.wrote {
			return nil, "handler"
		}
		return sqlerr.From(err), "protocol"
	}
	return nil, "closed"
}

// count1 counts the end of a connection that had logged in.
func (c *Conn) count1(reason string) {
	if c.loggedIn {
		c.server.metrics.ended.WithLabelValues(reason).Inc()
	}
}

// skipCommand reads to the end of the command that was refused as too long: of the packet whose header has been
// read if skip says so, and of those that follow. It leaves the number that is next in seq.
func (c *Conn) skipCommand() error {
	n := c.skip
	for {
		if n == 0 {
			var header [wire.HeaderLen]byte
			if err := c.readFull(header[:]); err != nil {
				return err
			}
			var seq byte
			n, seq = wire.Header(header[:])
			c.seq = seq + 1
		}
		var scratch [4096]byte
		for left := n; left > 0; {
			chunk := scratch[:min(left, len(scratch))]
			if err := c.readFull(chunk); err != nil {
				return err
			}
			left -= len(chunk)
		}
		if n < wire.MaxPacket {
			return nil
		}
		n = 0
	}
}

// errPanicked is why a connection ends whose session panicked.
var errPanicked = errors.New("panic")

// recoverPanic ends the connection instead of the process if its session panics.
func (c *Conn) recoverPanic() {
	if p := recover(); p != nil {
		c.logPanic(p)
		c.hangUp(errPanicked)
	}
}

func (c *Conn) logPanic(p any) {
	c.server.cfg.Log.Error("session panicked", "connection", c.id, "panic", p, "stack", string(debug.Stack()))
}

// closeHandler ends the session; one that panics then takes nobody with it.
func (c *Conn) closeHandler() {
	defer func() {
		if p := recover(); p != nil {
			c.logPanic(p)
		}
	}()
	c.handler.Close()
}

// close ends the connection for good.
func (c *Conn) close() {
	if c.handler != nil {
		c.closeHandler()
	}
	if c.tls != nil && !c.torn { // which has counted a record that was not sent, so that the client could read no other
		_ = c.sock.SetDeadline(time.Now().Add(tellTimeout))
		_ = c.tls.Close()
	}
	_ = c.sock.Close()
	if c.in != nil {
		c.server.buffers.put(c.in)
		c.in = nil
	}
	c.release()
	c.server.unregister(c)
}
