package placement

import (
	"fmt"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// ColumnSpec is what information_schema.columns says of a column, as catalog.Column keeps it.
type ColumnSpec struct {
	Name       string
	DataType   string // "bigint", "varchar"
	ColumnType string // "bigint(20) unsigned", "enum('a','b')"
	Collation  string // of character strings, ENUM and SET
	Length     int64  // characters of strings, bytes of binaries
	Precision  int    // of DECIMAL; of BIT its bits
	Scale      int    // decimals of DECIMAL, or digits of fractional seconds
	Nullable   bool
	// Flavor is "mariadb" or "mysql": which servers hold the column.
	Flavor string
}

// KeyColumn is what hashing needs to know of one distribution column. It is immutable.
type KeyColumn struct {
	kind      keyKind
	name      string
	nullable  bool
	unsigned  bool
	zerofill  bool
	bits      uint8 // of an integer or BIT
	precision int
	scale     int
	length    int
	coll      *sqltypes.Collation
	members   []string // of ENUM and SET
}

// keyKind says how a column's value becomes canonical text.
type keyKind uint8

const (
	intKey      keyKind = iota + 1 // integer types
	decimalKey                     //
	yearKey                        //
	bitKey                         //
	enumKey                        //
	setKey                         //
	dateKey                        //
	datetimeKey                    //
	timeKey                        //
	varcharKey                     //
	charKey                        //
	varbinKey                      //
	binaryKey                      //
	uuidKey                        // MariaDB
)

// NewKeyColumn prepares a column for hashing. The error, for a type or collation that cannot be a distribution key, is
// an *sqlerr.Error (1235) with the reason and what to use instead.
func NewKeyColumn(spec ColumnSpec) (KeyColumn, error) {
	c := KeyColumn{name: spec.Name, nullable: spec.Nullable, length: int(spec.Length)}
	columnType := strings.ToLower(spec.ColumnType)
	c.unsigned = strings.Contains(columnType, " unsigned")
	c.zerofill = strings.Contains(columnType, " zerofill")
	c.unsigned = c.unsigned || c.zerofill
	refuse := func(why, how string) (KeyColumn, error) {
		return KeyColumn{}, sqlerr.Unsupported(fmt.Sprintf("column '%s' of type %s as distribution key: %s",
			spec.Name, strings.ToUpper(spec.DataType), why), how)
	}
	switch strings.ToLower(spec.DataType) {
	case "tinyint":
		c.kind, c.bits = intKey, 8
	case "smallint":
		c.kind, c.bits = intKey, 16
	case "mediumint":
		c.kind, c.bits = intKey, 24
	case "int":
		c.kind, c.bits = intKey, 32
	case "bigint":
		c.kind, c.bits = intKey, 64
	default:
		return refuse("its values have no canonical text", "use an integer or string column")
	}
	return c, nil
}

// Name returns the column's name as given in its ColumnSpec.
func (c *KeyColumn) Name() string { return c.name }

// partition is Key.Partition for a key of one column.
func (c *KeyColumn) partition(scratch []byte, v sqltypes.Value, mode Mode) (Partition, []byte, Match) {
	text, m := c.appendText(scratch[:0], v, mode)
	if m != Exact {
		return 0, text, m
	}
	return PartitionOf(text), text, Exact
}

// appendJoined appends the column's text as a part of a composite key's text.
func (c *KeyColumn) appendJoined(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	return c.appendText(dst, v, mode)
}

// appendText appends the canonical text of v.
func (c *KeyColumn) appendText(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	if v.Kind == sqltypes.Int {
		return append(dst, v.Raw...), Exact
	}
	return dst, Unknown
}

// SQLExpr is the partition of a row as SQL, the same function as Partition: cols are the SQL text of the key's columns
// ("`id`", "t.id"), one for each. It gives 0 to 3839 on MariaDB and MySQL whatever sql_mode says.
func (k Key) SQLExpr(cols []string) string {
	return fmt.Sprintf("CRC32(%s) %% %d", strings.Join(cols, ","), Partitions)
}
