package wire

import (
	"encoding/binary"
	"math"
	"strconv"

	"skarv/pkg/sqltypes"
)

// AppendExecute appends a COM_STMT_EXECUTE payload for a statement whose parameters are some of p's: which are their numbers,
// in order, and one may stand there twice. Types are always sent. p may be nil when which is empty.
func (p *Params) AppendExecute(dst []byte, statement uint32, which []int) []byte {
	dst = AppendExecuteHead(dst, statement, 0)
	if len(which) == 0 {
		return dst
	}
	nulls := len(dst)
	for range (len(which) + 7) / 8 {
		dst = append(dst, 0)
	}
	dst = append(dst, 1)
	for i, n := range which {
		if p.raw[n] == nil {
			dst[nulls+i/8] |= 1 << (i % 8)
		}
		t := p.types[n]
		sign := byte(0)
		if t.Unsigned {
			sign = 0x80
		}
		dst = append(dst, byte(t.Type), sign)
	}
	for _, n := range which {
		if p.raw[n] != nil {
			dst = appendParam(dst, p.raw[n], p.types[n].Type)
		}
	}
	return dst
}

// SetStatement makes packet, the first of a COM_STMT_EXECUTE with its header, one of the statement with the id.
func SetStatement(packet []byte, id uint32) {
	binary.LittleEndian.PutUint32(packet[HeaderLen+1:], id)
}

const (
	executeFlags = HeaderLen + 1 + 4
	cursors      = 1 | 2 | 4 // of the flags: read only, for update, scrollable
)

// AsksForCursor reports whether packet, the first of a COM_STMT_EXECUTE with its header, asks for a cursor.
func AsksForCursor(packet []byte) bool { return packet[executeFlags]&cursors != 0 }

// LeaveOutCursor makes packet, the first of a COM_STMT_EXECUTE with its header, one that asks for no cursor.
func LeaveOutCursor(packet []byte) { packet[executeFlags] &^= cursors }

// AppendTypes appends the types that AppendExecute sends, TypeNull for NULL.
func (p *Params) AppendTypes(dst []ParamType, which []int) []ParamType {
	for _, n := range which {
		dst = append(dst, p.Given(n))
	}
	return dst
}

// Given is the type of the value of parameter i, TypeNull for NULL. Of text Unsigned says whether it is a number: where MySQL asks for
// one, what it keeps depends on that; and on its Shape.
func (p *Params) Given(i int) ParamType {
	if p.raw[i] == nil {
		return ParamType{Type: sqltypes.TypeNull}
	}
	t := p.types[i]
	if isText(t.Type) && t.Type != sqltypes.TypeNewDecimal && t.Type != sqltypes.TypeDecimal {
		t.Unsigned, t.Shape = isNumber(p.raw[i]), ShapeOf(p.raw[i])
	}
	return t
}

// isNumber reports whether text has nothing but what numbers have.
func isNumber(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' && c != ' ' {
			return false
		}
	}
	return len(text) > 0
}

func appendParam(dst, raw []byte, t sqltypes.Type) []byte {
	switch {
	case isText(t):
		return AppendLenencString(dst, raw)
	case t == sqltypes.TypeDate || t == sqltypes.TypeDatetime || t == sqltypes.TypeTimestamp || t == sqltypes.TypeTime:
		dst = append(dst, byte(len(raw)))
	}
	return append(dst, raw...)
}

// SetText makes parameter i a value of a type that is sent as text.
func (p *Params) SetText(i int, t sqltypes.Type, text []byte) {
	p.set(i, ParamType{Type: t}, text)
}

// SetInt makes parameter i an integer whose bits are n's.
func (p *Params) SetInt(i int, n uint64, unsigned bool) {
	p.set(i, ParamType{Type: sqltypes.TypeLongLong, Unsigned: unsigned}, binary.LittleEndian.AppendUint64(nil, n))
}

// SetFloat makes parameter i a number of type DOUBLE.
func (p *Params) SetFloat(i int, f float64) {
	p.set(i, ParamType{Type: sqltypes.TypeDouble}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
}

func (p *Params) set(i int, t ParamType, raw []byte) {
	p.types[i], p.raw[i], p.decoded[i] = t, raw, false
}

// SetUint makes parameter i an unsigned integer.
func (p *Params) SetUint(i int, n uint64) {
	p.types[i] = ParamType{Type: sqltypes.TypeLongLong, Unsigned: true}
	p.raw[i] = binary.LittleEndian.AppendUint64(nil, n)
	p.values[i], p.decoded[i] = sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendUint(nil, n, 10)}, true
}
