package binlog

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"skarv/pkg/sqltypes"
)

// binaryCollation is the number of the collation of byte strings.
const binaryCollation = 63

// appendValue reads a value of the column and appends its text; see Row.
func (col *Column) appendValue(dst []byte, c *cursor) ([]byte, error) {
	switch sqltypes.Type(col.Type) {
	case sqltypes.TypeTiny:
		return col.appendInt(dst, c.uint(1), 8), nil
	case sqltypes.TypeShort:
		return col.appendInt(dst, c.uint(2), 16), nil
	case sqltypes.TypeInt24:
		return col.appendInt(dst, c.uint(3), 24), nil
	case sqltypes.TypeLong:
		return col.appendInt(dst, c.uint(4), 32), nil
	case sqltypes.TypeLongLong:
		return col.appendInt(dst, c.uint(8), 64), nil
	case sqltypes.TypeFloat:
		return sqltypes.AppendFloat(dst, float64(math.Float32frombits(c.uint32()))), nil
	case sqltypes.TypeDouble:
		return sqltypes.AppendFloat(dst, math.Float64frombits(c.uint64())), nil
	case sqltypes.TypeNewDecimal:
		return appendDecimal(dst, c, int(col.meta>>8), int(col.meta&0xff)), nil
	case sqltypes.TypeYear:
		year := uint64(c.byte())
		if year == 0 {
			return append(dst, "0000"...), nil
		}
		return strconv.AppendUint(dst, 1900+year, 10), nil
	case sqltypes.TypeDate:
		return appendDate(dst, c.uint(3)), nil
	case typeTimestamp2:
		return appendTimestamp(dst, c, col.digits(c)), nil
	case typeDatetime2:
		return appendDatetime(dst, c, col.digits(c)), nil
	case typeTime2:
		return appendTime(dst, c, col.digits(c)), nil
	case sqltypes.TypeBit:
		return strconv.AppendUint(dst, c.bigUint((int(col.meta>>8)*8+int(col.meta&0xff)+7)/8), 10), nil
	case sqltypes.TypeEnum, sqltypes.TypeSet:
		return strconv.AppendUint(dst, c.uint(int(min(col.meta, 8))), 10), nil
	case sqltypes.TypeVarchar, sqltypes.TypeVarString:
		return append(dst, c.take(int(c.uint(prefixSize(col.meta))))...), nil
	case sqltypes.TypeString:
		from := len(dst)
		dst = append(dst, c.take(int(c.uint(prefixSize(col.meta))))...)
		for col.Collation == binaryCollation && len(dst)-from < int(col.meta) {
			dst = append(dst, 0) // BINARY(n) is logged without the zeros it ends with
		}
		return dst, nil
	case sqltypes.TypeBlob, sqltypes.TypeGeometry, sqltypes.TypeVector:
		return append(dst, c.take(int(c.uint(int(min(col.meta, 4)))))...), nil
	case sqltypes.TypeJSON:
		return appendJSON(dst, c.take(int(c.uint(int(min(col.meta, 4))))))
	}
	return dst, fmt.Errorf("%w: column %s has type %d, which is not supported", ErrFormat, col.Name, col.Type)
}

func prefixSize(longest uint16) int {
	if longest > 255 {
		return 2
	}
	return 1
}

// appendInt appends the number in the low bits of v.
func (col *Column) appendInt(dst []byte, v uint64, bits int) []byte {
	if col.Unsigned {
		return strconv.AppendUint(dst, v, 10)
	}
	return strconv.AppendInt(dst, int64(v<<(64-bits))>>(64-bits), 10)
}

// appendDecimal reads a DECIMAL: groups of nine digits in four bytes, big-endian, what is left of them in as few as hold it, the
// shorter group outermost. The first bit is inverted; all bits are for a negative number.
func appendDecimal(dst []byte, c *cursor, precision, scale int) []byte {
	if scale > precision {
		c.bad = true
		return dst
	}
	whole := precision - scale
	size := groupSize(whole%9) + whole/9*4 + scale/9*4 + groupSize(scale%9)
	raw := c.take(size)
	if len(raw) == 0 {
		c.bad = true
		return dst
	}
	p := append(make([]byte, 0, 40), raw...)
	negative := p[0]&0x80 == 0
	p[0] ^= 0x80
	if negative {
		dst = append(dst, '-')
		for i := range p {
			p[i] = ^p[i]
		}
	}
	d := cursor{b: p}
	start := len(dst)
	dst = appendGroup(dst, &d, whole%9)
	for range whole / 9 {
		dst = appendGroup(dst, &d, 9)
	}
	zeros := 0
	for start+zeros < len(dst) && dst[start+zeros] == '0' {
		zeros++
	}
	dst = append(dst[:start], dst[start+zeros:]...)
	if len(dst) == start {
		dst = append(dst, '0')
	}
	if scale > 0 {
		dst = append(dst, '.')
		for range scale / 9 {
			dst = appendGroup(dst, &d, 9)
		}
		dst = appendGroup(dst, &d, scale%9)
	}
	return dst
}

