package sqltypes

import "strings"

// TypeOf returns the protocol's type of a column of the given information_schema.columns.data_type, as a server announces
// it in results, and false for a name it does not know.
func TypeOf(dataType string) (Type, bool) {
	switch strings.ToLower(dataType) {
	case "tinyint", "bool", "boolean":
		return TypeTiny, true
	case "smallint":
		return TypeShort, true
	case "mediumint":
		return TypeInt24, true
	case "int", "integer":
		return TypeLong, true
	case "bigint":
		return TypeLongLong, true
	case "decimal", "numeric":
		return TypeNewDecimal, true
	case "float":
		return TypeFloat, true
	case "double", "real":
		return TypeDouble, true
	case "bit":
		return TypeBit, true
	case "date":
		return TypeDate, true
	case "datetime":
		return TypeDatetime, true
	case "timestamp":
		return TypeTimestamp, true
	case "time":
		return TypeTime, true
	case "year":
		return TypeYear, true
	case "varchar", "varbinary":
		return TypeVarString, true
	// Servers announce ENUM and SET as strings with a flag; UUID and the addresses are MariaDB's.
	case "char", "binary", "enum", "set", "uuid", "inet6", "inet4":
		return TypeString, true
	case "tinyblob", "tinytext", "blob", "text", "mediumblob", "mediumtext", "longblob", "longtext":
		return TypeBlob, true
	case "json":
		return TypeJSON, true
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
		"geometrycollection", "geomcollection":
		return TypeGeometry, true
	default:
		return 0, false
	}
}

// IsNumber reports whether values of type t are numbers.
func (t Type) IsNumber() bool {
	switch t {
	case TypeDecimal, TypeTiny, TypeShort, TypeLong, TypeFloat, TypeDouble, TypeLongLong, TypeInt24, TypeYear,
		TypeNewDecimal:
		return true
	default:
		return false
	}
}

// IsTemporal reports whether values of type t are dates or times.
func (t Type) IsTemporal() bool {
	switch t {
	case TypeDate, TypeTime, TypeDatetime, TypeTimestamp:
		return true
	default:
		return false
	}
}
