package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
)

// slotRetry is the pause before taking a slot is tried again.
const slotRetry = 300 * time.Millisecond

// dialGroup connects to a group's primary with Skarv's own account.
func (s *Server) dialGroup(ctx context.Context, g *catalog.NodeGroup) (*mysqlconn.Conn, error) {
	return s.pools.Dial(ctx, g.ID)
}

// holds reports whether a slot is this process's still.
func (s *Server) holds(ctx context.Context, slot fence.Slot) (bool, error) {
	return s.store.HoldsSlot(ctx, slot.N, slot.Incarnation)
}

// runSlot keeps the process in a slot until ctx ends: it takes one, and another one whenever it was shut out. With that its clients have to
// connect anew.
//
// Order matters: the slot is taken, then the partition map and the catalog are read that are current, then servers are logged in
// to. Who waits for all slots and did not find this one has written his map, or his catalog, before.
func (s *Server) runSlot(ctx context.Context) error {
	for first := true; ; first = false {
		if err := s.takeSlot(ctx); err != nil {
			return nil //nolint:nilerr // the context ended
		}
		if first {
			close(s.admitted)
		}
		s.awaitFenced(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.log.Warn("this process was shut out of the database servers and starts anew", "slot", s.slot.Load().N)
		s.slot.Store(nil)
		s.accounts.Use(nil)
		s.presence.Hold(nil)
		s.pools.Renew() // what its connections were doing has been undone by the servers
	}
}

// takeSlot takes a slot and makes its account the one to log in with.
func (s *Server) takeSlot(ctx context.Context) error {
	for logged := ""; ; {
		err := s.trySlot(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if why := err.Error(); why != logged { // it is tried several times a second
			logged = why
			s.log.Warn("no slot in the cluster yet", "error", err)
		}
		if err := pause.For(ctx, slotRetry); err != nil {
			return err
		}
	}
}

func (s *Server) trySlot(ctx context.Context) error {
	secret, err := s.store.Secret(ctx, "slots")
	if err != nil {
		return err
	}
	slot, err := s.store.TakeSlot(ctx, s.id, addrOf(s.mysql))
	if err != nil {
		return err
	}
	err = s.follower.AwaitMap(ctx)
	if err == nil {
		_, err = s.follower.Reach(ctx, slot.Revision)
	}
	if err == nil {
		err = s.syncGates(ctx)
	}
	if err != nil {
		return errors.Join(err, s.store.ReleaseSlot(context.WithoutCancel(ctx), slot))
	}
	select {
	case <-s.fenced: // of an earlier slot
	default:
	}
	// Once more: a statement may have begun since the slot before was lost, by the catalog as it was then. Who reads the new count sees
	// the catalog that was just reached; who has read the old one fails in Session.admitted.
	s.pools.Renew()
	s.accounts.Use(&fence.Slot{N: slot.N, Incarnation: slot.Incarnation, Secret: secret})
	s.numberBy(slot.N)
	s.slot.Store(slot)
	s.presence.Hold(slot)
	signal(s.maps)
	s.log.Info("slot taken", "slot", slot.N, "incarnation", slot.Incarnation)
	return nil
}

// awaitFenced returns when etcd or a server says that the slot is lost.
func (s *Server) awaitFenced(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error {
		defer cancel()
		for ctx.Err() == nil {
			fenced, err := s.store.AwaitFenced(ctx, s.slot.Load())
			if fenced {
				return nil
			}
			if err != nil {
				_ = pause.For(ctx, slotRetry) // the loop looks at ctx
			}
		}
		return nil
	})
	select {
	case <-s.fenced:
	case <-ctx.Done():
	}
	cancel()
	_ = g.Wait()
}

// releaseSlot gives the slot back after everything that used it has ended, unless a server may still be busy with
// something of this process: then the controller shuts the slot out.
func (s *Server) releaseSlot() {
	slot := s.slot.Load()
	if slot == nil || s.pools.Orphans() > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := s.store.ReleaseSlot(ctx, slot); err != nil {
		s.log.Warn("slot is left to the controller", "slot", slot.N, "error", err)
	}
}

// runBarrier acknowledges partition maps: each once nothing works by an older one any more.
func (s *Server) runBarrier(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.maps:
		}
		if snap := s.follower.Snapshot(); snap != nil && snap.Map != nil {
			s.drain(ctx, snap.Map)
		}
	}
}

// drain waits until nothing works by a map older than m, or there is another one.
func (s *Server) drain(ctx context.Context, m *placement.PartitionMap) {
	ctx, cancel := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error {
		if err := s.barrier.Drain(ctx, m); err != nil {
			return err
		}
		if groups := s.copiedFrom(m); len(groups) > 0 {
			if err := s.pools.AwaitOrphans(ctx, groups); err != nil {
				return err
			}
		}
		s.presence.AckMap(m.Epoch())
		return nil
	})
	done := make(chan struct{})
	go func() {
		_ = g.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			cancel()
			return
		case <-s.maps:
			if s.follower.Snapshot().Map != m {
				cancel()
				<-done
				signal(s.maps)
				return
			}
		case <-ctx.Done():
			<-done
			cancel()
			return
		}
	}
}

// copiedFrom are the node groups whose rows are copied while m stands, or compared with copies, frozen or not: what somebody has lost there may
// change rows by the map before. A group that joins gets the copies of reference tables that the first one has.
func (s *Server) copiedFrom(m *placement.PartitionMap) (groups []placement.NodeGroupID) {
	for i := range m.Moving() {
		groups = append(groups, m.Moving()[i].A, m.Moving()[i].B)
	}
	if first := s.follower.Snapshot().Groups; m.CopiesFrozen() > 0 && len(first) > 0 {
		groups = append(groups, first[0].ID)
	}
	return groups
}

// announceStale lets the cluster know which statements here were planned by another catalog than the present one, and still run.
func (s *Server) announceStale() (any bool) {
	s.settling.Lock()
	defer s.settling.Unlock()
	stale := s.barrier.Stale(s.follower.Snapshot())
	s.presence.Stands(stale)
	return len(stale) > 0
}

// runStale goes on announcing stale statements until there are none.
func (s *Server) runStale(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.schemas:
		}
		for {
			s.barrier.WatchStands(s.follower.Snapshot().SchemaRevision)
			if !s.announceStale() {
				break
			}
			select {
			case <-ctx.Done():
				return nil
			case <-s.barrier.Stood():
			case <-s.schemas:
			}
		}
		s.barrier.WatchStands(0)
	}
}

// runThaw ends a freeze of partitions that has lasted for longer than it may, as every process does: whoever froze them may
// be gone.
func (s *Server) runThaw(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.freezes:
		}
		snap := s.follower.Snapshot()
		after := reorg.ThawAfter(snap)
		if after == 0 {
			continue
		}
		t := time.NewTimer(after + rand.N(after/4))
		for due := false; !due; {
			select {
			case <-ctx.Done():
				t.Stop()
				return nil
			case <-s.freezes:
				if s.follower.Snapshot().MapRevision != snap.MapRevision {
					due = true
					signal(s.freezes)
				}
			case <-t.C:
				due = true
				thawed, err := reorg.Thaw(ctx, s.store, snap)
				switch {
				case err != nil:
					s.log.Warn("frozen partitions cannot be thawed", "error", err)
					signal(s.freezes)
				case thawed:
					s.log.Warn("partitions were frozen for too long and have been thawed", "epoch", snap.Map.Epoch())
				}
			}
		}
		t.Stop()
	}
}
