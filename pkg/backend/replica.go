package backend

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// Replicas of node groups have pools of their own, which are made when somebody first asks for a connection. How old what they have is, others
// know. Nothing may be written there: the proxies' own accounts, by which they are shut out of servers, are not on replicas.

// Replica is Get of a connection to the replica of node group g at addr, for reading alone.
func (p *Pools) Replica(g placement.NodeGroupID, addr string, profile Profile, st *State, claim Claim) (*Conn, error) {
	pl := p.replica(g, addr)
	if pl == nil {
		return nil, sqlerr.ServerLost.New(fmt.Sprintf("node group %d has no replica %s", g, addr))
	}
	return pl.ready(profile, st, nil, claim)
}

// replica is the pool of a replica, nil if the group has no such one.
func (p *Pools) replica(g placement.NodeGroupID, addr string) *pool {
	at := func(pl *pool) bool { return pl.group.Primary.Addr == addr }
	if list := (*p.replicas.Load())[g]; len(list) > 0 {
		if i := slices.IndexFunc(list, at); i >= 0 {
			return list[i]
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := (*p.replicas.Load())[g]
	if i := slices.IndexFunc(list, at); i >= 0 { // made meanwhile
		return list[i]
	}
	primary := p.pool(g)
	if primary == nil {
		return nil
	}
	group := primary.latest.Load()
	i := slices.IndexFunc(group.Replicas, func(n catalog.Node) bool { return n.Addr == addr })
	if i < 0 {
		return nil
	}
	pl := newPool(AsReplica(group, group.Replicas[i]), p.replicaConfig(), newMetrics(nil), &p.orphans)
	pl.replica = true
	next := maps.Clone(*p.replicas.Load())
	next[g] = append(slices.Clone(list), pl)
	p.replicas.Store(&next)
	p.signal()
	return pl
}

// ReplicaDown reports whether a replica that somebody has asked for is known to be down.
func (p *Pools) ReplicaDown() bool {
	for _, list := range *p.replicas.Load() {
		if slices.ContainsFunc(list, func(pl *pool) bool { return pl.down.Load() != nil }) {
			return true
		}
	}
	return false
}

// AsReplica is g as if its replica n were the primary: how to connect to that, for those who ask for a group.
func AsReplica(g *catalog.NodeGroup, n catalog.Node) *catalog.NodeGroup {
	as := *g
	as.Primary, as.Replicas, as.Switchover = n, nil, nil
	return &as
}

// replicaConfig is that of the pools of replicas.
func (p *Pools) replicaConfig() Config {
	cfg := p.cfg
	cfg.FixedLimit, cfg.Registerer = true, nil
	if cfg.Accounts != nil {
		cfg.Accounts = ownAccount{cfg.Accounts}
	}
	return cfg
}

// ownAccount logs in with the node's own account.
type ownAccount struct{ Accounts }

func (ownAccount) Account(_ context.Context, g *catalog.NodeGroup) (user, password string, err error) {
	return g.Primary.User, g.Primary.Password, nil
}

func (a ownAccount) Admit(c *mysqlconn.Conn, g *catalog.NodeGroup, _ string) error {
	return a.Known(c, g)
}

func (ownAccount) Refused(*catalog.NodeGroup, string, error) bool { return false }

// applyReplicas closes the pools of servers that are no replicas of groups any more. The caller holds mu.
func (p *Pools) applyReplicas(groups []*catalog.NodeGroup) {
	old := *p.replicas.Load()
	next := map[placement.NodeGroupID][]*pool{}
	kept := map[*pool]bool{}
	for _, g := range groups {
		for _, pl := range old[g.ID] {
			i := slices.IndexFunc(g.Replicas, func(n catalog.Node) bool { return n.Addr == pl.group.Primary.Addr })
			if i < 0 {
				continue
			}
			if as := AsReplica(g, g.Replicas[i]); pl.serves(as) {
				pl.follow(as)
				kept[pl] = true
				next[g.ID] = append(next[g.ID], pl)
			}
		}
	}
	p.replicas.Store(&next)
	for _, list := range old {
		for _, pl := range list {
			if !kept[pl] {
				pl.close()
			}
		}
	}
}

// every calls f with all pools, those of replicas among them.
func (p *Pools) every(f func(*pool)) {
	for _, pl := range *p.pools.Load() {
		if pl != nil {
			f(pl)
		}
	}
	for _, list := range *p.replicas.Load() {
		for _, pl := range list {
			f(pl)
		}
	}
}
