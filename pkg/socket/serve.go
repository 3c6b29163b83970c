package socket

import (
	"fmt"
	"net"
	"os"
)

// stepOutcome is what the last call of step did, which decides whether waiting is safe.
type stepOutcome struct {
	tried, blocked, full, wrote bool
}

// Serve runs a session: it calls step whenever something may have arrived, until step returns true, and returns
// nil then; any other end is an error of waiting (closed, deadline). step handles what it has and
// reads with TryRead, usually once.
//
// step need not read until ErrWouldBlock. Serve calls it again without waiting in the two cases in which bytes, or the end of
// the stream, may lie unread with no readiness to come: when TryRead filled its buffer, and when step wrote no answer after
// it read, because the peer may have closed together with its last bytes. (After an answer the peer's system reports the close by
// itself; a peer that closed only its sending half is noticed by keepalive or an idle timeout.)
//
// On a Conn that is driven through a net.Conn, TryRead waits and Serve is a plain loop.
func (c *Conn) Serve(step func() (done bool)) error {
	if c.raw == nil {
		for !step() {
		}
		return nil
	}
	c.step = step
	c.serving = true
	err := c.raw.Read(c.serveFunc)
	c.serving = false
	c.step = nil
	if n := c.nested.Swap(nil); n != nil {
		_ = n.base.Close()
	}
	return err
}

func (c *Conn) serveReady(fd uintptr) bool {
	c.fd = fd
	for {
		c.seen = stepOutcome{}
		if c.step() {
			return true
		}
		s := c.seen
		if !s.tried || s.blocked || !s.full && s.wrote {
			return false
		}
	}
}

// TryRead reads what has arrived into p, which must not be empty, and returns ErrWouldBlock if nothing has, io.EOF if the peer
// has closed. It may be called only by the step of Serve.
func (c *Conn) TryRead(p []byte) (n int, err error) {
	if j := c.ring.Load(); j != nil {
		return j.read(p)
	}
	if c.raw == nil {
		return c.via.Read(p)
	}
	n, err = sysRead(c.fd, p)
	c.seen = stepOutcome{tried: true, blocked: err == ErrWouldBlock, full: n == len(p)}
	return n, err
}

// readNested is Read inside Serve, whose waiting occupies the socket's registration in the poller: it waits on a second one.
func (c *Conn) readNested(p []byte) (int, error) {
	n := c.nested.Load()
	if n == nil {
		var err error
		if n, err = c.Dup(); err != nil {
			return 0, err
		}
		c.nested.Store(n)
		// What happened before the Store did not reach n.
		if t, set := c.readDeadline(); set {
			_ = n.base.SetReadDeadline(t)
		}
		if c.closed.Load() {
			_ = n.base.Close()
		}
	}
	return n.Read(p)
}

// Dup registers the same socket with the poller a second time. Read inside Serve does so by itself. The new Conn
// has its own deadlines and must be closed; closing it leaves the socket open.
func (c *Conn) Dup() (*Conn, error) {
	s, ok := c.base.(interface{ File() (*os.File, error) })
	if !ok || c.raw == nil {
		return nil, fmt.Errorf("socket: %T cannot be registered twice", c.via)
	}
	f, err := s.File()
	if err != nil {
		return nil, err
	}
	nc, err := net.FileConn(f)
	_ = f.Close() // FileConn made its own copy
	if err != nil {
		return nil, err
	}
	return New(nc), nil
}
