package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
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
	// names are literals that GET_LOCK was called with; unknown: it was called with something else.
	names   map[string]bool
	unknown bool
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
	calls := s.lockCalls()
	s.mutex.note(calls)
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
	calls := s.lockCalls()
	run := func(c *backend.Conn) (wire.OK, error) { return s.runSet(c, nil) }
	if slices.ContainsFunc(calls, func(c lockCall) bool { return c.function == "is_used_lock" }) {
		if s.args.Params() != nil && s.stmt.NumParams() > 0 {
			return sqlerr.Unsupported("IS_USED_LOCK() in a prepared SET with parameters", "use SELECT IS_USED_LOCK(...) INTO @variable")
		}
		text := string(s.lockText(calls))
		run = func(c *backend.Conn) (wire.OK, error) { return c.Exec(text) }
	}
	s.mutex.note(calls)
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
	s.mutex = &userLocks{conn: c, names: map[string]bool{}}
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

// lockCall is one call of a function of user-level locks.
type lockCall struct {
	function string
	sqlparse.Span
	name    string // the literal it is called with
	literal bool
}

// lockCalls finds the calls in the statement at hand.
func (s *Session) lockCalls() (list []lockCall) {
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind != sqlparse.Word {
			continue
		}
		name := strings.ToLower(string(s.stmt.Text(tok.Span)))
		switch name {
		case "get_lock", "release_lock", "is_free_lock", "is_used_lock", "release_all_locks":
		default:
			continue
		}
		ahead := tokens
		if !s.stmt.Is(ahead.Next(), "(") {
			continue
		}
		call := lockCall{function: name, Span: tok.Span}
		arg := ahead.Next()
		end := ahead
		if next := end.Next(); arg.Kind == sqlparse.StringLit && (s.stmt.Is(next, ",") || s.stmt.Is(next, ")")) {
			call.name, call.literal = string(s.stmt.AppendName(nil, arg)), true // which of them are one a server knows
		}
		for inside := true; inside && arg.Kind != sqlparse.EOF; arg = ahead.Next() {
			inside = arg.Depth > tok.Depth
			call.End = arg.End
		}
		list = append(list, call)
	}
	return list
}

// lockText is the statement at hand with the ids of the cluster's sessions in the place of what IS_USED_LOCK() tells, the
// ids of connections to the server.
func (s *Session) lockText(calls []lockCall) (text []byte) {
	at := 0
	items := s.stmt.SelectItems(nil)
	for i, c := range calls {
		if c.function != "is_used_lock" {
			continue
		}
		call := s.args.AppendSpan(nil, c.Span)
		text = s.args.AppendSpan(text, sqlparse.Span{Start: at, End: c.Start})
		text = s.appendOwner(text, call)
		at = c.End
		for _, it := range items {
			more := i+1 < len(calls) && calls[i+1].function == "is_used_lock" && calls[i+1].Start < it.Expr.End
			if !it.Star && it.Alias.End == 0 && c.Start >= it.Expr.Start && c.End <= it.Expr.End && !more {
				text = s.args.AppendSpan(text, sqlparse.Span{Start: at, End: it.Expr.End})
				at = it.Expr.End
				text = append(append(text, " AS "...), sqltypes.QuoteName(string(s.stmt.AppendColumnName(nil, it)))...)
			}
		}
	}
	return s.args.AppendSpan(text, sqlparse.Span{Start: at, End: len(s.stmt.SQL())})
}

func utoa(v uint32) string { return strconv.FormatUint(uint64(v), 10) }

// appendOwner appends an expression for the session that has a lock.
func (s *Session) appendOwner(dst, call []byte) []byte {
	owners := s.allProcesses()
	unsigned := !s.cfg.Dialect.MariaDB()
	if unsigned {
		dst = append(dst, "CAST"...)
	}
	dst = append(dst, "(CASE "...)
	dst = append(dst, call...)
	for _, p := range owners {
		if p.LockThread != 0 {
			dst = append(dst, " WHEN "+utoa(p.LockThread)+" THEN "+utoa(p.ID)...)
		}
	}
	dst = append(dst, " WHEN 0 THEN 100000000"...) // never; for the type's sake
	if unsigned {
		return append(dst, " END AS UNSIGNED)"...)
	}
	return append(dst, " END)"...)
}

// note remembers which locks calls may take: a statement that fails may have taken some.
func (m *userLocks) note(calls []lockCall) {
	for _, c := range calls {
		switch {
		case c.function != "get_lock":
		case c.literal:
			m.names[c.name] = true
		default:
			m.unknown = true
		}
	}
}

// releaseLocks gives the connection back once the session has no locks any more.
func (s *Session) releaseLocks(calls []lockCall) error {
	m := s.mutex
	released := slices.ContainsFunc(calls, func(c lockCall) bool { return c.function == "release_lock" || c.function == "release_all_locks" })
	if m.unknown && !released || len(m.names) > 0 && !released {
		return nil
	}
	if m.unknown {
		if len(calls) != 1 || calls[0].function != "release_all_locks" {
			return nil
		}
	} else if len(m.names) > 0 {
		var sql []byte
		for n := range m.names {
			if sql == nil {
				sql = append(sql, "SELECT COALESCE(SUM(x), 0) FROM (SELECT "...)
			} else {
				sql = append(sql, " UNION ALL SELECT "...)
			}
			sql = append(sql, "IS_USED_LOCK("+s.quoted(n)+") <=> "+utoa(m.conn.ThreadID())+" AS x"...)
		}
		_, rows, err := m.conn.QueryAll(string(append(sql, ") y"...)), 1)
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
