package binlog

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

const (
	defaultBuffer = 512 << 20
	// A server with nothing to say says so every heartbeat; one that is silent for much longer is gone.
	heartbeat = 2 * time.Second
	silence   = 30 * time.Second
	// maxTables bounds the tables remembered; more are read again when they come again.
	maxTables = 10000
)

// Stream is a binary log being read. It belongs to one goroutine.
type Stream struct {
	cfg     Config
	conn    *mysqlconn.Conn
	release func() bool // ends the watch on the context
	alive   time.Time   // when the deadline was last moved

	after     Position
	applied   Position // what is not to be returned again
	checksums bool     // of events to come
	tables    map[uint64]mapped
	queue     []event // of a payload that has been unpacked
	group     group
	// branches are prepared and not finished, order their xids from the oldest on.
	branches map[XID]*branch
	order    []XID
	held     int // bytes of rows in group and branches
	heard    atomic.Uint64
}

// branch is a prepared branch that waits for its end.
type branch struct {
	gtid    GTID
	before  Position // the position in front of its PREPARE
	changes []Change
	held    int
}

// Open connects and asks for the log. The Stream ends when ctx does; the caller must Close it. A log that is not there any
// more may be reported by Open or by the first Next.
func Open(ctx context.Context, cfg Config) (*Stream, error) {
	if cfg.MaxBuffer == 0 {
		cfg.MaxBuffer = defaultBuffer
	}
	if cfg.ServerID == 0 {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		cfg.ServerID = binary.LittleEndian.Uint32(b[:]) | 1<<31
	}
	reread := cfg.Start.Reread
	if reread.flavor == "" {
		reread = cfg.Start.Applied
	}
	conn, err := mysqlconn.Dial(ctx, cfg.Conn)
	if err != nil {
		return nil, err
	}
	s := &Stream{
		cfg: cfg, conn: conn, after: reread, applied: cfg.Start.Applied,
		tables: map[uint64]mapped{}, branches: map[XID]*branch{},
	}
	s.after.flavor = cfg.Flavor
	s.release = context.AfterFunc(ctx, conn.Interrupt)
	if err := s.ask(reread); err != nil {
		s.Close()
		return nil, s.explain(err)
	}
	return s, nil
}

// Close ends the connection.
func (s *Stream) Close() error {
	s.release()
	return s.conn.Close()
}

// ask sends the settings of the session and the request.
func (s *Stream) ask(from Position) error {
	var uuid [16]byte
	_, _ = rand.Read(uuid[:])
	settings := []string{
		"SET NAMES utf8mb4, net_write_timeout = 86400", // whoever takes the transactions may be long about one
		"SET @master_binlog_checksum=@@global.binlog_checksum, @source_binlog_checksum=@@global.binlog_checksum",
		fmt.Sprintf("SET @master_heartbeat_period=%d, @source_heartbeat_period=%[1]d", heartbeat.Nanoseconds()),
		fmt.Sprintf("SET @slave_uuid='%s', @replica_uuid='%[1]s'", uuidText(uuid)),
	}
	if s.cfg.Flavor == catalog.MariaDB {
		settings = append(settings, "SET @mariadb_slave_capability=4", "SET @slave_connect_state='"+from.String()+"'",
			"SET @slave_gtid_strict_mode=1", "SET @slave_gtid_ignore_duplicates=0")
	}
	for _, q := range settings {
		if _, err := s.conn.Exec(q); err != nil {
			return err
		}
	}
	if s.cfg.Flavor == catalog.MariaDB {
		b := binary.LittleEndian.AppendUint32(nil, 4)
		b = binary.LittleEndian.AppendUint16(b, 0)
		b = binary.LittleEndian.AppendUint32(b, s.cfg.ServerID)
		return s.conn.Send(wire.ComBinlogDump, b)
	}
	set := from.encode()
	b := binary.LittleEndian.AppendUint16(nil, 0)
	b = binary.LittleEndian.AppendUint32(b, s.cfg.ServerID)
	b = binary.LittleEndian.AppendUint32(b, 0) // no file name
	b = binary.LittleEndian.AppendUint64(b, 4)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(set)))
	return s.conn.Send(wire.ComBinlogDumpGTID, append(b, set...))
}

