package statistics

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

func TestEstimates(t *testing.T) {
	now := time.Unix(1000, 0)
	e := New()
	e.now = func() time.Time { return now }
	a, b := &catalog.Table{Database: "d", Name: "a"}, &catalog.Table{Database: "d", Name: "b"}
	asked := 0
	count := func(rows float64, err error) func([]*catalog.Table) (map[catalog.TableName]Counts, error) {
		return func(stale []*catalog.Table) (map[catalog.TableName]Counts, error) {
			asked += len(stale)
			m := map[catalog.TableName]Counts{}
			for _, t := range stale {
				m[catalog.TableName{Database: t.Database, Name: t.Name}] = Counts{Rows: rows}
			}
			return m, err
		}
	}
	tables := []*catalog.Table{a, b}
	require.Empty(t, e.Of(tables, count(0, errors.New("a server is down"))))
	require.Equal(t, 2, asked)
	// Nobody asks again at once, whether or not there was an answer.
	require.Empty(t, e.Of(tables, count(5, nil)))
	require.Equal(t, 2, asked)
	now = now.Add(estimateAge)
	require.Equal(t, map[catalog.TableName]Counts{{Database: "d", Name: "a"}: {Rows: 5}}, e.Of(tables[:1], count(5, nil)))
	require.Len(t, e.Of(tables, count(6, nil)), 2)
	require.Equal(t, 4, asked)
	// While one asks, others go on with what was known.
	now = now.Add(estimateAge)
	require.Equal(t, 7.0, e.Of(tables, func(stale []*catalog.Table) (map[catalog.TableName]Counts, error) {
		require.Equal(t, 5.0, e.Of(tables, count(9, nil))[catalog.TableName{Database: "d", Name: "a"}].Rows)
		return count(7, nil)(stale)
	})[catalog.TableName{Database: "d", Name: "a"}].Rows)
	now = now.Add(estimateAge)
	require.Equal(t, 8.0, e.Of(tables, count(8, nil))[catalog.TableName{Database: "d", Name: "a"}].Rows)
}

// A value of a distribution key is on one node group; others can be on several. Copies are counted once.
func TestCountAddsUpNodeGroups(t *testing.T) {
	columns := []catalog.Column{{Name: "Id"}, {Name: "v"}}
	sharded := &catalog.Table{Database: "d", Name: "it's", Kind: catalog.Sharded, Columns: columns, Distribution: []int{0}}
	copied := &catalog.Table{Database: "d", Name: "c", Kind: catalog.Reference, Columns: columns}
	snap := &catalog.Snapshot{Groups: []*catalog.NodeGroup{{ID: 1}, {ID: 2}}}
	b := func(s string) []byte { return []byte(s) }
	got, err := Count(snap, []*catalog.Table{sharded, copied}, func(g placement.NodeGroupID, sql string) ([][][]byte, error) {
		require.Contains(t, sql, "table_name = _utf8mb4 X'69742773'")
		return [][][]byte{
			{b("0"), b(""), b("10")}, {b("0"), b("id"), b("9")}, {b("0"), b("v"), b("4")}, {b("0"), b("w"), nil},
			{b("1"), b(""), b("3")}, {b("7"), b(""), b("3")},
		}, nil
	})
	require.NoError(t, err)
	require.Equal(t, map[catalog.TableName]Counts{
		{Database: "d", Name: "it's"}: {Rows: 20, Distinct: map[string]float64{"id": 18, "v": 4, "w": 0}},
		{Database: "d", Name: "c"}:    {Rows: 3},
	}, got)
}
