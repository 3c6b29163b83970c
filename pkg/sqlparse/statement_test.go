package sqlparse

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTrailingComment: what is written behind a statement's text is no part of a comment.
func TestTrailingComment(t *testing.T) {
	st := NewDialect(false, "8.4.6").NewStatement()
	for text, want := range map[string]string{
		"SELECT 1 -- a":               "SELECT 1 ",
		"SELECT 1 -- a\n":             "SELECT 1 ",
		"SELECT 1# a\n # b; c":        "SELECT 1",
		"SELECT 1 /* a */ -- b":       "SELECT 1 /* a */ ",
		"SELECT 1 -- a\n, 2 /* b */":  "SELECT 1 -- a\n, 2 /* b */",
		"SELECT 1 -- a\n; SELECT 2":   "SELECT 1 ",
		"SELECT '-- a' /*! + 1 */ --": "SELECT '-- a' /*! + 1 */ ",
		"SELECT 1 /*! + 1 -- a\n*/":   "SELECT 1 /*! + 1 -- a\n*/",
		"INSERT INTO t VALUES (1) #":  "INSERT INTO t VALUES (1) ",
		"-- a":                        "-- a",
	} {
		require.NoError(t, st.Scan([]byte(text), 0))
		require.Equal(t, want, string(st.SQL()))
	}
}

// A walk tells how deep tokens stand, and reads lists whose items have commas in parentheses.
func TestDepthAndItems(t *testing.T) {
	st := NewDialect(true, "10.11").NewStatement()
	require.NoError(t, st.Scan([]byte("CALL p(f(1, 2), (a), , 'x,y')) USING z"), 0))
	var depths []int
	for toks := st.Tokens(); ; {
		tok := toks.Next()
		depths = append(depths, tok.Depth)
		if tok.Kind == EOF {
			break
		}
	}
	require.Equal(t, []int{0, 0, 0, 1, 1, 2, 2, 2, 1, 1, 1, 2, 1, 1, 1, 1, 0, -1, -1, -1, -1}, depths)

	items := func(from int, stop string) (list []string, last string) {
		for toks := st.TokensFrom(from); ; {
			item, end := st.Item(&toks, stop)
			list = append(list, string(st.Text(item)))
			if !st.Is(end, ",") {
				return list, string(st.Text(end.Span))
			}
		}
	}
	list, last := items(len("CALL p("), "")
	require.Equal(t, []string{"f(1, 2)", "(a)", "", "'x,y'"}, list)
	require.Equal(t, ")", last)
	list, last = items(len("CALL p(f(1, 2), (a), , 'x,y'))"), "USING")
	require.Equal(t, []string{""}, list)
	require.Equal(t, "USING", last)
}
