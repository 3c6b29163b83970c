package backend

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// TestKillAtOnce: the connections of a statement are killed together where they are to one server, and at the same time where not: a
// server that does not answer holds up none of the others.
func TestKillAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := NewPools(Config{})
	defer p.Apply(nil)
	const servers = 3
	var asked, clients sync.WaitGroup
	asked.Add(servers)
	defer clients.Wait()
	var groups []*catalog.NodeGroup
	for i := range servers {
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		clients.Go(func() {
			first, err := silent.Accept()
			if err != nil {
				return
			}
			defer first.Close()
			asked.Done()
			for {
				c, err := silent.Accept()
				if err != nil {
					return
				}
				c.Close()
				t.Error("a second login to one server")
			}
		})
		defer silent.Close()
		groups = append(groups, &catalog.NodeGroup{ID: placement.NodeGroupID(i + 1), Name: "one", Primary: catalog.Node{Addr: silent.Addr().String(), User: "root"}})
	}
	p.Apply(groups)
	var conns []*Conn
	for _, g := range []int{1, 2, 1, 3, 1} {
		conns = append(conns, &Conn{Conn: &mysqlconn.Conn{}, pool: p.pool(placement.NodeGroupID(g))})
	}
	go func() {
		asked.Wait()
		cancel()
	}()
	left := Kill(ctx, true, append(conns, conns[0])...) // a part within a part
	require.ElementsMatch(t, conns, left)
}
