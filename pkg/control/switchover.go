package control

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/preflight"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Switchover says which server is to be a node group's primary.
type Switchover struct {
	Group placement.NodeGroupID `json:"group"`
	To    string                `json:"to"` // its address
	// Lost: the present primary does not answer and never will again. What it acknowledged and no replica has is lost.
	Lost bool `json:"lost,omitempty"`
	// Term, if not 0, is that of the leader which has found the primary lost by itself; then nothing that was acknowledged may be. No other leader
	// begins it.
	Term int64 `json:"term,omitempty"`
	// Drain is how long transactions that have begun may go on.
	Drain time.Duration `json:"drain,omitempty"`
}

// Bounds on a switchover. Those from rest to publish are less than switchPatience together.
const (
	switchExamine  = 40 * time.Second // all of the examination, in it
	switchConnect  = 5 * time.Second  // for the replica to connect to the primary
	switchLag      = 20 * time.Second // for it to come near, while clients work
	switchNear     = time.Second      // which is as far behind as it may be
	switchPatience = 40 * time.Second // after which any process takes it back
	switchMargin   = 3 * time.Second  // before that it is given up
	switchDrain    = 5 * time.Second  // Drain unless it is said
	switchDrainMax = 10 * time.Second
	switchSevered  = 5 * time.Second  // for processes to end what goes on for longer
	switchGone     = 12 * time.Second // with a primary that is lost: for the lease of processes that are lost with it as well
	switchOut      = 3 * time.Second  // with a primary that is lost: to shut one of them out of all other servers
	switchTold     = time.Second      // for a process to have announced whom it reaches
	switchBranches = 8 * time.Second  // for prepared transactions to end
	switchFreeze   = 2 * time.Second  // for what else writes there
	switchCatchUp  = 8 * time.Second  // for the replica to have the rest
	switchSettle   = 20 * time.Second // for one server to follow
	keptReplaced   = 4                // servers of a group that were lost
)

// Switchover makes another server a node group's primary: a replica that has all that the primary has or, if that is lost, has received. notes are for
// the operator.
func (c *Client) Switchover(ctx context.Context, how Switchover) (notes []string, err error) {
	j, err := c.request(ctx, &job{Switchover: &how})
	if err != nil {
		return nil, err
	}
	if j.Error != nil {
		return nil, errors.New(j.Error.Message)
	}
	c.Await(ctx, j.revision)
	return j.Notes, nil
}

// ExamineSwitchover only looks whether it could be done now, and returns what would be to be minded.
func (c *Client) ExamineSwitchover(ctx context.Context, how Switchover, login func(*catalog.NodeGroup) mysqlconn.Config) (notes []string, err error) {
	snap, err := c.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	s := &switchover{how: how, snap: snap, login: login, client: c}
	defer s.close()
	err = s.examine(ctx)
	return s.warnings, err
}

// switchover is the job that changes a node group's primary.
//
//	examine    the server is a replica of the group's primary, fit to be a primary, and not far behind
//	rest       the catalog says what is to come: no process hands out connections to the group; each says so once none is in use
//	           what takes too long there is rolled back by its process
//	           processes that are gone are shut out of the servers
//	branches   nothing is prepared on the primary any more
//	freeze     the primary is locked for all writing, for as long as this connection to it lives
//	catch up   the replica has everything
//	promote    it does not replicate any more, and may be written to
//	publish    the catalog says that it is the primary, if it still says what it said since rest
//	demote     the old primary is read-only, and replicates from the new one; so do the other replicas
//
// Until publish everything is taken back: by the job or, if that dies, by any process (Switchover.Patience), which makes the publishing fail; the
// lock goes with its connection. After it the old server is used by nobody. A primary that is lost is neither frozen nor demoted. One that a leader has
// found lost by itself (see DESIGN.md) is, in the place of that, cut off:
//
//	cut off    so many replicas receive nothing any more that the primary cannot acknowledge anything; the target has all that they have
type switchover struct {
	leader *leader
	job    *job
	client *Client // asks for an examination alone; nil in a job
	how    Switchover
	snap   *catalog.Snapshot
	login  func(*catalog.NodeGroup) mysqlconn.Config

	group    *catalog.NodeGroup
	target   catalog.Node
	warnings []string

	old, fresh *failover.Server // old is nil if it is lost

	acks       int                     // how many replicas have what a lost primary has acknowledged
	partitions *placement.PartitionMap // as rest has written it, and
	at         int64                   // its revision, and that of the group
	promoted   bool                    // the target may not be a replica any more
	slots      []topology.Slot         // that there were in the beginning
}

