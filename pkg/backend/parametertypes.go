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

// Retypes reports whether MySQL may give a parameter of type asked another one by a value of type given, though it Takes that: by the
// value, and for all executions to come. A date becomes one with a time, an integer one with decimals, bits become a number.
func Retypes(asked, given wire.ParamType) bool {
	g := KindOf(given.Type)
	if asked.Type == sqltypes.TypeBit {
		return g == KindText && given.Unsigned && given.Shape != wire.Digits
	}
	switch KindOf(asked.Type) {
	case KindInt:
		return g == KindText && given.Shape != wire.Digits
	case KindDate:
		return g != KindNull && g != KindDate && (g != KindText || given.Shape != wire.DateOnly)
	}
	return false
}

// retyped reports whether a server may ask for others than p.Params once p has run with values of types.
func (p *Prepared) retyped(types []wire.ParamType) bool {
	for i := range p.Params {
		if i < len(types) && Retypes(AskedType(&p.Params[i]), types[i]) {
			return true
		}
	}
	return false
}

// Takes reports whether MySQL takes a value of type given for a parameter of type asked without that it prepares the statement again
// for its type alone; see Retypes for the value.
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
