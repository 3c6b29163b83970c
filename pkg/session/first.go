package session

import (
	"errors"
	"io"
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// errAnotherWay: the way chosen for a query leads nowhere; the client has got nothing, and another way must be taken.
var errAnotherWay = errors.New("another way must be taken")

// maxFull bounds the bytes of a result that is held until it is known to be whole.
const maxFull = 8 << 20

// wanted is how many rows the LIMIT of a query over the first rows of a table gives if there are enough.
func (s *Session) wanted(f *plan.FirstRows) uint64 {
	n, _ := s.args.Count(f.Count)
	return n
}

// copyFull runs sql on c and writes its rows to the client if they are rows: what is computed from the first rows of a
// table is the whole answer only if it is as long as the query's LIMIT lets it be. prepared: sql is executed as a prepared
// statement with those of the client's parameters that params names.
func (s *Session) copyFull(c *backend.Conn, sql []byte, params []int, prepared bool, rows uint64) (sum wire.ResultSummary, err error) {
	s.client.Enter(c)
	defer s.client.Leave(c)
	if prepared {
		end, err := s.sendPrepared(c, sql, params)
		if err != nil {
			return sum, err
		}
		defer end()
	} else if err := c.Send(wire.ComQuery, sql); err != nil {
		return sum, err
	}
	head, err := c.ReadHead()
	if err != nil {
		return sum, err
	}
	if head.OK != nil {
		return sum, errAnotherWay // nothing a SELECT answers
	}
	columns := slices.Clone(head.Columns)
	var texts wire.TextRows
	var held []byte
	var ends []int
	for {
		row, err := c.ReadRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && prepared && !s.binary {
			row, err = texts.Row(row, columns)
		}
		if err != nil {
			return sum, err
		}
		if len(held)+len(row) > maxFull {
			return sum, unwanted(c, errAnotherWay)
		}
		held = append(held, row...)
		ends = append(ends, len(held))
	}
	if uint64(len(ends)) < rows {
		return sum, errAnotherWay
	}
	sum.Columns, sum.Warnings = len(columns), c.LastWarnings()
	return sum, s.sendHeld(columns, held, ends, &sum)
}

// sendHeld writes a result to the client, its rows being in the form of the client's command.
func (s *Session) sendHeld(columns []sqltypes.Column, held []byte, ends []int, sum *wire.ResultSummary) error {
	out := s.newOutput()
	out.binary = false // rows are what they are to be already, or made text
	if err := out.Columns(columns); err != nil {
		return err
	}
	at := 0
	for _, end := range ends {
		if err := out.Row(held[at:end]); err != nil {
			return err
		}
		at = end
	}
	sum.Rows, sum.Bytes = out.rows, out.bytes
	return out.end(sum.Warnings)
}

// unwanted lets c go on behind an answer that errAnotherWay says is not the client's; it returns err.
func unwanted(c *backend.Conn, err error) error {
	if err == errAnotherWay && c.Skip(maxUnread) != nil {
		c.Interrupt()
	}
	return err
}
