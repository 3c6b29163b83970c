package control

import (
	"cmp"
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
	"skarv/pkg/topology"
	"skarv/pkg/txn"
)

// Removal says how a node group is taken out of the cluster.
type Removal struct {
	// Lost: its server does not answer and never will again. Nobody asks it.
	Lost bool
	// DryRun only looks whether the group could be removed.
	DryRun bool
}

// RemoveGroup takes a node group out of the cluster that owns nothing any more. Its servers are left as they are. notes are for the operator:
// what is lost with a server that is lost, and what is to be minded.
//
// A server that is lost may come back. Nobody uses it then: it is in no snapshot, its id is given to no other group, and what is added
// to a cluster must be empty. Only a proxy that still works by an older map could use it; the notes name those.
func (c *Client) RemoveGroup(ctx context.Context, id placement.NodeGroupID, how Removal) (notes []string, err error) {
	snap, err := c.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	group, revision, err := c.Store.Group(ctx, id)
	if err != nil {
		return nil, err
	}
	if group == nil {
		return nil, fmt.Errorf("there is no node group %d", id)
	}
	if err := owns(snap, group, how); err != nil {
		return nil, err
	}
	if len(snap.Groups) == 1 {
		return nil, errors.New("the last node group cannot be removed")
	}
	if how.Lost {
		if notes, err = c.lost(ctx, snap, group); err != nil {
			return nil, err
		}
	} else if names, err := sequencesOn(ctx, c.Servers, snap, group); err != nil {
		return nil, unlessLost(err, group)
	} else if len(names) > 0 {
		return nil, fmt.Errorf("sequences are on node group %s: %s; drop them first", group.Name, strings.Join(names, ", "))
	}
	asked := *snap
	if how.Lost {
		asked.Groups = slices.DeleteFunc(slices.Clone(snap.Groups), func(g *catalog.NodeGroup) bool { return g.ID == id })
	}
	if err := Undecided(ctx, c.Servers, &asked, group); err != nil {
		return nil, unlessLost(err, group)
	}
	if how.DryRun {
		return notes, nil
	}
	m, at := snap.Map, snap.MapRevision
	if id == snap.Groups[0].ID {
		if m, at, err = c.freezeLocks(ctx, m, at, group); err != nil {
			return nil, err
		}
	}
	next, err := m.Next(nil, m.Moving())
	if err != nil {
		return nil, err
	}
	rev, err := c.takeOut(ctx, group, revision, next, at, how)
	if err != nil {
		c.thawLocks(ctx, m, at)
		return nil, err
	}
	c.Await(ctx, rev)
	if how.Lost {
		notes = append(notes, c.behind(ctx, next.Epoch(), group)...)
	}
	// What was being committed there when it went has its last chance to end.
	for end := time.Now().Add(5 * time.Second); ; {
		err := Undecided(ctx, c.Servers, &asked, group)
		if err == nil || time.Now().After(end) || pause.For(ctx, 100*time.Millisecond) != nil {
			if !how.Lost {
				err = errors.Join(err, sequencesLeft(ctx, c.Servers, snap, group))
			}
			return notes, err
		}
	}
}

// takeOut deletes a group of a revision together with the write of the map next in the place of the one at a revision, if it owns nothing then: the map
// stands for everything that a reorganisation could have decided meanwhile, and the tables are as they are looked at.
func (c *Client) takeOut(ctx context.Context, group *catalog.NodeGroup, revision int64, next *placement.PartitionMap, at int64, how Removal) (int64, error) {
	for {
		snap, err := c.Store.Load(ctx)
		if err != nil {
			return 0, err
		}
		if err := owns(snap, group, how); err != nil {
			return 0, err
		}
		rev, err := c.Store.Change(nil).DeleteGroup(group.ID, revision).PutMap(next, at).ExpectTables(snap.Revision).Commit(ctx)
		if !errors.Is(err, topology.ErrConflict) || snap.MapRevision != at {
			return rev, err
		}
		if _, now, gerr := c.Store.Group(ctx, group.ID); gerr != nil || now != revision {
			return 0, cmp.Or(gerr, err)
		}
		if err := pause.For(ctx, takeOutAgain); err != nil { // a table was written meanwhile
			return 0, err
		}
	}
}

// takeOutAgain is the pause before it is looked once more.
const takeOutAgain = 10 * time.Millisecond