func (s *switchover) run(ctx context.Context) error {
	s.how, s.login = *s.job.Switchover, s.leader.login
	defer s.close()
	err := s.change(ctx)
	if err == nil || fatal(err) {
		return err
	}
	s.job.State, s.job.Error = failed, sqlerr.UnknownError.New(err.Error())
	return s.leader.save(ctx, s.job)
}

func (s *switchover) close() {
	for _, c := range []*failover.Server{s.old, s.fresh} {
		if c != nil {
			c.Close()
		}
	}
}

// dial connects to one of the group's servers.
func (s *switchover) dial(ctx context.Context, node catalog.Node) (*failover.Server, error) {
	of := *s.group
	of.Primary = node
	return failover.Dial(ctx, s.login(&of), node.Addr, s.group.Primary.Flavor)
}

// examine finds out whether the change can be made, and connects to the servers.
func (s *switchover) examine(long context.Context) error {
	ctx, cancel := context.WithTimeout(long, switchExamine)
	defer cancel()
	if s.group = s.snap.Group(s.how.Group); s.group == nil {
		return fmt.Errorf("there is no node group %d", s.how.Group)
	}
	if s.already() {
		return fmt.Errorf("%s is the primary of node group %s already", s.how.To, s.group.Label())
	}
	if err := s.unmoved(s.snap.Map); err != nil {
		return err
	}
	s.target = s.group.Primary
	s.target.Addr, s.target.DataNode = s.how.To, ""
	if i := slices.IndexFunc(s.group.Replicas, func(n catalog.Node) bool { return n.Addr == s.how.To }); i >= 0 {
		s.target = s.group.Replicas[i]
	}
	servers := s.servers()
	facts, err := preflight.ExamineReplica(ctx, servers, s.group.Label(), s.target)
	if err != nil {
		return err
	}
	s.target, s.warnings = facts.Node, facts.Warnings
	if s.fresh, err = s.dial(long, s.target); err != nil {
		return err
	}
	defer s.fresh.Until(ctx)()
	if err := s.fresh.MaySwitch(); err != nil {
		return err
	}
	of := *s.group
	of.Primary = s.target
	if err := fence.Known(s.fresh.Conn, &of); err != nil {
		return fmt.Errorf("%s: %w", s.target.Addr, err)
	}
	replication, err := s.fresh.Replication()
	if err != nil {
		return err
	}
	if s.how.Lost {
		return s.examineLost(ctx, replication)
	}
	primary, err := preflight.Examine(ctx, servers, s.group.Label(), s.group.Primary)
	if err != nil {
		return fmt.Errorf("%w; if the primary is lost for good: --lost", err)
	}
	if err := primary.Agrees(facts); err != nil {
		return err
	}
	if err := preflight.Distinct(ctx, servers, []catalog.Node{s.group.Primary, s.target}); err != nil {
		return err
	}
	if s.old, err = s.dial(long, s.group.Primary); err != nil {
		return err
	}
	defer s.old.Until(ctx)()
	if err := s.old.MaySwitch(); err != nil {
		return err
	}
	if err := fence.Known(s.old.Conn, s.group); err != nil {
		return fmt.Errorf("%s: %w", s.group.Primary.Addr, err)
	}
	return s.examineReplication(ctx, replication)
}

// already reports whether the target is the primary.
func (s *switchover) already() bool {
	g := s.snap.Group(s.how.Group)
	return g != nil && g.Primary.Addr == s.how.To
}

// servers connects to servers.
func (s *switchover) servers() schema.Dialer {
	if s.client != nil {
		return s.client.Servers
	}
	return s.leader.servers
}

// unmoved returns an error if partitions are being moved to the group or from it: movers read its primary's binary log.
func (s *switchover) unmoved(m *placement.PartitionMap) error {
	for _, mv := range m.Moving() {
		if mv.A == s.group.ID || mv.B == s.group.ID {
			return fmt.Errorf("reorganisation %s uses node group %s: wait for it, or end its way back with skarvctl reorg complete %[1]s", mv.Reorg, s.group.Label())
		}
	}
	return nil
}

