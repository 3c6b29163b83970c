package chaos

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
	"skarv/test/cluster"
)

// cutter stands between all proxies and one database server and cuts connections: the one end cannot tell what the other
// one had received.
type cutter struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	pairs map[[2]net.Conn]struct{}
	group sync.WaitGroup
}

// cutAll puts a cutter before every server of c, until the test ends.
func cutAll(t *testing.T, c *cluster.Cluster) []*cutter {
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	snap, err := store.Load(t.Context())
	require.NoError(t, err)
	var all []*cutter
	for _, group := range snap.Groups {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		cut := &cutter{listener: l, to: group.Primary.Addr, pairs: map[[2]net.Conn]struct{}{}}
		cut.group.Go(cut.accept)
		t.Cleanup(cut.close)
		all = append(all, cut)

		old, revision, err := store.Group(t.Context(), group.ID)
		require.NoError(t, err)
		old.Primary.Addr = l.Addr().String()
		_, err = store.Change(nil).PutGroup(old, revision).Commit(t.Context())
		require.NoError(t, err)
	}
	return all
}

func (c *cutter) accept() {
	for {
		from, err := c.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", c.to)
		if err != nil { // the server was killed
			_ = from.Close()
			continue
		}
		pair := [2]net.Conn{from, to}
		c.mu.Lock()
		c.pairs[pair] = struct{}{}
		c.mu.Unlock()
		for i := range pair {
			c.group.Go(func() {
				_, _ = io.Copy(pair[i], pair[1-i])
				c.end(pair, false)
			})
		}
	}
}

// end closes a pair; rudely: without a word to either side.
func (c *cutter) end(pair [2]net.Conn, rudely bool) {
	c.mu.Lock()
	delete(c.pairs, pair)
	c.mu.Unlock()
	for _, end := range pair {
		if tcp, ok := end.(*net.TCPConn); ok && rudely {
			_ = tcp.SetLinger(0)
		}
		_ = end.Close()
	}
}

// cut ends some of the connections.
func (c *cutter) cut(share float64) {
	c.mu.Lock()
	var some [][2]net.Conn
	for pair := range c.pairs {
		if rand.Float64() < share {
			some = append(some, pair)
		}
	}
	c.mu.Unlock()
	for _, pair := range some {
		c.end(pair, true)
	}
}

func (c *cutter) close() {
	_ = c.listener.Close()
	c.cut(2)
	c.group.Wait()
}

// TestCutter: what goes through arrives, and what is cut is gone on both sides.
func TestCutter(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{listener: l, to: server.Addr().String(), pairs: map[[2]net.Conn]struct{}{}}
	c.group.Go(c.accept)
	defer c.close()
	client, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	end, err := server.Accept()
	require.NoError(t, err)
	defer end.Close()
	_, err = client.Write([]byte("x"))
	require.NoError(t, err)
	one := make([]byte, 1)
	_, err = io.ReadFull(end, one)
	require.NoError(t, err)
	c.cut(2)
	_, err = end.Read(one)
	require.Error(t, err)
	require.False(t, errors.Is(err, net.ErrClosed))
	_, err = client.Read(one)
	require.Error(t, err)
}
