package workspace

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// ReadKey is the expression that selects a column that is part of a key, so that KeyValue can tell which value it is and
// AppendKeyValue can write it, whatever the session's character set.
func ReadKey(c *catalog.Column) string { return readKey(c, "") }

// readKey is ReadKey of a column of a table that has an alias.
func readKey(c *catalog.Column, alias string) string {
	if formOf(c) != bytesOf || strings.HasPrefix(c.Charset, "utf8") {
		return read(c, alias)
	}
	name := sqltypes.QuoteName(c.Name)
	if alias != "" {
		name = alias + "." + name
	}
	return "CONVERT(CONVERT(" + name + " USING utf8mb4) USING binary)"
}

// KeyValue is the value that ReadKey has read, as placement.Key takes it. It aliases v.
func KeyValue(c *catalog.Column, v []byte) sqltypes.Value {
	switch {
	case v == nil:
		return sqltypes.Value{}
	case c.DataType == "decimal":
		return sqltypes.Value{Kind: sqltypes.Decimal, Raw: v}
	}
	switch formOf(c) {
	case bare:
		return sqltypes.Value{Kind: sqltypes.Int, Raw: v}
	case binary:
		return sqltypes.Value{Kind: sqltypes.Binary, Raw: v}
	}
	return sqltypes.Value{Kind: sqltypes.String, Raw: v}
}

// AppendKeyValue appends the literal of a value read by ReadKey: to be stored in a column of c's type, or to be compared
// with one, which an index then finds.
func AppendKeyValue(dst []byte, c *catalog.Column, v []byte) []byte {
	if v != nil && formOf(c) == bytesOf {
		return AppendValue(append(dst, "_utf8mb4 "...), bytesOf, v)
	}
	return AppendKey(dst, c, v)
}
