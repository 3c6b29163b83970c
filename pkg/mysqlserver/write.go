package mysqlserver

import (
	"errors"
	"io"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

const (
	// rowRoom is the room left in a buffer when it is flushed without being asked, so that one more row mostly fits.
	rowRoom = 4 << 10
	// writeChunk is the most that counts as one step of progress for a slow client.
	writeChunk = 256 << 10
)

// BeginPacket returns the buffer for the caller to append one payload to and hand back to EndPacket: the payload is built in
// place. Nothing else may be written in between.
func (c *Conn) BeginPacket() []byte {
	if c.out == nil {
		c.lend(smallBuffer)
	}
	c.wrote = true
	var b []byte
	b, c.packet = wire.BeginPacket(c.outBytes)
	return b
}

// EndPacket takes the buffer of BeginPacket with the payload appended. It flushes when much has been collected.
func (c *Conn) EndPacket(b []byte) error {
	c.outBytes = wire.EndPacket(b, c.packet, &c.seq)
	if len(c.outBytes) < len(c.out.b)-rowRoom {
		return nil
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if len(c.out.b) == smallBuffer { // the answer is a long one: fewer, larger writes from here on
		c.server.buffers.put(c.out)
		c.lend(largeBuffer)
	}
	return nil
}

func (c *Conn) lend(size int) {
	c.out = c.server.buffers.get(size)
	c.outBytes = c.out.b[:0]
}

// release gives back the output buffer, which must be flushed.
func (c *Conn) release() {
	if c.out != nil {
		c.server.buffers.put(c.out)
		c.out, c.outBytes = nil, nil
	}
}

// WritePacket writes payload as the next packet, or packets if it is 16 MB or longer.
func (c *Conn) WritePacket(payload []byte) error {
	return c.EndPacket(append(c.BeginPacket(), payload...))
}

// WriteOK writes the answer to a statement without rows.
func (c *Conn) WriteOK(ok wire.OK) error {
	return c.EndPacket(wire.AppendOK(c.BeginPacket(), ok, c.caps, wire.OKHeader))
}

// WriteEnd writes what ends rows: an EOF packet, or an OK packet in its place if the client negotiated CapDeprecateEOF.
func (c *Conn) WriteEnd(ok wire.OK) error {
	return c.EndPacket(wire.AppendEnd(c.BeginPacket(), ok, c.caps))
}

// WriteEOF writes what ends column definitions: an EOF packet, or nothing if the client negotiated CapDeprecateEOF.
func (c *Conn) WriteEOF(e wire.EOF) error {
	if c.caps.Has(wire.CapDeprecateEOF) {
		return nil
	}
	return c.EndPacket(wire.AppendEOF(c.BeginPacket(), e))
}

// WriteErr writes an error as the answer, or as the end of rows already written.
func (c *Conn) WriteErr(e *sqlerr.Error) error {
	return c.EndPacket(wire.AppendErr(c.BeginPacket(), e))
}

// mark is a place in what is buffered.
type mark struct {
	set bool
	at  int
	seq byte
}

// Mark begins what TakeBack takes back.
func (c *Conn) Mark() { c.mark = mark{set: true, at: len(c.outBytes), seq: c.seq} }

// TakeBack forgets the packets written since Mark, so that an error can be written in their place. It returns false if some of them have been
// sent already.
func (c *Conn) TakeBack() bool {
	if !c.mark.set {
		return false
	}
	c.outBytes, c.seq = c.outBytes[:c.mark.at], c.mark.seq
	return true
}

// Buffered is c for a relay whose answer TakeBack may take back: what Write would send at once is buffered as long as it has room.
func (c *Conn) Buffered() io.Writer { return buffered{c} }

type buffered struct{ *Conn }

func (b buffered) Write(p []byte) (int, error) {
	if b.out == nil {
		b.lend(smallBuffer)
	}
	if len(b.outBytes)+len(p) > len(b.out.b)-rowRoom {
		return b.Conn.Write(p)
	}
	b.wrote = true
	b.outBytes = append(b.outBytes, p...)
	return len(p), nil
}

// Seq is the sequence number the next packet written will bear.
func (c *Conn) Seq() byte { return c.seq }

// SetSeq sets the number of the next packet: after packets with numbers of their own went out by Write.
func (c *Conn) SetSeq(seq byte) { c.seq = seq }

// Write sends b, which already is packets with the right sequence numbers, straight to the client, after what is buffered.
func (c *Conn) Write(b []byte) (int, error) {
	if err := c.Flush(); err != nil {
		return 0, err
	}
	c.wrote = true
	return c.send(b)
}

// Flush sends what is buffered. The server flushes by itself when Handle returns.
func (c *Conn) Flush() error {
	if len(c.outBytes) == 0 {
		return nil
	}
	_, err := c.send(c.outBytes)
	c.outBytes = c.out.b[:0]
	return err
}

// send writes b to the socket, piece by piece so that the watcher sees a slow client's progress.
func (c *Conn) send(b []byte) (sent int, err error) {
	was := doing(c.activity.Load() & 3)
	c.mark.set = false
	for sent < len(b) {
		c.set(writing)
		n, err := c.sock.Write(b[sent:min(len(b), sent+writeChunk)])
		sent += n
		if err != nil {
			c.torn = true
			return sent, &clientGoneError{err}
		}
	}
	c.set(was)
	return sent, nil
}

// clientGoneError is a write to the client that failed.
type clientGoneError struct{ err error }

func (e *clientGoneError) Error() string { return "write to client: " + e.err.Error() }
func (e *clientGoneError) Unwrap() error { return e.err }

// IsClientGone reports whether err came from writing to a client that is no longer there, or takes nothing.
func IsClientGone(err error) bool {
	_, ok := errors.AsType[*clientGoneError](err)
	return ok
}
