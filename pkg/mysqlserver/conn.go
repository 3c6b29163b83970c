package mysqlserver

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Conn is one client's connection. It belongs to its goroutine, in which all methods of its Handler run; only ID,
// LocalAddr, SetIdleTimeout, SetNetTimeouts and Terminate may be called from others.
type Conn struct {
	server  *Server
	handler Handler
	nc      net.Conn // as accepted
	remote  net.Addr // the client's: nc's, or what a load balancer tells
	sock    *socket.Conn
	id      uint32
	unix    bool
	tls     *tls.Conn // nil without TLS
	torn    bool      // a write has failed: what comes behind it is of no use to the client

	caps      wire.Capability
	collation uint16
	status    wire.Status
	user      string
	salt      [wire.SaltLen]byte // as sent in the handshake
	failures  int                // COM_CHANGE_USER refused
	surplus   bool               // beyond MaxConnections when it was accepted

	in         *buffer // nil while idle
	start, end int     // what is unread is in.b[start:end]
	want       int     // bytes the command that is being received needs, as far as known
	request    []byte
	joined     []byte // payload of a command of several packets
	nested     []byte // last packet of ReadPacket
	skip       int    // bytes of a packet that is too long, after its header
	readErr    error  // why reading ended

	out      *buffer
	outBytes []byte // what is not flushed yet; its memory is out's, unless a packet outgrew it
	packet   int    // start of the packet between BeginPacket and EndPacket
	seq      byte
	wrote    bool // part of the current command's answer was written
	mark     mark // of Mark, until something is sent
	loggedIn bool

	activity     atomic.Uint64 // count<<2 | what it is doing; read by the watcher
	count        uint64
	idleTimeout  atomic.Int64 // nanoseconds; 0: Config.IdleTimeout
	readTimeout  atomic.Int64 // 0: Config.ReadTimeout
	writeTimeout atomic.Int64 // 0: Config.WriteTimeout
	ended        atomic.Int32 // ending
	endWith      atomic.Pointer[sqlerr.Error]
	watched      watched // the watcher's own
}

// doing is what a connection is at, which decides how long it may take.
type doing uint64

const (
	idle    doing = iota // waiting for a command
	reading              // a command, or an answer to the server's question, has not arrived whole
	busy                 // in Handle; that is the Handler's time
	writing
)

func (c *Conn) set(d doing) {
	c.count++
	c.activity.Store(c.count<<2 | uint64(d))
}

// Task is the session on its Loop, nil if there is none: see Config.Loop.
func (c *Conn) Task() *socket.Task { return c.sock.Task() }

// ID is the connection id sent in the handshake, unique among the Server's connections.
func (c *Conn) ID() uint32 { return c.id }

// Capabilities is what client and server agreed on.
func (c *Conn) Capabilities() wire.Capability { return c.caps }

// Collation is the number of the collation the client asked for at login (or COM_CHANGE_USER), 0 for none.
func (c *Conn) Collation() uint16 { return c.collation }

// User is the account's name, "" before login.
func (c *Conn) User() string { return c.user }

// RemoteAddr is the client's address; that of a load balancer in front of it until the client logs in, and for good if that does not tell
// the client's (Config.ProxyNetworks).
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// LocalAddr is the address the client connected to.
func (c *Conn) LocalAddr() net.Addr { return c.nc.LocalAddr() }

// Host is where the client is as error texts name it: its address, or localhost.
func (c *Conn) Host() string { return c.Origin().Host }

// Origin is where the client is, by which accounts are found. Of a client that is neither here nor has an address of its own nothing is known.
func (c *Conn) Origin() catalog.Origin {
	switch a := c.remote.(type) {
	case *net.TCPAddr:
		if o := catalog.OriginOf(a.AddrPort().Addr()); !a.IP.IsLoopback() || c.fromHere() {
			return o
		}
	case *net.UnixAddr:
		return catalog.ThisMachine()
	}
	return catalog.Nowhere()
}

// Secure reports whether nobody between client and server can read along: TLS or a Unix socket.
func (c *Conn) Secure() bool { return c.unix || c.tls != nil }

// TLS returns the state of the connection's TLS, nil if it has none.
func (c *Conn) TLS() *tls.ConnectionState {
	if c.tls == nil {
		return nil
	}
	s := c.tls.ConnectionState()
	return &s
}

// Status is the session's flags as the Conn sends them in answers of its own (COM_PING, login).
func (c *Conn) Status() wire.Status { return c.status }

// SetStatus sets the session's flags. A new connection has StatusAutocommit.
func (c *Conn) SetStatus(s wire.Status) { c.status = s }

// SetIdleTimeout sets how long the client may send nothing between commands (wait_timeout); 0: as long as the server's Config says.
func (c *Conn) SetIdleTimeout(d time.Duration) { c.idleTimeout.Store(int64(d)) }

// SetNetTimeouts sets for how long the client may send nothing within a command (net_read_timeout), and take nothing of its answer
// (net_write_timeout); 0: as long as the server's Config says.
func (c *Conn) SetNetTimeouts(read, write time.Duration) {
	c.readTimeout.Store(int64(read))
	c.writeTimeout.Store(int64(write))
}

// Terminate ends the connection: at once if it waits for the client, else when Handle returns. The client is sent e if it is in the middle of
// sending a command and e is not nil. It may be called from any goroutine, and more than once; the first e counts.
func (c *Conn) Terminate(e *sqlerr.Error) {
	c.endWith.CompareAndSwap(nil, e)
	c.stop(terminated)
}

// ending is why the server ends a connection.
type ending int32

const (
	_ ending = iota
	terminated
	shutdown
	idleTooLong
	readTooSlow
	writeTooSlow
	halfClosed
)

// stop makes the connection's goroutine stop waiting for the client. What else it does it finishes.
func (c *Conn) stop(why ending) {
	// The reason is stored before the deadline: who sees the deadline finds the reason.
	if c.ended.CompareAndSwap(0, int32(why)) || why == writeTooSlow {
		past := time.Unix(1, 0)
		if why == writeTooSlow || why == terminated {
			_ = c.sock.SetWriteDeadline(past)
		}
		_ = c.sock.SetReadDeadline(past) // last: who is woken by it takes leave of the client
	}
}

func (c *Conn) endReason() ending { return ending(c.ended.Load()) }
