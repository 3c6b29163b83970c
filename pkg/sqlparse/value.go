package sqlparse

import (
	"bytes"

	"skarv/pkg/sqltypes"
)

// Params gives the values of a statement's `?`s, by their number from 0. A nil Params is one without values.
type Params interface {
	Value(i int) sqltypes.Value
}

// Value returns the value of argument i. ok is false if the text alone does not tell it: a list, DEFAULT, a
// character set introducer that needs conversion, a parameter without params. The value points into the statement's
// text, into params' memory or into scratch that the next call of Value, ElemValue or Decode overwrites.
func (s *Statement) Value(i int, params Params) (v sqltypes.Value, ok bool) {
	return s.Decode(s.args[i].public(), params)
}

// ElemValue is Value of element j of argument i.
func (s *Statement) ElemValue(i, j int, params Params) (v sqltypes.Value, ok bool) {
	return s.Decode(s.Elem(i, j), params)
}

// Decode is Value of any Arg this statement returned.
//
// Integers, decimals and floats keep their text (without a leading +). Hexadecimal and bit literals are byte strings,
// which is what they are everywhere but in arithmetic.
func (s *Statement) Decode(a Arg, params Params) (v sqltypes.Value, ok bool) {
	text := s.sql[a.Start:a.End]
	switch a.Class {
	case ClassParam:
		if params == nil {
			return v, false
		}
		return params.Value(a.Param), true
	case ClassNull:
		return v, true
	case ClassBool:
		raw := []byte("0")
		if text[0]|0x20 == 't' {
			raw = []byte("1")
		}
		return sqltypes.Value{Kind: sqltypes.Bool, Raw: raw}, true
	case ClassInt:
		return sqltypes.Value{Kind: sqltypes.Int, Raw: s.unsigned(text)}, true
	case ClassDecimal:
		return sqltypes.Value{Kind: sqltypes.Decimal, Raw: s.unsigned(text)}, true
	case ClassFloat:
		return sqltypes.Value{Kind: sqltypes.Float, Raw: s.unsigned(text)}, true
	case ClassHex, ClassBit, ClassString, ClassDate, ClassTime, ClassDatetime:
		return s.decodeString(a)
	}
	return v, false
}

// unsigned returns a number's text with its sign directly before the digits, and none for plus.
func (s *Statement) unsigned(text []byte) []byte {
	if text[0] != '-' && text[0] != '+' {
		return text
	}
	i := len(text) // digits and point stand at the end, whatever is between them and the sign
	for i > 0 && (isWordByte(text[i-1]) || text[i-1] == '.' ||
		(text[i-1] == '-' || text[i-1] == '+') && i > 1 && text[i-2]|0x20 == 'e') {
		i--
	}
	if text[0] == '+' {
		return text[i:]
	}
	if i == 1 {
		return text
	}
	s.scratch.value = append(append(s.scratch.value[:0], '-'), text[i:]...)
	return s.scratch.value
}

// decodeString decodes strings, byte strings and typed strings with all that can stand before them.
func (s *Statement) decodeString(a Arg) (v sqltypes.Value, ok bool) {
	l := s.lexerAt(a.Start, a.End, a.code)
	k := l.next()
	v.Kind = sqltypes.String
	ascii := k == NStringLit // must be, where the character set need not be the connection's
	switch a.Class {
	case ClassDate:
		v.Kind = sqltypes.Date
	case ClassTime:
		v.Kind = sqltypes.Time
	case ClassDatetime:
		v.Kind = sqltypes.Datetime
	case ClassHex, ClassBit:
		v.Kind = sqltypes.Binary
	}
	if k == Word {
		name := s.sql[l.start:l.pos]
		if name[0] == '_' && !equalFold(name, "_binary") {
			if wideCharset(name) {
				return sqltypes.Value{}, false
			}
			v.Kind, ascii = sqltypes.String, true
		}
		k = l.next()
	}
	if k == HexLit || k == BitLit {
		v.Raw = s.digits(k, s.sql[l.start:l.pos])
	} else {
		for first := true; ; first = false {
			text := s.sql[l.start:l.pos]
			if k == NStringLit {
				text = text[1:]
			}
			quote := text[0]
			inner := text[1 : len(text)-1]
			more := bytes.IndexByte(inner, quote) >= 0 || s.mode&NoBackslashEscapes == 0 && bytes.IndexByte(inner, '\\') >= 0
			if k = l.next(); k == Invalid {
				k = EOF // the end, inside an executable comment
			}
			if first && k == EOF && !more {
				v.Raw = inner
				break
			}
			if first {
				s.scratch.value = s.scratch.value[:0]
			}
			s.scratch.value = appendUnescaped(s.scratch.value, inner, quote, s.mode)
			if k == EOF {
				v.Raw = s.scratch.value
				break
			}
		}
	}
	if ascii {
		for _, c := range v.Raw {
			if c >= 0x80 {
				return sqltypes.Value{}, false
			}
		}
	}
	return v, true
}

// wideCharset reports whether the introducer names a character set in which bytes of ASCII need not be ASCII text.
func wideCharset(name []byte) bool {
	return equalFold(name, "_ucs2") || equalFold(name, "_utf16") || equalFold(name, "_utf16le") || equalFold(name, "_utf32") || equalFold(name, "_swe7")
}

// digits decodes a hexadecimal or bit literal to bytes.
func (s *Statement) digits(k TokenKind, text []byte) []byte {
	text = text[2:]
	if n := len(text); n > 0 && text[n-1] == '\'' {
		text = text[:n-1]
	}
	per := 2 // digits to a byte
	if k == BitLit {
		per = 8
	}
	out := s.scratch.value[:0]
	var b byte
	for i, c := range text {
		if k == BitLit {
			b = b<<1 | c&1
		} else {
			n := c - '0'
			if !isDigit(c) {
				n = (c | 0x20) - 'a' + 10
			}
			b = b<<4 | n
		}
		if (len(text)-1-i)%per == 0 {
			out = append(out, b)
			b = 0
		}
	}
	s.scratch.value = out
	return out
}

// appendUnescaped appends the content of a string written between quotes.
func appendUnescaped(dst, inner []byte, quote byte, mode Mode) []byte {
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		switch {
		case c == quote:
			i++ // the second of two
		case c == '\\' && mode&NoBackslashEscapes == 0 && i+1 < len(inner):
			i++
			switch c = inner[i]; c {
			case '0':
				c = 0
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'Z':
				c = 26
			case '%', '_':
				dst = append(dst, '\\') // LIKE takes it away
			}
		}
		dst = append(dst, c)
	}
	return dst
}
