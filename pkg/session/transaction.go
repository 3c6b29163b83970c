package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// startTransaction begins a transaction in any sql_mode: BEGIN opens a block of statements in ORACLE.
const startTransaction = "START TRANSACTION"

// beginning is the client's statement that begins a transaction, in words that are the same in any sql_mode: it is sent with the first branch.
func (s *Session) beginning(how *plan.Txn) string {
	if how == nil || *how == (plan.Txn{}) {
		return startTransaction
	}
	return string(s.stmt.SQL())
}

// begin opens a transaction in the session; its branches are opened by the statements that need them. how is what the
// client said of it, nil for nothing.
func (s *Session) begin(text string, how *plan.Txn) {
	s.tx = s.newTxn()
	s.tx.Keep(s.early)
	next := strings.ToUpper(s.isolation)
	s.tx.Begin, s.tx.Isolation = text, s.ours.Reads.Isolation(s.readWrite(s.isolation, how))
	s.tx.Repeatable = s.ours.Reads != variable.ReadLocking && s.repeatable()
	s.isolation = ""
	switch {
	case how != nil && (how.ReadOnly || how.ReadWrite):
		s.tx.ReadOnly = how.ReadOnly
	case strings.Contains(next, "READ ONLY"), strings.Contains(next, "READ WRITE"):
		s.tx.ReadOnly = strings.Contains(next, "READ ONLY")
	default:
		s.tx.ReadOnly = s.readOnly()
	}
}

// readWrite is the SET TRANSACTION statement, in the place of isolation, for a transaction that the client says may write. Only the first
// branch is begun with the client's own words, and the others as the session's transactions are.
func (s *Session) readWrite(isolation string, how *plan.Txn) string {
	upper := strings.ToUpper(isolation)
	if how == nil || !how.ReadWrite || !s.readOnly() && !strings.Contains(upper, "READ ONLY") {
		return isolation
	}
	if level := variable.IsolationLevel(upper); level != "" {
		return "SET TRANSACTION ISOLATION LEVEL " + level + ", READ WRITE"
	}
	return "SET TRANSACTION READ WRITE"
}

// newTxn returns a transaction as the session's settings want it.
func (s *Session) newTxn() *txn.Txn {
	tx := &txn.Txn{Begin: startTransaction, Isolation: s.ours.Reads.Isolation(""), BestEffort: s.ours.BestEffort, Coordinator: s.cfg.Transactions}
	if t := s.conn.Task(); t != nil {
		tx.Aside = t.Blocking
	}
	return tx
}

// endTransaction forgets a transaction the server has ended; its connection is given back.
func (s *Session) endTransaction() {
	s.early = nil
	if s.tx != nil {
		s.tx.Rollback()
		s.tx = nil
	}
}

// commit commits tx. A KILL ends the waits of those commits that are not bounded by themselves.
func (s *Session) commit(tx *txn.Txn) (txn.Outcome, error) {
	if tx.Wrote() {
		s.beginCommit()
		defer s.endCommit()
	}
	s.client.Commits(true)
	defer s.client.Commits(false)
	s.committing = tx.Unbounded(s.committing[:0])
	for _, c := range s.committing {
		s.client.Enter(c)
	}
	return tx.Commit() // Put ends what enter began
}

func (s *Session) transactionControl(p *plan.Plan) error {
	switch p.Kind {
	case plan.Begin:
		if err := s.commitImplicit(); err != nil {
			return err
		}
		if err := s.unlock(); err != nil {
			return err
		}
		if p.Txn != nil && p.Txn.Snapshot || s.ours.Reads.Snapshots() {
			return s.beginSnapshot(p.Txn)
		}
		s.begin(s.beginning(p.Txn), p.Txn)
		return s.ok(wire.OK{})
	case plan.Savepoint:
		return s.savepoint(p)
	}
	tx, next := s.tx, s.isolation
	s.tx, s.early, s.isolation = nil, nil, "" // SET TRANSACTION was for the one that ends here, even if it was not begun
	var out txn.Outcome
	var err error
	switch {
	case s.locks != nil:
		err = s.endLocked(p.Kind)
	case tx == nil:
	case p.Kind == plan.Rollback:
		if tx.Rollback() > 0 {
			out.Warnings = s.notRolledBack()
		}
	default:
		out, err = s.commit(tx) // chain and release are the session's: the branches' connections are shared
	}
	if err != nil {
		return err
	}
	if p.Txn != nil && p.Txn.Chain {
		if err := s.unlock(); err != nil {
			return err
		}
		if tx == nil {
			s.isolation = next
		}
		s.begin(startTransaction, nil)
		if tx != nil {
			s.tx.Begin, s.tx.Isolation, s.tx.ReadOnly, s.tx.Repeatable = tx.Begin, tx.Isolation, tx.ReadOnly, tx.Repeatable
		}
	}
	if err := s.ok(wire.OK{Warnings: s.pending(out)}); err != nil {
		return err
	}
	if p.Txn != nil && p.Txn.Release {
		if err := s.conn.Flush(); err != nil {
			return err
		}
		return errReleased
	}
	return nil
}

