package mysqlserver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

const wait = time.Minute // for events that must happen; never slept through

// toy is a server whose sessions understand a few made-up statements:
//
//	rows N LEN       N rows of LEN bytes
//	len              the statement's length, as affected rows
//	whoami           user, database, attribute program
//	whence           the client's address, in the OK's text
//	infile           asks for a file, answers its length as affected rows
//	hold             waits for release
//	timeouts R W I   the session's own: to read, to write, and idle
//	panic, panic-at-end, broken, refuse, late   the ways to fail
//
// Everything else is answered OK.
type toy struct {
	server   *mysqlserver.Server
	addr     string
	unix     string
	accounts map[string]*catalog.Account
	opened   atomic.Int64
	closed   atomic.Int64
	held     chan struct{} // receives when a statement holds
	release  chan struct{}
	stop     context.CancelFunc
	ended    chan error
	mu       sync.Mutex // guards attrs, accounts
	attrs    map[string]string
}

type toySession struct {
	t        *toy
	c        *mysqlserver.Conn
	user, db string
	// panicsLater: Close panics.
	panicsLater bool
}

func startToy(t testing.TB, cfg mysqlserver.Config) *toy {
	t.Helper()
	sha2, err := wire.HashCachingSHA2("secret")
	require.NoError(t, err)
	s := &toy{
		accounts: map[string]*catalog.Account{
			"sha":    {Name: "sha", AuthPlugin: wire.CachingSHA2Password, AuthString: sha2},
			"native": {Name: "native", AuthPlugin: wire.NativePassword, AuthString: wire.HashNative("secret")},
			"open":   {Name: "open", AuthPlugin: wire.CachingSHA2Password},
			"bare":   {Name: "bare", AuthPlugin: wire.NativePassword},
			"local":  {Name: "local", AuthPlugin: wire.CachingSHA2Password, LoopbackOnly: true},
			"locked": {Name: "locked", AuthPlugin: wire.CachingSHA2Password, AuthString: sha2, Locked: true},
			"tls":    {Name: "tls", AuthPlugin: wire.CachingSHA2Password, AuthString: sha2, RequireTLS: true},
			"odd":    {Name: "odd", AuthPlugin: "dialog", AuthString: "x"},
		},
		held:    make(chan struct{}, 100),
		release: make(chan struct{}),
		ended:   make(chan error, 1),
	}
	s.unix = filepath.Join(t.TempDir(), "s.sock")
	if cfg.Addr == "" && len(cfg.Listeners) == 0 {
		cfg.Addr = "127.0.0.1:0"
		cfg.UnixSocket = s.unix
	}
	if cfg.ServerVersion == nil {
		cfg.ServerVersion = func() string { return "5.5.5-10.11.14-MariaDB" }
	}
	cfg.NewHandler = func(c *mysqlserver.Conn) mysqlserver.Handler {
		s.opened.Add(1)
		return asideSession{&toySession{t: s, c: c}}
	}
	if os.Getenv("SKARV_TEST_LOOPS") != "" && cfg.Loop == nil {
		loop, err := socket.NewLoop()
		require.NoError(t, err)
		loopCtx, stopLoop := context.WithCancel(context.Background())
		loopEnded := make(chan error, 1)
		go func() { loopEnded <- loop.Run(loopCtx) }()
		t.Cleanup(func() { // after the server's end, which is registered later
			stopLoop()
			require.NoError(t, <-loopEnded)
		})
		cfg.Loop = func() *socket.Loop { return loop }
	}
	s.server, err = mysqlserver.Listen(cfg)
	require.NoError(t, err)
	s.addr = s.server.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() { s.ended <- s.server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-s.ended:
			require.NoError(t, err)
		case <-time.After(wait):
			t.Error("the server did not end")
		}
		require.Equal(t, s.opened.Load(), s.closed.Load(), "each session is closed once")
		require.Zero(t, s.server.Len())
	})
	return s
}

// asideSession runs commands where they may wait; without a Loop that is where they run anyway.
type asideSession struct{ *toySession }

func (s asideSession) Handle(cmd wire.Command, payload []byte) (err error) {
	s.c.Task().Blocking(func() { err = s.toySession.Handle(cmd, payload) })
	return err
}

func (s *toySession) Account(user string) *catalog.Account {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.accounts[user]
}

func (s *toySession) Authenticated(own catalog.AccountName, db string, attrs map[string]string) error {
	if db == "nosuch" {
		return sqlerr.UnknownDatabase.New(db)
	}
	s.user, s.db = own.User(), db
	s.t.mu.Lock()
	s.t.attrs = attrs
	s.t.mu.Unlock()
	return nil
}

