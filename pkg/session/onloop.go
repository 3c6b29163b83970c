package session

import (
	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/plan"
	"skarv/pkg/socket"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// A session on a socket.Loop must not wait for anything but its client and its servers, whose sockets are on the Loop too: it
// would hold up all others. So what happens most, statements of one node group, stays on the Loop, and everything else
// is run aside, on a goroutine that may wait:
//
//	Handle      a command that is not simple, a session with locks, temporary tables, cursors, ... ► handleAside
//	runText     a plan that is not simple                                                        ► runAside
//	dataBy      a statement over several node groups, unless it only passes rows on (see streams) ► rootAside
//	and the few steps of simple statements that can have to wait: a connection of a full pool (backend), partitions that
//	are being handed over, a closed gate of commits, values of a sequence that must be reserved, a KILL on its way
//
// Aside, all of the session is as it is without a Loop.

// largestOnLoop is how long a command may be that is read on the Loop.
const largestOnLoop = 64 << 10

func (s *Session) onLoop() bool { return s.conn.Task().OnLoop() }

// maySimply reports whether a command can be one that stays on the Loop.
func (s *Session) maySimply(cmd wire.Command, payload []byte) bool {
	switch cmd {
	case wire.ComQuery, wire.ComStmtExecute:
	case wire.ComStmtClose:
		return s.statements.cursors == 0
	default:
		return false
	}
	return len(payload) <= largestOnLoop && s.locks == nil && s.mutex == nil && s.temps == nil && s.statements.cursors == 0 && s.ours.Reads == variable.ReadOff &&
		!s.handedOver && s.isolation == "" && (s.tx == nil || s.tx.Err() == nil) && s.plainServers()
}

// plainServers reports whether all servers' connections can be on a Loop: those by TLS cannot.
func (s *Session) plainServers() bool {
	snap := s.cfg.Snapshot()
	if s.plainOf != snap {
		s.plainOf, s.plain = snap, true
		for _, g := range snap.Groups {
			s.plain = s.plain && g.Primary.TLS == ""
		}
	}
	return s.plain
}

// simply reports whether p can stay on the Loop.
func simply(p *plan.Plan) bool {
	if p.Topic != "" || p.Inner != nil {
		return false
	}
	switch p.Kind {
	case plan.Select:
		return p.Relay != nil || p.Alone != nil || streams(p.Root)
	case plan.Update, plan.Delete:
		return p.Relay != nil || p.Alone != nil
	case plan.Insert, plan.Replace:
		_, rows := p.Root.(*plan.InsertRows)
		return p.Relay != nil || rows
	case plan.Begin:
		return p.Txn == nil || !p.Txn.Snapshot
	case plan.Commit, plan.Rollback:
		return true
	}
	return false
}

// streams reports whether rows are passed on as they come from the node groups, merged or not: between two reads little is
// done. What sorts waits for files, or works for long.
func streams(n plan.Node) bool {
	for ; n != nil; n = plan.Input(n) {
		switch node := n.(type) {
		case *plan.Fragment:
			return !node.Write
		case *plan.Sort:
			return false
		}
	}
	return false
}

func (s *Session) handleAside(t *socket.Task, cmd wire.Command, payload []byte) (err error) {
	t.Blocking(func() { err = s.Handle(cmd, payload) })
	return err
}

func (s *Session) runAside(p *plan.Plan, r request) (ran *plan.Plan, err error) {
	s.conn.Task().Blocking(func() { ran, err = s.runPlan(p, r) })
	return ran, err
}

func (s *Session) rootAside(p *plan.Plan) (err error) {
	s.conn.Task().Blocking(func() { err = s.root(p) })
	return err
}

func (s *Session) thawAside(t *exec.Touched) (err error) {
	s.conn.Task().Blocking(func() { err = s.awaitThaw(t) })
	return err
}

func (s *Session) commitAside() {
	s.conn.Task().Blocking(s.hold.Commit)
}

func (s *Session) writeAside(p *plan.Plan, w *plan.Workspace) (err error) {
	s.conn.Task().Blocking(func() { err = s.workspaceWrite(p, w) })
	return err
}

// Sequences gives AUTO_INCREMENT values.
type Sequences interface {
	exec.Sequence
	// Take is Next that waits for nothing; false if it would have to.
	Take(t *catalog.Table, n int) (first uint64, ok bool)
	// Pass is Observe that waits for nothing; false if it would have to.
	Pass(t *catalog.Table, v uint64) bool
}

// sequences is that of a session on a Loop.
type sequences struct{ s *Session }

func (s *Session) sequence() exec.Sequence {
	if !s.onLoop() {
		return s.cfg.Sequences
	}
	s.ids.s = s
	return &s.ids
}

// Next implements exec.Sequence.
func (q *sequences) Next(t *catalog.Table, n int) (uint64, error) {
	if first, ok := q.s.cfg.Sequences.Take(t, n); ok {
		return first, nil
	}
	return q.next(t, n)
}

func (q *sequences) next(t *catalog.Table, n int) (first uint64, err error) {
	q.s.conn.Task().Blocking(func() { first, err = q.s.cfg.Sequences.Next(t, n) })
	return first, err
}

// Observe implements exec.Sequence.
func (q *sequences) Observe(t *catalog.Table, v uint64) error {
	if q.s.cfg.Sequences.Pass(t, v) {
		return nil
	}
	return q.observe(t, v)
}

func (q *sequences) observe(t *catalog.Table, v uint64) (err error) {
	q.s.conn.Task().Blocking(func() { err = q.s.cfg.Sequences.Observe(t, v) })
	return err
}
