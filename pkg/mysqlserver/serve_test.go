package mysqlserver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"io"
	mathrand "math/rand/v2"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// packets is commands as they stand on the wire.
func packets(commands ...string) (b []byte) {
	for _, c := range commands {
		seq := byte(0)
		b = wire.AppendPacket(b, &seq, []byte(c))
	}
	return b
}

// Commands sent in one piece, or cut anywhere, are answered one by one in order.
func TestPipelinedCommands(t *testing.T) {
	clients(t, mysqlserver.Config{}, func(t *testing.T, s *toy, r *rawClient) {
		var all []string
		var sizes []int
		rnd := mathrand.New(mathrand.NewPCG(1, 2))
		for i := range 300 {
			size := 10 + rnd.IntN(50)
			if i%30 == 0 {
				size = 1000 + rnd.IntN(100_000)
			}
			all = append(all, "\x03len "+string(bytes.Repeat([]byte("x"), size)))
			sizes = append(sizes, 4+5+size)
			if i%7 == 0 {
				all = append(all, "\x19\x01\x00\x00\x00") // COM_STMT_CLOSE, never answered
			}
		}
		stream := packets(all...)
		sent := make(chan error, 1)
		go func() {
			for len(stream) > 0 {
				n := min(len(stream), 1+rnd.IntN(30_000))
				if _, err := r.nc.Write(stream[:n]); err != nil {
					sent <- err
					return
				}
				stream = stream[n:]
			}
			sent <- nil
		}()
		if _, compressed := r.nc.(*wire.CompressedConn); compressed {
			require.NoError(t, <-sent) // one goroutine at a time may use it, and the answers are small
		}
		for _, size := range sizes {
			r.seq = 1
			ok, err := wire.ParseOK(r.read(), r.caps)
			require.NoError(t, err)
			require.Equal(t, uint64(size), ok.AffectedRows)
		}
	})
}

// Commands without an answer must not put the connection to sleep with something unread behind them.
func TestCloseThenQuit(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	for range 200 {
		r := dialRaw(t, "tcp", s.addr)
		r.login("open", "", 0)
		_, err := r.nc.Write(packets("\x19\x01\x00\x00\x00"))
		require.NoError(t, err)
		_, err = r.nc.Write(packets("\x01"))
		require.NoError(t, err)
		r.wantEnd()
	}
}

func TestCloseWithoutQuit(t *testing.T) {
	s := startToy(t, mysqlserver.Config{ReadTimeout: 100 * time.Millisecond}) // makes the watcher look often
	for _, last := range []string{"", "\x19\x01\x00\x00\x00", "\x03x"} {
		for _, how := range []string{"close", "half", "reset"} {
			r := dialRaw(t, "tcp", s.addr)
			r.login("open", "", 0)
			if last != "" {
				_, err := r.nc.Write(packets(last))
				require.NoError(t, err)
			}
			switch tcp := r.nc.(*net.TCPConn); how {
			case "half":
				require.NoError(t, tcp.CloseWrite())
			case "reset":
				require.NoError(t, tcp.SetLinger(0))
				fallthrough
			default:
				require.NoError(t, tcp.Close())
			}
			eventually(t, "the connection ends", func() bool { return s.server.Len() == 0 })
		}
	}
}

