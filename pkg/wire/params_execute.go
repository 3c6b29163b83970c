package wire

import (
	"encoding/binary"
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
		t := p.sendType(n)
		sign := byte(0)
		if t.Unsigned {
			sign = 0x80
		}
		dst = append(dst, byte(t.Type), sign)
	}
	for _, n := range which {
		if p.raw[n] != nil {
			dst = appendParam(dst, p.raw[n], p.sendType(n).Type)
		}
	}
	return dst
}

// AppendTypes appends the types that AppendExecute sends.
func (p *Params) AppendTypes(dst []ParamType, which []int) []ParamType {
	for _, n := range which {
		dst = append(dst, p.sendType(n))
	}
	return dst
}

// sendType is the type of parameter i as it was sent, but for pieces of a number, which are bytes.
func (p *Params) sendType(i int) ParamType {
	if p.decoded[i] && p.values[i].Kind == sqltypes.Binary && !isText(p.types[i].Type) {
		return ParamType{Type: sqltypes.TypeBlob}
	}
	return p.types[i]
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

// SetUint makes parameter i an unsigned integer.
func (p *Params) SetUint(i int, n uint64) {
	p.types[i] = ParamType{Type: sqltypes.TypeLongLong, Unsigned: true}
	p.raw[i] = binary.LittleEndian.AppendUint64(nil, n)
	p.values[i], p.decoded[i] = sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendUint(nil, n, 10)}, true
}