// examineReplication makes sure that the target is a whole replica of the primary that is near it.
func (s *switchover) examineReplication(ctx context.Context, r *failover.Replication) error {
	switch {
	case r == nil:
		return fmt.Errorf("%s is no replica of %s: set up replication by global transaction ids from it first", s.target.Addr, s.group.Primary.Addr)
	case r.Filters:
		return fmt.Errorf("replica %s leaves out databases or tables (Replicate_...): it cannot become the primary", s.target.Addr)
	case !r.GTID:
		return fmt.Errorf("replica %s does not replicate by global transaction ids (MariaDB: MASTER_USE_GTID = slave_pos, MySQL: SOURCE_AUTO_POSITION = 1)", s.target.Addr)
	}
	if !r.Receives || !r.Applies { // for a switchover that was given up, maybe
		if s.client != nil {
			return fmt.Errorf("%s does not replicate now: %s", s.target.Addr, cmp.Or(r.Error, "START REPLICA there"))
		}
		if err := errors.Join(s.fresh.Replicate(false), s.fresh.Replicate(true)); err != nil { // it may wait before it connects again
			return err
		}
	}
	id, err := s.old.ID()
	if err != nil {
		return err
	}
	if r, err = s.connected(ctx); err != nil {
		return err
	}
	if r.SourceID != id {
		return fmt.Errorf("%s replicates from another server than %s, which is the primary of node group %s", s.target.Addr, s.group.Primary.Addr, s.group.Label())
	}
	if err := s.near(ctx); err != nil {
		if r, e := s.fresh.Replication(); e == nil && r != nil && r.Error != "" {
			err = fmt.Errorf("%w: %s", err, r.Error)
		}
		return err
	}
	return nil
}

// connected waits until the target is connected to its source, and applies what it gets.
func (s *switchover) connected(ctx context.Context) (*failover.Replication, error) {
	for end := time.Now().Add(switchConnect); ; {
		r, err := s.fresh.Replication()
		switch {
		case err != nil:
			return nil, err
		case r == nil:
			return nil, fmt.Errorf("%s is no replica any more", s.target.Addr)
		case r.Receives && r.Applies:
			return r, nil
		case time.Now().After(end):
			return nil, fmt.Errorf("%s does not replicate: %s", s.target.Addr, cmp.Or(r.Error, "it is not connected to its source"))
		}
		if err := pause.For(ctx, branchesEvery); err != nil {
			return nil, err
		}
	}
}

// near waits until the target is less than switchNear behind the primary.
func (s *switchover) near(ctx context.Context) error {
	for end := time.Now().Add(switchLag); ; {
		goal, err := s.old.Position()
		if err != nil {
			return err
		}
		err = s.fresh.Reach(goal, switchNear)
		switch {
		case !errors.Is(err, failover.ErrBehind) || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case time.Now().After(end):
			return fmt.Errorf("%w, and is too far behind: try again when it has caught up", err)
		}
	}
}

// examineLost makes sure that nobody reaches the primary, and that no other replica has more than the target.
func (s *switchover) examineLost(ctx context.Context, r *failover.Replication) error {
	if s.how.Term != 0 {
		return nil // see cutOff
	}
	if r != nil && r.Filters {
		return fmt.Errorf("replica %s leaves out databases or tables (Replicate_...): it cannot become the primary", s.target.Addr)
	}
	if r == nil {
		s.warnings = append(s.warnings, fmt.Sprintf("%s is no replica: nothing tells how much of what the primary had it has", s.target.Addr))
	}
	label, node := s.group.Label(), s.group.Primary
	switch answers, err := s.servers().Answers(ctx, label, node); {
	case err != nil:
		return fmt.Errorf("a server answers at %s, which may be the primary of node group %s (%w): stop it first, if it is to be given up", node.Addr, label, err)
	case answers:
		return fmt.Errorf("the primary of node group %s at %s answers: leave out --lost", label, node.Addr)
	}
	mine, err := s.fresh.Has()
	if err != nil {
		return err
	}
	for _, n := range s.group.Replicas {
		if n.Addr == s.target.Addr {
			continue
		}
		other, err := s.dial(ctx, n)
		if err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("replica %s does not answer, and may have more than %s (%v)", n.Addr, s.target.Addr, err))
			continue
		}
		has, err := other.Has()
		other.Close()
		if err != nil {
			return err
		}
		if !mine.Covers(has) {
			return fmt.Errorf("replica %s has transactions that %s has not: make that one the primary", n.Addr, s.target.Addr)
		}
	}
	s.warnings = append(s.warnings, fmt.Sprintf("what %s acknowledged and had not sent to %s is lost; it must not be used again as it is: empty it before it becomes a replica", node.Addr, s.target.Addr))
	return nil
}

