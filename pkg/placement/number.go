package placement

import (
	"bytes"
	"math"
	"strconv"

	"skarv/pkg/sqltypes"
)

// exactDigits is how many digits a double holds whatever they are: below, comparing as doubles is comparing exactly.
const exactDigits = 15

// Literals with more digits are rounded or clamped before they are compared.
const (
	maxLiteralInt  = 65 - 30
	maxLiteralFrac = 30
)

// appendNumber appends the text of v in a numeric column.
func (c *KeyColumn) appendNumber(dst []byte, v sqltypes.Value, store bool) ([]byte, Match) {
	var scratch [4*exactDigits + maxLiteralFrac]byte
	n, ok := number(v, scratch[:0])
	if !ok {
		return c.appendBitString(dst, v, store)
	}
	if len(n.Frac) > maxLiteralFrac || len(n.Int) > maxLiteralInt {
		return dst, Unknown
	}
	// What is compared as a double is compared exactly as long as both sides fit into one.
	asDouble := v.Kind == sqltypes.Float || v.Kind == sqltypes.String && !store
	if asDouble && (len(n.Int)+len(n.Frac) > exactDigits || c.kind == decimalKey && c.precision > exactDigits && !store) {
		return dst, Unknown
	}
	if len(n.Frac) > 0 {
		switch {
		case v.Kind == sqltypes.Float && c.kind == intKey && !store:
			return dst, None
		case v.Kind == sqltypes.Float,
			v.Kind == sqltypes.String && !store && len(n.Frac) > c.fraction(),
			v.Kind == sqltypes.String && store && c.kind != decimalKey:
			return dst, Unknown
		}
	}
	switch {
	case c.kind == yearKey:
		return appendYear(dst, n, v.Kind, store)
	case c.kind == bitKey && v.Kind == sqltypes.String:
		return dst, Unknown // stored as the bits of its bytes, compared as their number
	case store && c.kind == bitKey && !c.holds(n):
		return dst, Unknown // its lowest bits, or all of them set
	case store:
		return c.appendStored(dst, n), Exact
	case c.kind == bitKey && (n.Negative || len(n.Int) > exactDigits):
		return dst, Unknown // signed and unsigned numbers of 64 bits are mixed up: -1 finds the greatest
	case !c.holds(n):
		return dst, None
	default:
		return n.Append(dst), Exact
	}
}

// number returns v as an exact number, if its text is one. The number may point into scratch.
func number(v sqltypes.Value, scratch []byte) (sqltypes.Number, bool) {
	switch v.Kind {
	case sqltypes.Int, sqltypes.Decimal, sqltypes.Bool, sqltypes.String:
		return sqltypes.ParseNumber(v.Raw)
	case sqltypes.Float:
		i := bytes.IndexAny(v.Raw, "eE")
		if i < 0 {
			return sqltypes.ParseNumber(v.Raw)
		}
		exponent, ok := parseExponent(v.Raw[i+1:])
		n, isNumber := sqltypes.ParseNumber(v.Raw[:i])
		if !ok || !isNumber {
			return sqltypes.Number{}, false
		}
		return sqltypes.ParseNumber(appendShifted(scratch, n, exponent))
	default:
		return sqltypes.Number{}, false
	}
}

// parseExponent reads a small exponent. Numbers with a larger one have more digits than a double holds, or are none that
// an exact column holds.
func parseExponent(s []byte) (int, bool) {
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	const maxDigits = 2
	e, ok := digits(s)
	if !ok || len(s) == 0 || len(s) > maxDigits || e > 2*exactDigits {
		return 0, false
	}
	if negative {
		e = -e
	}
	return e, true
}

// appendShifted appends n times ten to the power of exponent.
func appendShifted(dst []byte, n sqltypes.Number, exponent int) []byte {
	if n.Negative {
		dst = append(dst, '-')
	}
	point := len(n.Int) + exponent // position of the point in the digits of both parts
	count := len(n.Int) + len(n.Frac)
	for i := min(0, point); i < max(count, point); i++ {
		if i == point {
			dst = append(dst, '.')
		}
		switch {
		case i < 0 || i >= count:
			dst = append(dst, '0')
		case i < len(n.Int):
			dst = append(dst, n.Int[i])
		default:
			dst = append(dst, n.Frac[i-len(n.Int)])
		}
	}
	if count == 0 {
		dst = append(dst, '0')
	}
	return dst
}

