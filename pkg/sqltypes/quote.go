package sqltypes

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// QuoteName writes a name as SQL, in backquotes: servers read it as a name in every sql_mode.
func QuoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// QuoteIn is QuoteName of what is in something else: a table in a database, a column in a table.
func QuoteIn(in, name string) string { return QuoteName(in) + "." + QuoteName(name) }

// AppendQuoted appends raw as a string literal in single quotes. noBackslashEscapes is whether the session's sql_mode has
// NO_BACKSLASH_ESCAPES. The session's character set must be one in which no byte of a longer character is ASCII (utf8mb4,
// utf8mb3, latin1, ascii, but not gbk or sjis).
func AppendQuoted(dst, raw []byte, noBackslashEscapes bool) []byte {
	dst = append(dst, '\'')
	start := 0
	for i, c := range raw {
		var esc byte
		switch c {
		case '\'':
			dst = append(dst, raw[start:i]...)
			dst = append(dst, '\'', '\'')
			start = i + 1
			continue
		case 0:
			esc = '0'
		case '\n':
			esc = 'n'
		case '\r':
			esc = 'r'
		case 0x1a:
			esc = 'Z'
		case '\\':
			esc = '\\'
		default:
			continue
		}
		if noBackslashEscapes {
			continue
		}
		dst = append(dst, raw[start:i]...)
		dst = append(dst, '\\', esc)
		start = i + 1
	}
	dst = append(dst, raw[start:]...)
	return append(dst, '\'')
}

// Quoted is AppendQuoted as a string of its own.
func Quoted(s string, noBackslashEscapes bool) string {
	return string(AppendQuoted(nil, []byte(s), noBackslashEscapes))
}

// Literal writes s, which is UTF-8, as a string that servers read alike in every sql_mode and with every character set of the
// session: for statements on connections whose settings are not known, or are a client's. What is not plain ASCII, and what a
// mode could read otherwise, is written in hex.
func Literal(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }) {
		return fmt.Sprintf("_utf8mb4 X'%X'", s)
	}
	return "'" + s + "'"
}

// Introduced is a literal that servers read alike whatever the connection's character set is: no sql_mode and no time zone is one in UTF-16.
func Introduced(literal string) string {
	if strings.HasPrefix(literal, "'") {
		return "_utf8mb4" + literal
	}
	return literal
}

// Clipped reports whether a DECIMAL has more digits than a server stores, or may be what it stores in the place of such a number: 65 nines.
func Clipped(text []byte) bool {
	const most = 65
	if len(text) < most {
		return false
	}
	digits, nines := 0, 0
	for _, c := range text {
		if c >= '0' && c <= '9' && (c > '0' || digits > 0) {
			digits++
		}
		if c == '9' {
			nines++
		}
	}
	return digits > most || nines == most
}

// AppendLiteral appends v as SQL text: numbers bare, strings quoted, byte strings and what is not UTF-8 in hex with the
// _binary introducer (so that it stays a string where a number is wanted), dates and times quoted. With oneByte, strings are of a character
// set that has one byte for a character, and quoted whatever their bytes.
func AppendLiteral(dst []byte, v Value, noBackslashEscapes, oneByte bool) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "NULL"...)
	case Int, Decimal, Float, Bool:
		if len(v.Raw) > 0 && v.Raw[0] == '-' && len(dst) > 0 && dst[len(dst)-1] == '-' {
			dst = append(dst, ' ') // "--" would start a comment
		}
		return append(dst, v.Raw...)
	case Binary:
		return AppendHex(dst, v.Raw)
	default:
		if !oneByte && !utf8.Valid(v.Raw) {
			return AppendHex(dst, v.Raw)
		}
		return AppendQuoted(dst, v.Raw, noBackslashEscapes)
	}
}

// AppendHex appends raw as a byte string literal: _binary x'00ff'.
func AppendHex(dst, raw []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, "_binary x'"...)
	for _, c := range raw {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return append(dst, '\'')
}
