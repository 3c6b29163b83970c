package mysqlserver_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// clients runs test with a client logged in on each kind of connection.
func clients(t *testing.T, cfg mysqlserver.Config, test func(t *testing.T, s *toy, r *rawClient)) {
	for _, kind := range []struct {
		name, network string
		caps          wire.Capability
	}{
		{"tcp", "tcp", 0}, {"unix", "unix", 0}, {"TLS", "tcp", wire.CapSSL}, {"zlib", "tcp", wire.CapCompress}, {"zstd", "unix", wire.CapZstd},
		{"TLS and zstd", "tcp", wire.CapSSL | wire.CapZstd},
	} {
		t.Run(kind.name, func(t *testing.T) {
			s := startToy(t, cfg)
			addr := s.addr
			if kind.network == "unix" {
				addr = s.unix
			}
			r := dialRaw(t, kind.network, addr)
			r.login("open", "", kind.caps)
			bystander := dialRaw(t, "tcp", s.addr)
			bystander.login("open", "", 0)
			test(t, s, r)
			bystander.query("nothing happened to others")
		})
	}
}

func TestWrongSequence(t *testing.T) {
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.query("x")
		r.seq = 7
		r.write([]byte("\x03select 1"))
		r.wantErr(sqlerr.NetPacketOutOfOrder)
		r.wantEnd()
	})
}

// A session that panics when it ends takes nobody along, and leaves nothing behind.
func TestPanicAtTheEnd(t *testing.T) {
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.query("panic-at-end")
		r.send(wire.ComQuit, "")
		r.wantEnd()
		eventually(t, "the session ends", func() bool { return s.server.Len() == 1 })
	})
	s := startToy(t, mysqlserver.Config{})
	require.NoError(t, s.server.Inside("open", "", func(h mysqlserver.Handler) error { return h.Handle(wire.ComQuery, []byte("panic-at-end")) }))
	require.Zero(t, s.server.Len())
}

func TestOversize(t *testing.T) {
	clients(t, mysqlserver.Config{MaxAllowedPacket: 1 << 20}, func(t *testing.T, s *toy, r *rawClient) {
		r.query(strings.Repeat("x", 1<<20-1))
		r.send(wire.ComQuery, strings.Repeat("x", 1<<20))
		r.wantErr(sqlerr.PacketTooLarge)
		r.wantEnd()
	})
}

// A client that closes its sending half in the middle of a packet still reads why that was the end.
func TestHalfSentPacket(t *testing.T) {
	for _, bytes := range []string{"\x05", "\x05\x00\x00\x00", "\x05\x00\x00\x00\x03se"} {
		s := startToy(t, mysqlserver.Config{})
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", 0)
		r.query("x")
		_, err := r.nc.Write([]byte(bytes))
		require.NoError(t, err)
		require.NoError(t, r.nc.(*net.TCPConn).CloseWrite())
		r.seq = 1
		r.wantErr(sqlerr.PacketReadError)
		r.wantEnd()
	}
}

func TestReadTimeout(t *testing.T) {
	clients(t, mysqlserver.Config{ReadTimeout: 50 * time.Millisecond}, func(t *testing.T, s *toy, r *rawClient) {
		r.query("x")
		if z, ok := r.nc.(*wire.CompressedConn); ok {
			z.ResetSequence()
		}
		_, err := r.nc.Write([]byte("\x05\x00\x00\x00\x03se"))
		require.NoError(t, err)
		r.seq = 1
		r.wantErr(sqlerr.NetReadInterrupted)
		r.wantEnd()
	})
}

