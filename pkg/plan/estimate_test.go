package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func TestOrder(t *testing.T) {
	big, small := &catalog.Table{Name: "big"}, &catalog.Table{Name: "small"}
	sizes := map[*catalog.Table]float64{big: 100_000, small: 50}
	known := true
	distinct := 0.0
	c := &Circumstances{Groups: 4, Size: func(t *catalog.Table) (float64, bool) { return sizes[t], known },
		Distinct: func(*catalog.Table, int) float64 { return distinct }}
	any := func(Way) bool { return true }
	cheapest := func(n *Choice) Way { return n.Order(c, nil, any)[0] }
	copyOf := func(t *catalog.Table, share float64, joins ...Join) Copy {
		return Copy{Table: t, Share: share, Joins: joins, Input: &Fragment{}}
	}
	bring := &Broadcast{Copies: []Copy{copyOf(small, 1)}}
	all := &Workspace{Copies: []Copy{copyOf(small, 1), copyOf(big, 1)}}
	n := &Choice{Broadcasts: []*Broadcast{{Copies: []Copy{copyOf(big, 1)}}, bring}, Workspace: all}
	require.Equal(t, Node(bring), cheapest(n).Node)

	// Nothing is known: what always works.
	known = false
	require.Equal(t, Node(all), cheapest(n).Node)
	known = true

	// Few rows in one place are cheaper than few on every group.
	sizes[big] = 60
	require.Equal(t, Node(all), cheapest(n).Node)

	// So are those that values of the other table tell.
	sizes[big] = 100_000
	n.Workspace = &Workspace{Copies: []Copy{copyOf(big, 0), copyOf(small, 1, Join{From: 0})}}
	require.Equal(t, Node(n.Workspace), cheapest(n).Node)

	// The first rows, unless LIMIT wants too many, or a condition leaves few of them.
	n.Workspace = all
	n.First = &Workspace{First: &FirstRows{}, Copies: []Copy{copyOf(big, 1), copyOf(small, 1, Join{From: 0})}}
	n.Broadcasts = n.Broadcasts[:1]
	c.Limit = 20
	first := cheapest(n)
	require.Equal(t, Node(n.First), first.Node)
	require.Equal(t, uint64(140), first.First)
	n.First.Copies[1].Share = 0.1
	require.Equal(t, uint64(1400), cheapest(n).First)
	c.Limit = 1e6
	require.Equal(t, Node(all), cheapest(n).Node)
	c.Limit = 20

	// What is preferred is taken whatever it costs, if there is such a way, and all others come after it.
	nodes := func(ways []Way) (list []Node) {
		for _, w := range ways {
			list = append(list, w.Node)
		}
		return list
	}
	broadcast := func(w Way) bool { _, ok := w.Node.(*Broadcast); return ok }
	require.Equal(t, []Node{n.Broadcasts[0], n.First, all}, nodes(n.Order(c, broadcast, any)))
	require.Equal(t, []Node{n.First, all}, nodes(n.Order(c, nil, func(w Way) bool { return !broadcast(w) })))
	require.Equal(t, []Node{all, n.Broadcasts[0], n.First}, nodes(n.Order(c, func(Way) bool { return false }, any)))

	// What an equality leaves depends on how many values there are.
	n = &Choice{Broadcasts: []*Broadcast{bring}, Workspace: &Workspace{Copies: []Copy{copyOf(small, 1), copyOf(big, 1)}}}
	n.Workspace.Copies[1].Equal = []int{1}
	require.Equal(t, Node(bring), cheapest(n).Node)
	distinct = 50_000
	require.Equal(t, Node(n.Workspace), cheapest(n).Node)
}
