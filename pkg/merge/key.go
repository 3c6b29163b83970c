package merge

import (
	"bytes"
	"cmp"
	"strconv"

	"skarv/pkg/sqltypes"
)

// Class is how the text of two values compares.
type Class uint8

// The classes.
const (
	Bytes   Class = iota // byte by byte: byte strings, weight strings, dates
	Number               // exact numbers of any length, with or without decimals
	Float                // FLOAT and DOUBLE
	Time                 // [-]HHH:MM:SS
	Bits                 // BIT: big-endian bytes
	Year                 // YEAR, YEAR(2) too
	Collate              // Key.Compare
)

// Key is one key of a sort order, or one column of a comparison. NULL sorts before everything, and equals NULL.
type Key struct {
	Column int
	Desc   bool
	Class  Class
	// Compare compares two strings, for Class Collate.
	Compare func(a, b []byte) int
	// Tied, unless nil, reports whether a server that sorts may have taken for equal two strings that differ: it looks at their beginning.
	Tied func(a, b []byte) bool
}

// ClassOf returns how values of a result column compare when no collation is named. ok is false for character
// strings (and types without an order of their own), for which only a collation can say.
func ClassOf(c *sqltypes.Column) (class Class, ok bool) {
	const binary = 63 // the number of the collation of byte strings
	switch c.Type {
	case sqltypes.TypeYear:
		return Year, true
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong,
		sqltypes.TypeDecimal, sqltypes.TypeNewDecimal:
		return Number, true
	case sqltypes.TypeFloat, sqltypes.TypeDouble:
		return Float, true
	case sqltypes.TypeTime:
		return Time, true
	case sqltypes.TypeDate, sqltypes.TypeDatetime, sqltypes.TypeTimestamp, sqltypes.TypeNull:
		return Bytes, true
	case sqltypes.TypeBit:
		return Bits, true
	case sqltypes.TypeVarchar, sqltypes.TypeVarString, sqltypes.TypeString, sqltypes.TypeTinyBlob,
		sqltypes.TypeBlob, sqltypes.TypeMediumBlob, sqltypes.TypeLongBlob:
		// An ENUM or SET column is sent as a string, but sorts by its number.
		return Bytes, c.Charset == binary && c.Flags&(sqltypes.FlagEnum|sqltypes.FlagSet) == 0
	}
	return Bytes, false
}

// compare orders two values, nil being NULL, without regard to Desc.
func (k *Key) compare(a, b []byte) int {
	if a == nil || b == nil {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		}
		return 1
	}
	switch k.Class {
	case Number:
		return compareNumber(a, b)
	case Float:
		return compareFloat(a, b)
	case Time:
		return compareTime(a, b)
	case Bits:
		return compareMagnitude(bytes.TrimLeft(a, "\x00"), bytes.TrimLeft(b, "\x00"))
	case Year:
		return compareYear(a, b)
	case Collate:
		return k.Compare(a, b)
	}
	return bytes.Compare(a, b)
}

// compareYear compares two values of a YEAR column. Those of a YEAR(2) are 70 to 99, of the last century, and 0 to 69; those of
// a YEAR(4) are 0 or four digits.
func compareYear(a, b []byte) int {
	m, errA := strconv.Atoi(string(a))
	n, errB := strconv.Atoi(string(b))
	switch {
	case errA != nil || errB != nil:
		return compareNumber(a, b)
	case m > 99 || n > 99:
	default:
		m, n = (m+30)%100, (n+30)%100
	}
	return cmp.Compare(m, n)
}

// sign returns the value without its sign.
func sign(a []byte) (rest []byte, negative bool) {
	if len(a) > 0 && (a[0] == '-' || a[0] == '+') {
		return a[1:], a[0] == '-'
	}
	return a, false
}

// compareNumber compares exact numbers: an optional sign, digits, and perhaps a point and more digits.
func compareNumber(a, b []byte) int {
	a, negativeA := sign(a)
	b, negativeB := sign(b)
	if negativeA != negativeB {
		if isZero(a) && isZero(b) {
			return 0
		}
		if negativeA {
			return -1
		}
		return 1
	}
	c := compareUnsigned(a, b)
	if negativeA {
		return -c
	}
	return c
}

func isZero(a []byte) bool {
	for _, c := range a {
		if c != '0' && c != '.' {
			return false
		}
	}
	return true
}

func compareUnsigned(a, b []byte) int {
	for len(a) > 0 && a[0] == '0' {
		a = a[1:]
	}
	for len(b) > 0 && b[0] == '0' {
		b = b[1:]
	}
	wholeA, fractionA := point(a)
	wholeB, fractionB := point(b)
	if c := compareMagnitude(a[:wholeA], b[:wholeB]); c != 0 {
		return c
	}
	n := min(len(fractionA), len(fractionB))
	if c := bytes.Compare(fractionA[:n], fractionB[:n]); c != 0 {
		return c
	}
	switch {
	case !isZero(fractionA[n:]):
		return 1
	case !isZero(fractionB[n:]):
		return -1
	}
	return 0
}

// point returns the number of digits before the decimal point, and the digits after it.
func point(a []byte) (whole int, fraction []byte) {
	i := bytes.IndexByte(a, '.')
	if i < 0 {
		return len(a), nil
	}
	return i, a[i+1:]
}

// compareMagnitude compares digit strings without leading zeros: the longer one is greater.
func compareMagnitude(a, b []byte) int {
	if len(a) != len(b) {
		if len(a) < len(b) {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

func compareFloat(a, b []byte) int {
	x, y := parseFloat(a), parseFloat(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// parseFloat reads what a server sent for a FLOAT or DOUBLE. Text that is no number cannot come from a server; it
// counts as 0, as in MySQL's own conversions.
func parseFloat(a []byte) float64 {
	// strconv does not keep its argument, so the compiler makes no copy of it.
	x, err := strconv.ParseFloat(string(a), 64)
	if err != nil && x == 0 {
		return 0
	}
	return x
}

func isZeroTime(a []byte) bool { return len(bytes.Trim(a, "0:.")) == 0 }

// compareTime compares TIME values, whose hours have two digits or three.
func compareTime(a, b []byte) int {
	a, negativeA := sign(a)
	b, negativeB := sign(b)
	if negativeA != negativeB {
		switch {
		case isZeroTime(a) && isZeroTime(b): // a server that computes has both, and takes them for equal
			return 0
		case negativeA:
			return -1
		}
		return 1
	}
	hoursA, hoursB := bytes.IndexByte(a, ':'), bytes.IndexByte(b, ':')
	c := hoursA - hoursB
	if c == 0 {
		c = bytes.Compare(a, b)
	}
	if negativeA {
		return -c
	}
	return c
}

// Compare orders two split rows by keys.
func Compare(keys []Key, a, b [][]byte) int {
	for i := range keys {
		k := &keys[i]
		if c := k.compare(a[k.Column], b[k.Column]); c != 0 {
			if k.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// equal reports whether two split rows agree in all of keys.
func equal(keys []Key, a, b [][]byte) bool {
	for i := range keys {
		k := &keys[i]
		if k.compare(a[k.Column], b[k.Column]) != 0 {
			return false
		}
	}
	return true
}

// width returns how many columns must be split to see all of keys.
func width(keys []Key) int {
	n := 0
	for i := range keys {
		n = max(n, keys[i].Column+1)
	}
	return n
}
