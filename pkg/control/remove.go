package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/txn"
)

// RemoveGroup takes a node group out of the cluster that owns nothing any more. Its servers are left as they are.
func (c *Client) RemoveGroup(ctx context.Context, id placement.NodeGroupID) error {
	snap, err := c.Store.Load(ctx)
	if err != nil {
		return err
	}
	group, revision, err := c.Store.Group(ctx, id)
	if err != nil {
		return err
	}
	if group == nil {
		return fmt.Errorf("there is no node group %d", id)
	}
	if n := len(snap.Map.Owned(id)); n > 0 {
		return fmt.Errorf("node group %s owns %d partitions: skarvctl nodegroup drain %[1]s", group.Name, n)
	}
	for _, mv := range snap.Map.Moving() {
		if mv.A == id || mv.B == id {
			return fmt.Errorf("reorganisation %s still uses node group %s: wait for it, or end its way back with skarvctl reorg complete %[1]s", mv.Reorg, group.Name)
		}
	}
	if names := singlesOn(snap, id); len(names) > 0 {
		return fmt.Errorf("single tables live on node group %s: %s; copy them into other tables first (CREATE TABLE ..., INSERT ... SELECT, RENAME TABLE)",
			group.Name, strings.Join(names, ", "))
	}
	if names, err := sequencesOn(ctx, c.Servers, snap, group); err != nil {
		return err
	} else if len(names) > 0 {
		return fmt.Errorf("sequences are on node group %s: %s; drop them first", group.Name, strings.Join(names, ", "))
	}
	if len(snap.Groups) == 1 {
		return errors.New("the last node group cannot be removed")
	}
	if err := Undecided(ctx, c.Servers, snap, group); err != nil {
		return err
	}
	m, at := snap.Map, snap.MapRevision
	if id == snap.Groups[0].ID {
		if m, at, err = c.freezeLocks(ctx, m, at, group); err != nil {
			return err
		}
	}
	// The map stands for everything a reorganisation could have decided meanwhile.
	next, err := m.Next(nil, m.Moving())
	if err != nil {
		return err
	}
	rev, err := c.Store.Change(nil).DeleteGroup(id, revision).PutMap(next, at).Commit(ctx)
	if err != nil {
		c.thawLocks(ctx, m, at)
		return err
	}
	c.Await(ctx, rev)
	// What was being committed there when it went has its last chance to end.
	for end := time.Now().Add(5 * time.Second); ; {
		err := Undecided(ctx, c.Servers, snap, group)
		if err == nil || time.Now().After(end) || pause.For(ctx, 100*time.Millisecond) != nil {
			return errors.Join(err, sequencesLeft(ctx, c.Servers, snap, group))
		}
	}
}

// Bounds on taking the user-level locks away from a group.
const (
	locksPatience = 5 * time.Second // that sessions have to release theirs
	locksDeadline = 15 * time.Second
)

// freezeLocks returns the map that follows m, and its revision, by which no session has user-level locks or begins to use them, and every
// proxy has acknowledged that. They are on group, the first one; once it is gone they are on the next, with the map after that. An error means
// that nothing has changed.
func (c *Client) freezeLocks(ctx context.Context, m *placement.PartitionMap, at int64, group *catalog.NodeGroup) (*placement.PartitionMap, int64, error) {
	if m.Frozen() != nil {
		return nil, 0, errors.New("partitions are being handed over: try again")
	}
	frozen, err := m.FreezeLocks(locksDeadline)
	if err != nil {
		return nil, 0, err
	}
	if at, err = c.Store.Change(nil).PutMap(frozen, at).Commit(ctx); err != nil {
		return nil, 0, err
	}
	wait, cancel := context.WithTimeout(ctx, locksPatience)
	defer cancel()
	silent, err := c.Store.AwaitDrained(wait, frozen.Epoch())
	if err == nil {
		return frozen, at, nil
	}
	var holders, behind []string
	if c.LockHolders != nil {
		holders = c.LockHolders(ctx)
	}
	c.thawLocks(ctx, frozen, at)
	for _, p := range silent {
		behind = append(behind, p.String())
		if p.Gone && !p.Slot.Fenced {
			_ = c.Store.FenceGone(ctx, p.Slot) // else the next attempt does it
		}
	}
	switch {
	case len(holders) > 0:
		return nil, 0, fmt.Errorf("user-level locks (GET_LOCK) are on node group %s, and clients have some: %s; have them released, or end those clients with KILL, and try again",
			group.Name, strings.Join(holders, ", "))
	case len(behind) > 0:
		return nil, 0, fmt.Errorf("user-level locks (GET_LOCK) are on node group %s, and it is not known whether clients have some: %s; try again", group.Name, strings.Join(behind, ", "))
	}
	return nil, 0, err
}

