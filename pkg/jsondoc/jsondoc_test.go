package jsondoc_test

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/jsondoc"
)

// shown is an expression with its literals as text.
func shown(t *testing.T, sql []byte) string {
	return regexp.MustCompile(`_utf8mb4 x'([0-9a-f]*)'`).ReplaceAllStringFunc(string(sql), func(s string) string {
		b, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(s, "_utf8mb4 x'"), "'"))
		require.NoError(t, err)
		return "'" + string(b) + "'"
	})
}

func TestAppend(t *testing.T) {
	for doc, want := range map[string]string{
		// Members are counted in all objects, elements in all arrays, what is in a container behind the container's own.
		`#[[2, null, "DECIMAL", "1.50"], [3, null, "UNSIGNED INTEGER", "7"], [null, 2, "DATE", "2024-01-02"], [null, 3, "TIME", "-01:02:03.000000"]]` + "\n" +
			`{"a": {"x y": 7, "l": [[], "2024-01-02"]}, "b\"": 1.50, "c": ["-01:02:03.000000"]}`: `JSON_EXTRACT('a document whose types are those of other values', _utf8mb4'$')`,
		`#[[2, null, "DECIMAL", "1.50"], [4, null, "UNSIGNED INTEGER", "7"], [null, 2, "DATE", "2024-01-02"], [null, 3, "TIME", "-01:02:03.000000"]]` + "\n" +
			`{"a": {"x y": 7, "l": [[], "2024-01-02"]}, "b\"": 1.50, "c": ["-01:02:03.000000"]}`: `JSON_REPLACE(CAST('{"a": {"x y": 7, "l": [[], "2024-01-02"]}, "b\"": 1.50, "c": ["-01:02:03.000000"]}' AS JSON), ` +
			`'$."b\""', CAST(1.50 AS DECIMAL(3, 2)), '$."a"."x y"', CAST(7 AS UNSIGNED), '$."a"."l"[1]', DATE'2024-01-02', '$."c"[0]', TIME'-01:02:03.000000')`,
		"#[[null, null, \"DECIMAL\", \"5\"]]\n5": `JSON_REPLACE(CAST('5' AS JSON), '$', CAST(5 AS DECIMAL(1, 0)))`,
		"#[[null, null, \"DECIMAL\", \"0.0000000000000000000000000000000012\"]]\n0.0000000000000000000000000000000012": `JSON_REPLACE(CAST('0.0000000000000000000000000000000012' AS JSON), '$', 0.0000000000000000000000000000000012)`,
		"#[[null, null, \"DECIMAL\", \"-0.05\"]]\n-0.05":                                                               `JSON_REPLACE(CAST('-0.05' AS JSON), '$', CAST(-0.05 AS DECIMAL(2, 2)))`,
		"#[[null, 1, \"BLOB\", \"base64:type15:/w==\"]]\n[\"base64:type15:/w==\"]":                                     `JSON_REPLACE(CAST('["base64:type15:/w=="]' AS JSON), '$[0]', x'ff')`,
		"#[[null, 1, \"BIT\", \"base64:type16:AQE=\"], [null, 2, \"DATE\", \"0000-00-00\"]]\n[\"base64:type16:AQE=\", \"0000-00-00\"]": `(SELECT JSON_REPLACE(CAST('["base64:type16:AQE=", "0000-00-00"]' AS JSON), ` +
			`'$[0]', skarv_json0.c0, '$[1]', skarv_json0.c1) FROM JSON_TABLE(JSON_ARRAY(257, '0000-00-00'), _utf8mb4'$' COLUMNS (` +
			`c0 BIT(16) PATH _utf8mb4'$[0]' ERROR ON EMPTY ERROR ON ERROR, c1 DATE PATH _utf8mb4'$[1]' ERROR ON EMPTY ERROR ON ERROR)) AS skarv_json0)`,
		// What a server refuses, for it is not JSON.
		"#": `JSON_EXTRACT('a document too large to be copied with its types', _utf8mb4'$')`,
		"#[[null, 1, \"OPAQUE\", \"x\"]]\n[\"x\"]":          `JSON_EXTRACT('a document with a value of type OPAQUE', _utf8mb4'$')`,
		"#[[null, 1, \"DECIMAL\", \"1.50\"]]\n[2.5]":        `JSON_EXTRACT('a document whose types are those of other values', _utf8mb4'$')`,
		"#[[null, 2, \"DECIMAL\", \"1.50\"]]\n[1.50]":       `JSON_EXTRACT('a document whose types are those of other values', _utf8mb4'$')`,
		"#[[null, 1, \"DECIMAL\", \"1.50\"]]\n[1.50, \xed]": `JSON_EXTRACT('a document with types of MySQL's own, and with text that is not UTF-8', _utf8mb4'$')`,
	} {
		require.False(t, jsondoc.Plain([]byte(doc)))
		require.Equal(t, want, shown(t, jsondoc.Append(nil, []byte(doc))), doc)
	}
	require.True(t, jsondoc.Plain([]byte(`{"a": "#"}`)))
}

func TestNotes(t *testing.T) {
	var n jsondoc.Notes
	require.Equal(t, "x[1]", string(n.Insert([]byte("x[1]"), 1)))
	n.Add(0, 1, "DECIMAL", []byte("1.50"))
	n.Add(0, 2, "DATE", []byte(`"2024-01-02"`))
	require.Equal(t, "x#[[null, 1, \"DECIMAL\", \"1.50\"], [null, 2, \"DATE\", \"2024-01-02\"]]\n[1.50, \"2024-01-02\"]",
		string(n.Insert([]byte(`x[1.50, "2024-01-02"]`), 1)))
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("[[null, 1, \"DECIMAL\", \"1.50\"]]\n[1.50, {\"a\": []}]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		jsondoc.Append(nil, append([]byte("#"), doc...))
	})
}

func TestTold(t *testing.T) {
	for _, text := range []string{`null`, `{"a": 1.5, "b.0": [0.1, -2, 18446744073709551615, 1e20, 1.0, 100.0, 0.0, -0.0, 1.234567e-5]}`, `"1.50"`, `"a\"1.50, \\"`, `["2020-01-01", "10:00"]`} {
		require.True(t, jsondoc.Told([]byte(text)), text)
	}
	for _, text := range []string{`1.50`, `[1, 2.00]`, `{"a": 18446744073709551616}`, `0.12345678901234567890`, `1234567890123456789.5`, `["2020-01-01 10:00:00.000000"]`,
		`"-10:00:00.000000"`, `"base64:type15:/w=="`} {
		require.False(t, jsondoc.Told([]byte(text)), text)
	}
}
