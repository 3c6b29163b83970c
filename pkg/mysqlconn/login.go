package mysqlconn

import (
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"skarv/pkg/reason"
	"skarv/pkg/wire"
)

// login performs the handshake:
//
//	S InitialHandshake ► [C SSLRequest, TLS] ► C HandshakeResponse ► { S AuthSwitch | AuthMore ► C answer } ► S OK
func (c *Conn) login(cfg *Config) error {
	payload, err := c.firstPacket()
	if err != nil {
		return err
	}
	hello, err := wire.ParseInitialHandshake(payload)
	if err != nil {
		return err
	}
	c.threadID, c.version = hello.ConnectionID, hello.ServerVersion
	if !hello.Capabilities.Has(wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth) {
		return fmt.Errorf("server %s is too old", hello.ServerVersion)
	}
	wanted := baseCaps | cfg.Caps&profileCaps
	if cfg.DB != "" {
		wanted |= wire.CapConnectWithDB
	}
	if cfg.TLS != nil {
		wanted |= wire.CapSSL
	}
	// A MariaDB server does not announce CapLongPassword; a client that sets it asks for no extended capabilities.
	if c.caps = wanted & hello.Capabilities; !c.caps.Has(wire.CapMariaExtendedTypes) {
		c.caps |= wire.CapLongPassword
	}
	_, unix := c.sock.NetConn().(*net.UnixConn)
	c.secure = unix

	auth := authentication{password: cfg.Password, plugin: hello.Plugin, salt: hello.Salt}
	response := wire.HandshakeResponse{
		Capabilities: c.caps,
		MaxPacket:    1 << 30,
		Collation:    cfg.Collation,
		User:         cfg.User,
		DB:           cfg.DB,
		Attributes:   cfg.Attributes,
	}
	if cfg.TLS != nil && (c.caps.Has(wire.CapSSL) || !cfg.PlainWithoutTLS) {
		if !c.caps.Has(wire.CapSSL) {
			return errors.New("the server has no TLS, which the configuration demands")
		}
		if err := c.writePacket(wire.AppendSSLRequest(nil, response)); err != nil {
			return err
		}
		if err := c.startTLS(cfg); err != nil {
			return err
		}
	}
	// If the server's default plugin is one we cannot answer yet, the server switches to the account's own.
	if response.Auth, err = auth.answer(c.secure); err != nil {
		auth.plugin, response.Auth = wire.NativePassword, wire.ScrambleNative(cfg.Password, hello.Salt)
	}
	response.Plugin = auth.plugin
	if err := c.writePacket(wire.AppendHandshakeResponse(nil, response)); err != nil {
		return err
	}
	return c.authenticate(&auth)
}

// firstPacket reads the server's greeting, the only packet whose number is known beforehand.
func (c *Conn) firstPacket() ([]byte, error) {
	c.seq, c.anySeq = 0, false
	return c.readPacket()
}

func (c *Conn) startTLS(cfg *Config) error {
	tc := cfg.TLS
	if tc.ServerName == "" && !tc.InsecureSkipVerify {
		tc = tc.Clone()
		tc.ServerName, _, _ = net.SplitHostPort(cfg.Addr)
	}
	t := tls.Client(c.sock.NetConn(), tc)
	if err := t.SetDeadline(time.Now().Add(cfg.Timeout)); err != nil {
		return err
	}
	if err := t.Handshake(); err != nil {
		return fmt.Errorf("TLS: %w", reason.Plain(err))
	}
	c.sock.Upgrade(t)
	c.secure = true
	return nil
}

// authenticate answers the server's questions until it says OK or ERR.
func (c *Conn) authenticate(a *authentication) error {
	for range 16 { // no plugin asks so often
		payload, err := c.readPacket()
		if err != nil {
			return err
		}
		if len(payload) == 0 {
			return c.lost(errors.New("empty packet during login"))
		}
		var answer []byte
		switch payload[0] {
		case wire.OKHeader:
			ok, err := wire.ParseOK(payload, c.caps)
			c.status = ok.Status
			return err
		case wire.ErrHeader:
			return c.serverError(payload)
		case wire.EOFHeader:
			plugin, salt, err := wire.ParseAuthSwitch(payload)
			if err != nil {
				return err
			}
			if plugin == ed25519Plugin {
				salt = payload[max(0, len(payload)-ed25519Salt):] // it ends with no NUL, but may end with a zero
			}
			a.plugin, a.salt = plugin, append([]byte(nil), salt...)
			if answer, err = a.answer(c.secure); err != nil {
				return &UnansweredError{err}
			}
		case wire.AuthMoreHeader:
			more, err := wire.ParseAuthMore(payload)
			if err != nil {
				return err
			}
			var quiet bool
			if answer, quiet, err = a.goOn(more, c.secure); err != nil {
				return err
			}
			if quiet {
				continue
			}
		default:
			return c.lost(errors.New("unknown packet during login"))
		}
		if err := c.writePacket(answer); err != nil {
			return err
		}
	}
	return c.lost(errors.New("login does not end"))
}

// authentication is the client's side of an authentication plugin.
type authentication struct {
	password string
	plugin   string
	salt     []byte
}

// answer is what the plugin sends first.
func (a *authentication) answer(secure bool) ([]byte, error) {
	switch a.plugin {
	case wire.NativePassword:
		return wire.ScrambleNative(a.password, a.salt), nil
	case wire.CachingSHA2Password:
		return wire.ScrambleCachingSHA2(a.password, a.salt), nil
	case ed25519Plugin:
		return signEd25519(a.password, a.salt), nil
	case wire.ClearPassword:
		if !secure {
			return nil, errors.New("the server asks for the password in clear text, which needs TLS")
		}
		return append([]byte(a.password), 0), nil
	}
	return nil, fmt.Errorf("authentication plugin %q is not supported; use %s or %s", a.plugin, wire.CachingSHA2Password, wire.NativePassword)
}

// goOn answers what caching_sha2_password asks after its scramble; quiet means that there is nothing to say.
func (a *authentication) goOn(data []byte, secure bool) (answer []byte, quiet bool, err error) {
	switch {
	case a.plugin != wire.CachingSHA2Password || len(data) == 0:
		return nil, false, fmt.Errorf("unexpected packet for authentication plugin %q", a.plugin)
	case data[0] == wire.SHA2FastOK:
		return nil, true, nil
	case data[0] == wire.SHA2FullAuth && secure:
		return append([]byte(a.password), 0), false, nil
	case data[0] == wire.SHA2FullAuth:
		return []byte{wire.SHA2RequestKey}, false, nil
	case strings.HasPrefix(string(data), "-----BEGIN"):
		block, _ := pem.Decode(data)
		if block == nil {
			return nil, false, errors.New("the server's public key is damaged")
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, false, fmt.Errorf("the server's public key: %w", err)
		}
		pub, ok := key.(*rsa.PublicKey)
		if !ok {
			return nil, false, errors.New("the server's public key is not RSA")
		}
		answer, err = wire.EncryptPassword(a.password, a.salt, pub)
		return answer, false, err
	}
	return nil, false, errors.New("caching_sha2_password: unknown packet")
}
