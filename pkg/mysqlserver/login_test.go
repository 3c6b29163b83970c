package mysqlserver_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlserver"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

func ping(t *testing.T, dsn string) error {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	return db.Ping()
}

func mysqlError(t *testing.T, err error) *mysql.MySQLError {
	t.Helper()
	var e *mysql.MySQLError
	require.ErrorAs(t, err, &e)
	return e
}

func TestDriverLogsIn(t *testing.T) {
	for _, announced := range []string{wire.CachingSHA2Password, wire.NativePassword} {
		s := startToy(t, mysqlserver.Config{AuthPlugin: announced})
		for _, params := range []string{"", "tls=skip-verify", "compress=true", "tls=skip-verify&compress=true"} {
			for _, addr := range []string{s.addr, s.unix} {
				if addr == s.unix && params != "" {
					continue // the driver has no TLS there
				}
				for user, password := range map[string]string{"sha": "secret", "native": "secret", "open": "", "bare": "", "local": ""} {
					assert.NoError(t, ping(t, dsn(user, password, addr, params)), "%s %s %s", announced, user, params)
				}
				for user, password := range map[string]string{"sha": "wrong", "native": "wrong", "open": "x", "bare": "x", "local": "x", "nobody": "x", "someone": "x", "odd": "x"} {
					e := mysqlError(t, ping(t, dsn(user, password, addr, params)))
					assert.Equal(t, uint16(1045), e.Number, "%s %v", user, e)
					assert.Equal(t, "28000", string(e.SQLState[:]))
					assert.Equal(t, "Access denied for user '"+user+"'@'localhost' (using password: YES)", e.Message)
				}
				e := mysqlError(t, ping(t, dsn("locked", "secret", addr, params)))
				assert.Equal(t, uint16(4151), e.Number, "%v", e) // MariaDB's
				assert.Equal(t, uint16(1045), mysqlError(t, ping(t, dsn("locked", "wrong", addr, params))).Number)
				if strings.Contains(params, "tls") {
					assert.NoError(t, ping(t, dsn("tls", "secret", addr, params)))
				} else {
					assert.Equal(t, uint16(1045), mysqlError(t, ping(t, dsn("tls", "secret", addr, params))).Number)
				}
				for _, user := range []string{"sha", "native", "nobody", "someone"} {
					e := mysqlError(t, ping(t, dsn(user, "", addr, params)))
					assert.Equal(t, uint16(1045), e.Number, "%s %v", user, e)
					assert.Contains(t, e.Message, "(using password: NO)")
				}
			}
		}
	}
}

// The first login of a caching_sha2_password user sends the password, the next ones do not, until it changes.
func TestFastPath(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	first := func(password string) byte {
		r := dialRaw(t, "tcp", s.addr)
		r.hello()
		r.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: "sha", Plugin: wire.CachingSHA2Password, Auth: wire.ScrambleCachingSHA2(password, r.salt)})
		return r.read()[1]
	}
	assert.Equal(t, byte(wire.SHA2FullAuth), first("secret"))
	require.NoError(t, ping(t, dsn("sha", "secret", s.addr, "")))
	assert.Equal(t, byte(wire.SHA2FastOK), first("secret"))
	assert.Equal(t, byte(wire.SHA2FullAuth), first("wrong"))
	h, err := wire.HashCachingSHA2("secret")
	require.NoError(t, err)
	changed := *s.accounts["sha"]
	changed.AuthString = h
	s.mu.Lock()
	s.accounts["sha"] = &changed
	s.mu.Unlock()
	assert.Equal(t, byte(wire.SHA2FullAuth), first("secret"))
}

