package placement

import (
	"fmt"
	"strconv"
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
	// Length, Precision and Scale count where ColumnType does not give them in parentheses.
	Length    int64 // characters of strings, bytes of binaries
	Precision int   // of DECIMAL; of BIT its bits
	Scale     int   // decimals of DECIMAL, or digits of fractional seconds
	Nullable  bool
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
	length    int // 0: not known
	coll      *sqltypes.Collation
	members   []string // of ENUM and SET
	weights   []string // the members' collation keys
}

// keyKind says how a column's value becomes canonical text.
//
//	kind         canonical text                                          example
//	integers     decimal digits                                          -42
//	DECIMAL      shortest decimal text                                   -1.5
//	YEAR         its number                                              2024, 0
//	BIT          its unsigned number                                     5
//	ENUM, SET    position of the member from 1; bits of the members      2
//	DATE         as the server prints it                                 2024-02-29
//	DATETIME     the same, no trailing zeros in the fraction             2024-02-29 12:00:00.5
//	TIME         the same                                                -838:59:59
//	strings      Collation.AppendKey: the bytes for _bin collations, else the weights, both without trailing spaces
//	             that do not count
//	byte strings the bytes; BINARY(n) with its zeros                     61 62 00
//	UUID         as MariaDB prints it                                    123e4567-e89b-12d3-a456-426655440000
//	INET6        its 16 bytes
//
// NULL is N. The text of a key of several columns is theirs joined with commas, where the text of strings, byte strings
// and INET6 is written in upper-case hexadecimal digits, so that no two keys have one text.
// SQLExpr is the same in SQL.
type keyKind uint8

const (
	intKey keyKind = iota + 1
	decimalKey
	yearKey
	bitKey
	enumKey
	setKey
	dateKey
	datetimeKey
	timeKey
	varcharKey
	charKey
	varbinaryKey
	binaryKey
	uuidKey
	inet6Key
)

// nullText is the canonical text of NULL.
const nullText = "N"

// NewKeyColumn prepares a column for hashing. The error, for a type or collation that cannot be a distribution key, is
// an *sqlerr.Error (1235) with the reason and what to use instead.
func NewKeyColumn(spec ColumnSpec) (KeyColumn, error) {
	columnType := strings.ToLower(spec.ColumnType)
	c := KeyColumn{
		name:      spec.Name,
		nullable:  spec.Nullable,
		zerofill:  strings.Contains(columnType, " zerofill"),
		length:    int(spec.Length),
		precision: spec.Precision,
		scale:     spec.Scale,
	}
	c.unsigned = c.zerofill || strings.Contains(columnType, " unsigned")
	dataType := strings.ToLower(spec.DataType)
	c.setParameters(dataType, columnType)
	if why, how := c.setType(dataType, spec); why != "" {
		return KeyColumn{}, sqlerr.Unsupported(fmt.Sprintf("%s column '%s' as distribution key: %s",
			strings.ToUpper(dataType), spec.Name, why), how)
	}
	return c, nil
}

// setParameters reads the numbers of "varchar(64)", "decimal(10,2)", "datetime(3)".
func (c *KeyColumn) setParameters(dataType, columnType string) {
	_, list, found := strings.Cut(columnType, "(")
	list, _, closed := strings.Cut(list, ")")
	if !found || !closed {
		if columnType != "" && (dataType == "datetime" || dataType == "time") {
			c.scale = 0
		}
		return
	}
	first, second, _ := strings.Cut(list, ",")
	n, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return
	}
	switch dataType {
	case "char", "varchar", "binary", "varbinary":
		c.length = n
	case "datetime", "time":
		c.scale = n
	case "bit":
		c.precision = n
	case "decimal", "numeric":
		c.precision, c.scale = n, 0
		if d, err := strconv.Atoi(strings.TrimSpace(second)); err == nil {
			c.scale = d
		}
	}
}

