package backend_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
)

// Many sessions share few connections: all sessions get their turn, and all connections their share of the work, whether the
// sessions come back to the connection they had before or not.
func TestHandOutIsFair(t *testing.T) {
	const sessions, connections, statements = 16, 4, 2000
	p, _ := start(t, func(cfg *backend.Config) { cfg.MaxPerGroup, cfg.AcquireTimeout = connections, time.Minute })
	all := make([]*backend.Conn, connections) // made before what is counted begins: a busy machine takes its time for some
	for i := range all {
		var err error
		all[i], err = p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		require.NoError(t, err)
	}
	for _, c := range all {
		c.Release()
	}
	for _, remember := range []bool{false, true} {
		var done atomic.Int64
		bySession := make([]int, sessions)
		byConn := map[uint32]int{}
		var mu sync.Mutex // guards byConn
		var g sync.WaitGroup
		for i := range sessions {
			g.Go(func() {
				var hint *backend.Conn
				for done.Add(1) <= statements {
					c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), hint, backend.Claim{})
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := c.Exec("DO 1"); err != nil {
						t.Error(err)
					}
					bySession[i]++
					mu.Lock()
					byConn[c.ThreadID()]++
					mu.Unlock()
					if remember {
						hint = c
					}
					c.Release()
				}
			})
		}
		g.Wait()
		require.Len(t, byConn, connections)
		for i, n := range bySession {
			require.Greaterf(t, n, statements/sessions/2, "session %d of %v", i, bySession)
		}
		for _, n := range byConn { // a busy machine may let one of the server's threads wait; it is not to be one of those that get hardly any
			require.Greater(t, n, statements/connections/4, "%v", byConn)
		}
		t.Logf("statements by session %v, by connection %v", bySession, byConn)
	}
}
