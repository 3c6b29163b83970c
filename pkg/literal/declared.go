package literal

import (
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/routine"
	"skarv/pkg/sqltypes"
)

// Kind is what the declared type of a variable means for its value in a text.
type Kind uint8

const (
	Plain  Kind = iota
	Float       // has more digits than it shows
	Bit         // is a number
	Member      // ENUM and SET: a string, and its number in arithmetic
	Digits      // ZEROFILL and YEAR: a number, and its digits as a string
	JSON        // MySQL's JSON, whose text does not tell the types of all that is in it; on MariaDB it is a string
)

// KindOf is the kind of a type.
func KindOf(typeName string, mariadb bool) Kind {
	t := strings.ToLower(typeName)
	switch {
	case strings.HasPrefix(t, "float"):
		return Float
	case strings.HasPrefix(t, "bit"):
		return Bit
	case strings.HasPrefix(t, "enum"), strings.HasPrefix(t, "set"):
		return Member
	case strings.Contains(t, "zerofill"), strings.HasPrefix(t, "year"):
		return Digits
	case t == "json" && !mariadb:
		return JSON
	}
	return Plain
}

// Converted reports whether the value of a variable of the kind is filled in as one of another type.
func (k Kind) Converted() bool { return k == Float || k == Bit || k == Digits }

// IsBinary reports whether variables of a type hold bytes.
func IsBinary(typeName string) bool {
	t := strings.ToLower(typeName)
	return strings.HasPrefix(t, "binary") || strings.HasPrefix(t, "varbinary") || strings.Contains(t, "blob") || strings.HasPrefix(t, "long varbinary")
}

// IsText reports whether variables of a type take the text of a JSON document.
func IsText(typeName string) bool {
	t := strings.ToLower(typeName)
	return strings.Contains(t, "char") || strings.Contains(t, "text")
}

var (
	charsetGiven = regexp.MustCompile(`(?i)\b(?:char|charset|character|ascii|unicode|byte|binary|national|nchar|nvarchar)\b`)
	collateGiven = regexp.MustCompile("(?i) collate ['`\"]?(\\w+)['`\"]?$")
	stringType   = regexp.MustCompile(`(?i)^(?:\w*char(?:acter)?|varchar2|\w*text|clob|enum|set|long|national|character)\b`)
)

// DeclaredCollation is the collation of variables of a type in a program whose own is usual ("": it is not known); "" of those that are no strings.
// known is false if only a server knows.
func DeclaredCollation(typeName, usual string, mariadb bool) (collation string, known bool) {
	given := collateGiven.FindStringSubmatch(typeName)
	switch {
	case IsBinary(typeName):
		return "binary", true
	case strings.EqualFold(typeName, "json") && mariadb:
		return "utf8mb4_bin", true
	case !stringType.MatchString(typeName):
		return "", true
	case given != nil && namesCharset(given[1]):
		return routine.Collation(given[1]), true
	case usual != "" && given == nil && !charsetGiven.MatchString(typeName):
		return usual, true
	}
	return "", false
}

// namesCharset reports whether the name of a collation surely begins with that of its character set: not so uca1400_ai_ci, and DEFAULT.
func namesCharset(collation string) bool {
	lower := strings.ToLower(collation)
	return slices.ContainsFunc([]string{"utf8mb4_", "utf8mb3_", "utf8_", "latin1_", "ascii_"}, func(c string) bool { return strings.HasPrefix(lower, c) })
}

// ForeignCharset is the character set of a collation if strings of it are other bytes than in UTF-8, else "".
func ForeignCharset(collation string) string {
	switch name := sqltypes.CharsetOf(collation); {
	case strings.HasPrefix(name, "utf8"), name == "ascii", name == "binary":
		return ""
	default:
		return name
	}
}
