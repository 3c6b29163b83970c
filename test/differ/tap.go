package differ

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Column is a column definition as it came.
type Column struct {
	Schema, Table, OrgTable, Name, OrgName string
	Extended                               string // MariaDB's name of a type or format, "" where none is sent
	Charset                                uint16
	Length                                 uint32
	Type                                   byte
	Flags                                  uint16
	Decimals                               byte
}

// Result is what comes with a result beside its rows.
type Result struct {
	Columns  []Column
	Warnings uint16
	Info     string
	Status   uint16
}

// Answer is all that comes for one command beside rows.
type Answer struct {
	Params  int      // of COM_STMT_PREPARE
	Defined []Column // what COM_STMT_PREPARE has said of the columns
	Results []Result
	State   string // SQLSTATE of the error that ended it
	Message string
}

// Client is a connection of the driver whose packets are looked at on their way: the driver tells little of what a server says of
// columns, warnings and errors.
type Client struct {
	*sql.Conn
	db  *sql.DB
	tap *tap
}

// Open connects to dsn.
func Open(ctx context.Context, dsn string) (*Client, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	c := &Client{}
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		nc, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c.tap = &tap{Conn: nc, statements: map[uint32][]Column{}}
		return c.tap, nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	c.db = sql.OpenDB(connector)
	c.db.SetMaxOpenConns(1)
	if c.Conn, err = c.db.Conn(ctx); err != nil {
		_ = c.db.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error {
	_ = c.Conn.Close()
	return c.db.Close()
}

// Warnings is what SHOW WARNINGS shows: level, code, message.
func (c *Client) Warnings(ctx context.Context) (list []string, err error) {
	rows, err := c.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var level, code, message string
		if err := rows.Scan(&level, &code, &message); err != nil {
			return nil, err
		}
		list = append(list, level+" "+code+" "+message)
	}
	return list, rows.Err()
}

// tap is a connection to a server that notes what passes, and lets a MariaDB server send the names of extended types, which the
// driver does not ask for and does not get.
//
//	greeting ► login ► OK ► (command ► answer) ...
type tap struct {
	net.Conn
	in, out    []byte // not yet looked at, not yet read by the driver
	greeted    bool
	ready      bool // the login has succeeded
	mariadb    bool
	caps, more uint32 // what the driver has asked for; MariaDB's

	command    byte
	statement  uint32 // of COM_STMT_EXECUTE
	statements map[uint32][]Column
	step       step
	left       int // definitions yet to come
	columns    int // of COM_STMT_PREPARE, behind the parameters
	answer     Answer
}

type step uint8

const (
	idle step = iota
	first
	definitions
	definitionsEnd
	rows
	prepareFirst
	prepareParams
	prepareParamsEnd
	prepareColumns
)

// Bits of the protocol, which the driver does not export.
const (
	capMySQL         = 1 << 0 // not MariaDB
	capDeprecateEOF  = 1 << 24
	capExtendedTypes = 1 << 3 // of MariaDB's own
	capCacheMetadata = 1 << 4
	moreResults      = 1 << 3 // of the status

	comQuery, comPrepare, comExecute = 3, 22, 23
)

func (t *tap) Write(b []byte) (int, error) {
	if len(b) < 5 {
		return t.Conn.Write(b)
	}
	payload := b[4:]
	switch {
	case !t.ready && t.caps == 0 && len(payload) >= 32:
		b = slices.Clone(b)
		payload = b[4:]
		t.caps = binary.LittleEndian.Uint32(payload)
		if t.mariadb {
			t.more = binary.LittleEndian.Uint32(payload[28:])
			t.more |= capExtendedTypes
			binary.LittleEndian.PutUint32(payload, t.caps&^capMySQL)
			binary.LittleEndian.PutUint32(payload[28:], t.more)
		}
	case t.ready && b[3] == 0:
		t.command, t.step = payload[0], idle
		switch t.command {
		case comQuery:
			t.answer, t.step = Answer{}, first
		case comExecute:
			t.answer, t.step = Answer{}, first
			t.statement = binary.LittleEndian.Uint32(payload[1:])
		case comPrepare:
			t.answer, t.step = Answer{}, prepareFirst
		}
	}
	return t.Conn.Write(b)
}

func (t *tap) Read(b []byte) (int, error) {
	for len(t.out) == 0 {
		n := len(t.in)
		t.in = slices.Grow(t.in, 16<<10)
		got, err := t.Conn.Read(t.in[n:cap(t.in)])
		t.in = t.in[:n+got]
		if err != nil {
			return 0, err
		}
		t.pass()
	}
	n := copy(b, t.out)
	t.out = t.out[n:]
	return n, nil
}

// pass looks at the packets that have come whole, and leaves them to the driver.
func (t *tap) pass() {
	for len(t.in) >= 4 {
		length := int(t.in[0]) | int(t.in[1])<<8 | int(t.in[2])<<16
		if len(t.in) < 4+length {
			return
		}
		payload := t.look(t.in[4 : 4+length])
		t.out = append(t.out, byte(len(payload)), byte(len(payload)>>8), byte(len(payload)>>16), t.in[3])
		t.out = append(t.out, payload...)
		t.in = t.in[4+length:]
	}
}

// look takes from a packet what is to be known, and returns it as the driver wants it.
func (t *tap) look(p []byte) []byte {
	switch {
	case len(p) == 0:
		return p
	case !t.greeted:
		t.greeted = true
		t.greeting(p)
		return p
	case !t.ready:
		t.ready = p[0] == 0
		return p
	case p[0] == 0xff && t.step != idle:
		t.step = idle
		if len(p) >= 9 && p[3] == '#' {
			t.answer.State, t.answer.Message = string(p[4:9]), string(p[9:])
		} else if len(p) > 3 {
			t.answer.Message = string(p[3:])
		}
		return p
	}
	switch t.step {
	case first:
		if p[0] == 0 {
			t.end(p)
			return p
		}
		if p[0] == 0xfb { // a file is asked for
			return p
		}
		n, rest := lenenc(p)
		t.left = int(n)
		t.answer.Results = append(t.answer.Results, Result{})
		t.step = definitions
		if t.mariadb && t.more&capCacheMetadata != 0 && len(rest) > 0 && rest[0] == 0 {
			t.result().Columns = t.statements[t.statement]
			t.step = rows
			if t.caps&capDeprecateEOF == 0 {
				t.step = definitionsEnd
			}
		}
	case definitions:
		var c Column
		c, p = t.column(p)
		t.result().Columns = append(t.result().Columns, c)
		if t.left--; t.left == 0 {
			t.step = definitionsEnd
			if t.caps&capDeprecateEOF != 0 {
				t.step = rows
			}
			if t.command == comExecute {
				t.statements[t.statement] = t.result().Columns
			}
		}
	case definitionsEnd:
		t.step = rows
	case rows:
		if p[0] == 0xfe && len(p) < 0xffffff && (t.caps&capDeprecateEOF != 0 || len(p) <= 5) {
			t.end(p)
		}
	case prepareFirst:
		t.statement = binary.LittleEndian.Uint32(p[1:])
		t.columns, t.answer.Params = int(binary.LittleEndian.Uint16(p[5:])), int(binary.LittleEndian.Uint16(p[7:]))
		t.answer.Results = []Result{{Warnings: binary.LittleEndian.Uint16(p[10:])}}
		t.statements[t.statement] = nil
		switch {
		case t.answer.Params > 0:
			t.left, t.step = t.answer.Params, prepareParams
		case t.columns > 0:
			t.left, t.step = t.columns, prepareColumns
		default:
			t.step = idle
		}
	case prepareParams:
		_, p = t.column(p)
		if t.left--; t.left == 0 {
			if t.step = prepareParamsEnd; t.caps&capDeprecateEOF != 0 {
				t.beginColumns()
			}
		}
	case prepareParamsEnd:
		t.beginColumns()
	case prepareColumns:
		var c Column
		c, p = t.column(p)
		t.answer.Defined = append(t.answer.Defined, c)
		t.statements[t.statement] = t.answer.Defined
		if t.left--; t.left == 0 {
			t.step = idle
		}
	}
	return p
}

func (t *tap) beginColumns() {
	if t.left, t.step = t.columns, prepareColumns; t.columns == 0 {
		t.step = idle
	}
}

func (t *tap) result() *Result { return &t.answer.Results[len(t.answer.Results)-1] }

func (t *tap) greeting(p []byte) {
	i := slices.Index(p, 0)
	if i < 0 || len(p) < i+1+31 {
		return
	}
	p = p[i+1:]
	low := uint32(binary.LittleEndian.Uint16(p[13:]))
	t.mariadb = low&capMySQL == 0 && binary.LittleEndian.Uint32(p[27:])&capExtendedTypes != 0
}

// end reads what ends a result.
func (t *tap) end(p []byte) {
	if t.step == first {
		t.answer.Results = append(t.answer.Results, Result{})
	}
	r := t.result()
	if p[0] == 0xfe && t.caps&capDeprecateEOF == 0 {
		r.Warnings, r.Status = binary.LittleEndian.Uint16(p[1:]), binary.LittleEndian.Uint16(p[3:])
	} else {
		_, rest := lenenc(p[1:])
		_, rest = lenenc(rest)
		r.Status, r.Warnings = binary.LittleEndian.Uint16(rest), binary.LittleEndian.Uint16(rest[2:])
		r.Info = string(rest[4:])
	}
	t.step = idle
	if r.Status&moreResults != 0 {
		t.step = first
	}
}

// column reads a definition, and returns it as the driver wants it.
func (t *tap) column(p []byte) (c Column, plain []byte) {
	rest := p
	next := func() string {
		n, r := lenenc(rest)
		s := string(r[:n])
		rest = r[n:]
		return s
	}
	next()
	for _, s := range []*string{&c.Schema, &c.Table, &c.OrgTable, &c.Name, &c.OrgName} {
		*s = next()
	}
	plain = p
	if t.mariadb && t.more&capExtendedTypes != 0 {
		names := len(p) - len(rest)
		c.Extended = extended(next())
		plain = append(slices.Clone(p[:names]), rest...)
	}
	rest = rest[1:]
	c.Charset, c.Length = binary.LittleEndian.Uint16(rest), binary.LittleEndian.Uint32(rest[2:])
	c.Type, c.Flags, c.Decimals = rest[6], binary.LittleEndian.Uint16(rest[7:]), rest[9]
	return c, plain
}

// extended makes what MariaDB says of an extended type readable.
func extended(s string) string {
	var out []string
	for len(s) > 1 {
		n, rest := lenenc([]byte(s[1:]))
		what := fmt.Sprint(s[0])
		if s[0] < 2 {
			what = []string{"type", "format"}[s[0]]
		}
		out = append(out, what+" "+string(rest[:n]))
		s = string(rest[n:])
	}
	return strings.Join(out, ", ")
}

func lenenc(p []byte) (uint64, []byte) {
	switch {
	case len(p) == 0:
		return 0, nil
	case p[0] == 0xfc:
		return uint64(binary.LittleEndian.Uint16(p[1:])), p[3:]
	case p[0] == 0xfd:
		return uint64(p[1]) | uint64(p[2])<<8 | uint64(p[3])<<16, p[4:]
	case p[0] == 0xfe:
		return binary.LittleEndian.Uint64(p[1:]), p[9:]
	}
	return uint64(p[0]), p[1:]
}
