// Package mysqlserver is the server's side of client connections: listeners, TLS, handshake, authentication,
// compression and the loop that reads commands. It knows no SQL, no session state and no backends: what a command means
// is its Handler's business, and so is who may log in.
//
// The life of a connection:
//
//	accept ─► login (goroutine 1) ─► serve (goroutine 2) ─► Handler.Close
//	            handshake, TLS,        inside one socket.Conn.Serve:
//	            authentication         read what has arrived ─► each whole command: Handler.Handle ─► flush
//
// Login has a goroutine of its own so that the stack that cryptography needs is not kept for the life of the session. All that a
// connection does happens in its goroutine; one watcher for all connections ends those that are too slow or idle for too
// long, so that no command sets a timer.
package mysqlserver

import (
	"crypto/rsa"
	"crypto/tls"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/catalog"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Handler is one client's session as its connection sees it. All methods are called from the connection's goroutine,
// one at a time.
type Handler interface {
	// Account returns the account by which user logs in from where the client is (Conn.Origin), and so how to verify him; nil for an unknown user, with
	// whom the protocol is run to its end all the same.
	Account(user string) *catalog.Account
	// Authenticated is called once after login, and again after each COM_CHANGE_USER, before the client is told. own is the name of the account
	// that was verified, which may not be there any more, or not be the one that Account would return by now. db may be empty, attrs nil. A
	// returned *sqlerr.Error is sent to the client and ends the connection, but for a database that there is not, behind COM_CHANGE_USER on
	// MariaDB: the session goes on as the user's.
	Authenticated(own catalog.AccountName, db string, attrs map[string]string) error
	// Refused is called, on MariaDB, when the client has tried COM_CHANGE_USER in vain: the session goes on as the same user's, but has
	// lost what was its own.
	Refused() error
	// Handle runs one command. payload is what follows the command byte; it is valid until Handle returns, and so is
	// Conn.Request. What the client is to see is written through the Conn, which is flushed afterwards. A returned error that
	// is an *sqlerr.Error is sent as ERR if nothing was written yet; any other error, or one that comes later, ends the connection.
	Handle(cmd wire.Command, payload []byte) error
	// Close is called exactly once, when the connection is over, whether or not anyone logged in.
	Close()
}

// Config is what Listen needs. The zero values of limits and timeouts stand for the defaults named there.
type Config struct {
	// Addr is a TCP address to listen on, UnixSocket a path; Listeners are further listeners, owned by the Server from
	// then on. At least one of the three must be given.
	Addr       string
	UnixSocket string
	Listeners  []net.Listener

	// NewHandler makes the session of a connection, before authentication.
	NewHandler func(c *Conn) Handler
	// Refuse returns what a client that connects is told in place of a greeting, nil if it is served. It may be nil.
	Refuse func() *sqlerr.Error
	// ServerVersion is what clients are told. If it names MariaDB, the handshake says so in MariaDB's way too.
	ServerVersion func() string

	TLS        *tls.Config // nil: a self-signed certificate is made at start
	RequireTLS bool        // refuse TCP connections without TLS; Unix sockets pass
	// ProxyNetworks are where load balancers are that may tell the addresses of their clients by a header of the PROXY protocol, version 1 or
	// 2: whoever else sends one is refused with error 1130. They need not send one.
	ProxyNetworks []netip.Prefix
	// AuthPlugin is announced first and saves accounts that use it a round trip. Default: caching_sha2_password.
	AuthPlugin string
	// RSAKey is for caching_sha2_password without TLS. Default: made at start. Several proxies may share one.
	RSAKey *rsa.PrivateKey
	// Secret keys which plugin an unknown user seems to have, so that it is the same on all proxies and after a restart. Default: random.
	Secret []byte

	Collation        uint8         // of the handshake; default utf8mb4's: 45 (MariaDB) or 255 (MySQL)
	IDBase           func() uint32 // connection ids are IDBase() plus a number below 2^IDBits; nil: 0
	IDBits           uint8         // default 32
	MaxConnections   int           // default 10000; error 1040 beyond, but for a few administrators
	MaxAllowedPacket int           // default 64 MB; error 1153 beyond
	HandshakeTimeout time.Duration // whole login; default 10 s
	IdleTimeout      time.Duration // between commands; default 8 h; see also Conn.SetIdleTimeout
	ReadTimeout      time.Duration // within a command the client has begun to send; default 30 s; see also Conn.SetNetTimeouts
	WriteTimeout     time.Duration // for a client that takes nothing of its answer; default 60 s; see also Conn.SetNetTimeouts
	DrainTimeout     time.Duration // how long Run lets statements finish after its ctx is done; default 10 s

	// Loop picks the Loop that a session's socket is driven by, after login; nil: none, a goroutine serves each. Handlers of
	// sessions on a Loop must not wait for anything but sockets that are on it, too: see Conn.Task.
	Loop func() *socket.Loop

	Log        *slog.Logger          // default: nothing is logged
	Registerer prometheus.Registerer // default: metrics are counted but not published
}

func (cfg *Config) setDefaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	set(&cfg.HandshakeTimeout, 10*time.Second)
	set(&cfg.IdleTimeout, 8*time.Hour)
	set(&cfg.ReadTimeout, 30*time.Second)
	set(&cfg.WriteTimeout, 60*time.Second)
	set(&cfg.DrainTimeout, 10*time.Second)
	if cfg.MaxConnections <= 0 {
		cfg.MaxConnections = 10000
	}
	if cfg.MaxAllowedPacket <= 0 {
		cfg.MaxAllowedPacket = 64 << 20
	}
	if cfg.IDBase == nil {
		cfg.IDBase = func() uint32 { return 0 }
	}
	if cfg.IDBits == 0 || cfg.IDBits > 32 {
		cfg.IDBits = 32
	}
	if cfg.IDBits < 32 {
		cfg.MaxConnections = min(cfg.MaxConnections, 1<<cfg.IDBits-2-spare)
	}
	if cfg.AuthPlugin == "" {
		cfg.AuthPlugin = wire.CachingSHA2Password
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
}
