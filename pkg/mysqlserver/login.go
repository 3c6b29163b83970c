package mysqlserver

import (
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"os"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// maxLoginPacket is room for 64 KB of connection attributes and whatever else a login holds.
const maxLoginPacket = 80 << 10

// advertised is what every client may choose from: only what leaves the packets of an answer the same on both sides of a
// relay, or is undone before (TLS, compression).
const advertised = wire.CapFoundRows | wire.CapLongFlag | wire.CapConnectWithDB | wire.CapCompress | wire.CapLocalFiles |
	wire.CapIgnoreSpace | wire.CapProtocol41 | wire.CapInteractive | wire.CapSSL | wire.CapTransactions |
	wire.CapSecureConnection | wire.CapMultiStatements | wire.CapMultiResults | wire.CapPSMultiResults | wire.CapPluginAuth |
	wire.CapConnectAttrs | wire.CapPluginAuthLenenc | wire.CapSessionTrack | wire.CapDeprecateEOF | wire.CapZstd

// Collations of the handshake: utf8mb4_general_ci, which MariaDB's clients know best, and utf8mb4_0900_ai_ci.
const (
	mariaCollation = 45
	mysqlCollation = 255
)

// logIn is the first goroutine of a connection.
func (c *Conn) logIn() {
	s := c.server
	loggedIn := false
	defer func() {
		if !loggedIn {
			c.close()
		}
	}()
	defer c.recoverPanic()
	c.set(busy)
	c.handler = s.cfg.NewHandler(c)
	if err := c.shakeHands(); err != nil {
		result := "failed"
		if isDenied(err) {
			result = "denied"
			s.cfg.Log.Info("login denied", "remote", c.RemoteAddr().String(), "error", err)
		} else {
			s.cfg.Log.Debug("login failed", "remote", c.RemoteAddr().String(), "error", err)
		}
		s.metrics.logins.WithLabelValues(result).Inc()
		c.hangUp(err)
		return
	}
	s.metrics.logins.WithLabelValues("ok").Inc()
	loggedIn = true
	s.conns.Go(c.serve)
}

// isDenied reports whether an error is that of a client that may not log in.
func isDenied(err error) bool {
	return sqlerr.HasCode(err, sqlerr.AccessDenied, sqlerr.AccountLocked, sqlerr.AccountIsLocked)
}

// mariadb reports whether the server is one of MariaDB to clients.
func (s *Server) mariadb() bool { return strings.Contains(s.cfg.ServerVersion(), "MariaDB") }

// serve is the second goroutine of a connection, for the rest of its life; on a Loop it has none then.
func (c *Conn) serve() {
	if l := c.server.cfg.Loop; l != nil {
		c.server.conns.Add(1)
		if c.sock.ServeOn(l(), c.guardedStep, func(err error) {
			defer c.server.conns.Done()
			c.served(err)
		}) {
			return
		}
		c.server.conns.Done()
	}
	c.served(c.sock.Serve(c.guardedStep))
}

// guardedStep is step that ends the connection if the session panics.
func (c *Conn) guardedStep() (done bool) {
	defer func() {
		if p := recover(); p != nil {
			c.logPanic(p)
			c.readErr, done = errPanicked, true
		}
	}()
	return c.step()
}

// served ends a connection that waited, or read, in vain, or whose client said goodbye.
func (c *Conn) served(err error) {
	defer c.close()
	defer c.recoverPanic()
	if c.readErr != nil {
		err = c.readErr
	}
	c.hangUp(err)
}

// shakeHands takes the connection from its first packet to the OK that ends login.
func (c *Conn) shakeHands() error {
	s := c.server
	if err := c.nc.SetDeadline(time.Now().Add(s.cfg.HandshakeTimeout)); err != nil {
		return err
	}
	newSalt(c.salt[:])
	version := s.cfg.ServerVersion()
	hello := wire.InitialHandshake{
		ServerVersion: version,
		ConnectionID:  c.id,
		Salt:          c.salt[:],
		Capabilities:  advertised,
		Collation:     s.cfg.Collation,
		Status:        c.status,
		Plugin:        s.cfg.AuthPlugin,
	}
	// What MySQL calls LONG_PASSWORD is CLIENT_MYSQL for MariaDB's clients: absent, the server is a MariaDB.
	maria := s.mariadb()
	if maria {
		hello.Capabilities |= wire.CapMariaExtendedTypes
	} else {
		hello.Capabilities |= wire.CapLongPassword
	}
	if hello.Collation == 0 {
		hello.Collation = mysqlCollation
		if maria {
			hello.Collation = mariaCollation
		}
	}
	if err := c.EndPacket(wire.AppendInitialHandshake(c.BeginPacket(), hello)); err != nil {
		return err
	}
	refusal, err := c.takeProxyHeader()
	if err != nil {
		return err
	}
	payload, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if wire.IsSSLRequest(payload) {
		if payload, err = c.startTLS(); err != nil {
			return err
		}
	}
	if refusal != nil {
		return refusal
	}
	r, err := wire.ParseHandshakeResponse(payload)
	if err != nil {
		return err
	}
	if s.cfg.RequireTLS && !c.Secure() {
		return sqlerr.SecureTransport.New()
	}
	c.caps = r.Capabilities & hello.Capabilities
	l := login{
		c:          c,
		user:       r.User,
		salt:       c.salt[:],
		reply:      append([]byte(nil), r.Auth...), // the next packet takes its place
		plugin:     r.Plugin,
		mustSwitch: r.Plugin != s.cfg.AuthPlugin,
	}
	if !c.caps.Has(wire.CapPluginAuth) {
		l.plugin = wire.NativePassword
	}
	if err := l.authenticate(); err != nil {
		return err
	}
	if c.surplus && !l.account.Administers() {
		s.metrics.refused.Inc()
		return sqlerr.TooManyConnections.New()
	}
	c.collation = uint16(r.Collation)
	if err := c.welcome(l.account.Name, r.DB, r.Attributes); err != nil {
		return err
	}
	c.startCompression(r.ZstdLevel)
	// Whoever ended the connection meanwhile stored the reason before a deadline that is now overwritten.
	if err := c.nc.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if c.endReason() != 0 {
		return os.ErrDeadlineExceeded
	}
	c.loggedIn, c.wrote = true, false
	c.nested = nil
	c.release()
	c.set(idle)
	return nil
}

// startTLS answers an SSLRequest and returns the client's next packet, its real response. Reading has stopped exactly at the end
// of the request, so that nothing sent in the clear can pass for what comes inside TLS.
func (c *Conn) startTLS() ([]byte, error) {
	tc := tls.Server(c.nc, c.server.keys.tls)
	if err := tc.Handshake(); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	c.sock.Upgrade(tc)
	c.tls = tc
	return c.ReadPacket()
}

// welcome hands the account of the authenticated user to the Handler and sends OK.
func (c *Conn) welcome(own catalog.AccountName, db string, attrs map[string]string) error {
	c.user = own.User()
	if err := c.handler.Authenticated(own, db, attrs); err != nil {
		return err
	}
	ok := wire.OK{Status: c.status}
	if db != "" {
		ok.SessionState = wire.AppendSessionText(nil, wire.ChangeSchema, db)
	}
	if err := c.WriteOK(ok); err != nil {
		return err
	}
	return c.Flush()
}

// startCompression begins what was negotiated: after the OK, on top of TLS. A client that can do both gets zlib, as from
// a MySQL server.
func (c *Conn) startCompression(zstdLevel uint8) {
	switch {
	case c.caps.Has(wire.CapCompress):
		c.sock.Upgrade(c.server.compress.Zlib(c.sock.NetConn()))
	case c.caps.Has(wire.CapZstd):
		c.sock.Upgrade(c.server.compress.Zstd(c.sock.NetConn(), int(zstdLevel)))
	}
}

// maxFailures is how often a client may try COM_CHANGE_USER in vain on MariaDB before the server does not know that command any more.
const maxFailures = 3

// changeUser runs COM_CHANGE_USER. A wrong password ends the connection on MySQL; on MariaDB the session goes on as that of the same user.
// An error of the Handler ends it (see there).
func (c *Conn) changeUser(body []byte) error {
	maria := c.server.mariadb()
	if c.failures >= maxFailures {
		return c.refuse(sqlerr.UnknownCommand.New())
	}
	u, err := wire.ParseChangeUser(body, c.caps)
	if err != nil {
		return err
	}
	l := login{
		c:      c,
		user:   u.User,
		salt:   c.salt[:],
		reply:  u.Auth, // part of the command: stays valid
		plugin: u.Plugin,
		// MySQL's clients send no password with the command but wait to be asked, whatever the plugin.
		mustSwitch: true,
	}
	if !c.caps.Has(wire.CapPluginAuth) {
		l.plugin = wire.NativePassword
	}
	if err := l.authenticate(); err != nil {
		if !isDenied(err) && !sqlerr.HasCode(err, sqlerr.UnsupportedAuthMode) {
			return err
		}
		c.server.metrics.logins.WithLabelValues("denied").Inc()
		c.server.cfg.Log.Info("login denied", "remote", c.RemoteAddr().String(), "error", err)
		if !maria {
			return &brokenError{sqlerr.From(err)}
		}
		c.failures++
		return c.refuse(sqlerr.From(err))
	}
	c.server.metrics.logins.WithLabelValues("ok").Inc()
	c.collation = u.Collation
	if err := c.welcome(l.account.Name, u.DB, u.Attributes); err != nil {
		if sqlerr.HasCode(err, sqlerr.UnknownDatabase) && maria {
			return c.WriteErr(sqlerr.From(err))
		}
		if isClientError(err) {
			return &brokenError{sqlerr.From(err)}
		}
		return err
	}
	return nil
}

// refuse answers COM_CHANGE_USER with e; the session stays its user's.
func (c *Conn) refuse(e *sqlerr.Error) error {
	if err := c.handler.Refused(); err != nil {
		return c.fatal(sqlerr.From(err))
	}
	return c.WriteErr(e)
}

// newSalt fills b with random bytes that can stand in a C string and are no '$', which separates an authentication string's parts.
func newSalt(b []byte) {
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] &= 0x7f
		if b[i] == 0 || b[i] == '$' {
			b[i]++
		}
	}
}
