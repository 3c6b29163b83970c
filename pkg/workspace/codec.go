package workspace

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/jsondoc"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Form is how values of a column travel from a table to its copy: what is selected, and what is written.
type Form uint8

const (
	quoted   Form = iota // text of numbers and times, in quotes
	bare                 // integers, without quotes: a BIT in quotes is a string of bytes, a YEAR '0' is 2000
	float                // FLOAT shows six digits only: it travels as a DOUBLE
	moment               // TIMESTAMP: seconds since 1970, which no time zone changes
	bytesOf              // strings of characters, as their bytes in the column's own character set
	binary               // byte strings and geometries
	utf8                 // text in utf8mb4, which becomes what the column has: strings of results; addresses, whose bytes mean something else than their text
	document             // MySQL's JSON, as pkg/jsondoc has it
)

// FormOf is the form of a column's values. sessionTime: those of TIMESTAMP are in the session's time zone instead of UTC.
func FormOf(c *catalog.Column, sessionTime bool) Form {
	if sessionTime && c.DataType == "timestamp" {
		return quoted
	}
	return formOf(c)
}

func formOf(c *catalog.Column) Form {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year":
		return bare
	case "bit", "enum", "set":
		return bare
	case "float":
		return float
	case "timestamp":
		return moment
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		if c.Collation == "binary" {
			return binary
		}
		return bytesOf
	case "json":
		return document
	case "decimal", "double", "date", "time", "datetime":
		return quoted
	case "uuid", "inet4", "inet6":
		return utf8
	}
	return binary // BLOBs, geometries, vectors
}

// Read is the expression that selects a column's value in the form Filler.Row takes it: the same whatever the
// session's character set, time zone and sql_mode.
func Read(c *catalog.Column) string { return read(c, "") }

// ReadIn is Read of a column of a table that has an alias, for values that FormOf(c, sessionTime) writes. alias is quoted.
func ReadIn(c *catalog.Column, alias string, sessionTime bool) string {
	if FormOf(c, sessionTime) != formOf(c) {
		return alias + "." + sqltypes.QuoteName(c.Name)
	}
	return read(c, alias)
}

// Doubled is a condition on rows of t that have, in one of columns, a moment of the hour that comes twice when daylight saving time ends,
// and which its local time does not name; "" if no column has such values. A reader gets the local time then, and a writer of that makes
// it the other hour's. The connection must be in the session's time zone. alias is quoted.
func Doubled(t *catalog.Table, columns []int, alias string) string {
	var list []string
	for _, c := range columns {
		if t.Columns[c].DataType == "timestamp" {
			name := alias + "." + sqltypes.QuoteName(t.Columns[c].Name)
			list = append(list, "UNIX_TIMESTAMP("+name+") <> 0 AND UNIX_TIMESTAMP("+name+") <> UNIX_TIMESTAMP(CAST("+name+" AS DATETIME(6)))")
		}
	}
	return strings.Join(list, " OR ")
}

// DoubledHour refuses what would write rows that Doubled is about.
func DoubledHour(t *catalog.Table) error {
	return sqlerr.Unsupported("a TIMESTAMP of table '"+t.Name+"' in the hour that comes twice when daylight saving time ends, in a write that goes row by row or through a temporary table",
		"SET time_zone = '+00:00' for it")
}

// read is Read of a column of a table that has an alias.
func read(c *catalog.Column, alias string) string {
	name := named(c, alias)
	switch formOf(c) {
	case bare:
		switch c.DataType {
		case "bit", "enum", "set":
			return "CAST(" + name + " AS UNSIGNED)"
		}
	case float:
		return name + "*1e0"
	case moment:
		return "UNIX_TIMESTAMP(" + name + ")"
	case bytesOf:
		return "CONVERT(" + name + " USING binary)"
	case document:
		return jsondoc.Select(name)
	}
	return name
}

