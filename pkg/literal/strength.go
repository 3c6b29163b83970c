package literal

import (
	"encoding/hex"
	"strings"

	"skarv/pkg/sqltypes"
)

// A string variable of a program has a collation and is as strong as a column (COERCIBILITY() says 2). What has both, and the value, in a
// statement of its own:
//
//   - NAME_CONST('x', 'value' COLLATE c) on MariaDB, which servers made for this;
//   - on MySQL, where a COLLATE in NAME_CONST is as strong as any, CAST and CONVERT for the collations that these give;
//   - a user variable on MySQL for all others.

// converts reports whether CONVERT(... USING charset) gives the collation.
func converts(collation string) bool {
	return collation == "utf8mb4_0900_ai_ci" || collation == "latin1_swedish_ci" // those of their character sets
}

// Assigned is a string, which Form.In has written, as a literal with a collation, of whose character set it is then. That is an assignment's, for elsewhere
// COLLATE is stronger than a variable.
func Assigned(text, collation string) string {
	return orNull(text, func(text string) string {
		if text = introduced(text, collation); collation != "binary" {
			text += " COLLATE " + collation
		}
		return text
	})
}

// orNull is what write makes of a string, or such a NULL.
func orNull(text string, write func(string) string) string {
	if text != Null {
		return write(text)
	}
	return "NULLIF(" + write("_utf8mb4 x''") + ", x'')" // '' may be NULL itself
}

// introduced is a literal with the character set of a collation before it.
func introduced(text, collation string) string {
	charset := "_" + sqltypes.CharsetOf(collation)
	if strings.HasPrefix(text, "'") {
		return charset + text
	}
	if rest, ok := strings.CutPrefix(text, "_utf8mb4 "); ok {
		return charset + " " + rest
	}
	return text
}

// Variable is Assigned with the strength of the variable called name; ok is false where none but a user variable has it, which ByUserVariable is for.
func (f Form) Variable(name, text, collation string) (sql string, ok bool) {
	var write func(string) string
	switch {
	case f.MariaDB:
		named := "NAME_CONST(" + sqltypes.Quoted(name, f.noEscapes()) + ", "
		write = func(text string) string { return named + Assigned(text, collation) + ")" }
	case collation == "binary":
		write = func(text string) string { return "CAST(" + introduced(text, collation) + " AS BINARY)" }
	case collation == f.Collation:
		write = func(text string) string { return "CAST(" + introduced(text, collation) + " AS CHAR)" }
	case converts(collation):
		write = func(text string) string {
			return "CONVERT(" + introduced(text, collation) + " USING " + sqltypes.CharsetOf(collation) + ")"
		}
	default:
		return "", false
	}
	return orNull(text, write), true
}

// ByUserVariable is Variable by way of a user variable, which is assigned value. utf8 is the string in utf8mb4.
func ByUserVariable(user, text, collation string, utf8 []byte) (sql, value string) {
	sql = orNull(text, func(text string) string {
		if strings.HasPrefix(text, "'") {
			text = "_utf8mb4 x'" + hex.EncodeToString(utf8) + "'" // the same in each sql_mode, for it may be said again later
		}
		value = Assigned(text, collation)
		return "@" + user
	})
	return sql, value
}

// Operand is a string from Collated, as strong as an expression is: of another collation than the session's literals have it is compared by its own. On
// MySQL that of most collations is stronger, so that it wins over all others. Other literals it is as they are.
func (f Form) Operand(text string) string {
	literal, collation, ok := strings.Cut(text, " COLLATE ")
	switch {
	case !ok:
		return text
	case collation == f.Collation:
		return literal
	case f.MariaDB:
		return "NAME_CONST('operand', " + text + ")"
	case converts(collation):
		return "CONVERT(" + literal + " USING " + sqltypes.CharsetOf(collation) + ")"
	}
	return text
}

// CollationOf is the collation of a literal that Assigned or Collated has written; "" if it has none.
func CollationOf(text string) string {
	_, collation, _ := strings.Cut(text, " COLLATE ")
	return collation
}
