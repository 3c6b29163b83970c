// Package literal is values as SQL that a session can put into its statements: they have the type of the value there, and of a string the character set,
// the collation and the strength that this has, whatever the session's sql_mode and character sets are. And it is what the declared type of a
// program's variable says of its values. It asks no server: of what only servers know of a type, it says that it does not know.
package literal

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"skarv/pkg/jsondoc"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Form is what the meaning of literals in the statements of a session depends on. Literals that were made for one are right for equal ones.
type Form struct {
	MariaDB   bool
	SQLMode   string
	Mode      sqlparse.Mode // SQLMode, as far as statements are read by it
	UTF8      bool          // what the session writes, and what servers make of its literals, is utf8mb4
	Collation string        // that literals have: collation_connection
}

// Null is the literal of no value.
const Null = "NULL"

// binary is the collation of columns that hold bytes.
const binary = 63

// Of is a value of a result, which is in utf8mb4.
func (f Form) Of(col sqltypes.Column, v []byte) (string, error) { return f.In("", col, v) }

// In is a value of a result. A string is in a character set; "" is utf8mb4, and the literal has the collation of literals.
func (f Form) In(charset string, col sqltypes.Column, v []byte) (string, error) {
	text := string(v)
	inHex := func() string { return " x'" + hex.EncodeToString(v) + "'" }
	switch {
	case v == nil:
		return Null, nil
	case col.Type == sqltypes.TypeDouble || col.Type == sqltypes.TypeFloat:
		if !strings.ContainsAny(text, "eE") {
			text += "e0"
		}
	case col.Type.IsNumber():
	case col.Type == sqltypes.TypeGeometry, col.Type == sqltypes.TypeBit:
		return "", sqlerr.Unsupported("values of type GEOMETRY and BIT in variables of procedures", "convert them: ST_AsText(), or + 0")
	case col.Type.IsTemporal():
		return f.moment(col.Type, text), nil
	case col.Type == sqltypes.TypeJSON:
		if !jsondoc.Told(v) {
			return "", sqlerr.Unsupported("a JSON document with a DECIMAL, a moment or bytes in it as the value of a program's variable, or of a row for triggers",
				"select what the program needs of it by JSON_VALUE(), or CAST it AS CHAR for its text")
		}
		return "CAST(_utf8mb4" + inHex() + " AS JSON)", nil
	case col.Charset == binary:
		return "_binary" + inHex(), nil // x'..' alone is a number on MySQL, where one is expected
	case charset != "":
		return "_" + charset + inHex(), nil
	case !f.UTF8 && !IsASCII(v), f.noEscapes() && bytes.IndexByte(v, '\\') >= 0, len(v) == 0 && f.Mode&sqlparse.EmptyStringIsNull != 0:
		return "_utf8mb4" + inHex(), nil // the same in each sql_mode
	default:
		return string(sqltypes.AppendQuoted(nil, v, f.noEscapes())), nil
	}
	if strings.HasPrefix(text, "-") {
		text = " " + text // behind another minus
	}
	return text, nil
}

func (f Form) noEscapes() bool { return f.Mode&sqlparse.NoBackslashEscapes != 0 }

// moment is a date or a time. Servers read no literals of some that they may hold, and make NULL of zero dates where sql_mode forbids these;
// as a string it is an error then, as it should be.
func (f Form) moment(t sqltypes.Type, text string) string {
	literal, cast, zero := "TIMESTAMP", "DATETIME", strings.HasPrefix(text, "0000") || strings.Contains(text, "-00")
	switch t {
	case sqltypes.TypeDate:
		literal, cast = "DATE", "DATE"
	case sqltypes.TypeTime:
		literal, cast, zero = "TIME", "TIME", strings.HasPrefix(text, "-")
	}
	if !zero {
		return literal + "'" + text + "'"
	}
	if t != sqltypes.TypeTime && strings.Contains(f.SQLMode, "NO_ZERO_") || strings.Contains(f.SQLMode, "TRADITIONAL") {
		return "'" + text + "'"
	}
	if _, fraction, ok := strings.Cut(text, "."); ok {
		cast += "(" + string('0'+byte(len(fraction))) + ")"
	}
	return "CAST('" + text + "' AS " + cast + ")"
}

// NullOf is NULL of the type of a column.
func NullOf(c *sqltypes.Column) string {
	kind := "CHAR"
	switch {
	case c.Type == sqltypes.TypeDouble || c.Type == sqltypes.TypeFloat:
		kind = "DOUBLE"
	case c.Type == sqltypes.TypeDecimal || c.Type == sqltypes.TypeNewDecimal:
		kind = "DECIMAL"
	case c.Type.IsNumber() && c.Flags&sqltypes.FlagUnsigned != 0:
		kind = "UNSIGNED"
	case c.Type.IsNumber():
		kind = "SIGNED"
	case c.Charset == binary && !c.Type.IsTemporal() && c.Type != sqltypes.TypeJSON:
		kind = "BINARY"
	}
	return "CAST(NULL AS " + kind + ")"
}

// Collated is a string of a character set, with a collation.
func Collated(charset, collation string, v []byte) string {
	return "_" + charset + " x'" + hex.EncodeToString(v) + "' COLLATE " + collation
}

// IsASCII reports whether a string is the same in all character sets of clients.
func IsASCII(v []byte) bool {
	for _, c := range v {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// UnsignedInteger reports whether computing with values of a column may have no negative result.
func UnsignedInteger(col sqltypes.Column) bool {
	switch col.Type {
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong, sqltypes.TypeYear:
		return col.Flags&sqltypes.FlagUnsigned != 0
	}
	return false
}
