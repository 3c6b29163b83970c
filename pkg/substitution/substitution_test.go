package substitution

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlparse"
)

// find returns where words stand in a statement.
func find(st *sqlparse.Statement, values map[string]Value) (edits []Edit) {
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if v, ok := values[string(st.Text(tok.Span))]; ok {
			edits = append(edits, Edit{tok.Span, v})
		}
	}
	return edits
}

func TestText(t *testing.T) {
	values := map[string]Value{"x": Unsigned(7), "y": Signed(-1), "z": {Text: "'z'"}, "u": Name("it's", 0), "v": UnsignedVariable(0)}
	for sql, want := range map[string]string{
		"SELECT x":                           "SELECT (7 | 0) AS `x`",
		"SELECT x AS a, z, 1":                "SELECT (7 | 0) AS a, 'z' AS `z`, 1",
		"SELECT x + y, * FROM t WHERE a = x": "SELECT (7 | 0) + (-1 + 0*100000000000000000) AS `x + y`, * FROM t WHERE a = 7",
		"SELECT u, v":                        "SELECT CONCAT(LEFT(VERSION(), 0), 'it''s') AS `u`, NULLIF(0 | 0, NULL) AS `v`",
		"INSERT INTO t VALUES (x, u)":        "INSERT INTO t VALUES (7, 'it''s')",
		"INSERT INTO t SELECT x":             "INSERT INTO t SELECT (7 | 0) AS `x`",
		"UPDATE t SET a = z":                 "UPDATE t SET a = 'z'",
	} {
		st := sqlparse.NewDialect(true, "").NewStatement()
		require.NoError(t, st.Scan([]byte(sql), 0))
		require.Equal(t, want, string(Text(st, find(st, values))))
	}
}

// RETURNING names columns of the result, and the SELECT of what is inserted does not.
func TestReturning(t *testing.T) {
	st := sqlparse.NewDialect(true, "").NewStatement()
	require.NoError(t, st.Scan([]byte("INSERT INTO t SELECT x RETURNING x"), 0))
	require.Equal(t, "INSERT INTO t SELECT 7 RETURNING (7 | 0) AS `x`", string(Text(st, find(st, map[string]Value{"x": Unsigned(7)}))))
}

func TestFilled(t *testing.T) {
	st := sqlparse.NewDialect(false, "8.4.0").NewStatement()
	require.NoError(t, st.Scan([]byte("SELECT ?, x, ?"), 0))
	text := Filled(st, find(st, map[string]Value{"x": {Text: "1"}}), func(dst []byte, part sqlparse.Span) []byte {
		for _, b := range st.Text(part) {
			if b == '?' {
				dst = append(dst, "'p'"...)
			} else {
				dst = append(dst, b)
			}
		}
		return dst
	})
	require.Equal(t, "SELECT 'p', 1 AS `x`, 'p'", string(text))
}
