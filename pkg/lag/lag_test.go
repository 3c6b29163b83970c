package lag

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// cluster is a snapshot with node group 1 and its replicas.
func cluster(schema, partitions int64, replicas ...string) *catalog.Snapshot {
	g := &catalog.NodeGroup{ID: 1, Primary: catalog.Node{Addr: "p"}}
	for _, addr := range replicas {
		g.Replicas = append(g.Replicas, catalog.Node{Addr: addr})
	}
	return &catalog.Snapshot{SchemaRevision: schema, MapRevision: partitions, Groups: []*catalog.NodeGroup{g}}
}

// measured says that a replica has all that its primary had at a moment.
func (m *Meter) measured(t *testing.T, addr string, at time.Duration) {
	t.Helper()
	for _, r := range (*m.groups.Load())[1] {
		if r.node.Addr == addr {
			r.fresh.Store(int64(at))
			return
		}
	}
	t.Fatalf("no replica %s", addr)
}

func TestPick(t *testing.T) {
	now := 100 * time.Second
	m := New(Config{Most: time.Second, Clock: func() time.Duration { return now }})
	m.alive.Store(int64(time.Hour))
	snap := cluster(1, 1, "a", "b")
	m.Expect(snap)
	picks := func(snap *catalog.Snapshot, least time.Duration, session uint32) string {
		addr, ok := m.Pick(snap, 1, least, session)
		require.Equal(t, ok, addr != "")
		return addr
	}
	require.Empty(t, picks(snap, 0, 0), "nothing is known of them")
	m.measured(t, "a", now-time.Millisecond)
	require.Empty(t, picks(snap, 0, 0), "of before the process knew how the cluster is: it may lack what was altered or moved before")
	now += 10 * time.Second
	m.measured(t, "a", now-1001*time.Millisecond)
	require.Empty(t, picks(snap, 0, 0), "too far behind")
	m.measured(t, "a", now-time.Second)
	require.Equal(t, "a", picks(snap, 0, 0))
	require.Equal(t, "a", picks(snap, 0, 1), "the only one")
	require.Equal(t, "a", picks(snap, now-time.Second, 0))
	require.Empty(t, picks(snap, now-time.Second+1, 0), "the session has written since")
	m.measured(t, "b", now)
	require.Equal(t, "a", picks(snap, 0, 2))
	require.Equal(t, "b", picks(snap, 0, 3), "sessions are spread")
	require.Equal(t, "b", picks(snap, now, 2))
	_, ok := m.Pick(snap, 2, 0, 0)
	require.False(t, ok, "a node group without replicas")
	m.alive.Store(int64(now))
	require.False(t, m.Alive())
	require.Empty(t, picks(snap, 0, 2), "others may go on without this process")
	m.alive.Store(int64(time.Hour))

	for why, next := range map[string]*catalog.Snapshot{"another schema": cluster(2, 1, "a", "b"), "another map": cluster(1, 2, "a", "b")} {
		now += time.Minute
		m.Expect(snap)
		now += time.Minute
		m.measured(t, "a", now)
		require.Equal(t, "a", picks(snap, 0, 0))
		now += time.Millisecond
		m.Expect(next)
		require.Empty(t, picks(next, 0, 0), why)
		require.Empty(t, picks(snap, 0, 0), "planned by what was before: "+why)
		m.measured(t, "a", now)
		require.Equal(t, "a", picks(next, 0, 0), why)
	}
	m.Expect(cluster(2, 2, "b"))
	require.Len(t, (*m.groups.Load())[1], 1)
}

// A replica stays what it was measured to be while its node group stays as it is, and is another one behind another primary.
func TestExpect(t *testing.T) {
	now := time.Second
	m := New(Config{Most: time.Minute, Clock: func() time.Duration { return now }})
	m.alive.Store(int64(time.Hour))
	m.Expect(cluster(1, 1, "a"))
	m.measured(t, "a", now)
	again := cluster(1, 1, "a")
	m.Expect(again)
	_, ok := m.Pick(again, 1, 0, 0)
	require.True(t, ok)
	again = cluster(1, 1, "a")
	again.Groups[0].Primary.Addr = "q"
	m.Expect(again)
	_, ok = m.Pick(again, 1, 0, 0)
	require.False(t, ok)
}
