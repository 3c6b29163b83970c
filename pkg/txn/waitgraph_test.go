package txn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
)

func TestDeadlocks(t *testing.T) {
	on := func(g, thread int) Branch { return Branch{Group: placement.NodeGroupID(g), Thread: uint32(thread)} }
	waiter := func(id string, began int64, branches ...Branch) Waiter {
		return Waiter{ID: ID(id), Began: began, Since: began + 1, Branches: branches}
	}
	old, young := waiter("1-a-1", 10, on(1, 11), on(2, 21)), waiter("1-b-1", 20, on(1, 12), on(2, 22))
	apart := waiter("1-c-1", 30, on(1, 13), on(2, 23))
	victims := func(waiters []Waiter, edges ...edge) (ids []string) {
		for _, d := range deadlocks(waiters, edges) {
			ids = append(ids, string(d.victim.ID))
		}
		return ids
	}
	all := []Waiter{old, young, apart}

	require.Equal(t, []string{"1-b-1"}, victims(all, edge{on(1, 11), on(1, 12)}, edge{on(2, 22), on(2, 21)}), "each waits on another group")
	require.Empty(t, victims(all, edge{on(1, 11), on(1, 12)}, edge{on(1, 13), on(1, 12)}), "a queue")
	require.Empty(t, victims(all, edge{on(1, 11), on(1, 12)}, edge{on(2, 12), on(2, 11)}), "the same numbers on another group are others")
	require.Equal(t, []string{"1-b-1"},
		victims(all, edge{on(1, 11), on(1, 99)}, edge{on(1, 99), on(1, 12)}, edge{on(2, 22), on(2, 21)}), "by way of a transaction on one group")
	require.Equal(t, []string{"1-c-1"},
		victims(all, edge{on(1, 11), on(1, 12)}, edge{on(2, 22), on(2, 23)}, edge{on(1, 13), on(1, 11)}), "a circle of three, its youngest")
	require.Empty(t, victims(all, edge{on(1, 98), on(1, 99)}, edge{on(1, 99), on(1, 98)}), "a server ends its own")

	d := deadlocks(all, []edge{{on(1, 11), on(1, 12)}, {on(2, 22), on(2, 21)}, {on(1, 12), on(1, 77)}})
	require.Equal(t, []Branch{on(2, 22)}, d[0].waits, "where the victim waits for others of the circle")
	later := []Waiter{old, young}
	later[1].Since++
	require.NotEqual(t, d[0].key, deadlocks(later, []edge{{on(1, 11), on(1, 12)}, {on(2, 22), on(2, 21)}})[0].key, "another statement is another wait")
}
