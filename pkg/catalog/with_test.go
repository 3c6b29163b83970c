package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWith(t *testing.T) {
	a, b := &Table{Database: "d", Name: "a"}, &Table{Database: "d", Name: "b"}
	s := &Snapshot{Revision: 7, Databases: map[string]*Database{"d": {Name: "d", Tables: map[string]*Table{"a": a, "b": b}}, "empty": {Name: "empty"}}}
	swapped := s.With([]*Table{a, b}, []*Table{a.Renamed("d", "b"), b.Renamed("empty", "a"), a.Renamed("nowhere", "a")})
	require.EqualValues(t, 7, swapped.Revision)
	require.Equal(t, map[string]*Table{"b": {Database: "d", Name: "b"}}, swapped.Databases["d"].Tables)
	require.Equal(t, map[string]*Table{"a": {Database: "empty", Name: "a"}}, swapped.Databases["empty"].Tables)
	require.Len(t, swapped.Databases, 2)
	require.Same(t, a, s.Table("d", "a"), "s is as it was")
	require.Same(t, b, s.Table("d", "b"))
}