// change makes the target the primary, or leaves everything as it was. Asked for again it does what could not be done the first time.
func (s *switchover) change(ctx context.Context) error {
	if s.job.State == running || s.already() {
		return s.settle(ctx)
	}
	if s.how.Term != 0 && s.how.Term != s.leader.guard.Term() {
		if err := s.abandon(ctx); err != nil {
			return err
		}
		return errors.New("the controller that had found the primary lost leads no more: its successor looks by itself")
	}
	if err := s.lost(); err != nil {
		return err
	}
	if err := s.examine(ctx); err != nil {
		return err
	}
	work, cancel := context.WithTimeout(ctx, switchPatience-switchMargin)
	defer cancel()
	if err := s.turn(work); err != nil {
		late := work.Err() != nil && ctx.Err() == nil
		if errors.Is(err, errCrash) {
			return err
		}
		s.takeBack(ctx)
		// Whoever is told to do it again holds up the group once more.
		if late || !leadsNoMore(err) && ctx.Err() == nil {
			err = errors.New(err.Error())
		}
		if late {
			err = fmt.Errorf("it takes too long, and is taken back: %w", err)
		}
		return err
	}
	if err := s.leader.at("published"); err != nil {
		return err
	}
	return s.settle(ctx)
}

// lost returns an error unless the primary is lost still that this leader has found lost.
func (s *switchover) lost() error {
	if s.how.Term == 0 {
		return nil
	}
	g := s.snap.Group(s.how.Group)
	if g == nil {
		return fmt.Errorf("there is no node group %d", s.how.Group)
	}
	var err error
	s.acks, _, err = s.leader.lookout.lost(g)
	return err
}

// cutOff makes sure that a primary which was found lost, and may not be, acknowledges nothing any more, and that the target has all that it has
// acknowledged: of the replicas, of which so and so many must have acknowledged each transaction, fewer are left.
func (s *switchover) cutOff(ctx context.Context) error {
	rested := time.Now()
	left := 0
	var others []*failover.Server
	defer func() {
		for _, o := range others {
			o.Close()
		}
	}()
	for _, n := range s.group.Replicas {
		c := s.fresh
		if n.Addr != s.target.Addr {
			var err error
			if c, err = s.dial(ctx, n); err != nil {
				if left++; left >= s.acks {
					return fmt.Errorf("replica %s cannot be reached, and may have more than the others: %w", n.Addr, err)
				}
				continue
			}
			others = append(others, c)
		}
		if err := c.Receive(false); err != nil {
			return err
		}
	}
	mine, err := s.fresh.Got()
	if err != nil {
		return err
	}
	for _, o := range others {
		has, err := o.Got()
		if err != nil {
			return err
		}
		if !mine.Covers(has) {
			return fmt.Errorf("replica %s has transactions that %s has not", o.Addr, s.target.Addr)
		}
	}
	if err := s.leader.at("cut off"); err != nil {
		return err
	}
	// Until it rested a process may have reached a primary that was started anew, and acknowledges by itself.
	for {
		_, look, err := s.leader.lookout.lost(s.group)
		if err != nil || look.After(rested.Add(switchTold)) {
			return err
		}
		if err := pause.For(ctx, branchesEvery); err != nil {
			return err
		}
	}
}

// abandon leaves everything as it was before a failover that no leader goes on with. Until it has, the group rests, and a primary that is back may
// wait for replicas that do not receive.
func (s *switchover) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	group, at, err := s.leader.store.Group(ctx, s.how.Group)
	if err != nil || group == nil {
		return err
	}
	s.group = group
	s.receive(ctx)
	if now := *group; now.Switchover != nil && now.Switchover.To == s.how.To {
		now.Switchover = nil
		if _, err := s.leader.commit(ctx, s.leader.store.Change(s.leader.guard).PutGroup(&now, at)); err != nil {
			return fmt.Errorf("a failover that nobody goes on with is not taken back yet: %w", err)
		}
	}
	return nil
}

