package binlog

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"

	"skarv/pkg/jsondoc"
	"skarv/pkg/sqltypes"
)

// Types of values in MySQL's binary JSON. Large ones have offsets of four bytes in place of two.
const (
	jsonObject      = 0
	jsonLargeObject = 1
	jsonArray       = 2
	jsonLargeArray  = 3
	jsonLiteral     = 4
	jsonInt16       = 5
	jsonUint16      = 6
	jsonInt32       = 7
	jsonUint32      = 8
	jsonInt64       = 9
	jsonUint64      = 10
	jsonDouble      = 11
	jsonString      = 12
	jsonOpaque      = 15
)

// jsonDepth is more than the 100 levels a server accepts.
const jsonDepth = 128

// appendJSON appends a binary document in the form of pkg/jsondoc: its text as MySQL prints it, and notes where that does not tell all.
func appendJSON(dst, b []byte) ([]byte, error) {
	if len(b) == 0 {
		return append(dst, "null"...), nil // what a server makes of a document that was never set
	}
	d := jsonReader{left: len(b)}
	from := len(dst)
	dst = d.value(dst, b[0], b[1:], jsonDepth)
	if d.bad {
		return dst, fmt.Errorf("%w: JSON", ErrDamaged)
	}
	return d.notes.Insert(dst, from), nil
}

// jsonReader reads one document. Each value takes at least a byte of it, which bounds how many there can be.
type jsonReader struct {
	left int
	bad  bool

	notes             jsondoc.Notes
	members, elements int // how many have been counted, see pkg/jsondoc
	member, element   int // the number of the value that comes
}

// note says of a value, which dst has from the given place, what its text does not tell.
func (d *jsonReader) note(kind string, dst []byte, from int) []byte {
	d.notes.Add(d.member, d.element, kind, dst[from:])
	return dst
}

// value appends the value of kind that b begins with.
func (d *jsonReader) value(dst []byte, kind byte, b []byte, depth int) []byte {
	if d.left--; depth == 0 || d.left < 0 {
		d.bad = true
	}
	if d.bad {
		return dst
	}
	c := cursor{b: b}
	from := len(dst)
	switch kind {
	case jsonObject, jsonLargeObject, jsonArray, jsonLargeArray:
		return d.container(dst, kind, b, depth)
	case jsonLiteral:
		switch c.byte() {
		case 0:
			dst = append(dst, "null"...)
		case 1:
			dst = append(dst, "true"...)
		case 2:
			dst = append(dst, "false"...)
		default:
			d.bad = true
		}
	case jsonInt16:
		dst = strconv.AppendInt(dst, int64(int16(c.uint16())), 10)
	case jsonUint16:
		dst = d.note(unsigned, strconv.AppendUint(dst, uint64(c.uint16()), 10), from)
	case jsonInt32:
		dst = strconv.AppendInt(dst, int64(int32(c.uint32())), 10)
	case jsonUint32:
		dst = d.note(unsigned, strconv.AppendUint(dst, uint64(c.uint32()), 10), from)
	case jsonInt64:
		dst = strconv.AppendInt(dst, int64(c.uint64()), 10)
	case jsonUint64:
		dst = d.note(unsigned, strconv.AppendUint(dst, c.uint64(), 10), from)
	case jsonDouble:
		dst = sqltypes.AppendFloat(dst, math.Float64frombits(c.uint64()))
		if whole(dst[from:]) {
			dst = append(dst, ".0"...) // or it would read as an integer
		}
	case jsonString:
		dst = quoteJSON(dst, c.take(c.varLength()))
	case jsonOpaque:
		kind := c.byte()
		dst = d.opaque(dst, kind, c.take(c.varLength()))
	default:
		d.bad = true
	}
	d.bad = d.bad || c.bad
	return dst
}

func whole(number []byte) bool {
	for _, ch := range number {
		if ch == '.' || ch == 'e' {
			return false
		}
	}
	return true
}

// varLength reads a length of up to five bytes of seven bits, low ones first.
func (c *cursor) varLength() int {
	var n uint64
	for i := range 5 {
		b := c.byte()
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if n > uint64(len(c.b)) {
				break
			}
			return int(n)
		}
	}
	c.bad = true
	return 0
}