func (s *toySession) Refused() error {
	s.db = ""
	return nil
}

func (s *toySession) Close() {
	s.t.closed.Add(1)
	if s.panicsLater {
		panic("on request, at the end")
	}
}

func (s *toySession) Handle(cmd wire.Command, payload []byte) error {
	switch cmd {
	case wire.ComQuery:
		return s.query(string(payload))
	case wire.ComStatistics:
		return s.c.WritePacket([]byte("Uptime: 1"))
	case wire.ComStmtClose, wire.ComStmtSendLongData:
		return sqlerr.UnknownStatement.New("1", cmd) // nobody must see it
	case wire.ComInitDB:
		s.db = string(payload)
	case wire.ComResetConnection:
	default:
		return sqlerr.UnknownCommand.New()
	}
	return s.c.WriteOK(wire.OK{Status: wire.StatusAutocommit})
}

func (s *toySession) query(q string) error {
	if strings.HasPrefix(q, "len ") { // before its words are looked for: the race detector looks at each byte of them, and it is long
		return s.c.WriteOK(wire.OK{AffectedRows: uint64(len(s.c.Request())), Status: wire.StatusAutocommit})
	}
	words := strings.Fields(q + " .")
	switch words[0] {
	case "rows", "noise":
		n, _ := strconv.Atoi(words[1])
		size, _ := strconv.Atoi(words[2])
		row := bytes.Repeat([]byte("r"), size)
		if words[0] == "noise" {
			row = noise(size)
		}
		return s.result([]string{"r"}, n, [][]byte{row})
	case "whoami":
		s.t.mu.Lock()
		program := s.t.attrs["program_name"]
		s.t.mu.Unlock()
		return s.result([]string{"user", "db", "program"}, 1, [][]byte{[]byte(s.user), []byte(s.db), []byte(program)})
	case "whence":
		return s.c.WriteOK(wire.OK{Info: []byte(s.c.RemoteAddr().String())})
	case "infile":
		if err := s.c.WritePacket(append([]byte{wire.LocalHeader}, words[1]...)); err != nil {
			return err
		}
		var n uint64
		for {
			p, err := s.c.ReadPacket()
			if err != nil {
				return err
			}
			if len(p) == 0 {
				return s.c.WriteOK(wire.OK{AffectedRows: n})
			}
			n += uint64(len(p))
		}
	case "timeouts":
		read, _ := time.ParseDuration(words[1])
		write, _ := time.ParseDuration(words[2])
		idle, _ := time.ParseDuration(words[3])
		s.c.SetNetTimeouts(read, write)
		s.c.SetIdleTimeout(idle)
	case "hold":
		s.t.held <- struct{}{}
		<-s.t.release
	case "panic":
		panic("on request")
	case "panic-at-end":
		s.panicsLater = true
	case "broken":
		return errors.New("backend is on fire")
	case "refuse":
		return sqlerr.NoSuchTable.New("a", "b")
	case "late":
		if err := s.c.WriteOK(wire.OK{}); err != nil {
			return err
		}
		return sqlerr.UnknownError.New("after the answer")
	}
	return s.c.WriteOK(wire.OK{Status: wire.StatusAutocommit})
}

func (s *toySession) result(names []string, n int, row [][]byte) error {
	c := s.c
	if err := c.EndPacket(wire.AppendLenencInt(c.BeginPacket(), uint64(len(names)))); err != nil {
		return err
	}
	for _, name := range names {
		col := sqltypes.Column{Name: name, Charset: 45, Length: 1 << 24, Type: sqltypes.TypeVarString}
		if err := c.EndPacket(wire.AppendColumn(c.BeginPacket(), &col, c.Capabilities())); err != nil {
			return err
		}
	}
	if err := c.WriteEOF(wire.EOF{Status: wire.StatusAutocommit}); err != nil {
		return err
	}
	for range n {
		b := c.BeginPacket()
		for _, v := range row {
			b = wire.AppendLenencString(b, v)
		}
		if err := c.EndPacket(b); err != nil {
			return err
		}
	}
	return c.WriteEnd(wire.OK{Status: wire.StatusAutocommit})
}

// rawClient speaks packets and nothing more.
type rawClient struct {
	t    testing.TB
	nc   net.Conn
	base net.Conn
	seq  byte
	caps wire.Capability
	salt []byte
	id   uint32
}

const rawCaps = wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth | wire.CapPluginAuthLenenc | wire.CapConnectWithDB |
	wire.CapConnectAttrs | wire.CapDeprecateEOF | wire.CapSessionTrack | wire.CapMultiStatements | wire.CapLongPassword

