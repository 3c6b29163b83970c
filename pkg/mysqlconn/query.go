package mysqlconn

import (
	"errors"
	"io"
	"slices"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Head is how a result begins.
type Head struct {
	// OK is the whole of a result without rows, else nil. It is valid until the next call on the connection.
	OK *wire.OK
	// Columns are those of the rows to be read. Nobody may change them: the next result with the same columns shares them.
	Columns []sqltypes.Column
	// File, not nil, is the name of the file that LOAD DATA LOCAL asks for: see ExpectFile.
	File []byte
}

// ExpectFile says that the next answer may ask for a file. If ReadHead's Head has a File, its contents go to the server through
// SendFilePart, the last of them empty, and then ReadHead reads how the answer goes on.
func (c *Conn) ExpectFile() { c.expectFile = true }

// SendFilePart sends a part of a file that was asked for, less than 16 MB; an empty one ends the file.
func (c *Conn) SendFilePart(part []byte) error {
	if !c.sendingFile {
		return c.misused()
	}
	c.sendingFile = len(part) > 0
	return c.writePacket(part)
}

// Send writes one command and reads nothing. Several may be sent before their answers are read, in the order of sending.
func (c *Conn) Send(cmd wire.Command, body []byte) error {
	c.compose(cmd, body)
	err := c.write(c.out)
	return c.sent(cmd, err)
}

// Ask is Send for a command whose answer is read next: it returns when that begins to arrive, which is cheaper than Send and a
// read that is tried too early.
func (c *Conn) Ask(cmd wire.Command, body []byte) error {
	c.compose(cmd, body)
	err := c.exchange(c.out, c.silent())
	return c.sent(cmd, err)
}

// compose puts a command together in c.out.
func (c *Conn) compose(cmd wire.Command, body []byte) {
	c.out = append(c.out[:0], 0, 0, 0, 0, byte(cmd))
	c.out = append(c.out, body...)
	var seq byte
	c.out = wire.EndPacket(c.out, 0, &seq)
}

func (c *Conn) sent(cmd wire.Command, err error) error {
	if cap(c.out) > keepBuffer {
		c.out = nil
	}
	if err == nil {
		c.asked(cmd)
	}
	return err
}

// SendRaw writes commands that already are packets, headers included, each numbered from 0.
func (c *Conn) SendRaw(packets []byte) error {
	if err := c.askedFor(packets); err != nil {
		return err
	}
	return c.write(packets)
}

// AskRaw is to SendRaw what Ask is to Send.
func (c *Conn) AskRaw(packets []byte) error {
	silent := c.silent()
	if err := c.askedFor(packets); err != nil {
		return err
	}
	return c.exchange(packets, silent)
}

// askedFor notes the commands in packets.
func (c *Conn) askedFor(packets []byte) error {
	for rest, goesOn := packets, false; len(rest) > 0; {
		if len(rest) < wire.HeaderLen {
			return errors.New("mysqlconn: SendRaw of half a packet")
		}
		length, _ := wire.Header(rest)
		if len(rest) < wire.HeaderLen+length || length == 0 && !goesOn {
			return errors.New("mysqlconn: SendRaw of half a packet")
		}
		if !goesOn {
			c.asked(wire.Command(rest[wire.HeaderLen]))
		}
		goesOn = length == wire.MaxPacket
		rest = rest[wire.HeaderLen+length:]
	}
	return nil
}

func (c *Conn) asked(cmd wire.Command) {
	if cmd.NoAnswer() {
		return
	}
	if c.pending == 0 {
		c.anySeq = true
	}
	c.refusal = nil
	c.pending++
}

// ended notes that the answer being read has been read to its end.
func (c *Conn) ended() {
	c.rows, c.more = false, false
	c.anySeq = true
	c.pending--
}

// endResult notes the status at the end of a result, which may have another one behind it.
func (c *Conn) endResult(ok wire.OK) {
	c.end, c.status, c.refusal = ok, ok.Status, nil
	c.rows = false
	c.more = ok.Status.Has(wire.StatusMoreResults)
	if !c.more {
		c.ended()
	}
}

// serverError reads an ERR packet, which ends an answer wherever it stands.
func (c *Conn) serverError(payload []byte) error {
	e, err := wire.ParseErr(payload)
	if err != nil {
		return c.lost(err)
	}
	c.refusal = e
	c.doubt = c.doubt || sqlerr.MayRollBack(e) || sqlerr.CutShort(e)
	c.refuses = c.refuses || readOnly(e.Code)
	return e
}

// ReadOnly reports whether the server has refused anything for being read-only.
func (c *Conn) ReadOnly() bool { return c.refuses }

func readOnly(code sqlerr.Code) bool {
	return code == sqlerr.OptionPreventsStatement || code == sqlerr.ReadOnlyMode
}

// Doubt reports whether the server has told an error by which it may have rolled back the transaction, since Doubt was called with clear.
func (c *Conn) Doubt(clear bool) bool {
	doubt := c.doubt
	c.doubt = doubt && !clear
	return doubt
}

// Refusal is the error with which the server has ended the last answer; nil if it has not.
func (c *Conn) Refusal() error { return c.refusal }

// ReadHead reads how the next result begins: of the answer being read if MoreResults, else of the next one sent for. The server's
// refusal is an *sqlerr.Error as the server sent it; it ends the answer and leaves the connection usable. It serves the
// commands that answer as COM_QUERY does or with OK only.
func (c *Conn) ReadHead() (Head, error) {
	if c.pending == 0 || c.rows {
		return Head{}, sqlerr.NetPacketOutOfOrder.New()
	}
	payload, err := c.readPacket()
	if err != nil {
		return Head{}, err
	}
	if len(payload) == 0 {
		return Head{}, c.lost(errors.New("empty packet in place of a result"))
	}
	switch payload[0] {
	case wire.ErrHeader:
		c.ended()
		return Head{}, c.serverError(payload)
	case wire.OKHeader:
		ok, err := wire.ParseOK(payload, c.caps)
		return c.headOK(ok, err)
	case wire.EOFHeader: // COM_SET_OPTION
		ok, err := wire.ParseEnd(payload, c.caps)
		return c.headOK(ok, err)
	case wire.LocalHeader:
		if !c.expectFile {
			return Head{}, c.refuseFile()
		}
		c.expectFile, c.sendingFile = false, true
		return Head{File: slices.Clone(payload[1:])}, nil
	}
	n, size := wire.LenencInt(payload)
	if size != len(payload) || n == 0 || n > 1<<16 {
		return Head{}, c.lost(errors.New("bad column count"))
	}
	columns, err := c.readColumns(int(n))
	if err != nil {
		return Head{}, err
	}
	c.rows = true
	if !c.caps.Has(wire.CapDeprecateEOF) {
		ok, err := c.readEOF()
		if err != nil {
			return Head{}, err
		}
		if ok.Status.Has(wire.StatusCursorExists) {
			c.endResult(ok) // the rows stay on the server until they are fetched
		}
	}
	return Head{Columns: columns}, nil
}

func (c *Conn) headOK(ok wire.OK, err error) (Head, error) {
	if err != nil {
		return Head{}, c.lost(err)
	}
	c.endResult(ok)
	return Head{OK: &c.end}, nil
}

// refuseFile answers LOAD DATA LOCAL with no data: only Relay has a client who could send the file.
func (c *Conn) refuseFile() error {
	if err := c.writePacket(nil); err != nil {
		return err
	}
	if _, err := c.ReadHead(); err != nil {
		return err
	}
	return sqlerr.Unsupported("LOAD DATA LOCAL INFILE inside other statements", "send it as a statement of its own")
}

// readEOF reads the packet behind definitions.
func (c *Conn) readEOF() (wire.OK, error) {
	payload, err := c.readPacket()
	if err != nil {
		return wire.OK{}, err
	}
	e, err := wire.ParseEOF(payload)
	if err != nil {
		return wire.OK{}, c.lost(err)
	}
	return wire.OK{Status: e.Status, Warnings: e.Warnings}, nil
}

// ReadRow returns the payload of the next row, valid until the next call on the connection, and io.EOF behind the last one. An
// *sqlerr.Error is the server's, which broke off the result and the answer.
func (c *Conn) ReadRow() ([]byte, error) {
	if !c.rows {
		return nil, io.EOF
	}
	payload, err := c.readPacket()
	if err != nil {
		return nil, err
	}
	switch {
	case len(payload) == 0:
		return nil, c.lost(errors.New("empty packet among rows"))
	case payload[0] == wire.ErrHeader:
		c.ended()
		return nil, c.serverError(payload)
	case wire.IsEOF(payload, c.caps):
		ok, err := wire.ParseEnd(payload, c.caps)
		if err != nil {
			return nil, c.lost(err)
		}
		c.endResult(ok)
		return nil, io.EOF
	}
	return payload, nil
}

// EndStatus is what the server said at the end of the last result.
func (c *Conn) EndStatus() wire.OK { return c.end }

// MoreResults reports whether the answer being read goes on with another result, for ReadHead to read.
func (c *Conn) MoreResults() bool { return c.more }

// DiscardRows reads the rows that are left of the present result.
func (c *Conn) DiscardRows() error {
	for {
		if _, err := c.ReadRow(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// finish reads one whole answer, or what is left of it, and returns how it ended.
func (c *Conn) finish() (wire.OK, error) {
	for {
		if _, err := c.ReadHead(); err != nil {
			return wire.OK{}, err
		}
		if err := c.DiscardRows(); err != nil {
			return wire.OK{}, err
		}
		if !c.more {
			return c.end, nil
		}
	}
}

// Exec runs sql, discards rows if there are any, and returns how its last result ended.
func (c *Conn) Exec(sql string) (wire.OK, error) {
	if !c.Usable() { // it would read another statement's answer
		return wire.OK{}, c.misused()
	}
	if err := c.Ask(wire.ComQuery, []byte(sql)); err != nil {
		return wire.OK{}, err
	}
	ok, err := c.finish()
	ok.Info = append([]byte(nil), ok.Info...)
	ok.SessionState = append([]byte(nil), ok.SessionState...)
	return ok, err
}

// QueryAll runs sql, which gives one result, and returns it whole; values are text, nil for NULL, in memory of their own. More than
// maxRows rows are an error. An error behind the columns comes with them.
func (c *Conn) QueryAll(sql string, maxRows int) (cols []sqltypes.Column, rows [][][]byte, err error) {
	if !c.Usable() { // as in Exec
		return nil, nil, c.misused()
	}
	if err := c.Ask(wire.ComQuery, []byte(sql)); err != nil {
		return nil, nil, err
	}
	head, err := c.ReadHead()
	if err != nil {
		return nil, nil, err
	}
	if head.OK != nil {
		return nil, nil, c.lost(errors.New("a query was answered without rows"))
	}
	var refused error
	for {
		row, err := c.ReadRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return head.Columns, nil, err
		}
		if len(rows) >= maxRows {
			refused, rows = sqlerr.Internal.New("an internal query gave more rows than expected"), nil
		}
		if refused != nil {
			continue
		}
		fields, err := wire.ParseTextRow(append([]byte(nil), row...), make([][]byte, 0, len(head.Columns)))
		if err != nil || len(fields) != len(head.Columns) {
			return nil, nil, c.lost(errors.New("damaged row"))
		}
		rows = append(rows, fields)
	}
	if c.more {
		if _, err := c.finish(); err != nil {
			return nil, nil, err
		}
	}
	if refused != nil {
		return nil, nil, refused
	}
	return head.Columns, rows, nil
}
