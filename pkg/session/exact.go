package session

import (
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// A string variable of a program has a collation and is as strong as a column (COERCIBILITY() says 2). What has both, and the value, in a
// statement of its own:
//
//   - NAME_CONST('x', 'value' COLLATE c) on MariaDB, which servers made for this;
//   - on MySQL, where a COLLATE in NAME_CONST is as strong as any, CAST and CONVERT for the collations that these give;
//   - a user variable on MySQL for all others.

var (
	charsetGiven = regexp.MustCompile(`(?i)\b(?:char|charset|character|ascii|unicode|byte|binary|national|nchar|nvarchar)\b`)
	collateGiven = regexp.MustCompile("(?i) collate ['`\"]?(\\w+)['`\"]?$")
	stringType   = regexp.MustCompile(`(?i)^(?:\w*char(?:acter)?|varchar2|\w*text|clob|enum|set|long|national|character)\b`)
)

// maxExact bounds the strings that become user variables of the session, of which each of its connections is told.
const maxExact = 64 << 10

// learnCollations finds the collations of string variables: those of other variables are "".
func (v *variables) learnCollations() error {
	collations := make([]string, len(v.list))
	var list []string
	var at []int
	for i, p := range v.list {
		given := collateGiven.FindStringSubmatch(p.Type)
		switch {
		case binaryType(p.Type):
			collations[i] = "binary"
		case strings.EqualFold(p.Type, "json") && v.s.cfg.Dialect.MariaDB():
			collations[i] = "utf8mb4_bin"
		case !stringType.MatchString(p.Type):
		case given != nil && namesCharset(given[1]):
			collations[i] = routine.Collation(given[1])
		case v.collation != "" && given == nil && !charsetGiven.MatchString(p.Type):
			collations[i] = v.collation
		default:
			list, at = append(list, "COLLATION("+sqltypes.QuoteName(p.Name)+")"), append(at, i)
		}
	}
	if list != nil {
		_, row, err := v.query("SELECT " + strings.Join(list, ", ") + " FROM " + v.table)
		if err != nil {
			return err
		}
		for n, i := range at {
			collations[i] = routine.Collation(string(row[n]))
		}
	}
	v.collations = collations
	return nil
}

// namesCharset reports whether the name of a collation surely begins with that of its character set: not so uca1400_ai_ci, and DEFAULT.
func namesCharset(collation string) bool {
	lower := strings.ToLower(collation)
	return slices.ContainsFunc([]string{"utf8mb4_", "utf8mb3_", "utf8_", "latin1_", "ascii_"}, func(c string) bool { return strings.HasPrefix(lower, c) })
}

// charset is the character set of variable i if that is another than UTF-8, else "".
func (v *variables) charset(i int) string {
	switch name := sqltypes.CharsetOf(v.collations[i]); {
	case strings.HasPrefix(name, "utf8"), name == "ascii", name == "binary":
		return ""
	default:
		return name
	}
}

// collated is a string of variable i, which typed has written, as a literal of its character set with its collation. That is an assignment's,
// for elsewhere COLLATE is stronger than a variable.
func (v *variables) collated(i int, text string) string {
	null := text == "NULL"
	if null {
		text = "_utf8mb4 x''"
	}
	if text = v.introduced(i, text); v.collations[i] != "binary" {
		text += " COLLATE " + v.collations[i]
	}
	if null {
		return "NULLIF(" + text + ", x'')" // '' may be NULL itself
	}
	return text
}

// introduced is a literal with the character set of variable i before it.
func (v *variables) introduced(i int, text string) string {
	charset := "_" + sqltypes.CharsetOf(v.collations[i])
	if strings.HasPrefix(text, "'") {
		return charset + text
	}
	if rest, ok := strings.CutPrefix(text, "_utf8mb4 "); ok {
		return charset + " " + rest
	}
	return text
}

// exact is collated with the strength of a variable. utf8 is the string in utf8mb4.
func (v *variables) exact(i int, text string, utf8 []byte) string {
	collation := v.collations[i]
	null := text == "NULL"
	if null {
		text = "_utf8mb4 x''"
	}
	switch {
	case v.s.cfg.Dialect.MariaDB():
		text = "NAME_CONST(" + sqltypes.Quoted(v.list[i].Name, v.s.Mode&sqlparse.NoBackslashEscapes != 0) + ", " + v.collated(i, text) + ")"
	case collation == "binary":
		text = "CAST(" + v.introduced(i, text) + " AS BINARY)"
	case collation == v.s.connectionCollation():
		text = "CAST(" + v.introduced(i, text) + " AS CHAR)"
	case collation == "utf8mb4_0900_ai_ci", collation == "latin1_swedish_ci": // of their character sets what CONVERT gives
		text = "CONVERT(" + v.introduced(i, text) + " USING " + sqltypes.CharsetOf(collation) + ")"
	default:
		name := fmt.Sprintf("__skarv_%d_%d", len(v.s.calls.stack), i)
		if strings.HasPrefix(text, "'") {
			text = "_utf8mb4 x'" + hex.EncodeToString(utf8) + "'" // the same in each sql_mode, for it may be said again later
		}
		v.told[name] = v.collated(i, text)
		text = "@" + name
	}
	if null {
		return "NULLIF(" + text + ", x'')" // '' may be NULL itself
	}
	return text
}

// operandText is what originalText has made of an expression, as strong as one: a string of another collation than the connection's literals
// have is compared by its own. On MySQL that of most collations is stronger, so that it wins over all others.
func (s *Session) operandText(text string) string {
	literal, collation, ok := strings.Cut(text, " COLLATE ")
	switch {
	case !ok:
		return text
	case collation == s.connectionCollation():
		return literal
	case s.cfg.Dialect.MariaDB():
		return "NAME_CONST('operand', " + text + ")"
	case collation == "utf8mb4_0900_ai_ci", collation == "latin1_swedish_ci":
		return "CONVERT(" + literal + " USING " + sqltypes.CharsetOf(collation) + ")"
	}
	return text
}

// tell makes the user variables that exact has used the session's.
func (v *variables) tell() error {
	for _, name := range slices.Sorted(maps.Keys(v.told)) {
		value := v.told[name]
		delete(v.told, name)
		if len(value) > maxExact {
			return sqlerr.Unsupported("a string variable of more than 32 KB whose collation is "+collateGiven.FindStringSubmatch(value)[1]+", in an expression over tables",
				"declare it with the collation of the connection")
		}
		if now, _ := v.s.state.Get("@" + sqltypes.QuoteName(name)); now == value {
			continue
		}
		if err := v.s.setUserVariables([]string{name}, []string{value}); err != nil {
			return err
		}
		if c := v.s.calls; !slices.Contains(c.told, name) {
			c.told = append(c.told, name)
		}
	}
	return nil
}

// forget empties the user variables that strings of programs were in.
func (c *calls) forget(s *Session) {
	if len(c.told) > 0 {
		_ = s.setUserVariables(c.told, slices.Repeat([]string{"NULL"}, len(c.told))) // nothing is refused of these
	}
}

// columnOf looks for columns of the tables of a statement, for routine.Names.
func (s *Session) columnOf(st *sqlparse.Statement) func(name string) (collation string, ok bool) {
	refs, sure := st.Tables()
	sure = sure && !namesOwnColumns(st)
	var tables []*catalog.Table
	for _, r := range refs {
		t, _ := s.tableOf(r)
		if sure = sure && t != nil; sure && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	if !sure {
		return nil
	}
	return func(name string) (collation string, ok bool) {
		for _, t := range tables {
			c := t.Column(name)
			if c < 0 {
				continue
			}
			of, known := comparedBy(&t.Columns[c])
			if !known || ok && of != collation {
				return "", false
			}
			collation, ok = of, true
		}
		return collation, ok
	}
}

// namesOwnColumns reports whether a query may give columns of its tables names that are not those tables': JSON_TABLE(...), (SELECT ...) AS d(a, b).
func namesOwnColumns(st *sqlparse.Statement) bool {
	tokens := st.Tokens()
	closed, named := false, false // a parenthesis stands before, and then a name
	for t := tokens.Next(); t.Kind != sqlparse.EOF; t = tokens.Next() {
		switch {
		case st.Is(t, "JSON_TABLE"), named && st.Is(t, "("):
			return true
		case closed && st.Is(t, "AS"):
			continue
		}
		named = closed && (t.Kind == sqlparse.QuotedName ||
			t.Kind == sqlparse.Word && !st.Dialect().Reserved(st.Text(t.Span)) && !st.Is(t, "AGAINST") && !st.Is(t, "OVER"))
		closed = st.Is(t, ")")
	}
	return false
}

// comparedBy is the collation by which the values of a column are compared with strings, "" if they are so as numbers or times.
func comparedBy(c *catalog.Column) (collation string, known bool) {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year", "date", "time", "datetime", "timestamp":
		return "", true
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return "binary", true
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return routine.Collation(c.Collation), c.Collation != ""
	}
	return "", false
}

// hexOf is a string as a literal of a character set, with a collation.
func hexOf(charset, collation string, v []byte) string {
	return "_" + charset + " x'" + hex.EncodeToString(v) + "' COLLATE " + collation
}
