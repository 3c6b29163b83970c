//go:build !race

package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
)

// Packs allocate nothing either. The race detector makes sync.Pool forget things, so this runs without it.
func TestPacksAllocateNothing(t *testing.T) {
	needsLoops(t)
	const clients = 8
	begin, done := make([]chan struct{}, clients), make(chan error, clients)
	var seq byte
	request := wire.AppendPacket(nil, &seq, append([]byte{byte(wire.ComQuery)}, "SELECT v FROM t WHERE id = 7"...))
	for i := range begin {
		begin[i] = make(chan struct{}, 1)
		c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d"})
		require.NoError(t, err)
		go func() {
			defer c.Close()
			mine, buf := bytes.Clone(request), make([]byte, 16<<10)
			for range begin[i] {
				sum, err := c.Relay(mine, wire.ComQuery, io.Discard, buf)
				if err == nil && sum.Failed() {
					err = fmt.Errorf("error %d", sum.ErrCode)
				}
				done <- err
			}
		}()
		t.Cleanup(func() { close(begin[i]) })
	}
	run := func() {
		for _, b := range begin {
			b <- struct{}{}
		}
		for range clients {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	before := packed(t, shared)
	for range 2000 {
		run() // packs are made, plans, buffers
	}
	require.Greater(t, packed(t, shared), before)
	requireNoAllocation(t, run, "a pack")
}
