package rowset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

func TestDerived(t *testing.T) {
	table := New("#id", "a`b")
	require.Equal(t, "(SELECT NULL AS `id`, NULL AS `a``b` FROM DUAL WHERE 1 = 0)", string(table.AppendDerived(nil, true, false)))
	table.Add(1, `it's \`)
	table.Add(uint64(1<<63), nil)
	require.Equal(t, "FROM (WITH v (`id`, `a``b`) AS (VALUES (1, 'it''s \\\\'), (9223372036854775808, NULL)) SELECT * FROM v)",
		string(table.AppendDerived([]byte("FROM "), true, false)))
	require.Equal(t, "(WITH v (`id`, `a``b`) AS (VALUES ROW(1, 'it''s \\'), ROW(9223372036854775808, NULL)) SELECT * FROM v)",
		string(table.AppendDerived(nil, false, true)))
}

func TestPackets(t *testing.T) {
	row, err := wire.ParseTextRow(AppendRow(nil, []any{nil, "", "x", 12, uint32(7), uint64(1 << 63), OrNull(""), OrNull("y")}), nil)
	require.NoError(t, err)
	require.Equal(t, [][]byte{nil, {}, []byte("x"), []byte("12"), []byte("7"), []byte("9223372036854775808"), nil, []byte("y")}, row)
}

func TestColumns(t *testing.T) {
	of := func(mariadb bool) []sqltypes.Column { return New("#id", "name").ColumnsOf(mariadb) }
	require.Equal(t, "id", of(true)[0].Name)
	require.Equal(t, sqltypes.TypeLongLong, of(true)[0].Type)
	require.Equal(t, of(true)[0], of(false)[0])
	require.Equal(t, uint8(31), of(false)[1].Decimals)
	require.Equal(t, uint8(39), of(true)[1].Decimals)
}
