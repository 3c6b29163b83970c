package placement

import (
	"bytes"
	"net/netip"
	"unicode/utf8"

	"skarv/pkg/sqltypes"
)

// appendString appends the key of v under the collation of a CHAR or VARCHAR column.
func (c *KeyColumn) appendString(dst []byte, v sqltypes.Value, store bool) ([]byte, Match) {
	raw, ok := c.characters(v, store)
	if !ok {
		return dst, Unknown
	}
	return c.appendKey(dst, raw)
}

// characters is what v is as the characters of the column; ok is false if that is not known.
func (c *KeyColumn) characters(v sqltypes.Value, store bool) (raw []byte, ok bool) {
	raw = v.Raw
	switch v.Kind {
	case sqltypes.String:
	case sqltypes.Binary:
		// Its bytes are taken as they are, as characters of the column's character set.
		if c.coll.Charset() == "latin1" && !ascii(raw) {
			return nil, false
		}
	case sqltypes.Int, sqltypes.Bool:
		// Compared as numbers, so that '1', '01' and '1x' are all 1; stored as their digits.
		n, ok := sqltypes.ParseNumber(raw)
		if !store || !ok || len(n.Frac) > 0 || len(n.Int) > 18 || n.Negative != (raw[0] == '-') {
			return nil, false
		}
		if c.length > 0 && len(n.Int)+1 > c.length {
			return nil, false
		}
		if n.Negative || len(n.Int) == 0 {
			return n.Append(nil), true
		}
		return n.Int, true
	default:
		return nil, false
	}
	if store {
		raw = c.truncate(raw)
	}
	if !c.coll.PadSpace() && c.kind == charKey && len(raw) > 0 && raw[len(raw)-1] == ' ' {
		if !store {
			return nil, false // CHAR never has trailing spaces, but for sql_mode PAD_CHAR_TO_FULL_LENGTH
		}
		raw = bytes.TrimRight(raw, " ")
	}
	return raw, true
}

func (c *KeyColumn) appendKey(dst, s []byte) ([]byte, Match) {
	dst, ok := c.coll.AppendKey(dst, s)
	if !ok {
		return dst, Unknown
	}
	return dst, Exact
}

// truncate returns what of s fits into the column. The strict sql_mode refuses a row that does not fit.
func (c *KeyColumn) truncate(s []byte) []byte {
	if c.length <= 0 || len(s) <= c.length {
		return s
	}
	n := 0
	for i := 0; i < len(s); n++ {
		if n == c.length {
			return s[:i]
		}
		_, size := utf8.DecodeRune(s[i:])
		i += size
	}
	return s
}

// appendBytes appends the bytes of v in a BINARY or VARBINARY column.
func (c *KeyColumn) appendBytes(dst []byte, v sqltypes.Value, store bool) ([]byte, Match) {
	if v.Kind != sqltypes.String && v.Kind != sqltypes.Binary {
		return dst, Unknown
	}
	raw := v.Raw
	if store && c.length > 0 && len(raw) > c.length {
		raw = raw[:c.length]
	}
	if c.kind == varbinaryKey {
		return append(dst, raw...), Exact
	}
	if !store && len(raw) != c.length {
		return dst, Unknown // by comparison not equal, by a key lookup it may be
	}
	dst = append(dst, raw...)
	for i := len(raw); i < c.length; i++ {
		dst = append(dst, 0)
	}
	return dst, Exact
}

// appendUUID appends the text of a MariaDB UUID written with its four dashes, or without any. Only those of RFC 4122 are taken unless stored:
// of others some are refused by some versions of the server.
func appendUUID(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	const digits, length = 32, 36
	if v.Kind != sqltypes.String || len(v.Raw) != length && len(v.Raw) != digits {
		return dst, Unknown
	}
	start := len(dst)
	for _, b := range v.Raw {
		i := len(dst) - start
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash && len(v.Raw) == digits {
			dst, dash = append(dst, '-'), false
		}
		switch {
		case dash && b == '-', !dash && (b >= '0' && b <= '9' || b >= 'a' && b <= 'f'):
		case !dash && b >= 'A' && b <= 'F':
			b += 'a' - 'A'
		default:
			return dst[:start], Unknown
		}
		dst = append(dst, b)
	}
	version, variant := dst[start+14], dst[start+19]
	if mode != Stored && (version < '1' || version > '8' || variant < '8' || variant > 'b') {
		return dst[:start], Unknown
	}
	return dst, Exact
}

// appendINET6 appends the bytes of an address written with colons.
func appendINET6(dst []byte, v sqltypes.Value) ([]byte, Match) {
	const longest = 45
	if v.Kind != sqltypes.String || len(v.Raw) > longest {
		return dst, Unknown
	}
	addr, err := netip.ParseAddr(string(v.Raw))
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return dst, Unknown
	}
	bytes := addr.As16()
	return append(dst, bytes[:]...), Exact
}