func dialRaw(t testing.TB, network, addr string) *rawClient {
	t.Helper()
	nc, err := net.Dial(network, addr)
	require.NoError(t, err)
	require.NoError(t, nc.SetDeadline(time.Now().Add(wait)))
	t.Cleanup(func() { nc.Close() })
	return &rawClient{t: t, nc: nc, base: nc}
}

// hello reads the server's first packet.
func (r *rawClient) hello() wire.InitialHandshake {
	r.t.Helper()
	h, err := wire.ParseInitialHandshake(r.read())
	require.NoError(r.t, err)
	r.salt = append([]byte(nil), h.Salt...)
	r.id = h.ConnectionID
	return h
}

// login logs in with a password-less or caching_sha2_password account and extra capabilities.
func (r *rawClient) login(user, password string, caps wire.Capability) {
	r.t.Helper()
	require.Equal(r.t, wire.CachingSHA2Password, r.hello().Plugin)
	r.respond(wire.HandshakeResponse{Capabilities: rawCaps | caps, User: user, Plugin: wire.CachingSHA2Password,
		Auth: wire.ScrambleCachingSHA2(password, r.salt), ZstdLevel: 3, Attributes: map[string]string{"program_name": "raw"}})
	p := r.read()
	if p[0] == wire.AuthMoreHeader {
		require.Equal(r.t, byte(wire.SHA2FastOK), p[1], "log in once with a driver first")
		p = r.read()
	}
	require.Equal(r.t, byte(wire.OKHeader), p[0], "%q", p)
	switch {
	case r.caps.Has(wire.CapCompress):
		r.nc = wire.NewCompression().Zlib(r.nc)
	case r.caps.Has(wire.CapZstd):
		r.nc = wire.NewCompression().Zstd(r.nc, 3)
	}
}

func (r *rawClient) respond(resp wire.HandshakeResponse) {
	r.t.Helper()
	r.caps = resp.Capabilities
	if resp.Capabilities.Has(wire.CapSSL) {
		r.write(wire.AppendSSLRequest(nil, resp))
		tc := tls.Client(r.nc, &tls.Config{InsecureSkipVerify: true})
		require.NoError(r.t, tc.Handshake())
		r.nc = tc
	}
	r.write(wire.AppendHandshakeResponse(nil, resp))
}

func (r *rawClient) write(payload []byte) {
	r.t.Helper()
	_, err := r.nc.Write(wire.AppendPacket(nil, &r.seq, payload))
	require.NoError(r.t, err)
}

func (r *rawClient) send(cmd wire.Command, body string) {
	r.t.Helper()
	r.seq = 0
	if z, ok := r.nc.(*wire.CompressedConn); ok {
		z.ResetSequence()
	}
	r.write(append([]byte{byte(cmd)}, body...))
}

// read returns the next packet's payload and checks its number.
func (r *rawClient) read() []byte {
	r.t.Helper()
	var all []byte
	for {
		var h [4]byte
		_, err := io.ReadFull(r.nc, h[:])
		require.NoError(r.t, err)
		n, seq := wire.Header(h[:])
		require.Equal(r.t, r.seq, seq, "sequence number")
		r.seq++
		p := make([]byte, n)
		_, err = io.ReadFull(r.nc, p)
		require.NoError(r.t, err)
		all = append(all, p...)
		if n < wire.MaxPacket {
			return all
		}
	}
}

func (r *rawClient) query(q string) wire.OK {
	r.t.Helper()
	r.send(wire.ComQuery, q)
	ok, err := wire.ParseOK(r.read(), r.caps)
	require.NoError(r.t, err)
	return ok
}

func (r *rawClient) wantErr(code sqlerr.Code) {
	r.t.Helper()
	p := r.read()
	e, err := wire.ParseErr(p)
	require.NoError(r.t, err, "%q", p)
	require.Equal(r.t, code, e.Code, "%v", e)
}

// wantEnd waits for the server to close the connection, without a further byte.
func (r *rawClient) wantEnd() {
	r.t.Helper()
	n, err := r.nc.Read(make([]byte, 1))
	require.Zero(r.t, n)
	require.Error(r.t, err)
	require.NotErrorIs(r.t, err, os.ErrDeadlineExceeded)
}

// eventually waits until ok, looking often.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, wait, time.Millisecond, what)
}

// noise is n bytes that no compression makes shorter, so that what is sent fills the socket in compressed form too.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b) // never fails
	return b
}

func u16(n int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }

func dsn(user, password, addr, params string) string {
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	return fmt.Sprintf("%s:%s@%s(%s)/shop?%s", user, password, network, addr, params)
}
