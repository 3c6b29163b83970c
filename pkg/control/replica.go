package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/failover"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/preflight"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// ReplicaChange says which servers are to be replicas of a node group, or which one is not to be any more. The servers are left as they are.
type ReplicaChange struct {
	Group placement.NodeGroupID `json:"group"`
	// Add are servers that replicate from the group's primary: Addr, and how to log in; without a User as to the primary.
	Add []catalog.Node `json:"add,omitempty"`
	// Remove is the address of a replica, or of a primary that was lost and replaced.
	Remove string `json:"remove,omitempty"`
	// Force: it is taken away though it cannot be reached and the primary may be connected to it. The group is not armed then as long as that is so.
	Force bool `json:"force,omitempty"`
}

// Bounds on changing the replicas of a node group.
const (
	maxReplicas     = 16
	replicaPatience = 10 * time.Second // for the others to receive what one that leaves may have
)

// ChangeReplicas has the controller change the replicas of a node group. changed are the addresses of those that were not as they are to be; notes
// are for the operator.
func (c *Client) ChangeReplicas(ctx context.Context, how ReplicaChange) (changed, notes []string, err error) {
	j, err := c.request(ctx, &job{Replicas: &how})
	if err != nil {
		return nil, nil, err
	}
	if j.Error != nil {
		return nil, nil, errors.New(j.Error.Message)
	}
	c.Await(ctx, j.revision)
	return j.Changed, j.Notes, nil
}

// ExamineReplicas only looks whether it could be done now, and returns what would be changed and is to be minded.
func (c *Client) ExamineReplicas(ctx context.Context, how ReplicaChange, login func(*catalog.NodeGroup) mysqlconn.Config) (changed, notes []string, err error) {
	snap, err := c.Store.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &replicaChange{how: how, snap: snap, group: snap.Group(how.Group), login: login, servers: c.Servers}
	defer r.close()
	_, err = r.examine(ctx)
	return r.changed, r.notes, err
}

// replicaChange is the job that changes the replicas of a node group: it looks at the servers, and writes the group's record together with its own end. Until
// then nothing is changed anywhere, and whoever is elected next begins it anew; a record that was changed meanwhile is looked at anew, too. Changes of primaries wait for it,
// and it for them; a failover of a primary that is lost interrupts it.
//
// One that leaves may have acknowledged what no other has: see keeps. That the group is armed was found of the replicas it had then (Failover.Replicas), and
// has to be found again without it.
type replicaChange struct {
	leader *leader // nil in an examination alone
	job    *job
	how    ReplicaChange
	snap   *catalog.Snapshot
	group  *catalog.NodeGroup // before; nil: there is none

	login   func(*catalog.NodeGroup) mysqlconn.Config
	servers schema.Dialer
	watched watched

	changed, notes []string
}

func (r *replicaChange) close() { r.watched.end() }

func (r *replicaChange) run(ctx context.Context) error {
	r.how, r.login, r.servers = *r.job.Replicas, r.leader.login, r.leader.servers
	defer r.close()
	group, at, err := r.leader.store.Group(ctx, r.how.Group)
	if err != nil {
		return err
	}
	r.group = group
	next, err := r.examine(ctx)
	if err == nil {
		err = r.leader.at("examined")
	}
	if ctx.Err() != nil || stops(err) {
		return cmp.Or(context.Cause(ctx), err)
	}
	ended := *r.job
	ended.Replicas = r.how.withoutLogins()
	change := r.leader.store.Change(r.leader.guard)
	if err != nil {
		ended.State, ended.Error = failed, sqlerr.UnknownError.New(err.Error())
	} else {
		ended.State, ended.Changed, ended.Notes = done, r.changed, r.notes
		if len(r.changed) > 0 {
			change.PutGroup(next, at)
		}
	}
	if err := r.leader.saveWith(ctx, &ended, change); err != nil {
		return err
	}
	*r.job = ended
	return r.leader.at("published")
}

// withoutLogins is what is kept of a change that has ended.
func (c ReplicaChange) withoutLogins() *ReplicaChange {
	var add []catalog.Node
	for _, n := range c.Add {
		add = append(add, catalog.Node{Addr: n.Addr})
	}
	c.Add = add
	return &c
}

// what says what the change is.
func (c *ReplicaChange) what() string {
	if c.Remove != "" {
		return fmt.Sprintf("taking replica %s away from node group %d", c.Remove, c.Group)
	}
	return fmt.Sprintf("naming %s as replicas of node group %d", strings.Join(addrs(c.Add), ", "), c.Group)
}