// thawLocks takes back what freezeLocks has done. Where it fails, proxies do it in time.
func (c *Client) thawLocks(ctx context.Context, m *placement.PartitionMap, at int64) {
	if m.LocksFrozen() == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	if next, err := m.Next(nil, m.Moving()); err == nil {
		_, _ = c.Store.Change(nil).PutMap(next, at).Commit(ctx)
	}
}

// singlesOn are the single tables that live on a group.
func singlesOn(snap *catalog.Snapshot, id placement.NodeGroupID) (names []string) {
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if t.Kind == catalog.Single && t.Group == id {
				names = append(names, t.Database+"."+t.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// sequencesLeft returns an error that names the sequences on a group that has been removed: they were made there meanwhile.
func sequencesLeft(ctx context.Context, servers schema.Dialer, snap *catalog.Snapshot, group *catalog.NodeGroup) error {
	names, err := sequencesOn(ctx, servers, snap, group)
	if err != nil {
		return fmt.Errorf("node group %s is removed, but whether sequences were created on it meanwhile is not known: %w", group.Name, err)
	}
	if len(names) > 0 {
		return fmt.Errorf("node group %s is removed, but sequences were created on it meanwhile, which are there only: %s; create them in the cluster again",
			group.Name, strings.Join(names, ", "))
	}
	return nil
}

// sequencesOn are the sequences on a group: all there are, if it is the one that has them.
func sequencesOn(ctx context.Context, servers schema.Dialer, snap *catalog.Snapshot, group *catalog.NodeGroup) (names []string, err error) {
	if snap.Flavor != catalog.MariaDB || group.ID != snap.Groups[0].ID {
		return nil, nil
	}
	s, err := servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	err = s.Rows(ctx, func(r *sql.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	}, "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE table_type = 'SEQUENCE' ORDER BY 1")
	return names, err
}

// Undecided returns an error if a transaction is in doubt whose decision group keeps, or that has a branch there: without the
// group nobody could end it.
func Undecided(ctx context.Context, servers schema.Dialer, snap *catalog.Snapshot, group *catalog.NodeGroup) error {
	for _, g := range snap.Groups {
		s, err := servers.Dial(ctx, g.Label(), g.Primary)
		if err != nil {
			return err
		}
		ids, err := Prepared(ctx, s)
		s.Close()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if home, _ := id.Group(); home == group.ID || g.ID == group.ID {
				return fmt.Errorf("transaction %s needs node group %s and has not ended: try again, and see skarvctl transaction show %[1]s", id, group.Name)
			}
		}
	}
	return nil
}

// Prepared are the transactions of Skarv's that have a prepared branch on a server.
func Prepared(ctx context.Context, s *schema.Server) (ids []txn.ID, err error) {
	err = s.Rows(ctx, func(r *sql.Rows) error {
		var format, gtrid, bqual int
		var data string
		if err := r.Scan(&format, &gtrid, &bqual, &data); err != nil {
			return err
		}
		if id, ok := txn.Transaction(format, gtrid, data); ok {
			ids = append(ids, id)
		}
		return nil
	}, "XA RECOVER")
	return ids, err
}