// Next waits for the next transaction. After an error the Stream is of no more use.
func (s *Stream) Next() (*Transaction, error) {
	for {
		e, err := s.event()
		if err != nil {
			return nil, s.explain(err)
		}
		t, err := s.take(e)
		if err != nil {
			return nil, s.explain(err)
		}
		if t != nil {
			return t, nil
		}
	}
}

// event returns the next event.
func (s *Stream) event() (event, error) {
	if len(s.queue) > 0 {
		e := s.queue[0]
		s.queue = s.queue[1:]
		return e, nil
	}
	if now := time.Now(); now.Sub(s.alive) > heartbeat {
		s.alive = now
		if err := s.conn.SetDeadline(now.Add(silence)); err != nil {
			return event{}, err
		}
	}
	b, err := s.conn.ReadEvent()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the server was not asked to stop
	}
	if err != nil {
		return event{}, err
	}
	e, err := readEvent(b, s.checksums)
	if e.kind != heartbeatEvent && e.kind != heartbeatEventV2 {
		s.heard.Add(1)
	}
	if err == nil && e.kind == formatEvent {
		s.checksums, err = hasChecksums(e.body)
	}
	return e, err
}

// explain tells errors that mean that the log is not there from others.
func (s *Stream) explain(err error) error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		switch e.Code {
		case 1236, 1945, 1950, 1955:
			if !strings.Contains(e.Message, "same server") {
				return fmt.Errorf("%w: %w", ErrPurged, err)
			}
		}
	}
	return err
}

// hold counts bytes of rows that are held.
func (s *Stream) hold(n int) error {
	s.held += n
	if s.held > s.cfg.MaxBuffer {
		return fmt.Errorf("%w: more than %d MB of changes", ErrTooLarge, s.cfg.MaxBuffer>>20)
	}
	return nil
}

// reread is the position to start at again: where the rows of unfinished branches come again.
func (s *Stream) reread() Position {
	if len(s.branches) == 0 {
		return s.after
	}
	if s.cfg.Flavor == catalog.MariaDB {
		return s.branches[s.order[0]].before.Intersect(s.after)
	}
	p := s.after
	for _, b := range s.branches {
		p = p.Without(b.gtid)
	}
	return p
}

// Heard rises with everything the server sends but that it has nothing to say. It may be called from any goroutine.
func (s *Stream) Heard() uint64 { return s.heard.Load() }

// Branches are the branches prepared and not finished at the moment.
func (s *Stream) Branches() []XID { return slices.Collect(maps.Keys(s.branches)) }

// Current asks a server where its binary log ends. Whatever a transaction that commits after this is returned by a Stream from there.
func Current(c *mysqlconn.Conn, flavor catalog.Flavor) (Position, error) {
	q := "SELECT @@global.gtid_executed"
	if flavor == catalog.MariaDB {
		q = "SELECT @@global.gtid_binlog_pos"
	}
	_, rows, err := c.QueryAll(q, 1)
	if err != nil {
		return Position{}, err
	}
	return ParsePosition(flavor, string(rows[0][0]))
}

// Wait is the query by which a replica waits, for as many seconds, until it has applied everything up to p; it gives 0 then.
func (p Position) Wait(seconds float64) string {
	wait := "WAIT_FOR_EXECUTED_GTID_SET"
	if p.flavor == catalog.MariaDB {
		wait = "MASTER_GTID_WAIT"
	}
	return "SELECT " + wait + "('" + p.String() + "', " + strconv.FormatFloat(seconds, 'f', 1, 64) + ")"
}

// Prepared lists the branches that are prepared on a server.
func Prepared(c *mysqlconn.Conn) ([]XID, error) {
	_, rows, err := c.QueryAll("XA RECOVER", 1<<20)
	if err != nil {
		return nil, err
	}
	var all []XID
	for _, r := range rows {
		var format uint32
		var g, b int
		if _, err := fmt.Sscan(string(r[0])+" "+string(r[1])+" "+string(r[2]), &format, &g, &b); err != nil || g+b != len(r[3]) {
			return nil, fmt.Errorf("XA RECOVER gave %q", r)
		}
		all = append(all, XID{Format: format, GTRID: string(r[3][:g]), BQUAL: string(r[3][g:])})
	}
	return all, nil
}

// Probe asks for the log and returns when the server has begun to send it, or why it does not.
func Probe(ctx context.Context, cfg Config) error {
	s, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.event()
	return s.explain(err)
}