// Who needs no password is asked for none by another plugin than the client's, which may not have it: MySQL's has no mysql_native_password since
// version 9, MariaDB's often no caching_sha2_password.
func TestNoPasswordByEitherPlugin(t *testing.T) {
	for _, announced := range []string{wire.CachingSHA2Password, wire.NativePassword} {
		s := startToy(t, mysqlserver.Config{AuthPlugin: announced})
		for _, user := range []string{"open", "bare"} {
			for _, plugin := range []string{wire.CachingSHA2Password, wire.NativePassword} {
				r := dialRaw(t, "tcp", s.addr)
				r.hello()
				r.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: user, Plugin: plugin})
				assert.Equal(t, byte(0), r.read()[0], "%s by %s, announced %s", user, plugin, announced)
			}
		}
	}
}

// An unknown user sees the packets a known one sees who errs.
func TestUnknownUserIsNotTold(t *testing.T) {
	s := startToy(t, mysqlserver.Config{Secret: []byte("fixed")})
	trace := func(user string) (seen []string) {
		r := dialRaw(t, "tcp", s.addr)
		r.hello()
		r.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: user, Plugin: wire.CachingSHA2Password, Auth: wire.ScrambleCachingSHA2("wrong", r.salt)})
		for {
			p := r.read()
			switch p[0] {
			case wire.EOFHeader:
				plugin, salt, err := wire.ParseAuthSwitch(p)
				require.NoError(t, err)
				seen = append(seen, "switch "+plugin)
				r.write(wire.ScrambleNative("wrong", salt))
			case wire.AuthMoreHeader:
				seen = append(seen, "full")
				r.write(make([]byte, 256))
			case wire.ErrHeader:
				return append(seen, "err")
			default:
				t.Fatalf("unexpected %q", p)
			}
		}
	}
	assert.Equal(t, []string{"full", "err"}, trace("sha"))
	assert.Equal(t, []string{"full", "err"}, trace("open"))
	assert.Equal(t, []string{"switch mysql_native_password", "err"}, trace("native"))
	sha2, native := 0, 0
	for _, user := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"} {
		got := trace(user)
		assert.Equal(t, got, trace(user), "the same each time")
		switch got[0] {
		case "full":
			sha2++
		case "switch mysql_native_password":
			native++
		}
	}
	assert.NotZero(t, sha2)
	assert.NotZero(t, native)
	assert.Equal(t, 16, sha2+native)
}

func TestRequireTLS(t *testing.T) {
	s := startToy(t, mysqlserver.Config{RequireTLS: true})
	for _, user := range []string{"open", "nobody"} {
		assert.Equal(t, uint16(3159), mysqlError(t, ping(t, dsn(user, "", s.addr, ""))).Number)
	}
	assert.NoError(t, ping(t, dsn("sha", "secret", s.addr, "tls=skip-verify")))
	assert.NoError(t, ping(t, dsn("sha", "secret", s.unix, "")))
}

func TestHandlerRefusesLogin(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	err := ping(t, "open@tcp("+s.addr+")/nosuch")
	assert.Equal(t, uint16(1049), mysqlError(t, err).Number)
}

func TestHandshakeByServerVersion(t *testing.T) {
	for version, want := range map[string]struct {
		longPassword bool
		collation    uint8
		extended     wire.Capability
	}{"5.5.5-10.11.14-MariaDB": {false, 45, wire.CapMariaExtendedTypes}, "11.8.2-MariaDB-log": {false, 45, wire.CapMariaExtendedTypes}, "9.7.0": {true, 255, 0}} {
		s := startToy(t, mysqlserver.Config{ServerVersion: func() string { return version }, IDBase: func() uint32 { return 5 << 24 }, IDBits: 24})
		r := dialRaw(t, "tcp", s.addr)
		h := r.hello()
		assert.Equal(t, version, h.ServerVersion)
		assert.Equal(t, want.longPassword, h.Capabilities.Has(wire.CapLongPassword))
		assert.Equal(t, want.collation, h.Collation)
		assert.Equal(t, want.extended, h.Capabilities>>32<<32)
		assert.Equal(t, uint32(5<<24+1), h.ConnectionID)
		assert.False(t, h.Capabilities.Has(wire.CapQueryAttributes))
		assert.NotContains(t, string(h.Salt), "\x00")
		r.nc.Close()
	}
}

