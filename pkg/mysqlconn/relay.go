package mysqlconn

import (
	"errors"
	"io"
	"net"

	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Relay sends request, the packets of one command with their headers, and copies the server's whole answer to dst as it arrives:
// nothing is decoded, and bytes are moved once into buf and once out of it. buf is the caller's, 16 KB or more. An answer
// that is an error of the server is an answer like any other: see ResultSummary.ErrCode.
//
// If the summary says LocalInfile, the answer has stopped to ask for a file, which nobody sends: the connection is of no more use. See
// SendFilePart for statements that load one.
//
// Errors are *LostError for trouble with the server and *DstError for trouble with dst; the summary then says how far the answer got.
func (c *Conn) Relay(request []byte, cmd wire.Command, dst io.Writer, buf []byte) (wire.ResultSummary, error) {
	c.scanner.Reset(cmd, c.caps)
	if !c.Usable() {
		return *c.scanner.Summary(), c.misused()
	}
	if cmd.NoAnswer() {
		return *c.scanner.Summary(), c.write(request)
	}
	c.scanner.Expect(wire.NextSeq(request))
	n, err := c.sock.Exchange(c.withLate(request), buf)
	return c.relay(n, err, dst, buf)
}

// RelayBehind is Relay of a request that goes out together with another statement before it, whose answer is not passed on: it
// has to be OK and nothing more, else the connection is given up. The server runs the request whatever becomes of the
// statement before it, so the request must be harmless without it.
func (c *Conn) RelayBehind(before string, request []byte, cmd wire.Command, dst io.Writer, buf []byte) (wire.ResultSummary, error) {
	c.scanner.Reset(cmd, c.caps)
	if !c.Usable() {
		return *c.scanner.Summary(), c.misused()
	}
	c.scanner.Expect(wire.NextSeq(request))
	c.out = append(c.out[:0], 0, 0, 0, 0, byte(wire.ComQuery))
	c.out = append(c.out, before...)
	var seq byte
	c.out = append(wire.EndPacket(c.out, 0, &seq), request...)
	n, err := c.sock.Exchange(c.withLate(c.out), buf)
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	need := wire.HeaderLen // of buf, before it is known how to go on
	for err == nil && need <= len(buf) {
		if n < need {
			var more int
			more, err = c.sock.Read(buf[n:])
			n += more
			continue
		}
		length, seq := wire.Header(buf)
		if n < wire.HeaderLen+length {
			need = wire.HeaderLen + length
			continue
		}
		if length == 0 || seq != 1 || buf[wire.HeaderLen] != wire.OKHeader {
			break
		}
		var ok wire.OK
		if ok, err = wire.ParseOK(buf[wire.HeaderLen:wire.HeaderLen+length], c.caps); err != nil {
			break
		}
		c.status = ok.Status // all that is known if the request fails
		n = copy(buf, buf[wire.HeaderLen+length:n])
		if n == 0 {
			n, err = c.sock.Read(buf)
		}
		return c.relay(n, err, dst, buf)
	}
	if err == nil {
		err = errors.New("'" + before + "' was not answered with OK")
	}
	return *c.scanner.Summary(), c.lostInRelay(c.cause(err))
}

// Batch is requests that go to a server in one write: commands of one kind.
type Batch struct {
	// Answered is called for each request in turn, with its whole answer, valid until Answered returns, and what that is. answer is nil if it is longer than
	// the buffer; sum is nil as well if it has not come, because the connection was lost, or of no use before.
	Answered func(i int, answer []byte, sum *wire.ResultSummary)

	requests []byte
	n        int
}

// Add adds a request: packets with their headers, numbered from 0.
func (b *Batch) Add(packets []byte) {
	b.requests = append(b.requests, packets...)
	b.n++
}

// Reset makes b empty.
func (b *Batch) Reset() { b.requests, b.n = b.requests[:0], 0 }

// RelayLast is RelayUnless of a request that goes out as the last one of a batch of its kind. The server runs them one after the other,
// whatever becomes of each; Answered has been called for all when RelayLast returns.
func (c *Conn) RelayLast(batch *Batch, withhold func(sqlerr.Code) bool, request []byte, cmd wire.Command, dst io.Writer, buf []byte) (wire.ResultSummary, error) {
	c.withhold = withhold
	answered := 0
	defer func() {
		c.withhold = nil
		for ; answered < batch.n; answered++ {
			batch.Answered(answered, nil, nil)
		}
	}()
	c.scanner.Reset(cmd, c.caps)
	if !c.Usable() {
		return *c.scanner.Summary(), c.misused()
	}
	c.out = append(append(c.out[:0], batch.requests...), request...)
	got, err := c.sock.Exchange(c.withLate(c.out), buf)
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	// buf[begin:fed] is what the scanner has seen of the answer at hand, buf[fed:end] what it has not.
	begin, fed, end, long := 0, 0, got, false
	c.scanner.Expect(1)
	for answered < batch.n && err == nil {
		used, done, bad := c.scanner.Feed(buf[fed:end])
		fed += used
		switch {
		case bad != nil:
			err = bad
			continue
		case done:
			answer := buf[begin:fed:fed]
			if long {
				answer = nil
			}
			i := answered
			answered++
			batch.Answered(i, answer, c.scanner.Summary())
			c.scanner.Reset(cmd, c.caps)
			c.scanner.Expect(1)
			begin, long = fed, false
			continue
		case begin > 0:
			end = copy(buf, buf[begin:end])
			begin, fed = 0, end
		case end == len(buf):
			fed, end, long = 0, 0, true
		}
		got, err = c.sock.Read(buf[end:])
		end += got
	}
	c.scanner.Reset(cmd, c.caps) // what has come of an answer that is not the request's is none of its
	c.scanner.Expect(wire.NextSeq(request))
	if err == nil && c.Broken() {
		err = net.ErrClosed // Answered has interrupted it: who did so may have met the request's answer
	}
	if got = copy(buf, buf[begin:end]); err == nil && got == 0 {
		got, err = c.sock.Read(buf)
	}
	return c.relay(got, err, dst, buf)
}

// RelayUnless is Relay that keeps an answer back which is nothing but an error of the server, if withhold says so to its
// code: that error is returned as *sqlerr.Error, and the connection stays usable.
func (c *Conn) RelayUnless(withhold func(sqlerr.Code) bool, request []byte, cmd wire.Command, dst io.Writer, buf []byte) (wire.ResultSummary, error) {
	c.withhold = withhold
	defer func() { c.withhold = nil }()
	return c.Relay(request, cmd, dst, buf)
}

// withheld reads into buf, in which n bytes of the answer are, the rest of an error at its beginning, and returns it if it is
// not to be passed on.
func (c *Conn) withheld(n int, buf []byte) (all int, refused *sqlerr.Error, err error) {
	for n < wire.HeaderLen+1 || buf[wire.HeaderLen] == wire.ErrHeader {
		if n >= wire.HeaderLen {
			if length, _ := wire.Header(buf); n >= wire.HeaderLen+length {
				if refused, err = wire.ParseErr(buf[wire.HeaderLen : wire.HeaderLen+length]); err != nil || !c.withhold(refused.Code) {
					return n, nil, nil //nolint:nilerr // what cannot be read is for the scanner to judge
				}
				return n, refused, nil
			}
		}
		if n == len(buf) {
			break
		}
		more, err := c.sock.Read(buf[n:])
		if err != nil {
			return n, nil, err
		}
		n += more
	}
	return n, nil, nil
}

// relay passes on what has been read into buf, n bytes, and what follows until the answer ends.
func (c *Conn) relay(n int, err error, dst io.Writer, buf []byte) (wire.ResultSummary, error) {
	sum := c.scanner.Summary()
	var refused *sqlerr.Error
	if err == nil && c.withhold != nil {
		n, refused, err = c.withheld(n, buf)
	}
	for {
		if err != nil {
			return *sum, c.lostInRelay(c.cause(err))
		}
		used, done, bad := c.scanner.Feed(buf[:n])
		if refused != nil && done && used == n {
			return *sum, refused
		}
		if used > 0 && bad == nil {
			if _, err := dst.Write(buf[:used]); err != nil {
				c.broken = c.broken || !done || used < n
				return *sum, &DstError{Err: err}
			}
		}
		switch {
		case bad != nil:
			sum.Bytes -= uint64(used) // they were not passed on
			e := c.lostInRelay(bad)
			e.Boundary = e.Boundary && !e.Partial
			return *sum, e
		case done && used < n:
			c.broken = true // the answer is whole; only the connection cannot be trusted any more
			return *sum, nil
		case done:
			c.fileAsk = sum.LocalInfile
			c.refuses = c.refuses || readOnly(sum.ErrCode)
			if !sum.Failed() && !c.fileAsk {
				c.noteStatus(sum)
			}
			return *sum, nil
		}
		n, err = c.sock.Read(buf)
	}
}

// noteStatus remembers the server's state, which answers without one do not change.
func (c *Conn) noteStatus(sum *wire.ResultSummary) {
	if sum.Status != 0 {
		c.status = sum.Status
	}
}

func (c *Conn) lostInRelay(cause error) *LostError {
	e := c.lost(cause)
	sum := c.scanner.Summary()
	e.Partial = sum.Bytes > 0
	e.Boundary = c.scanner.Boundary()
	e.NextSeq = sum.NextSeq
	return e
}
