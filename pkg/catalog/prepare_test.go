package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

func TestPrepareRefusesWhatCannotBeHashed(t *testing.T) {
	for name, table := range map[string]Table{
		"no distribution key": {Kind: Sharded},
		"column out of range": {Kind: Sharded, Distribution: []int{1}, Columns: []Column{{Name: "a", DataType: "int"}}},
		"float":               {Kind: Sharded, Distribution: []int{0}, Columns: []Column{{Name: "a", DataType: "float"}}},
		"generated": {Kind: Sharded, Distribution: []int{0},
			Columns: []Column{{Name: "a", DataType: "int", Generated: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, sqlerr.HasCode(table.Prepare(MariaDB), sqlerr.Internal, sqlerr.NotSupportedYet))
			require.Nil(t, table.Key)
		})
	}
}

func TestPrepareBuildsTheKeyInDistributionOrder(t *testing.T) {
	table := Table{
		Kind: Sharded,
		Columns: []Column{
			{Name: "name", DataType: "varchar", ColumnType: "varchar(10)", Length: 10, Collation: "utf8mb4_general_ci"},
			{Name: "id", DataType: "bigint", ColumnType: "bigint(20)"},
		},
		Distribution: []int{1, 0},
	}
	require.NoError(t, table.Prepare(MariaDB))
	require.Equal(t, "CRC32(CONVERT(CONCAT(`id`,',',HEX(TRIM(TRAILING x'0020' FROM WEIGHT_STRING(`name`)))) USING ascii)) % 3840",
		table.Key.SQLExpr([]string{"`id`", "`name`"}))
	_, _, match := table.Key.Partition(nil, []sqltypes.Value{
		{Kind: sqltypes.Int, Raw: []byte("1")}, {Kind: sqltypes.String, Raw: []byte("x")},
	}, placement.Compare)
	require.Equal(t, placement.Exact, match)
}

func TestPrepareLeavesOtherTablesWithoutKey(t *testing.T) {
	for _, kind := range []TableKind{Reference, Single, View} {
		table := Table{Kind: kind}
		require.NoError(t, table.Prepare(MySQL))
		require.Nil(t, table.Key)
	}
}
