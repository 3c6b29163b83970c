package placement

import (
	"hash/crc32"

	"skarv/pkg/sqltypes"
)

// partition is Key.Partition for a key of one column.
func (c *KeyColumn) partition(scratch []byte, v sqltypes.Value, mode Mode) (Partition, []byte, Match) {
	if c.kind == intKey && v.Kind == sqltypes.Int && c.plainInt(v.Raw) {
		// The literal is its own canonical text: nothing to copy.
		return Partition(crc32.ChecksumIEEE(v.Raw) % Partitions), scratch, Exact
	}
	text, m := c.appendText(scratch[:0], v, mode)
	if m != Exact {
		return 0, text, m
	}
	return PartitionOf(text), text, Exact
}

// plainInt reports whether raw is canonical and short enough to be in range without a look at its value.
func (c *KeyColumn) plainInt(raw []byte) bool {
	maxDigits := 2 // of TINYINT; one less than the largest value's
	switch c.bits {
	case 16:
		maxDigits = 4
	case 24:
		maxDigits = 6
	case 32:
		maxDigits = 9
	case 64:
		maxDigits = 18
	}
	if len(raw) > 0 && raw[0] == '-' {
		if c.unsigned || len(raw) < 2 || raw[1] == '0' {
			return false
		}
		raw = raw[1:]
	}
	if len(raw) == 0 || len(raw) > maxDigits || raw[0] == '0' && len(raw) > 1 {
		return false
	}
	for _, d := range raw {
		if d < '0' || d > '9' {
			return false
		}
	}
	return true
}

// appendJoined appends the column's text as a part of a composite key's text.
func (c *KeyColumn) appendJoined(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	start := len(dst)
	dst, m := c.appendText(dst, v, mode)
	if m != Exact || v.Kind == sqltypes.Null || !c.kind.joinedInHex() {
		return dst, m
	}
	return hexInPlace(dst, start), Exact
}

// joinedInHex reports whether the text may hold any byte, a comma included.
func (k keyKind) joinedInHex() bool {
	switch k {
	case varcharKey, charKey, varbinaryKey, binaryKey, inet6Key:
		return true
	default:
		return false
	}
}

// hexInPlace replaces b[start:] by its hexadecimal digits.
func hexInPlace(b []byte, start int) []byte {
	const digits = "0123456789ABCDEF"
	n := len(b) - start
	for range n {
		b = append(b, 0)
	}
	for i := n - 1; i >= 0; i-- { // from the end: digits never overtake what is still to be read
		x := b[start+i]
		b[start+2*i], b[start+2*i+1] = digits[x>>4], digits[x&15]
	}
	return b
}

// appendText appends the canonical text of v.
func (c *KeyColumn) appendText(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	foreign := mode&ForeignCharset != 0
	if mode&ForeignBytes == ForeignBytes && (c.kind == varbinaryKey || c.kind == binaryKey) {
		foreign = false
	}
	mode &^= ForeignBytes
	store := mode != Compare
	if v.Kind == sqltypes.Null {
		switch {
		case !store:
			return dst, None
		case c.nullable:
			return append(dst, nullText...), Exact
		default:
			return dst, Unknown // an error, or the type's zero: the server knows
		}
	}
	if foreign && v.Kind == sqltypes.String && !ascii(v.Raw) {
		return dst, Unknown
	}
	switch c.kind {
	case intKey, decimalKey, bitKey, yearKey:
		return c.appendNumber(dst, v, store)
	case enumKey:
		return c.appendEnum(dst, v, store)
	case setKey:
		return c.appendSet(dst, v, mode)
	case dateKey, datetimeKey, timeKey:
		return c.appendTemporal(dst, v, mode)
	case varcharKey, charKey:
		return c.appendString(dst, v, store)
	case varbinaryKey, binaryKey:
		return c.appendBytes(dst, v, store)
	case uuidKey:
		return appendUUID(dst, v, mode)
	case inet6Key:
		return appendINET6(dst, v)
	default:
		return dst, Unknown
	}
}

// AppendStored appends what the column holds after v, which is not NULL, was written into it (Store) or has (Stored), in characters of utf8mb4: numbers for BIT,
// ENUM and SET, BINARY(n) with its zeros, CHAR without its spaces. Match is Unknown if only the server could say; the zero KeyColumn
// knows nothing.
func (c *KeyColumn) AppendStored(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	start := len(dst)
	dst, m := c.appendText(dst, v, mode)
	if m != Exact {
		return dst[:start], Unknown
	}
	switch c.kind { // whose canonical text is another
	case varcharKey, charKey:
		raw, _ := c.characters(v, true)
		dst = append(dst[:start], raw...)
	case inet6Key:
		dst = append(dst[:start], v.Raw...)
	}
	return dst, Exact
}

func ascii(s []byte) bool {
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}