// Who has logged in may say nothing for as long as the server's Config says, or the session itself.
func TestIdleTimeout(t *testing.T) {
	all := []wire.Capability{0, wire.CapSSL, wire.CapCompress}
	s := startToy(t, mysqlserver.Config{IdleTimeout: 50 * time.Millisecond})
	for _, caps := range all {
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", caps)
		r.wantEnd()
	}
	s = startToy(t, mysqlserver.Config{})
	var own []*rawClient // of sessions with a timeout of their own
	for _, caps := range all {
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", caps)
		r.query("timeouts 1h 1h 50ms")
		own = append(own, r)
	}
	for _, r := range own {
		r.wantEnd()
	}
}

func TestWriteTimeout(t *testing.T) {
	s := startToy(t, mysqlserver.Config{WriteTimeout: 50 * time.Millisecond})
	for _, caps := range []wire.Capability{0, wire.CapSSL, wire.CapCompress} {
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", caps)
		r.send(wire.ComQuery, "noise 1000000 100000")
		eventually(t, "the session ends", func() bool { return s.server.Len() == 0 })
	}
}

// A session's own timeouts stand in the place of those of all.
func TestNetTimeouts(t *testing.T) {
	s := startToy(t, mysqlserver.Config{ReadTimeout: time.Hour, WriteTimeout: time.Hour})
	r := dialRaw(t, "tcp", s.addr)
	r.login("open", "", 0)
	r.query("timeouts 1h 50ms 1h")
	r.send(wire.ComQuery, "noise 1000000 100000")
	eventually(t, "the session ends", func() bool { return s.server.Len() == 0 })
	r = dialRaw(t, "tcp", s.addr)
	r.login("open", "", 0)
	r.query("timeouts 50ms 1h 1h")
	_, err := r.nc.Write([]byte("\x05\x00\x00\x00\x03se"))
	require.NoError(t, err)
	r.seq = 1
	r.wantErr(sqlerr.NetReadInterrupted)
	r.wantEnd()
}

func TestHandshakeTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	silent, half := dialRaw(t, "tcp", l.Addr().String()), dialRaw(t, "tcp", l.Addr().String())
	_, err = half.nc.Write([]byte("\x20\x00\x00\x01half")) // before its time begins
	require.NoError(t, err)
	startToy(t, mysqlserver.Config{HandshakeTimeout: time.Second, Listeners: []net.Listener{l}})
	silent.hello()
	silent.wantErr(sqlerr.NetReadInterrupted)
	silent.wantEnd()
	half.hello()
	half.seq = 2
	half.wantErr(sqlerr.NetReadInterrupted)
	half.wantEnd()
}

// Whatever is sent instead of a login gets one error.
func TestGarbageInsteadOfLogin(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	for _, g := range []struct {
		bytes string
		seq   byte
		want  sqlerr.Code
	}{
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 'T' + 0, sqlerr.NetPacketOutOfOrder},
		{"\x01\x00\x00\x01x", 2, sqlerr.HandshakeError},
		{"\x00\x00\x00\x01", 2, sqlerr.HandshakeError},
		{"\x05\x00\x00\x02xxxxx", 1, sqlerr.NetPacketOutOfOrder},
		{"\xff\xff\xff\x01" + strings.Repeat("x", 1000), 2, sqlerr.PacketTooLarge},
		{"\x21\x00\x00\x01" + "\x00\x02\x00\x00" + strings.Repeat("\x00", 28) + "u", 2, sqlerr.HandshakeError},
	} {
		r := dialRaw(t, "tcp", s.addr)
		r.hello()
		_, err := r.nc.Write([]byte(g.bytes))
		require.NoError(t, err)
		require.NoError(t, r.nc.(*net.TCPConn).CloseWrite())
		all, err := io.ReadAll(r.nc)
		require.NoError(t, err)
		require.Greater(t, len(all), 4, "%q", g.bytes)
		e, err := wire.ParseErr(all[4:])
		require.NoError(t, err, "%q", all)
		assert.Equal(t, g.want, e.Code, "%q: %v", g.bytes, e)
	}
	// TLS was asked for and something else came.
	r := dialRaw(t, "tcp", s.addr)
	r.hello()
	r.write(wire.AppendSSLRequest(nil, wire.HandshakeResponse{Capabilities: wire.CapProtocol41 | wire.CapSSL}))
	_, err := r.nc.Write([]byte("no TLS this is, as anyone can see"))
	require.NoError(t, err)
	_, err = io.ReadAll(r.nc)
	require.NoError(t, err)
	eventually(t, "all are gone", func() bool { return s.server.Len() == 0 })
}

