package session

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func TestEstimates(t *testing.T) {
	now := time.Unix(1000, 0)
	e := NewEstimates()
	e.now = func() time.Time { return now }
	a, b := &catalog.Table{Database: "d", Name: "a"}, &catalog.Table{Database: "d", Name: "b"}
	asked := 0
	count := func(rows float64, err error) func([]*catalog.Table) (map[tableName]counts, error) {
		return func(stale []*catalog.Table) (map[tableName]counts, error) {
			asked += len(stale)
			m := map[tableName]counts{}
			for _, t := range stale {
				m[tableName{t.Database, t.Name}] = counts{rows: rows}
			}
			return m, err
		}
	}
	tables := []*catalog.Table{a, b}
	require.Empty(t, e.rows(tables, count(0, errors.New("a server is down"))))
	require.Equal(t, 2, asked)
	// Nobody asks again at once, whether or not there was an answer.
	require.Empty(t, e.rows(tables, count(5, nil)))
	require.Equal(t, 2, asked)
	now = now.Add(estimateAge)
	require.Equal(t, map[tableName]counts{{"d", "a"}: {rows: 5}}, e.rows(tables[:1], count(5, nil)))
	require.Len(t, e.rows(tables, count(6, nil)), 2)
	require.Equal(t, 4, asked)
	// While one asks, others go on with what was known.
	now = now.Add(estimateAge)
	require.Equal(t, 7.0, e.rows(tables, func(stale []*catalog.Table) (map[tableName]counts, error) {
		require.Equal(t, 5.0, e.rows(tables, count(9, nil))[tableName{"d", "a"}].rows)
		return count(7, nil)(stale)
	})[tableName{"d", "a"}].rows)
	e.surprised(a)
	require.Equal(t, 8.0, e.rows(tables, count(8, nil))[tableName{"d", "a"}].rows)
}
