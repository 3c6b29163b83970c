package mysqlserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"

	"github.com/pires/go-proxyproto"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// A load balancer that speaks the PROXY protocol (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt) begins a connection with a
// header that tells its client's address. Since in MySQL's protocol the server speaks first, the header is looked for where the client's first
// packet is: whoever sends none is not kept waiting.

const (
	// Beginnings of headers of versions 1 and 2, as long as that of a packet. Neither is one of a login, which has number 1 in its last byte.
	proxyText   = "PROX"
	proxyBinary = "\r\n\r\n"

	maxProxyText     = 107 // bytes of a header of version 1, with its line end
	proxyBinaryFixed = 16  // bytes of a header of version 2 before what has the length that the last two of them say
)

// takeProxyHeader reads the header of a load balancer, if there is one, and makes the address in it the client's. The greeting has been
// sent. refusal is for whoever may not send one, or has sent a wrong one: to be told when the client has begun TLS, which it does without
// waiting for an answer.
func (c *Conn) takeProxyHeader() (refusal *sqlerr.Error, err error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	c.set(reading)
	defer c.set(busy)
	var first [wire.HeaderLen]byte
	if err := c.readFull(first[:]); err != nil {
		return nil, err
	}
	if begin := string(first[:]); begin != proxyText && begin != proxyBinary {
		c.makeRoom()
		c.end += copy(c.in.b[c.end:], first[:])
		return nil, nil
	}
	raw, err := c.readProxyHeader(first)
	if errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	why := "it sends a PROXY header, and mysql.proxy_protocol_networks does not have its address"
	if c.server.trustsProxy(c.nc.RemoteAddr()) {
		header, err := proxyproto.Read(bufio.NewReaderSize(bytes.NewReader(raw), len(raw)))
		if err == nil {
			// LOCAL is the load balancer's own connection, a health check for instance; of other protocols than TCP there is no address to tell.
			if source, _, ok := header.TCPAddrs(); ok && header.Command.IsProxy() {
				c.remote = source
			}
			return nil, nil
		}
		why = fmt.Sprintf("its PROXY header is wrong (%v)", err)
	}
	refusal = sqlerr.HostNotPrivileged.New(c.Host(), why)
	c.server.cfg.Log.Warn("PROXY header refused", "remote", c.RemoteAddr().String(), "error", refusal)
	return refusal, nil
}

// readProxyHeader reads what follows first, and not a byte more.
func (c *Conn) readProxyHeader(first [wire.HeaderLen]byte) ([]byte, error) {
	raw := first[:]
	if string(raw) == proxyText {
		for !bytes.HasSuffix(raw, []byte("\n")) && len(raw) < maxProxyText {
			raw = append(raw, 0)
			if err := c.readFull(raw[len(raw)-1:]); err != nil {
				return nil, err
			}
		}
		return raw, nil
	}
	raw = append(raw, make([]byte, proxyBinaryFixed-len(raw))...)
	if err := c.readFull(raw[len(first):]); err != nil {
		return nil, err
	}
	rest := int(raw[proxyBinaryFixed-2])<<8 | int(raw[proxyBinaryFixed-1])
	raw = slices.Concat(raw, make([]byte, rest))
	return raw, c.readFull(raw[proxyBinaryFixed:])
}

// trustsProxy reports whether what a header from peer says of the client is believed.
func (s *Server) trustsProxy(peer net.Addr) bool {
	a, ok := peer.(*net.TCPAddr)
	if !ok {
		return false
	}
	ip := a.AddrPort().Addr().Unmap().WithZone("")
	return slices.ContainsFunc(s.cfg.ProxyNetworks, func(p netip.Prefix) bool { return p.Contains(ip) })
}