// scope meets those of other changes of the same group's replicas, and of what changes node groups; no schema change waits for it.
func (c *ReplicaChange) scope(s *scope) {
	s.change(catalog.OwnDB, fmt.Sprintf("node group %d", c.Group))
}

// examine returns the group as it is to be.
func (r *replicaChange) examine(ctx context.Context) (*catalog.NodeGroup, error) {
	ctx, cancel := context.WithTimeout(ctx, switchExamine)
	defer cancel()
	switch {
	case r.group == nil:
		return nil, fmt.Errorf("there is no node group %d", r.how.Group)
	case r.group.Switchover != nil:
		return nil, fmt.Errorf("%s is being made the primary of node group %s: try again when that has ended", r.group.Switchover.To, r.group.Label())
	}
	r.watched.login = r.login
	next := *r.group
	next.Replicas, next.Replaced = slices.Clone(r.group.Replicas), slices.Clone(r.group.Replaced)
	if r.how.Remove != "" {
		return &next, r.remove(ctx, &next)
	}
	return &next, r.add(ctx, &next)
}

// taken returns an error if a server is something else in the cluster than a replica of the group.
func (r *replicaChange) taken(addr string) error {
	for _, g := range r.snap.Groups {
		switch {
		case g.Primary.Addr == addr && g.ID == r.group.ID:
			return fmt.Errorf("%s is the primary of node group %s: make another server that first (skarvctl nodegroup switchover %[2]s --to ADDR)", addr, g.Label())
		case g.Primary.Addr == addr:
			return fmt.Errorf("%s is the primary of node group %s", addr, g.Label())
		case g.ID != r.group.ID && slices.Contains(addrs(g.Replicas), addr):
			return fmt.Errorf("%s is a replica of node group %s: take it away there first (skarvctl nodegroup replica remove %[2]s %[1]s)", addr, g.Label())
		}
	}
	return nil
}

// add adds servers to next.
func (r *replicaChange) add(ctx context.Context, next *catalog.NodeGroup) error {
	for _, n := range r.how.Add {
		if slices.Contains(addrs(next.Replicas), n.Addr) {
			r.notes = append(r.notes, fmt.Sprintf("%s is a replica of node group %s already", n.Addr, next.Label()))
			continue
		}
		if err := r.taken(n.Addr); err != nil {
			return err
		}
		if n.User == "" {
			addr := n.Addr
			n = r.group.Primary
			n.Addr, n.DataNode = addr, ""
		}
		next.Replicas = append(next.Replicas, n)
		next.Replaced = slices.DeleteFunc(next.Replaced, func(o catalog.Node) bool { return o.Addr == n.Addr })
		r.changed = append(r.changed, n.Addr)
	}
	if len(r.changed) == 0 {
		return nil
	}
	if len(next.Replicas) > maxReplicas {
		return fmt.Errorf("node group %s would have %d replicas: %d at most", next.Label(), len(next.Replicas), maxReplicas)
	}
	r.watched.login = func(g *catalog.NodeGroup) mysqlconn.Config {
		cfg := r.login(g)
		if slices.Contains(r.changed, g.Primary.Addr) { // whether it is one of the group's is asked when it is one that replicates
			cfg.Check = nil
		}
		return cfg
	}
	facts, err := preflight.Examine(ctx, r.servers, next.Label(), next.Primary)
	if err != nil {
		return fmt.Errorf("a replica is compared with the primary: %w", err)
	}
	primary, views, err := r.watched.views(ctx, next)
	if err != nil {
		return fmt.Errorf("a replica is compared with the primary at %s, which cannot be looked at: %w", next.Primary.Addr, err)
	}
	for _, n := range next.Replicas {
		if views[n.Addr] != nil || !slices.Contains(r.changed, n.Addr) {
			continue
		}
		v, c, err := view(ctx, r.watched.login, next, n, nil)
		if err != nil && sqlerr.HasCode(err, sqlerr.AccessDenied) && n.User == next.Primary.User {
			err = fmt.Errorf("%w; it has the account that the primary has once it has the primary's data, or name another one: --user", err)
		}
		if err != nil {
			return err
		}
		views[n.Addr] = v
		r.watched.hold(n.Addr, c)
	}
	for i, n := range next.Replicas {
		if !slices.Contains(r.changed, n.Addr) {
			continue
		}
		if next.Replicas[i], err = r.fit(ctx, next, facts, n, primary, views); err != nil {
			return err
		}
	}
	if next.AutomaticFailover {
		r.notes = append(r.notes, unready(next, primary, views)...)
	}
	return nil
}

