package wire

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
)

type paramCase struct {
	ty       sqltypes.Type
	unsigned bool
	encoded  string
	value    sqltypes.Value
	sql      string
	sqlNoEsc string // if another
}

func paramCases() []paramCase {
	value := func(k sqltypes.Kind, raw string) sqltypes.Value { return sqltypes.Value{Kind: k, Raw: []byte(raw)} }
	double := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5)))
	float := string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)))
	return []paramCase{
		{sqltypes.TypeTiny, false, "\xff", value(sqltypes.Int, "-1"), "-1", ""},
		{sqltypes.TypeTiny, true, "\xff", value(sqltypes.Int, "255"), "255", ""},
		{sqltypes.TypeShort, false, "\x00\x80", value(sqltypes.Int, "-32768"), "-32768", ""},
		{sqltypes.TypeLong, true, "\xff\xff\xff\xff", value(sqltypes.Int, "4294967295"), "4294967295", ""},
		{sqltypes.TypeLongLong, false, "\x00\x00\x00\x00\x00\x00\x00\x80", value(sqltypes.Int, "-9223372036854775808"), "-9223372036854775808", ""},
		{sqltypes.TypeDouble, false, double, value(sqltypes.Float, "1.5e+00"), "1.5e+00", ""},
		{sqltypes.TypeFloat, false, float, value(sqltypes.Float, "1.0000000149011612e-01"), "1.0000000149011612e-01", ""},
		{sqltypes.TypeNewDecimal, false, "\x05-1.50", value(sqltypes.Decimal, "-1.50"), "-1.50", ""},
		{sqltypes.TypeNewDecimal, false, "\x061;DROP", value(sqltypes.String, "1;DROP"), "'1;DROP'", ""},
		{sqltypes.TypeVarString, false, "\x07it's \\0", value(sqltypes.String, "it's \\0"), `'it''s \\0'`, `'it''s \0'`},
		{sqltypes.TypeString, false, "\x02\x00\x1a", value(sqltypes.String, "\x00\x1a"), `'\0\Z'`, "'\x00\x1a'"},
		{sqltypes.TypeVarchar, false, "\x00", value(sqltypes.String, ""), "''", ""},
		{sqltypes.TypeVarchar, false, "\x01\xff", value(sqltypes.String, "\xff"), "_binary x'ff'", ""},
		{sqltypes.TypeLongBlob, false, "\x02ab", value(sqltypes.Binary, "ab"), "_binary x'6162'", ""},
		{sqltypes.TypeDate, false, "\x04\xe8\x07\x02\x1d", value(sqltypes.Date, "2024-02-29"), "DATE'2024-02-29'", ""},
		{sqltypes.TypeDatetime, false, "\x04\xe8\x07\x02\x1d", value(sqltypes.Datetime, "2024-02-29 00:00:00"), "TIMESTAMP'2024-02-29 00:00:00'", ""},
		{sqltypes.TypeDatetime, false, "\x0b\xe8\x07\x02\x1d\x01\x02\x03\x04\x00\x00\x00", value(sqltypes.Datetime, "2024-02-29 01:02:03.000004"), "TIMESTAMP'2024-02-29 01:02:03.000004'", ""},
		{sqltypes.TypeDatetime, false, "\x0d\xe8\x07\x02\x1d\x01\x02\x03\x04\x00\x00\x00\xa6\xff", value(sqltypes.Datetime, "2024-02-29 01:02:03.000004-01:30"), "TIMESTAMP'2024-02-29 01:02:03.000004-01:30'", ""},
		{sqltypes.TypeTime, false, "\x08\x01\x01\x00\x00\x00\x01\x02\x03", value(sqltypes.Time, "-25:02:03"), "TIME'-25:02:03'", ""},
		{sqltypes.TypeTime, false, "\x00", value(sqltypes.Time, "00:00:00"), "TIME'00:00:00'", ""},
		{sqltypes.TypeNull, false, "", sqltypes.Value{}, "NULL", ""},
	}
}

func executePayload(cases []paramCase, withTypes bool) []byte {
	payload := AppendExecuteHead(nil, 7, 1)
	payload = append(payload, make([]byte, (len(cases)+7)/8)...)
	if !withTypes {
		payload = append(payload, 0)
	} else {
		payload = append(payload, 1)
		for _, c := range cases {
			flag := byte(0)
			if c.unsigned {
				flag = 0x80
			}
			payload = append(payload, byte(c.ty), flag)
		}
	}
	for _, c := range cases {
		payload = append(payload, c.encoded...)
	}
	return payload
}

func TestParams(t *testing.T) {
	cases := paramCases()
	payload := executePayload(cases, true)
	p := Params{MySQL: true}
	require.NoError(t, p.Parse(payload, len(cases), nil, nil))
	require.True(t, p.NewTypes)
	require.EqualValues(t, 7, p.StatementID)
	require.EqualValues(t, 1, p.Flags)
	check := func() {
		for i, c := range cases {
			require.Equal(t, c.value, p.Value(i), i)
			require.Equal(t, c.sql, string(p.AppendSQL(nil, i, false, false)))
			if c.sqlNoEsc != "" {
				require.Equal(t, c.sqlNoEsc, string(p.AppendSQL(nil, i, true, false)))
			}
		}
	}
	check()
	types := append([]ParamType(nil), p.Types()...)

	// The next execution may leave the types out, and may send nothing for what came as long data or is NULL.
	payload = executePayload(cases, false)
	require.Error(t, p.Parse(payload, len(cases), nil, nil))
	require.NoError(t, p.Parse(payload, len(cases), types, nil))
	require.False(t, p.NewTypes)
	check()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if p.Parse(payload, len(cases), types, nil) != nil || p.Value(8).IsNull() {
			t.Fail()
		}
	}))

	two := []paramCase{cases[0], {ty: sqltypes.TypeLongBlob}}
	payload = executePayload(two, true)
	payload[executeHead] = 1 // the first is NULL
	payload = payload[:len(payload)-1]
	require.NoError(t, p.Parse(payload, 2, nil, [][]byte{nil, []byte("long")}))
	require.True(t, p.Value(0).IsNull())
	require.Equal(t, "NULL", string(p.AppendSQL(nil, 0, false, false)))
	require.Equal(t, "long", string(p.Value(1).Raw))
	require.Error(t, p.Parse(payload, 2, nil, [][]byte{[]byte("5"), []byte("long")}), "pieces of a number")

	require.NoError(t, p.Parse(AppendExecuteHead(nil, 1, 0), 0, nil, nil))
	require.Zero(t, p.Len())
}

func TestParamsRefuses(t *testing.T) {
	cases := paramCases()
	payload := executePayload(cases, true)
	var p Params
	for i := range payload {
		require.Error(t, p.Parse(payload[:i], len(cases), nil, nil), i)
	}
	for _, bad := range []paramCase{
		{ty: 99, encoded: "\x00"},
		{ty: sqltypes.TypeDate, encoded: "\x05aaaaa"},
		{ty: sqltypes.TypeTime, encoded: "\x07aaaaaaa"},
		{ty: sqltypes.TypeVarchar, encoded: "\xfe\xff\xff\xff\xff\xff\xff\xff\xffabc"},
	} {
		require.Error(t, p.Parse(executePayload([]paramCase{bad}, true), 1, nil, nil))
	}
}
