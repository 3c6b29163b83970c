// Package paramtype is the types that the parameters of a prepared statement have on MySQL. A server derives the type of a parameter from its
// place when it prepares the statement. Values of some other types it takes as they are; one that it does not take makes it prepare the statement
// again, with the types of all values, and it keeps these for all executions to come. The package knows values and types, and neither servers nor
// sessions.
package paramtype

import (
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Asked is the type that a server asks for by the description of a parameter.
func Asked(param *sqltypes.Column) wire.ParamType {
	return wire.ParamType{Type: param.Type, Unsigned: param.Flags&sqltypes.FlagUnsigned != 0}
}

// Kind is what types of parameters have in common for a server.
type Kind uint8

const (
	Text Kind = iota
	Null
	Int
	Decimal
	Float
	Date
	Time
	Datetime
)

// KindOf is the class of a type.
func KindOf(t sqltypes.Type) Kind {
	switch t {
	case sqltypes.TypeNull:
		return Null
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong, sqltypes.TypeYear:
		return Int
	case sqltypes.TypeDecimal, sqltypes.TypeNewDecimal:
		return Decimal
	case sqltypes.TypeFloat, sqltypes.TypeDouble:
		return Float
	case sqltypes.TypeDate:
		return Date
	case sqltypes.TypeTime:
		return Time
	case sqltypes.TypeDatetime, sqltypes.TypeTimestamp:
		return Datetime
	}
	return Text
}

// Retypes reports whether MySQL may give a parameter of type asked another one by a value of type given, though it Takes that: by the
// value, and for all executions to come. A date becomes one with a time, an integer one with decimals, bits become a number.
func Retypes(asked, given wire.ParamType) bool {
	g := KindOf(given.Type)
	if asked.Type == sqltypes.TypeBit {
		return g == Text && given.Unsigned && given.Shape != wire.Digits
	}
	switch KindOf(asked.Type) {
	case Int:
		return g == Text && given.Shape != wire.Digits
	case Date:
		return g != Null && g != Date && (g != Text || given.Shape != wire.DateOnly)
	}
	return false
}

// Takes reports whether MySQL takes a value of type given for a parameter of type asked without that it prepares the statement again
// for its type alone; see Retypes for the value.
func Takes(asked, given wire.ParamType) bool {
	g := KindOf(given.Type)
	if g == Null || g == Text {
		return true
	}
	switch KindOf(asked.Type) {
	case Int:
		return g == Int && (asked.Type == sqltypes.TypeYear || asked.Unsigned == given.Unsigned)
	case Decimal:
		return g == Int || g == Decimal
	case Float:
		return g == Int || g == Decimal || g == Float
	case Date:
		return g != Time && g != Datetime
	case Time:
		return g != Date
	case Datetime:
		return true
	}
	return false
}
