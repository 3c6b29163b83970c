package workspace

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Keys is the values a column has in the rows a Filler writes, NULL left out, as long as they are few.
type Keys struct {
	column int // position in the rows
	of     *catalog.Column
	seen   map[string]struct{}
	max    int
	many   bool
}

// Collect makes f take note of the values of column, which is Keyable, up to max different ones. It returns nil if the rows do
// not have the column.
func (f *Filler) Collect(t *catalog.Table, columns []int, column, max int) *Keys {
	for i, c := range columns {
		if c == column {
			k := &Keys{column: i, of: &t.Columns[c], seen: map[string]struct{}{}, max: max}
			f.keys = append(f.keys, k)
			return k
		}
	}
	return nil
}

func (k *Keys) add(v []byte) {
	if v == nil || k.many {
		return
	}
	if _, have := k.seen[string(v)]; have {
		return
	}
	if len(k.seen) == k.max {
		k.many, k.seen = true, nil
		return
	}
	k.seen[string(v)] = struct{}{}
}

// Many reports whether there are too many values to list, which more rows do not change.
func (k *Keys) Many() bool { return k.many }

// List returns the values as they are written where they are compared with a column of the same type and collation, and
// what they are, if that tells where rows with them lie (values is nil else). ok is false if there are too many.
func (k *Keys) List() (sql [][]byte, values []sqltypes.Value, ok bool) {
	if k.many {
		return nil, nil, false
	}
	kind, known := sqltypes.Int, true
	switch k.of.DataType {
	case "decimal":
		kind = sqltypes.Decimal
	case "char", "varchar":
		kind = sqltypes.String
		known = strings.HasPrefix(k.of.Charset, "utf8") || k.of.Charset == "ascii"
	case "date", "datetime":
		known = false
	}
	for v := range k.seen {
		text := []byte(v)
		switch {
		case k.of.DataType == "date" || k.of.DataType == "datetime":
			if strings.HasPrefix(v, "0000") || strings.Contains(v, "-00") {
				return nil, nil, false // no literal, in some modes
			}
			text = []byte(map[string]string{"date": "DATE'", "datetime": "TIMESTAMP'"}[k.of.DataType] + v + "'")
		case kind == sqltypes.String:
			text = append([]byte(nil), '_')
			text = append(text, k.of.Charset...)
			text = AppendValue(append(text, ' '), bytesOf, []byte(v))
			text = append(append(text, " COLLATE "...), k.of.Collation...)
		}
		sql = append(sql, text)
		if known {
			values = append(values, sqltypes.Value{Kind: kind, Raw: []byte(v)})
		}
	}
	return sql, values, true
}

// Keyable reports whether a column's values can be written so that they compare as the column's own do.
func Keyable(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "decimal":
		return !strings.Contains(strings.ToLower(c.ColumnType), "zerofill")
	case "char", "varchar":
		return c.Collation != "binary" && c.Collation != "" && c.Charset != ""
	}
	return false
}

// collect takes note of a row's values.
func (f *Filler) collect() {
	for _, k := range f.keys {
		k.add(f.fields[k.column])
	}
}
