package binlog

import (
	"fmt"

	"skarv/pkg/sqltypes"
)

// Types that occur in the log only.
const (
	typeTimestamp2 = 17
	typeDatetime2  = 18
	typeTime2      = 19
	typeBlobPacked = 140 // MariaDB: COMPRESSED columns
	typeVarPacked  = 141
)

// Kinds of a table map's metadata.
const (
	metaSignedness     = 1
	metaDefaultCharset = 2
	metaColumnCharset  = 3
	metaColumnName     = 4
)

// mapped is a table as a table map event describes it: its number, and the raw event to recognise it by.
type mapped struct {
	number uint64
	raw    string
	table  *Table
	wanted bool
}

// readTableMap takes a table map event apart. The names alone decide whether the rest is looked at.
func readTableMap(body []byte, mariaDB bool, wanted func(schema, table string) bool) (mapped, error) {
	c := cursor{b: body}
	m := mapped{number: c.uint(6)}
	c.take(2)
	schema := string(c.take(c.count()))
	c.take(1)
	name := string(c.take(c.count()))
	c.take(1)
	if err := c.err("table map"); err != nil {
		return mapped{}, err
	}
	m.table = &Table{Schema: schema, Name: name}
	m.wanted = wanted == nil || wanted(schema, name)
	if !m.wanted {
		return m, nil
	}
	types := c.take(c.count())
	m.table.Columns = make([]Column, len(types))
	meta := cursor{b: c.take(c.count())}
	for i, t := range types {
		m.table.Columns[i].Type = t
		m.table.Columns[i].readMeta(&meta)
	}
	c.take(bitmapSize(len(types))) // which may be NULL
	c.bad = c.bad || meta.bad
	for len(c.b) > 0 && !c.bad {
		kind := c.byte()
		v := cursor{b: c.take(c.count())}
		m.table.readOptional(kind, &v, mariaDB)
		c.bad = c.bad || v.bad
	}
	if err := c.err("table map of " + schema + "." + name); err != nil {
		return mapped{}, err
	}
	if len(types) > 0 && m.table.Columns[0].Name == "" {
		return mapped{}, fmt.Errorf("%w: no column names; set binlog_row_metadata to FULL", ErrFormat)
	}
	return m, nil
}

// readMeta reads what the log says of a column's type, and the real type of those that hide behind STRING.
func (col *Column) readMeta(c *cursor) {
	switch sqltypes.Type(col.Type) {
	case sqltypes.TypeString:
		first, second := c.byte(), c.byte()
		col.meta = uint16(second)
		if first&0x30 != 0x30 { // lengths above 255 have their high bits in the type, upside down
			col.meta |= uint16(first&0x30^0x30) << 4
			first |= 0x30
		}
		col.Type = first
	case sqltypes.TypeNewDecimal:
		precision, scale := c.byte(), c.byte()
		col.meta = uint16(precision)<<8 | uint16(scale)
	case sqltypes.TypeVarString, sqltypes.TypeVarchar, sqltypes.TypeBit, typeVarPacked:
		col.meta = c.uint16()
	case sqltypes.TypeBlob, sqltypes.TypeDouble, sqltypes.TypeFloat, sqltypes.TypeGeometry, sqltypes.TypeJSON,
		typeTime2, typeDatetime2, typeTimestamp2, sqltypes.TypeVector, typeBlobPacked:
		col.meta = uint16(c.byte())
	}
}

// isCharacter reports whether the metadata has a collation for the column.
func (col *Column) isCharacter(mariaDB bool) bool {
	switch sqltypes.Type(col.Type) {
	case sqltypes.TypeString, sqltypes.TypeVarString, sqltypes.TypeVarchar, sqltypes.TypeBlob:
		return true
	case sqltypes.TypeGeometry, typeBlobPacked, typeVarPacked:
		return mariaDB
	}
	return false
}

func (col *Column) isNumeric() bool {
	switch sqltypes.Type(col.Type) {
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong, sqltypes.TypeYear,
		sqltypes.TypeFloat, sqltypes.TypeDouble, sqltypes.TypeNewDecimal:
		return true
	}
	return false
}

// readOptional reads one kind of metadata. Its values are for the columns it concerns, in order.
func (t *Table) readOptional(kind byte, v *cursor, mariaDB bool) {
	switch kind {
	case metaSignedness:
		bits, n := v.b, 0
		for i := range t.Columns {
			if t.Columns[i].isNumeric() {
				if n/8 < len(bits) {
					t.Columns[i].Unsigned = bits[n/8]&(0x80>>(n%8)) != 0
				}
				n++
			}
		}
	case metaDefaultCharset:
		usual := uint32(v.lenenc())
		others := map[uint64]uint32{}
		for len(v.b) > 0 {
			at := v.lenenc()
			others[at] = uint32(v.lenenc())
		}
		n := uint64(0)
		for i := range t.Columns {
			if t.Columns[i].isCharacter(mariaDB) {
				t.Columns[i].Collation = usual
				if other, ok := others[n]; ok {
					t.Columns[i].Collation = other
				}
				n++
			}
		}
	case metaColumnCharset:
		for i := range t.Columns {
			if t.Columns[i].isCharacter(mariaDB) && len(v.b) > 0 {
				t.Columns[i].Collation = uint32(v.lenenc())
			}
		}
	case metaColumnName:
		for i := range t.Columns {
			t.Columns[i].Name = string(v.take(v.count()))
		}
	}
}
