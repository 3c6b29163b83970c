package wire

import (
	"encoding/binary"
	"math"
	"strconv"

	"skarv/pkg/sqltypes"
)

// ParamType is the type a client gives a parameter of a prepared statement.
type ParamType struct {
	Type     sqltypes.Type
	Unsigned bool
	Shape    Shape // of text that Params.Given tells the type of
}

// Shape is what text looks like, where a server that asks for another type may take a type from it.
type Shape uint8

const (
	AnyShape Shape = iota
	Digits         // an integer that any BIGINT has, as most are
	DateOnly       // YYYY-MM-DD
)

// ShapeOf is the shape of text.
func ShapeOf(text []byte) Shape {
	const most = 18 // digits
	dashes := 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
		case c == '-' && (i == len("2006") || i == len("2006-01")):
			dashes++
		default:
			return AnyShape
		}
	}
	switch {
	case dashes == 0 && len(text) > 0 && len(text) <= most:
		return Digits
	case dashes == 2 && len(text) == len("2006-01-02"):
		return DateOnly
	}
	return AnyShape
}

// Params reads the payload of COM_STMT_EXECUTE. It finds where each parameter lies and decodes only those that are asked for.
// A Params can be used again and again; then it allocates nothing. It refers to the payload and the long data it was
// given, and what its methods return is valid until the next Parse.
type Params struct {
	StatementID uint32
	Flags       byte // 1: open a cursor
	NewTypes    bool // the payload said the types, instead of leaving them as they were
	// MySQL: it takes the time zone of a date and time, which MariaDB forgets, and no YEAR and MEDIUMINT, which MariaDB takes.
	MySQL bool

	types   []ParamType
	raw     [][]byte // encoded value of each, nil for NULL
	values  []sqltypes.Value
	decoded []bool
	scratch []byte
}

// executeHead is the length of what precedes the parameters: statement id, flags, iteration count.
const executeHead = 9

// AppendExecuteHead appends the beginning of a COM_STMT_EXECUTE payload, for the caller to append parameters to.
func AppendExecuteHead(dst []byte, statement uint32, flags byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, statement)
	return append(dst, flags, 1, 0, 0, 0)
}

// ExecuteStatementID reads the statement's id from the payload of COM_STMT_EXECUTE, and of the other commands that begin
// with one.
func ExecuteStatementID(payload []byte) (id uint32, ok bool) {
	if len(payload) < 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(payload), true
}

// Parse reads payload, which does not include the command byte. n is the statement's number of parameters; types are those of
// the last execution, used when payload does not bring new ones; long[i], if it is there and not nil, is what
// COM_STMT_SEND_LONG_DATA brought for parameter i.
func (p *Params) Parse(payload []byte, n int, types []ParamType, long [][]byte) error {
	c := cursor{b: payload}
	p.StatementID = c.uint32()
	p.Flags = c.uint8()
	c.uint32()
	p.NewTypes = false
	p.types, p.raw, p.values, p.decoded, p.scratch = p.types[:0], p.raw[:0], p.values[:0], p.decoded[:0], p.scratch[:0]
	if c.bad {
		return malformed("execute")
	}
	if n == 0 {
		return nil
	}
	nulls := c.take((n + 7) / 8)
	switch c.uint8() {
	case 1:
		p.NewTypes = true
		both := c.take(2 * n)
		for i := 0; i+1 < len(both); i += 2 {
			p.types = append(p.types, ParamType{Type: sqltypes.Type(both[i]), Unsigned: both[i+1]&0x80 != 0})
		}
	case 0:
		if len(types) != n {
			return malformed("execute without parameter types")
		}
		p.types = append(p.types, types...)
	default:
		return malformed("execute")
	}
	if c.bad {
		return malformed("execute")
	}
	for i, t := range p.types {
		var v []byte
		switch {
		case p.MySQL && (t.Type == sqltypes.TypeYear || t.Type == sqltypes.TypeInt24):
			return malformed("type of a value")
		case i < len(long) && long[i] != nil:
			if v = long[i]; !p.mayBeLong(t.Type) {
				return malformed("pieces of a value that is not text")
			}
		case nulls[i/8]&(1<<(i%8)) != 0 || t.Type == sqltypes.TypeNull:
		default:
			var err error
			if v, err = binaryValue(&c, t.Type); err != nil {
				return err
			}
			if !p.MySQL && len(v) == zoned && hasDate(t.Type) {
				v = v[:zoned-2]
			}
		}
		p.raw = append(p.raw, v)
		p.values = append(p.values, sqltypes.Value{})
		p.decoded = append(p.decoded, false)
	}
	return nil
}

// mayBeLong reports whether servers take a value of t that came by COM_STMT_SEND_LONG_DATA.
func (p *Params) mayBeLong(t sqltypes.Type) bool {
	switch t {
	case sqltypes.TypeTinyBlob, sqltypes.TypeMediumBlob, sqltypes.TypeLongBlob, sqltypes.TypeBlob, sqltypes.TypeVarString, sqltypes.TypeString:
		return true
	case sqltypes.TypeVarchar, sqltypes.TypeEnum, sqltypes.TypeSet, sqltypes.TypeGeometry:
		return !p.MySQL
	}
	return false
}

