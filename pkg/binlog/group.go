package binlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"skarv/pkg/catalog"
)

// group is the transaction being read: the events from a GTID to what ends it.
//
//	MySQL    GTID, BEGIN, rows.., Xid | COMMIT          GTID, statement
//	         GTID, XA START, rows.., XA END, XA_PREPARE GTID, XA COMMIT | XA ROLLBACK
//	MariaDB  GTID, rows.., Xid | COMMIT                 GTID (standalone), statement
//	         GTID, rows.., XA END, XA_PREPARE           GTID, XA COMMIT | XA ROLLBACK
//
// On MySQL the events behind the GTID may be packed in a payload.
type group struct {
	open    bool
	begun   bool // rows follow, up to what ends the transaction
	gtid    GTID
	before  Position
	changes []Change
	held    int
	marks   []savepoint
}

// savepoint is where a transaction goes back to.
type savepoint struct {
	name    string
	changes int
}

// MariaDB's flags of a GTID.
const mariaStandalone = 1

// take takes in an event and returns the transaction it completes, if it does.
func (s *Stream) take(e event) (*Transaction, error) {
	switch e.kind {
	case gtidEvent:
		c := cursor{b: e.body}
		c.take(1)
		var g GTID
		copy(g.Source[:], c.take(16))
		g.Seq = c.uint64()
		s.begin(g, false)
		return nil, c.err("GTID")
	case mariaGTIDEvent:
		c := cursor{b: e.body}
		g := GTID{Server: e.server, Seq: c.uint64(), Domain: c.uint32()}
		s.begin(g, c.byte()&mariaStandalone == 0)
		return nil, c.err("GTID")
	case taggedGTIDEvent:
		return nil, fmt.Errorf("%w: a transaction has a GTID with a tag", ErrFormat)
	case anonymousEvent:
		return nil, fmt.Errorf("%w: a transaction has no GTID; set gtid_mode to ON", ErrFormat)
	case incidentEvent:
		return nil, fmt.Errorf("%w: the server reports that events are missing", ErrPurged)
	case partialUpdateEvent:
		return nil, fmt.Errorf("%w: set binlog_row_value_options to ''; sessions that are open keep theirs", ErrFormat)
	case payloadEvent:
		return nil, s.unpack(e)
	case queryEvent, mariaQueryCompressed:
		return s.query(e)
	case tableMapEvent:
		return nil, s.tableMap(e.body)
	case xidEvent:
		return s.commit(e), nil
	case xaPrepareEvent:
		return s.prepared(e)
	case writeRowsV1, updateRowsV1, deleteRowsV1, writeRowsV2, updateRowsV2, deleteRowsV2,
		mariaWriteV1, mariaUpdateV1, mariaDeleteV1, mariaWriteV2, mariaUpdateV2, mariaDeleteV2:
		return nil, s.rows(e)
	}
	return nil, nil
}

func (s *Stream) begin(g GTID, begun bool) {
	s.held -= s.group.held // of a group that was never ended, if there is one
	s.group = group{open: true, begun: begun, gtid: g, before: s.after}
	s.after = s.after.With(g)
}

// transaction is the frame of the transaction that ends with e.
func (s *Stream) transaction(e event) *Transaction {
	g := s.group
	s.held -= g.held
	s.group = group{}
	return &Transaction{GTID: g.gtid, Time: time.Unix(int64(e.time), 0), After: s.after, Reread: s.reread()}
}

// commit ends the transaction. One that was applied already only moves the position.
func (s *Stream) commit(e event) *Transaction {
	if !s.group.open {
		return nil
	}
	changes := s.group.changes
	t := s.transaction(e)
	if s.applied.Contains(t.GTID) {
		return nil
	}
	t.Changes = changes
	return t
}

// prepared ends a branch: committed if it has one phase only, else held.
func (s *Stream) prepared(e event) (*Transaction, error) {
	x, onePhase, err := xaPrepare(e.body)
	if err != nil || !s.group.open {
		return nil, err
	}
	if onePhase {
		return s.commit(e), nil
	}
	g := s.group
	s.group.held = 0 // it goes on being held
	s.drop(x)
	s.branches[x] = &branch{gtid: g.gtid, before: g.before, changes: g.changes, held: g.held}
	s.order = append(s.order, x)
	t := s.transaction(e)
	if s.applied.Contains(t.GTID) {
		return nil, nil
	}
	t.Prepared = &x
	return t, nil
}

