package wire

import (
	"encoding/hex"
	"unicode/utf8"

	"skarv/pkg/sqltypes"
)

// AppendSQL appends parameter i as a literal of SQL: numbers bare, strings quoted, dates and times as what they are, of which servers
// refuse those that do not exist; byte strings and strings that are not valid UTF-8 in hexadecimal, unless oneByte: the client's character
// set has one byte for a character, so that any bytes are a string in it. noBackslashEscapes says that sql_mode has NO_BACKSLASH_ESCAPES.
func (p *Params) AppendSQL(dst []byte, i int, noBackslashEscapes, oneByte bool) []byte {
	v := p.Value(i)
	switch v.Kind {
	case sqltypes.Null:
		return append(dst, "NULL"...)
	case sqltypes.Int, sqltypes.Decimal, sqltypes.Float, sqltypes.Bool:
		return append(dst, v.Raw...)
	case sqltypes.String:
		if oneByte || utf8.Valid(v.Raw) {
			return appendQuoted(dst, v.Raw, noBackslashEscapes)
		}
		return appendHex(dst, v.Raw)
	case sqltypes.Binary:
		return appendHex(dst, v.Raw)
	case sqltypes.Date:
		dst = append(dst, "DATE'"...)
	case sqltypes.Datetime:
		dst = append(dst, "TIMESTAMP'"...)
	default:
		dst = append(dst, "TIME'"...)
	}
	return append(append(dst, v.Raw...), '\'') // digits and punctuation
}

// appendHex writes a byte string. _binary keeps a server from taking it for a number where one is expected.
func appendHex(dst, raw []byte) []byte {
	dst = append(dst, "_binary x'"...)
	dst = hex.AppendEncode(dst, raw)
	return append(dst, '\'')
}

// appendQuoted writes raw as a string literal.
func appendQuoted(dst, raw []byte, noBackslashEscapes bool) []byte {
	dst = append(dst, '\'')
	done := 0
	for i, c := range raw {
		var escaped string
		switch {
		case c == '\'':
			escaped = "''"
		case noBackslashEscapes:
			continue
		case c == '\\':
			escaped = `\\`
		case c == 0:
			escaped = `\0`
		case c == 0x1a:
			escaped = `\Z`
		default:
			continue
		}
		dst = append(append(dst, raw[done:i]...), escaped...)
		done = i + 1
	}
	return append(append(dst, raw[done:]...), '\'')
}