// distinct returns an error if servers tell each other apart by something that a replica shares with another one of the group.
func distinct(g *catalog.NodeGroup, primary *failover.View, views map[string]*failover.View, addr string) error {
	others := []*failover.View{primary}
	for _, n := range g.Replicas {
		if v := views[n.Addr]; v != nil && n.Addr != addr {
			others = append(others, v)
		}
	}
	for _, o := range others {
		switch {
		case o.ID != views[addr].ID:
		case g.Primary.Flavor == catalog.MariaDB:
			return fmt.Errorf("%s and %s have the same server_id (%s): if they are two servers, SET GLOBAL server_id = another one on %[1]s, and in its configuration file, then STOP SLAVE; START SLAVE", addr, o.Addr, o.ID)
		default:
			return fmt.Errorf("%s and %s have the same server_uuid (%s): if they are two servers, remove auto.cnf from the data directory of %[1]s and start it again", addr, o.Addr, o.ID)
		}
	}
	return nil
}

// fit returns a server as the catalog is to have it, if that is a whole replica of the group's primary, and could take its place.
func (r *replicaChange) fit(ctx context.Context, g *catalog.NodeGroup, facts *preflight.Facts, n catalog.Node, primary *failover.View, views map[string]*failover.View) (catalog.Node, error) {
	mine, err := preflight.ExamineReplica(ctx, r.servers, g.Label(), n)
	if err != nil {
		return n, err
	}
	if err := facts.Agrees(mine); err != nil {
		return n, err
	}
	n = mine.Node
	r.notes = append(r.notes, mine.Warnings...)
	if ddl.VersionNumber(n.Version) < ddl.VersionNumber(facts.Node.Version) {
		r.notes = append(r.notes, fmt.Sprintf("%s runs an older version (%s) than the primary at %s (%s): servers replicate from older ones, seldom from newer ones", n.Addr, n.Version, g.Primary.Addr, facts.Node.Version))
	}
	if err := replicates(g, n.Addr, primary, views[n.Addr]); err != nil {
		return n, err
	}
	if err := distinct(g, primary, views, n.Addr); err != nil {
		return n, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*lookTime)
	defer cancel()
	s := r.watched.to[n.Addr]
	defer s.Until(ctx)()
	defer r.watched.to[g.Primary.Addr].Until(ctx)()
	behind := s.Reach(primary.Has, switchNear)
	if behind != nil && !errors.Is(behind, failover.ErrBehind) {
		return n, behind
	}
	of := *g
	of.Primary = n
	switch err := fence.Known(s.Conn, &of); {
	case err != nil && behind != nil:
		return n, fmt.Errorf("%w; or try again when it has caught up (%w)", err, behind)
	case err != nil:
		return n, fmt.Errorf("%s: %w", n.Addr, err)
	}
	has, err := s.Has()
	if err != nil {
		return n, err
	}
	all, err := r.watched.to[g.Primary.Addr].Has()
	if err != nil {
		return n, err
	}
	if !all.Covers(has) {
		return n, fmt.Errorf("%s has transactions that the primary at %s has not: somebody has written there (SET sql_log_bin = 0 leaves what is done there out of its log, and FLUSH has NO_WRITE_TO_BINLOG); make it a replica anew, from a backup of the primary",
			n.Addr, g.Primary.Addr)
	}
	if behind != nil {
		r.notes = append(r.notes, fmt.Sprintf("%s is far behind the primary: no switchover makes it that until it has caught up", n.Addr))
	}
	if err := s.MaySwitch(); err != nil {
		r.notes = append(r.notes, err.Error())
	}
	if !views[n.Addr].ReadOnly {
		r.notes = append(r.notes, fmt.Sprintf("%s is not read-only: SET GLOBAL read_only = ON there, and in its configuration file, lest somebody writes to it", n.Addr))
	}
	return n, nil
}

