package wire

import (
	"encoding/binary"
	"maps"
	"slices"

	"skarv/pkg/sqlerr"
)

// protocolVersion is the first byte of the only handshake spoken since MySQL 3.21.
const protocolVersion = 10

// The connection phase, S the server, C the client:
//
//	S InitialHandshake
//	C SSLRequest                 only with CapSSL; TLS begins, what follows is inside it
//	C HandshakeResponse
//	S AuthSwitch, C its answer   if the account's plugin is not the one announced
//	S AuthMore, C its answer     any number of times, as the plugin wants
//	S OK or ERR                  after an OK compression begins, if agreed

// InitialHandshake is the first packet of a connection.
type InitialHandshake struct {
	ServerVersion string
	ConnectionID  uint32
	Salt          []byte // SaltLen bytes, none of them NUL
	Capabilities  Capability
	Collation     uint8
	Status        Status
	Plugin        string
}

// AppendInitialHandshake appends the payload of h. MariaDB's extended capabilities are sent only if h lacks
// CapLongPassword, as a MariaDB server does.
func AppendInitialHandshake(dst []byte, h InitialHandshake) []byte {
	var salt [SaltLen]byte
	copy(salt[:], h.Salt)
	dst = append(dst, protocolVersion)
	dst = append(append(dst, h.ServerVersion...), 0)
	dst = binary.LittleEndian.AppendUint32(dst, h.ConnectionID)
	dst = append(append(dst, salt[:8]...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Capabilities))
	dst = append(dst, h.Collation)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Status))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Capabilities>>16))
	dst = append(dst, SaltLen+1, 0, 0, 0, 0, 0, 0)
	extended := uint32(h.Capabilities >> 32)
	if h.Capabilities.Has(CapLongPassword) {
		extended = 0
	}
	dst = binary.LittleEndian.AppendUint32(dst, extended)
	dst = append(append(dst, salt[8:]...), 0)
	return append(append(dst, h.Plugin...), 0)
}

// ParseInitialHandshake reads the first packet a server sends; if that is an ERR packet (too many connections, host
// blocked) the error is that *sqlerr.Error. Plugin is NativePassword if the server names none.
func ParseInitialHandshake(payload []byte) (InitialHandshake, error) {
	if len(payload) > 0 && payload[0] == ErrHeader {
		e, err := ParseErr(payload)
		if err != nil {
			return InitialHandshake{}, err
		}
		return InitialHandshake{}, e
	}
	c := cursor{b: payload}
	version := c.uint8()
	h := InitialHandshake{
		ServerVersion: string(c.nulString()),
		ConnectionID:  c.uint32(),
		Plugin:        NativePassword,
	}
	first := c.take(8)
	c.take(1)
	h.Capabilities = Capability(c.uint16())
	if c.bad || version != protocolVersion {
		return InitialHandshake{}, malformed("initial handshake")
	}
	h.Salt = slices.Clone(first)
	if len(c.b) == 0 {
		return h, nil // before 4.1
	}
	h.Collation = c.uint8()
	h.Status = Status(c.uint16())
	h.Capabilities |= Capability(c.uint16()) << 16
	saltLen := int(c.uint8())
	c.take(6)
	extended := c.uint32()
	if !h.Capabilities.Has(CapLongPassword) {
		h.Capabilities |= Capability(extended) << 32
	}
	if h.Capabilities.Has(CapSecureConnection) {
		second := c.take(min(max(13, saltLen-8), len(c.b)))
		if n := len(second); n > 0 && second[n-1] == 0 {
			second = second[:n-1]
		}
		h.Salt = append(h.Salt, second...)
	}
	if h.Capabilities.Has(CapPluginAuth) {
		// 5.5.7 to 5.5.9 forgot the NUL.
		if name := untilNUL(c.rest()); len(name) > 0 {
			h.Plugin = string(name)
		}
	}
	if c.bad {
		return InitialHandshake{}, malformed("initial handshake")
	}
	return h, nil
}

// sslRequestLen is the length of a HandshakeResponse's fixed part, which alone is an SSLRequest.
const sslRequestLen = 32

// HandshakeResponse is the client's side of the handshake.
type HandshakeResponse struct {
	Capabilities Capability
	MaxPacket    uint32
	Collation    uint8
	User         string
	Auth         []byte // scramble of the plugin; empty for the empty password
	DB           string // only with CapConnectWithDB
	Plugin       string // only with CapPluginAuth
	Attributes   map[string]string
	ZstdLevel    uint8 // only with CapZstd
}

