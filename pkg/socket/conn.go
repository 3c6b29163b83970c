// Package socket drives one byte stream with as few system calls as possible. It knows nothing of what the bytes
// mean, accepts and dials nothing and keeps no buffers.
//
// A query through a proxy costs two reads and two writes at least; what a Go program usually pays on top are reads that
// are tried although nothing can have arrived, only to fail with EAGAIN before the goroutine is parked. Package
// socket avoids them without leaving the runtime's poller, by what happens between the calls of one
// syscall.RawConn.Read callback:
//
//	RawConn.Read ── poller's readiness of the socket is forgotten (only here)
//	   └► callback ── false ──► wait until the poller reports readiness since ──► callback ── true ──► return
//
// Exchange writes the request in the first call of the callback and reads in the second. Serve stays inside one callback for
// the whole life of a client's session, so that no readiness is ever forgotten although step only reads when told.
package socket

import (
	"cmp"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrWouldBlock is what TryRead returns when nothing has arrived; step then returns false to wait.
var ErrWouldBlock = errors.New("socket: nothing to read yet")

// Conn is a stream socket. It belongs to one goroutine; only Close, SetDeadline and SetReadDeadline may be called
// from others at any time.
type Conn struct {
	base net.Conn        // the socket itself; Close and deadlines act on it
	raw  syscall.RawConn // nil when bytes go through via
	via  net.Conn        // TLS or compression over base, or base itself if it is no plain socket

	// The callbacks given to raw are made once, in New; a call's arguments and results pass through these fields.
	readFunc, writeFunc, exchangeFunc, serveFunc, peekFunc func(fd uintptr) bool

	in  transfer // of Read, Exchange and TryRead
	out transfer // of Write and the first half of Exchange

	ring atomic.Pointer[joined] // on a Loop: takes the place of all the rest
	mu   sync.Mutex             // held while that changes, and by those who come from other goroutines

	unread  []byte // read on a Loop and not taken there
	serving bool
	step    func() bool
	fd      uintptr // valid inside Serve
	seen    stepOutcome

	// Read inside Serve waits on a second registration of the socket, which has to follow what others do to this one.
	nested   atomic.Pointer[Conn]
	closed   atomic.Bool
	born     time.Time
	deadline atomic.Int64 // for reads, after born, 0 for none: a wall clock may leap meanwhile
}

// transfer is the state of one read or write across the calls of its callback.
type transfer struct {
	p    []byte
	n    int
	err  error
	sent bool // Exchange: the request is out
}

// New wraps nc. If nc is a plain TCP or Unix stream socket the Conn reads and writes its descriptor directly; anything
// else is driven through nc. The Conn owns nc from now on.
func New(nc net.Conn) *Conn {
	c := &Conn{base: nc, via: nc, born: time.Now()}
	switch s := nc.(type) {
	case *net.TCPConn:
		c.raw, _ = s.SyscallConn()
	case *net.UnixConn:
		c.raw, _ = s.SyscallConn()
	}
	c.readFunc = c.readReady
	c.writeFunc = c.writeReady
	c.exchangeFunc = c.exchangeReady
	c.serveFunc = c.serveReady
	c.peekFunc = c.peek
	return c
}

// Upgrade lets all further bytes pass through nc, which wraps NetConn: TLS after its handshake, or compression. It must not be
// called inside Serve.
func (c *Conn) Upgrade(nc net.Conn) {
	c.via = nc
	c.raw = nil
}

// Read reads what has arrived, at most len(p) bytes, and waits if that is nothing. It returns io.EOF when the peer has closed.
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if j := c.ring.Load(); j != nil {
		return j.read(p)
	}
	if len(c.unread) > 0 {
		n := copy(p, c.unread)
		c.unread = c.unread[n:]
		return n, nil
	}
	if c.raw == nil {
		return c.via.Read(p)
	}
	if c.serving {
		return c.readNested(p)
	}
	c.in = transfer{p: p}
	if err := c.raw.Read(c.readFunc); err != nil {
		c.in.p = nil
		return 0, err
	}
	c.in.p = nil
	return c.in.n, c.in.err
}

func (c *Conn) readReady(fd uintptr) bool {
	c.in.n, c.in.err = sysRead(fd, c.in.p)
	return c.in.err != ErrWouldBlock
}

// Write writes all of p, waiting whenever the socket's buffer is full. n < len(p) only with an error.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.seen.wrote = true
	if j := c.ring.Load(); j != nil {
		return j.write(p)
	}
	if c.raw == nil {
		return c.via.Write(p)
	}
	c.out = transfer{p: p}
	err = c.raw.Write(c.writeFunc)
	c.out.p = nil
	if err == nil {
		err = c.out.err
	}
	return c.out.n, err
}

func (c *Conn) writeReady(fd uintptr) bool {
	c.out.write(fd)
	return c.out.err != ErrWouldBlock
}

// write goes on with the transfer until all is written or the socket takes no more.
func (t *transfer) write(fd uintptr) {
	t.err = nil
	for t.n < len(t.p) && t.err == nil {
		var n int
		n, t.err = sysWrite(fd, t.p[t.n:])
		t.n += n
	}
}

