package session

import (
	"errors"
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/workspace"
)

// broadcast runs a query over several node groups on which it has copied some of its tables first: on connections of its
// own, outside of the session's transaction, of which there is none. The error is errAnotherWay, and the client has
// got nothing, when the tables are too large to be copied.
func (s *Session) broadcast(p *plan.Plan, n *plan.Broadcast) error {
	s.used.strategy = metrics.Broadcast
	b := &broadcast{s: s, p: p, n: n, conns: conns{s: s, plan: p}}
	defer func() {
		for range b.lent {
			s.closeWorkspace()
		}
	}()
	err := b.run()
	if err != nil {
		for _, c := range b.lent {
			s.client.Leave(c)
			c.Discard()
		}
		return err
	}
	for i, c := range b.lent {
		s.client.Leave(c)
		if b.spaces[i].Close() != nil {
			c.Interrupt() // the answer is right; the connection goes, and the tables with it
		}
		c.Release()
	}
	return nil
}

// broadcast is one execution. It gives the executor the connections with the copies.
type broadcast struct {
	conns
	s      *Session
	p      *plan.Plan
	n      *plan.Broadcast
	lent   []*backend.Conn // by group, ascending
	spaces []*workspace.Workspace
}

func (b *broadcast) run() error {
	s := b.s
	fragment := plan.Fragments(b.n.Input)[0]
	groups, _, err := s.runner.Router.Route(&fragment.Target, s.snap, &s.args, nil)
	if err != nil {
		return err
	}
	if err := b.open(groups); err != nil {
		return err
	}
	defer func() {
		for _, w := range b.spaces {
			w.Free()
		}
	}()
	if err := b.copy(); err != nil {
		if sqlerr.HasCode(err, sqlerr.NotSupportedYet) {
			return errAnotherWay // a limit, or a table that cannot be copied: the other way tells what it thinks of that
		}
		return err
	}
	if s.client.Hit() { // by a KILL that met no statement on a server
		return sqlerr.QueryInterrupted.New()
	}
	for i := range b.n.Copies {
		s.copied = append(s.copied, b.n.Copies[i].Table)
	}
	defer func() { s.copied = nil }()
	inner := *b.p
	inner.Root = b.n.Input
	if err = s.scatterOn(&inner, b, &b.conns); sqlerr.HasCode(err, sqlerr.NotSupportedYet) && s.out.columns == nil {
		return errAnotherWay
	}
	return err
}

// open gets the connections.
func (b *broadcast) open(groups []placement.NodeGroupID) error {
	s := b.s
	if err := b.Admit(groups); err != nil {
		return err
	}
	for _, g := range groups {
		c, err := s.openWorkspace(g, s.profile)
		if err != nil {
			return err
		}
		c.Dirty = true // until the pool has reset it
		b.lent = append(b.lent, c)
		s.client.Enter(c)
		w, err := workspace.Open(c, s.cfg.Workspace, s.SQLMode, s.taken)
		if err != nil {
			return txn.Lost(c, err)
		}
		b.spaces = append(b.spaces, w)
	}
	return nil
}

// copy makes the copies, and brings the connections into the session's state.
func (b *broadcast) copy() error {
	g := gathering{s: b.s, w: b.spaces[0], c: b.lent[0], also: b.spaces[1:]}
	if err := g.all(b.n.Copies); err != nil {
		return err
	}
	many := b.spaces[0].Many() // the others have the same rows, and have not counted them
	for i, w := range b.spaces {
		var err error
		if many {
			err = w.Analyse()
		}
		if err == nil {
			err = w.Restore()
		}
		if err != nil {
			return txn.Lost(b.lent[i], err)
		}
	}
	for i, w := range b.spaces {
		if err := w.Settle(); err != nil {
			return txn.Lost(b.lent[i], err)
		}
	}
	return nil
}

// Acquire implements exec.Conns.
func (b *broadcast) Acquire(g placement.NodeGroupID, _ bool) (exec.Conn, error) {
	i := slices.IndexFunc(b.lent, func(c *backend.Conn) bool { return c.Group == g })
	if i < 0 {
		return nil, sqlerr.Internal.New("a broadcast goes to a node group without copies")
	}
	b.used++
	b.group = g
	if b.used > 1 {
		b.group = 0
	}
	return b.lent[i], nil
}

// Release implements exec.Conns.
func (b *broadcast) Release(ec exec.Conn, err error) {
	c := ec.(*backend.Conn)
	if err == nil && c.Usable() && c.LastWarnings() > 0 {
		b.warnings = b.s.appendWarnings(b.warnings, c)
	}
	if errors.Is(err, exec.ErrUnread) {
		if _ = c.Skip(maxUnread); !c.Usable() {
			c.Interrupt() // reading the rest would take too long
		}
	}
}
