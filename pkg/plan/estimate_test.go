package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func TestCheapest(t *testing.T) {
	big, small := &catalog.Table{Name: "big"}, &catalog.Table{Name: "small"}
	sizes := map[*catalog.Table]float64{big: 100_000, small: 50}
	known := true
	distinct := 0.0
	c := &Circumstances{Groups: 4, Size: func(t *catalog.Table) (float64, bool) { return sizes[t], known },
		Distinct: func(*catalog.Table, int) float64 { return distinct }}
	copyOf := func(t *catalog.Table, share float64, joins ...Join) Copy {
		return Copy{Table: t, Share: share, Joins: joins, Input: &Fragment{}}
	}
	bring := &Broadcast{Copies: []Copy{copyOf(small, 1)}}
	all := &Workspace{Copies: []Copy{copyOf(small, 1), copyOf(big, 1)}}
	n := &Choice{Broadcasts: []*Broadcast{{Copies: []Copy{copyOf(big, 1)}}, bring}, Workspace: all}
	require.Equal(t, Node(bring), n.Cheapest(c).Node)

	// Nothing is known: what always works.
	known = false
	require.Equal(t, Node(all), n.Cheapest(c).Node)
	known = true

	// Few rows in one place are cheaper than few on every group.
	sizes[big] = 60
	require.Equal(t, Node(all), n.Cheapest(c).Node)

	// So are those that values of the other table tell.
	sizes[big] = 100_000
	n.Workspace = &Workspace{Copies: []Copy{copyOf(big, 0), copyOf(small, 1, Join{From: 0})}}
	require.Equal(t, Node(n.Workspace), n.Cheapest(c).Node)

	// The first rows, unless LIMIT wants too many, or a condition leaves few of them.
	n.Workspace = all
	n.First = &Workspace{First: &FirstRows{}, Copies: []Copy{copyOf(big, 1), copyOf(small, 1, Join{From: 0})}}
	n.Broadcasts = n.Broadcasts[:1]
	c.Limit = 20
	first := n.Cheapest(c)
	require.Equal(t, Node(n.First), first.Node)
	require.Equal(t, uint64(140), first.First)
	n.First.Copies[1].Share = 0.1
	require.Equal(t, uint64(1400), n.Cheapest(c).First)
	c.Limit = 1e6
	require.Equal(t, Node(all), n.Cheapest(c).Node)

	// What an equality leaves depends on how many values there are.
	n = &Choice{Broadcasts: []*Broadcast{bring}, Workspace: &Workspace{Copies: []Copy{copyOf(small, 1), copyOf(big, 1)}}}
	n.Workspace.Copies[1].Equal = []int{1}
	require.Equal(t, Node(bring), n.Cheapest(c).Node)
	distinct = 50_000
	require.Equal(t, Node(n.Workspace), n.Cheapest(c).Node)
}
