package userlock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlparse"
)

func scan(t *testing.T, mariadb bool, sql string) *sqlparse.Statement {
	t.Helper()
	st := sqlparse.NewDialect(mariadb, "").NewStatement()
	require.NoError(t, st.Scan([]byte(sql), 0))
	return st
}

func text(t *testing.T, mariadb bool, sql string) string {
	t.Helper()
	st := scan(t, mariadb, sql)
	written := func(dst []byte, part sqlparse.Span) []byte { return append(dst, st.Text(part)...) }
	return string(Text(st, Calls(st), []Owner{{31, 100}, {32, 200}}, written))
}

func TestWhoHasALock(t *testing.T) {
	const ids = " WHEN 31 THEN 100 WHEN 32 THEN 200 WHEN 0 THEN 100000000 END"
	for sql, want := range map[string]string{
		"SELECT IS_USED_LOCK('a')":             "SELECT (CASE IS_USED_LOCK('a')" + ids + ") AS `IS_USED_LOCK('a')`",
		"SELECT is_used_lock('a') = 1 AS x":    "SELECT (CASE is_used_lock('a')" + ids + ") = 1 AS x",
		"SELECT GET_LOCK('a', 1)":              "SELECT GET_LOCK('a', 1)",
		"SET @a = IS_USED_LOCK('b')":           "SET @a = (CASE IS_USED_LOCK('b')" + ids + ")",
		"DO IS_USED_LOCK(IS_USED_LOCK('b'))":   "DO (CASE IS_USED_LOCK((CASE IS_USED_LOCK('b')" + ids + "))" + ids + ")",
		"SELECT is_used_lock FROM t":           "SELECT is_used_lock FROM t",
		"DO IS_USED_LOCK(@a), RELEASE_LOCK(1)": "DO (CASE IS_USED_LOCK(@a)" + ids + "), RELEASE_LOCK(1)",
	} {
		require.Equal(t, want, text(t, true, sql))
	}
	require.Equal(t, "SELECT CAST(CASE IS_USED_LOCK('a')"+ids+" AS UNSIGNED) AS `IS_USED_LOCK('a')`", text(t, false, "SELECT IS_USED_LOCK('a')"))
}

func TestAskOwner(t *testing.T) {
	require.True(t, AskOwner(Calls(scan(t, true, "DO GET_LOCK('a', 0) + is_used_lock('a')"))))
	require.False(t, AskOwner(Calls(scan(t, true, "DO GET_LOCK('is_used_lock(', 0), IS_FREE_LOCK('a')"))))
}

// The connection is given back when no lock can be left.
func TestLocksThatAreLeft(t *testing.T) {
	for _, c := range []struct {
		statements []string
		left       Left
	}{
		{[]string{"SELECT IS_FREE_LOCK('a')"}, None},
		{[]string{"SELECT GET_LOCK('a', 0)"}, Some},
		{[]string{"SELECT GET_LOCK('a', 0)", "SELECT IS_USED_LOCK('a')"}, Some},
		{[]string{"SELECT GET_LOCK('a', 0)", "SELECT RELEASE_LOCK('a')"}, Asked}, // it may have been taken twice
		{[]string{"SELECT GET_LOCK('a', 0)", "DO RELEASE_ALL_LOCKS()"}, Asked},
		{[]string{"SELECT GET_LOCK(@a, 0)", "DO RELEASE_LOCK(@a)"}, Some}, // nobody knows its name
		{[]string{"SELECT GET_LOCK(@a, 0)", "DO RELEASE_ALL_LOCKS()"}, None},
		{[]string{"SELECT GET_LOCK(@a, 0)", "DO RELEASE_ALL_LOCKS(), GET_LOCK('b', 0)"}, Some},
	} {
		var held Held
		var left Left
		for _, sql := range c.statements {
			calls := Calls(scan(t, true, sql))
			held.Note(calls)
			left = held.Behind(calls)
		}
		require.Equal(t, c.left, left, "%v", c.statements)
	}
}

func TestCount(t *testing.T) {
	var held Held
	held.Note(Calls(scan(t, true, "DO GET_LOCK('it''s', 0), GET_LOCK('it''s', 0)")))
	require.Equal(t, "SELECT COALESCE(SUM(x), 0) FROM (SELECT IS_USED_LOCK('it''s') <=> 31 AS x) y", held.Count(31, false))
	held.Note(Calls(scan(t, true, "DO GET_LOCK('b', 0)")))
	require.Contains(t, held.Count(31, false), " <=> 31 AS x UNION ALL SELECT IS_USED_LOCK(")
}