// drop forgets a branch.
func (s *Stream) drop(x XID) {
	b, ok := s.branches[x]
	if !ok {
		return
	}
	s.held -= b.held
	delete(s.branches, x)
	s.order = slices.DeleteFunc(s.order, func(o XID) bool { return o == x })
}

// finished ends a branch that was prepared before.
func (s *Stream) finished(e event, x XID, committed bool) *Transaction {
	b := s.branches[x]
	s.drop(x)
	t := s.transaction(e)
	if s.applied.Contains(t.GTID) {
		return nil
	}
	t.Committed = committed
	if b == nil {
		t.Unknown = &x
	} else if committed {
		t.Changes = b.changes
	}
	return t
}

// query takes in a statement.
func (s *Stream) query(e event) (*Transaction, error) {
	c := cursor{b: e.body}
	c.take(8)
	schemaLength := int(c.byte())
	c.take(2)
	c.take(int(c.uint16()))
	schema := string(c.take(schemaLength))
	c.take(1)
	if err := c.err("statement"); err != nil {
		return nil, err
	}
	text := c.b
	if e.kind == mariaQueryCompressed {
		var err error
		if text, err = s.uncompress(text); err != nil {
			return nil, err
		}
	}
	if !s.group.open {
		return nil, nil // not part of a transaction: the server's own note
	}
	q := skipComments(string(text))
	word, rest, _ := strings.Cut(q, " ")
	switch word = strings.ToUpper(word); word {
	case "BEGIN":
		s.group.begun = true
		return nil, nil
	case "COMMIT":
		return s.commit(e), nil
	case "SAVEPOINT":
		s.group.marks = append(s.group.marks, savepoint{rest, len(s.group.changes)})
		return nil, nil
	case "ROLLBACK":
		return s.rollback(e, rest)
	case "XA":
		return s.xa(e, rest)
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "WITH", "DO":
		return nil, fmt.Errorf("%w: %s is logged as a statement; set binlog_format to ROW", ErrFormat, word)
	}
	if s.group.begun && !strings.HasPrefix(word, "CREATE") && !strings.HasPrefix(word, "DROP") {
		return nil, fmt.Errorf("%w: a transaction holds %.40q", ErrFormat, q)
	}
	if s.group.begun || strings.HasSuffix(q, "START TRANSACTION") {
		s.group.begun = true // CREATE TABLE ... SELECT, or a temporary table: rows follow
		return nil, nil
	}
	t := s.commit(e)
	if t != nil {
		t.Statement, t.Schema = q, schema
	}
	return t, nil
}

// rollback goes back to a savepoint, or ends a transaction with nothing but what cannot be rolled back.
func (s *Stream) rollback(e event, rest string) (*Transaction, error) {
	name, ok := strings.CutPrefix(rest, "TO ")
	if !ok {
		s.group.changes = nil
		return s.commit(e), nil
	}
	name = strings.TrimPrefix(name, "SAVEPOINT ")
	for i, m := range slices.Backward(s.group.marks) {
		if m.name == name {
			s.group.changes, s.group.marks = s.group.changes[:m.changes], s.group.marks[:i+1]
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%w: a transaction goes back to a savepoint that is not in it", ErrFormat)
}

func (s *Stream) xa(e event, rest string) (*Transaction, error) {
	word, name, _ := strings.Cut(rest, " ")
	switch strings.ToUpper(word) {
	case "START", "BEGIN":
		s.group.begun = true
		return nil, nil
	case "COMMIT", "ROLLBACK":
		x, err := parseXID(name)
		if err != nil {
			return nil, err
		}
		return s.finished(e, x, strings.EqualFold(word, "COMMIT")), nil
	}
	return nil, nil // END, PREPARE: what ends the branch is the event that follows
}

// parseXID reads X'hex',X'hex',number as servers log it.
func parseXID(text string) (XID, error) {
	var x XID
	parts := strings.Split(strings.TrimSpace(text), ",")
	ok := len(parts) == 3
	for i, into := range []*string{&x.GTRID, &x.BQUAL} {
		if !ok {
			break
		}
		p, opened := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parts[i])), "x'")
		p, closed := strings.CutSuffix(p, "'")
		raw, err := hex.DecodeString(p)
		*into, ok = string(raw), opened && closed && err == nil
	}
	if ok {
		n, err := strconv.ParseUint(strings.TrimSpace(parts[2]), 0, 32)
		x.Format, ok = uint32(n), err == nil
	}
	if !ok {
		return XID{}, fmt.Errorf("%w: xid %q", ErrDamaged, text)
	}
	return x, nil
}

