package variable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// set is a SET and the tokens behind its first word.
func set(t *testing.T, sql string) (*sqlparse.Statement, sqlparse.Tokens) {
	st := sqlparse.NewDialect(true, "10.11.6-MariaDB").NewStatement()
	t.Cleanup(st.Done)
	require.NoError(t, st.Scan([]byte(sql), 0))
	tokens := st.Tokens()
	tokens.Next()
	return st, tokens
}

func TestWhatASetAssigns(t *testing.T) {
	for sql, want := range map[string]Assignments{
		"SET autocommit = 0, @X := (SELECT 1, 2), @`a``b` = 3": {User: []string{"x", "a`b"}, System: []string{"autocommit"}},
		"SET SESSION Sql_Mode = '', @@local.wait_timeout = 3":  {System: []string{"sql_mode", "wait_timeout"}},
		"SET NAMES utf8mb4":                                         {System: []string{"character_set_client", "character_set_results", "collation_connection"}},
		"SET character_set_connection = latin1":                     {System: []string{"collation_connection"}},
		"SET SESSION TRANSACTION READ ONLY":                         {System: []string{"tx_isolation", "tx_read_only"}, Transaction: " READ ONLY"},
		"SET @@session.`timestamp` = CONCAT('a', ', sql_mode = 1')": {System: []string{"timestamp"}},
	} {
		st, tokens := set(t, sql)
		got, err := Parse(st, tokens, true)
		require.NoError(t, err, sql)
		require.Equal(t, want, got, sql)
	}
}

func TestGlobalVariablesAreNotTheSessions(t *testing.T) {
	for sql, known := range map[string]bool{
		"SET GLOBAL max_connections = 5":                      false,
		"SET @@global.max_connections = 5":                    false,
		"SET x = 1, PERSIST max_connections = 5":              false,
		"SET GLOBAL hot_cache.key_buffer_size = 5":            true,
		"SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE": true,
	} {
		st, tokens := set(t, sql)
		_, err := Parse(st, tokens, true)
		var global *Global
		require.ErrorAs(t, err, &global, sql)
		require.Equal(t, known, global.Known, sql)
		require.True(t, sqlerr.HasCode(global.Refused(), sqlerr.NotSupportedYet), sql)
	}
}

// SET SESSION TRANSACTION takes from SET TRANSACTION what it says itself.
func TestWhatIsLeftOfTheNextTransaction(t *testing.T) {
	const next = "SET TRANSACTION ISOLATION LEVEL  serializable, READ ONLY"
	for sql, want := range map[string]string{
		"SET SESSION TRANSACTION READ WRITE":                                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED":            "SET TRANSACTION READ ONLY",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY": "",
		"SET tx_read_only = 1":                                              "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
		"SET autocommit = 1":                                                next,
	} {
		st, tokens := set(t, sql)
		a, err := Parse(st, tokens, true)
		require.NoError(t, err)
		require.Equal(t, want, a.LeftOfNext(next), sql)
	}
}

func TestWhoMayAssign(t *testing.T) {
	denied := func(err error) bool { return sqlerr.HasCode(err, sqlerr.SpecificAccessDenied) }
	require.NoError(t, MayAssign([]string{"autocommit", "sql_mode"}, false, true))
	require.True(t, denied(MayAssign([]string{"binlog_format"}, false, true)))
	require.True(t, denied(MayAssign([]string{"max_error_count"}, false, false)))
	require.NoError(t, MayAssign([]string{"max_error_count"}, true, false))
	require.True(t, sqlerr.HasCode(MayAssign([]string{"binlog_format"}, true, true), sqlerr.NotSupportedYet), "nobody")
	require.Error(t, MayAssign([]string{"autocommit", "sql_mode", "autocommit"}, true, true), "each may commit")
}

func state(vars ...string) *backend.State {
	var list []backend.Variable
	for i := 0; i < len(vars); i += 2 {
		list = append(list, backend.Variable{Name: "@@session.`" + vars[i] + "`", Value: vars[i+1]})
	}
	return backend.NewState("", list)
}

