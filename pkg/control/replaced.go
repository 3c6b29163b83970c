package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// lookBack looks at the servers that were primaries and were lost. One that is back is made read-only: nobody who has not heard of its successor writes
// there. One that has been made a replica of that is one again.
func (l *lookout) lookBack(ctx context.Context) error {
	back := map[placement.NodeGroupID][]string{}
	if snap := l.leader.follower.Snapshot(); snap != nil {
		for _, g := range snap.Groups {
			for _, n := range g.Replaced {
				if slices.ContainsFunc(snap.Groups, func(o *catalog.NodeGroup) bool {
					return o.Primary.Addr == n.Addr || slices.Contains(addrs(o.Replicas), n.Addr)
				}) {
					continue // of another group by now
				}
				here, err := l.leader.lookAtReplaced(ctx, g, n)
				switch {
				case errors.Is(err, topology.ErrNotLeader) || ctx.Err() != nil:
					return err
				case err != nil && !slices.Contains(l.back[g.ID], n.Addr): // else it has been told
					l.leader.log.WarnContext(ctx, "a server that was replaced as the primary is back", "group", g.ID, "addr", n.Addr, "error", err)
				}
				if here {
					back[g.ID] = append(back[g.ID], n.Addr)
				}
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.back = back
	return nil
}

// lookAtReplaced reports whether a server answers that was replaced and is no replica.
func (l *leader) lookAtReplaced(ctx context.Context, g *catalog.NodeGroup, n catalog.Node) (here bool, err error) {
	v, s, err := view(ctx, l.login, g, n, nil)
	if err != nil {
		return false, nil //nolint:nilerr // it is gone, and may stay so
	}
	defer s.end()
	ctx, cancel := context.WithTimeout(ctx, 2*lookTime)
	defer cancel()
	defer s.Until(ctx)()
	if v.Replication != nil {
		follows, err := l.follows(ctx, g, v, s.Server)
		if err != nil || !follows {
			return true, err
		}
		return false, l.rejoin(ctx, g, n)
	}
	if v.ReadOnly {
		return true, nil
	}
	if err := l.store.Verify(ctx, l.guard); err != nil {
		return true, err
	}
	if err := s.ReadOnlySoon(); err != nil {
		return true, fmt.Errorf("it cannot be made read-only, stop it: %w", err)
	}
	l.log.WarnContext(ctx, "a server that was replaced as the primary is back, and is read-only now", "group", g.ID, "addr", n.Addr)
	return true, nil
}

// follows reports whether a server is a whole replica of the group's primary.
func (l *leader) follows(ctx context.Context, g *catalog.NodeGroup, v *failover.View, s *failover.Server) (bool, error) {
	p, primary, err := view(ctx, l.login, g, g.Primary, nil)
	if err != nil {
		return false, err
	}
	defer primary.end()
	if !v.Follows(p) || !v.Replication.Applies || !v.ReadOnly {
		return false, nil
	}
	has, err := s.Has()
	if err != nil {
		return false, err
	}
	all, err := primary.Has()
	return all.Covers(has), err
}

// rejoin names a server that was replaced as a replica of its group.
func (l *leader) rejoin(ctx context.Context, g *catalog.NodeGroup, n catalog.Node) error {
	now, at, err := l.store.Group(ctx, g.ID)
	if err != nil || now == nil || now.Switchover != nil || now.Primary.Addr != g.Primary.Addr {
		return err
	}
	is := func(o catalog.Node) bool { return o.Addr == n.Addr }
	now.Replaced = slices.DeleteFunc(slices.Clone(now.Replaced), is)
	if !slices.ContainsFunc(now.Replicas, is) {
		now.Replicas = append(slices.Clone(now.Replicas), n)
	}
	if _, err := l.commit(ctx, l.store.Change(l.guard).PutGroup(now, at)); err != nil && !errors.Is(err, topology.ErrConflict) {
		return err
	}
	l.log.InfoContext(ctx, "a server that was replaced as the primary is a replica again", "group", g.ID, "addr", n.Addr)
	return nil
}