// container appends an object or array: count and size, the keys' offsets and lengths, the values' types and offsets, then keys and
// values. Offsets are from the beginning; small values stand in place of their offset.
func (d *jsonReader) container(dst []byte, kind byte, b []byte, depth int) []byte {
	object := kind == jsonObject || kind == jsonLargeObject
	width := 2
	if kind == jsonLargeObject || kind == jsonLargeArray {
		width = 4
	}
	c := cursor{b: b}
	count, size := int(c.uint(width)), int(c.uint(width))
	if size > len(b) || count > size {
		d.bad = true
		return dst
	}
	b = b[:size]
	keys := cursor{b: c.b}
	if object {
		c.take(count * (width + 2))
	}
	open, shut := byte('['), byte(']')
	if object {
		open, shut = '{', '}'
	}
	dst = append(dst, open)
	before := d.elements
	if object {
		before = d.members
		d.members += count
	} else {
		d.elements += count
	}
	for i := range count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if object {
			at, length := int(keys.uint(width)), int(keys.uint16())
			if at+length > size {
				d.bad = true
				return dst
			}
			dst = append(quoteJSON(dst, b[at:at+length]), ": "...)
		}
		if d.member, d.element = 0, before+i+1; object {
			d.member, d.element = before+i+1, 0
		}
		kind := c.byte()
		slot := c.take(width)
		if c.bad || d.bad {
			d.bad = true
			return dst
		}
		if inlined := kind == jsonLiteral || kind == jsonInt16 || kind == jsonUint16 ||
			width == 4 && (kind == jsonInt32 || kind == jsonUint32); inlined {
			dst = d.value(dst, kind, slot, depth-1)
			continue
		}
		at := int((&cursor{b: slot}).uint(width))
		if at > size {
			d.bad = true
			return dst
		}
		dst = d.value(dst, kind, b[at:], depth-1)
	}
	return append(dst, shut)
}

// opaque appends a value of a type of MySQL's own.
func (d *jsonReader) opaque(dst []byte, kind byte, b []byte) []byte {
	c := cursor{b: b}
	from, name := len(dst), "BLOB"
	switch sqltypes.Type(kind) {
	case sqltypes.TypeNewDecimal:
		name = "DECIMAL"
		precision, scale := c.byte(), c.byte()
		dst = appendDecimal(dst, &c, int(precision), int(scale))
	case sqltypes.TypeDate:
		name = "DATE"
		v := c.uint64() >> 24 >> 17
		dst = append(dst, '"')
		dst = append(appendPackedDate(dst, v), '"')
	case sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		if name = "DATETIME"; sqltypes.Type(kind) == sqltypes.TypeTimestamp {
			name = "TIMESTAMP"
		}
		v := c.uint64()
		dst = append(dst, '"')
		dst = append(appendPackedDate(dst, v>>24>>17), ' ')
		dst = appendClock(dst, v>>24>>12&31, v>>24>>6&63, v>>24&63)
		dst = append(appendFraction(dst, v&(1<<24-1), 6), '"')
	case sqltypes.TypeTime:
		name = "TIME"
		v := int64(c.uint64())
		dst = append(dst, '"')
		if v < 0 {
			dst, v = append(dst, '-'), -v
		}
		u := uint64(v)
		dst = appendClock(dst, u>>24>>12&1023, u>>24>>6&63, u>>24&63)
		dst = append(appendFraction(dst, u&(1<<24-1), 6), '"')
	default:
		if sqltypes.Type(kind) == sqltypes.TypeBit {
			name = "BIT"
		}
		dst = append(dst, `"base64:type`...)
		dst = append(strconv.AppendUint(dst, uint64(kind), 10), ':')
		dst = append(base64.StdEncoding.AppendEncode(dst, b), '"')
	}
	d.bad = d.bad || c.bad
	return d.note(name, dst, from)
}

// unsigned is what JSON_TYPE() calls an integer that came from an unsigned column.
const unsigned = "UNSIGNED INTEGER"

// appendPackedDate reads bits year*13+month day:5.
func appendPackedDate(dst []byte, v uint64) []byte {
	months := v >> 5
	dst = append(appendPadded(dst, months/13, 4), '-')
	dst = append(appendPadded(dst, months%13, 2), '-')
	return appendPadded(dst, v&31, 2)
}

// quoteJSON appends a string with quotes.
func quoteJSON(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, ch := range s {
		switch ch {
		case '"', '\\':
			dst = append(dst, '\\', ch)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if ch < 0x20 {
				dst = append(dst, `\u00`...)
				dst = append(dst, "0123456789abcdef"[ch>>4], "0123456789abcdef"[ch&15])
				continue
			}
			dst = append(dst, ch)
		}
	}
	return append(dst, '"')
}
