package wire

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
)

func TestBinaryRow(t *testing.T) {
	column := func(ty sqltypes.Type, flags uint16, decimals uint8) sqltypes.Column {
		return sqltypes.Column{Name: "c", Type: ty, Flags: flags, Decimals: decimals, Length: 6}
	}
	var cols []sqltypes.Column
	var fields [][]byte
	for _, v := range []struct {
		col  sqltypes.Column
		text string
	}{
		{column(sqltypes.TypeTiny, 0, 0), "-128"},
		{column(sqltypes.TypeTiny, sqltypes.FlagUnsigned, 0), "255"},
		{column(sqltypes.TypeShort, 0, 0), "-32768"},
		{column(sqltypes.TypeYear, sqltypes.FlagUnsigned, 0), "2024"},
		{column(sqltypes.TypeYear, sqltypes.FlagUnsigned, 0), "0000"},
		{column(sqltypes.TypeInt24, 0, 0), "-8388608"},
		{column(sqltypes.TypeLong, sqltypes.FlagUnsigned, 0), "4294967295"},
		{column(sqltypes.TypeLong, sqltypes.FlagUnsigned|sqltypes.FlagZerofill, 0), "000042"},
		{column(sqltypes.TypeLongLong, 0, 0), "-9223372036854775808"},
		{column(sqltypes.TypeLongLong, sqltypes.FlagUnsigned, 0), "18446744073709551615"},
		{column(sqltypes.TypeFloat, 0, 31), "0.333333"},
		{column(sqltypes.TypeFloat, 0, 2), "-1.50"},
		{column(sqltypes.TypeDouble, 0, 31), "0.30000000000000004"},
		{column(sqltypes.TypeDouble, 0, 31), "1e15"},
		{column(sqltypes.TypeDouble, 0, 31), "100000000000000"},
		{column(sqltypes.TypeDouble, 0, 31), "-1.5e-16"},
		{column(sqltypes.TypeDouble, 0, 31), "0.000000000000001"},
		{column(sqltypes.TypeDouble, 0, 31), "1.7976931348623157e308"},
		{column(sqltypes.TypeDouble, 0, 31), "0"},
		{column(sqltypes.TypeDouble, 0, 31), "1234.5"},
		{column(sqltypes.TypeDouble, 0, 31), "100"},
		{column(sqltypes.TypeNewDecimal, 0, 2), "1234567890.12"},
		{column(sqltypes.TypeVarString, 0, 0), ""},
		{column(sqltypes.TypeBlob, 0, 0), "\x00\xff"},
		{column(sqltypes.TypeDate, 0, 0), "2024-02-29"},
		{column(sqltypes.TypeDate, 0, 0), "0000-00-00"},
		{column(sqltypes.TypeDatetime, 0, 0), "0000-00-00 00:00:00"},
		{column(sqltypes.TypeDatetime, 0, 0), "2024-02-29 00:00:00"},
		{column(sqltypes.TypeTimestamp, 0, 0), "2024-02-29 23:59:58"},
		{column(sqltypes.TypeDatetime, 0, 3), "2024-02-29 23:59:58.120"},
		{column(sqltypes.TypeDatetime, 0, 6), "2024-02-29 00:00:00.000001"},
		{column(sqltypes.TypeTime, 0, 0), "00:00:00"},
		{column(sqltypes.TypeTime, 0, 0), "-838:59:59"},
		{column(sqltypes.TypeTime, 0, 6), "08:09:10.000100"},
	} {
		cols = append(cols, v.col, v.col)
		fields = append(fields, []byte(v.text), nil)
	}
	payload, err := AppendBinaryRow(nil, cols, fields)
	require.NoError(t, err)
	got, scratch, err := ParseBinaryRow(payload, cols, nil, nil)
	require.NoError(t, err)
	for i := range fields {
		require.Equal(t, fields[i], got[i], "%d: %q %q", i, fields[i], got[i])
	}
	require.Zero(t, testing.AllocsPerRun(50, func() {
		got, scratch, _ = ParseBinaryRow(payload, cols, got, scratch)
		payload, _ = AppendBinaryRow(payload[:0], cols, fields)
	}))
	for i := range payload {
		_, _, err := ParseBinaryRow(payload[:i], cols, nil, nil)
		require.Error(t, err)
	}
}

func TestAppendBinaryRowRefuses(t *testing.T) {
	for _, c := range []struct {
		ty    sqltypes.Type
		flags uint16
		text  string
	}{
		{sqltypes.TypeTiny, 0, "128"}, {sqltypes.TypeTiny, 0, "-129"}, {sqltypes.TypeTiny, sqltypes.FlagUnsigned, "256"},
		{sqltypes.TypeLong, 0, ""}, {sqltypes.TypeLong, 0, "1x"}, {sqltypes.TypeLong, 0, "-"},
		{sqltypes.TypeLongLong, sqltypes.FlagUnsigned, "18446744073709551616"}, {sqltypes.TypeLongLong, 0, "9223372036854775808"},
		{sqltypes.TypeDouble, 0, "one"}, {sqltypes.TypeDate, 0, "2024-02"}, {sqltypes.TypeDate, 0, "2024-13-01"},
		{sqltypes.TypeDatetime, 0, "2024-01-01 1:2"}, {sqltypes.TypeDatetime, 0, "2024-01-01 01:02:03.1234567"},
		{sqltypes.TypeTime, 0, "900:00:00"}, {sqltypes.TypeTime, 0, ""}, {sqltypes.TypeTime, 0, "-"},
	} {
		_, err := AppendBinaryRow(nil, []sqltypes.Column{{Type: c.ty, Flags: c.flags}}, [][]byte{[]byte(c.text)})
		require.Error(t, err, c.text)
	}
	_, err := AppendBinaryRow(nil, nil, [][]byte{nil})
	require.Error(t, err)
}

func TestFloatText(t *testing.T) {
	for f, want := range map[float64]string{
		math.Inf(1): "+Inf", 1e-300: "1e-300", -0.5: "-0.5", 123456789012345: "123456789012345", 1.5e300: "1.5e300", 5e-324: "5e-324",
	} {
		require.Equal(t, want, string(appendFloatText(nil, f, 64, 31)))
	}
	for f, want := range map[float64]string{1.0 / 3: "0.333333", 16777216: "16777200", 1e20: "1e20", 100: "100", 0.1: "0.1"} {
		require.Equal(t, want, string(appendFloatText(nil, f, 32, 31)))
	}
}
