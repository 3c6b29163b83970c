package variable

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"skarv/pkg/sqltypes"
)

// SystemLiteral is the value of a system variable as it can be assigned.
func SystemLiteral(col sqltypes.Column, v []byte) string {
	if v == nil {
		return "NULL"
	}
	if col.Type.IsNumber() {
		return string(v)
	}
	return sqltypes.Literal(string(v))
}

// UserLiteral is the value of a user variable with its type: number, or string with character set and collation.
// row is the value, its HEX, CHARSET and COLLATION.
func UserLiteral(col sqltypes.Column, row [][]byte) string {
	v := row[0]
	switch {
	case v == nil:
		return "NULL"
	case col.Type == sqltypes.TypeDouble || col.Type == sqltypes.TypeFloat:
		if bytes.ContainsAny(v, "eE") {
			return string(v)
		}
		return string(v) + "e0"
	case col.Type == sqltypes.TypeNewDecimal || col.Type == sqltypes.TypeDecimal:
		if bytes.IndexByte(v, '.') < 0 {
			return string(v) + "." // else it is an integer
		}
		return string(v)
	case col.Type.IsNumber() && col.Flags&sqltypes.FlagUnsigned != 0:
		return "CAST(" + string(v) + " AS UNSIGNED)"
	case col.Type.IsNumber():
		return string(v)
	case string(row[2]) == "binary":
		return "_binary x'" + string(row[1]) + "'"
	default:
		return "_" + string(row[2]) + " x'" + string(row[1]) + "' COLLATE " + string(row[3])
	}
}

// IsText reports whether UserLiteral is a literal that servers take: they look at its bytes, but not at those of strings that clients write
// in the character set of the connection. row is as for UserLiteral.
func IsText(row [][]byte) bool {
	charset := string(row[2])
	if charset != "utf8mb4" && charset != "utf8mb3" {
		return true // of no other character set of clients there are bytes that are none
	}
	text := make([]byte, hex.DecodedLen(len(row[1])))
	_, err := hex.Decode(text, row[1])
	return err == nil && utf8.Valid(text) && (charset == "utf8mb4" || !slices.ContainsFunc(text, func(c byte) bool { return c >= 0xF0 }))
}

// IsOff reports whether a value that a boolean variable was set to means OFF; IsOn is the same of ON. One that was not set is neither.
func IsOff(value string) bool {
	return value == "0" || strings.EqualFold(strings.Trim(value, "'"), "OFF")
}

func IsOn(value string) bool {
	return value == "1" || strings.EqualFold(strings.Trim(value, "'"), "ON")
}
