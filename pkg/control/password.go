package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
	"skarv/pkg/topology"
)

// ServerPassword is what Password did about one server of a node group.
type ServerPassword struct {
	Addr string
	// Changed: the server has another password now. Kept: the cluster uses the one that was given.
	Changed, Kept bool
	// Err is why not: the server does not let the account in by it, or cannot be asked.
	Err error
}

// Password has the cluster log in to the servers of a node group, its primary and the replicas it knows, by another password of Skarv's own
// account. With change the servers are given it first, those that have it already excepted; without, they must have it.
//
// Whatever ends it in between, the same call completes it: a server that has been given the password lets the account in by it. Connections there
// are go on, clients' statements and a move among them. What servers are told is not in their binary logs.
func (c *Client) Password(ctx context.Context, id placement.NodeGroupID, password string, change bool) ([]ServerPassword, error) {
	if password == "" {
		return nil, errors.New("an empty password would let everybody in: choose one")
	}
	group, _, err := c.Store.Group(ctx, id)
	if err != nil {
		return nil, err
	}
	if group == nil {
		return nil, fmt.Errorf("there is no node group %d", id)
	}
	nodes := append([]catalog.Node{group.Primary}, group.Replicas...)
	done := make([]ServerPassword, len(nodes))
	for i, node := range nodes {
		done[i] = c.passwordOf(ctx, group, node, i == 0, password, change)
	}
	for {
		group, revision, err := c.Store.Group(ctx, id)
		if err != nil {
			return done, err
		}
		if group == nil {
			return done, fmt.Errorf("node group %d has left the cluster", id)
		}
		next := *group
		next.Replicas = slices.Clone(group.Replicas)
		tell := func(n *catalog.Node) {
			for i, was := range nodes {
				if done[i].Err == nil && n.Addr == was.Addr && n.User == was.User {
					n.Password, done[i].Kept = password, true
				}
			}
		}
		tell(&next.Primary)
		for i := range next.Replicas {
			tell(&next.Replicas[i])
		}
		at, err := c.Store.Change(nil).PutGroup(&next, revision).Commit(ctx)
		switch {
		case err == nil:
			c.Await(ctx, at)
			return done, nil
		case !errors.Is(err, topology.ErrConflict): // a move has written the group's mark
			for i := range done {
				done[i].Kept = false
			}
			return done, err
		}
	}
}

// passwordOf makes sure that a server lets Skarv's account in by a password.
func (c *Client) passwordOf(ctx context.Context, group *catalog.NodeGroup, node catalog.Node, primary bool, password string, change bool) (done ServerPassword) {
	done.Addr = node.Addr
	with := node
	with.Password = password
	if done.Err = c.letsIn(ctx, group, with, primary); done.Err == nil || !change {
		return done
	}
	s, err := c.Servers.Dial(ctx, group.Label(), node)
	if err != nil { // by neither: the first error may be that it is not there at all
		done.Err = err
		return done
	}
	defer s.Close()
	text := sqltypes.Quoted(password, false)
	if node.Flavor == catalog.MariaDB {
		text = "PASSWORD(" + text + ")"
	}
	if primary {
		if done.Err = known(ctx, s, group); done.Err != nil {
			return done
		}
	}
	for _, q := range []string{"SET SESSION sql_log_bin = 0", "SET SESSION sql_mode = ''", "SET PASSWORD = " + text} {
		if _, err := s.Exec(ctx, q); err != nil {
			done.Err = fmt.Errorf("the account's password cannot be changed at %s: %w", node.Addr, err)
			return done
		}
	}
	done.Changed = true
	done.Err = c.letsIn(ctx, group, with, primary)
	return done
}

// letsIn returns nil if a server of group lets the node's account in. A replica may be behind, and have another mark than its primary.
func (c *Client) letsIn(ctx context.Context, group *catalog.NodeGroup, node catalog.Node, primary bool) error {
	s, err := c.Servers.Dial(ctx, group.Label(), node)
	if err != nil {
		return err
	}
	defer s.Close()
	if !primary {
		return nil
	}
	return known(ctx, s, group)
}