func read(t *testing.T, vars ...string) Meaning {
	m, err := Rules{MariaDB: true}.Read(state(vars...))
	require.NoError(t, err)
	return m
}

func TestAFreshSession(t *testing.T) {
	m := read(t)
	require.True(t, m.Autocommit)
	require.True(t, m.AllUTF8)
	require.False(t, m.ForeignCharset || m.ForeignLiterals || m.FixedClock || m.Strict() || m.Padded())
	require.Equal(t, "utf8mb4_general_ci", m.Info.Collation)
	mysql, err := Rules{}.Read(state())
	require.NoError(t, err)
	require.Equal(t, "utf8mb4_0900_ai_ci", mysql.Info.Collation)
}

func TestTheMeaningOfModes(t *testing.T) {
	m := read(t, "sql_mode", "'STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO,ANSI_QUOTES'", "autocommit", "0")
	require.True(t, m.Strict() && m.Info.Strict && m.Info.NoAutoValueOnZero)
	require.False(t, m.Info.FullGroups || m.Info.NoZeroDates || m.Autocommit)
	require.Equal(t, sqlparse.ANSIQuotes, m.Mode&sqlparse.ANSIQuotes)
	require.Equal(t, m.Mode, m.Info.Mode)
}

func TestCharacterSets(t *testing.T) {
	latin1 := read(t, "character_set_client", "'latin1'", "character_set_results", "'latin1'", "collation_connection", "'latin1_swedish_ci'")
	require.True(t, latin1.ForeignCharset && latin1.ForeignLiterals)
	require.Equal(t, placement.ForeignBytes, latin1.Strings, "servers take its literals as they are")
	require.False(t, latin1.AllUTF8 || latin1.Info.UTF8Results)
	converted := read(t, "character_set_client", "'latin1'", "collation_connection", "'utf8mb4_general_ci'")
	require.Equal(t, placement.ForeignCharset, converted.Strings)
	lossy := read(t, "character_set_client", "'utf8mb4'", "collation_connection", "'latin1_swedish_ci'")
	require.True(t, lossy.ForeignLiterals)
	require.False(t, lossy.ForeignCharset)
}

// Other values of these would make the cluster answer otherwise than one server, or what servers say unreadable here.
func TestValuesThatAreRefused(t *testing.T) {
	rules := Rules{MariaDB: true}
	for name, value := range map[string]string{
		"auto_increment_increment": "2",
		"sql_auto_is_null":         "1",
		"lc_messages":              "'de_DE'",
		"character_set_client":     "'sjis'",
		"character_set_results":    "'utf16'",
		"collation_connection":     "'swe7_swedish_ci'",
	} {
		_, err := rules.Read(state(name, value, "sql_mode", "'ANSI_QUOTES'"))
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), name)
		require.True(t, rules.MayBeRefused([]string{"autocommit", name}), name)
	}
	_, err := rules.Read(state("session_track_transaction_info", "'STATE'"))
	require.NoError(t, err, "nobody is told")
	rules.Tracked = true
	_, err = rules.Read(state("session_track_transaction_info", "'STATE'"))
	require.Error(t, err)
}

func TestOwnVariables(t *testing.T) {
	var o Own
	st, tokens := set(t, "SET skarv_commit = best_effort, sql_mode = CONCAT('a', 'b'), SESSION skarv_joins = 'broadcast'")
	rest, found, err := o.Set(st, tokens)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, "SET sql_mode = CONCAT('a', 'b')", string(rest))
	require.Equal(t, Own{BestEffort: true, Joins: JoinBroadcast}, o)
	require.Equal(t, []string{"best_effort", "off", "broadcast", ""}, []string{o.Value(Commit), o.Value(ReadAtomicity), o.Value(Joins), o.Value("sql_mode")})

	st, tokens = set(t, "SET skarv_read_atomicity = gate, skarv_commit = never")
	_, _, err = o.Set(st, tokens)
	require.True(t, sqlerr.HasCode(err, sqlerr.WrongValueForVariable))
	require.Equal(t, ReadOff, o.Reads, "nothing is set")

	st, tokens = set(t, "SET sql_mode = ''")
	_, found, err = o.Set(st, tokens)
	require.NoError(t, err)
	require.False(t, found)
}