// receive lets the replicas of a primary that was not replaced receive from it: it may wait for that.
func (s *switchover) receive(ctx context.Context) {
	for _, n := range s.group.Replicas {
		c, err := s.dial(ctx, n)
		if err == nil {
			var r *failover.Replication
			if r, err = c.Replication(); err == nil && r != nil {
				err = errors.Join(c.ReadOnly(true), c.Replicate(true))
			}
			c.Close()
		}
		if err != nil {
			s.leader.log.WarnContext(ctx, "a replica that did not become the primary does not replicate", "addr", n.Addr, "error", err)
		}
	}
}

// turn is the change from rest to publish.
func (s *switchover) turn(ctx context.Context) error {
	defer s.fresh.Until(ctx)()
	if s.old != nil {
		defer s.old.Until(ctx)()
	}
	if err := s.rest(ctx); err != nil {
		return err
	}
	if s.old != nil {
		if err := s.freeze(ctx); err != nil {
			return err
		}
	}
	if s.how.Term != 0 {
		if err := s.cutOff(ctx); err != nil {
			return err
		}
	}
	if err := s.leader.at("frozen"); err != nil {
		return err
	}
	if err := s.promote(ctx); err != nil {
		return err
	}
	if err := s.leader.at("promoted"); err != nil {
		return err
	}
	return s.publish(ctx)
}

// rest returns when no process uses the group any more.
func (s *switchover) rest(ctx context.Context) error {
	store := s.leader.store
	m, mapAt, err := store.Map(ctx)
	if err != nil {
		return err
	}
	if m.Frozen() != nil {
		return errors.New("partitions are being handed over: try again")
	}
	if err := s.unmoved(m); err != nil {
		return err
	}
	group, at, err := store.Group(ctx, s.group.ID)
	if err != nil {
		return err
	}
	if s.slots, _, err = store.Slots(ctx); err != nil {
		return err
	}
	// A move that begins now, or later, changes the map, and publish fails.
	if s.partitions, err = m.Next(nil, m.Moving()); err != nil {
		return err
	}
	drain, patience := min(cmp.Or(s.how.Drain, switchDrain), switchDrainMax), switchSevered
	if s.how.Lost {
		drain, patience = 0, switchGone
	}
	group.Switchover = &catalog.Switchover{ID: rand.Text(), To: s.target.Addr, Lost: s.how.Lost, Drain: drain, Patience: switchPatience}
	if s.at, err = s.leader.commit(ctx, store.Change(s.leader.guard).PutGroup(group, at).PutMap(s.partitions, mapAt)); err != nil {
		return meanwhile(err)
	}
	s.group = group
	if err := s.leader.at("resting"); err != nil {
		return err
	}
	await := func(ctx context.Context) ([]topology.Silent, error) { return store.AwaitRest(ctx, group.Switchover) }
	waitsFor, err := s.leader.awaitSlots(ctx, drain+patience, await, s.shutOut)
	if err == nil && len(waitsFor) > 0 {
		err = fmt.Errorf("these proxies do not stop using node group %s: %s", group.Label(), strings.Join(waitsFor, ", "))
	}
	return err
}

// shutOut shuts a proxy out of the servers whose process is gone. With a primary that is lost others may be, too, which had been on its machine: it is
// enough that the proxy is being shut out, of which the target is told; its slot stays until all have been.
func (s *switchover) shutOut(ctx context.Context, gone topology.Silent) error {
	if !s.how.Lost {
		return s.leader.shutOut(ctx, gone)
	}
	try, cancel := context.WithTimeout(ctx, switchOut)
	defer cancel()
	err := s.leader.shutOut(try, gone)
	if err == nil || try.Err() == nil && leadsNoMore(err) || errors.Is(err, topology.ErrNotLeader) || ctx.Err() != nil {
		return err
	}
	holds, e := s.leader.store.HoldsSlot(ctx, gone.Slot.N, gone.Slot.Incarnation)
	if e != nil || holds {
		return errors.Join(err, e)
	}
	return nil
}

