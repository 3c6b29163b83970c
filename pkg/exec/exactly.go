package exec

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// exactly is what the entry of a row has of a column by which no entry is placed, a TIMESTAMP or a floating-point number, and the condition that finds the
// row by it. kind is, for a TIMESTAMP, that of a DATETIME. ok is false if it cannot be told what the server will store.
func (in *insertion) exactly(el *element, col *catalog.Column, kind *placement.KeyColumn) (condition, literal []byte, ok bool) {
	if col.DataType == "timestamp" {
		return in.exactMoment(el, col, kind)
	}
	n, ok := exactNumber(el.value, col)
	if !ok {
		return nil, nil, false
	}
	literal = strconv.AppendFloat(nil, n, 'e', -1, 64)
	return append(append(appendName(nil, col.Name), " = "...), literal...), literal, true
}

// The times that TIMESTAMP columns hold in every time zone, and what they hold beside.
const (
	zeroMoment  = "0000-00-00 00:00:00"
	firstMoment = "1970-01-03"
	lastMoment  = "2038-01-18"
)

// exactMoment is exactly of a TIMESTAMP. Which moment its local time means the server decides that stores it; of two it always takes the same one, and
// of one that does not exist the next.
func (in *insertion) exactMoment(el *element, col *catalog.Column, kind *placement.KeyColumn) (condition, literal []byte, ok bool) {
	text, match := kind.AppendStored(nil, el.value, in.mode())
	if match == placement.Exact && string(text) == zeroMoment {
		return append(append([]byte("UNIX_TIMESTAMP("), appendName(nil, col.Name)...), ") = 0"...), []byte("0"), true
	}
	if match != placement.Exact || string(text) < firstMoment || string(text) >= lastMoment {
		return nil, nil, false
	}
	literal = append(append([]byte("UNIX_TIMESTAMP('"), text...), "')"...)
	// The first half is found by an index; but another moment may have the same local time.
	condition = append(append(append(appendName(nil, col.Name), " = FROM_UNIXTIME("...), literal...), ") AND UNIX_TIMESTAMP("...)
	return append(append(appendName(condition, col.Name), ") = "...), literal...), literal, true
}

// exactNumber is what a FLOAT or DOUBLE column stores of v.
func exactNumber(v sqltypes.Value, col *catalog.Column) (float64, bool) {
	switch v.Kind {
	case sqltypes.Int, sqltypes.Decimal, sqltypes.Float, sqltypes.String:
	default:
		return 0, false
	}
	if len(bytes.Trim(v.Raw, "0123456789.eE+-")) > 0 { // what is a number for Go only
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v.Raw), 64)
	if col.DataType == "float" {
		n = float64(float32(n))
	}
	if err != nil || math.IsInf(n, 0) || n < 0 && strings.Contains(col.ColumnType, "unsigned") {
		return 0, false
	}
	if n == 0 && (v.Kind == sqltypes.Int || v.Kind == sqltypes.Decimal) {
		n = 0 // there is no -0 of these
	}
	return n, true
}
