package session

import (
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/jsondoc"
	"skarv/pkg/literal"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
)

// literals is what the meaning of literals in the session's statements depends on.
func (s *Session) literals() literal.Form {
	return literal.Form{MariaDB: s.cfg.Dialect.MariaDB(), SQLMode: s.SQLMode, Mode: s.Mode, UTF8: s.AllUTF8, Collation: s.Info.Collation}
}

// valueText is a value of a result in utf8mb4 as SQL of its type.
func (s *Session) valueText(col sqltypes.Column, v []byte) (string, error) {
	return s.literals().Of(col, v)
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
		return s.valueText(col, v)
	}
	charset, collation, err := s.collationName(col.Charset)
	if err != nil {
		return "", err
	}
	return literal.Collated(charset, collation, v), nil
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
		k := literal.KindOf(p.Type, v.s.cfg.Dialect.MariaDB())
		switch k {
		case literal.Float:
			sql.WriteString(" + 0e0") // with all its digits
		case literal.Bit:
			sql.WriteString(" + 0")
		case literal.Member:
			also(numbers, i, name+" + 0")
		case literal.JSON:
			also(inBytes, i, jsondoc.Select(name))
		}
		if (k == literal.Plain || k == literal.Member) && literal.ForeignCharset(v.collations[i]) != "" {
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
	k := literal.KindOf(p.Type, v.s.cfg.Dialect.MariaDB())
	if k == literal.JSON && utf8 != nil && inCharset != nil && !jsondoc.Plain(inCharset) {
		value.Text = string(jsondoc.Append(nil, inCharset))
	} else if value.Text, err = v.s.valueText(col, utf8); err != nil {
		return value, err
	}
	text := value.Text
	value.Unsigned = utf8 != nil && literal.UnsignedInteger(col)
	switch {
	case utf8 == nil, k == literal.JSON:
	case k == literal.Float:
		return routine.Value{Text: "CAST(" + text + " AS FLOAT)", Number: text, IsNumber: true}, nil
	case k == literal.Digits && len(text) > 1 && text[0] == '0':
		return routine.Value{Text: "'" + text + "'", Number: text, IsNumber: true, Unsigned: value.Unsigned}, nil
	case inCharset != nil:
		value.Text, err = v.s.literals().In(literal.ForeignCharset(v.collations[i]), col, inCharset)
	}
	if k == literal.Member {
		value.Number = string(number)
	}
	if value.Collation = v.collations[i]; value.Collation != "" {
		value.Exact = func() string { return v.exact(i, value.Text, utf8) }
	}
	return value, err
}
