package wire

import (
	"encoding/binary"
	"math"
	"strconv"

	"skarv/pkg/sqltypes"
)

// A binary row is a zero byte, a bitmap of NULLs whose first two bits are not used, and the values that are not NULL, each as
// its column's type demands.
const binaryBitmapOffset = 2

// AppendBinaryRow appends the payload of the binary row with the values of fields, which are text as in a text row, nil for NULL. The error says
// that a text is no value of its column's type; dst then is useless.
func AppendBinaryRow(dst []byte, cols []sqltypes.Column, fields [][]byte) ([]byte, error) {
	if len(fields) != len(cols) {
		return dst, malformed("row with another number of values than columns")
	}
	dst = append(dst, 0)
	bitmap := len(dst)
	for range (len(cols) + binaryBitmapOffset + 7) / 8 {
		dst = append(dst, 0)
	}
	for i, f := range fields {
		if f == nil {
			bit := i + binaryBitmapOffset
			dst[bitmap+bit/8] |= 1 << (bit % 8)
			continue
		}
		var ok bool
		if dst, ok = appendBinaryValue(dst, &cols[i], f); !ok {
			return dst, malformed("value of column " + cols[i].Name)
		}
	}
	return dst, nil
}

// ParseBinaryRow returns the values of a binary row as text, in the memory of fields, whose contents do not matter; nil is NULL. Strings point into
// payload, all else into scratch, which is returned for the next row.
func ParseBinaryRow(payload []byte, cols []sqltypes.Column, fields [][]byte, scratch []byte) ([][]byte, []byte, error) {
	return parseBinaryRow(payload, cols, fields, scratch, false)
}

// TextRows turns binary rows into text rows, in memory that it keeps.
type TextRows struct {
	// Exact: floating-point numbers are written with all digits that tell them apart, where a server's text rows would not
	// have all: AppendBinaryRow makes the same numbers of them again.
	Exact bool

	fields       [][]byte
	scratch, row []byte
}

// Row returns the payload of the text row with the values of a binary one, valid until the next call.
func (t *TextRows) Row(payload []byte, cols []sqltypes.Column) (row []byte, err error) {
	if t.fields, t.scratch, err = parseBinaryRow(payload, cols, t.fields, t.scratch, t.Exact); err != nil {
		return nil, err
	}
	t.row = AppendTextRow(t.row[:0], t.fields)
	return t.row, nil
}

func parseBinaryRow(payload []byte, cols []sqltypes.Column, fields [][]byte, scratch []byte, exact bool) ([][]byte, []byte, error) {
	c := cursor{b: payload}
	header := c.uint8()
	nulls := c.take((len(cols) + binaryBitmapOffset + 7) / 8)
	if c.bad || header != 0 {
		return nil, scratch, malformed("binary row")
	}
	fields, scratch = fields[:0], scratch[:0]
	for i := range cols {
		bit := i + binaryBitmapOffset
		if nulls[bit/8]&(1<<(bit%8)) != 0 || cols[i].Type == sqltypes.TypeNull {
			fields = append(fields, nil)
			continue
		}
		raw, err := binaryValue(&c, cols[i].Type)
		if err != nil {
			return nil, scratch, err
		}
		if !isText(cols[i].Type) {
			start := len(scratch)
			if exact && cols[i].Type == sqltypes.TypeFloat {
				scratch = strconv.AppendFloat(scratch, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 'g', -1, 32)
			} else if exact && cols[i].Type == sqltypes.TypeDouble {
				scratch = strconv.AppendFloat(scratch, math.Float64frombits(binary.LittleEndian.Uint64(raw)), 'g', -1, 64)
			} else {
				scratch = appendText(scratch, raw, &cols[i])
			}
			raw = scratch[start:len(scratch):len(scratch)]
		}
		fields = append(fields, raw)
	}
	if len(c.b) > 0 {
		return nil, scratch, malformed("binary row")
	}
	return fields, scratch, nil
}

// appendText writes an encoded value that is not a string as the server does in a text row.
func appendText(dst, raw []byte, col *sqltypes.Column) []byte {
	decimals := int(col.Decimals)
	switch col.Type {
	case sqltypes.TypeFloat:
		return appendFloatText(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32, decimals)
	case sqltypes.TypeDouble:
		return appendFloatText(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw)), 64, decimals)
	case sqltypes.TypeDate:
		return appendDate(dst, raw)
	case sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		return appendDatetime(dst, raw, decimals)
	case sqltypes.TypeTime:
		return appendTime(dst, raw, decimals)
	case sqltypes.TypeYear:
		return appendDigits(dst, uint64(binary.LittleEndian.Uint16(raw)), 4)
	}
	start := len(dst)
	dst = appendInt(dst, raw, col.Flags&sqltypes.FlagUnsigned != 0)
	if col.Flags&sqltypes.FlagZerofill != 0 {
		for width := min(int(col.Length), 255); len(dst)-start < width; {
			dst = append(dst, 0)
			copy(dst[start+1:], dst[start:])
			dst[start] = '0'
		}
	}
	return dst
}
