package mover

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/jsondoc"
	"skarv/pkg/merge"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// table is one of the move's tables: how its rows are read, told apart, placed and written. It is immutable.
type table struct {
	*catalog.Table
	at      int    // in the move
	label   string // db.table, for people
	name    string // `db`.`table`
	columns []column
	key     []int // positions in columns of the row key
	index   string
	dist    []int // positions in columns of the distribution key
	list    string
	reads   string
	where   string // the partition, as SQL
}

// column is one that is copied: all but generated ones.
type column struct {
	name    string // quoted
	raw     string // as the catalog has it
	form    form
	charset string // of text
	collate string
	latin1  bool
	year    bool
	class   merge.Class   // of what is temporal
	kind    sqltypes.Kind // as a part of the distribution key
	reads   string        // the expression that SELECT reads it by; see binlog.Row
}

// form is how a value is written as SQL.
type form uint8

const (
	number   form = iota // digits
	float                // digits that must stay a DOUBLE
	temporal             // text without a character set of its own
	text                 // bytes in the column's character set
	blob                 // bytes
	document             // JSON of MySQL
)

// row is the values of a table's columns; see binlog.Row for their form.
type row = binlog.Row

// newTable prepares a table. The error says why its rows cannot be moved.
func newTable(t *catalog.Table, at int, flavor catalog.Flavor) (*table, error) {
	m := &table{Table: t, at: at, label: t.Database + "." + t.Name, name: t.SQL()}
	positions := make([]int, len(t.Columns)) // in columns, of those of the catalog
	for i := range t.Columns {
		positions[i] = -1
		if t.Columns[i].Generated {
			continue
		}
		c, err := newColumn(&t.Columns[i], flavor)
		if err != nil {
			return nil, err
		}
		positions[i] = len(m.columns)
		m.columns = append(m.columns, c)
	}
	key, index := rowKey(t)
	if len(key) == 0 {
		return nil, fmt.Errorf("it has no primary key")
	}
	m.index = index
	var err error
	if m.key, err = pick(t, key, positions, "its primary key"); err != nil {
		return nil, err
	}
	var names, reads, dist []string
	for _, c := range m.columns {
		names, reads = append(names, c.name), append(reads, c.reads)
	}
	m.list, m.reads = strings.Join(names, ","), strings.Join(reads, ",")
	if t.Kind != catalog.Sharded {
		return m, nil // its rows are in no partition
	}
	if m.dist, err = pick(t, t.Distribution, positions, "its distribution key"); err != nil {
		return nil, err
	}
	if len(t.Key) == 0 || len(t.Key) != len(m.dist) {
		return nil, fmt.Errorf("it has no distribution key")
	}
	for _, i := range m.dist {
		dist = append(dist, m.columns[i].name)
	}
	m.where = t.Key.SQLExpr(dist)
	return m, nil
}

// Movable returns why rows of a sharded table cannot be moved, nil if they can.
func Movable(t *catalog.Table, flavor catalog.Flavor) error {
	_, err := newTable(t, 0, flavor)
	return err
}

// rowKey is the key rows are told apart by: the primary key, or the first that serves as one.
func rowKey(t *catalog.Table) (columns []int, index string) {
	if len(t.Primary) > 0 {
		for _, u := range t.Unique { // it may stand in for a primary key that there is not
			if !u.Partial && slices.Equal(u.Columns, t.Primary) {
				return t.Primary, u.Name
			}
		}
		return t.Primary, "PRIMARY"
	}
	for _, u := range t.Unique {
		nullable := slices.ContainsFunc(u.Columns, func(i int) bool { return t.Columns[i].Nullable })
		if !u.Partial && !nullable {
			return u.Columns, u.Name
		}
	}
	return nil, ""
}

func pick(t *catalog.Table, columns, positions []int, of string) ([]int, error) {
	out := make([]int, len(columns))
	for i, c := range columns {
		if out[i] = positions[c]; out[i] < 0 {
			return nil, fmt.Errorf("%s has the generated column '%s'", of, t.Columns[c].Name)
		}
	}
	return out, nil
}

