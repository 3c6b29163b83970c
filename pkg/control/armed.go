package control

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// present is a look at a primary that answers.
func (w *watch) present(ctx context.Context, g *catalog.NodeGroup, m *placement.PartitionMap, primary *failover.View, replicas map[string]*failover.View) Failover {
	w.comesBack()
	w.looked, w.reached = time.Now(), time.Now()
	f := Failover{Primary: g.Primary.Addr, ID: primary.ID, Replicas: addrs(g.Replicas), Acks: primary.SemiSync.Acks}
	w.had = replicas
	f.Why = w.risky(ctx, g, primary, replicas)
	behind := w.behind(f.Why == "", primary, replicas)
	f.Why = cmp.Or(f.Why, w.hindered(g, m, replicas), behind)
	f.Armed = f.Why == ""
	w.state = f
	return f
}

// risky tells by what something could be lost with the primary, and has it wait for its replicas where only that is missing.
func (w *watch) risky(ctx context.Context, g *catalog.NodeGroup, primary *failover.View, replicas map[string]*failover.View) string {
	if g.Switchover != nil {
		return "another primary is being made"
	}
	for addr, v := range replicas {
		if v != nil && v.SemiSync.Source && v.Replication != nil && v.Replication.SourceID == primary.ID { // it would wait for replicas of its own
			if err := w.wait(ctx, addr, false); err != nil {
				return err.Error()
			}
		}
	}
	why := failover.Lossless(g.Primary.Flavor, primary, replicas)
	switch {
	case why != "" || primary.SemiSync.Source && primary.SemiSync.Waits:
		return why
	case primary.SemiSync.Source:
		return primary.Addr + " acknowledges what no replica has, until they have caught up (Rpl_semi_sync_..._status is OFF)"
	}
	if err := w.wait(ctx, g.Primary.Addr, true); err != nil {
		return err.Error()
	}
	return "the primary begins to wait for its replicas"
}

// hindered tells why no replica would take the primary's place though nothing would be lost.
func (w *watch) hindered(g *catalog.NodeGroup, m *placement.PartitionMap, replicas map[string]*failover.View) string {
	for addr, v := range replicas {
		if v == nil {
			continue
		}
		if v.Up < lookFresh+3*lookTime { // see successor
			return fmt.Sprintf("replica %s was started just now", addr)
		}
		if err := w.servers.to[addr].MaySwitch(); err != nil {
			return err.Error()
		}
	}
	for _, mv := range m.Moving() {
		if mv.A == g.ID || mv.B == g.ID {
			return fmt.Sprintf("reorganisation %s uses the node group", mv.Reorg)
		}
	}
	if until := g.FailedOver.Add(failoverApart); time.Now().Before(until) {
		return fmt.Sprintf("a replica has taken a primary's place at %s, and not again before %s", g.FailedOver.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return ""
}

// behind tells that too few replicas have what the primary had at an earlier look, since which nothing was risky. Behind that it has acknowledged only what they have;
// but before it did so by itself, or to somebody whom nobody knows; and a replica that is started anew, on MariaDB also by START SLAVE, gets again what it had
// acknowledged and not applied.
func (w *watch) behind(safe bool, primary *failover.View, replicas map[string]*failover.View) string {
	now, s := time.Now(), primary.SemiSync
	if !safe {
		w.goalAt = time.Time{}
		return ""
	}
	have := 0
	for _, v := range replicas {
		if v != nil && v.SemiSync.Acknowledging && !w.goalAt.IsZero() && v.Has.Covers(w.goal) {
			have++
		}
	}
	if w.goalAt.IsZero() || have >= s.Acks && now.Sub(w.goalAt) >= lookEvery {
		w.goal, w.goalAt = primary.Has, now
	}
	if have >= s.Acks {
		return ""
	}
	return fmt.Sprintf("too few replicas have received what %s has (%d of %d)", primary.Addr, have, s.Acks)
}

// wait has a server wait for replicas, or not.
func (w *watch) wait(ctx context.Context, addr string, on bool) error {
	s := w.servers.to[addr]
	if s == nil {
		return fmt.Errorf("%s does not answer", addr)
	}
	if err := w.leader.store.Verify(ctx, w.leader.guard); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer s.Until(bounded)()
	w.leader.log.InfoContext(ctx, "a server waits for its replicas before it acknowledges, or does so no more", "addr", addr, "waits", on)
	return s.Wait(on)
}

// AutomaticFailover turns automatic failover of a node group on or off, or with dryRun only looks. notes tell what keeps it from being armed.
func (c *Client) AutomaticFailover(ctx context.Context, id placement.NodeGroupID, on, dryRun bool, login func(*catalog.NodeGroup) mysqlconn.Config) (notes []string, err error) {
	group, at, err := c.Store.Group(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case group == nil:
		return nil, fmt.Errorf("there is no node group %d", id)
	}
	if on {
		servers := watched{login: login}
		defer servers.end()
		primary, replicas, err := servers.views(ctx, group)
		if err != nil {
			return nil, fmt.Errorf("the primary at %s cannot be looked at: %w", group.Primary.Addr, err)
		}
		if len(replicas) == 0 {
			return nil, fmt.Errorf("node group %s has no replica that the cluster knows: skarvctl nodegroup replica add %[1]s HOST:PORT", group.Label())
		}
		notes = unready(group, primary, replicas)
	}
	if dryRun || group.AutomaticFailover == on {
		return notes, nil
	}
	group.AutomaticFailover = on
	revision, err := c.Store.Change(nil).PutGroup(group, at).Commit(ctx)
	if err != nil {
		return nil, meanwhile(err)
	}
	c.Await(ctx, revision)
	return notes, nil
}

// unready tells what keeps a primary from being one that may be lost, but for what the controller sees to.
func unready(g *catalog.NodeGroup, primary *failover.View, replicas map[string]*failover.View) (notes []string) {
	if why := failover.Lossless(g.Primary.Flavor, primary, replicas); why != "" {
		notes = append(notes, "no replica would take the primary's place now: "+why)
	}
	return notes
}