func TestDrain(t *testing.T) {
	for _, caps := range []wire.Capability{0, wire.CapSSL, wire.CapCompress} {
		s := startToy(t, mysqlserver.Config{HandshakeTimeout: wait, DrainTimeout: wait})
		idle, busy, half := dialRaw(t, "tcp", s.addr), dialRaw(t, "tcp", s.addr), dialRaw(t, "tcp", s.addr)
		knocking := dialRaw(t, "tcp", s.addr)
		idle.login("open", "", caps)
		idle.query("x")
		busy.login("open", "", caps)
		half.login("open", "", 0)
		_, err := half.nc.Write([]byte("\x09\x00\x00\x00\x03"))
		require.NoError(t, err)
		knocking.hello()
		busy.send(wire.ComQuery, "hold")
		<-s.held
		s.stop()
		idle.wantEnd() // without a word that it would take for its next answer
		knocking.wantErr(sqlerr.ServerShutdown)
		_, err = net.Dial("tcp", s.addr)
		require.Error(t, err)
		close(s.release)
		assert.Equal(t, byte(wire.OKHeader), busy.read()[0], "the statement is answered")
		busy.wantEnd()
	}
	// A statement that does not come to its end is not waited for.
	s := startToy(t, mysqlserver.Config{DrainTimeout: 10 * time.Millisecond})
	r := dialRaw(t, "tcp", s.addr)
	r.login("open", "", 0)
	r.send(wire.ComQuery, "rows 1000000 100000")
	s.stop()
	eventually(t, "the server ends", func() bool { return s.server.Len() == 0 })
}

func TestUnixSocketFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.sock")
	cfg := mysqlserver.Config{UnixSocket: path, ServerVersion: func() string { return "9" }, NewHandler: func(*mysqlserver.Conn) mysqlserver.Handler { return nil }}
	first, err := mysqlserver.Listen(cfg)
	require.NoError(t, err)
	_, err = mysqlserver.Listen(cfg)
	require.Error(t, err, "another server lives there")
	first.Close()
	// What a killed process leaves behind.
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	second, err := mysqlserver.Listen(cfg)
	require.NoError(t, err)
	second.Close()
	_, err = mysqlserver.Listen(mysqlserver.Config{ServerVersion: cfg.ServerVersion, NewHandler: cfg.NewHandler})
	require.Error(t, err)
}

// echo answers every command with OK, without allocating.
type echo struct{ c *mysqlserver.Conn }

func (e *echo) Account(string) *catalog.Account {
	return &catalog.Account{AuthPlugin: wire.CachingSHA2Password}
}
func (e *echo) Authenticated(catalog.AccountName, string, map[string]string) error { return nil }
func (e *echo) Refused() error                                                     { return nil }
func (e *echo) Close()                                                             {}
func (e *echo) Handle(wire.Command, []byte) error                                  { return e.c.WriteOK(wire.OK{}) }

func startEcho(t testing.TB) string {
	key, err := rsa.GenerateKey(rand.Reader, 2048) // not in the background of what is measured
	require.NoError(t, err)
	s, err := mysqlserver.Listen(mysqlserver.Config{Addr: "127.0.0.1:0", ServerVersion: func() string { return "10.11.14-MariaDB" }, RSAKey: key,
		NewHandler: func(c *mysqlserver.Conn) mysqlserver.Handler { return &echo{c} }})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return s.Addr().String()
}

// An idle connection costs little, whatever it did before.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const n, limit = 1000, 12 << 10
	addr := startEcho(t)
	var clients []*rawClient
	open := func(n int) {
		for range n {
			r := dialRaw(t, "tcp", addr)
			r.login("x", "", 0)
			r.send(wire.ComQuery, string(bytes.Repeat([]byte("x"), 100_000)))
			r.read()
			clients = append(clients, r)
		}
	}
	open(50)
	used := func() uint64 {
		for range 6 { // each collection gives back half of a stack that is too large, and the pools' buffers
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	open(n)
	// The clients' side of this process is part of the figure.
	each := (used() - before) / n
	t.Logf("%d bytes for each idle connection, its client included", each)
	assert.Less(t, each, uint64(limit))
	runtime.KeepAlive(clients)
}

func BenchmarkCommand(b *testing.B) {
	r := dialRaw(b, "tcp", startEcho(b))
	r.login("x", "", 0)
	require.NoError(b, r.base.SetDeadline(time.Time{}))
	request := packets("\x03select 1")
	answer := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.nc.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadAtLeast(r.nc, answer, 11); err != nil {
			b.Fatal(err)
		}
	}
}
