package binlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// cursor reads the fields of an event. A read beyond the end gives zeros and is remembered: the caller asks once, at the end.
type cursor struct {
	b   []byte
	bad bool
}

// take returns the next n bytes, or nil if there are not so many.
func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

// uint reads a little-endian number of n bytes, at most 8.
func (c *cursor) uint(n int) uint64 {
	p := c.take(n)
	var v uint64
	for i := len(p) - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v
}

// bigUint reads a big-endian number of n bytes, at most 8.
func (c *cursor) bigUint(n int) uint64 {
	var v uint64
	for _, b := range c.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (c *cursor) byte() byte     { return byte(c.uint(1)) }
func (c *cursor) uint16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) uint32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) uint64() uint64 { return c.uint(8) }

// lenenc reads a length-encoded number.
func (c *cursor) lenenc() uint64 {
	switch first := c.byte(); first {
	case 0xfc:
		return c.uint(2)
	case 0xfd:
		return c.uint(3)
	case 0xfe:
		return c.uint(8)
	case 0xfb, 0xff:
		c.bad = true
		return 0
	default:
		return uint64(first)
	}
}

// count reads a length-encoded number of things of at least one byte each.
func (c *cursor) count() int {
	n := c.lenenc()
	if n > uint64(len(c.b)) {
		c.bad = true
		return 0
	}
	return int(n)
}

// err says that the event called name was damaged, if it was.
func (c *cursor) err(name string) error {
	if c.bad {
		return fmt.Errorf("%w: %s", ErrDamaged, name)
	}
	return nil
}

func bit(bitmap []byte, i int) bool { return bitmap[i/8]&(1<<(i%8)) != 0 }

func bitmapSize(n int) int { return (n + 7) / 8 }

// The fields of an event's header.
const (
	headerSize   = 19
	headerType   = 4
	checksumSize = 4
)

// event is one event of the log, without its header.
type event struct {
	kind   byte
	time   uint32
	server uint32
	body   []byte
}

// Kinds of events.
const (
	queryEvent           = 2
	rotateEvent          = 4
	formatEvent          = 15
	xidEvent             = 16
	tableMapEvent        = 19
	writeRowsV1          = 23
	updateRowsV1         = 24
	deleteRowsV1         = 25
	incidentEvent        = 26
	heartbeatEvent       = 27
	writeRowsV2          = 30
	updateRowsV2         = 31
	deleteRowsV2         = 32
	gtidEvent            = 33
	anonymousEvent       = 34
	xaPrepareEvent       = 38
	partialUpdateEvent   = 39
	payloadEvent         = 40
	heartbeatEventV2     = 41
	taggedGTIDEvent      = 42
	mariaGTIDEvent       = 162
	mariaGTIDListEvent   = 163
	mariaQueryCompressed = 165
	mariaWriteV1         = 166 // compressed, as all that follow
	mariaUpdateV1        = 167
	mariaDeleteV1        = 168
	mariaWriteV2         = 169
	mariaUpdateV2        = 170
	mariaDeleteV2        = 171
)

// readEvent takes an event apart. checksummed says whether it ends with its CRC32.
func readEvent(b []byte, checksummed bool) (event, error) {
	if len(b) < headerSize {
		return event{}, fmt.Errorf("%w: header", ErrDamaged)
	}
	if size := binary.LittleEndian.Uint32(b[9:]); int(size) != len(b) {
		return event{}, fmt.Errorf("%w: event of %d bytes came with %d", ErrDamaged, size, len(b))
	}
	e := event{kind: b[headerType], time: binary.LittleEndian.Uint32(b), server: binary.LittleEndian.Uint32(b[5:]), body: b[headerSize:]}
	// The format event says whether it and those behind it have one; it has room for it in any case. What comes in front of it is
	// of no interest.
	if checksummed && e.kind != formatEvent {
		at := len(b) - checksumSize
		if at < headerSize || crc32.ChecksumIEEE(b[:at]) != binary.LittleEndian.Uint32(b[at:]) {
			return event{}, fmt.Errorf("%w: checksum", ErrDamaged)
		}
		e.body = b[headerSize:at]
	}
	return e, nil
}

// hasChecksums reads from a format event whether the events behind it have checksums.
func hasChecksums(body []byte) (bool, error) {
	c := cursor{b: body}
	version := c.uint16()
	if c.bad || version != 4 || len(body) < 57+checksumSize+1 {
		return false, fmt.Errorf("%w: format", ErrDamaged)
	}
	switch algorithm := body[len(body)-checksumSize-1]; algorithm {
	case 0, 255:
		return false, nil
	case 1:
		return true, nil
	default:
		return false, fmt.Errorf("%w: checksum algorithm %d", ErrFormat, algorithm)
	}
}
