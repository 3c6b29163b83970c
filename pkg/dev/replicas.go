package dev

import (
	"context"
	"slices"

	"skarv/pkg/binlog"
	"skarv/pkg/datanode"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
)

// openReplicas makes the replicas of data node i, counted from 1; removed: it is no part of the cluster any more.
func (c *Cluster) openReplicas(i int, removed bool) error {
	var all []*datanode.Node
	for r := 1; r <= c.cfg.Replicas && !removed; r++ {
		n, err := c.openNode(i, r)
		if err != nil {
			return err
		}
		all = append(all, n)
	}
	c.replicas = append(c.replicas, all)
	return nil
}

// replicasOf are those of data node i, counted from 0.
func (c *Cluster) replicasOf(i int) []*datanode.Node {
	if i >= len(c.replicas) {
		return nil // it was added later
	}
	return c.replicas[i]
}

// allNodes are the data nodes and their replicas.
func (c *Cluster) allNodes() []*datanode.Node {
	return append(slices.Clone(c.nodes), slices.Concat(c.replicas...)...)
}

// linkReplicas makes the replicas of data node i, counted from 0, replicate from it. In a directory that was complete they do, unless a switchover has changed
// the roles; whoever replicates is read-only.
func (c *Cluster) linkReplicas(ctx context.Context, i int) error {
	for r, n := range append([]*datanode.Node{c.nodes[i]}, c.replicasOf(i)...) {
		if len(c.replicasOf(i)) == 0 {
			return nil
		}
		node := c.login(n)
		s, err := failover.Dial(ctx, mysqlconn.Config{Addr: node.Addr, User: node.User, Password: node.Password}, node.Addr, node.Flavor)
		if err != nil {
			return err
		}
		err = func() error {
			defer s.Close()
			replication, err := s.Replication()
			switch {
			case err != nil:
				return err
			case replication != nil:
				return s.ReadOnly(true)
			case c.dir.marker.Complete || r == 0:
				return nil
			}
			if err := s.Forget(); err != nil {
				return err
			}
			if err := s.Follow(c.login(c.nodes[i]), binlog.Position{}); err != nil {
				return err
			}
			return s.ReadOnly(true)
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
