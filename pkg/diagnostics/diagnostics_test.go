package diagnostics

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

const mysql, mariadb = false, true

func scan(t *testing.T, mariadb bool, sql string) *sqlparse.Statement {
	t.Helper()
	st := sqlparse.NewDialect(mariadb, "").NewStatement()
	require.NoError(t, st.Scan([]byte(sql), 0))
	return st
}

func warnings(n int) (list []Condition) {
	for i := range n {
		list = append(list, Condition{Level: Warning, Code: 1265, Message: "Data truncated for column 'a' at row " + strconv.Itoa(i+1)})
	}
	return list
}

func TestRowsOfAServer(t *testing.T) {
	row := func(cells ...string) (r [][]byte) {
		for _, c := range cells {
			r = append(r, []byte(c))
		}
		return r
	}
	rows := [][][]byte{row("Note", "1051", "Unknown table 'app.t'"), row("Error", "1366", "Incorrect integer value"), row("Warning", "1", "x")}
	list := AppendRows(nil, rows, 2)
	require.Equal(t, []Condition{{Note, 1051, "Unknown table 'app.t'", ""}, {Error, 1366, "Incorrect integer value", ""}}, list)
	require.Len(t, AppendRows(list, rows, 3), 3)
	require.Empty(t, AppendRows(nil, [][][]byte{row("Warning", "1265")}, 9), "no row of SHOW WARNINGS")

	c := list[1]
	require.Equal(t, "22007", c.SQLState(true), "that of the number")
	require.Equal(t, "HY000", c.SQLState(false))
	c.State = "45000" // of a SIGNAL
	require.Equal(t, &sqlerr.Error{Code: 1366, State: "45000", Message: "Incorrect integer value"}, c.Err(true))
}

// max_error_count keeps some; @@warning_count counts all of them.
func TestWarningsThatAreNotKept(t *testing.T) {
	var a Area
	a.Begin(false)
	a.Replace(warnings(2)...)
	a.Counted(5)
	require.Equal(t, 5, a.Count())
	require.Equal(t, uint16(2), a.Warnings())

	a.Begin(true) // SHOW WARNINGS
	require.Equal(t, 5, a.Count())
	a.End(0, 2)
	require.Equal(t, 5, a.Count(), "it leaves what it shows")

	a.Begin(false) // SET max_error_count = 1, which warns of nothing and leaves what was told
	a.Keep()
	a.End(0, 1)
	require.Equal(t, uint16(1), a.Warnings())
	require.GreaterOrEqual(t, a.Count(), 4)

	a.Begin(false)
	a.Replace(warnings(3)...)
	a.End(3, 1)
	require.Equal(t, uint16(1), a.Warnings())
	require.Equal(t, 3, a.Count())

	a.Begin(false)
	a.Clear()
	a.End(0, 64)
	require.Zero(t, a.Count())
}

func TestAStatementThatFails(t *testing.T) {
	e := sqlerr.NoSuchTable.New("app", "t")
	var a Area
	a.Replace(warnings(3)...)
	a.Fail(e, nil, 64)
	require.Equal(t, []Condition{{Error, e.Code, e.Message, e.State}}, a.Conditions)
	require.Equal(t, 1, a.Errors())

	// A server has warned before, and tells the error without its state.
	told := append(warnings(1), Condition{Level: Error, Code: e.Code, Message: e.Message})
	a.Fail(e, told, 64)
	require.Equal(t, append(warnings(1), Of(Error, e)), a.Conditions)
	require.Empty(t, told[1].State, "it is the caller's")

	a.Fail(e, warnings(1), 64) // of something else, which the client is not told
	require.Equal(t, []Condition{Of(Error, e)}, a.Conditions)

	a.Fail(e, told, 0)
	require.Empty(t, a.Conditions)
	require.Equal(t, 1, a.Count())
}

func TestWhatAHandlerWasCalledForStays(t *testing.T) {
	a := Area{Conditions: warnings(1), RowCount: -1}
	stacked := a.Clone()
	a.Replace(Condition{Level: Note, Code: 1051})
	a.RowCount = 7
	require.Equal(t, warnings(1), stacked.Conditions)
	require.Equal(t, int64(-1), stacked.RowCount)

	before := a.Take()
	a.Add(warnings(1)...)
	require.Equal(t, sqlerr.Code(1051), before[0].Code)
}

