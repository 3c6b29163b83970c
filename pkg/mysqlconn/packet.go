package mysqlconn

import (
	"errors"
	"net"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

const (
	firstBuffer = 8 << 10
	fastBuffer  = 64 << 10  // the buffer grows to this when reads fill it
	keepBuffer  = 256 << 10 // a larger one is given up when it is empty
)

// readPacket returns the payload of the next packet, joined if it came in several. It is valid until the next call.
func (c *Conn) readPacket() ([]byte, error) {
	if c.broken {
		return nil, c.lost(net.ErrClosed)
	}
	// Positions are relative to c.r, because need moves what is in the buffer.
	next, total := 0, 0 // where the next header is; length of what has been joined, which begins behind the first header
	for {
		if err := c.need(next + wire.HeaderLen); err != nil {
			return nil, err
		}
		length, seq := wire.Header(c.in[c.r+next:])
		if seq != c.seq && !c.anySeq {
			return nil, c.lost(errors.New("packets out of order"))
		}
		c.anySeq = false
		c.seq = seq + 1
		if total+length > c.maxPacket {
			return nil, c.lost(sqlerr.PacketTooLarge.New())
		}
		if err := c.need(next + wire.HeaderLen + length); err != nil {
			return nil, err
		}
		from := c.r + next + wire.HeaderLen
		if next > 0 {
			copy(c.in[c.r+wire.HeaderLen+total:], c.in[from:from+length])
		}
		total += length
		next += wire.HeaderLen + length
		if length < wire.MaxPacket {
			payload := c.in[c.r+wire.HeaderLen : c.r+wire.HeaderLen+total]
			c.r += next
			if c.capture != nil {
				*c.capture = wire.AppendPacket(*c.capture, &seq, payload)
			}
			return payload, nil
		}
	}
}

// need reads until n bytes lie behind c.r.
func (c *Conn) need(n int) error {
	for c.w-c.r < n {
		c.makeRoom(n)
		got, err := c.sock.Read(c.in[c.w:])
		if err != nil {
			return c.lost(c.cause(err))
		}
		c.w += got
	}
	return nil
}

// makeRoom leaves space behind c.w, and for n bytes behind c.r.
func (c *Conn) makeRoom(n int) {
	have := c.w - c.r
	size := len(c.in)
	switch {
	case have == 0 && size > keepBuffer && n <= keepBuffer:
		size = fastBuffer
	case have > 0 && c.w == size && size < fastBuffer:
		size *= 2 // the last read has filled it
	}
	size = max(size, firstBuffer)
	if size < n {
		size = max(n, min(2*size, n+1<<20))
	}
	switch {
	case size != len(c.in):
		in := make([]byte, size)
		copy(in, c.in[c.r:c.w])
		c.in = in
	case have == 0 || size-c.r < n:
		copy(c.in, c.in[c.r:c.w])
	default:
		if c.w < size {
			return
		}
		copy(c.in, c.in[c.r:c.w])
	}
	c.r, c.w = 0, have
}

// writePacket sends one payload in answer to what was read last; only the login does that.
func (c *Conn) writePacket(payload []byte) error {
	c.out = wire.AppendPacket(c.out[:0], &c.seq, payload)
	err := c.write(c.out)
	clear(c.out[:cap(c.out)]) // it may have held the password
	return err
}
