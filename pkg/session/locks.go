package session

import (
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
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
	groups := s.lockGroups(p)
	sql := string(s.stmt.SQL())
	s.locks = map[placement.NodeGroupID]*backend.Conn{}
	for _, g := range groups {
		c, err := s.Get(g)
		if err == nil {
			s.locks[g] = c
			s.running.enter(c)
			_, err = c.Exec(sql)
			s.running.leave(c)
			if err != nil {
				err = txn.Lost(c, err)
			}
		}
		if err != nil {
			_ = s.unlock()
			return err
		}
	}
	return s.ok(wire.OK{})
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
	if s.locks == nil {
		return nil
	}
	err := s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec("UNLOCK TABLES")
		return err
	})
	locks := s.locks
	s.locks = nil
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
		s.running.enter(c)
		err := f(c)
		s.running.leave(c)
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

// beginLocked makes a statement over several node groups one that stands or falls as a whole, while tables are locked: BEGIN
// would unlock them. With autocommit off the client commits.
func (s *Session) beginLocked() error {
	if !s.autocommit {
		return nil
	}
	return s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec("SET autocommit = 0")
		return err
	})
}

// commitLocked ends what beginLocked began; err is how the statement ended.
func (s *Session) commitLocked(err error) error {
	if !s.autocommit {
		return err
	}
	kind := plan.Commit
	if err != nil {
		kind = plan.Rollback
	}
	if cerr := s.endLocked(kind); err == nil {
		err = cerr
	}
	aerr := s.eachLocked(func(c *backend.Conn) error {
		_, err := c.Exec("SET autocommit = 1")
		return err
	})
	if err == nil {
		err = aerr
	}
	return err
}