// AppendSSLRequest appends the payload of the packet after which the client starts TLS: the fixed part of r, whose
// capabilities must have CapSSL.
func AppendSSLRequest(dst []byte, r HandshakeResponse) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(r.Capabilities))
	dst = binary.LittleEndian.AppendUint32(dst, r.MaxPacket)
	dst = append(dst, r.Collation)
	dst = append(dst, make([]byte, 19)...)
	extended := uint32(r.Capabilities >> 32)
	if r.Capabilities.Has(CapLongPassword) {
		extended = 0
	}
	return binary.LittleEndian.AppendUint32(dst, extended)
}

// AppendHandshakeResponse appends the payload of r. Fields whose capability r does not have are left out.
func AppendHandshakeResponse(dst []byte, r HandshakeResponse) []byte {
	dst = AppendSSLRequest(dst, r)
	dst = append(append(dst, r.User...), 0)
	switch {
	case r.Capabilities.Has(CapPluginAuthLenenc):
		dst = AppendLenencString(dst, r.Auth)
	case r.Capabilities.Has(CapSecureConnection):
		dst = append(append(dst, byte(len(r.Auth))), r.Auth[:min(len(r.Auth), 255)]...)
	default:
		dst = append(append(dst, r.Auth...), 0)
	}
	if r.Capabilities.Has(CapConnectWithDB) {
		dst = append(append(dst, r.DB...), 0)
	}
	if r.Capabilities.Has(CapPluginAuth) {
		dst = append(append(dst, r.Plugin...), 0)
	}
	if r.Capabilities.Has(CapConnectAttrs) {
		dst = appendAttributes(dst, r.Attributes)
	}
	if r.Capabilities.Has(CapZstd) {
		dst = append(dst, r.ZstdLevel)
	}
	return dst
}

// IsSSLRequest reports whether payload asks to start TLS.
func IsSSLRequest(payload []byte) bool {
	return len(payload) >= sslRequestLen && Capability(binary.LittleEndian.Uint32(payload)).Has(CapSSL|CapProtocol41)
}

// ParseHandshakeResponse reads the client's side of the handshake. A client older than 4.1 is refused as a bad
// handshake. MariaDB's extended capabilities count only if CapLongPassword is absent. What the client says it
// can do may be more than the server offered: mask Capabilities before use. Auth points into payload.
func ParseHandshakeResponse(payload []byte) (HandshakeResponse, error) {
	c := cursor{b: payload}
	r := HandshakeResponse{
		Capabilities: Capability(c.uint32()),
		MaxPacket:    c.uint32(),
		Collation:    c.uint8(),
	}
	c.take(19)
	extended := c.uint32()
	if !r.Capabilities.Has(CapLongPassword) {
		r.Capabilities |= Capability(extended) << 32
	}
	r.User = string(c.nulString())
	if c.bad || !r.Capabilities.Has(CapProtocol41) {
		return HandshakeResponse{}, sqlerr.HandshakeError.New()
	}
	switch {
	case r.Capabilities.Has(CapPluginAuthLenenc):
		r.Auth = c.lenencString()
	case r.Capabilities.Has(CapSecureConnection):
		r.Auth = c.take(int(c.uint8()))
	default:
		r.Auth = c.nulString()
	}
	// Clients leave out what would be empty at the end, whatever they announced.
	if r.Capabilities.Has(CapConnectWithDB) && len(c.b) > 0 {
		r.DB = string(c.untilNUL())
	}
	if r.Capabilities.Has(CapPluginAuth) && len(c.b) > 0 {
		r.Plugin = string(c.untilNUL())
	}
	if r.Capabilities.Has(CapConnectAttrs) && len(c.b) > 0 {
		r.Attributes = c.attributes()
	}
	if r.Capabilities.Has(CapZstd) && len(c.b) > 0 {
		r.ZstdLevel = c.uint8()
	}
	if c.bad {
		return HandshakeResponse{}, sqlerr.HandshakeError.New()
	}
	return r, nil
}

// ChangeUser is the payload of COM_CHANGE_USER.
type ChangeUser struct {
	User       string
	Auth       []byte
	DB         string
	Collation  uint16 // 0: not sent
	Plugin     string
	Attributes map[string]string
}

