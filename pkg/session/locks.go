package session

import (
	"cmp"
	"math"
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// lockTables is LOCK TABLES: the statement runs on every node group that has the tables, in ascending order so that two
// sessions cannot wait for each other, and the connections stay with the session until UNLOCK TABLES.
func (s *Session) lockTables(p *plan.Plan) error {
	if err := s.commitImplicit(); err != nil {
		return err
	}
	if err := s.unlock(); err != nil {
		return err
	}
	s.locked = tableLocks{sql: string(s.stmt.SQL()), groups: s.lockGroups(p)}
	if err := s.takeLocks(); err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// unlockTables is UNLOCK TABLES.
func (s *Session) unlockTables() error {
	if err := s.unlock(); err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// tableLocks is what LOCK TABLES said, and what the session has done since.
type tableLocks struct {
	sql    string
	groups []placement.NodeGroupID
	// read: rows were read, or changed in another way than by INSERT: nobody else may come in between.
	read bool
	// wrote is the node group that has work of a transaction (autocommit off), 0 if none has.
	wrote placement.NodeGroupID
	// suspended: the locks are given back for INSERTs into the tables of inserts; see suspend.
	suspended bool
	inserts   []*catalog.Table
}

// takeLocks locks the tables of s.locked.
func (s *Session) takeLocks() error {
	s.locks = map[placement.NodeGroupID]*backend.Conn{}
	s.hold.Keep(true)
	for _, g := range s.locked.groups {
		c, err := s.Get(g)
		if err == nil {
			s.locks[g] = c
			s.client.Enter(c)
			_, err = c.Exec(s.locked.sql)
			s.client.Leave(c)
			if err != nil {
				err = txn.Lost(c, err)
			}
		}
		if err != nil {
			_ = s.unlock()
			return err
		}
	}
	return nil
}

// suspend makes a statement over several node groups that inserts rows atomic although tables are locked: servers begin
// no XA transaction under LOCK TABLES. As long as nothing but INSERT has run under the locks, the session knows nothing
// of the tables that others could change behind its back: the locks are given back, and taken again before anything
// else. So dumps load, which lock what they insert into. Other statements over several groups are refused.
func (s *Session) suspend(p *plan.Plan) error {
	c := s.locks[s.locked.groups[0]]
	// The server knows what is locked, how and by which name; to prepare the statement it does not look.
	if _, _, err := c.QueryAll(string(s.args.AppendStatement([]byte("EXPLAIN "))), math.MaxInt); err != nil {
		return txn.Lost(c, err)
	}
	table := s.insertsInto(p)
	if table == nil || s.locked.read || s.locked.wrote != 0 {
		return sqlerr.Unsupported("writing to several node groups under LOCK TABLES, which servers cannot make atomic",
			"UNLOCK TABLES first, since a statement locks what it writes; or SET skarv_commit = best_effort")
	}
	locked := s.locked
	if err := s.unlock(); err != nil {
		return err
	}
	s.locked = locked
	s.locked.suspended, s.locked.inserts = true, append(s.locked.inserts, table)
	return nil
}

// insertsUnlocked reports whether p may run while the locks are suspended.
func (s *Session) insertsUnlocked(p *plan.Plan) bool {
	table := s.insertsInto(p)
	return table != nil && slices.Contains(s.locked.inserts, table)
}

// insertsInto returns the table that p inserts into if that is all it does: it reads no other rows. Else nil.
func (s *Session) insertsInto(p *plan.Plan) *catalog.Table {
	if p.Kind != plan.Insert && p.Kind != plan.Replace || s.args.NumRows() == 0 || s.stmt.Uses()&sqlparse.Subquery != 0 {
		return nil
	}
	switch root := p.Root.(type) {
	case *plan.InsertRows:
		return root.Table
	case *plan.Fragment:
		if root.Same && len(root.Tables) == 1 {
			return root.Tables[0]
		}
	}
	return nil
}

// resume takes suspended locks again.
func (s *Session) resume() error {
	if s.tx != nil {
		return sqlerr.Unsupported("this statement under LOCK TABLES behind an INSERT that is not committed", "COMMIT first")
	}
	locked := s.locked
	s.locked.suspended = false
	err := s.takeLocks()
	if err != nil {
		s.locked = locked // the client has them still, as far as it knows: the next statement tries again
	}
	return err
}

// underLocks is called before p is sent to node group g while tables are locked: a transaction (autocommit off) writes
// to one group only, since two would be committed one after the other.
func (s *Session) underLocks(p *plan.Plan, g placement.NodeGroupID) error {
	if s.Autocommit || s.ours.BestEffort || !writes(p) {
		return nil
	}
	if s.locked.wrote != 0 && s.locked.wrote != g {
		return sqlerr.Unsupported("a transaction that writes to several node groups under LOCK TABLES",
			"COMMIT between the statements, or UNLOCK TABLES first, or SET skarv_commit = best_effort")
	}
	s.locked.wrote = g
	return nil
}

// lockGroups returns the node groups on which LOCK TABLES runs: the one that keeps all its tables, or all, since every
// group knows the definition of every table. Dumps lock tables of all kinds at once.
func (s *Session) lockGroups(p *plan.Plan) []placement.NodeGroupID {
	var single []placement.NodeGroupID
	for _, t := range p.Tables {
		if t.Kind == catalog.Single && !slices.Contains(single, t.Group) {
			single = append(single, t.Group)
		}
	}
	if len(single) == 1 && !slices.ContainsFunc(p.Tables, func(t *catalog.Table) bool { return t.Kind != catalog.Single }) {
		return single
	}
	groups := make([]placement.NodeGroupID, 0, len(s.snap.Groups))
	for _, g := range s.snap.Groups {
		groups = append(groups, g.ID)
	}
	slices.Sort(groups)
	return groups
}

// unlock ends LOCK TABLES, which commits what was written under it. An error says that some of it may be lost.
func (s *Session) unlock() error {
	suspended := s.locked.suspended
	s.locked = tableLocks{}
	if suspended {
		return s.commitImplicit()
	}
	if s.locks == nil {
		return nil
	}
	s.beginCommit()
	defer s.endCommit()
	err := s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec("UNLOCK TABLES")
		if err != nil {
			c.Interrupt() // nobody may get it with locks
		}
		return err
	})
	locks := s.locks
	s.locks = nil
	s.hold.Keep(false)
	for _, c := range locks {
		s.Put(c)
	}
	return err
}

// eachLocked runs f on the connection to each locked node group in ascending order, even after an error; it returns the first
// one.
func (s *Session) eachLocked(f func(*backend.Conn) error) (first error) {
	groups := make([]placement.NodeGroupID, 0, len(s.locks))
	for g := range s.locks {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	for _, g := range groups {
		c := s.locks[g]
		s.client.Enter(c)
		err := f(c)
		s.client.Leave(c)
		if err != nil && first == nil {
			first = txn.Lost(c, err)
		}
	}
	return first
}

// endLocked is COMMIT or ROLLBACK under LOCK TABLES with autocommit off: each locked node group has its own part. The
// tables stay locked.
func (s *Session) endLocked(k plan.Kind) error {
	verb := "COMMIT"
	if k == plan.Rollback {
		verb = "ROLLBACK"
	}
	s.locked.wrote = 0
	if k == plan.Commit {
		s.beginCommit()
		defer s.endCommit()
	}
	return s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec(verb)
		return err
	})
}