// replicates returns an error, with what is to be run, unless a server is a whole replica of the group's primary, and at work.
func replicates(g *catalog.NodeGroup, addr string, primary, v *failover.View) error {
	flavor, rep := g.Primary.Flavor, v.Replication
	follow := failover.HowToFollow(flavor, g.Primary)
	switch {
	case rep == nil:
		by := map[catalog.Flavor]string{catalog.MariaDB: "mariadb-backup, and SET GLOBAL gtid_slave_pos = what that tells", catalog.MySQL: "the clone plugin"}[flavor]
		return fmt.Errorf("%s is no replica: load a backup of the primary of node group %s there (%s), and have it replicate from %s: %s", addr, g.Label(), by, g.Primary.Addr, follow)
	case !slices.Contains([]string{"", "0", primary.ID}, rep.SourceID):
		return fmt.Errorf("%s replicates from %s, which is another server than the primary of node group %s, %s; if it has nothing that this one has not: %s", addr, rep.Source, g.Label(), g.Primary.Addr, follow)
	case !rep.GTID:
		return fmt.Errorf("%s does not replicate by global transaction ids: %s", addr, failover.HowToGTID(flavor))
	case rep.Filters:
		return fmt.Errorf("%s leaves out databases or tables (Replicate_...): make it a replica anew, without filters, from a backup of the primary", addr)
	case !rep.Receives || rep.SourceID != primary.ID:
		return fmt.Errorf("%s is not connected to its source %s, which should be %s: %s; START REPLICA there, or: %s", addr, rep.Source, g.Primary.Addr, cmp.Or(rep.Error, "its IO thread does not run"), follow)
	case !rep.Applies:
		return fmt.Errorf("%s does not apply what it receives: %s; START REPLICA there", addr, cmp.Or(rep.Error, "its SQL thread does not run"))
	}
	return nil
}

// remove takes a server away from next.
func (r *replicaChange) remove(ctx context.Context, next *catalog.NodeGroup) error {
	addr := r.how.Remove
	if err := r.taken(addr); err != nil {
		return err
	}
	is := func(n catalog.Node) bool { return n.Addr == addr }
	next.Replicas, next.Replaced = slices.DeleteFunc(next.Replicas, is), slices.DeleteFunc(next.Replaced, is)
	switch {
	case len(next.Replicas) < len(r.group.Replicas):
		r.changed = []string{addr}
		return r.keeps(ctx, next)
	case len(next.Replaced) < len(r.group.Replaced):
		r.changed = []string{addr}
		r.notes = append(r.notes, fmt.Sprintf("%s was the primary until it was lost: when it comes back it is not made read-only any more", addr))
	default:
		r.notes = append(r.notes, fmt.Sprintf("%s was no replica of node group %s", addr, next.Label()))
	}
	return nil
}

// keeps returns when what the primary has acknowledged, and the replica that leaves may have received, is on as many of those that stay as it waits for, and the
// one that leaves acknowledges nothing any more:
//
//	look   the one that leaves, if it answers, does not receive what it would acknowledge; if it does not, the primary counts no more clients that acknowledge
//	       than those that stay
//	goal   what the primary has then
//	reach  so many of those that stay have received that, and all is as before
func (r *replicaChange) keeps(ctx context.Context, next *catalog.NodeGroup) error {
	g, addr := r.group, r.how.Remove
	if g.AutomaticFailover && len(next.Replicas) == 0 {
		return fmt.Errorf("%s is the last replica of node group %s, whose automatic failover is on: name another one first (skarvctl nodegroup replica add), or turn it off (skarvctl nodegroup failover %[2]s --automatic off)", addr, g.Label())
	}
	var goal binlog.Position
	for end := time.Now().Add(replicaPatience); ; {
		primary, views, err := r.watched.views(ctx, g)
		if err != nil {
			return fmt.Errorf("the primary of node group %s at %s does not answer (%w): replica %s may have what no other has; if the primary is lost, make a replica that first (skarvctl nodegroup switchover %[1]s --to ADDR --lost)",
				g.Label(), g.Primary.Addr, err, addr)
		}
		v := views[addr]
		delete(views, addr)
		why, passing := failover.Spare(g.Primary.Flavor, primary, addr, v, views, goal, r.how.Force)
		if why == "" {
			r.leaves(next, primary, v, views)
			return nil
		}
		if v == nil {
			g = next // and is not waited for again
		}
		if !passing || time.Now().After(end) {
			return errors.New(why)
		}
		if goal.Empty() {
			goal = primary.Has
		}
		if err := pause.For(ctx, branchesEvery); err != nil {
			return err
		}
	}
}

// leaves notes what is to be minded of a replica that may leave others.
func (r *replicaChange) leaves(next *catalog.NodeGroup, primary, v *failover.View, others map[string]*failover.View) {
	switch addr := r.how.Remove; {
	case v == nil:
		r.notes = append(r.notes, fmt.Sprintf("%s does not answer: should it come back, let it not replicate from %s as it did; a replica that acknowledges and is not named keeps node group %s from being armed",
			addr, primary.Addr, next.Label()))
	case v.Replication != nil && v.Replication.SourceID == primary.ID && v.Replication.Receives:
		r.notes = append(r.notes, fmt.Sprintf("%s still replicates from %s: STOP REPLICA; RESET REPLICA ALL there, unless it is to go on", addr, primary.Addr))
	}
	if next.AutomaticFailover {
		r.notes = append(r.notes, unready(next, primary, others)...)
	}
}
