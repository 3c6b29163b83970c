package session

import (
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/userlock"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// userLocks is the user-level locks of a session: GET_LOCK() and its family. Those of the whole cluster are on one server,
// that of the node group with the lowest id, and each session has them through a connection of its own, which is used for
// nothing else. Losing that connection is losing the locks: the session ends, as it would with its server. Before that node group
// leaves, the locks are frozen: nobody begins to use them, and it stays where somebody does (see control's RemoveGroup). So no session
// has locks on one server while others ask the next.
type userLocks struct {
	conn *backend.Conn
	held userlock.Held
}

// enterLocks announces that the session uses the cluster's user-level locks, until s.hold.EndLocks, and returns the node group that has
// them. While they are frozen it waits.
func (s *Session) enterLocks() (g placement.NodeGroupID, err error) {
	frozen := func(snap *catalog.Snapshot) bool { return snap.Map != nil && snap.Map.LocksFrozen() > 0 }
	for deadline := time.Now().Add(thawTimeout); ; {
		s.hold.HoldLocks()
		now := s.cfg.Snapshot()
		if len(now.Groups) > 0 && !frozen(now) {
			return now.Groups[0].ID, nil
		}
		s.hold.EndLocks()
		if len(now.Groups) == 0 {
			return 0, NoCluster()
		}
		thawed := false
		s.conn.Task().Blocking(func() {
			thawed, err = s.awaitSnapshot(deadline, func(snap *catalog.Snapshot) bool { return !frozen(snap) })
		})
		if err != nil {
			return 0, err
		}
		if !thawed {
			e := sqlerr.LockWaitTimeout.New()
			e.Message = "Lock wait timeout exceeded: the node group that has the user-level locks is about to leave the cluster, and this process does not hear that it has"
			return 0, e
		}
	}
}

// userLock runs a statement that calls functions of user-level locks, and reads no tables.
func (s *Session) userLock(p *plan.Plan) error {
	if err := s.lockConnection(); err != nil {
		return err
	}
	calls := userlock.Calls(s.stmt)
	s.mutex.held.Note(calls)
	c := s.mutex.conn
	s.client.Enter(c)
	err := s.runUserLock(p, c, s.lockText(calls))
	s.client.Leave(c) // before anybody else has it
	if err != nil {
		return err
	}
	return s.releaseLocks(calls)
}

// runUserLock runs text, which is p, on c, which has the session's user-level locks.
func (s *Session) runUserLock(p *plan.Plan, c *backend.Conn, text []byte) error {
	s.used.group, s.used.strategy = c.Group, metrics.Relay
	if err := s.prelude(p, c); err != nil {
		return s.lockLost(c, err)
	}
	sum, err := s.copyResults(c, text)
	s.used.summary = sum
	if err != nil {
		s.variablesFailed(p, c)
		return s.lockLost(c, err)
	}
	return s.answered(p, c, &sum)
}

// setLocks runs a SET of user variables that calls functions of user-level locks.
func (s *Session) setLocks(a variable.Assignments) error {
	if len(a.System) > 0 {
		return sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in a SET of system variables", "assign what they tell to a user variable first")
	}
	if err := s.lockConnection(); err != nil {
		return err
	}
	c := s.mutex.conn
	calls := userlock.Calls(s.stmt)
	run := func(c *backend.Conn) (wire.OK, error) { return s.runSet(c, nil) }
	if userlock.AskOwner(calls) {
		if s.args.Params() != nil && s.stmt.NumParams() > 0 {
			return sqlerr.Unsupported("IS_USED_LOCK() in a prepared SET with parameters", "use SELECT IS_USED_LOCK(...) INTO @variable")
		}
		text := string(s.lockText(calls))
		run = func(c *backend.Conn) (wire.OK, error) { return c.Exec(text) }
	}
	s.mutex.held.Note(calls)
	s.client.Enter(c)
	ok, refused := run(c)
	err := s.assigned(c, a, ok, refused)
	s.client.Leave(c) // before anybody else has it
	if refused != nil {
		err = refused
	}
	if err != nil {
		return s.lockLost(c, err)
	}
	if err := s.releaseLocks(calls); err != nil {
		return err
	}
	return s.ok(wire.OK{Warnings: ok.Warnings, SessionState: ok.SessionState})
}

// lockLost is what becomes of an error on the connection that has the locks.
func (s *Session) lockLost(c *backend.Conn, err error) error {
	if !c.Usable() {
		s.client.Doom() // the client must not go on as if it had its locks
	}
	return txn.Lost(c, err)
}

// lockConnection gives the session its connection for user-level locks, in the session's state.
func (s *Session) lockConnection() error {
	if s.mutex != nil {
		return s.syncHeld(s.mutex.conn)
	}
	g, err := s.enterLocks()
	if err != nil {
		return err
	}
	c, err := s.cfg.Pools.Get(g, s.profile, s.state, nil, s.keeping())
	if err != nil {
		s.hold.EndLocks()
		return err
	}
	s.mutex = &userLocks{conn: c}
	s.client.HasLocks(c.ThreadID())
	return nil
}

// checkUserLocks ends a session whose locks are gone.
func (s *Session) checkUserLocks() error {
	c := s.mutex.conn
	if c.Usable() && !c.Stale() {
		return nil
	}
	c.Interrupt()
	s.client.Doom()
	return sqlerr.ServerLost.New("the connection that had the session's user-level locks is lost, and they with it")
}

// dropUserLocks releases all of the session's user-level locks.
func (s *Session) dropUserLocks() {
	if m := s.mutex; m != nil {
		s.mutex = nil
		s.client.HasLocks(0)
		m.conn.Discard() // at once: others wait for them
		s.hold.EndLocks()
	}
}

// lockText is the statement at hand, with what it asks of the sessions that have locks.
func (s *Session) lockText(calls []userlock.Call) []byte {
	var owners []userlock.Owner
	if userlock.AskOwner(calls) {
		for _, p := range s.allProcesses() {
			if p.LockThread != 0 {
				owners = append(owners, userlock.Owner{Thread: p.LockThread, Session: p.ID})
			}
		}
	}
	return userlock.Text(s.stmt, calls, owners, s.args.AppendSpan)
}

// releaseLocks gives the connection back once the session has no locks any more.
func (s *Session) releaseLocks(calls []userlock.Call) error {
	m := s.mutex
	switch m.held.Behind(calls) {
	case userlock.Some:
		return nil
	case userlock.Asked:
		_, rows, err := m.conn.QueryAll(m.held.Count(m.conn.ThreadID(), s.Mode&sqlparse.NoBackslashEscapes != 0), 1)
		if err != nil || len(rows) != 1 {
			return s.lockLost(m.conn, err)
		}
		if string(rows[0][0]) != "0" {
			return nil
		}
	}
	s.mutex = nil
	s.client.HasLocks(0)
	m.conn.Release()
	s.hold.EndLocks()
	return nil
}
