package dev

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/datanode"
	"skarv/pkg/placement"
)

// below is what runs the data nodes.
type below struct {
	ctx   context.Context //nolint:containedctx // of group
	group *errgroup.Group
}

// openNode makes data node i, counted from 1, or replica r of it, which does not run yet.
func (c *Cluster) openNode(i, r int) (*datanode.Node, error) {
	templates := ""
	if cache, err := datanode.CacheDir(); err == nil {
		templates = filepath.Join(cache, "templates")
		if os.MkdirAll(templates, 0o700) != nil {
			templates = "" // a home that cannot be written to costs time only
		}
	}
	n, err := datanode.Open(datanode.Config{
		Dir: c.dir.node(i, r), Binary: c.binary, ID: uint32(i + r*1000), Domain: uint32(i),
		Small: true, Relaxed: c.cfg.Replicas == 0, Variables: c.variables(), Templates: templates,
		Log: c.log.With("node", i),
	})
	if err != nil {
		return nil, fmt.Errorf("data node %d: %w", i, err)
	}
	return n, nil
}

// variables are the settings of every server: with replicas also those by which a primary may be lost, once it is told to wait for them.
func (c *Cluster) variables() map[string]string {
	if c.cfg.Replicas == 0 {
		return c.cfg.Variables
	}
	all := map[string]string{"rpl-semi-sync-master-wait-point": "AFTER_SYNC", "rpl-semi-sync-master-timeout": "4294967295", "rpl-semi-sync-slave-enabled": "ON"}
	if c.binary.Flavor == catalog.MySQL {
		all = map[string]string{
			"plugin-load-add":                       "semisync_source.so;semisync_replica.so",
			"loose-rpl-semi-sync-source-timeout":    "4294967295",
			"loose-rpl-semi-sync-replica-enabled":   "ON",
			"loose-rpl-semi-sync-source-wait-point": "AFTER_SYNC",
		}
	}
	maps.Copy(all, c.cfg.Variables)
	return all
}

// Start implements control.Nodes.
func (c *Cluster) Start(ctx context.Context, n int) ([]control.GroupSpec, error) {
	c.mu.Lock()
	first := len(c.nodes)
	c.mu.Unlock()
	if first+n > maxGroups {
		return nil, fmt.Errorf("at most %d data nodes", maxGroups)
	}
	var specs []control.GroupSpec
	for i := first; i < first+n; i++ {
		node, err := c.openNode(i+1, 0)
		if err != nil {
			return nil, err
		}
		c.below.group.Go(func() error { return node.Run(c.below.ctx) })
		if err := node.Initialise(ctx); err != nil {
			return nil, err
		}
		if err := node.Start(ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.nodes = append(c.nodes, node)
		c.mu.Unlock()
		specs = append(specs, control.GroupSpec{Primary: c.login(node)})
		c.progress("data node %d is up", i+1)
	}
	return specs, nil
}

// Added implements control.Nodes.
func (c *Cluster) Added(_ context.Context, spec control.GroupSpec, id placement.NodeGroupID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.nodes {
		if c.login(c.nodes[i]).Addr != spec.Primary.Addr {
			continue
		}
		m := &c.dir.marker
		for len(m.Groups) < i {
			m.Groups = append(m.Groups, placement.NodeGroupID(len(m.Groups)+1))
		}
		m.Groups = append(m.Groups, id)
		m.NodeGroups = max(m.NodeGroups, len(m.Groups))
		return c.dir.save()
	}
	return fmt.Errorf("no data node at %s", spec.Primary.Addr)
}

// Remove implements control.Nodes.
func (c *Cluster) Remove(ctx context.Context, g *catalog.NodeGroup) error {
	c.mu.Lock()
	m := &c.dir.marker
	for len(m.Groups) < len(c.nodes) {
		m.Groups = append(m.Groups, placement.NodeGroupID(len(m.Groups)+1))
	}
	i := slices.Index(m.Groups, g.ID)
	if i < 0 {
		c.mu.Unlock()
		return nil // not one of ours
	}
	m.Groups[i] = 0
	all, err := append([]*datanode.Node{c.nodes[i]}, c.replicasOf(i)...), c.dir.save()
	c.mu.Unlock()
	for _, n := range all {
		if err == nil {
			err = n.Erase(ctx)
		}
	}
	return err
}

// groupOf is the node group that data node i, counted from 0, is; 0 if it is none any more.
func (c *Cluster) groupOf(i int) placement.NodeGroupID {
	if m := &c.dir.marker; i < len(m.Groups) {
		return m.Groups[i]
	}
	return placement.NodeGroupID(i + 1)
}
