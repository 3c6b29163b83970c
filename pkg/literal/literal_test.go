package literal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

func TestValues(t *testing.T) {
	usual := Form{UTF8: true}
	text := sqltypes.Column{Type: sqltypes.TypeVarString, Charset: 45}
	moment := func(t sqltypes.Type) sqltypes.Column { return sqltypes.Column{Type: t, Charset: binary} }
	for _, c := range []struct {
		form  Form
		col   sqltypes.Column
		value string
		want  string
	}{
		{usual, text, "it's \\", `'it''s \\'`},
		{usual, text, "ö", "'ö'"},
		{usual, text, "", "''"},
		{Form{}, text, "ö", "_utf8mb4 x'c3b6'"}, // the client writes something else
		{Form{}, text, "o", "'o'"},
		{Form{UTF8: true, Mode: sqlparse.NoBackslashEscapes}, text, "it's", "'it''s'"},
		{Form{UTF8: true, Mode: sqlparse.NoBackslashEscapes}, text, "\\", "_utf8mb4 x'5c'"},
		{Form{UTF8: true, Mode: sqlparse.EmptyStringIsNull}, text, "", "_utf8mb4 x''"},
		{usual, sqltypes.Column{Type: sqltypes.TypeBlob, Charset: binary}, "a", "_binary x'61'"},
		{usual, sqltypes.Column{Type: sqltypes.TypeLong}, "-3", " -3"},
		{usual, sqltypes.Column{Type: sqltypes.TypeDouble}, "-3", " -3e0"},
		{usual, sqltypes.Column{Type: sqltypes.TypeDouble}, "3e20", "3e20"},
		{usual, sqltypes.Column{Type: sqltypes.TypeJSON}, `{"a": 1}`, "CAST(_utf8mb4 x'7b2261223a20317d' AS JSON)"},
		{usual, moment(sqltypes.TypeDate), "2026-05-04", "DATE'2026-05-04'"},
		{usual, moment(sqltypes.TypeDatetime), "2026-05-04 03:02:01.5", "TIMESTAMP'2026-05-04 03:02:01.5'"},
		{usual, moment(sqltypes.TypeTime), "25:00:00", "TIME'25:00:00'"},
		{usual, moment(sqltypes.TypeTime), "-01:00:00.25", "CAST('-01:00:00.25' AS TIME(2))"},
		{usual, moment(sqltypes.TypeDate), "0000-00-00", "CAST('0000-00-00' AS DATE)"},
		{Form{SQLMode: "NO_ZERO_DATE"}, moment(sqltypes.TypeDate), "2026-05-00", "'2026-05-00'"},
		{Form{SQLMode: "NO_ZERO_DATE"}, moment(sqltypes.TypeTime), "-01:00:00", "CAST('-01:00:00' AS TIME)"},
	} {
		got, err := c.form.Of(c.col, []byte(c.value))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	null, err := usual.Of(text, nil)
	require.NoError(t, err)
	require.Equal(t, Null, null)
	_, err = usual.Of(sqltypes.Column{Type: sqltypes.TypeBit}, []byte{1})
	require.Error(t, err)
	latin1, err := usual.In("latin1", text, []byte{0xf6})
	require.NoError(t, err)
	require.Equal(t, "_latin1 x'f6'", latin1)
}

func TestNullOf(t *testing.T) {
	for want, c := range map[string]sqltypes.Column{
		"CAST(NULL AS CHAR)":     {Type: sqltypes.TypeVarString, Charset: 45},
		"CAST(NULL AS BINARY)":   {Type: sqltypes.TypeBlob, Charset: binary},
		"CAST(NULL AS UNSIGNED)": {Type: sqltypes.TypeLongLong, Charset: binary, Flags: sqltypes.FlagUnsigned},
		"CAST(NULL AS SIGNED)":   {Type: sqltypes.TypeTiny, Charset: binary},
		"CAST(NULL AS DECIMAL)":  {Type: sqltypes.TypeNewDecimal, Charset: binary},
		"CAST(NULL AS DOUBLE)":   {Type: sqltypes.TypeFloat, Charset: binary},
	} {
		require.Equal(t, want, NullOf(&c))
	}
	require.Equal(t, "CAST(NULL AS CHAR)", NullOf(&sqltypes.Column{Type: sqltypes.TypeDate, Charset: binary}))
}

func TestAssigned(t *testing.T) {
	require.Equal(t, "_latin1'a' COLLATE latin1_bin", Assigned("'a'", "latin1_bin"))
	require.Equal(t, "_utf8mb4 x'c3b6' COLLATE utf8mb4_bin", Assigned("_utf8mb4 x'c3b6'", "utf8mb4_bin"))
	require.Equal(t, "_binary x'61'", Assigned("_binary x'61'", "binary"))
	require.Equal(t, "NULLIF(_latin1 x'' COLLATE latin1_bin, x'')", Assigned(Null, "latin1_bin"))
	require.Equal(t, "latin1_bin", CollationOf(Assigned("'a'", "latin1_bin")))
}

// A variable's string is as strong as a column.
func TestVariable(t *testing.T) {
	for _, c := range []struct {
		form                  Form
		text, collation, want string // "": only a user variable is
	}{
		{Form{MariaDB: true}, "'a'", "latin1_bin", "NAME_CONST('x', _latin1'a' COLLATE latin1_bin)"},
		{Form{MariaDB: true}, Null, "latin1_bin", "NULLIF(NAME_CONST('x', _latin1 x'' COLLATE latin1_bin), x'')"},
		{Form{Collation: "utf8mb4_bin"}, "'a'", "utf8mb4_bin", "CAST(_utf8mb4'a' AS CHAR)"},
		{Form{Collation: "utf8mb4_bin"}, "'a'", "latin1_swedish_ci", "CONVERT(_latin1'a' USING latin1)"},
		{Form{Collation: "utf8mb4_bin"}, "_binary x'61'", "binary", "CAST(_binary x'61' AS BINARY)"},
		{Form{Collation: "utf8mb4_bin"}, "'a'", "utf8mb4_general_ci", ""},
	} {
		got, ok := c.form.Variable("x", c.text, c.collation)
		require.Equal(t, c.want != "", ok)
		require.Equal(t, c.want, got)
	}
	sql, value := ByUserVariable("u", "'a'", "utf8mb4_general_ci", []byte("a"))
	require.Equal(t, "@u", sql)
	require.Equal(t, "_utf8mb4 x'61' COLLATE utf8mb4_general_ci", value, "in whatever sql_mode it is said again")
	sql, value = ByUserVariable("u", Null, "utf8mb4_general_ci", nil)
	require.Equal(t, "NULLIF(@u, x'')", sql)
	require.Equal(t, "_utf8mb4 x'' COLLATE utf8mb4_general_ci", value)
}

func TestOperand(t *testing.T) {
	text := Collated("utf8mb4", "utf8mb4_0900_ai_ci", []byte("a"))
	require.Equal(t, "_utf8mb4 x'61' COLLATE utf8mb4_0900_ai_ci", text)
	require.Equal(t, "_utf8mb4 x'61'", Form{Collation: "utf8mb4_0900_ai_ci"}.Operand(text))
	require.Equal(t, "CONVERT(_utf8mb4 x'61' USING utf8mb4)", Form{Collation: "latin1_bin"}.Operand(text))
	require.Equal(t, "NAME_CONST('operand', "+text+")", Form{MariaDB: true}.Operand(text))
	require.Equal(t, "1e0", Form{MariaDB: true}.Operand("1e0"))
}

func TestDeclaredTypes(t *testing.T) {
	for name, want := range map[string]Kind{
		"FLOAT(5,2)": Float, "float": Float, "BIT(3)": Bit, "ENUM('a')": Member, "set('a')": Member, "int(5) ZEROFILL": Digits, "YEAR": Digits,
		"JSON": JSON, "varchar(10)": Plain, "double": Plain,
	} {
		require.Equal(t, want, KindOf(name, false), name)
	}
	require.Equal(t, Plain, KindOf("json", true))
	require.True(t, Float.Converted())
	require.False(t, Member.Converted())
	require.True(t, IsBinary("LONG VARBINARY") && IsBinary("mediumblob") && IsBinary("binary(3)"))
	require.False(t, IsBinary("varchar(3) CHARACTER SET latin1 COLLATE latin1_bin"))
	require.True(t, IsText("VARCHAR(10)") && IsText("longtext"))
	require.False(t, IsText("json"))
}

func TestDeclaredCollation(t *testing.T) {
	for _, c := range []struct {
		typeName, usual string
		want            string
		known           bool
	}{
		{"varchar(10)", "utf8mb4_bin", "utf8mb4_bin", true},
		{"varchar(10)", "", "", false},
		{"varchar(10) charset latin1", "utf8mb4_bin", "", false}, // the server knows its default
		{"varchar(10) COLLATE utf8_bin", "utf8mb4_bin", "utf8mb3_bin", true},
		{"text collate uca1400_ai_ci", "utf8mb4_bin", "", false}, // of which character set?
		{"blob", "utf8mb4_bin", "binary", true},
		{"json", "utf8mb4_bin", "utf8mb4_bin", true},
		{"int", "utf8mb4_bin", "", true},
		{"enum('char')", "utf8mb4_bin", "", false},
	} {
		got, known := DeclaredCollation(c.typeName, c.usual, true)
		require.Equal(t, c.known, known, c.typeName)
		require.Equal(t, c.want, got, c.typeName)
	}
	got, known := DeclaredCollation("JSON", "utf8mb4_bin", false)
	require.True(t, known)
	require.Empty(t, got, "no string on MySQL")
	require.Equal(t, "latin1", ForeignCharset("latin1_bin"))
	require.Empty(t, ForeignCharset("utf8mb3_bin"))
	require.Empty(t, ForeignCharset("binary"))
}
