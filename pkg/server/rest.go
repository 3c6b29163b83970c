package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/topology"
)

// runRests announces of which node groups, while another server is made their primary, nothing in this process is in use any more; and takes
// a switchover back that stands for longer than it may, as every process does: whoever began it may be gone.
func (s *Server) runRests(ctx context.Context) error {
	for ctx.Err() == nil {
		s.rest(ctx, s.switchovers())
	}
	return nil
}

// reachEvery is how often it is looked which primaries do not answer.
const reachEvery = 500 * time.Millisecond

// runReach announces which primaries do not answer this process: no other server takes the place of one that somebody reaches.
func (s *Server) runReach(ctx context.Context) error {
	for {
		var unreached []topology.Unreached
		for _, p := range s.pools.Silences() {
			unreached = append(unreached, topology.Unreached{Group: p.Group, Addr: p.Addr, Episode: p.Since.UnixNano()})
		}
		s.presence.Reaches(unreached)
		if pause.For(ctx, reachEvery) != nil {
			return nil
		}
	}
}

// switchovers are the node groups that get another primary.
func (s *Server) switchovers() (standing []*catalog.NodeGroup) {
	if snap := s.follower.Snapshot(); snap != nil {
		for _, g := range snap.Groups {
			if g.Switchover != nil {
				standing = append(standing, g)
			}
		}
	}
	return standing
}

// rest is runRests until there are other switchovers than these.
func (s *Server) rest(ctx context.Context, standing []*catalog.NodeGroup) {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	var rests []string
	s.presence.Rests(nil)
	var calls sync.WaitGroup
	for _, g := range standing {
		calls.Go(func() {
			for s.pools.AwaitRest(ctx, g) != nil { // the process may have got other accounts
				if pause.For(ctx, restAgain) != nil {
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			rests = append(rests, g.Switchover.ID)
			s.presence.Rests(slices.Clone(rests))
		})
		calls.Go(func() { s.takeBack(ctx, g) })
	}
	same := func(a, b *catalog.NodeGroup) bool { return a.Switchover.ID == b.Switchover.ID }
	for ctx.Err() == nil && slices.EqualFunc(standing, s.switchovers(), same) {
		select {
		case <-s.switches:
		case <-ctx.Done():
		}
	}
	cancel()
	calls.Wait()
}

// restAgain is the pause before a node group is brought to rest once more.
const restAgain = 20 * time.Millisecond

// takeBack ends the switchover of g, as it was read, when it has stood for too long.
func (s *Server) takeBack(ctx context.Context, g *catalog.NodeGroup) {
	wait := g.Switchover.Patience
	for pause.For(ctx, wait+rand.N(wait/4)) == nil {
		now, revision, err := s.store.Group(ctx, g.ID)
		if err == nil && (now == nil || now.Switchover == nil || now.Switchover.ID != g.Switchover.ID) {
			return // the snapshot comes
		}
		if err == nil {
			now.Switchover = nil
			_, err = s.store.Change(nil).PutGroup(now, revision).Commit(ctx)
		}
		if err == nil {
			s.log.Warn("the change of a node group's primary has taken too long and is taken back", "group", g.ID, "to", g.Switchover.To)
			return
		}
		if !errors.Is(err, topology.ErrConflict) {
			s.log.Warn("the change of a node group's primary has taken too long and cannot be taken back", "group", g.ID, "error", err)
		}
		wait = time.Second
	}
}
