package wire

import "encoding/binary"

// lenencNull in the place of a length-encoded string's length is SQL NULL.
const lenencNull = 0xfb

// AppendLenencInt appends n as a length-encoded integer: 1, 3, 4 or 9 bytes.
func AppendLenencInt(dst []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
	}
}

// AppendLenencString appends s with its length before it.
func AppendLenencString[S ~string | ~[]byte](dst []byte, s S) []byte {
	return append(AppendLenencInt(dst, uint64(len(s))), s...)
}

// LenencInt reads a length-encoded integer at the start of b and returns how many bytes it took; size is 0 when b
// does not start with a whole one (0xfb, NULL, and 0xff are none).
func LenencInt(b []byte) (n uint64, size int) {
	if len(b) == 0 {
		return 0, 0
	}
	switch c := b[0]; {
	case c < 0xfb:
		return uint64(c), 1
	case c == 0xfc && len(b) >= 3:
		return uint64(b[1]) | uint64(b[2])<<8, 3
	case c == 0xfd && len(b) >= 4:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	case c == 0xfe && len(b) >= 9:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	return 0, 0
}

// LenencString reads a length-encoded string at the start of b; size is what it took with its length, 0 when b does
// not start with a whole one.
func LenencString(b []byte) (s []byte, size int) {
	n, k := LenencInt(b)
	if k == 0 || n > uint64(len(b)-k) {
		return nil, 0
	}
	end := k + int(n)
	return b[k:end:end], end
}

// cursor walks a payload. After a read that did not fit, bad stays true and all further reads return zero, so that a
// Parse function tests it once at its end.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad = true
		c.b = nil
		return nil
	}
	p := c.b[:n:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) uint8() byte {
	if p := c.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if p := c.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *cursor) lenencInt() uint64 {
	n, k := LenencInt(c.b)
	if k == 0 {
		c.take(len(c.b) + 1)
		return 0
	}
	c.b = c.b[k:]
	return n
}

func (c *cursor) lenencString() []byte {
	s, k := LenencString(c.b)
	if k == 0 {
		c.take(len(c.b) + 1)
		return nil
	}
	c.b = c.b[k:]
	return s
}

// nulString reads up to a NUL byte, which it skips.
func (c *cursor) nulString() []byte {
	for i, x := range c.b {
		if x == 0 {
			s := c.b[:i:i]
			c.b = c.b[i+1:]
			return s
		}
	}
	c.take(len(c.b) + 1)
	return nil
}

func (c *cursor) rest() []byte {
	s := c.b
	c.b = nil
	return s
}
