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
	"skarv/test/realserver"
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
	killed := Kill(ctx, true, append(conns, conns[0])...) // a part within a part
	require.ElementsMatch(t, conns, killed.Left)
}

// TestKillNobodyElse: behind a restart of the server a connection's number may be another's, a later one of the pool or that of another
// process: nobody is killed in its place.
func TestKillNobodyElse(t *testing.T) {
	server := realserver.Start(t)[0]
	p := NewPools(DefaultConfig())
	defer p.Apply(nil)
	p.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + server.Addr, User: "root"}}})
	c, err := p.Get(1, Profile{NoDB: true}, NewState("", nil), nil, Claim{})
	require.NoError(t, err)
	defer c.Release()
	for name, lost := range map[string]*Conn{
		"of the pool":        {Conn: c.Conn, pool: c.pool, number: c.number - 1, user: c.user},
		"of another process": {Conn: c.Conn, pool: c.pool, number: c.number + 1, user: "another"},
	} {
		require.Empty(t, Kill(t.Context(), false, lost), name)
		_, err = c.Exec("DO 1")
		require.NoError(t, err, name)
	}
}
