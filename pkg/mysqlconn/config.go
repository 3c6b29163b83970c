// Package mysqlconn is one client connection to one MySQL or MariaDB server: it logs in, relays a command's answer without decoding
// it, and reads results row by row for merging. It knows nothing of pools, of node groups or of what a statement
// means, and never reconnects: a connection that failed says so and is thrown away.
package mysqlconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"skarv/pkg/reason"
	"skarv/pkg/socket"
	"skarv/pkg/wire"
)

// Config says where and how to connect. Zero fields but Addr have defaults.
type Config struct {
	Addr       string // host:port, or unix:/path
	Name       string // what errors of a lost connection call the server; Addr if empty
	User       string
	Password   string
	DB         string
	Attributes map[string]string

	// Caps are the capabilities wanted beside those every connection has, of profileCaps. The server may know fewer: see
	// Conn.Caps.
	Caps wire.Capability
	// Collation is the number of the connection's first collation; 45, utf8mb4_general_ci, if zero.
	Collation uint8
	// TLS, if not nil, is demanded: a server that has none is refused, unless PlainWithoutTLS.
	TLS             *tls.Config
	PlainWithoutTLS bool
	// Init are statements run after login, sent all at once.
	Init []string
	// Check, if not nil, is asked behind Init whether the server is the right one; its error is Dial's.
	Check func(*Conn) error

	// Timeout bounds dialling, login, Init and Check together; 10 s if zero.
	Timeout time.Duration
	// PeerTimeout is how long sent bytes may stay unacknowledged, and an idle peer silent to probes, before the connection is taken for
	// dead; 10 s if zero.
	PeerTimeout time.Duration
	// MaxPacket bounds a row or other packet read by ReadRow and its like (never what is relayed); 1 GB if zero, as much as a
	// server can send.
	MaxPacket int
}

// baseCaps are the capabilities of every connection, as far as the server has them. Multi-results are decoded or relayed
// whatever a client asked for, because only a statement that was sent as several, or a procedure, has them.
const baseCaps = wire.CapLongPassword | wire.CapLongFlag | wire.CapProtocol41 | wire.CapTransactions | wire.CapSecureConnection |
	wire.CapMultiResults | wire.CapPSMultiResults | wire.CapPluginAuth | wire.CapPluginAuthLenenc |
	wire.CapConnectAttrs

// profileCaps are the capabilities a caller chooses. Who relays one statement at a time does well not to ask for
// CapMultiStatements: then the server refuses what a scanner took for one statement and is two.
const profileCaps = wire.CapDeprecateEOF | wire.CapFoundRows | wire.CapSessionTrack | wire.CapLocalFiles | wire.CapIgnoreSpace |
	wire.CapInteractive | wire.CapNoSchema | wire.CapODBC | wire.CapExpiredPasswords | wire.CapMultiStatements |
	wire.CapMariaExtendedTypes

const (
	defaultTimeout   = 10 * time.Second
	defaultCollation = 45
	defaultMaxPacket = 1 << 30
)

// Dial connects and logs in. What the server refused is an *sqlerr.Error inside the error, as the server sent it.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.PeerTimeout == 0 {
		cfg.PeerTimeout = defaultTimeout
	}
	if cfg.Collation == 0 {
		cfg.Collation = defaultCollation
	}
	if cfg.Name == "" {
		cfg.Name = cfg.Addr
	}
	if cfg.MaxPacket == 0 {
		cfg.MaxPacket = defaultMaxPacket
	}
	network, addr := "tcp", cfg.Addr
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	deadline := time.Now().Add(cfg.Timeout)
	d := net.Dialer{
		Deadline: deadline,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: cfg.PeerTimeout, Interval: max(cfg.PeerTimeout/3, time.Second), Count: 3,
		},
		Control: userTimeout(cfg.PeerTimeout),
	}
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cfg.Addr, reason.Plain(err))
	}
	c := &Conn{
		sock:      socket.New(nc), // Go sets TCP_NODELAY itself
		addr:      cfg.Addr,
		name:      cfg.Name,
		maxPacket: cfg.MaxPacket,
	}
	if err := c.begin(ctx, &cfg, deadline); err != nil {
		_ = c.sock.Close()
		if lost, ok := errors.AsType[*LostError](err); ok {
			err = reason.Say(reason.Plain(lost.Cause).Error(), err) // the rest of it is the address once more
		}
		return nil, fmt.Errorf("log in to %s as %q: %w", cfg.Addr, cfg.User, err)
	}
	return c, nil
}

// begin logs in and runs the first statements, within the deadline and ctx.
func (c *Conn) begin(ctx context.Context, cfg *Config, deadline time.Time) error {
	if err := c.sock.SetDeadline(deadline); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.Interrupt)
	defer stop()
	err := c.login(cfg)
	for i := 0; err == nil && i < len(cfg.Init); i++ {
		err = c.Send(wire.ComQuery, []byte(cfg.Init[i]))
	}
	for i := 0; err == nil && i < len(cfg.Init); i++ {
		_, err = c.finish()
	}
	if err == nil && cfg.Check != nil {
		err = cfg.Check(c)
	}
	if !stop() && ctx.Err() != nil {
		return reason.Plain(context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	return c.sock.SetDeadline(time.Time{})
}
