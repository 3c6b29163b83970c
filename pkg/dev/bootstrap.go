package dev

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/datanode"
	"skarv/pkg/schema"
	"skarv/pkg/server"
	"skarv/pkg/topology"
)

// makeCluster makes a cluster of the servers that are up, or finds the one of an earlier run and tells it where its
// servers are now.
func (c *Cluster) makeCluster(ctx context.Context) error {
	store, err := topology.Open(topology.Config{Endpoints: []string{c.etcd.endpoint()}, Log: c.log})
	if err != nil {
		return err
	}
	defer store.Close()
	groups := make([]control.GroupSpec, len(c.nodes))
	for i := range c.nodes {
		groups[i] = control.GroupSpec{Name: groupName(int(c.groupOf(i))), Primary: c.login(c.nodes[i])}
		for _, r := range c.replicasOf(i) {
			groups[i].Replicas = append(groups[i].Replicas, c.login(r))
		}
	}
	_, revision, err := store.Cluster(ctx)
	switch {
	case err != nil:
		return err
	case revision == topology.Absent:
		_, err = control.InitCluster(ctx, store, schema.Dialer{}, control.InitRequest{Groups: groups})
	default:
		err = c.refresh(ctx, store, groups)
	}
	if err != nil {
		return err
	}
	return makeRoot(ctx, store)
}

// login is how Skarv reaches the server of a node.
func (c *Cluster) login(n *datanode.Node) catalog.Node {
	status := n.Status()
	user, password := n.Account()
	addr := "unix:" + status.Socket
	if c.cfg.TCPBackends {
		addr = status.Addr
	}
	return catalog.Node{Addr: addr, User: user, Password: password, Version: status.Version, Flavor: c.binary.Flavor}
}

// refresh writes addresses that have changed since the last run: the directory may have been moved, the server
// upgraded.
func (c *Cluster) refresh(ctx context.Context, store *topology.Store, groups []control.GroupSpec) error {
	for i, spec := range groups {
		id := c.groupOf(i)
		if id == 0 {
			continue // it was removed from the cluster
		}
		g, revision, err := store.Group(ctx, id)
		if err != nil {
			return err
		}
		if g == nil {
			return fmt.Errorf("data directory %s is damaged: etcd does not know node group %d; see %s", c.dir.path, id, c.etcd.logFile)
		}
		if len(g.Replicas) != len(spec.Replicas) {
			continue // some were taken away, or a primary was lost; with replicas addresses stay
		}
		changed := *g
		changed.Primary, changed.Replicas = spec.Primary, spec.Replicas
		for r, n := range spec.Replicas {
			if n.Addr == g.Primary.Addr { // a switchover has made it that
				changed.Primary, changed.Replicas = n, slices.Replace(slices.Clone(spec.Replicas), r, r+1, spec.Primary)
			}
		}
		if g.Primary == changed.Primary && slices.Equal(g.Replicas, changed.Replicas) {
			continue
		}
		if _, err := store.Change(nil).PutGroup(&changed, revision).Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// makeRoot gives a fresh cluster its one account: root without password, from this machine only.
func makeRoot(ctx context.Context, store *topology.Store) error {
	_, revision, err := store.Account(ctx, "root")
	if err != nil || revision != topology.Absent {
		return err
	}
	_, err = store.Change(nil).PutAccount(&catalog.Account{
		Name: "root", AuthPlugin: "mysql_native_password", LoopbackOnly: true,
		Grants: map[string]catalog.Privilege{"*": account.Admin},
	}, topology.Absent).Commit(ctx)
	return err
}

// awaitReady returns when srv serves clients.
func (c *Cluster) awaitReady(ctx context.Context, srv *server.Server) error {
	patience := time.NewTimer(readyTimeout)
	defer patience.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := srv.Ready()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return fmt.Errorf("proxy is not ready after %s: %w; see %s", readyTimeout, err, c.dir.logFile())
		}
	}
}

// errDown is why a cluster ended that nobody asked to end.
var errDown = errors.New("etcd or a data node ended")