// named is a column, or the expression of a key, of a table that has an alias, quoted or empty.
func named(c *catalog.Column, alias string) string {
	if alias != "" {
		alias += "."
	}
	if c.Expression == "" {
		return alias + sqltypes.QuoteName(c.Name)
	}
	expr := "(" + qualified(c.Expression, alias) + ")"
	if c.DataType == "decimal" {
		return "CAST(" + expr + " AS DECIMAL(" + strconv.Itoa(c.Precision) + ", " + strconv.Itoa(c.Scale) + "))"
	}
	return expr
}

// qualified puts alias in front of the columns of an expression of a key, which alone have backticks.
func qualified(expr, alias string) string {
	var b strings.Builder
	for rest := expr; ; {
		at := strings.IndexAny(rest, "`'")
		if at < 0 {
			b.WriteString(rest)
			return b.String()
		}
		end := at + 1
		for end < len(rest) && rest[end] != rest[at] {
			end++
		}
		for end+1 < len(rest) && rest[end+1] == rest[at] { // doubled, in a name
			for end += 2; end < len(rest) && rest[end] != rest[at]; {
				end++
			}
		}
		end = min(end+1, len(rest))
		b.WriteString(rest[:at])
		if rest[at] == '`' {
			b.WriteString(alias)
		}
		b.WriteString(rest[at:end])
		rest = rest[end:]
	}
}

const hexDigits = "0123456789abcdef"

// AppendValue appends the literal of a value read by Read. What it is written into has the modes of Writing.
func AppendValue(dst []byte, f Form, v []byte) []byte {
	if v == nil {
		return append(dst, "NULL"...)
	}
	switch f {
	case bare:
		return append(dst, v...)
	case quoted, float:
		dst = append(dst, '\'')
		for _, c := range v {
			if c == '\'' || c == '\\' { // never: the servers wrote these numbers and times
				continue
			}
			dst = append(dst, c)
		}
		return append(dst, '\'')
	case moment:
		return appendMoment(dst, v)
	case document:
		return jsondoc.Append(dst, v)
	case utf8:
		dst = append(dst, "_utf8mb4 "...)
	}
	dst = append(dst, "x'"...)
	for _, c := range v {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, '\'')
}

// AppendKey appends the literal of a value read by Read that "column = literal" finds, by an index of the column: it has the
// column's own type and character set. Floating-point numbers have none.
func AppendKey(dst []byte, c *catalog.Column, v []byte) []byte {
	return AppendKeyIn(dst, c, false, v)
}

// AppendKeyIn is AppendKey of a value read by ReadIn.
func AppendKeyIn(dst []byte, c *catalog.Column, sessionTime bool, v []byte) []byte {
	f := FormOf(c, sessionTime)
	switch {
	case v == nil:
	case f == bytesOf:
		dst = append(append(append(dst, '_'), c.Charset...), ' ')
	case f == quoted && c.DataType == "decimal":
		return append(dst, v...)
	case f == quoted && (c.DataType == "date" || c.DataType == "datetime" || c.DataType == "timestamp") && len(bytes.Trim(v, "0-: .")) == 0:
		return append(dst, '0') // MySQL refuses the zero date as a string in the mode NO_ZERO_DATE; the row came by it in another mode
	}
	return AppendValue(dst, f, v)
}

// appendMoment appends seconds since 1970 as a time in UTC, which is the time zone copies are written in. 0 is the
// zero time.
func appendMoment(dst, v []byte) []byte {
	whole, fraction, _ := strings.Cut(string(v), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return append(dst, "NULL"...) // UNIX_TIMESTAMP gives numbers
	}
	dst = append(dst, '\'')
	if seconds == 0 && strings.Trim(fraction, "0") == "" {
		return append(dst, "0000-00-00 00:00:00'"...)
	}
	dst = time.Unix(seconds, 0).UTC().AppendFormat(dst, "2006-01-02 15:04:05")
	if fraction != "" {
		dst = append(append(dst, '.'), fraction...)
	}
	return append(dst, '\'')
}
