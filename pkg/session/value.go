package session

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/jsondoc"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
)

// valueText is a value of a result in utf8mb4 as SQL of its type.
func (s *Session) valueText(col sqltypes.Column, v []byte) (string, error) {
	return s.typed(col, v, "")
}

// typed is a value of a result as SQL of its type. A string is in a character set; "" is utf8mb4.
func (s *Session) typed(col sqltypes.Column, v []byte, charset string) (string, error) {
	text := string(v)
	quoted := func() string {
		return string(sqltypes.AppendQuoted(nil, v, s.Mode&sqlparse.NoBackslashEscapes != 0))
	}
	inHex := func() string { return " x'" + hex.EncodeToString(v) + "'" }
	switch {
	case v == nil:
		return "NULL", nil
	case col.Type == sqltypes.TypeDouble || col.Type == sqltypes.TypeFloat:
		if !strings.ContainsAny(text, "eE") {
			text += "e0"
		}
	case col.Type.IsNumber():
	case col.Type == sqltypes.TypeGeometry, col.Type == sqltypes.TypeBit:
		return "", sqlerr.Unsupported("values of type GEOMETRY and BIT in variables of procedures", "convert them: ST_AsText(), or + 0")
	case col.Type.IsTemporal():
		return s.momentText(col.Type, text), nil
	case col.Type == sqltypes.TypeJSON:
		if !jsondoc.Told(v) {
			return "", sqlerr.Unsupported("a JSON document with a DECIMAL, a moment or bytes in it as the value of a program's variable, or of a row for triggers",
				"select what the program needs of it by JSON_VALUE(), or CAST it AS CHAR for its text")
		}
		return "CAST(_utf8mb4" + inHex() + " AS JSON)", nil
	case col.Charset == 63:
		return "_binary" + inHex(), nil // x'..' alone is a number on MySQL, where one is expected
	case charset != "":
		return "_" + charset + inHex(), nil
	case !s.AllUTF8 && !ascii(v), s.Mode&sqlparse.NoBackslashEscapes != 0 && bytes.IndexByte(v, '\\') >= 0, len(v) == 0 && s.Mode&sqlparse.EmptyStringIsNull != 0:
		return "_utf8mb4" + inHex(), nil // the same in each sql_mode
	default:
		return quoted(), nil
	}
	if strings.HasPrefix(text, "-") {
		text = " " + text // behind another minus
	}
	return text, nil
}