// owns returns an error if a group has rows that are nowhere else.
func owns(snap *catalog.Snapshot, group *catalog.NodeGroup, how Removal) error {
	partitions, singles := len(snap.Map.Owned(group.ID)), singlesOn(snap, group.ID)
	switch {
	case how.Lost && partitions > 0:
		return fmt.Errorf("node group %s owns %d partitions, whose rows are on its server only: restore its backup, with the database `_skarv`, at %s", group.Name, partitions, group.Primary.Addr)
	case partitions > 0:
		return fmt.Errorf("node group %s owns %d partitions: skarvctl nodegroup drain %[1]s", group.Name, partitions)
	}
	for _, mv := range snap.Map.Moving() {
		if mv.A == group.ID || mv.B == group.ID {
			return fmt.Errorf("reorganisation %s still uses node group %s: wait for it, or end its way back with skarvctl reorg complete %[1]s", mv.Reorg, group.Name)
		}
	}
	switch {
	case how.Lost && len(singles) > 0:
		return fmt.Errorf("single tables live on node group %s: %s; restore its backup, with the database `_skarv`, at %s, or drop them first if their rows may be lost",
			group.Name, strings.Join(singles, ", "), group.Primary.Addr)
	case len(singles) > 0:
		return fmt.Errorf("single tables live on node group %s: %s; copy them into other tables first (CREATE TABLE ..., INSERT ... SELECT, RENAME TABLE)",
			group.Name, strings.Join(singles, ", "))
	}
	return nil
}

// unlessLost adds to an error of a server that cannot be reached what can be done without it.
func unlessLost(err error, group *catalog.NodeGroup) error {
	if errors.Is(err, schema.ErrLost) {
		return fmt.Errorf("%w; if the server of node group %s is lost for good: skarvctl nodegroup remove %[2]s --lost", err, group.Name)
	}
	return err
}

// lost makes sure that a group's server answers nobody as the server of the group, and returns what is lost with it.
func (c *Client) lost(ctx context.Context, snap *catalog.Snapshot, group *catalog.NodeGroup) (notes []string, err error) {
	switch answers, err := c.Servers.Answers(ctx, group.Label(), group.Primary); {
	case err != nil:
		return nil, fmt.Errorf("a server answers at %s, which may be that of node group %s (%w): stop it first, if it is to be given up", group.Primary.Addr, group.Name, err)
	case answers:
		return nil, fmt.Errorf("the server of node group %s at %s answers: remove it without --lost", group.Name, group.Primary.Addr)
	}
	if c.Reaches != nil {
		if by := c.Reaches(ctx, group.ID); len(by) > 0 {
			return nil, fmt.Errorf("the server of node group %s at %s does not answer here, but these processes reach it: %s; stop it first, if it is to be given up",
				group.Name, group.Primary.Addr, strings.Join(by, ", "))
		}
	}
	if snap.Flavor == catalog.MariaDB && group.ID == snap.Groups[0].ID {
		notes = append(notes, fmt.Sprintf("sequences (CREATE SEQUENCE) were on node group %s only, and are lost with it: create them again, with a START above the values that were given out",
			group.Name))
	}
	return append(notes, fmt.Sprintf("the server at %s must not be used again as it is: empty it before it is added to a cluster", group.Primary.Addr)), nil
}

// behind tells of the processes that may still work by a map before epoch, with group in it.
func (c *Client) behind(ctx context.Context, epoch uint64, group *catalog.NodeGroup) (notes []string) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	silent, err := c.Store.AwaitDrained(ctx, epoch)
	for _, p := range silent {
		notes = append(notes, fmt.Sprintf("%s: it may not know yet that node group %s is out of the cluster; keep the server at %s stopped until it does, or is stopped", p, group.Name, group.Primary.Addr))
	}
	if err != nil && len(silent) == 0 {
		notes = append(notes, fmt.Sprintf("whether all processes know that node group %s is out of the cluster is not known (%v); keep the server at %s stopped", group.Name, err, group.Primary.Addr))
	}
	return notes
}

// Bounds on taking the user-level locks away from a group.
const (
	locksPatience = 12 * time.Second // that sessions have to release theirs, and statements over several node groups to end
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
		return nil, 0, fmt.Errorf("user-level locks (GET_LOCK) are on node group %s, and it is not known whether clients have some, for what began before still runs: %s; try again", group.Name, strings.Join(behind, ", "))
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
// group nobody could end it. Where group is not in snap it is not asked: a branch there cannot be seen, and concerns rows that all others have.
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
			home, _ := id.Group()
			if home == group.ID && snap.Group(group.ID) == nil {
				return fmt.Errorf("transaction %s is prepared on node group %s, and only node group %s knows how it ends: see operations.md, When something fails, for how to end it by hand",
					id, g.Label(), group.Name)
			}
			if home == group.ID || g.ID == group.ID {
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
