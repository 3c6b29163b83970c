package sqlparse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlparse"
)

// TestKeyExpression reads expressions as MySQL shows those of keys. "" is one that is not the same in every session.
func TestKeyExpression(t *testing.T) {
	kinds := map[string]sqlparse.KeyKind{"n": sqlparse.KeyNumber, "u": sqlparse.KeyUnsigned, "s": sqlparse.KeyText, "d": sqlparse.KeyDate,
		"ts": sqlparse.KeyOpaque, "doc": sqlparse.KeyDocument, "b": sqlparse.KeyBytes, "bit": sqlparse.KeyBits, "q`q": sqlparse.KeyText}
	p, err := sqlparse.NewParser()
	require.NoError(t, err)
	for _, c := range []struct {
		shown, text, columns string
		sessions             bool // collation
	}{
		{"lower(`s`)", "lower(`s`)", "s", false},
		{"lower(`q``q`)", "lower(`q``q`)", "q`q", false},
		{"(case when (`ts` is null) then `s` end)", "case when `ts` is null then `s` end", "s ts", false},
		{"if(`bit`,NULL,`b`)", "if(`bit`, null, `b`)", "b bit", false},
		{"(`n` * 2)", "`n` * 2", "n", false},
		{"(`u` + `n`)", "`u` + `n`", "n u", false},
		{"cast(`d` as date)", "LEFT(convert(CONCAT(`d`) using utf8mb4), 10)", "d", false},
		{"cast(json_unquote(json_extract(`doc`,_utf8mb4'$.id')) as char(8) charset utf8mb4)",
			"LEFT(convert(CONCAT(json_unquote(json_extract(`doc`, _utf8mb4'$.id'))) using utf8mb4), 8)", "doc", true},
		{"(cast(json_unquote(json_extract(`doc`,_utf8mb3'$.id')) as char(8) charset utf8mb4) collate utf8mb4_bin)",
			"LEFT(convert(CONCAT(json_unquote(json_extract(`doc`, _utf8mb4'$.id'))) using utf8mb4), 8) collate utf8mb4_bin", "doc", false},
		{"json_value(`doc`, _utf8mb4'$.x' returning signed)", "json_value(`doc`, _utf8mb4'$.x' returning signed)", "doc", false},
		{"hex(`n`)", "hex(`n`)", "n", true},
		{"(case `s` when _utf8mb4'on' then `n` end)", "case `s` when _utf8mb4'on' then `n` end", "n s", false},
		{"nullif(`s`,_utf8mb4'')", "nullif(`s`, _utf8mb4'')", "s", false},
		// What a session's variables decide, or a server alone.
		{"(`u` - `n`)", "", "", false},                                             // NO_UNSIGNED_SUBTRACTION
		{"(`n` / 2)", "", "", false},                                               // div_precision_increment
		{"(`ts` = _utf8mb4'2020-01-01 00:00:00')", "", "", false},                  // time_zone
		{"cast(`ts` as date)", "", "", false},                                      //
		{"cast(`s` as date)", "", "", false},                                       // ALLOW_INVALID_DATES
		{"date_format(`d`,_utf8mb4'%M')", "", "", false},                           // lc_time_names
		{"(hex(`n`) = _utf8mb4'a')", "", "", false},                                // collation_connection
		{"(`s` = 1)", "", "", false},                                               // warns
		{"(`n` = _utf8mb4'1')", "", "", false},                                     //
		{"concat(`s`,_utf8mb4'\\\\')", "", "", false},                              // NO_BACKSLASH_ESCAPES
		{"(not(`n`))", "", "", false},                                              // HIGH_NOT_PRECEDENCE
		{"cast(`s` as char(4) charset latin1)", "", "", false},                     //
		{"cast(json_extract(`doc`,_utf8mb4'$') as unsigned array)", "", "", false}, // several
		{"ifnull(`s`,`n`)", "", "", false},
		{"`doc`", "", "", false},
		{"ifnull(`bit`,0)", "", "", false},
		{"concat(`unknown`)", "", "", false},
		{"f(`s`)", "", "", false},
		{"`other`.`s`", "", "", false},
		{"lower(`s`", "", "", false},
	} {
		got, ok := p.KeyExpression(c.shown, func(name string) sqlparse.KeyKind { return kinds[name] })
		require.Equal(t, c.text != "", ok, c.shown)
		if ok {
			require.Equal(t, c.text, got.Text, c.shown)
			require.Equal(t, c.columns, strings.Join(got.Columns, " "), c.shown)
			require.Equal(t, !c.sessions, got.Collated, c.shown)
		}
	}
}
