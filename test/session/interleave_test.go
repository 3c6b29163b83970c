package session

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// started is a statement that runs beside others.
type started struct {
	t    *testing.T
	what string
	done chan error
}

// start runs statements that are expected to wait for locks, up to the first that fails.
func (c *client) start(statements ...string) *started {
	s := &started{c.t, statements[0], make(chan error, 1)}
	go func() {
		var err error
		for _, q := range statements {
			if _, err = c.ExecContext(context.Background(), q); err != nil {
				break
			}
		}
		s.done <- err
	}()
	return s
}

// waits returns true when n transactions of the cluster wait for row locks, and false if the statements have ended before.
func (s *started) waits(n int) (waiting bool) {
	s.t.Helper()
	var servers []*sql.DB
	for g := 1; g <= 4; g++ {
		servers = append(servers, shared.NodeGroupDB(s.t, g, ""))
	}
	require.Eventually(s.t, func() bool {
		if len(s.done) > 0 {
			return true
		}
		waiting = cluster.LockWaits(s.t, servers) >= n
		return waiting
	}, patience, cluster.LockTick, s.what)
	return waiting
}

// end returns what the statement ended with.
func (s *started) end() error {
	s.t.Helper()
	var err error
	require.Eventually(s.t, func() bool {
		select {
		case err = <-s.done:
			return true
		default:
			return false
		}
	}, 3*patience, tick, s.what)
	return err
}

// idOn is the nth id of d.t that lies on a node group, from 1 on. Other tables with a whole number as their key lie alike.
func idOn(t *testing.T, group, nth int) int {
	for id := 1; id <= 100; id++ {
		if groupOf(t, id) == group {
			if nth--; nth == 0 {
				return id
			}
		}
	}
	t.Fatalf("node group %d has no such row", group)
	return 0
}
