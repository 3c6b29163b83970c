package exec

import "skarv/pkg/sqltypes"

// mergeColumn widens c so that it describes the values of d's group, too. Names stay those of c.
func mergeColumn(c, d *sqltypes.Column) {
	c.Length = max(c.Length, d.Length)
	if c.Type != d.Type {
		c.Type = widerType(c, d)
	}
	if c.Decimals != d.Decimals {
		c.Decimals = max(c.Decimals, d.Decimals)
	}
	notNull := c.Flags & d.Flags & sqltypes.FlagNotNull
	c.Flags = (c.Flags | d.Flags&(sqltypes.FlagBinary|sqltypes.FlagBlob)) &^ sqltypes.FlagNotNull
	if c.Flags&sqltypes.FlagUnsigned != 0 && d.Flags&sqltypes.FlagUnsigned == 0 {
		c.Flags &^= sqltypes.FlagUnsigned
	}
	c.Flags |= notNull
}

// widerType is a type that can hold the values of both columns, which differ in type: groups of one shape do so only
// where a server makes the type of an expression from its data.
func widerType(c, d *sqltypes.Column) sqltypes.Type {
	switch {
	case c.Type == sqltypes.TypeNull:
		c.Charset = d.Charset
		return d.Type
	case d.Type == sqltypes.TypeNull:
		return c.Type
	}
	rankC, rankD := numberRank(c.Type), numberRank(d.Type)
	if rankC > 0 && rankD > 0 {
		if rankC >= rankD {
			return c.Type
		}
		return d.Type
	}
	if rankC > 0 {
		c.Charset = d.Charset
	}
	if isBlob(c.Type) {
		return c.Type
	}
	if isBlob(d.Type) {
		return d.Type
	}
	return sqltypes.TypeVarString
}

// numberRank orders the numeric types so that a greater one holds the lesser; 0 is no number.
func numberRank(t sqltypes.Type) int {
	switch t {
	case sqltypes.TypeYear:
		return 1
	case sqltypes.TypeTiny:
		return 2
	case sqltypes.TypeShort:
		return 3
	case sqltypes.TypeInt24:
		return 4
	case sqltypes.TypeLong:
		return 5
	case sqltypes.TypeLongLong:
		return 6
	case sqltypes.TypeDecimal, sqltypes.TypeNewDecimal:
		return 7
	case sqltypes.TypeFloat:
		return 8
	case sqltypes.TypeDouble:
		return 9
	}
	return 0
}

func isBlob(t sqltypes.Type) bool {
	switch t {
	case sqltypes.TypeTinyBlob, sqltypes.TypeBlob, sqltypes.TypeMediumBlob, sqltypes.TypeLongBlob:
		return true
	}
	return false
}