// notRolledBack notes the warning of a ROLLBACK that has left what tables of other engines than InnoDB have got.
func (s *Session) notRolledBack() (warnings uint16) {
	s.diagnostics.Replace(diagnostics.Condition{Level: diagnostics.Warning, Code: 1196, Message: "Some non-transactional changed tables couldn't be rolled back"})
	return 1
}

// pending notes, as a warning, a transaction that is committed but not finished everywhere.
func (s *Session) pending(out txn.Outcome) (warnings uint16) {
	if out.Pending == "" {
		return out.Warnings
	}
	s.diagnostics.Replace(s.pendingNote(out.Pending))
	return 1
}

// pendingNote is what the client is told of a transaction that some node groups have not finished. What it wrote there is read from primaries for
// some time: when replicas have it nobody knows.
func (s *Session) pendingNote(id txn.ID) diagnostics.Condition {
	s.wrote = s.cfg.Clients.Clock() + pendingTime
	return diagnostics.Of(diagnostics.Note, sqlerr.UnknownError.New("transaction "+string(id)+" is committed; some node groups have yet to show it"))
}

const pendingTime = time.Minute

// writes reports whether a statement may change rows.
func writes(p *plan.Plan) bool {
	switch p.Kind {
	case plan.Insert, plan.Replace, plan.Update, plan.Delete:
		return true
	case plan.Flush, plan.TableAdmin, plan.Other:
		return true
	case plan.Do:
		return false
	}
	return p.Relay != nil && p.Relay.Write
}

// writing is called before p is sent to c. Statements that only read leave nothing to be committed.
func (s *Session) writing(p *plan.Plan, c *backend.Conn) error {
	if s.locks != nil {
		return s.underLocks(p, c.Group)
	}
	if s.tx == nil || !writes(p) {
		return nil
	}
	if s.tx.MayPrepare(c) && p.Relay != nil {
		// A prepared transaction on such a table stops the replica that looks for its rows.
		for _, t := range p.Relay.Tables {
			if t.Kind == catalog.Single && len(t.Primary) == 0 {
				return sqlerr.Unsupported(fmt.Sprintf("writing to table %s.%s, which has no primary key, in a transaction that began on another node group",
					t.Database, t.Name), "give the table a primary key, write to it first, or SET skarv_commit = best_effort")
			}
		}
	}
	s.tx.Writes(c)
	return nil
}

// savepoint is SAVEPOINT, ROLLBACK TO and RELEASE SAVEPOINT.
func (s *Session) savepoint(p *plan.Plan) error {
	if strings.ContainsFunc(p.Name, func(r rune) bool {
		return r > 0xFFFF || r >= utf8.RuneSelf && (s.ForeignCharset || r == utf8.RuneError)
	}) {
		return sqlerr.Unsupported("a name of a savepoint with characters beyond those of utf8mb3, or of other character sets", "give it another name")
	}
	sql := string(s.stmt.SQL())
	var err error
	switch {
	case s.locks != nil:
		err = s.eachLocked(func(c *backend.Conn) error {
			_, err := c.Exec(sql)
			return err
		})
	case s.tx == nil && s.Autocommit:
		if p.Txn.RollbackTo || p.Txn.Release {
			err = txn.UnknownSavepoint(p.Name)
		} // else it is gone at once
	default:
		tx := s.tx
		if tx == nil { // which it does not begin
			s.early = cmp.Or(s.early, s.newTxn())
			tx = s.early
		}
		switch {
		case p.Txn.RollbackTo:
			// Of temporary tables that were made behind the savepoint only servers with a binary log warn.
			if err = tx.RollbackTo(p.Name); err == nil && s.temps == nil && tx.Warned() {
				return s.ok(wire.OK{Warnings: s.notRolledBack()})
			}
		case p.Txn.Release:
			err = tx.Release(p.Name)
		default:
			err = tx.Savepoint(p.Name)
		}
	}
	if err != nil {
		return s.failed(err)
	}
	return s.ok(wire.OK{})
}