// zoned is the length of a date and time with its time zone.
const zoned = 13

func hasDate(t sqltypes.Type) bool {
	return t == sqltypes.TypeDate || t == sqltypes.TypeDatetime || t == sqltypes.TypeTimestamp
}

// isText reports whether values of t are sent as a string of bytes.
func isText(t sqltypes.Type) bool {
	switch t {
	case sqltypes.TypeDecimal, sqltypes.TypeNewDecimal, sqltypes.TypeVarchar, sqltypes.TypeBit, sqltypes.TypeEnum, sqltypes.TypeSet,
		sqltypes.TypeTinyBlob, sqltypes.TypeMediumBlob, sqltypes.TypeLongBlob, sqltypes.TypeBlob, sqltypes.TypeVarString,
		sqltypes.TypeString, sqltypes.TypeGeometry, sqltypes.TypeVector, sqltypes.TypeJSON:
		return true
	}
	return false
}

// binaryValue takes the encoded value of a type off c; for strings, without their length. It is never nil without an error.
func binaryValue(c *cursor, t sqltypes.Type) ([]byte, error) {
	var v []byte
	switch t {
	case sqltypes.TypeTiny:
		v = c.take(1)
	case sqltypes.TypeShort, sqltypes.TypeYear:
		v = c.take(2)
	case sqltypes.TypeLong, sqltypes.TypeInt24, sqltypes.TypeFloat:
		v = c.take(4)
	case sqltypes.TypeLongLong, sqltypes.TypeDouble:
		v = c.take(8)
	case sqltypes.TypeDate, sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		n := int(c.uint8())
		if v = c.take(n); n != 0 && n != 4 && n != 7 && n != 11 && n != zoned {
			return nil, malformed("date")
		}
	case sqltypes.TypeTime:
		n := int(c.uint8())
		if v = c.take(n); n != 0 && n != 8 && n != 12 {
			return nil, malformed("time")
		}
	default:
		if !isText(t) {
			return nil, malformed("type of a value")
		}
		v = c.lenencString()
	}
	if c.bad {
		return nil, malformed("value")
	}
	if v == nil {
		v = []byte{}
	}
	return v, nil
}

// Len is the number of parameters.
func (p *Params) Len() int { return len(p.raw) }

// Types are the parameters' types, those of the last execution if the payload brought no new ones.
func (p *Params) Types() []ParamType { return p.types }

// Value returns parameter i in text form.
func (p *Params) Value(i int) sqltypes.Value {
	if !p.decoded[i] {
		p.decoded[i] = true
		p.values[i] = p.decode(p.raw[i], p.types[i])
	}
	return p.values[i]
}

func (p *Params) decode(raw []byte, t ParamType) sqltypes.Value {
	if raw == nil {
		return sqltypes.Value{}
	}
	switch t.Type {
	case sqltypes.TypeDecimal, sqltypes.TypeNewDecimal:
		if !isDecimal(raw) {
			return sqltypes.Value{Kind: sqltypes.String, Raw: raw}
		}
		return sqltypes.Value{Kind: sqltypes.Decimal, Raw: raw}
	case sqltypes.TypeVarchar, sqltypes.TypeVarString, sqltypes.TypeString, sqltypes.TypeEnum, sqltypes.TypeSet, sqltypes.TypeJSON:
		return sqltypes.Value{Kind: sqltypes.String, Raw: raw}
	case sqltypes.TypeTinyBlob, sqltypes.TypeMediumBlob, sqltypes.TypeLongBlob, sqltypes.TypeBlob, sqltypes.TypeBit, sqltypes.TypeGeometry,
		sqltypes.TypeVector:
		return sqltypes.Value{Kind: sqltypes.Binary, Raw: raw}
	}
	start := len(p.scratch)
	kind := sqltypes.Int
	switch t.Type {
	case sqltypes.TypeFloat:
		// The server, too, widens it to double before it uses it.
		kind = sqltypes.Float
		p.scratch = appendFloatParam(p.scratch, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
	case sqltypes.TypeDouble:
		kind = sqltypes.Float
		p.scratch = appendFloatParam(p.scratch, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	case sqltypes.TypeDate:
		kind = sqltypes.Date
		p.scratch = appendDate(p.scratch, raw)
	case sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		kind = sqltypes.Datetime
		p.scratch = appendDatetime(p.scratch, raw, -1)
	case sqltypes.TypeTime:
		kind = sqltypes.Time
		p.scratch = appendTime(p.scratch, raw, -1)
	default:
		p.scratch = appendInt(p.scratch, raw, t.Unsigned)
	}
	return sqltypes.Value{Kind: kind, Raw: p.scratch[start:len(p.scratch):len(p.scratch)]}
}

// appendFloatParam writes f as a floating-point literal: always with an exponent, without which it would be a decimal.
func appendFloatParam(dst []byte, f float64) []byte {
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// isDecimal reports whether raw is digits with an optional sign and point, and so may stand in a statement as it is.
func isDecimal(raw []byte) bool {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] == '+') {
		raw = raw[1:]
	}
	digits, points := 0, 0
	for _, c := range raw {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}
