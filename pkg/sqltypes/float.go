package sqltypes

import (
	"math"
	"strconv"
)

// AppendFloat appends f as servers print a DOUBLE without a fixed number of decimals in a result: the shortest text that
// reads back as f, with an exponent when the point would stand more than 15 places left of the digits, or right of them
// with zeros between. (As an argument of a string function servers may print it shorter.)
func AppendFloat(dst []byte, f float64) []byte {
	const maxPlain = 15
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		if math.Signbit(f) && f == 0 {
			return append(dst, "-0"...)
		}
		return append(dst, '0') // servers have neither infinities nor NaN
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', -1, 64) // [-]d[.ddd]e±xx
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	at := len(e) - 4
	for e[at] != 'e' {
		at--
	}
	exponent, _ := strconv.Atoi(string(e[at+1:]))
	digits := e[:1]
	if at > 2 {
		digits = e[:1+copy(e[1:], e[2:at])]
	}
	point := exponent + 1 // digits before the point
	switch {
	case point <= -maxPlain || point > maxPlain && len(digits) <= point:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	case point <= 0:
		dst = append(dst, "0."...)
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	case point >= len(digits):
		dst = append(dst, digits...)
		for range point - len(digits) {
			dst = append(dst, '0')
		}
		return dst
	default:
		dst = append(dst, digits[:point]...)
		return append(append(dst, '.'), digits[point:]...)
	}
}
