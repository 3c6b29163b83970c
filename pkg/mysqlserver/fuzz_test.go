package mysqlserver_test

import (
	"flag"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"skarv/pkg/mysqlserver"
	"skarv/pkg/wire"
)

// FuzzConnection feeds a server connection with whatever comes, from the first byte or after login, and demands that the connection
// ends and that another client is served afterwards.
func FuzzConnection(f *testing.F) {
	response := wire.AppendHandshakeResponse(nil, wire.HandshakeResponse{Capabilities: rawCaps, User: "open", Plugin: wire.CachingSHA2Password})
	seq := byte(1)
	login := wire.AppendPacket(nil, &seq, response)
	f.Add([]byte{}, byte(0))
	f.Add([]byte("\x05\x00\x00\x0000000"), byte(1))
	f.Add(append([]byte("PROXY TCP4 192.0.2.1 192.0.2.2 40000 3306\r\n"), login...), byte(0))
	f.Add([]byte("PROXY UNKNOWN\r\n"), byte(0))
	f.Add([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\xc0\x00\x02\x02\x9c\x40\x0c\xea"), byte(0))
	f.Add(append(login, packets("\x03whoami", "\x01")...), byte(0))
	f.Add([]byte("\x20\x00\x00\x01\x00\x0a\x00\x00"), byte(0))
	f.Add(packets("\x03whoami", "\x03infile x", "\x0e", "\x11open\x00\x00\x00"), byte(1))
	f.Add([]byte("\x00\x00\x00\x00\xff\xff\xff\x00zzz"), byte(1))
	f.Add([]byte("\x05\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0e"), byte(2))
	f.Add([]byte("\x05\x00\x00\x00\x00\x01\x00\x78\x9czzz"), byte(2))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00\x01\x00\x78\x9czzz"), byte(3))
	// The watcher has to look often: a client that closes its half together with a command is noticed by it alone. Without
	// fuzzing it may look less often, so that nobody is late on a busy machine.
	patience := 5 * time.Second
	if flag.Lookup("test.fuzz").Value.String() != "" {
		patience = 20 * time.Millisecond
	}
	s := startToy(f, mysqlserver.Config{ReadTimeout: patience, HandshakeTimeout: 5 * time.Second, MaxAllowedPacket: 1 << 20,
		ProxyNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	f.Fuzz(func(t *testing.T, stream []byte, kind byte) {
		r := dialRaw(t, "tcp", s.addr)
		switch kind % 4 {
		case 0:
			r.hello()
		case 1:
			r.login("open", "", 0)
		case 2:
			r.login("open", "", wire.CapCompress)
		case 3:
			r.login("open", "", wire.CapZstd)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(io.Discard, r.base)
		}()
		_, _ = r.base.Write(stream)
		_ = r.base.(*net.TCPConn).CloseWrite()
		<-done
		after := dialRaw(t, "tcp", s.addr)
		after.login("open", "", 0)
		after.query("x")
		after.send(wire.ComQuit, "")
		after.wantEnd()
	})
}