// AppendChangeUser appends u as it follows the command byte.
func AppendChangeUser(dst []byte, u ChangeUser, caps Capability) []byte {
	dst = append(append(dst, u.User...), 0)
	dst = append(append(dst, byte(len(u.Auth))), u.Auth[:min(len(u.Auth), 255)]...)
	dst = append(append(dst, u.DB...), 0)
	dst = binary.LittleEndian.AppendUint16(dst, u.Collation)
	if caps.Has(CapPluginAuth) {
		dst = append(append(dst, u.Plugin...), 0)
	}
	if caps.Has(CapConnectAttrs) {
		dst = appendAttributes(dst, u.Attributes)
	}
	return dst
}

// ParseChangeUser reads what follows the command byte of COM_CHANGE_USER on a connection with capabilities caps.
func ParseChangeUser(payload []byte, caps Capability) (ChangeUser, error) {
	c := cursor{b: payload}
	u := ChangeUser{User: string(c.nulString())}
	if caps.Has(CapSecureConnection) {
		u.Auth = c.take(int(c.uint8()))
	} else {
		u.Auth = c.nulString()
	}
	u.DB = string(c.untilNUL())
	if len(c.b) > 0 {
		u.Collation = c.uint16()
	}
	if caps.Has(CapPluginAuth) && len(c.b) > 0 {
		u.Plugin = string(c.untilNUL())
	}
	if caps.Has(CapConnectAttrs) && len(c.b) > 0 {
		u.Attributes = c.attributes()
	}
	if c.bad {
		return ChangeUser{}, malformed("COM_CHANGE_USER")
	}
	return u, nil
}

// AppendAuthSwitch appends the payload that asks the client to authenticate with plugin and a new salt.
func AppendAuthSwitch(dst []byte, plugin string, salt []byte) []byte {
	dst = append(dst, EOFHeader)
	dst = append(append(dst, plugin...), 0)
	return append(append(dst, salt...), 0)
}

// ParseAuthSwitch reads a request to authenticate with another plugin. data, the salt without its NUL, points
// into payload. A payload of one byte asks for mysql_old_password, from before 4.1.
func ParseAuthSwitch(payload []byte) (plugin string, data []byte, err error) {
	if len(payload) == 0 || payload[0] != EOFHeader {
		return "", nil, malformed("authentication switch request")
	}
	if len(payload) == 1 {
		return "mysql_old_password", nil, nil
	}
	c := cursor{b: payload[1:]}
	plugin = string(c.nulString())
	data = c.rest()
	if c.bad {
		return "", nil, malformed("authentication switch request")
	}
	if n := len(data); n > 0 && data[n-1] == 0 {
		data = data[:n-1]
	}
	return plugin, data, nil
}

// AuthMoreHeader is the first byte of a packet with further data for the client's plugin.
const AuthMoreHeader = 0x01

// AppendAuthMore appends the payload that hands data to the client's plugin.
func AppendAuthMore(dst, data []byte) []byte {
	return append(append(dst, AuthMoreHeader), data...)
}

// ParseAuthMore returns the data for the client's plugin, which points into payload.
func ParseAuthMore(payload []byte) ([]byte, error) {
	if len(payload) == 0 || payload[0] != AuthMoreHeader {
		return nil, malformed("further authentication data")
	}
	return payload[1:], nil
}

func appendAttributes(dst []byte, attrs map[string]string) []byte {
	var all []byte
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		all = AppendLenencString(all, k)
		all = AppendLenencString(all, attrs[k])
	}
	return AppendLenencString(dst, all)
}

// attributes reads connection attributes: one length for all, then keys and values.
func (c *cursor) attributes() map[string]string {
	all := cursor{b: c.lenencString()}
	attrs := make(map[string]string)
	for len(all.b) > 0 {
		k := string(all.lenencString())
		v := string(all.lenencString())
		if all.bad {
			c.bad = true
			return nil
		}
		attrs[k] = v
	}
	return attrs
}

// untilNUL reads up to a NUL byte, or all of the rest if there is none: a last string's NUL may be missing.
func (c *cursor) untilNUL() []byte {
	s := untilNUL(c.b)
	c.b = c.b[min(len(s)+1, len(c.b)):]
	return s
}

func untilNUL(b []byte) []byte {
	for i, x := range b {
		if x == 0 {
			return b[:i:i]
		}
	}
	return b
}
