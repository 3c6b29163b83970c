package mysqlserver

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// peer is a connection that comes from an address.
type peer struct {
	net.Conn
	addr net.Addr
}

func (p peer) RemoteAddr() net.Addr { return p.addr }

// Only who is on this machine is localhost, whatever a load balancer elsewhere tells of its own.
func TestOrigin(t *testing.T) {
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	unix := &net.UnixAddr{Net: "unix"}
	for _, c := range []struct {
		peer, told net.Addr
		host, ip   string
	}{
		{tcp("10.0.0.1"), tcp("10.0.0.1"), "10.0.0.1", "10.0.0.1"},
		{tcp("127.0.0.1"), tcp("127.0.0.1"), "localhost", "127.0.0.1"},
		{tcp("127.0.0.1"), tcp("10.0.0.1"), "10.0.0.1", "10.0.0.1"},
		{tcp("10.0.0.1"), tcp("10.0.0.2"), "10.0.0.2", "10.0.0.2"},
		{tcp("10.0.0.1"), tcp("127.0.0.1"), "unknown", ""},
		{tcp("10.0.0.1"), tcp("::1"), "unknown", ""},
		{tcp("::1"), tcp("::1"), "localhost", "::1"},
		{tcp("::ffff:10.0.0.1"), tcp("::ffff:10.0.0.1"), "10.0.0.1", "10.0.0.1"},
		{unix, unix, "localhost", ""},
		{&net.UDPAddr{}, &net.UDPAddr{}, "unknown", ""},
		{&net.TCPAddr{}, &net.TCPAddr{}, "unknown", ""},
	} {
		conn := &Conn{nc: peer{addr: c.peer}, remote: c.told, unix: c.peer == net.Addr(unix)}
		require.Equal(t, catalog.Origin{Host: c.host, IP: c.ip}, conn.Origin(), "%v telling of %v", c.peer, c.told)
	}
}
