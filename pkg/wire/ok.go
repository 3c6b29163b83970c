package wire

import "encoding/binary"

// First bytes of the payloads that end a result or a command.
const (
	OKHeader    = 0x00
	LocalHeader = 0xfb // asks the client for a file: LOAD DATA LOCAL
	EOFHeader   = 0xfe // an EOF packet, or with CapDeprecateEOF the OK packet that stands in for it
	ErrHeader   = 0xff
)

// OK is the packet that ends a statement without rows and, with CapDeprecateEOF, also one with rows.
type OK struct {
	AffectedRows uint64
	LastInsertID uint64
	Status       Status
	Warnings     uint16
	Info         []byte
	SessionState []byte // encoded changes, see NextSessionChange; only with CapSessionTrack
}

// AppendOK appends the payload of an OK packet. header is OKHeader, or EOFHeader for one that ends rows. SessionState
// is sent, and its flag set, if there is any and the client negotiated session tracking.
func AppendOK(dst []byte, ok OK, caps Capability, header byte) []byte {
	track := caps.Has(CapSessionTrack) && len(ok.SessionState) > 0
	status := ok.Status &^ StatusSessionStateChanged
	if track {
		status |= StatusSessionStateChanged
	}
	dst = append(dst, header)
	dst = AppendLenencInt(dst, ok.AffectedRows)
	dst = AppendLenencInt(dst, ok.LastInsertID)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(status))
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	// Servers write the text with its length whether or not session tracking is on, and nothing at all for none.
	if len(ok.Info) > 0 || track {
		dst = AppendLenencString(dst, ok.Info)
	}
	if track {
		dst = AppendLenencString(dst, ok.SessionState)
	}
	return dst
}

// ParseOK reads the payload of an OK packet with either header. Info and SessionState point into it.
func ParseOK(payload []byte, caps Capability) (OK, error) {
	ok, rest, err := parseOKHead(payload)
	if err != nil || len(rest) == 0 {
		return ok, err
	}
	info, size := LenencString(rest)
	if size == 0 {
		// The protocol's description has the text without a length; be ready for a server that follows it.
		ok.Info = rest
		return ok, nil
	}
	ok.Info = info
	if caps.Has(CapSessionTrack) && ok.Status.Has(StatusSessionStateChanged) {
		c := cursor{b: rest[size:]}
		ok.SessionState = c.lenencString()
		if c.bad {
			return OK{}, malformed("OK packet's session state")
		}
	}
	return ok, nil
}

// parseOKHead reads the numbers an OK packet begins with and returns what follows them.
func parseOKHead(payload []byte) (ok OK, rest []byte, err error) {
	c := cursor{b: payload}
	header := c.uint8()
	ok = OK{
		AffectedRows: c.lenencInt(),
		LastInsertID: c.lenencInt(),
		Status:       Status(c.uint16()),
		Warnings:     c.uint16(),
	}
	if c.bad || header != OKHeader && header != EOFHeader {
		return OK{}, nil, malformed("OK packet")
	}
	return ok, c.b, nil
}