// groupSize is how many bytes hold so many digits, at most nine.
func groupSize(digits int) int { return min((digits+1)/2, 4) }

// appendGroup reads so many digits.
func appendGroup(dst []byte, c *cursor, digits int) []byte {
	if digits == 0 {
		return dst
	}
	return appendPadded(dst, c.bigUint(groupSize(digits)), digits)
}

// appendPadded appends v with at least width digits.
func appendPadded(dst []byte, v uint64, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for v > 0 || len(buf)-i < width {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
	}
	return append(dst, buf[i:]...)
}

// appendDate reads bits year:15 month:4 day:5.
func appendDate(dst []byte, v uint64) []byte {
	dst = append(appendPadded(dst, v>>9, 4), '-')
	dst = append(appendPadded(dst, v>>5&15, 2), '-')
	return appendPadded(dst, v&31, 2)
}

func appendClock(dst []byte, hour, minute, second uint64) []byte {
	dst = append(appendPadded(dst, hour, 2), ':')
	dst = append(appendPadded(dst, minute, 2), ':')
	return appendPadded(dst, second, 2)
}

// appendFraction appends the point and digits of a fraction, of which the log keeps an even number.
func appendFraction(dst []byte, v uint64, digits int) []byte {
	if digits == 0 {
		return dst
	}
	if digits%2 == 1 {
		v /= 10
	}
	return appendPadded(append(dst, '.'), v, digits)
}

// fractionSize is how many bytes hold so many digits of a fraction.
func fractionSize(digits int) int { return (digits + 1) / 2 }

// digits are those of a temporal column's fraction.
func (col *Column) digits(c *cursor) int {
	c.bad = c.bad || col.meta > 6
	return int(min(col.meta, 6))
}

// appendTimestamp reads seconds since 1970, big-endian, and a fraction.
func appendTimestamp(dst []byte, c *cursor, digits int) []byte {
	seconds := c.bigUint(4)
	fraction := c.bigUint(fractionSize(digits))
	if seconds == 0 && fraction == 0 {
		return appendFraction(append(dst, "0000-00-00 00:00:00"...), 0, digits)
	}
	dst = time.Unix(int64(seconds), 0).UTC().AppendFormat(dst, time.DateTime)
	return appendFraction(dst, fraction, digits)
}

// appendDatetime reads bits sign:1 year*13+month:17 day:5 hour:5 minute:6 second:6 and a fraction.
func appendDatetime(dst []byte, c *cursor, digits int) []byte {
	v := c.bigUint(5) &^ (1 << 39)
	fraction := c.bigUint(fractionSize(digits))
	months := v >> 22
	dst = append(appendPadded(dst, months/13, 4), '-')
	dst = append(appendPadded(dst, months%13, 2), '-')
	dst = append(appendPadded(dst, v>>17&31, 2), ' ')
	dst = appendClock(dst, v>>12&31, v>>6&63, v&63)
	return appendFraction(dst, fraction, digits)
}

// appendTime reads bits sign:1 unused:1 hour:10 minute:6 second:6 and a fraction: one number, of which that of 0 is taken away.
func appendTime(dst []byte, c *cursor, digits int) []byte {
	size := fractionSize(digits)
	v := int64(c.bigUint(3+size)) - 1<<(23+8*size)
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	whole := uint64(v) >> (8 * size)
	dst = appendClock(dst, whole>>12&1023, whole>>6&63, whole&63)
	return appendFraction(dst, uint64(v)&(1<<(8*size)-1), digits)
}

// rowImage reads one image of a row: a bitmap of what is NULL, then the values.
func rowImage(arena []byte, t *Table, c *cursor) (Row, []byte, error) {
	n := len(t.Columns)
	nulls := c.take(bitmapSize(n))
	if nulls == nil && n > 0 {
		return nil, arena, c.err("row")
	}
	row := make(Row, n)
	for i := range t.Columns {
		if bit(nulls, i) {
			continue
		}
		from := len(arena)
		var err error
		if arena, err = t.Columns[i].appendValue(arena, c); err != nil {
			return nil, arena, err
		}
		row[i] = arena[from:len(arena):len(arena)]
	}
	return row, arena, c.err("row of " + t.Schema + "." + t.Name)
}