// holds reports whether the column can hold exactly n.
func (c *KeyColumn) holds(n sqltypes.Number) bool {
	if n.Negative && (c.unsigned || c.kind == bitKey) || len(n.Frac) > c.fraction() {
		return false
	}
	if c.kind == decimalKey {
		return len(n.Int) <= c.precision-c.scale
	}
	var x uint64
	for _, d := range n.Int {
		if x > math.MaxUint64/10 {
			return false
		}
		x *= 10
		if x > math.MaxUint64-uint64(d-'0') {
			return false
		}
		x += uint64(d - '0')
	}
	return x <= c.magnitude(n.Negative)
}

// magnitude returns the absolute value of the greatest or least number an integer or BIT column holds.
func (c *KeyColumn) magnitude(negative bool) uint64 {
	half := uint64(1) << (c.bits - 1)
	switch {
	case c.unsigned || c.kind == bitKey:
		if negative {
			return 0
		}
		return half - 1 + half
	case negative:
		return half
	default:
		return half - 1
	}
}

// fraction is the number of decimals the column keeps.
func (c *KeyColumn) fraction() int {
	if c.kind == decimalKey {
		return c.scale
	}
	return 0
}

// limit returns the column's greatest value, or its least one.
func (c *KeyColumn) limit(least bool) sqltypes.Number {
	if c.kind == decimalKey {
		if least && c.unsigned {
			return sqltypes.Number{}
		}
		nines := bytes.Repeat([]byte{'9'}, c.precision)
		return sqltypes.Number{Negative: least, Int: nines[:c.precision-c.scale], Frac: nines[:c.scale]}
	}
	m := c.magnitude(least)
	if m == 0 {
		return sqltypes.Number{}
	}
	return sqltypes.Number{Negative: least, Int: strconv.AppendUint(nil, m, 10)}
}

// appendStored appends what the column holds after n was written into it: rounded half away from zero and, where the
// strict sql_mode would have refused the row, clamped.
func (c *KeyColumn) appendStored(dst []byte, n sqltypes.Number) []byte {
	if len(n.Frac) > c.fraction() {
		n = round(n, c.fraction())
	}
	if !c.holds(n) {
		n = c.limit(n.Negative)
	}
	return n.Append(dst)
}

// round returns n with at most scale decimals, rounded half away from zero.
func round(n sqltypes.Number, scale int) sqltypes.Number {
	if len(n.Frac) <= scale {
		return n
	}
	up := n.Frac[scale] >= '5'
	text := make([]byte, 0, len(n.Int)+scale+3)
	text = append(text, '0') // room for a carry
	text = append(text, n.Int...)
	text = append(text, n.Frac[:scale]...)
	for i := len(text) - 1; up && i >= 0; i-- {
		if up = text[i] == '9'; up {
			text[i] = '0'
		} else {
			text[i]++
		}
	}
	point := len(text) - scale
	if scale > 0 {
		text = append(text, 0)
		copy(text[point+1:], text[point:])
		text[point] = '.'
	}
	r, _ := sqltypes.ParseNumber(text)
	r.Negative = n.Negative && len(r.Int)+len(r.Frac) > 0
	return r
}

// appendYear appends the text of a YEAR: 0 and 1901 to 2155. Numbers below 100 mean a year of the century next to them,
// differently for 0 and '0'; only full years are taken.
func appendYear(dst []byte, n sqltypes.Number, kind sqltypes.Kind, store bool) ([]byte, Match) {
	if store && kind == sqltypes.Int && len(n.Int) == 0 && len(n.Frac) == 0 {
		return n.Append(dst), Exact // the number 0 is stored as 0000
	}
	if n.Negative || len(n.Frac) > 0 || len(n.Int) != 4 || kind == sqltypes.Float || kind == sqltypes.Decimal {
		return dst, Unknown
	}
	y, _ := strconv.Atoi(string(n.Int))
	if y < 1901 || y > 2155 {
		return dst, Unknown
	}
	return n.Append(dst), Exact
}

// appendBitString appends the number a byte string stands for when it is stored in a BIT column: b'101'.
func (c *KeyColumn) appendBitString(dst []byte, v sqltypes.Value, store bool) ([]byte, Match) {
	if c.kind != bitKey || v.Kind != sqltypes.Binary || !store || len(v.Raw) > 8 {
		return dst, Unknown
	}
	var x uint64
	for _, b := range v.Raw {
		x = x<<8 | uint64(b)
	}
	if c.bits < 64 && x>>c.bits != 0 {
		return dst, Unknown
	}
	return strconv.AppendUint(dst, x, 10), Exact
}