// A client from before plugins can use mysql_native_password and nothing else.
func TestOldClient(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	login := func(user string, caps wire.Capability) *rawClient {
		r := dialRaw(t, "tcp", s.addr)
		r.hello()
		r.respond(wire.HandshakeResponse{Capabilities: caps, User: user, Auth: wire.ScrambleNative("secret", r.salt)})
		return r
	}
	r := login("native", wire.CapProtocol41|wire.CapSecureConnection)
	assert.Equal(t, byte(wire.OKHeader), r.read()[0])
	login("sha", wire.CapProtocol41|wire.CapSecureConnection).wantErr(sqlerr.UnsupportedAuthMode)
	login("native", wire.CapSecureConnection).wantErr(sqlerr.HandshakeError)
}

func TestChangeUser(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	require.NoError(t, ping(t, dsn("sha", "secret", s.addr, "")))
	for _, caps := range []wire.Capability{0, wire.CapSSL, wire.CapCompress, wire.CapZstd} {
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", caps)
		change := func(user, password string) {
			r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil, wire.ChangeUser{User: user, DB: "db2", Collation: 33, Plugin: wire.CachingSHA2Password}, r.caps)))
			plugin, salt, err := wire.ParseAuthSwitch(r.read())
			require.NoError(t, err)
			if plugin == wire.NativePassword {
				r.write(wire.ScrambleNative(password, salt))
			} else {
				r.write(wire.ScrambleCachingSHA2(password, salt))
			}
		}
		change("native", "secret")
		assert.Equal(t, byte(wire.OKHeader), r.read()[0])
		change("native", "wrong")
		r.wantErr(sqlerr.AccessDenied)
		r.query("still here")
		change("sha", "secret")
		assert.Equal(t, []byte{wire.AuthMoreHeader, wire.SHA2FastOK}, r.read())
		assert.Equal(t, byte(wire.OKHeader), r.read()[0])
		r.send(wire.ComQuery, "whoami")
		var last []byte
		for range 5 {
			last = r.read()
		}
		_ = last
		assert.Equal(t, byte(wire.EOFHeader), r.read()[0])
		for range 2 {
			change("native", "wrong")
			r.wantErr(sqlerr.AccessDenied)
		}
		for range 2 {
			r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil, wire.ChangeUser{User: "open"}, r.caps)))
			r.wantErr(sqlerr.UnknownCommand)
		}
		r.query("still here")
	}
}

// On MySQL a wrong password is the end of the connection.
func TestChangeUserInVain(t *testing.T) {
	s := startToy(t, mysqlserver.Config{ServerVersion: func() string { return "9.7.0" }})
	r := dialRaw(t, "tcp", s.addr)
	r.login("open", "", 0)
	r.send(wire.ComChangeUser, string(wire.AppendChangeUser(nil, wire.ChangeUser{User: "native", Plugin: wire.NativePassword}, r.caps)))
	_, salt, err := wire.ParseAuthSwitch(r.read())
	require.NoError(t, err)
	r.write(wire.ScrambleNative("wrong", salt))
	r.wantErr(sqlerr.AccessDenied)
	r.wantEnd()
}

func TestDriverErrorsAreTheHandlers(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	db, err := sql.Open("mysql", dsn("open", "", s.addr, ""))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec("refuse")
	assert.Equal(t, uint16(1146), mysqlError(t, err).Number)
	var e *mysql.MySQLError
	_, err = db.Exec("broken")
	assert.Error(t, err)
	assert.False(t, errors.As(err, &e))
	_, err = db.Exec("panic")
	assert.Equal(t, uint16(1815), mysqlError(t, err).Number)
	assert.NoError(t, db.Ping())
}