// failed is called with every error of a statement that ran inside a transaction: it notices when the transaction has
// gone with it.
func (s *Session) failed(err error) error {
	if s.tx == nil || !s.tx.Open() {
		return err
	}
	told, over := s.tx.Judge(err)
	if over {
		s.endTransaction()
		return told
	}
	if several := s.tx.Several(); s.tx.Failed() {
		s.endTransaction()
		if several && !sqlerr.RollsBack(told) { // another node group's server has, for which this one's error is none
			return sqlerr.LockDeadlock.New()
		}
	}
	return told
}

// deadlocked looks at an error of a statement on c: if the transaction was ended for a deadlock over node groups, it is
// rolled back, and what the client is told is returned.
func (s *Session) deadlocked(c *backend.Conn, err error) error {
	if s.tx == nil || !s.tx.Waiting(c) {
		return nil
	}
	told, over := s.tx.Judge(err)
	if !over {
		return nil
	}
	s.endTransaction()
	return told
}

// statementBegins tells the transaction that a statement of it begins.
func (s *Session) statementBegins() error {
	if s.tx == nil {
		return nil
	}
	if err := s.tx.Work(); err != nil {
		s.endTransaction()
		return err
	}
	return nil
}

// statementEnds ends what statementBegins began.
func (s *Session) statementEnds() {
	if s.tx != nil {
		s.tx.Rest()
	}
}

// held looks at a connection of the transaction after a statement.
func (s *Session) held(c *backend.Conn) {
	switch {
	case s.tx == nil || !s.tx.Holds(c):
	case !c.Usable():
		s.tx.Lose()
	case c.Doubt(false):
		s.tx.Doubt(c)
	case !c.LastStatus().Has(wire.StatusInTrans) && s.tx.Ended(c): // by the server: an implicit commit
		s.endTransaction()
	}
}

// acquire returns a connection to node group g for one statement: the transaction's, that of the locked tables, or one
// of the pool. It has the session's state. done must be called.
func (s *Session) acquire(g placement.NodeGroupID) (*backend.Conn, error) {
	c, err := s.borrow(g)
	if err != nil {
		return nil, s.failed(err)
	}
	return c, nil
}

// acquireFor is acquire for a statement that is relayed. If it is the first of its transaction and changes nothing,
// neither rows nor the connection's session, what opens the transaction is returned to be sent with it, which saves a round trip.
func (s *Session) acquireFor(p *plan.Plan, cmd wire.Command, g placement.NodeGroupID) (c *backend.Conn, opening string, err error) {
	const more = plan.LocksRows | plan.WritesUserVariable | plan.SetsLastInsertID
	if s.unheld() && s.temps == nil && cmd == wire.ComQuery && p.Kind == plan.Select && !writes(p) && p.Uses&more == 0 {
		c, opening, err = s.tx.AcquireUnopened(s, g)
		if err != nil {
			return nil, "", s.failed(err)
		}
		return c, opening, nil
	}
	c, err = s.acquire(g)
	return c, "", err
}

// borrow is acquire for a statement that uses several connections. After an error, failed must be called once all of them
// are given back.
func (s *Session) borrow(g placement.NodeGroupID) (*backend.Conn, error) {
	if s.locks != nil {
		if c := s.locks[g]; c != nil {
			return c, s.syncHeld(c)
		}
		return nil, sqlerr.Unsupported("using a node group that LOCK TABLES did not reach", "UNLOCK TABLES first")
	}
	if s.tx != nil {
		if err := s.beginPinned(s.tx); err != nil {
			return nil, err
		}
		c, err := s.tx.Acquire(s, g)
		if err != nil {
			return nil, err
		}
		return c, s.syncHeld(c)
	}
	return s.Get(g)
}

// syncHeld brings a connection the session holds to its present state.
func (s *Session) syncHeld(c *backend.Conn) error {
	if c.State().ID == s.state.ID && !c.Dirty {
		return nil
	}
	if err := c.Extend(s.state); err != nil {
		if c.Dirty {
			c.Interrupt() // nobody knows its state, and it cannot be reset
		}
		return txn.Lost(c, err)
	}
	return nil
}

// unheld reports whether the session has a transaction but no connection for it yet: what does not read or write rows
// needs not decide which node group it is in.
func (s *Session) unheld() bool { return s.locks == nil && s.tx != nil && !s.tx.Open() }

// Get implements txn.Pool.
func (s *Session) Get(g placement.NodeGroupID) (*backend.Conn, error) { return s.get(g, s.claim()) }

// getSpare is Get of a connection that is had at once, beside others to the same node group, or not at all.
func (s *Session) getSpare(g placement.NodeGroupID) (*backend.Conn, error) {
	claim := s.claim()
	claim.Class = backend.Spare
	return s.get(g, claim)
}

