package paramtype

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// learned is what is kept of a statement whose parameters a server asks for as types.
func learned(t *testing.T, sql string, types ...sqltypes.Type) *Kept {
	st := sqlparse.NewDialect(false, "8.4.6").NewStatement()
	t.Cleanup(st.Done)
	require.NoError(t, st.Scan([]byte(sql), 0))
	var params []sqltypes.Column
	for _, typ := range types {
		params = append(params, sqltypes.Column{Type: typ})
	}
	k := Learn(st, params)
	return &k
}

// values are parameters as a client sends them: int64, float64, string or nil.
func values(t *testing.T, list ...any) *wire.Params {
	payload := append(wire.AppendExecuteHead(nil, 1, 0), 0, 1) // no NULL yet, types follow
	nulls := len(payload) - 2
	var data []byte
	for i, v := range list {
		typ := sqltypes.TypeNull
		switch v := v.(type) {
		case int64:
			typ, data = sqltypes.TypeLongLong, binary.LittleEndian.AppendUint64(data, uint64(v))
		case float64:
			typ, data = sqltypes.TypeDouble, binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		case string:
			typ, data = sqltypes.TypeVarString, wire.AppendLenencString(data, v)
		default:
			payload[nulls] |= 1 << i
		}
		payload = append(payload, byte(typ), 0)
	}
	p := &wire.Params{MySQL: true}
	require.NoError(t, p.Parse(append(payload, data...), len(list), nil, nil))
	return p
}

func settled(t *testing.T, k *Kept, list ...any) (text []string, changed bool) {
	p := values(t, list...)
	changed, err := k.Settle(p)
	require.NoError(t, err)
	for i := range list {
		text = append(text, string(p.AppendSQL(nil, i, false, false)))
	}
	return text, changed
}

func TestValuesOfTheTypesAskedForStayAsTheyAre(t *testing.T) {
	k := learned(t, "SELECT ? + a, ? FROM t", sqltypes.TypeLongLong, sqltypes.TypeVarString)
	for range 2 {
		text, changed := settled(t, k, int64(1), "x")
		require.False(t, changed)
		require.Equal(t, []string{"1", "'x'"}, text)
	}
	_, changed := settled(t, k, nil, nil)
	require.False(t, changed)
	_, changed = settled(t, k, "17", "x") // a server here makes it an integer, too
	require.False(t, changed)
}

// A DOUBLE where MySQL has asked for an integer makes it prepare the statement again: from then on integers are doubles.
func TestAValueOfAnotherTypeIsKept(t *testing.T) {
	k := learned(t, "SELECT ? + a FROM t", sqltypes.TypeLongLong)
	_, changed := settled(t, k, 2.5)
	require.False(t, changed, "a server here prepares anew as well")
	p := values(t, int64(3))
	changed, err := k.Settle(p)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, sqltypes.TypeDouble, p.Given(0).Type)
}

func TestWhatCannotBeMadeThatTypeIsRefused(t *testing.T) {
	k := learned(t, "SELECT ? + a FROM t", sqltypes.TypeLongLong)
	settled(t, k, 2.5)
	_, err := k.Settle(values(t, "many"))
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
	require.ErrorContains(t, err, "a value of another type before")
}

// What is all of a CAST has any type until the statement is prepared again, and LIMIT always.
func TestPlacesThatTakeAnyType(t *testing.T) {
	k := learned(t, "SELECT CAST(? AS CHAR) FROM t LIMIT ?", sqltypes.TypeVarString, sqltypes.TypeLongLong)
	_, changed := settled(t, k, int64(1), "5")
	require.False(t, changed)
	_, changed = settled(t, k, 1.5, int64(5))
	require.False(t, changed)
}

func TestNothingIsKeptOfAStatementNoServerHasDescribed(t *testing.T) {
	k := learned(t, "SELECT ? FROM t WHERE a = ?", sqltypes.TypeLongLong) // of one of the two
	for _, v := range []any{int64(1), 1.5, "x"} {
		_, changed := settled(t, k, v, v)
		require.False(t, changed)
	}
}

func TestTakes(t *testing.T) {
	of := func(typ sqltypes.Type) wire.ParamType { return wire.ParamType{Type: typ} }
	for _, c := range []struct {
		asked, given sqltypes.Type
		takes        bool
	}{
		{sqltypes.TypeLongLong, sqltypes.TypeLong, true},
		{sqltypes.TypeLongLong, sqltypes.TypeDouble, false},
		{sqltypes.TypeLongLong, sqltypes.TypeVarString, true},
		{sqltypes.TypeDouble, sqltypes.TypeLongLong, true},
		{sqltypes.TypeNewDecimal, sqltypes.TypeDouble, false},
		{sqltypes.TypeDate, sqltypes.TypeDatetime, false},
		{sqltypes.TypeDatetime, sqltypes.TypeDate, true},
		{sqltypes.TypeTime, sqltypes.TypeDate, false},
		{sqltypes.TypeVarString, sqltypes.TypeLongLong, false},
		{sqltypes.TypeVarString, sqltypes.TypeNull, true},
	} {
		require.Equal(t, c.takes, Takes(of(c.asked), of(c.given)), "%v for %v", c.given, c.asked)
	}
	require.False(t, Takes(of(sqltypes.TypeLongLong), wire.ParamType{Type: sqltypes.TypeLongLong, Unsigned: true}))
}

// A value that is taken may all the same change what is asked for next.
func TestRetypes(t *testing.T) {
	text := func(s string) wire.ParamType { return values(t, s).Given(0) }
	require.False(t, Retypes(wire.ParamType{Type: sqltypes.TypeLongLong}, text("12")))
	require.True(t, Retypes(wire.ParamType{Type: sqltypes.TypeLongLong}, text("1.5")))
	require.False(t, Retypes(wire.ParamType{Type: sqltypes.TypeDate}, text("2020-01-02")))
	require.True(t, Retypes(wire.ParamType{Type: sqltypes.TypeDate}, text("2020-01-02 10:00:00")))
	require.False(t, Retypes(wire.ParamType{Type: sqltypes.TypeVarString}, text("x")))
}
