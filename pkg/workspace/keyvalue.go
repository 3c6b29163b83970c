package workspace

import (
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// ReadKey is the expression that selects a column that is part of a key, so that KeyValue can tell which value it is and
// AppendKeyValue can write it, whatever the session's character set. Of long strings it selects as much as a key can hold.
func ReadKey(c *catalog.Column) string { return readKey(c, "") }

// readKey is ReadKey of a column of a table that has an alias.
func readKey(c *catalog.Column, alias string) string {
	form := formOf(c)
	if form != bytesOf && form != binary {
		return read(c, alias)
	}
	name := named(c, alias)
	if c.Length > maxKey {
		name = "LEFT(" + name + ", " + strconv.Itoa(maxKey) + ")"
	}
	switch {
	case form == binary:
		return name
	case strings.HasPrefix(c.Charset, "utf8") && c.Expression == "":
		return "CONVERT(" + name + " USING binary)"
	}
	return "CONVERT(CONVERT(" + name + " USING utf8mb4) USING binary)"
}

// maxKey is how many characters or bytes a key of a server may hold.
const maxKey = 3072

// Beginning is the expression for what a key over the first length characters, or bytes, of a column holds of it; 0: all of it. alias, of its table,
// is quoted, or empty. What an expression of a key gives is compared as the key does.
func Beginning(c *catalog.Column, length int, alias string) string {
	name := named(c, alias)
	switch {
	case c.Expression != "" && formOf(c) == bytesOf:
		return "CONVERT(" + name + " USING " + c.Charset + ") COLLATE " + c.Collation
	case length == 0:
		return name
	}
	name = "LEFT(" + name + ", " + strconv.Itoa(length) + ")"
	if c.DataType == "char" { // which has no spaces at its end
		name = "TRIM(TRAILING ' ' FROM " + name + ")"
	}
	return name
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
