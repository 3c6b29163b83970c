package wire

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"skarv/pkg/sqlerr"
)

// A compressed connection carries the stream of packets in frames:
//
//	3 bytes  length of what follows the header
//	1 byte   number of the frame; both sides count on, from 0 at each command
//	3 bytes  length before compression; 0: the content is not compressed
//
// The stream may be cut anywhere. But there are clients (Connector/Python) that find no more of a packet than its beginning in one frame and
// the rest in the next, for servers cut no other way; so does Write.
const (
	frameHeaderLen = 7
	// minCompress is the length from which servers and clients compress.
	minCompress = 50
	// frameContent is how much is compressed into one frame. Twice what zlib looks back on is worth it, more only waits longer.
	frameContent = 128 << 10
	// maxFrameContent is less than a header can say: content that cannot be compressed gets longer.
	maxFrameContent = MaxPacket - 64<<10
	maxZstdLevel    = 22
)

// Compression lends the compressors and decompressors, which are large, to connections for the time of one frame. It is safe for
// concurrent use.
type Compression struct {
	zlibReaders, zlibWriters, zstdReaders sync.Pool
	zstdWriters                           [int(zstd.SpeedBestCompression) + 1]sync.Pool
	frames                                sync.Pool
}

// NewCompression returns an empty Compression. One is enough for a process.
func NewCompression() *Compression { return &Compression{} }

// Zlib wraps nc for a connection that negotiated CapCompress.
func (z *Compression) Zlib(nc net.Conn) *CompressedConn {
	return &CompressedConn{Conn: nc, z: z, in: bufio.NewReaderSize(nc, 4<<10)}
}

// Zstd wraps nc for a connection that negotiated CapZstd with a level of 1 to 22; others are brought into that range.
func (z *Compression) Zstd(nc net.Conn, level int) *CompressedConn {
	c := z.Zlib(nc)
	c.zstd = true
	c.level = zstd.EncoderLevelFromZstd(min(max(level, 1), maxZstdLevel))
	return c
}

// CompressedConn is a net.Conn whose Read and Write carry plain packets and whose peer sees frames. Read and Write
// belong to one goroutine, for they share the frame's number.
type CompressedConn struct {
	net.Conn
	z     *Compression
	zstd  bool
	level zstd.EncoderLevel
	seq   byte // of the next frame written

	rest int    // bytes still to be written of the packet whose beginning is
	held []byte // what has been given to Write and waits for the rest of its packet, or of its header

	in    *bufio.Reader
	plain int // bytes of an uncompressed frame still to come
	frame frameReader
	left  int       // bytes the current compressed frame still has to give
	from  io.Reader // its decompressor, nil between frames
}

// ResetSequence begins the numbering of frames anew: what a client does before each command. A server's numbers follow the client's.
func (c *CompressedConn) ResetSequence() { c.seq = 0 }

// Read returns what a frame holds, or part of it.
func (c *CompressedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case c.plain > 0:
			n, err := c.in.Read(p[:min(len(p), c.plain)])
			c.plain -= n
			if n > 0 {
				return n, nil
			}
			return 0, midFrame(err)
		case c.from != nil:
			n, err := c.from.Read(p[:min(len(p), c.left)])
			c.left -= n
			if c.left == 0 {
				err = c.endFrame()
			}
			if err != nil && (n == 0 || c.left == 0) {
				return n, c.broken(err)
			}
			if n > 0 {
				return n, nil
			}
		default:
			if err := c.beginFrame(); err != nil {
				return 0, err
			}
		}
	}
}

func (c *CompressedConn) beginFrame() error {
	var h [frameHeaderLen]byte
	if _, err := io.ReadFull(c.in, h[:]); err != nil {
		return err
	}
	length, seq := Header(h[:])
	c.seq = seq + 1
	content, _ := Header(append(h[4:7:7], 0))
	if content == 0 {
		c.plain = length
		return nil
	}
	c.left = content
	c.frame = frameReader{r: c.in, left: length}
	var err error
	if c.zstd {
		d, _ := c.z.zstdReaders.Get().(*zstd.Decoder)
		if d == nil {
			d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(MaxPacket+1), zstd.WithDecoderMaxMemory(MaxPacket+1))
		}
		if err == nil {
			err = d.Reset(&c.frame)
			c.from = d
		}
	} else {
		r := c.z.zlibReaders.Get()
		if r == nil {
			c.from, err = zlib.NewReader(&c.frame)
		} else {
			err = r.(zlib.Resetter).Reset(&c.frame, nil)
			c.from = r.(io.Reader)
		}
	}
	if err != nil {
		return c.broken(err)
	}
	return nil
}

