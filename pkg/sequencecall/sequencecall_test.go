package sequencecall

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

func scan(t *testing.T, sql string) *sqlparse.Statement {
	t.Helper()
	st := sqlparse.NewDialect(true, "").NewStatement()
	require.NoError(t, st.Scan([]byte(sql), 0))
	return st
}

func TestText(t *testing.T) {
	for _, c := range []struct{ sql, text, query string }{
		{"INSERT INTO t VALUES (NEXTVAL(s), 'a')", "INSERT INTO t VALUES (7, 'a')", "SELECT NEXTVAL(`app`.`s`) LIMIT 1"},
		{"INSERT INTO t VALUES (NEXT VALUE FOR d.S), (previous value for `a b`)", "INSERT INTO t VALUES (7), (8)", "SELECT NEXTVAL(`d`.`s`), LASTVAL(`app`.`a b`) LIMIT 1"},
		{"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 2 + NEXTVAL(s)", "", ""}, // perhaps never computed
		{"SET @a = SETVAL(s, (1 + 2), 0)", "SET @a = 7", "SELECT SETVAL(`app`.`s`,  (1 + 2), 0) LIMIT 1"},
		{"SELECT NEXTVAL(s)", "SELECT NULLIF(7 + 0*10000000000000000, NULL) AS `NEXTVAL(s)`", "SELECT NEXTVAL(`app`.`s`) LIMIT 1"},
		{"SELECT NEXTVAL(s) AS n FROM DUAL", "SELECT NULLIF(7 + 0*10000000000000000, NULL) AS n FROM DUAL", "SELECT NEXTVAL(`app`.`s`) LIMIT 1"},
		{"DO LASTVAL(s)", "DO 7", "SELECT LASTVAL(`app`.`s`) LIMIT 1"},
		// Computed for each row, or never, or by another statement.
		{"SELECT NEXTVAL(s) FROM t", "", ""},
		{"SELECT NEXTVAL(s) UNION ALL SELECT 1", "", ""},
		{"SELECT (SELECT NEXTVAL(s))", "", ""},
		{"SELECT NEXTVAL(s) WHERE 1 = 0", "", ""},
		{"SELECT NEXTVAL(s) LIMIT 0", "", ""},
		{"INSERT INTO t SELECT NEXTVAL(s)", "", ""},
		{"INSERT INTO t VALUES (1) RETURNING NEXTVAL(s)", "", ""},
		{"UPDATE t SET a = NEXTVAL(s)", "", ""},
		// No calls.
		{"INSERT INTO nextval (a) VALUES (1)", "", ""},
		{"SELECT lastval", "", ""},
		{"SELECT t.NEXTVAL(s)", "", ""},
		{"SELECT SETVAL(s, ?)", "", ""},
		{"SELECT NEXTVAL(s, 1)", "", ""},
	} {
		st := scan(t, c.sql)
		calls, err := Find(st, "app", true, false)
		require.NoError(t, err, c.sql)
		if c.text == "" {
			require.Empty(t, calls, c.sql)
			continue
		}
		require.Equal(t, c.text, string(Text(st, calls, []string{"7", "8"})), c.sql)
		require.Equal(t, c.query, Query(st, calls), c.sql)
		require.NoError(t, st.Scan(AnyText(st, calls), 0), c.sql)
	}
}

func TestFind(t *testing.T) {
	_, err := Find(scan(t, "SELECT NEXTVAL(s)"), "", false, false)
	require.True(t, sqlerr.HasCode(err, sqlerr.NoDatabase))

	calls, err := Find(scan(t, "SELECT NEXTVAL(s)"), "app", false, true)
	require.NoError(t, err)
	require.Empty(t, calls, "no row is computed")

	calls, err = Find(scan(t, "DO NEXTVAL(D.S), LASTVAL(D.S), SETVAL(D.S, 1)"), "app", false, true)
	require.NoError(t, err)
	require.Len(t, calls, 3)
	for i, need := range []catalog.Privilege{catalog.MaySelect | catalog.MayInsert, catalog.MaySelect, catalog.MayInsert} {
		require.Equal(t, Name{"D", "S"}, calls[i].Of)
		require.Equal(t, need, calls[i].Need())
	}
}

func TestLiteral(t *testing.T) {
	require.Equal(t, "NULL", Literal(nil))
	require.Equal(t, "12", Literal([]byte("12")))
	st := scan(t, "DO 1-NEXTVAL(s)")
	calls, err := Find(st, "app", false, false)
	require.NoError(t, err)
	require.Equal(t, "DO 1- -3", string(Text(st, calls, []string{Literal([]byte("-3"))})), "no comment")
}

// What LASTVAL() gives behind statements that fail, and behind very many sequences.
func TestLast(t *testing.T) {
	a, b := Name{"d", "a"}, Name{"d", "b"}
	next := func(names ...Name) (calls []Call) {
		for _, n := range names {
			calls = append(calls, Call{Function: "NEXTVAL", Of: n})
		}
		return calls
	}
	fails := func(code sqlerr.Code) error { return &sqlerr.Error{Code: code, State: "HY000"} }
	for _, c := range []struct {
		err   error
		calls []Call
		want  string // "": nobody knows
	}{
		{fails(sqlerr.SequenceRunOut), next(a), "NULL"},
		{fails(sqlerr.SequenceRunOut), next(a, a), "NULL"},
		{fails(sqlerr.SequenceRunOut), next(a, b), ""},
		{fails(1317), next(a), ""},
		{fails(1969), next(a), ""},
		{errors.New("connection lost"), next(a), ""},
		{fails(sqlerr.ParseError), next(a), "7"},
		{fails(1205), next(a), "7"},
		{fails(4091), next(a, b), "7"},
		{fails(sqlerr.SequenceRunOut), []Call{{Function: "SETVAL", Of: a}}, "7"},
	} {
		var l Last
		l.Given(a, "7")
		l.Failed(c.calls, c.err)
		v, known := l.Of(a)
		require.Equal(t, c.want, v, "%v behind %v", c.calls, c.err)
		require.Equal(t, c.want != "", known)
	}
	var l Last
	v, known := l.Of(a)
	require.True(t, known)
	require.Equal(t, "NULL", v)
	l.Given(a, "7")
	for n := range 2 * maxLast {
		l.Given(Name{"d", strconv.Itoa(n)}, "1")
		require.LessOrEqual(t, len(l.values), maxLast)
	}
	_, known = l.Of(a)
	require.False(t, known, "not NULL")
	l.Given(a, "8")
	v, _ = l.Of(a)
	require.Equal(t, "8", v)
}

// A sequence that is made anew has given nobody a value.
func TestMade(t *testing.T) {
	a := Name{"d", "a"}
	var l Last
	l.Lost(a)
	v, known := l.Of(a)
	require.True(t, known)
	require.Equal(t, "NULL", v, "it was not asked")
	l.Given(a, "7")
	l.Lost(a)
	_, known = l.Of(a)
	require.False(t, known)
	l.Made(a)
	v, known = l.Of(a)
	require.True(t, known)
	require.Equal(t, "NULL", v)
}
