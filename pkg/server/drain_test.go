package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/processlist"
)

// What keeps a process from stopping is told by who it is, the longest first, and never by its values.
func TestWorking(t *testing.T) {
	now := time.Now()
	client := func(id uint32, command string, age time.Duration) processlist.Process {
		return processlist.Process{ID: id, User: "app", Host: "h:1", Command: command, Since: now.Add(-age), SQL: "SELECT 'secret'"}
	}
	n, longest := working([]processlist.Process{
		client(1, "Query", 3*time.Second), client(2, "Sleep", time.Hour), client(3, "Execute", 41*time.Second),
	}, now)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"client 3 of app at h:1: Execute for 41s", "client 1 of app at h:1: Query for 3s"}, longest)
	many := make([]processlist.Process, 20)
	for i := range many {
		many[i] = client(uint32(i), "Query", time.Second)
	}
	n, longest = working(many, now)
	require.Equal(t, 20, n)
	require.Len(t, longest, workingShown)
	n, longest = working(nil, now)
	require.Zero(t, n)
	require.Empty(t, longest)
}