// Exchange writes req, waits until the peer's answer begins to arrive and reads what there is of it into p. The caller must have
// read all that the peer sent before: what lies unread when Exchange begins is seen only when more arrives (see Stale).
// It must not be called inside Serve of the same Conn.
func (c *Conn) Exchange(req, p []byte) (int, error) {
	if j := c.ring.Load(); j != nil {
		return j.exchange(req, p)
	}
	if c.raw == nil {
		if _, err := c.via.Write(req); err != nil {
			return 0, err
		}
		return c.via.Read(p)
	}
	c.in = transfer{p: p}
	c.out = transfer{p: req}
	err := c.raw.Read(c.exchangeFunc)
	c.in.p, c.out.p = nil, nil
	if err != nil {
		return 0, err
	}
	if c.out.err == ErrWouldBlock {
		// The request is larger than the socket takes at once; what it costs does not count beside its size.
		if _, err := c.Write(req[c.out.n:]); err != nil {
			return 0, err
		}
		return c.Read(p)
	}
	if c.out.err != nil {
		return 0, c.out.err
	}
	return c.in.n, c.in.err
}

func (c *Conn) exchangeReady(fd uintptr) bool {
	if !c.out.sent {
		c.out.write(fd)
		c.out.sent = true
		return c.out.err != nil
	}
	return c.readReady(fd)
}

// Stale looks at a connection nothing is expected from and reports whether it is of no more use: the peer has closed it, or
// sent something unasked. It costs one system call.
func (c *Conn) Stale() bool {
	if j := c.ring.Load(); j != nil {
		return j.stale()
	}
	raw := c.raw
	if raw == nil {
		s, ok := c.base.(syscall.Conn)
		if !ok {
			return false
		}
		var err error
		if raw, err = s.SyscallConn(); err != nil {
			return true
		}
	}
	c.in = transfer{}
	if err := raw.Read(c.peekFunc); err != nil {
		return true
	}
	if c.in.err == ErrWouldBlock {
		return false
	}
	// TLS may have sent a session ticket that nobody has read.
	return c.raw != nil || c.in.err != nil || c.in.n == 0
}

func (c *Conn) peek(fd uintptr) bool {
	c.in.n, c.in.err = sysPeek(fd)
	return true
}

// Sending reports whether some of what was written is still to be sent, behind the session's back. It may be called from other goroutines.
func (c *Conn) Sending() bool {
	j := c.ring.Load()
	return j != nil && j.sending()
}

// HalfClosed reports whether the end of the stream is all there is to read. It may be called from other goroutines.
func (c *Conn) HalfClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.ring.Load(); j != nil {
		return j.halfClosed()
	}
	s, ok := c.base.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	closed := false
	_ = raw.Control(func(fd uintptr) {
		n, err := sysPeek(fd)
		closed = n == 0 && err == nil
	})
	return closed
}

// Close closes the socket; whoever waits on it returns with an error.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed.Store(true)
	if j := c.ring.Load(); j != nil {
		return j.close()
	}
	if n := c.nested.Load(); n != nil {
		_ = n.base.Close() // the same socket once more; the error that counts is the next
	}
	return c.base.Close()
}

// SetDeadline makes reads and writes that wait at or after t fail with os.ErrDeadlineExceeded; the zero t takes that back.
func (c *Conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlineNested(t)
	if j := c.ring.Load(); j != nil {
		j.readDeadline(t)
		j.writeDeadline(t)
		return nil
	}
	return c.base.SetDeadline(t)
}

// SetReadDeadline is SetDeadline for reads alone, Serve's waiting included.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadlineNested(t)
	if j := c.ring.Load(); j != nil {
		j.readDeadline(t)
		return nil
	}
	return c.base.SetReadDeadline(t)
}

// SetWriteDeadline is SetDeadline for writes alone.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.ring.Load(); j != nil {
		j.writeDeadline(t)
		return nil
	}
	return c.base.SetWriteDeadline(t)
}

// Socket is the connection as the system has it, below TLS and compression. It is closed while the Conn is on a Loop.
func (c *Conn) Socket() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base
}

func (c *Conn) deadlineNested(t time.Time) {
	var d int64
	if !t.IsZero() {
		d = cmp.Or(int64(t.Sub(c.born)), -1)
	}
	c.deadline.Store(d)
	if n := c.nested.Load(); n != nil {
		_ = n.base.SetReadDeadline(t)
	}
}

// readDeadline is the deadline for reads, if there is one.
func (c *Conn) readDeadline() (t time.Time, set bool) {
	d := time.Duration(c.deadline.Load())
	return c.born.Add(d), d != 0
}

// LocalAddr is the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.base.LocalAddr() }

// RemoteAddr is the address of the peer.
func (c *Conn) RemoteAddr() net.Addr { return c.base.RemoteAddr() }

// NetConn is what bytes pass through now: the socket, or what Upgrade set.
func (c *Conn) NetConn() net.Conn { return c.via }
