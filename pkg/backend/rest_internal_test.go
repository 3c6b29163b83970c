package backend

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/test/realserver"
)

// resting are pools of one node group that run, and the group at rest.
func resting(t *testing.T) (p *Pools, group, atRest *catalog.NodeGroup) {
	t.Helper()
	server := realserver.Start(t)[0]
	cfg := DefaultConfig()
	cfg.MaxPerGroup, cfg.FixedLimit, cfg.AcquireTimeout = 2, true, time.Minute
	p = NewPools(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	group = &catalog.NodeGroup{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + server.Addr, User: "root"}}
	fresh := *group
	fresh.Switchover = &catalog.Switchover{ID: "x", Patience: time.Minute}
	return p, group, &fresh
}

// Who waited in the queue before the rest began gets no connection in it, although one comes free.
func TestQueueAtRest(t *testing.T) {
	p, group, atRest := resting(t)
	p.Apply([]*catalog.NodeGroup{group})
	none, st := Profile{NoDB: true}, NewState("", nil)
	get := func() *Conn {
		c, err := p.Get(1, none, st, nil, Claim{Wide: true})
		require.NoError(t, err)
		return c
	}
	first := get()
	queued := make(chan *Conn)
	go func() { queued <- get() }()
	require.Eventually(t, func() bool { return p.Health(1).Queue == 1 }, time.Minute, time.Millisecond)
	p.Apply([]*catalog.NodeGroup{atRest})
	require.NoError(t, p.AwaitRest(t.Context(), atRest), "it takes first away")
	first.Discard()
	require.Eventually(t, func() bool { return p.Health(1).Queue == 0 && p.Health(1).InUse == 0 }, time.Minute, time.Millisecond)
	select {
	case <-queued:
		t.Fatal("a connection was handed out at rest")
	default:
	}
	p.Apply([]*catalog.NodeGroup{group})
	(<-queued).Release()
}

// The rest begins before anybody works by the state of the cluster that says so.
func TestRestBeginsEarly(t *testing.T) {
	p, group, atRest := resting(t)
	p.Apply([]*catalog.NodeGroup{group})
	p.Add([]*catalog.NodeGroup{atRest})
	_, err := p.Get(1, Profile{NoDB: true}, NewState("", nil), nil, Claim{Class: Spare})
	require.ErrorIs(t, err, ErrNoSpare)
	p.Renew()
	_, err = p.Get(1, Profile{NoDB: true}, NewState("", nil), nil, Claim{Class: Spare})
	require.ErrorIs(t, err, ErrNoSpare)
}

// Who has a connection gets another one, for he might not give back the first without it.
func TestSecondConnectionAtRest(t *testing.T) {
	p, group, atRest := resting(t)
	atRest.Switchover.Drain = time.Minute
	p.Apply([]*catalog.NodeGroup{group})
	var owner struct{ Owner }
	get := func() *Conn {
		c, err := p.Get(1, Profile{NoDB: true}, NewState("", nil), nil, Claim{Owner: &owner})
		require.NoError(t, err)
		return c
	}
	first := get()
	p.Apply([]*catalog.NodeGroup{atRest})
	rests := make(chan error)
	go func() { rests <- p.AwaitRest(t.Context(), atRest) }()
	second := get()
	first.Release()
	select {
	case <-rests:
		t.Fatal("the second connection is in use")
	default:
	}
	second.Release()
	require.NoError(t, <-rests)
}

// What was lost on a server that is the primary no more is not waited for.
func TestOrphansOfLostPrimary(t *testing.T) {
	p, group, _ := resting(t)
	lost := *group
	lost.Primary.Addr = "127.0.0.1:1"
	p.Apply([]*catalog.NodeGroup{&lost})
	p.orphans.add(orphan{1, 7, 1, "root", p.pool(1)})
	p.Apply([]*catalog.NodeGroup{group})
	require.NoError(t, p.AwaitOrphans(t.Context(), []placement.NodeGroupID{1}))
}
