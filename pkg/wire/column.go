package wire

import (
	"encoding/binary"
	"strings"

	"skarv/pkg/sqltypes"
)

// columnTail is the length of a column definition's fixed part, which the protocol announces in a byte of its own.
const columnTail = 0x0c

// AppendColumn appends the payload of a column definition.
func AppendColumn(dst []byte, col *sqltypes.Column, caps Capability) []byte {
	dst = AppendLenencString(dst, "def")
	for _, s := range [...]string{col.Schema, col.Table, col.OrgTable, col.Name, col.OrgName} {
		dst = AppendLenencString(dst, s)
	}
	if caps.Has(CapMariaExtendedTypes) {
		dst = AppendLenencString(dst, col.Extended)
	}
	dst = append(dst, columnTail)
	dst = binary.LittleEndian.AppendUint16(dst, col.Charset)
	dst = binary.LittleEndian.AppendUint32(dst, col.Length)
	dst = append(dst, byte(col.Type))
	dst = binary.LittleEndian.AppendUint16(dst, col.Flags)
	return append(dst, col.Decimals, 0, 0)
}

// ParseColumn reads the payload of a column definition. The Column owns its memory.
func ParseColumn(payload []byte, caps Capability) (sqltypes.Column, error) {
	c := cursor{b: payload}
	c.lenencString() // catalog, always "def"
	var names [6][]byte
	total := 0
	for i := range names {
		if i == 5 && !caps.Has(CapMariaExtendedTypes) {
			break
		}
		names[i] = c.lenencString()
		total += len(names[i])
	}
	c.lenencInt()
	col := sqltypes.Column{
		Charset:  c.uint16(),
		Length:   c.uint32(),
		Type:     sqltypes.Type(c.uint8()),
		Flags:    c.uint16(),
		Decimals: c.uint8(),
	}
	if c.bad {
		return sqltypes.Column{}, malformed("column definition")
	}
	// One piece of memory for all names.
	var all strings.Builder
	all.Grow(total)
	for _, n := range names {
		all.Write(n)
	}
	rest := all.String()
	for i, dst := range [...]*string{&col.Schema, &col.Table, &col.OrgTable, &col.Name, &col.OrgName, &col.Extended} {
		*dst, rest = rest[:len(names[i])], rest[len(names[i]):]
	}
	return col, nil
}

// AppendColumnCount appends the payload that begins a result with rows.
func AppendColumnCount(dst []byte, n int) []byte { return AppendLenencInt(dst, uint64(n)) }
