package wire

import "strconv"

// notFixed is the number of decimals of a floating-point column declared without one; any from it on mean the same.
const notFixed = 31

// appendFloatText writes a float as servers do: with the column's decimals if it has them; else the shortest text that reads back
// as the same double, or six digits of a float; with an exponent only when the point would stand further than 15 digits away.
func appendFloatText(dst []byte, f float64, bits, decimals int) []byte {
	if decimals < notFixed {
		return strconv.AppendFloat(dst, f, 'f', decimals, 64)
	}
	const maxPlain = 15
	digits := -1
	if bits == 32 {
		digits = 5 // behind the first
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', digits, 64) // [-]d.ddde±xx
	if len(e) > 0 && e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	at := len(e) - 1
	for at > 0 && e[at] != 'e' {
		at--
	}
	exponent, err := strconv.Atoi(string(e[at+1:]))
	if at == 0 || err != nil {
		return append(dst, e...) // no number
	}
	mantissa := e[:1] // digits alone
	if at > 2 {
		mantissa = e[:1+copy(e[1:], e[2:at])]
	}
	for len(mantissa) > 1 && mantissa[len(mantissa)-1] == '0' {
		mantissa = mantissa[:len(mantissa)-1]
	}
	point := exponent + 1 // digits before the point
	switch {
	case point > maxPlain || point < 1-maxPlain:
		dst = append(dst, mantissa[0])
		if len(mantissa) > 1 {
			dst = append(append(dst, '.'), mantissa[1:]...)
		}
		return strconv.AppendInt(append(dst, 'e'), int64(exponent), 10)
	case point <= 0:
		if mantissa[0] == '0' {
			return append(dst, '0')
		}
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, mantissa...)
	case point >= len(mantissa):
		dst = append(dst, mantissa...)
		for n := len(mantissa); n < point; n++ {
			dst = append(dst, '0')
		}
		return dst
	default:
		dst = append(dst, mantissa[:point]...)
		return append(append(dst, '.'), mantissa[point:]...)
	}
}
