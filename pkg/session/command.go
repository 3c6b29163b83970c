package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// initDB is COM_INIT_DB, the default database.
func (s *Session) initDB(payload []byte) error {
	name, _, more := bytes.Cut(payload, []byte{0})
	switch {
	case len(name) == 0:
		return s.fail(sqlerr.NoDatabase.New())
	case more && s.cfg.Dialect.MariaDB():
		return s.fail(sqlerr.WrongDatabaseName.New(name))
	}
	if err := s.changeDB(string(name)); err != nil {
		return s.fail(err)
	}
	return s.ok(s.changed(s.schemaChanged()))
}

// fieldList is COM_FIELD_LIST, the columns of a table: every group knows them.
func (s *Session) fieldList(payload []byte) error {
	s.more, s.binary = false, false
	name, _, ended := bytes.Cut(payload, []byte{0})
	switch {
	case !ended && !s.cfg.Dialect.MariaDB():
		return s.fail(sqlerr.MalformedPacket.New())
	case s.db == "":
		return s.fail(sqlerr.NoDatabase.New())
	case len(name) == 0:
		return s.fail(sqlerr.WrongTableName.New(""))
	}
	if s.snap.Table(s.db, string(name)) == nil && !isSystemDB(s.db) {
		return s.fail(sqlerr.NoSuchTable.New(s.db, string(name)))
	}
	if err := s.check(s.db, string(name), 0); err != nil && !strings.EqualFold(s.db, "information_schema") { // whose definitions everybody may know
		return s.fail(err)
	}
	if err := s.served(); err != nil {
		return s.fail(err)
	}
	c, err := s.acquire(s.anyGroup())
	if err != nil {
		return s.fail(err)
	}
	_, err = c.Relay(s.conn.Request(), wire.ComFieldList, s.conn, s.relayBuffer())
	s.done(c, err)
	if err != nil {
		return s.fail(s.broken(c, err))
	}
	return nil
}

// statistics is COM_STATISTICS: one line for people, of which programs read the beginning.
func (s *Session) statistics() error {
	clients := s.cfg.Clients
	return s.conn.WritePacket(fmt.Appendf(nil, "Uptime: %d  Threads: %d  Node groups: %d  Databases: %d  Snapshot: %d",
		int(clients.Clock().Seconds()), clients.Len(), len(s.snap.Groups), len(s.snap.Databases), s.snap.Revision))
}

// setOption is COM_SET_OPTION: multi-statements on (0) or off (1).
func (s *Session) setOption(payload []byte) error {
	s.more = false
	if len(payload) < 2 {
		return s.fail(sqlerr.MalformedPacket.New())
	}
	switch binary.LittleEndian.Uint16(payload) {
	case 0:
		s.multi = true
	case 1:
		s.multi = false
	default:
		return s.fail(sqlerr.UnknownCommand.New())
	}
	return s.conn.WriteEnd(wire.OK{Status: s.status()})
}

// localInfile ends a LOAD DATA LOCAL that a server asked the client's file for: such statements are not planned yet.
func (s *Session) localInfile(c *backend.Conn) error {
	c.Interrupt()
	s.done(c, sqlerr.Internal.New("LOAD DATA LOCAL"))
	return errClient
}

// relayBuffer is scratch memory for one relay.
func (s *Session) relayBuffer() []byte {
	if s.buffer == nil {
		s.buffer = s.cfg.Buffers.get()
	}
	return s.buffer[:]
}

// argument is the value of argument i of the statement at hand; NULL if the text alone does not tell it.
func (s *Session) argument(i int) sqltypes.Value {
	v, ok := s.args.Value(i)
	if !ok {
		return sqltypes.Value{}
	}
	return v
}
