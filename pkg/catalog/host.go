package catalog

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Origin is where a client is.
type Origin struct {
	Host string // localhost, or the address
	IP   string // "": it has none
}

// localhost is what this machine is called.
const localhost = "localhost"

// ThisMachine is where a client is that has come by a Unix socket.
func ThisMachine() Origin { return Origin{Host: localhost} }

// Nowhere is where a client is of which nothing is known: accounts for any host are all that there is for it.
func Nowhere() Origin { return Origin{Host: "unknown"} }

// OriginOf is where a client with an address is.
func OriginOf(ip netip.Addr) Origin {
	if !ip.IsValid() {
		return Nowhere()
	}
	ip = ip.Unmap().WithZone("")
	o := Origin{Host: ip.String(), IP: ip.String()}
	if ip.IsLoopback() {
		o.Host = localhost
	}
	return o
}

// Origin is where servers take a definer for being, of whom nobody is a client: where his host says.
func (n AccountName) Origin() Origin {
	return Origin{Host: n.Host(), IP: n.Host()}
}

// hostPattern is a host as servers match it.
type hostPattern struct {
	text string
	net  netip.Prefix // of an address or a network in IPv4
	kind hostKind
}

// hostKind tells how a host is written, the more specific first.
type hostKind uint8

const (
	hostAddress hostKind = iota
	hostCIDR
	hostMask
	hostText // a name, an address in IPv6, or a pattern
)

// parseHost reads a host; false: it looks like a network, and no address is in that.
func parseHost(text string) (hostPattern, bool) {
	h := hostPattern{text: text, kind: hostText}
	address, mask, network := strings.Cut(text, "/")
	ip, err := netip.ParseAddr(address)
	switch {
	case !network && (err != nil || !ip.Is4()):
		return h, true
	case err != nil || !ip.Is4():
		return h, false
	case !network:
		h.kind, h.net = hostAddress, netip.PrefixFrom(ip, 32)
		return h, true
	}
	bits, err := strconv.Atoi(mask)
	if h.kind = hostCIDR; err != nil {
		h.kind = hostMask
		if bits = maskBits(mask); bits < 0 {
			return h, false
		}
	}
	h.net = netip.PrefixFrom(ip, bits)
	return h, bits > 0 && bits <= 32 && h.net.Masked() == h.net
}

// maskBits is the number of ones at the beginning of a netmask; -1 if it is none.
func maskBits(mask string) int {
	ip, err := netip.ParseAddr(mask)
	if err != nil || !ip.Is4() {
		return -1
	}
	ones := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	for bits := range 33 {
		if p, err := ones.Prefix(bits); err == nil && p.Addr() == ip {
			return bits
		}
	}
	return -1
}

// ValidHost reports whether a host that looks like a network is one that an address can be in, as servers of the flavor read it.
func ValidHost(host string, flavor Flavor) bool {
	h, ok := parseHost(host)
	return ok && (h.kind != hostCIDR || flavor == MySQL)
}

// NamesHost reports whether a host is the name of a machine, whose address only a resolver knows: no address, network or pattern of addresses, nor localhost.
func NamesHost(host string) bool {
	if host == localhost || strings.ContainsAny(host, ":/") {
		return false
	}
	return strings.Trim(host, "0123456789.%_\\") != ""
}

// matches reports whether clients of an origin may log in by accounts of the host. A definer is where his host says, which may be a network itself: it is
// compared as text then.
func (h hostPattern) matches(o Origin) bool {
	if h.kind != hostText {
		if ip, err := netip.ParseAddr(o.IP); err == nil {
			return h.net.Contains(ip)
		}
	}
	return like(o.Host, h.text) || like(o.IP, h.text)
}

// like reports whether text is one of a pattern with % and _, and with a backslash before what means itself. Of several % only the last one is tried again:
// what those before it stand for can always be the least.
func like(text, pattern string) bool {
	t, p := 0, 0
	many, from := -1, 0 // behind the last %, and where in text that ends at present
	for t < len(text) || p < len(pattern) {
		if p < len(pattern) && pattern[p] == '%' {
			p++
			many, from = p, t
			continue
		}
		if n := meant(pattern[p:], text[t:]); n > 0 {
			t, p = t+1, p+n
			continue
		}
		if many < 0 || from == len(text) {
			return false
		}
		from++
		t, p = from, many
	}
	return true
}

// meant is how long the beginning of a pattern without % is that stands for the first byte of text; 0: it does not.
func meant(pattern, text string) int {
	switch {
	case pattern == "" || text == "":
		return 0
	case pattern[0] == '\\' && len(pattern) > 1:
		if pattern[1] == text[0] {
			return 2
		}
		return 0
	case pattern[0] == '_' || pattern[0] == text[0]:
		return 1
	}
	return 0
}

// moreSpecific orders hosts as servers of a flavor do before they look for the first that a client is of. MySQL's leave open which of several comes first
// that have their first wildcard in the same place.
func (flavor Flavor) moreSpecific(a, b hostPattern) int {
	if flavor == MariaDB {
		return cmp.Or(slices.Compare(genericness(a.text), genericness(b.text)), strings.Compare(b.text, a.text))
	}
	a, b = asMySQLOrders(a), asMySQLOrders(b)
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.net.Bits(), a.net.Bits()), cmp.Compare(prefixLen(b.text), prefixLen(a.text)),
		strings.Compare(a.text, b.text))
}

// asMySQLOrders is h with what MySQL's servers order it by: a pattern that begins with a whole address, as 10.0.0.1%, comes behind addresses.
func asMySQLOrders(h hostPattern) hostPattern {
	if end := strings.IndexAny(h.text, "%_"); h.kind == hostText && end > 0 {
		if ip, err := netip.ParseAddr(h.text[:end]); err == nil && ip.Is4() {
			h.kind, h.net = hostAddress, netip.PrefixFrom(ip, 0)
		}
	}
	return h
}

// prefixLen is where the first wildcard of a host is, by which MySQL's servers order hosts; one without wildcards has it behind all others.
func prefixLen(host string) int {
	if host == AnyHost {
		return 0
	}
	for i := 0; i < len(host); i++ {
		switch {
		case host[i] == '\\' && i+1 < len(host):
			i++
		case host[i] == '%' || host[i] == '_':
			return min(i+1, 127)
		}
	}
	return 128
}

// genericness is by how many texts match a host that MariaDB's servers order hosts: those of any length, the fewer the longer the host is, behind those
// of one.
func genericness(host string) []int {
	var ones, single, many, prefix int
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '%' || c == '_':
			if single+many == 0 {
				prefix = ones
			}
			if c == '_' {
				single++
				continue
			}
			many++
			for i+1 < len(host) && host[i+1] == '%' {
				i++
			}
			continue
		case c == '\\' && i+1 < len(host):
			i++
		}
		ones++
	}
	if many > 0 {
		return []int{1, -ones - single, many, single, prefix}
	}
	return []int{0, single, prefix}
}