func newColumn(c *catalog.Column, flavor catalog.Flavor) (column, error) {
	m := column{name: sqltypes.QuoteName(c.Name), raw: c.Name}
	m.reads = m.name
	switch strings.ToLower(c.DataType) {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint":
		m.form, m.kind = number, sqltypes.Int
	case "decimal", "numeric":
		m.form, m.kind = number, sqltypes.Decimal
	case "float", "double", "real":
		m.form, m.kind, m.reads = float, sqltypes.Float, m.name+"+0e0"
	case "bit", "enum", "set":
		m.form, m.kind, m.reads = number, sqltypes.Int, "CAST("+m.name+" AS UNSIGNED)"
	case "year":
		m.form, m.kind, m.year, m.class = temporal, sqltypes.Int, true, merge.Year
	case "time":
		m.form, m.kind, m.class = temporal, sqltypes.String, merge.Time
	case "date", "datetime", "timestamp":
		m.form, m.kind = temporal, sqltypes.String
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		m.form, m.kind, m.charset, m.collate = text, sqltypes.String, c.Charset, c.Collation
		m.latin1 = c.Charset == "latin1"
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		m.form, m.kind = blob, sqltypes.Binary
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
		"geomcollection", "vector":
		m.form, m.kind = blob, sqltypes.Binary
	case "json":
		if flavor != catalog.MySQL {
			return column{}, fmt.Errorf("column '%s' has the type %s, which cannot be moved", c.Name, c.DataType)
		}
		m.form, m.reads = document, jsondoc.Select(m.name)
	default:
		return column{}, fmt.Errorf("column '%s' has the type %s, which cannot be moved", c.Name, c.DataType)
	}
	if strings.Contains(strings.ToLower(c.ColumnType), " zerofill") && m.form == number {
		m.reads = m.name + "+0"
	}
	if strings.Contains(strings.ToLower(c.ColumnType), "compressed") {
		return column{}, fmt.Errorf("column '%s' is COMPRESSED, which cannot be moved", c.Name)
	}
	return m, nil
}

// keyOf appends what tells rows apart in maps: the exact values of the key.
func (t *table) keyOf(dst []byte, r row) []byte {
	for _, i := range t.key {
		dst = binary.AppendUvarint(dst, uint64(len(r[i])))
		dst = append(dst, r[i]...)
	}
	return dst
}

// describe is a row's key for people.
func (t *table) describe(r row) string {
	var parts []string
	for _, i := range t.key {
		c := &t.columns[i]
		parts = append(parts, c.raw+"="+string(c.appendKey(nil, r[i])))
	}
	return strings.Join(parts, " AND ")
}

// order is how servers sort values of the column, as rows have them. ok is false where it is not known.
func (c *column) order(flavor catalog.Flavor) (key merge.Key, ok bool) {
	switch c.form {
	case number:
		return merge.Key{Class: merge.Number}, true
	case float:
		return merge.Key{Class: merge.Float}, true
	case temporal:
		return merge.Key{Class: c.class}, true
	case blob:
		return merge.Key{Class: merge.Bytes}, true
	case text:
		collation, err := sqltypes.LookupCollation(c.collate, flavor == catalog.MariaDB)
		if err != nil || c.latin1 {
			return key, false
		}
		return merge.Key{Class: merge.Collate, Compare: collation.CompareFunc()}, true
	}
	return key, false
}

// appendValue appends a value to be stored in the column.
func (c *column) appendValue(dst, v []byte) []byte {
	if v == nil {
		return append(dst, "NULL"...)
	}
	switch c.form {
	case number:
		return append(dst, v...)
	case float:
		return appendDouble(dst, v)
	case document:
		if !jsondoc.Plain(v) {
			return jsondoc.Append(dst, v)
		}
		return sqltypes.AppendQuoted(append(dst, "_utf8mb4"...), v, false)
	default:
		return sqltypes.AppendQuoted(dst, v, false)
	}
}

// appendDouble appends a number so that it is read as a DOUBLE: -0 would become the integer 0.
func appendDouble(dst, v []byte) []byte {
	dst = append(dst, v...)
	if !slices.Contains(v, 'e') {
		dst = append(dst, "e0"...)
	}
	return dst
}

// appendKey appends a value to be compared with the column, as the column's own index compares it.
func (c *column) appendKey(dst, v []byte) []byte {
	if v == nil {
		return append(dst, "NULL"...)
	}
	switch c.form {
	case number, float:
		return c.appendValue(dst, v)
	case text:
		dst = append(append(append(dst, '_'), c.charset...), " x'"...)
		dst = hex.AppendEncode(dst, v)
		return append(append(dst, "' COLLATE "...), c.collate...)
	case blob:
		dst = append(dst, "x'"...)
		return append(hex.AppendEncode(dst, v), '\'')
	default:
		return sqltypes.AppendQuoted(append(dst, "_utf8mb4"...), v, false)
	}
}

// appendTuple appends the row as one of VALUES.
func (t *table) appendTuple(dst []byte, r row) []byte {
	dst = append(dst, '(')
	for i := range t.columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.columns[i].appendValue(dst, r[i])
	}
	return append(dst, ')')
}