func (s *Session) get(g placement.NodeGroupID, claim backend.Claim) (*backend.Conn, error) {
	if c, err := s.pinned(g); c != nil || err != nil {
		return c, err
	}
	return s.pooled(g, s.state, claim)
}

// pooled is get of a connection that is not the session's own, in the given state.
func (s *Session) pooled(g placement.NodeGroupID, state *backend.State, claim backend.Claim) (*backend.Conn, error) {
	if s.replica {
		if c := s.onReplica(g, state, claim); c != nil {
			return s.whileAdmitted(c)
		}
	}
	var hint *backend.Conn
	if int(g) < len(s.hints) {
		hint = s.hints[g]
	}
	c, err := s.cfg.Pools.Get(g, s.profile, state, hint, claim)
	if err != nil {
		return nil, err
	}
	if c, err = s.whileAdmitted(c); err != nil {
		return nil, err
	}
	if int(g) >= len(s.hints) {
		s.hints = append(s.hints, make([]*backend.Conn, int(g)+1-len(s.hints))...)
	}
	s.hints[g] = c
	if s.isolation != "" { // SET TRANSACTION: the connection will be another one for the next statement
		c.Dirty = true
		if _, err := c.Exec(s.isolation); err != nil {
			c.Release()
			return nil, txn.Lost(c, err)
		}
	}
	return c, nil
}

// whileAdmitted is c, which is given back if the process was shut out meanwhile.
func (s *Session) whileAdmitted(c *backend.Conn) (*backend.Conn, error) {
	if err := s.admitted(); err != nil {
		c.Release()
		return nil, err
	}
	return c, nil
}

// claim is for what the session asks for a connection at the moment.
func (s *Session) claim() backend.Claim {
	c := backend.Claim{User: s.user, Owner: s, Held: s.tx != nil || s.locks != nil, Wide: s.wide, Task: s.conn.Task()}
	switch {
	case s.inside > 0 || len(s.locks) > 0 || s.temps != nil || s.mutex != nil || s.tx != nil && s.tx.Open() || s.own != nil && s.own.Open():
		c.Class = backend.Started
	case s.admin:
		c.Class = backend.Admin
	}
	return c
}

// keeping is claim for a connection that stays with the session after the statement.
func (s *Session) keeping() backend.Claim {
	c := s.claim()
	c.Held = true
	return c
}

// Put implements txn.Pool.
func (s *Session) Put(c *backend.Conn) {
	if i := slices.Index(s.committing, c); i >= 0 {
		s.committing = slices.Delete(s.committing, i, i+1)
		s.client.Leave(c) // before anybody else has it
	}
	if s.unpinned(c) {
		return
	}
	if c.Usable() && s.statements.cursors > 0 && s.statements.hasCursor(c) {
		return // until it is closed
	}
	c.Release()
}

// Map implements txn.Pool.
func (s *Session) Map() *placement.PartitionMap { return s.snap.Map }

// done gives back what acquire returned. err is that of the statement that ran on c: the transaction may have gone with it.
func (s *Session) done(c *backend.Conn, err error) {
	if !s.holds(c) {
		s.Put(c)
		return
	}
	if c.Dirty {
		c.Interrupt() // nobody knows its state, and it cannot be reset
	}
	if err != nil {
		_ = s.failed(err)
		return
	}
	s.held(c)
}

// holds reports whether c stays with the session after a statement.
func (s *Session) holds(c *backend.Conn) bool {
	return s.tx != nil && s.tx.Holds(c) || s.locks != nil && s.locks[c.Group] == c
}

// boundGroup is the node group on which the session has a transaction, temporary tables or locked tables; 0 if it can do as well with any.
func (s *Session) boundGroup() placement.NodeGroupID {
	if s.tx != nil && s.tx.Group() != 0 {
		return s.tx.Group()
	}
	if s.temps != nil {
		return s.temps.conn.Group
	}
	if s.locks != nil && len(s.locks) < len(s.snap.Groups) {
		for g := range s.locks {
			return g // tables of one group only are locked
		}
	}
	return 0
}

// anyGroup is where statements go that any group can answer: where the transaction is, else one group for each
// session, so that sessions spread, and the next one while that is down. A group without partitions is not asked: it may have
// been removed by now, and then other processes write to reference tables everywhere but there.
func (s *Session) anyGroup() placement.NodeGroupID {
	if g := s.boundGroup(); g != 0 {
		return g
	}
	groups := s.snap.Map.Groups()
	first := int(s.conn.ID()) % len(groups)
	for i := range groups {
		if g := groups[(first+i)%len(groups)]; s.cfg.Pools.Up(g) {
			return g
		}
	}
	return groups[first]
}
