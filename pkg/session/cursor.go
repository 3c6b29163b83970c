package session

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// cursor is an open cursor: its connection stays with the session until the last row was fetched.
type cursor struct {
	conn *backend.Conn
	id   uint32             // of the statement on that connection
	own  *backend.Exclusive // it: others with the same text have another one
}

// openCursor keeps c for the cursor of the statement at hand, even when the transaction it belongs to ends.
func (s *Session) openCursor(c *backend.Conn) {
	c.Keep()
	s.current.cursor = &cursor{conn: c, id: s.bound, own: c.Take(s.bound)}
	s.statements.cursors++
	if !s.holds(c) {
		s.unpinned(c)
	}
}

func (s *Session) closeCursor(st *prepared) {
	cur := st.cursor
	if cur == nil {
		return
	}
	st.cursor = nil
	s.statements.cursors--
	if cur.conn.Usable() {
		err := cur.conn.Send(wire.ComStmtReset, binary.LittleEndian.AppendUint32(nil, cur.id))
		if err == nil {
			_, err = cur.conn.ReadHead()
		}
		if err == nil {
			cur.conn.Return(cur.own)
		}
	}
	s.done(cur.conn, nil)
}

// fetch is COM_STMT_FETCH: the next rows of an open cursor.
func (s *Session) fetch(payload []byte) error {
	st, err := s.statementByID(payload, "mysqld_stmt_fetch")
	if err != nil {
		return s.fail(err)
	}
	cur := st.cursor
	if cur == nil || len(payload) < 8 {
		return s.fail(s.noOpenCursor(st))
	}
	packets := s.conn.Request()
	wire.SetStatement(packets, cur.id)
	rows := fetched{dst: s.conn, noEOF: s.conn.Capabilities().Has(wire.CapDeprecateEOF)}
	s.client.Enter(cur.conn)
	sum, err := cur.conn.Relay(packets, wire.ComStmtFetch, &rows, s.relayBuffer())
	s.client.Leave(cur.conn)
	if late := rows.finish(&sum, err == nil, s.status()); late != nil && err == nil {
		err = &mysqlconn.DstError{Err: late}
	}
	if err != nil {
		s.closeCursor(st)
		if _, ok := errors.AsType[*mysqlconn.DstError](err); ok {
			return errClient
		}
		return s.fail(s.broken(cur.conn, err))
	}
	if sum.Failed() || sum.Status.Has(wire.StatusLastRowSent) {
		s.closeCursor(st)
	}
	return nil
}

func (s *Session) noOpenCursor(st *prepared) error {
	e := sqlerr.NoOpenCursor.New(st.id)
	if s.cfg.Dialect.MariaDB() {
		e.Message = strings.TrimSuffix(e.Message, ".")
	}
	return e
}

// fetched passes rows of a cursor on, but for the packet behind them: it tells the state of the connection that the cursor is on, which
// is not in a transaction that the session has begun since.
type fetched struct {
	dst   io.Writer
	noEOF bool   // an OK packet stands in the place of EOF
	end   []byte // of what came, gathered so that a small answer leaves in one piece
}

const (
	// longestEnd is the length of an OK packet, header included, in the place of EOF; EOF itself is shorter.
	longestEnd = wire.HeaderLen + 7
	// gathered is how many bytes are gathered.
	gathered = 16 << 10
)

// Write implements io.Writer.
func (f *fetched) Write(p []byte) (int, error) {
	f.end = append(f.end, p...)
	if n := len(f.end) - longestEnd; n >= gathered {
		if _, err := f.dst.Write(f.end[:n]); err != nil {
			return 0, err
		}
		f.end = append(f.end[:0], f.end[n:]...)
	}
	return len(p), nil
}

// finish writes what is left; of a whole answer with rows, with status in the place of the server's.
func (f *fetched) finish(sum *wire.ResultSummary, whole bool, status wire.Status) error {
	const own = wire.StatusInTrans | wire.StatusInTransReadonly | wire.StatusAutocommit | wire.StatusNoBackslashEscapes | wire.StatusANSIQuotes
	const at = 3 // of the status: in EOF behind the warnings, in OK behind affected rows and insert id
	length := 5
	if f.noEOF {
		length = 7
	}
	if begin := len(f.end) - wire.HeaderLen - length; whole && !sum.Failed() && begin >= 0 {
		if n, _ := wire.Header(f.end[begin:]); n == length {
			binary.LittleEndian.PutUint16(f.end[begin+wire.HeaderLen+at:], uint16(sum.Status&^own|status&own))
		}
	}
	if len(f.end) == 0 {
		return nil
	}
	_, err := f.dst.Write(f.end)
	return err
}