func TestBrokenCompression(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	for _, caps := range []wire.Capability{wire.CapCompress, wire.CapZstd} {
		for _, frame := range []string{
			"\x05\x00\x00\x00\x00\x01\x00hello",
			"\x00\x00\x00\x00\x00\x01\x00",
		} {
			r := dialRaw(t, "tcp", s.addr)
			r.login("open", "", caps)
			_, err := r.base.Write([]byte(frame))
			require.NoError(t, err)
			r.seq = 0
			p := make([]byte, 7)
			_, err = io.ReadFull(r.base, p)
			require.NoError(t, err)
			rest, err := io.ReadAll(r.base)
			require.NoError(t, err)
			e, err := wire.ParseErr(rest[4:])
			require.NoError(t, err, "%q", rest)
			assert.Equal(t, sqlerr.NetUncompressError, e.Code)
		}
	}
}

func TestTooManyConnections(t *testing.T) {
	s := startToy(t, mysqlserver.Config{MaxConnections: 2})
	a, b := dialRaw(t, "tcp", s.addr), dialRaw(t, "tcp", s.addr)
	a.login("open", "", 0)
	b.login("open", "", 0)
	// A few may log in to show who they are. Administrators stay.
	s.mu.Lock()
	s.accounts["chief"] = &catalog.Account{Name: "chief", AuthPlugin: wire.CachingSHA2Password, Grants: map[string]catalog.Privilege{"*": catalog.All}}
	s.mu.Unlock()
	c := dialRaw(t, "tcp", s.addr)
	c.hello()
	c.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: "open", Plugin: wire.CachingSHA2Password})
	c.wantErr(sqlerr.TooManyConnections)
	c.wantEnd()
	eventually(t, "it has left", func() bool { return s.server.Len() == 2 })
	var chiefs []*rawClient
	for range 4 {
		chief := dialRaw(t, "tcp", s.addr)
		chief.login("chief", "", 0)
		chiefs = append(chiefs, chief)
	}
	d := dialRaw(t, "tcp", s.addr)
	d.wantErr(sqlerr.TooManyConnections)
	d.wantEnd()
	for _, r := range append(chiefs, a) {
		r.send(wire.ComQuit, "")
	}
	eventually(t, "they have left", func() bool { return s.server.Len() == 1 })
	dialRaw(t, "tcp", s.addr).login("open", "", 0)
}

func TestTerminate(t *testing.T) {
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.query("x")
		s.server.Conn(r.id).Terminate(sqlerr.QueryInterrupted.New())
		r.wantEnd() // it has asked for nothing
	})
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.send(wire.ComQuery, "hold")
		<-s.held
		s.server.Conn(r.id).Terminate(nil)
		close(s.release)
		_, err := io.ReadAll(r.nc)
		require.NoError(t, err)
	})
}

func TestHandlerFailures(t *testing.T) {
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.send(wire.ComQuery, "refuse")
		r.wantErr(sqlerr.NoSuchTable)
		r.send(200, "")
		r.wantErr(sqlerr.UnknownCommand)
		r.seq = 0
		r.write(nil)
		r.wantErr(sqlerr.UnknownCommand)
		r.send(wire.ComQuery, "late") // neither an answer that may not be true nor two answers
		r.wantEnd()
	})
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.send(wire.ComQuery, "panic")
		r.wantErr(sqlerr.Internal)
		r.wantEnd()
	})
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		r.send(wire.ComQuery, "broken")
		r.wantEnd()
	})
}
