package mysqlconn

import (
	"encoding/binary"
	"errors"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Stmt is a statement prepared on one connection.
type Stmt struct {
	ID       uint32
	Params   []sqltypes.Column
	Columns  []sqltypes.Column
	Warnings uint16
	// Answer is the server's whole answer as packets, for passing on; the id stands in bytes 5 to 8.
	Answer []byte
}

// Prepare prepares sql. The server's refusal is an *sqlerr.Error and leaves the connection usable.
func (c *Conn) Prepare(sql []byte) (Stmt, error) {
	if !c.Usable() {
		return Stmt{}, c.misused()
	}
	if err := c.Ask(wire.ComStmtPrepare, sql); err != nil {
		return Stmt{}, err
	}
	var answer []byte
	c.capture = &answer
	st, err := c.readPrepared()
	c.capture = nil
	if err != nil {
		return Stmt{}, err
	}
	c.ended()
	st.Answer = answer
	return st, nil
}

func (c *Conn) readPrepared() (Stmt, error) {
	payload, err := c.readPacket()
	if err != nil {
		return Stmt{}, err
	}
	if len(payload) > 0 && payload[0] == wire.ErrHeader {
		c.ended()
		return Stmt{}, c.serverError(payload)
	}
	ok, err := wire.ParsePrepareOK(payload)
	if err != nil {
		return Stmt{}, c.lost(err)
	}
	st := Stmt{ID: ok.ID, Warnings: ok.Warnings}
	if st.Params, err = c.readDefinitions(int(ok.Params)); err != nil {
		return Stmt{}, err
	}
	st.Columns, err = c.readDefinitions(int(ok.Columns))
	return st, err
}

// readDefinitions reads n definitions and what ends them.
func (c *Conn) readDefinitions(n int) ([]sqltypes.Column, error) {
	if n == 0 {
		return nil, nil
	}
	columns := make([]sqltypes.Column, 0, min(n, 256))
	for range n {
		payload, err := c.readPacket()
		if err != nil {
			return nil, err
		}
		col, err := wire.ParseColumn(payload, c.caps)
		if err != nil {
			return nil, c.lost(err)
		}
		columns = append(columns, col)
	}
	if !c.caps.Has(wire.CapDeprecateEOF) {
		if _, err := c.readEOF(); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// CloseStmt lets the server forget a prepared statement. The command goes out together with the next request: it has no answer.
func (c *Conn) CloseStmt(id uint32) {
	c.late = append(c.late, 5, 0, 0, 0, byte(wire.ComStmtClose))
	c.late = binary.LittleEndian.AppendUint32(c.late, id)
}

// misused is the error for a command sent while an answer is still to be read.
func (c *Conn) misused() error {
	if c.interrupted.Load() {
		return c.lost(c.broke())
	}
	return c.lost(errors.New("connection is not at rest"))
}