func TestGet(t *testing.T) {
	area := Area{Conditions: []Condition{{Warning, 1265, "it's cut", ""}, {Error, 1644, "no", "45000"}}, RowCount: 3}
	const state = "_utf8mb3 x'3435303030' COLLATE utf8mb3_general_ci"
	for _, c := range []struct {
		sql     string
		mariadb bool
		stacked bool
		number  string
		targets []string
		values  []string
	}{
		{"GET DIAGNOSTICS @n = NUMBER, @`r c` = row_count", mariadb, false, "", []string{"@n", "@`r c`"}, []string{"CAST(2 AS UNSIGNED)", "3"}},
		{"GET CURRENT DIAGNOSTICS @n = NUMBER", mysql, false, "", []string{"@n"}, []string{"CAST(2 AS UNSIGNED)"}},
		{"GET STACKED DIAGNOSTICS CONDITION 2 @s = RETURNED_SQLSTATE, @c = MYSQL_ERRNO", mysql, true, "2", []string{"@s", "@c"}, []string{state, "CAST(1644 AS UNSIGNED)"}},
		{"GET DIAGNOSTICS CONDITION 2 @o = CLASS_ORIGIN, @t = TABLE_NAME", mariadb, false, "2", []string{"@o", "@t"}, []string{text(""), text("")}},
		{"GET DIAGNOSTICS CONDITION 2 @o = SUBCLASS_ORIGIN", mysql, false, "2", []string{"@o"}, []string{text("ISO 9075")}},
		{"GET DIAGNOSTICS CONDITION 3 @m = MESSAGE_TEXT", mysql, false, "3", []string{"@m"}, nil},
		{"GET DIAGNOSTICS CONDITION @i @m = MESSAGE_TEXT", mariadb, false, "@i", []string{"@m"}, nil}, // not a number
	} {
		st := scan(t, c.mariadb, c.sql)
		g, err := ReadGet(st)
		require.NoError(t, err, c.sql)
		require.Equal(t, c.stacked, g.Stacked, c.sql)
		require.Equal(t, c.number, g.Number, c.sql)
		require.Equal(t, c.targets, g.Targets, c.sql)
		values, found := g.Values(&area, g.Number, c.mariadb)
		require.Equal(t, c.values != nil, found, c.sql)
		require.Equal(t, c.values, values, c.sql)
	}
	g, err := ReadGet(scan(t, mysql, "GET DIAGNOSTICS CONDITION @i @m = MESSAGE_TEXT"))
	require.NoError(t, err)
	values, found := g.Values(&area, "1", false)
	require.True(t, found)
	require.Equal(t, []string{text("it's cut")}, values)
}

func TestGetRefused(t *testing.T) {
	for _, c := range []struct {
		sql     string
		mariadb bool
		code    sqlerr.Code
		at      string // what the server names
	}{
		{"GET DIAGNOSTICS @a = MESSAGE_TEXT", mysql, sqlerr.ParseError, "MESSAGE_TEXT"}, // of a condition
		{"GET DIAGNOSTICS CONDITION 1 @a = NUMBER", mysql, sqlerr.ParseError, "NUMBER"},
		{"GET DIAGNOSTICS CONDITION 1 @a = ROW_NUMBER", mysql, sqlerr.ParseError, "ROW_NUMBER"},
		{"GET DIAGNOSTICS CONDITION 1 @a = ROW_NUMBER", mariadb, sqlerr.NotSupportedYet, ""},
		{"GET DIAGNOSTICS CONDITION 1 + 1 @a = NUMBER", mysql, sqlerr.ParseError, "+"},
		{"GET DIAGNOSTICS CONDITION f() @a = NUMBER", mysql, sqlerr.NotSupportedYet, ""},
		{"GET STACKED DIAGNOSTICS @a = NUMBER", mariadb, sqlerr.ParseError, "STACKED"},
		{"GET DIAGNOSTICS @a = NUMBER @b = ROW_COUNT", mysql, sqlerr.ParseError, "@b"},
		{"GET DIAGNOSTICS", mysql, sqlerr.ParseError, ""},
	} {
		_, err := ReadGet(scan(t, c.mariadb, c.sql))
		require.True(t, sqlerr.HasCode(err, c.code), "%s: %v", c.sql, err)
		if c.at != "" {
			require.Contains(t, err.Error(), "near '"+c.at, c.sql)
		}
	}
}

func TestShow(t *testing.T) {
	area := Area{Conditions: append(warnings(3), Condition{Level: Error, Code: 1644})}
	codes := func(sql string) (list []int) {
		for _, c := range ReadShow(scan(t, mysql, sql)).Rows(&area) {
			list = append(list, int(c.Code))
		}
		return list
	}
	require.Equal(t, []int{1265, 1265, 1265, 1644}, codes("SHOW WARNINGS"))
	require.Equal(t, []int{1644}, codes("show errors"))
	require.Equal(t, []int{1265, 1644}, codes("SHOW WARNINGS LIMIT 2, 10"))
	require.Equal(t, []int{1265}, codes("SHOW WARNINGS LIMIT 1"))
	require.Empty(t, codes("SHOW ERRORS LIMIT 0"))
	require.Empty(t, codes("SHOW WARNINGS LIMIT 9, 1"))
	require.True(t, ReadShow(scan(t, mysql, "SHOW COUNT(*) WARNINGS")).Count)
	require.Len(t, area.Conditions, 4)
}

// What a strict sql_mode makes of a warning is not the same for the value of a variable and for that of a column.
func TestStrict(t *testing.T) {
	for _, c := range []struct {
		of                          Condition
		write, mariaWrite           string // SQLSTATE; "": it is a warning still
		assignment, mariaAssignment string
	}{
		{Condition{Warning, 1265, "Data truncated", ""}, "01000", "01000", "01000", "01000"},
		{Condition{Note, 1265, "Data truncated", ""}, "", "", "", ""},
		{Condition{Warning, 1292, "Truncated incorrect CHAR(2) value: 'abc'", ""}, "22007", "", "22007", "22007"},
		{Condition{Warning, 1287, "deprecated", ""}, "", "", "", ""},
	} {
		state := func(e *sqlerr.Error) string {
			if e == nil {
				return ""
			}
			require.Equal(t, c.of.Code, e.Code)
			require.Equal(t, c.of.Message, e.Message)
			return e.State
		}
		list := []Condition{{Note, 1, "first", ""}, c.of}
		require.Equal(t, c.write, state(StrictWrite(list, false)), c.of.Message)
		require.Equal(t, c.mariaWrite, state(StrictWrite(list, true)), c.of.Message)
		require.Equal(t, c.assignment, state(StrictAssignment(list, false)), c.of.Message)
		require.Equal(t, c.mariaAssignment, state(StrictAssignment(list, true)), c.of.Message)
	}
}
