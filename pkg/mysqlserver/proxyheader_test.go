package mysqlserver_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"
	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlserver"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// behind is a server that believes load balancers on this machine.
func behind(t *testing.T) *toy {
	t.Helper()
	return startToy(t, mysqlserver.Config{ProxyNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")}})
}

// sent is a client that begins with header, in pieces of so many bytes.
func sent(t *testing.T, s *toy, header string, piece int) *rawClient {
	t.Helper()
	r := dialRaw(t, "tcp", s.addr)
	for len(header) > 0 {
		n, err := r.nc.Write([]byte(header[:min(piece, len(header))]))
		require.NoError(t, err)
		header = header[n:]
	}
	return r
}

// version2 is a header of version 2.
func version2(t *testing.T, h proxyproto.Header, tlvs ...proxyproto.TLV) string {
	t.Helper()
	h.Version = 2
	require.NoError(t, h.SetTLVs(tlvs))
	b, err := h.Format()
	require.NoError(t, err)
	return string(b)
}

// from is the address of a client, and to one of a load balancer.
func from(ip string) (from, to *net.TCPAddr) {
	return &net.TCPAddr{IP: net.ParseIP(ip), Port: 40000}, &net.TCPAddr{IP: net.ParseIP(ip), Port: 3306}
}

func TestProxyHeaders(t *testing.T) {
	s := behind(t)
	from4, to4 := from("198.51.100.7")
	from6, to6 := from("2001:db8::7")
	for name, c := range map[string]struct{ header, want string }{
		"none":             {"", ""},
		"text":             {"PROXY TCP4 198.51.100.7 192.0.2.1 40000 3306\r\n", "198.51.100.7:40000"},
		"text, IPv6":       {"PROXY TCP6 2001:db8::7 2001:db8::1 40000 3306\r\n", "[2001:db8::7]:40000"},
		"text, of nobody":  {"PROXY UNKNOWN\r\n", ""},
		"binary":           {version2(t, proxyproto.Header{Command: proxyproto.PROXY, TransportProtocol: proxyproto.TCPv4, SourceAddr: from4, DestinationAddr: to4}), "198.51.100.7:40000"},
		"binary, IPv6":     {version2(t, proxyproto.Header{Command: proxyproto.PROXY, TransportProtocol: proxyproto.TCPv6, SourceAddr: from6, DestinationAddr: to6}), "[2001:db8::7]:40000"},
		"binary, with TLV": {version2(t, proxyproto.Header{Command: proxyproto.PROXY, TransportProtocol: proxyproto.TCPv4, SourceAddr: from4, DestinationAddr: to4}, proxyproto.TLV{Type: proxyproto.PP2_TYPE_NOOP, Value: make([]byte, 500)}), "198.51.100.7:40000"},
		"binary, its own":  {version2(t, proxyproto.Header{Command: proxyproto.LOCAL, TransportProtocol: proxyproto.UNSPEC}), ""},
	} {
		for _, piece := range []int{1, 3, 1 << 16} {
			t.Run(name, func(t *testing.T) {
				r := sent(t, s, c.header, piece)
				want := c.want
				if want == "" {
					want = r.nc.LocalAddr().String()
				}
				r.login("open", "", 0)
				require.Equal(t, want, string(r.query("whence").Info))
			})
		}
		t.Run(name+", then TLS", func(t *testing.T) {
			r := sent(t, s, c.header, 1<<16)
			r.login("open", "", wire.CapSSL)
			require.Equal(t, c.want == "", strings.HasPrefix(string(r.query("whence").Info), "127.0.0.1:"))
		})
	}
}

// TestProxyHeaderIsRefused shows that nobody says to be somebody else who may not, and that nothing behind a wrong header counts.
func TestProxyHeaderIsRefused(t *testing.T) {
	elsewhere := startToy(t, mysqlserver.Config{ProxyNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	here := behind(t)
	for name, c := range map[string]struct {
		s      *toy
		header string
	}{
		"no addresses":      {here, "PROXY TCP4\r\n"},
		"no address":        {here, "PROXY TCP4 here there 40000 3306\r\n"},
		"unknown version":   {here, "\r\n\r\n\x00\r\nQUIT\n\x31\x11\x00\x0c\xc0\x00\x02\x01\xc0\x00\x02\x02\x9c\x40\x0c\xea"},
		"too short":         {here, "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x04\xc0\x00\x02\x01"},
		"of elsewhere":      {elsewhere, "PROXY TCP4 192.0.2.9 192.0.2.1 40000 3306\r\n"},
		"of elsewhere, too": {elsewhere, "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00"},
	} {
		for _, caps := range []wire.Capability{0, wire.CapSSL} {
			t.Run(name, func(t *testing.T) {
				r := sent(t, c.s, c.header, 1<<16)
				r.hello()
				r.respond(wire.HandshakeResponse{Capabilities: rawCaps | caps, User: "open", Plugin: wire.CachingSHA2Password})
				r.wantErr(sqlerr.HostNotPrivileged)
				r.wantEnd()
			})
		}
	}
	t.Run("no end", func(t *testing.T) {
		r := sent(t, here, "PROXY TCP4 "+strings.Repeat("1", 200), 1<<16)
		r.hello()
		r.wantErr(sqlerr.NetPacketOutOfOrder)
		r.wantEnd()
	})
	t.Run("a second one", func(t *testing.T) {
		r := sent(t, behind(t), "PROXY UNKNOWN\r\nPROXY TCP4 198.51.100.7 192.0.2.1 40000 3306\r\n", 1<<16)
		r.hello()
		r.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: "open", Plugin: wire.CachingSHA2Password})
		r.seq = 1 // the server has taken no packet
		r.wantErr(sqlerr.NetPacketOutOfOrder)
		r.wantEnd()
	})
}

// TestProxiedClientIsNotHere shows that accounts for this machine alone are not for those whom a load balancer on it lets in.
func TestProxiedClientIsNotHere(t *testing.T) {
	s := behind(t)
	login := func(header string) []byte {
		r := sent(t, s, header, 1<<16)
		r.hello()
		r.respond(wire.HandshakeResponse{Capabilities: rawCaps, User: "local", Plugin: wire.CachingSHA2Password})
		return r.read()
	}
	require.Equal(t, byte(wire.OKHeader), login("PROXY TCP4 127.0.0.1 127.0.0.1 40000 3306\r\n")[0])
	e, err := wire.ParseErr(login("PROXY TCP4 198.51.100.7 192.0.2.1 40000 3306\r\n"))
	require.NoError(t, err)
	require.Equal(t, sqlerr.AccessDenied, e.Code)
	require.Contains(t, e.Message, "'local'@'198.51.100.7'")
}