func TestReadsThatLock(t *testing.T) {
	require.Equal(t, "SET TRANSACTION READ ONLY", ReadOff.Isolation("SET TRANSACTION READ ONLY"))
	require.Equal(t, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY", ReadLocking.Isolation("SET TRANSACTION READ ONLY"))
}

func TestServersAreToldAnotherTimeout(t *testing.T) {
	fresh := &Timeouts{Wait: 8 * time.Hour, Servers: [5]string{"30", "60", "0", "0", "0"}}
	u := NewUntold(true, fresh)
	st := u.Take(state("wait_timeout", "7", "net_read_timeout", heldTimeout, "unique_checks", "0"))
	require.Equal(t, "7", u.Value(u.At("@@session.wait_timeout")))
	require.Equal(t, "0", u.Value(u.At("unique_checks")))
	require.Equal(t, 30*time.Second, u.Seconds(NetRead), "what servers are told is nobody's value")
	for _, told := range u.Told() {
		if v, ok := st.Get(told.Name); ok {
			require.Equal(t, told.Value, v, told.Name)
		}
	}
	require.Equal(t, 7*time.Second, u.Idle(true, true))
	require.Equal(t, -1, u.At("@@global.wait_timeout"))
	mysql := NewUntold(false, fresh)
	require.Equal(t, -1, mysql.At("idle_transaction_timeout"), "MariaDB's")
	require.Zero(t, mysql.Idle(false, false), "the proxy was configured with it")
}

func TestASilentTransaction(t *testing.T) {
	u := NewUntold(true, &Timeouts{Wait: time.Hour, Servers: [5]string{"30", "60", "0", "0", "0"}})
	u.Take(state("idle_transaction_timeout", "20", "idle_write_transaction_timeout", "5"))
	require.True(t, u.InTransaction())
	require.Equal(t, 20*time.Second, u.Idle(true, false))
	require.Equal(t, 5*time.Second, u.Idle(true, true))
	require.Zero(t, u.Idle(false, false))
}

func TestValuesAsSQL(t *testing.T) {
	row := func(v, hex, charset, collation string) [][]byte {
		return [][]byte{[]byte(v), []byte(hex), []byte(charset), []byte(collation)}
	}
	for want, c := range map[string]struct {
		typ sqltypes.Type
		row [][]byte
	}{
		"NULL":                             {sqltypes.TypeLongLong, [][]byte{nil, nil, nil, nil}},
		"1.5e0":                            {sqltypes.TypeDouble, row("1.5", "", "", "")},
		"12.":                              {sqltypes.TypeNewDecimal, row("12", "", "", "")},
		"-3":                               {sqltypes.TypeLongLong, row("-3", "", "", "")},
		"_binary x'00FF'":                  {sqltypes.TypeBlob, row("\x00\xff", "00FF", "binary", "binary")},
		"_latin1 x'E4' COLLATE latin1_bin": {sqltypes.TypeVarString, row("ä", "E4", "latin1", "latin1_bin")},
	} {
		require.Equal(t, want, UserLiteral(sqltypes.Column{Type: c.typ}, c.row))
	}
	require.True(t, IsText(row("ä", "C3A4", "utf8mb4", "utf8mb4_bin")))
	require.False(t, IsText(row("?", "C3", "utf8mb4", "utf8mb4_bin")))
	require.False(t, IsText(row("?", "F09F9880", "utf8mb3", "utf8mb3_bin")), "four bytes")
	require.Equal(t, `_utf8mb4 X'69742773'`, SystemLiteral(sqltypes.Column{Type: sqltypes.TypeVarString}, []byte("it's")))
	require.Equal(t, "7", SystemLiteral(sqltypes.Column{Type: sqltypes.TypeLongLong}, []byte("7")))
}