// skipComments returns a statement from its first word on.
func skipComments(q string) string {
	for {
		q = strings.TrimLeft(q, " \t\r\n(")
		switch {
		case strings.HasPrefix(q, "/*!"), strings.HasPrefix(q, "/*M!"):
			q = strings.TrimLeft(q[3:], "!M0123456789")
		case strings.HasPrefix(q, "/*"):
			_, after, found := strings.Cut(q[2:], "*/")
			if !found {
				return ""
			}
			q = after
		case strings.HasPrefix(q, "-- "), strings.HasPrefix(q, "#"):
			_, q, _ = strings.Cut(q, "\n")
		default:
			return strings.TrimRight(q, " \t\r\n;")
		}
	}
}

func (s *Stream) tableMap(body []byte) error {
	if len(body) < 6 {
		return fmt.Errorf("%w: table map", ErrDamaged)
	}
	number := (&cursor{b: body}).uint(6)
	if m, ok := s.tables[number]; ok && m.raw == string(body) {
		return nil
	}
	m, err := readTableMap(body, s.cfg.Flavor == catalog.MariaDB, s.cfg.Tables)
	if err != nil {
		return err
	}
	m.raw = string(body)
	if len(s.tables) >= maxTables {
		clear(s.tables)
	}
	s.tables[number] = m
	return nil
}

// rows takes in the rows of one table.
func (s *Stream) rows(e event) error {
	c := cursor{b: e.body}
	number := c.uint(6)
	c.take(2) // flags
	version2 := e.kind >= writeRowsV2 && e.kind <= deleteRowsV2 || e.kind >= mariaWriteV2
	if version2 {
		c.take(int(c.uint16()) - 2)
	}
	columns := int(min(c.lenenc(), 1<<16))
	if err := c.err("rows"); err != nil {
		return err
	}
	m, ok := s.tables[number]
	if !ok {
		if columns == 0 || number == 0xffffff {
			return nil // only the end of a statement
		}
		return fmt.Errorf("%w: rows of a table that was not described", ErrDamaged)
	}
	if !m.wanted || !s.group.open {
		return nil
	}
	var update, remove bool
	switch e.kind {
	case updateRowsV1, updateRowsV2, mariaUpdateV1, mariaUpdateV2:
		update = true
	case deleteRowsV1, deleteRowsV2, mariaDeleteV1, mariaDeleteV2:
		remove = true
	}
	images := 1
	if update {
		images = 2
	}
	for range images {
		present := c.take(bitmapSize(columns))
		for i := range columns {
			if present == nil || !bit(present, i) || columns != len(m.table.Columns) {
				return fmt.Errorf("%w: rows of %s.%s are incomplete; set binlog_row_image to FULL", ErrFormat, m.table.Schema, m.table.Name)
			}
		}
	}
	if e.kind >= mariaWriteV1 {
		b, err := s.uncompress(c.b)
		if err != nil {
			return err
		}
		c.b = b
	}
	first := len(s.group.changes)
	kept, arena := 0, make([]byte, 0, len(c.b)+len(c.b)/4)
	for len(c.b) > 0 && columns > 0 {
		change := Change{Table: m.table}
		from := len(arena)
		var row Row
		var err error
		if row, arena, err = rowImage(arena, m.table, &c); err != nil {
			return err
		}
		switch {
		case remove:
			change.Before = row
		case update:
			change.Before = row
			if change.After, arena, err = rowImage(arena, m.table, &c); err != nil {
				return err
			}
		default:
			change.After = row
		}
		if s.cfg.Keep != nil && !s.cfg.Keep(&change) {
			arena = arena[:from]
			continue
		}
		n := len(arena) - from + 24*images*columns
		s.group.held += n
		if err := s.hold(n); err != nil {
			return err
		}
		kept += len(arena) - from
		s.group.changes = append(s.group.changes, change)
	}
	if kept < cap(arena)/2 { // few rows of a large event are not to keep all of it
		compact(s.group.changes[first:], kept)
	}
	return nil
}

