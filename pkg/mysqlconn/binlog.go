package mysqlconn

import (
	"errors"
	"io"

	"skarv/pkg/wire"
)

// ReadEvent returns the next event of a binary log that was asked for with COM_BINLOG_DUMP or COM_BINLOG_DUMP_GTID, valid until the next
// call on the connection, and io.EOF behind the last one. An *sqlerr.Error is the server's and ends the log.
func (c *Conn) ReadEvent() ([]byte, error) {
	payload, err := c.readPacket()
	if err != nil {
		return nil, err
	}
	switch {
	case len(payload) == 0:
		return nil, c.lost(errors.New("empty packet in a binary log"))
	case payload[0] == wire.OKHeader:
		return payload[1:], nil
	case payload[0] == wire.ErrHeader:
		c.ended()
		return nil, c.serverError(payload)
	case payload[0] == wire.EOFHeader && len(payload) < 9:
		c.ended()
		return nil, io.EOF
	}
	return nil, c.lost(errors.New("a packet that is no event in a binary log"))
}
