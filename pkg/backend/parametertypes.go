package backend

import (
	"slices"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// MySQL derives the type of a parameter from its place when it prepares the statement. Values of some other types it takes as they
// are; one that it does not take makes it prepare the statement again, with the types of all values.

// suits reports whether values of types meet p as they would meet a statement that has just been prepared.
func (p *Prepared) suits(types []wire.ParamType) bool {
	if p.taken(types) {
		return p.types == nil
	}
	return !p.plain && p.types == nil || slices.Equal(p.types, types)
}

// taken reports whether values of types do not make a server prepare the statement again.
func (p *Prepared) taken(types []wire.ParamType) bool {
	if len(p.Params) != len(types) {
		return true
	}
	for i := range types {
		if !Takes(AskedType(&p.Params[i]), types[i]) {
			return false
		}
	}
	return true
}

// AskedType is the type that a server asks for by the description of a parameter.
func AskedType(param *sqltypes.Column) wire.ParamType {
	return wire.ParamType{Type: param.Type, Unsigned: param.Flags&sqltypes.FlagUnsigned != 0}
}

// Kind is what types of parameters have in common for a server.
type Kind uint8

const (
	KindText Kind = iota
	KindNull
	KindInt
	KindDecimal
	KindFloat
	KindDate
	KindTime
	KindDatetime
)

// KindOf is the class of a type.
func KindOf(t sqltypes.Type) Kind {
	switch t {
	case sqltypes.TypeNull:
		return KindNull
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong, sqltypes.TypeYear:
		return KindInt
	case sqltypes.TypeDecimal, sqltypes.TypeNewDecimal:
		return KindDecimal
	case sqltypes.TypeFloat, sqltypes.TypeDouble:
		return KindFloat
	case sqltypes.TypeDate:
		return KindDate
	case sqltypes.TypeTime:
		return KindTime
	case sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		return KindDatetime
	}
	return KindText
}

// Takes reports whether MySQL takes a value of type given for a parameter of type asked as it is. A string may be in the way all the same
// where an integer is asked for: see Session.settle.
func Takes(asked, given wire.ParamType) bool {
	g := KindOf(given.Type)
	if g == KindNull || g == KindText {
		return true
	}
	switch KindOf(asked.Type) {
	case KindInt:
		return g == KindInt && (asked.Type == sqltypes.TypeYear || asked.Unsigned == given.Unsigned)
	case KindDecimal:
		return g == KindInt || g == KindDecimal
	case KindFloat:
		return g == KindInt || g == KindDecimal || g == KindFloat
	case KindDate:
		return g != KindTime && g != KindDatetime
	case KindTime:
		return g != KindDate
	case KindDatetime:
		return true
	}
	return false
}
