// Package rowset is small results that Skarv makes itself, in memory: their columns, and their rows as packets and as a derived table of a query. What
// servers answer streams, and is none of it.
package rowset

import (
	"fmt"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Table is a result. Its values are strings, numbers and nil, which is NULL.
type Table struct {
	Columns []sqltypes.Column
	Rows    [][]any
}

// anyDecimals is the number of decimals that a column without a fixed one has, as MySQL tells it, and as MariaDB does since 10.2.
const (
	anyDecimals        = 31
	anyDecimalsMariaDB = 39
)

// New returns a table of columns given by name; those whose name starts with # are numbers.
func New(names ...string) *Table {
	t := &Table{}
	for _, n := range names {
		c := sqltypes.Column{Name: n, Charset: 45, Type: sqltypes.TypeVarString, Length: 1024, Decimals: anyDecimals}
		if n[0] == '#' {
			c = sqltypes.Column{Name: n[1:], Charset: 63, Type: sqltypes.TypeLongLong, Length: 21, Flags: sqltypes.FlagBinary}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Add appends a row.
func (t *Table) Add(values ...any) { t.Rows = append(t.Rows, values) }

// OrNull is s, or NULL for "".
func OrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// ColumnsOf are the columns as a server of the kind has them.
func (t *Table) ColumnsOf(mariadb bool) []sqltypes.Column {
	if mariadb {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Decimals == anyDecimals {
				c.Decimals = anyDecimalsMariaDB
			}
		}
	}
	return t.Columns
}

// AppendRow appends the packet of a row in the text protocol.
func AppendRow(dst []byte, row []any) []byte {
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			dst = append(dst, 0xfb)
		case string:
			dst = wire.AppendLenencString(dst, v)
		default:
			dst = wire.AppendLenencString(dst, fmt.Sprint(v))
		}
	}
	return dst
}

// AppendDerived appends the table as a derived table without an alias. noEscapes: sql_mode has NO_BACKSLASH_ESCAPES.
func (t *Table) AppendDerived(dst []byte, mariadb, noEscapes bool) []byte {
	names := func(before string) {
		for i := range t.Columns {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(append(dst, before...), sqltypes.QuoteName(t.Columns[i].Name)...)
		}
	}
	if len(t.Rows) == 0 {
		dst = append(dst, "(SELECT "...)
		names("NULL AS ")
		return append(dst, " FROM DUAL WHERE 1 = 0)"...)
	}
	dst = append(dst, "(WITH v ("...)
	names("")
	dst = append(dst, ") AS (VALUES "...)
	for i, row := range t.Rows {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if !mariadb {
			dst = append(dst, "ROW"...)
		}
		dst = append(dst, '(')
		for j, v := range row {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			switch v := v.(type) {
			case nil:
				dst = append(dst, "NULL"...)
			case string:
				dst = append(dst, sqltypes.Quoted(v, noEscapes)...)
			default:
				dst = fmt.Append(dst, v)
			}
		}
		dst = append(dst, ')')
	}
	return append(dst, ") SELECT * FROM v)"...)
}