// setType fills in what depends on the data type. It returns why the column is refused and what to do, or nothing.
func (c *KeyColumn) setType(dataType string, spec ColumnSpec) (why, how string) {
	const useOther = "use an integer, DECIMAL, CHAR, VARCHAR, BINARY, VARBINARY, DATE or DATETIME column"
	switch dataType {
	case "tinyint":
		c.kind, c.bits = intKey, 8
	case "smallint":
		c.kind, c.bits = intKey, 16
	case "mediumint":
		c.kind, c.bits = intKey, 24
	case "int", "integer":
		c.kind, c.bits = intKey, 32
	case "bigint":
		c.kind, c.bits = intKey, 64
	case "decimal", "numeric":
		c.kind = decimalKey
		if c.precision < 1 || c.precision > 65 || c.scale < 0 || c.scale > c.precision {
			return fmt.Sprintf("DECIMAL(%d,%d) is no type", c.precision, c.scale), ""
		}
		if c.zerofill {
			return "ZEROFILL changes its text", "leave ZEROFILL out"
		}
	case "year":
		c.kind = yearKey
		if strings.Contains(spec.ColumnType, "(2)") {
			return "two-digit years are ambiguous", "use YEAR(4)"
		}
	case "bit":
		c.kind, c.bits = bitKey, uint8(min(max(c.precision, 1), 64))
	case "enum":
		c.kind = enumKey
		return c.setMembers(spec)
	case "set":
		c.kind = setKey
		return c.setMembers(spec)
	case "date":
		c.kind = dateKey
	case "datetime":
		c.kind = datetimeKey
	case "time":
		c.kind = timeKey
	case "varchar", "char":
		c.kind = varcharKey
		if dataType == "char" {
			c.kind = charKey
		}
		return c.setCollation(spec)
	case "varbinary":
		c.kind = varbinaryKey
	case "binary":
		c.kind = binaryKey
		if c.length < 1 {
			return "its length is 0", useOther
		}
	case "uuid", "inet6":
		if spec.Flavor != "mariadb" {
			return "only MariaDB has this type", useOther
		}
		c.kind = uuidKey
		if dataType == "inet6" {
			c.kind = inet6Key
		}
	case "float", "double", "real":
		return "equal numbers have more than one text", "use DECIMAL or an integer type"
	case "timestamp":
		return "its text depends on the session's time zone", "use DATETIME"
	case "json":
		return "equal documents have more than one text", useOther
	case "tinytext", "text", "mediumtext", "longtext":
		return "keys cannot hold all of it", "use VARCHAR"
	case "tinyblob", "blob", "mediumblob", "longblob":
		return "keys cannot hold all of it", "use VARBINARY"
	default:
		return "its values have no canonical text", useOther
	}
	return "", ""
}

// setCollation looks up the collation of a string, ENUM or SET column.
func (c *KeyColumn) setCollation(spec ColumnSpec) (why, how string) {
	coll, err := sqltypes.LookupCollation(spec.Collation, spec.Flavor == "mariadb")
	if err != nil {
		advice := "use COLLATE utf8mb4_general_ci, utf8mb4_unicode_ci or utf8mb4_bin"
		if spec.Flavor != "mariadb" {
			advice = "use COLLATE utf8mb4_0900_ai_ci, utf8mb4_general_ci or utf8mb4_bin"
		}
		return err.Error(), advice
	}
	c.coll = coll
	if coll.Name() == "binary" {
		return "character strings have no binary collation", "use VARBINARY"
	}
	return "", ""
}

// Name returns the column's name as given in its ColumnSpec.
func (c *KeyColumn) Name() string { return c.name }

// Colocates reports whether two columns place equal values equally: whether a row of one table and a row of the other
// for which "a = b" is true are sure to lie in the same partition, both columns being the whole key of their table.
func (c *KeyColumn) Colocates(o *KeyColumn) bool {
	switch c.kind {
	case intKey, decimalKey, bitKey:
		return o.kind == intKey || o.kind == decimalKey || o.kind == bitKey
	case varcharKey, charKey:
		return (o.kind == varcharKey || o.kind == charKey) && sameWeights(c.coll.Name(), o.coll.Name())
	case varbinaryKey, binaryKey:
		return o.kind == varbinaryKey || o.kind == binaryKey
	case enumKey, setKey:
		return o.kind == c.kind && strings.Join(c.members, "\x00") == strings.Join(o.members, "\x00") &&
			c.coll.Name() == o.coll.Name()
	default:
		return o.kind == c.kind
	}
}

// sameWeights reports whether two collations are one but for utf8mb3 being a part of utf8mb4.
func sameWeights(a, b string) bool {
	return a == b || strings.Replace(a, "utf8mb3_", "utf8mb4_", 1) == strings.Replace(b, "utf8mb3_", "utf8mb4_", 1)
}

// Colocates reports whether rows whose keys are equal, column by column in order, are sure to lie in the same partition
// whichever of the two keys placed them.
func (k Key) Colocates(o Key) bool {
	if len(k) == 0 || len(k) != len(o) {
		return false
	}
	for i := range k {
		if !k[i].Colocates(&o[i]) {
			return false
		}
	}
	return true
}
