package mysqlconn

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Conn is a connection that is logged in. It belongs to one goroutine; only Interrupt may be called from others.
//
// There are two ways to use it, one after the other but not mixed: Relay passes a whole answer on; Send, ReadHead and ReadRow
// read answers here.
type Conn struct {
	sock      *socket.Conn
	addr      string
	name      string
	maxPacket int
	threadID  uint32
	version   string
	caps      wire.Capability
	status    wire.Status // of the last answer
	secure    bool        // nobody else can read what is sent

	broken      bool
	interrupted atomic.Bool
	why         atomic.Pointer[error] // it was interrupted, if that was told

	out  []byte // requests are put together here
	late []byte // packets that go with the next request: closed statements

	in      []byte // in[r:w] has arrived and is not read yet
	r, w    int
	seq     byte    // sequence number of the next packet
	anySeq  bool    // the next packet begins an answer
	capture *[]byte // where packets are copied to as they are read, if anywhere

	// The answer being read.
	doubt   bool // see Doubt
	refuses bool // see ReadOnly
	pending int  // answers asked for and not read to their end, this one included
	rows    bool // rows of this result are still to be read
	more    bool // another result of the same answer follows
	fileAsk bool // Relay stopped for a file
	// expectFile: the answer to come may ask for a file; sendingFile: it has.
	expectFile, sendingFile bool

	end     wire.OK
	refusal error // of the last answer, nil after any other
	columns columnCache

	scanner  wire.ResultScanner
	withhold func(sqlerr.Code) bool // see RelayUnless
}

// ThreadID is the server's number of the connection, for KILL.
func (c *Conn) ThreadID() uint32 { return c.threadID }

// ServerVersion is what the server said it is.
func (c *Conn) ServerVersion() string { return c.version }

// Caps are the capabilities agreed on.
func (c *Conn) Caps() wire.Capability { return c.caps }

// Addr is the server's address as configured.
func (c *Conn) Addr() string { return c.addr }

// Status is the server's state at the end of the last answer that was not an error.
func (c *Conn) Status() wire.Status { return c.status }

// Usable reports whether a new command may be sent: the connection is whole and all answers have been read to their end.
func (c *Conn) Usable() bool {
	return !c.Broken() && c.pending == 0 && !c.fileAsk && !c.sendingFile && c.r == c.w
}

// Broken reports whether the connection is of no more use at all: lost, or interrupted.
func (c *Conn) Broken() bool { return c.broken || c.interrupted.Load() }

// Stale looks, with one system call, whether the server has closed an idle connection or sent something unasked.
func (c *Conn) Stale() bool { return !c.Usable() || c.sock.Stale() }

// Use says which session on a Loop has the connection from now on, nil for none: see socket.Conn.Use.
func (c *Conn) Use(t *socket.Task) bool { return c.sock.Use(t) }

// Interrupt makes I/O of the connection fail, at once and from now on. It may be called from any goroutine.
func (c *Conn) Interrupt() {
	c.interrupted.Store(true)
	_ = c.sock.SetDeadline(longAgo())
}

// InterruptFor is Interrupt for a reason, which the error of whoever uses the connection tells.
func (c *Conn) InterruptFor(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.Interrupt()
}

// errInterrupted is the cause of a lost connection that was interrupted for no reason that was told.
var errInterrupted = errors.New("the connection was ended here before there was an answer")

// broke is why an interrupted connection was.
func (c *Conn) broke() error {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return errInterrupted
}

// longAgo is a deadline that is over.
func longAgo() time.Time { return time.Unix(1, 0) }

// SetDeadline makes I/O at or after t fail, which breaks the connection; the zero t takes that back, but not an Interrupt.
func (c *Conn) SetDeadline(t time.Time) error {
	err := c.sock.SetDeadline(t)
	if c.interrupted.Load() { // perhaps right before t was set
		return c.sock.SetDeadline(longAgo())
	}
	return err
}

// Close says goodbye to the server, if the connection is idle, and closes the socket.
func (c *Conn) Close() error {
	if c.Usable() {
		_, _ = c.sock.Write([]byte{1, 0, 0, 0, byte(wire.ComQuit)}) // only a courtesy
	}
	c.broken = true
	return c.sock.Close()
}

// write sends p, behind what was left to go with the next request.
func (c *Conn) write(p []byte) error {
	if c.broken {
		return c.lost(net.ErrClosed)
	}
	p = c.withLate(p)
	if _, err := c.sock.Write(p); err != nil {
		return c.lost(c.cause(err))
	}
	return nil
}

// silent reports whether the server has said all it was asked for.
func (c *Conn) silent() bool { return c.pending == 0 && c.r == c.w && !c.broken }

// exchange is write that returns when the answer begins to arrive, if the server was silent before.
func (c *Conn) exchange(p []byte, silent bool) error {
	if !silent {
		return c.write(p)
	}
	c.makeRoom(1)
	n, err := c.sock.Exchange(c.withLate(p), c.in[c.w:])
	if err != nil {
		return c.lost(c.cause(err))
	}
	c.w += n
	return nil
}

// withLate returns p behind the packets left to go with it.
func (c *Conn) withLate(p []byte) []byte {
	if len(c.late) == 0 {
		return p
	}
	c.late = append(c.late, p...)
	p = c.late
	c.late = c.late[:0]
	return p
}

// cause is err, or that the connection was interrupted if that is the reason.
func (c *Conn) cause(err error) error {
	switch {
	case c.interrupted.Load():
		return c.broke()
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}
