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
