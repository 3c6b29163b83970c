package metadata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// rowOf is a row of n columns with some values in it; "-" is NULL.
func rowOf(n int, values map[int]string) [][]byte {
	row := make([][]byte, n)
	for i, v := range values {
		if v != "-" {
			row[i] = []byte(v)
		}
	}
	return row
}

func TestAddIndexes(t *testing.T) {
	table := &catalog.Table{Columns: []catalog.Column{{Name: "id"}, {Name: "a"}, {Name: "b"}}, Distribution: []int{1}}
	index := func(nonUnique, name, column, cardinality string) [][]byte {
		return rowOf(13, map[int]string{1: nonUnique, 2: name, 4: column, 6: cardinality})
	}
	answer := func(id, a, b, ba, text string) [][][]byte {
		return [][][]byte{
			index("0", "PRIMARY", "id", id), index("1", "a", "a", a), index("1", "ba", "b", b), index("1", "ba", "a", ba), index("1", "full", "b", text),
		}
	}
	sum := answer("100", "10", "3", "30", "-")
	require.True(t, AddIndexes(sum, answer("200", "20", "4", "40", "-"), table))
	for i, want := range []string{"300", "30", "4", "70", ""} { // of b every node group has the same few values
		require.Equal(t, want, string(sum[i][6]))
	}
	require.False(t, AddIndexes(sum, answer("1", "1", "1", "1", "1")[:3], table))
	require.Equal(t, "300", string(sum[0][6]))

	hidden := [][][]byte{index("0", "PRIMARY", catalog.HiddenKey, "1"), index("1", "a", "a", "1")}
	require.Len(t, WithoutHiddenKey(hidden), 1)
}

func TestTableStatus(t *testing.T) {
	snap := &catalog.Snapshot{Databases: map[string]*catalog.Database{"app": {Tables: map[string]*catalog.Table{
		"sharded": {Kind: catalog.Sharded}, "reference": {Kind: catalog.Reference}, "single": {Kind: catalog.Single, Group: 2}, "secret": {Kind: catalog.Sharded},
	}}}}
	status := func(name, rows, avg, data, index, auto string) [][]byte {
		return rowOf(18, map[int]string{0: name, 4: rows, 5: avg, 6: data, 8: index, 9: "0", 10: auto})
	}
	answer := func() [][][]byte {
		return [][][]byte{
			status("reference", "5", "10", "50", "1", "-"), status("sharded", "10", "100", "1000", "7", "11"), status("single", "3", "10", "30", "1", "-"),
			status("secret", "1", "1", "1", "1", "1"), status("view", "-", "-", "-", "-", "-"),
		}
	}
	var sum TableStatus
	sees := func(name string) bool { return name != "secret" }
	sum.Add(1, answer(), snap, "app", sees)
	second := answer()
	second[1] = status("sharded", "30", "200", "6000", "7", "9")
	sum.Add(2, second, snap, "app", sees)
	require.Equal(t, [][][]byte{
		status("reference", "5", "10", "50", "1", "-"), status("sharded", "40", "175", "7000", "14", "11"), status("view", "-", "-", "-", "-", "-"),
		status("single", "3", "10", "30", "1", "-"),
	}, sum.Rows)
}