// endFrame checks that a frame ends where its header says, and gives its decompressor back.
func (c *CompressedConn) endFrame() error {
	var more [1]byte
	n, err := io.ReadFull(c.from, more[:])
	if n > 0 || c.frame.left > 0 {
		return errFrameLength
	}
	if err != io.EOF {
		return err
	}
	if c.zstd {
		d := c.from.(*zstd.Decoder)
		if err := d.Reset(nil); err == nil {
			c.z.zstdReaders.Put(d)
		}
	} else {
		c.z.zlibReaders.Put(c.from)
	}
	c.from = nil
	return nil
}

var errFrameLength = errors.New("wire: compressed frame is not as long as it says")

// broken is the error for content that cannot be decompressed; trouble of the connection itself stays what it is.
func (c *CompressedConn) broken(err error) error {
	c.from = nil
	if e := c.frame.err; e != nil {
		return midFrame(e)
	}
	return sqlerr.NetUncompressError.New()
}

func midFrame(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// frameReader reads the content of one frame and remembers what went wrong with the connection below.
type frameReader struct {
	r    *bufio.Reader
	left int
	err  error
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	if err != nil {
		f.err = err
	}
	return n, err
}

func (f *frameReader) ReadByte() (byte, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	b, err := f.r.ReadByte()
	if err != nil {
		f.err = err
		return 0, err
	}
	f.left--
	return b, nil
}

// Write sends p in as many frames as it takes. What follows the beginning of a packet waits until it is whole.
func (c *CompressedConn) Write(p []byte) (written int, err error) {
	buf, _ := c.z.frames.Get().(*frameBuffer)
	if buf == nil {
		buf = &frameBuffer{}
	}
	defer func() {
		if cap(buf.b) <= 2*frameContent {
			c.z.frames.Put(buf)
		}
	}()
	for written < len(p) {
		left := p[written:]
		n := min(len(left), max(c.needs(), frameContent)-len(c.held))
		content := left[:n]
		if len(c.held) > 0 || n < max(c.needs(), HeaderLen) {
			c.held = append(c.held, content...)
			content = c.held
		}
		whole, rest := c.cut(content)
		if whole == 0 {
			return len(p), nil
		}
		if err := c.encode(buf, content[:whole]); err != nil {
			return written, err
		}
		if _, err := c.Conn.Write(buf.b); err != nil {
			return written, err
		}
		written += n - (len(content) - whole)
		c.held, c.rest = nil, rest
	}
	return written, nil
}

// needs is how many bytes the next frame must have.
func (c *CompressedConn) needs() int { return max(1, min(c.rest, maxFrameContent)) }

// cut returns how much of content, which begins the next frame, can be that frame, and what is then missing of the last packet in it: nothing
// ends within a header, nor within what is left of a packet that began in the frame before.
func (c *CompressedConn) cut(content []byte) (whole, rest int) {
	if len(content) < c.needs() {
		return 0, c.rest
	}
	if c.rest > len(content) {
		return len(content), c.rest - len(content)
	}
	at := c.rest
	for len(content)-at >= HeaderLen {
		length, _ := Header(content[at:])
		if at += HeaderLen + length; at > len(content) {
			return len(content), at - len(content)
		}
	}
	return at, 0
}

// encode makes one frame of content in buf.
func (c *CompressedConn) encode(buf *frameBuffer, content []byte) error {
	buf.b = append(buf.b[:0], 0, 0, 0, 0, 0, 0, 0)
	length := 0
	if len(content) >= minCompress {
		if err := c.deflate(buf, content); err != nil {
			return err
		}
		length = len(content)
	}
	if length == 0 || len(buf.b)-frameHeaderLen >= len(content) {
		buf.b = append(buf.b[:frameHeaderLen], content...)
		length = 0
	}
	PutHeader(buf.b, len(buf.b)-frameHeaderLen, c.seq)
	buf.b[4], buf.b[5], buf.b[6] = byte(length), byte(length>>8), byte(length>>16)
	c.seq++
	return nil
}

// deflate appends content, compressed, to buf.
func (c *CompressedConn) deflate(buf *frameBuffer, content []byte) error {
	if c.zstd {
		pool := &c.z.zstdWriters[c.level]
		w, _ := pool.Get().(*zstd.Encoder)
		if w == nil {
			var err error
			w, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(c.level), zstd.WithLowerEncoderMem(true))
			if err != nil {
				return err
			}
		}
		buf.b = w.EncodeAll(content, buf.b)
		pool.Put(w)
		return nil
	}
	w, _ := c.z.zlibWriters.Get().(*zlib.Writer)
	if w == nil {
		w = zlib.NewWriter(buf)
	} else {
		w.Reset(buf)
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	c.z.zlibWriters.Put(w)
	return nil
}

type frameBuffer struct{ b []byte }

func (f *frameBuffer) Write(p []byte) (int, error) {
	f.b = append(f.b, p...)
	return len(p), nil
}