// meanwhile is err, in words of its own if somebody else has changed the group or the map.
func meanwhile(err error) error {
	if errors.Is(err, topology.ErrConflict) {
		return errors.New("partitions, or the node group, were changed meanwhile: try again")
	}
	return err
}

// freeze locks the primary once nothing is prepared there, and waits until the target has everything.
func (s *switchover) freeze(ctx context.Context) error {
	if err := s.branches(ctx); err != nil {
		return err
	}
	if err := s.old.Freeze(switchFreeze, switchPatience); err != nil {
		return err
	}
	end, err := s.old.Position()
	if err != nil {
		return err
	}
	catchUp, cancel := context.WithTimeout(ctx, switchCatchUp+time.Second) // a replica that is paused says nothing
	defer cancel()
	defer s.fresh.Until(catchUp)()
	return s.fresh.Reach(end, switchCatchUp)
}

// branches waits until nothing is prepared on the primary.
func (s *switchover) branches(ctx context.Context) error {
	c, err := s.leader.servers.Dial(ctx, s.group.Label(), s.group.Primary)
	if err != nil {
		return err
	}
	defer c.Close()
	return s.leader.awaitBranches(ctx, c, switchBranches)
}

// promote makes the target a server that may be written to, and that knows who is fenced.
func (s *switchover) promote(ctx context.Context) error {
	if s.how.Lost {
		if r, err := s.fresh.Replication(); err != nil {
			return err
		} else if r != nil {
			if err := s.fresh.Apply(ctx); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.promoted = true
	if err := s.fresh.Replicate(false); err != nil {
		return err
	}
	if err := s.fresh.ReadOnly(false); err != nil {
		return err
	}
	return s.carry(ctx)
}

// carry tells the target which slots are fenced by now: those that are, and those that were there in the beginning.
func (s *switchover) carry(ctx context.Context) error {
	now, _, err := s.leader.store.Slots(ctx)
	if err != nil {
		return err
	}
	var fenced []fence.Slot
	for _, o := range slices.Concat(now, s.slots) {
		held := slices.ContainsFunc(now, func(n topology.Slot) bool { return n.N == o.N && n.Incarnation == o.Incarnation && !n.Fenced })
		if !held {
			fenced = append(fenced, fence.Slot{N: o.N, Incarnation: o.Incarnation})
		}
	}
	c, err := s.dial(ctx, s.target)
	if err != nil {
		return err
	}
	defer c.Close()
	return fence.Carry(c.Conn, fenced)
}

// publish makes the target the primary for everybody.
func (s *switchover) publish(ctx context.Context) error {
	group := *s.group
	group.Switchover, group.Term = nil, group.Term+1
	isTarget := func(n catalog.Node) bool { return n.Addr == s.target.Addr }
	group.Replicas = slices.DeleteFunc(slices.Clone(group.Replicas), isTarget)
	group.Replaced = slices.DeleteFunc(slices.Clone(group.Replaced), isTarget)
	if s.how.Lost {
		group.Replaced = append(slices.Clone(group.Replaced[max(0, len(group.Replaced)-keptReplaced+1):]), group.Primary)
	} else {
		group.Replicas = append(group.Replicas, group.Primary)
	}
	if s.how.Term != 0 {
		group.FailedOver = time.Now().UTC()
	}
	group.Primary = s.target
	next, err := s.partitions.Next(nil, s.partitions.Moving())
	if err != nil {
		return err
	}
	s.job.State, s.job.Notes = running, s.warnings
	change := s.leader.store.Change(s.leader.guard).PutGroup(&group, s.at).PutMap(next, s.at)
	if err := s.leader.saveWith(ctx, s.job, change); err != nil {
		s.job.State, s.job.Notes = queued, nil
		return meanwhile(err)
	}
	s.group = &group
	return nil
}

// takeBack leaves everything as it was, unless it is not known whether that is the case. What it cannot do others do: processes go on after
// switchPatience, and the next switchover lets the target replicate again.
func (s *switchover) takeBack(ctx context.Context) {
	if s.at == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ackTimeout)
	defer cancel()
	if s.old != nil {
		s.old.Close() // so that it is not locked any more
		s.old = nil
	}
	group := *s.group
	group.Switchover = nil
	_, err := s.leader.commit(ctx, s.leader.store.Change(s.leader.guard).PutGroup(&group, s.at))
	if errors.Is(err, topology.ErrConflict) { // another process has done it; or the target is the primary
		var now *catalog.NodeGroup
		if now, _, err = s.leader.store.Group(ctx, group.ID); err == nil && (now == nil || now.Primary.Addr != group.Primary.Addr) {
			return
		}
	}
	if err == nil && s.how.Lost {
		s.receive(ctx)
	}
	if err != nil || !s.promoted || s.how.Lost {
		return
	}
	c, err := s.dial(ctx, s.target)
	if err == nil {
		defer c.Close()
		err = errors.Join(c.ReadOnly(true), c.Replicate(true))
	}
	if err != nil {
		s.leader.log.WarnContext(ctx, "a replica that did not become the primary does not replicate", "addr", s.target.Addr, "error", err)
	}
}

// settle does what is left once the target is the primary: it leaves its source, knows who was fenced meanwhile, and the others follow it. What cannot
// be done is a note.
func (s *switchover) settle(ctx context.Context) error {
	if s.group = s.snap.Group(s.how.Group); s.group == nil || s.group.Primary.Addr != s.how.To {
		group, _, err := s.leader.store.Group(ctx, s.how.Group)
		if err != nil {
			return err
		}
		if group == nil { // it was removed since
			s.job.State = done
			return s.leader.save(ctx, s.job)
		}
		s.group = group
	}
	s.target = s.group.Primary
	note := func(what string, err error) {
		if err != nil {
			s.job.Notes = append(s.job.Notes, fmt.Sprintf("%s: %v", what, err))
		}
	}
	within := func(do func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, switchSettle)
		defer cancel()
		return do(ctx)
	}
	note("who was shut out meanwhile is not known to the new primary", within(s.carry))
	note("the new primary keeps the settings of a replica: RESET REPLICA ALL there", within(s.leave))
	for _, n := range s.group.Replicas {
		note(n.Addr+" does not replicate from the new primary; let nobody write there, and try the same command again",
			within(func(ctx context.Context) error { return s.follow(ctx, n) }))
	}
	s.job.State = done
	return s.leader.save(ctx, s.job)
}