// appendIs appends the condition that a row has the key of r.
func (t *table) appendIs(dst []byte, r row) []byte {
	dst = append(dst, '(')
	for n, i := range t.key {
		if n > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(append(dst, t.columns[i].name...), '=')
		dst = t.columns[i].appendKey(dst, r[i])
	}
	return append(dst, ')')
}

// appendOrder appends the condition that a row's key is above (or, with below, not above) that of which bound has the values, in
// the order of the key.
func (t *table) appendOrder(dst []byte, bound [][]byte, below bool) []byte {
	above := " > "
	if below {
		above = " < "
	}
	dst = append(dst, '(')
	for n := range t.key { // the first n columns are equal, the next one decides
		if n > 0 {
			dst = append(dst, " OR ("...)
		}
		for m := range n {
			c := &t.columns[t.key[m]]
			dst = append(append(append(dst, c.name...), " = "...), c.appendKey(nil, bound[m])...)
			dst = append(dst, " AND "...)
		}
		c := &t.columns[t.key[n]]
		op := above
		if below && n == len(t.key)-1 {
			op = " <= "
		}
		dst = append(append(append(dst, c.name...), op...), c.appendKey(nil, bound[n])...)
		if n > 0 {
			dst = append(dst, ')')
		}
	}
	return append(dst, ')')
}

// keyList is the key's columns as they are read, and as ORDER BY has them.
func (t *table) keyList(reads bool) string {
	var parts []string
	for _, i := range t.key {
		if reads {
			parts = append(parts, t.columns[i].reads)
		} else {
			parts = append(parts, t.columns[i].name)
		}
	}
	return strings.Join(parts, ",")
}

// bounds are the values of the key of r.
func (t *table) bounds(r row) [][]byte {
	b := make([][]byte, len(t.key))
	for n, i := range t.key {
		b[n] = r[i]
	}
	return b
}

// placer computes partitions. It belongs to one goroutine.
type placer struct {
	values  []sqltypes.Value
	scratch []byte
	utf8    []byte
}

// partition is that of a row.
func (p *placer) partition(t *table, r row) (placement.Partition, error) {
	p.values, p.utf8 = p.values[:0], p.utf8[:0]
	for _, i := range t.dist {
		c, v := &t.columns[i], r[i]
		switch {
		case v == nil:
			p.values = append(p.values, sqltypes.Value{})
			continue
		case c.year && string(v) == "0000":
			v = v[:1]
		case c.latin1:
			from := len(p.utf8)
			p.utf8 = appendLatin1(p.utf8, v)
			v = p.utf8[from:]
		}
		p.values = append(p.values, sqltypes.Value{Kind: c.kind, Raw: v})
	}
	var at placement.Partition
	var match placement.Match
	at, p.scratch, match = t.Key.Partition(p.scratch, p.values, placement.Stored)
	if match != placement.Exact {
		return 0, fmt.Errorf("%w: table %s, row %s", ErrPlacement, t.label, t.describe(r))
	}
	return at, nil
}

// latin1High is what the servers' latin1 has at 0x80 to 0x9f: Windows-1252 with its holes filled.
const latin1High = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// appendLatin1 appends latin1 as UTF-8.
func appendLatin1(dst, s []byte) []byte {
	for _, b := range s {
		switch {
		case b < 0x80:
			dst = append(dst, b)
		case b < 0xa0:
			dst = append(dst, string([]rune(latin1High)[b-0x80])...)
		default:
			dst = append(dst, string(rune(b))...)
		}
	}
	return dst
}

// mapping is where the log has the columns of a table.
type mapping struct {
	table *table
	at    []int
}

// newMapping finds the table's columns in the log's.
func newMapping(t *table, logged *binlog.Table) (*mapping, error) {
	m := &mapping{table: t, at: make([]int, len(t.columns))}
	for i := range t.columns {
		if m.at[i] = logged.Index(t.columns[i].raw); m.at[i] < 0 {
			return nil, fmt.Errorf("%w: table %s has no column %s any more", ErrSchema, t.label, t.columns[i].raw)
		}
	}
	n := len(t.columns)
	for i := range t.Columns {
		if t.Columns[i].Generated && logged.Index(t.Columns[i].Name) >= 0 {
			n++
		}
	}
	if n != len(logged.Columns) {
		return nil, fmt.Errorf("%w: table %s has other columns now", ErrSchema, t.label)
	}
	return m, nil
}

// row takes the table's columns out of one of the log's rows.
func (m *mapping) row(logged binlog.Row) row {
	if logged == nil {
		return nil
	}
	r := make(row, len(m.at))
	for i, at := range m.at {
		r[i] = logged[at]
	}
	return r
}