func ascii(v []byte) bool {
	for _, c := range v {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// momentText is a date or a time as SQL. Servers read no literals of some that they may hold, and make NULL of zero dates where sql_mode
// forbids these; as a string it is an error then, as it should be.
func (s *Session) momentText(t sqltypes.Type, text string) string {
	literal, cast, zero := "TIMESTAMP", "DATETIME", strings.HasPrefix(text, "0000") || strings.Contains(text, "-00")
	switch t {
	case sqltypes.TypeDate:
		literal, cast = "DATE", "DATE"
	case sqltypes.TypeTime:
		literal, cast, zero = "TIME", "TIME", strings.HasPrefix(text, "-")
	}
	if !zero {
		return literal + "'" + text + "'"
	}
	if t != sqltypes.TypeTime && strings.Contains(s.SQLMode, "NO_ZERO_") || strings.Contains(s.SQLMode, "TRADITIONAL") {
		return "'" + text + "'"
	}
	if _, fraction, ok := strings.Cut(text, "."); ok {
		cast += "(" + string('0'+byte(len(fraction))) + ")"
	}
	return "CAST('" + text + "' AS " + cast + ")"
}

// original runs do such that results have the character sets of what is selected.
func (s *Session) original(do func() error) error {
	back, err := s.inCharset(backend.Variable{Name: "@@session.`character_set_results`", Value: "NULL"})
	if err != nil {
		return err
	}
	defer back()
	return do()
}

// selects is within, for a SELECT whose strings are in their own character sets, if bytes says so.
func (s *Session) selects(text []byte, take *capture, bytes bool) error {
	if !bytes {
		return s.within(text, take)
	}
	return s.original(func() error { return s.within(text, take) })
}

// originalText is valueText of a result of original.
func (s *Session) originalText(col sqltypes.Column, v []byte) (string, error) {
	if v == nil || col.Type.IsNumber() || col.Type.IsTemporal() || col.Charset == 63 {
		return s.typed(col, v, "")
	}
	charset, collation, err := s.collationName(col.Charset)
	if err != nil {
		return "", err
	}
	return hexOf(charset, collation, v), nil
}

// collationName is the name of a collation, and its character set.
func (s *Session) collationName(collation uint16) (charset, name string, err error) {
	vars, known := variable.OfCollation(s.cfg.Dialect.MariaDB(), collation)
	if !known {
		if vars, err = s.askCharset(variable.CollationNumbered(collation)); err != nil {
			return "", "", err
		}
		if vars == nil {
			return "", "", sqlerr.Internal.New("a result has a collation of which servers do not know")
		}
	}
	if vars == nil {
		return "utf8mb4", variable.OwnCollation(s.cfg.Dialect.MariaDB()), nil
	}
	return strings.Trim(vars[0].Value, "'"), strings.Trim(vars[2].Value, "'"), nil
}

// unsignedInteger reports whether computing with values of a column may have no negative result.
func unsignedInteger(col sqltypes.Column) bool {
	switch col.Type {
	case sqltypes.TypeTiny, sqltypes.TypeShort, sqltypes.TypeInt24, sqltypes.TypeLong, sqltypes.TypeLongLong, sqltypes.TypeYear:
		return col.Flags&sqltypes.FlagUnsigned != 0
	}
	return false
}

// A kind is what the type of a variable means for its value in a text.
type kind uint8

const (
	plainKind  kind = iota
	floatKind       // has more digits than it shows
	bitKind         // is a number
	memberKind      // ENUM and SET: a string, and its number in arithmetic
	digitsKind      // ZEROFILL and YEAR: a number, and its digits as a string
	jsonKind        // MySQL's JSON, whose text does not tell the types of all that is in it
)

func kindOf(typeName string) kind {
	t := strings.ToLower(typeName)
	switch {
	case strings.HasPrefix(t, "float"):
		return floatKind
	case strings.HasPrefix(t, "bit"):
		return bitKind
	case strings.HasPrefix(t, "enum"), strings.HasPrefix(t, "set"):
		return memberKind
	case strings.Contains(t, "zerofill"), strings.HasPrefix(t, "year"):
		return digitsKind
	case t == "json":
		return jsonKind
	}
	return plainKind
}

// kindOf is the kind of a variable: JSON is a string on MariaDB.
func (v *variables) kindOf(p routine.Param) kind {
	k := kindOf(p.Type)
	if k == jsonKind && v.s.cfg.Dialect.MariaDB() {
		return plainKind
	}
	return k
}

// read reads the values.
func (v *variables) read() error {
	if len(v.list) == 0 {
		return nil
	}
	if v.collations == nil {
		if err := v.learnCollations(); err != nil {
			return err
		}
	}
	var sql, more strings.Builder
	numbers, inBytes := map[int]int{}, map[int]int{} // further columns, by the variable
	also := func(of map[int]int, i int, column string) {
		of[i] = len(v.list) + len(numbers) + len(inBytes)
		more.WriteString(", " + column)
	}
	for i, p := range v.list {
		sep, name := ", ", sqltypes.QuoteName(p.Name)
		if i == 0 {
			sep = "SELECT "
		}
		sql.WriteString(sep + name)
		k := v.kindOf(p)
		switch k {
		case floatKind:
			sql.WriteString(" + 0e0") // with all its digits
		case bitKind:
			sql.WriteString(" + 0")
		case memberKind:
			also(numbers, i, name+" + 0")
		case jsonKind:
			also(inBytes, i, jsondoc.Select(name))
		}
		if (k == plainKind || k == memberKind) && v.charset(i) != "" {
			also(inBytes, i, "CAST("+name+" AS BINARY)")
		}
	}
	cols, row, err := v.query(sql.String() + more.String() + " FROM " + v.table)
	if err != nil {
		return err
	}
	values := make([]routine.Value, len(v.list))
	for i, p := range v.list {
		var number, text []byte
		if at, ok := numbers[i]; ok {
			number = row[at]
		}
		if at, ok := inBytes[i]; ok {
			text = row[at]
		}
		if values[i], err = v.value(p, i, cols[i], row[i], number, text); err != nil {
			return err
		}
	}
	v.values, v.columns, v.readFor = values, cols[:len(v.list)], v.s.literals()
	return nil
}

// value is that of variable i, read in utf8mb4; number is that of an ENUM or SET, and inCharset what its own character set makes of a
// string, if that is another than UTF-8, and what pkg/jsondoc makes of MySQL's JSON.
func (v *variables) value(p routine.Param, i int, col sqltypes.Column, utf8, number, inCharset []byte) (value routine.Value, err error) {
	k := v.kindOf(p)
	if k == jsonKind && utf8 != nil && inCharset != nil && !jsondoc.Plain(inCharset) {
		value.Text = string(jsondoc.Append(nil, inCharset))
	} else if value.Text, err = v.s.valueText(col, utf8); err != nil {
		return value, err
	}
	text := value.Text
	value.Unsigned = utf8 != nil && unsignedInteger(col)
	switch {
	case utf8 == nil, k == jsonKind:
	case k == floatKind:
		return routine.Value{Text: "CAST(" + text + " AS FLOAT)", Number: text, IsNumber: true}, nil
	case k == digitsKind && len(text) > 1 && text[0] == '0':
		return routine.Value{Text: "'" + text + "'", Number: text, IsNumber: true, Unsigned: value.Unsigned}, nil
	case inCharset != nil:
		value.Text, err = v.s.typed(col, inCharset, v.charset(i))
	}
	if k == memberKind {
		value.Number = string(number)
	}
	if value.Collation = v.collations[i]; value.Collation != "" {
		value.Exact = func() string { return v.exact(i, value.Text, utf8) }
	}
	return value, err
}

// binaryType reports whether variables of a type hold bytes.
func binaryType(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "binary") || strings.HasPrefix(name, "varbinary") || strings.Contains(name, "blob") ||
		strings.HasPrefix(name, "long varbinary")
}
