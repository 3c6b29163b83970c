package placement

import (
	"fmt"
	"strings"
)

// SQLExpr is the partition of a row as SQL, the same function as Partition: cols are the SQL text of the key's columns
// ("`id`", "t.id"), one for each. It gives 0 to 3839 on MariaDB and MySQL, whatever sql_mode and the session's character
// sets are.
func (k Key) SQLExpr(cols []string) string {
	if len(k) != len(cols) {
		panic(fmt.Sprintf("placement: %d columns for a key of %d", len(cols), len(k)))
	}
	if len(k) == 1 {
		text := k[0].sqlText(cols[0])
		if k[0].kind.textIsMade(k[0].scale) {
			text = "CONVERT(" + text + " USING ascii)"
		}
		expr := fmt.Sprintf("CRC32(%s) %% %d", text, Partitions)
		if k[0].nullable {
			expr = fmt.Sprintf("IFNULL(%s, %d)", expr, PartitionOf([]byte(nullText)))
		}
		return expr
	}
	parts := make([]string, len(k))
	for i := range k {
		text := k[i].sqlText(cols[i])
		if k[i].kind.joinedInHex() {
			text = "HEX(" + text + ")"
		}
		if k[i].nullable {
			text = "IFNULL(" + text + ",'" + nullText + "')"
		}
		parts[i] = text
	}
	return fmt.Sprintf("CRC32(CONVERT(CONCAT(%s) USING ascii)) %% %d", strings.Join(parts, ",',',"), Partitions)
}

// textIsMade reports whether the SQL text is made by string functions with literals, and so comes in the character set
// of the connection rather than in ASCII.
func (k keyKind) textIsMade(scale int) bool {
	switch k {
	case decimalKey, datetimeKey, timeKey:
		return scale > 0
	default:
		return false
	}
}

// sqlText is the canonical text of column col in SQL.
func (c *KeyColumn) sqlText(col string) string {
	switch c.kind {
	case intKey:
		if c.zerofill {
			return "CAST(" + col + " AS UNSIGNED)"
		}
		return col
	case yearKey, bitKey, enumKey, setKey:
		return "CAST(" + col + " AS UNSIGNED)"
	case decimalKey, datetimeKey, timeKey:
		if c.scale > 0 {
			return "TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM " + col + "))"
		}
		return col
	case varcharKey, charKey:
		return c.sqlString(col)
	case inet6Key:
		return "CAST(" + col + " AS BINARY(16))"
	default:
		return col
	}
}

func (c *KeyColumn) sqlString(col string) string {
	// CHAR comes with its trailing spaces under sql_mode PAD_CHAR_TO_FULL_LENGTH.
	trim := c.kind == charKey || c.coll.PadSpace()
	if c.coll.ByBytes() {
		if trim {
			col = "RTRIM(" + col + ")"
		}
		if c.coll.Charset() == "latin1" {
			col = "CONVERT(" + col + " USING utf8mb4)"
		}
		return col
	}
	if c.coll.PadSpace() {
		return fmt.Sprintf("TRIM(TRAILING x'%x' FROM WEIGHT_STRING(%s))", c.coll.PadWeight(), col)
	}
	if trim {
		col = "RTRIM(" + col + ")"
	}
	return "WEIGHT_STRING(" + col + ")"
}