// compact moves the values of changes, which are size bytes, to memory of their own.
func compact(changes []Change, size int) {
	arena := make([]byte, 0, size)
	for i := range changes {
		for _, row := range []Row{changes[i].Before, changes[i].After} {
			for j, v := range row {
				if v != nil {
					from := len(arena)
					arena = append(arena, v...)
					row[j] = arena[from:len(arena):len(arena)]
				}
			}
		}
	}
}

// uncompress undoes MariaDB's compression: the length of the length, the length, big-endian, and zlib's stream.
func (s *Stream) uncompress(b []byte) ([]byte, error) {
	c := cursor{b: b}
	size := c.bigUint(int(c.byte() & 7))
	if c.bad || size > uint64(s.cfg.MaxBuffer) {
		return nil, fmt.Errorf("%w: compressed event", ErrDamaged)
	}
	z, err := zlib.NewReader(bytes.NewReader(c.b))
	if err != nil {
		return nil, fmt.Errorf("%w: compressed event: %w", ErrDamaged, err)
	}
	var out bytes.Buffer
	if _, err := out.ReadFrom(z); err != nil || uint64(out.Len()) != size {
		return nil, fmt.Errorf("%w: compressed event: %w", ErrDamaged, err)
	}
	return out.Bytes(), nil
}

// Fields of a payload.
const (
	payloadEnd         = 0
	payloadCompression = 2
	payloadSize        = 3
	zstdCompression    = 0
	noCompression      = 255
)

// unpack queues the events of a MySQL transaction that was written in one piece.
func (s *Stream) unpack(e event) error {
	c := cursor{b: e.body}
	compression, size := uint64(noCompression), uint64(0)
	for {
		field := c.lenenc()
		if field == payloadEnd || c.bad {
			break
		}
		v := cursor{b: c.take(c.count())}
		switch field {
		case payloadCompression:
			compression = v.lenenc()
		case payloadSize:
			size = v.lenenc()
		}
	}
	if err := c.err("payload"); err != nil {
		return err
	}
	if size > uint64(s.cfg.MaxBuffer) {
		return fmt.Errorf("%w: %d MB in one transaction", ErrTooLarge, size>>20)
	}
	b := bytes.Clone(c.b)
	if compression == zstdCompression {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(s.cfg.MaxBuffer)))
		if err != nil {
			return err
		}
		defer d.Close()
		if b, err = d.DecodeAll(c.b, nil); err != nil {
			return fmt.Errorf("%w: payload: %w", ErrDamaged, err)
		}
	} else if compression != noCompression {
		return fmt.Errorf("%w: payload with compression %d", ErrFormat, compression)
	}
	for len(b) > 0 {
		if len(b) < headerSize {
			return fmt.Errorf("%w: payload", ErrDamaged)
		}
		n := binary.LittleEndian.Uint32(b[9:])
		if n < headerSize || int(n) > len(b) {
			return fmt.Errorf("%w: payload", ErrDamaged)
		}
		inner, err := readEvent(b[:n], false)
		if err != nil {
			return err
		}
		if inner.kind == payloadEvent {
			return fmt.Errorf("%w: payload in a payload", ErrDamaged)
		}
		s.queue = append(s.queue, inner)
		b = b[n:]
	}
	return nil
}

// xaPrepare reads which branch was prepared, and whether it was committed at once.
func xaPrepare(body []byte) (x XID, onePhase bool, err error) {
	c := cursor{b: body}
	onePhase = c.byte() != 0
	x.Format = c.uint32()
	g, b := c.uint32(), c.uint32()
	x.GTRID, x.BQUAL = string(c.take(int(min(g, 1<<16)))), string(c.take(int(min(b, 1<<16))))
	return x, onePhase, c.err("XA PREPARE")
}
