package sqltypes

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/realserver"
)

func TestLiteralsMeanTheirValueOnServer(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	values := []Value{{}, {String, nil}, {String, []byte("o'brien \\ \" \n\r\x00\x1a %_ 中 😀")}, {String, []byte("\xff\xfe")}, {Binary, all}, {Binary, nil},
		{Int, []byte("-5")}, {Decimal, []byte("1.50")}, {Float, []byte("1.5e0")}, {Bool, []byte("1")}, {Datetime, []byte("2024-01-02 03:04:05.5")},
		{String, []byte("it''s \\'")}, {String, []byte("\\")}}
	want := []string{"NULL", "", "o'brien \\ \" \n\r\x00\x1a %_ 中 😀", "\xff\xfe", string(all), "", "-5", "1.50", "1.5", "1", "2024-01-02 03:04:05.5", "it''s \\'", "\\"}
	for _, s := range realserver.Start(t) {
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES"} {
			s.Exec(t, "SET NAMES utf8mb4", "SET sql_mode='"+mode+"'")
			q := []byte("SELECT 1")
			for _, v := range values {
				q = AppendLiteral(append(q, ", "...), v, mode != "", false)
			}
			require.Equal(t, append([]string{"1"}, want...), s.Rows(t, string(q))[0], mode)
		}
	}
}

func TestLiteralReadsAlikeInEveryMode(t *testing.T) {
	want := []string{"", "plain text", "o'brien", `back\`, `\'`, "line\nline", "\x00", "Malmö", `"quoted"`, "%_"}
	for _, s := range realserver.Start(t) {
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES", "ANSI"} {
			for _, charset := range []string{"utf8mb4", "latin1", "gbk"} {
				q := "SELECT ''"
				for _, v := range want {
					q += ", CONVERT(" + Literal(v) + " USING utf8mb4)"
				}
				s.Exec(t, "SET NAMES "+charset, "SET character_set_results = utf8mb4", "SET sql_mode='"+mode+"'")
				require.Equal(t, append([]string{""}, want...), s.Rows(t, q)[0], mode)
			}
		}
	}
}

func TestLiteralsDoNotMakeComments(t *testing.T) {
	require.Equal(t, "1- -5", string(AppendLiteral([]byte("1-"), Value{Int, []byte("-5")}, false, false)))
	require.Equal(t, "_binary x'00ff'", string(AppendHex(nil, []byte{0, 255})))
}

func TestAppendQuotedDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 100)
	raw := []byte("o'brien")
	require.Zero(t, testing.AllocsPerRun(100, func() { dst = AppendQuoted(dst[:0], raw, false) }))
}

func TestTypeOf(t *testing.T) {
	for name, want := range map[string]Type{"BIGINT": TypeLongLong, "varchar": TypeVarString, "enum": TypeString, "longtext": TypeBlob, "decimal": TypeNewDecimal,
		"point": TypeGeometry, "timestamp": TypeTimestamp} {
		got, ok := TypeOf(name)
		require.True(t, ok)
		require.Equal(t, want, got, name)
	}
	_, ok := TypeOf("strange")
	require.False(t, ok)
	require.True(t, TypeNewDecimal.IsNumber() && TypeTime.IsTemporal())
	require.False(t, TypeBit.IsNumber() || TypeYear.IsTemporal())
}

func TestQuoteName(t *testing.T) {
	require.Equal(t, "`a`", QuoteName("a"))
	require.Equal(t, "```a``b c`", QuoteName("`a`b c"))
}

func TestClipped(t *testing.T) {
	nines := strings.Repeat("9", 65)
	for text, clipped := range map[string]bool{
		nines: true, "-" + nines: true, nines[:35] + "." + nines[35:]: true, "1" + strings.Repeat("0", 65): true, "12" + nines: true,
		nines[:64]: false, "0." + nines[:64]: false, "8" + nines[1:]: false, "00" + nines[:64]: false, "": false, "1": false,
	} {
		require.Equal(t, clipped, Clipped([]byte(text)), text)
	}
}