// lockedInTransaction reports whether something was written under LOCK TABLES that is not committed.
func (s *Session) lockedInTransaction() bool {
	for _, c := range s.locks {
		if c.LastStatus().Has(wire.StatusInTrans) {
			return true
		}
	}
	return false
}

// beginLocked makes a statement over several node groups one that is undone as a whole when it fails, while tables are
// locked: BEGIN would unlock them. It is committed on one group after the other, as best_effort says. With autocommit
// off the client commits.
func (s *Session) beginLocked() error {
	if !s.Autocommit {
		return nil
	}
	err := s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec("SET autocommit = 0")
		return err
	})
	if err != nil {
		_ = s.autocommitLocked() // which the others have had turned off
	}
	return err
}

// autocommitLocked turns autocommit on again on all locked node groups. A connection without it nobody may get: what is written on it would
// not be committed.
func (s *Session) autocommitLocked() error {
	return s.eachLocked(func(c *backend.Conn) error { return reset(c, "SET autocommit = 1") })
}

// commitLocked ends what beginLocked began; err is how the statement ended.
func (s *Session) commitLocked(err error) error {
	if !s.Autocommit {
		return err
	}
	kind := plan.Commit
	if err != nil {
		kind = plan.Rollback
	}
	if cerr := s.endLocked(kind); err == nil {
		err = cerr
	}
	return cmp.Or(err, s.autocommitLocked())
}