// leave makes the new primary forget its source.
func (s *switchover) leave(ctx context.Context) error {
	c, err := s.dial(ctx, s.target)
	if err != nil {
		return err
	}
	defer c.Close()
	r, err := c.Replication()
	if err != nil || r == nil {
		return err
	}
	return errors.Join(c.Replicate(false), c.Leave())
}

// follow makes one of the group's other servers a replica of the new primary, read-only.
func (s *switchover) follow(ctx context.Context, n catalog.Node) error {
	primary, err := s.dial(ctx, s.target)
	if err != nil {
		return err
	}
	defer primary.Close()
	c := s.old // frozen
	if c == nil || c.Addr != n.Addr || !c.Usable() {
		if c, err = s.dial(ctx, n); err != nil {
			return err
		}
		defer c.Close()
	}
	defer c.Until(ctx)()
	r, err := c.Replication()
	if err != nil {
		return err
	}
	id, err := primary.ID()
	if err != nil {
		return err
	}
	switch {
	case r != nil && r.SourceID == id && r.Receives:
		return nil
	case r != nil && !r.GTID:
		return errors.New("it does not replicate by global transaction ids")
	case r == nil:
		// Whoever came to it as the primary is gone when it can be written to, by administrators, again.
		if err := errors.Join(c.ReadOnly(true), c.EndOthers(), c.Thaw(), c.EndOthers()); err != nil {
			return err
		}
	}
	has, err := c.Has()
	if err != nil {
		return err
	}
	all, err := primary.Has()
	if err != nil {
		return err
	}
	if !all.Covers(has) {
		return errors.New("it has transactions that the new primary has not: empty it first")
	}
	if r != nil {
		has = binlog.Position{} // it knows that itself
	}
	v, err := c.View()
	if err != nil {
		return err
	}
	if v.SemiSync.Source { // it would wait for replicas of its own
		if err := c.Wait(false); err != nil {
			return err
		}
	}
	return c.Follow(s.target, has)
}
