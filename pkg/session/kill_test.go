package session

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
)

// TestKillAtOnce: the connections of a statement are killed together where they are to one node group, and at the same time
// where not: a server that does not answer holds up none of the others.
func TestKillAtOnce(t *testing.T) {
	r := &running{}
	for _, g := range []placement.NodeGroupID{1, 2, 1, 3, 1} {
		r.conns = append(r.conns, &backend.Conn{Group: g})
	}
	r.conns = append(r.conns, r.conns[0]) // a part within a part
	var mu sync.Mutex
	killed := map[placement.NodeGroupID]int{}
	var all sync.WaitGroup
	all.Add(3)
	r.groups(func(g placement.NodeGroupID, conns []*backend.Conn) {
		all.Done()
		all.Wait()
		mu.Lock()
		defer mu.Unlock()
		killed[g] += len(conns)
	})
	require.Equal(t, map[placement.NodeGroupID]int{1: 3, 2: 1, 3: 1}, killed)
}
