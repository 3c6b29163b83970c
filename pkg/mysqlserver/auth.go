package mysqlserver

import (
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"fmt"
	"net"
	"sync"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// login is one attempt to authenticate, at the start of a connection or by COM_CHANGE_USER.
type login struct {
	c          *Conn
	user       string
	salt       []byte
	plugin     string           // the client's, by which reply was made
	reply      []byte           // what the client proves itself with
	mustSwitch bool             // reply is not to be trusted to belong to plugin and salt
	account    *catalog.Account // of the client, when it has proved to be user
}

// What an unknown user is verified against: nobody's authentication strings.
const (
	nobodyNative = "*0000000000000000000000000000000000000000"
	nobodySHA2   = "$A$005$....................nobody's.password.ever.has.this.digest......"
)

// authenticate returns nil if the client has proved to be user; AccessDenied if not, whatever the reason. A user who
// does not exist, or may not come from where the client is, gets the same packets at the same pace as one who does. account is set then.
func (l *login) authenticate() error {
	account := l.c.handler.Account(l.user)
	if account != nil && account.LoopbackOnly && !l.c.fromHere() {
		account = nil
	}
	var plugin, authString string
	if account != nil {
		plugin, authString = account.AuthPlugin, account.AuthString
		if err := wire.CheckAuthString(plugin, authString); err != nil {
			l.c.server.cfg.Log.Error("account cannot log in", "user", l.user, "error", err)
			account = nil
		}
	}
	if account == nil {
		plugin, authString = l.c.server.nobody(l.user)
	}
	if authString == "" && (l.plugin == wire.NativePassword || l.plugin == wire.CachingSHA2Password) {
		plugin, l.mustSwitch = l.plugin, false // no reply is right but none, by either
	}
	if !l.c.caps.Has(wire.CapPluginAuth) {
		if plugin != wire.NativePassword {
			return sqlerr.UnsupportedAuthMode.New()
		}
	} else if l.mustSwitch || l.plugin != plugin {
		if err := l.switchTo(plugin); err != nil {
			return err
		}
	}
	withPassword := "NO"
	if len(l.reply) > 0 && !(len(l.reply) == 1 && l.reply[0] == 0) { // caching_sha2_password sends one NUL for no password
		withPassword = "YES"
	}
	ok := false
	var err error
	switch {
	case plugin == wire.NativePassword:
		if withPassword == "NO" {
			l.reply = nil
		}
		ok = wire.VerifyNativeScramble(authString, l.reply, l.salt)
	case withPassword == "NO":
		ok = authString == ""
	default:
		if ok, err = l.cachingSHA2(account, authString); err != nil {
			return err
		}
	}
	switch {
	case !ok || account == nil || account.RequireTLS && l.c.tls == nil:
		return sqlerr.AccessDenied.New(l.user, l.c.Host(), withPassword)
	case !account.Locked:
		l.account = account
		return nil
	case l.c.server.mariadb():
		return sqlerr.AccountIsLocked.New()
	}
	return sqlerr.AccountLocked.New(l.user, l.c.Host())
}

// switchTo asks the client to begin again with plugin and a salt of its own.
func (l *login) switchTo(plugin string) error {
	salt := make([]byte, wire.SaltLen)
	newSalt(salt)
	if err := l.c.EndPacket(wire.AppendAuthSwitch(l.c.BeginPacket(), plugin, salt)); err != nil {
		return err
	}
	reply, err := l.c.ReadPacket()
	if err != nil {
		return err
	}
	l.plugin, l.salt, l.reply = plugin, salt, append([]byte(nil), reply...)
	return nil
}

// cachingSHA2 runs caching_sha2_password for a password that is not empty:
//
//	C scramble ─► S remembers the user's stage 2 and it matches ─► S FastOK
//	         └──► S FullAuth ─► C password, over TLS or a Unix socket
//	                       └──► C RequestKey ─► S public key ─► C password, encrypted
//	                       └──► C password, encrypted with a key it has
//
// The user's password is verified against authString, account is nil for a user who does not exist.
func (l *login) cachingSHA2(account *catalog.Account, authString string) (bool, error) {
	c, s := l.c, l.c.server
	if account != nil {
		if stage2, known := s.passwords.get(account.Name, authString); known && stage2.Verify(l.reply, l.salt) {
			// It leaves together with the OK that follows.
			return true, c.EndPacket(wire.AppendAuthMore(c.BeginPacket(), []byte{wire.SHA2FastOK}))
		}
	}
	if err := c.EndPacket(wire.AppendAuthMore(c.BeginPacket(), []byte{wire.SHA2FullAuth})); err != nil {
		return false, err
	}
	password, err := l.readPassword()
	if err != nil {
		return false, err
	}
	against := authString
	if against == "" {
		against = nobodySHA2
	}
	s.costly <- struct{}{}
	ok := wire.VerifyCachingSHA2(against, password)
	<-s.costly
	if ok && account != nil {
		s.passwords.put(account.Name, authString, wire.NewSHA2Stage2(password))
	}
	return ok, nil
}

// readPassword reads the password itself. One that cannot be decrypted is a wrong one: "", which no account it is asked for has.
func (l *login) readPassword() (string, error) {
	c := l.c
	packet, err := c.ReadPacket()
	if err != nil {
		return "", err
	}
	if c.Secure() && !(len(packet) == 1 && packet[0] == wire.SHA2RequestKey) {
		if n := len(packet); n > 0 && packet[n-1] == 0 {
			packet = packet[:n-1]
		}
		return string(packet), nil
	}
	key, public, err := c.server.keys.rsa()
	if err != nil {
		return "", fmt.Errorf("make an RSA key: %w", err)
	}
	if len(packet) == 1 && packet[0] == wire.SHA2RequestKey {
		if err := c.EndPacket(wire.AppendAuthMore(c.BeginPacket(), public)); err != nil {
			return "", err
		}
		if packet, err = c.ReadPacket(); err != nil {
			return "", err
		}
	}
	return l.decrypt(packet, key), nil
}

func (l *login) decrypt(packet []byte, key *rsa.PrivateKey) string {
	s := l.c.server
	s.costly <- struct{}{}
	defer func() { <-s.costly }()
	password, err := wire.DecryptPassword(packet, l.salt, key)
	if err != nil {
		// A password that cannot be right but costs what any other does.
		return "\x00"
	}
	return password
}

// fromHere reports whether the client is on this machine; a loopback address that a load balancer elsewhere tells is one of its own machine.
func (c *Conn) fromHere() bool {
	loopback := func(addr net.Addr) bool {
		a, ok := addr.(*net.TCPAddr)
		return ok && a.IP.IsLoopback()
	}
	return c.unix || loopback(c.nc.RemoteAddr()) && loopback(c.remote)
}

// nobody returns the plugin and authentication string of a user who does not exist: always the same plugin for the same
// name, so that asking twice tells nothing.
func (s *Server) nobody(user string) (plugin, authString string) {
	h := hmac.New(sha256.New, s.cfg.Secret)
	h.Write([]byte(user))
	if h.Sum(nil)[0] < 64 {
		return wire.NativePassword, nobodyNative
	}
	return wire.CachingSHA2Password, nobodySHA2
}

// maxPasswords bounds the cache; the users of a cluster are fewer.
const maxPasswords = 10000

// passwordCache remembers the stage 2 of passwords that were verified in full, so that the next login of the same user is
// cheap and needs neither TLS nor RSA. The authentication string is part of the key: a changed password is another entry.
type passwordCache struct {
	mu sync.RWMutex // guards m
	m  map[passwordKey]wire.SHA2Stage2
}

type passwordKey struct {
	name       catalog.AccountName
	authString string
}

func newPasswordCache() *passwordCache {
	return &passwordCache{m: make(map[passwordKey]wire.SHA2Stage2)}
}

func (p *passwordCache) get(name catalog.AccountName, authString string) (wire.SHA2Stage2, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	s, ok := p.m[passwordKey{name, authString}]
	return s, ok
}

func (p *passwordCache) put(name catalog.AccountName, authString string, s wire.SHA2Stage2) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.m) >= maxPasswords {
		for k := range p.m { // any: it costs its user one full authentication
			delete(p.m, k)
			break
		}
	}
	p.m[passwordKey{name, authString}] = s
}
