package mysqlserver

import (
	"errors"
	"io"
	"os"

	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// readChunk is the most that is read at once: what package socket moves in one system call.
const readChunk = 256 << 10

// step is called when something may have arrived: it reads once and runs every command that is whole. It returns true
// when the connection is over; readErr then says why, nil if the client said goodbye.
func (c *Conn) step() (done bool) {
	c.makeRoom()
	n, err := c.sock.TryRead(c.in.b[c.end:min(len(c.in.b), c.end+readChunk)])
	if err == socket.ErrWouldBlock {
		c.rest()
		return false
	}
	if err != nil {
		c.readErr = err
		return true
	}
	c.end += n
	for {
		size, err := c.whole()
		if err != nil {
			c.readErr = err
			return true
		}
		if size == 0 {
			c.rest()
			return false
		}
		raw := c.in.b[c.start : c.start+size : c.start+size]
		c.start += size
		if c.run(raw) {
			return true
		}
		if c.endReason() != 0 {
			c.readErr = os.ErrDeadlineExceeded
			return true
		}
	}
}

// rest gives back what an idle connection does not need and tells the watcher what it is waiting for.
func (c *Conn) rest() {
	now := idle
	if c.start < c.end {
		now = reading
	} else if c.in != nil {
		c.server.buffers.put(c.in)
		c.in = nil
		c.start, c.end = 0, 0
	}
	c.release()
	if last := doing(c.activity.Load() & 3); last != now || now == reading {
		c.set(now)
	}
}

// makeRoom sees to it that there is room after end. A command that outgrows its buffer moves to one that is larger by
// what has really arrived, not by what its header claims.
func (c *Conn) makeRoom() {
	if c.in == nil {
		c.in = c.server.buffers.get(smallBuffer)
		c.start, c.end, c.want = 0, 0, 0
	}
	have := c.end - c.start
	switch {
	case c.start == c.end:
		c.start, c.end = 0, 0
	case c.end < len(c.in.b) && c.start+c.want <= len(c.in.b):
		// what is missing fits behind what is there
	case c.want <= len(c.in.b) && have < len(c.in.b):
		copy(c.in.b, c.in.b[c.start:c.end])
		c.start, c.end = 0, have
	case have == len(c.in.b):
		larger := c.server.buffers.get(min(c.want, 8*have))
		copy(larger.b, c.in.b[c.start:c.end])
		c.server.buffers.put(c.in)
		c.in = larger
		c.start, c.end = 0, have
	case c.start > 0:
		copy(c.in.b, c.in.b[c.start:c.end])
		c.start, c.end = 0, have
	}
}

// whole returns the length, headers included, of the command at start, 0 if it has not arrived whole. A command is one
// packet, or several if they are full; their numbers begin at 0.
func (c *Conn) whole() (int, error) {
	b := c.in.b[c.start:c.end]
	size := 0
	for packets := 1; ; packets++ {
		if len(b)-size < wire.HeaderLen {
			c.seq = byte(packets)
			c.want = size + wire.HeaderLen
			return 0, nil
		}
		n, seq := wire.Header(b[size:])
		c.seq = seq + 1
		if seq != byte(packets-1) {
			return 0, sqlerr.NetPacketOutOfOrder.New()
		}
		size += wire.HeaderLen + n
		if size-wire.HeaderLen*packets > c.server.cfg.MaxAllowedPacket {
			return 0, sqlerr.PacketTooLarge.New()
		}
		if len(b) < size {
			c.want = size
			return 0, nil
		}
		if n < wire.MaxPacket {
			return size, nil
		}
	}
}

// run executes one command and reports whether the connection is over.
func (c *Conn) run(raw []byte) (done bool) {
	c.request = raw
	payload := raw[wire.HeaderLen:]
	if len(payload) >= wire.MaxPacket {
		c.joined = join(c.joined[:0], raw)
		payload = c.joined
	}
	c.set(busy)
	var err error
	if len(payload) == 0 {
		err = sqlerr.UnknownCommand.New()
	} else {
		cmd, body := wire.Command(payload[0]), payload[1:]
		switch cmd {
		case wire.ComQuit:
			return true
		case wire.ComPing:
			err = c.WriteOK(wire.OK{Status: c.status})
		case wire.ComChangeUser:
			err = c.changeUserAside(body)
		default:
			err = c.handler.Handle(cmd, body)
			if err != nil && cmd.NoAnswer() && isClientError(err) {
				err = nil // there is nobody to tell
			}
		}
	}
	c.request, c.joined, c.nested = nil, nil, nil
	if err != nil {
		if c.wrote || !isClientError(err) {
			c.readErr = err
			return true
		}
		err = c.WriteErr(sqlerr.From(err))
	}
	if err == nil {
		err = c.Flush()
	}
	if err != nil {
		c.readErr = err
		return true
	}
	c.wrote = false
	c.set(idle)
	return false
}

// changeUserAside is changeUser where it may wait: for other logins, too.
func (c *Conn) changeUserAside(body []byte) (err error) {
	c.Task().Blocking(func() { err = c.changeUser(body) })
	return err
}

func isClientError(err error) bool {
	if _, ok := err.(*sqlerr.Error); ok {
		return true
	}
	_, ok := errors.AsType[*sqlerr.Error](err)
	return ok
}

// join appends the payloads of the packets in raw.
func join(dst, raw []byte) []byte {
	if cap(dst) < len(raw) {
		dst = make([]byte, 0, len(raw))
	}
	for len(raw) >= wire.HeaderLen {
		n, _ := wire.Header(raw)
		dst = append(dst, raw[wire.HeaderLen:wire.HeaderLen+n]...)
		raw = raw[wire.HeaderLen+n:]
	}
	return dst
}

// Request returns the command being handled as the client sent it: its packets with their headers, in one piece, after
// TLS and compression. It is valid until Handle returns.
func (c *Conn) Request() []byte { return c.request }

// ReadPacket flushes what was written, waits for one more packet of the client, within Handle, and returns its payload, joined if it
// is longer than one packet. It is valid until the next call. This is how the client's file arrives after a
// LOCAL INFILE request. The packet must bear the sequence number that is next.
func (c *Conn) ReadPacket() ([]byte, error) {
	if err := c.Flush(); err != nil {
		return nil, err
	}
	c.set(reading)
	defer c.set(busy)
	c.nested = c.nested[:0]
	for {
		var header [wire.HeaderLen]byte
		if err := c.readFull(header[:]); err != nil {
			return nil, err
		}
		n, seq := wire.Header(header[:])
		if seq != c.seq {
			return nil, c.fatal(sqlerr.NetPacketOutOfOrder.New())
		}
		c.seq++
		if len(c.nested)+n > c.maxPacket() {
			c.skip = n
			return nil, c.fatal(sqlerr.PacketTooLarge.New())
		}
		if err := c.readBody(n); err != nil {
			return nil, err
		}
		if n < wire.MaxPacket {
			return c.nested, nil
		}
	}
}

// readBody appends n bytes to nested, whose memory grows with what arrives.
func (c *Conn) readBody(n int) error {
	for n > 0 {
		have := len(c.nested)
		chunk := min(n, max(smallBuffer, have))
		if cap(c.nested)-have < chunk {
			larger := make([]byte, have, have+chunk)
			copy(larger, c.nested)
			c.nested = larger
		}
		c.nested = c.nested[:have+chunk]
		if err := c.readFull(c.nested[have:]); err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
		n -= chunk
	}
	return nil
}

// readFull fills p from what is buffered and then from the socket. The error is io.EOF only if the stream ends before p.
func (c *Conn) readFull(p []byte) error {
	size := len(p)
	if c.start < c.end {
		n := copy(p, c.in.b[c.start:c.end])
		c.start += n
		p = p[n:]
	}
	for len(p) > 0 {
		n, err := c.sock.Read(p)
		p = p[n:]
		if n > 0 {
			c.set(reading)
		}
		if err != nil && len(p) > 0 {
			if err == io.EOF && len(p) < size {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// maxPacket is the longest payload taken now: before login nobody has a reason to send much.
func (c *Conn) maxPacket() int {
	if !c.loggedIn {
		return maxLoginPacket
	}
	return c.server.cfg.MaxAllowedPacket
}

// fatal wraps an error that leaves the two sides out of step, so that the connection cannot go on.
func (c *Conn) fatal(e *sqlerr.Error) error { return &brokenError{e} }

// brokenError is an *sqlerr.Error after which the connection ends. It does not unwrap, so that nobody takes it for
// an answer after which the client may go on.
type brokenError struct{ err *sqlerr.Error }

func (e *brokenError) Error() string { return e.err.Error() }
