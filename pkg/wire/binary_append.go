package wire

import (
	"encoding/binary"
	"math"
	"strconv"

	"skarv/pkg/sqltypes"
)

// appendBinaryValue encodes text as its column's type demands; ok is false if it is no such value.
func appendBinaryValue(dst []byte, col *sqltypes.Column, text []byte) (out []byte, ok bool) {
	switch col.Type {
	case sqltypes.TypeTiny:
		n, ok := parseInt(text, 8, col.Flags)
		return append(dst, byte(n)), ok
	case sqltypes.TypeShort, sqltypes.TypeYear:
		n, ok := parseInt(text, 16, col.Flags)
		return binary.LittleEndian.AppendUint16(dst, uint16(n)), ok
	case sqltypes.TypeLong, sqltypes.TypeInt24:
		n, ok := parseInt(text, 32, col.Flags)
		return binary.LittleEndian.AppendUint32(dst, uint32(n)), ok
	case sqltypes.TypeLongLong:
		n, ok := parseInt(text, 64, col.Flags)
		return binary.LittleEndian.AppendUint64(dst, n), ok
	case sqltypes.TypeFloat:
		f, err := strconv.ParseFloat(string(text), 32)
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(f))), err == nil
	case sqltypes.TypeDouble:
		f, err := strconv.ParseFloat(string(text), 64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), err == nil
	case sqltypes.TypeDate, sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		return appendBinaryDatetime(dst, col.Type, text)
	case sqltypes.TypeTime:
		return appendBinaryTime(dst, text)
	default:
		return AppendLenencString(dst, text), true
	}
}

// parseInt reads an integer of a column; the result has its two's complement in the low bits.
func parseInt(text []byte, bits int, flags uint16) (uint64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range text {
		d := uint64(c - '0')
		if c < '0' || c > '9' || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	limit := uint64(1)<<(bits-1) - 1
	switch {
	case negative:
		return -n, n <= limit+1
	case flags&sqltypes.FlagUnsigned != 0:
		return n, n>>(bits-1)>>1 == 0
	default:
		return n, n <= limit
	}
}

// clockText reads the parts of a date or time off its text.
type clockText struct {
	rest []byte
	bad  bool
}

// number reads at least one digit and what separates it from the next part.
func (c *clockText) number(separator byte) uint32 {
	var n uint32
	i := 0
	for ; i < len(c.rest) && i < 9 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = n*10 + uint32(c.rest[i]-'0')
	}
	switch {
	case i == 0:
		c.bad = true
	case separator == 0:
	case i < len(c.rest) && c.rest[i] == separator:
		i++
	default:
		c.bad = true
	}
	c.rest = c.rest[i:]
	return n
}

// micros reads the fraction of a second, if there is one, and must end the text.
func (c *clockText) micros() uint32 {
	if len(c.rest) == 0 {
		return 0
	}
	if c.rest[0] != '.' || len(c.rest) > 7 {
		c.bad = true
		return 0
	}
	digits := c.rest[1:]
	var n uint32
	for i := range 6 {
		n *= 10
		if i < len(digits) {
			c.bad = c.bad || digits[i] < '0' || digits[i] > '9'
			n += uint32(digits[i] - '0')
		}
	}
	return n
}

func appendBinaryDatetime(dst []byte, t sqltypes.Type, text []byte) ([]byte, bool) {
	c := clockText{rest: text}
	year, month := c.number('-'), c.number('-')
	var day, hour, minute, second, micros uint32
	if t == sqltypes.TypeDate || len(text) == len("2006-01-02") {
		day = c.number(0)
		c.bad = c.bad || len(c.rest) > 0
	} else {
		day, hour, minute, second = c.number(' '), c.number(':'), c.number(':'), c.number(0)
		micros = c.micros()
	}
	if c.bad || year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
		return dst, false
	}
	length := byte(4)
	switch {
	case micros != 0:
		length = 11
	case hour|minute|second != 0:
		length = 7
	case year|month|day == 0:
		length = 0
	}
	dst = append(dst, length)
	if length >= 4 {
		dst = append(dst, byte(year), byte(year>>8), byte(month), byte(day))
	}
	if length >= 7 {
		dst = append(dst, byte(hour), byte(minute), byte(second))
	}
	if length == 11 {
		dst = binary.LittleEndian.AppendUint32(dst, micros)
	}
	return dst, true
}

func appendBinaryTime(dst, text []byte) ([]byte, bool) {
	var negative byte
	if len(text) > 0 && text[0] == '-' {
		negative, text = 1, text[1:]
	}
	c := clockText{rest: text}
	hours, minute, second := c.number(':'), c.number(':'), c.number(0)
	micros := c.micros()
	if c.bad || hours > 838 || minute > 59 || second > 59 {
		return dst, false
	}
	if hours|minute|second|micros == 0 {
		return append(dst, 0), true
	}
	if micros == 0 {
		dst = append(dst, 8, negative)
	} else {
		dst = append(dst, 12, negative)
	}
	dst = binary.LittleEndian.AppendUint32(dst, hours/24)
	dst = append(dst, byte(hours%24), byte(minute), byte(second))
	if micros != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, micros)
	}
	return dst, true
}
