package sqltypes

import "bytes"

// Number is the text of an exact number taken apart: sign, digits before and after the point. The slices point into the
// text. A zero never is negative.
type Number struct {
	Negative bool
	Int      []byte // no leading zeros; empty for 0
	Frac     []byte // no trailing zeros
}

// ParseNumber reads "[+-]digits[.digits]", the form in which servers send and accept exact numbers, with at least one
// digit and nothing around it. It returns false for anything else, exponents included.
func ParseNumber(s []byte) (Number, bool) {
	var n Number
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		n.Negative = s[0] == '-'
		s = s[1:]
	}
	point := -1
	digits := 0
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && point < 0:
			point = i
		default:
			return Number{}, false
		}
	}
	if digits == 0 {
		return Number{}, false
	}
	n.Int = s
	if point >= 0 {
		n.Int, n.Frac = s[:point], s[point+1:]
	}
	for len(n.Int) > 0 && n.Int[0] == '0' {
		n.Int = n.Int[1:]
	}
	for len(n.Frac) > 0 && n.Frac[len(n.Frac)-1] == '0' {
		n.Frac = n.Frac[:len(n.Frac)-1]
	}
	if len(n.Int)+len(n.Frac) == 0 {
		n.Negative = false
	}
	return n, true
}

// Append appends n in its shortest form: no leading or trailing zeros but the one before a point.
func (n Number) Append(dst []byte) []byte {
	if n.Negative {
		dst = append(dst, '-')
	}
	if len(n.Int) == 0 {
		dst = append(dst, '0')
	}
	dst = append(dst, n.Int...)
	if len(n.Frac) > 0 {
		dst = append(dst, '.')
		dst = append(dst, n.Frac...)
	}
	return dst
}

// Compare returns -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Compare(m Number) int {
	if n.Negative != m.Negative {
		if n.Negative {
			return -1
		}
		return 1
	}
	r := compareLengthFirst(n.Int, m.Int)
	if r == 0 {
		r = bytes.Compare(n.Frac, m.Frac) // no trailing zeros: a prefix is the smaller
	}
	if n.Negative {
		return -r
	}
	return r
}

func compareLengthFirst(a, b []byte) int {
	switch {
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	default:
		return bytes.Compare(a, b)
	}
}
