package session

import (
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// begin opens a transaction in the session; its branch is opened by the first statement that needs one.
func (s *Session) begin(text string) {
	s.tx = &txn.Txn{Begin: text, Isolation: s.isolation}
	s.isolation = ""
}

// endTransaction forgets a transaction the server has ended; its connection is given back.
func (s *Session) endTransaction() {
	if s.tx != nil {
		s.tx.Rollback()
		s.tx = nil
	}
}

// commitImplicit is what DDL, BEGIN and LOCK TABLES do to an open transaction.
func (s *Session) commitImplicit() error {
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx = nil
	_, err := tx.Commit("COMMIT")
	return err
}

func (s *Session) transactionControl(p *plan.Plan) error {
	sql := string(s.stmt.SQL())
	switch p.Kind {
	case plan.Begin:
		if err := s.commitImplicit(); err != nil {
			return err
		}
		s.unlock()
		s.begin(sql)
		return s.ok(wire.OK{})
	case plan.Commit, plan.Rollback:
		tx := s.tx
		s.tx = nil
		var ok wire.OK
		var err error
		if tx != nil {
			// Chain and release are the session's: the branch's connection is shared.
			verb := "COMMIT"
			if p.Kind == plan.Rollback {
				verb = "ROLLBACK"
			}
			ok, err = tx.Commit(verb)
		}
		if err != nil {
			return err
		}
		if p.Txn != nil && p.Txn.Chain {
			begin, isolation := "BEGIN", ""
			if tx != nil {
				begin, isolation = tx.Begin, tx.Isolation
			}
			s.begin(begin)
			s.tx.Isolation = isolation
		}
		if err := s.ok(wire.OK{Warnings: ok.Warnings}); err != nil {
			return err
		}
		if p.Txn != nil && p.Txn.Release {
			return errReleased
		}
		return nil
	default: // Savepoint
		if s.tx == nil {
			if s.autocommit {
				if p.Txn != nil && (p.Txn.RollbackTo || p.Txn.Release) {
					return &sqlerr.Error{Code: 1305, State: "42000", Message: "SAVEPOINT " + p.Name + " does not exist"}
				}
				return s.ok(wire.OK{}) // a savepoint outside a transaction is gone at once
			}
			s.begin("BEGIN")
		}
		if err := s.tx.Savepoint(sql); err != nil {
			return s.failed(err)
		}
		return s.ok(wire.OK{})
	}
}

// failed is called with every error of a statement that ran inside a transaction: it notices when the server has
// ended the transaction with it.
func (s *Session) failed(err error) error {
	if s.tx != nil && s.tx.Over(err) {
		s.endTransaction()
	}
	return err
}

// acquire returns a connection to node group g for one statement: the transaction's, that of the locked tables, or one
// of the pool. It has the session's state. done must be called.
func (s *Session) acquire(g placement.NodeGroupID) (*backend.Conn, error) {
	if s.locks != nil {
		if c := s.locks[g]; c != nil {
			return c, s.syncHeld(c)
		}
		return nil, sqlerr.Unsupported("using a node group that LOCK TABLES did not reach", "UNLOCK TABLES first")
	}
	if s.tx != nil {
		c, err := s.tx.Acquire(s, g)
		if err != nil {
			return nil, err
		}
		return c, s.syncHeld(c)
	}
	return s.Get(g)
}

// syncHeld brings a connection the session holds to its present state. State only grows between two resets, so this
// never resets the connection, which would end its transaction.
func (s *Session) syncHeld(c *backend.Conn) error {
	if c.State().ID == s.state.ID {
		return nil
	}
	return c.Sync(s.state)
}

// Get implements txn.Pool.
func (s *Session) Get(g placement.NodeGroupID) (*backend.Conn, error) {
	var hint *backend.Conn
	if int(g) < len(s.hints) {
		hint = s.hints[g]
	}
	c, err := s.cfg.Pools.Get(g, s.profile, s.state, hint)
	if err != nil {
		return nil, err
	}
	if int(g) >= len(s.hints) {
		s.hints = append(s.hints, make([]*backend.Conn, int(g)+1-len(s.hints))...)
	}
	s.hints[g] = c
	return c, nil
}

// done gives back what acquire returned.
func (s *Session) done(c *backend.Conn, err error) {
	if s.holds(c) {
		_ = s.failed(err)
		return
	}
	if !c.Usable() {
		c.Discard()
		return
	}
	c.Release()
}

// holds reports whether c stays with the session after a statement.
func (s *Session) holds(c *backend.Conn) bool {
	return s.tx != nil && s.tx.Conn() == c || s.locks != nil && s.locks[c.Group] == c
}

// anyGroup is where statements go that any group can answer: where the transaction is, else one group for each
// session, so that sessions spread.
func (s *Session) anyGroup() placement.NodeGroupID {
	if s.tx != nil && s.tx.Group() != 0 {
		return s.tx.Group()
	}
	groups := s.snap.Groups
	return groups[int(s.conn.ID())%len(groups)].ID
}

// lockTables is LOCK TABLES: the statement runs on every node group, in ascending order so that two sessions cannot
// wait for each other, and the connections stay with the session until UNLOCK TABLES.
func (s *Session) lockTables(sql string) error {
	if err := s.commitImplicit(); err != nil {
		return err
	}
	s.unlock()
	groups := make([]placement.NodeGroupID, 0, len(s.snap.Groups))
	for _, g := range s.snap.Groups {
		groups = append(groups, g.ID)
	}
	slices.Sort(groups)
	locks := map[placement.NodeGroupID]*backend.Conn{}
	for _, g := range groups {
		c, err := s.Get(g)
		if err == nil {
			locks[g] = c
			_, err = c.Exec(sql)
			if err != nil {
				err = txn.Lost(c, err)
			}
		}
		if err != nil {
			s.locks = locks
			s.unlock()
			return err
		}
	}
	s.locks = locks
	return s.ok(wire.OK{})
}

// unlock ends LOCK TABLES.
func (s *Session) unlock() {
	locks := s.locks
	s.locks = nil
	for _, c := range locks {
		if c.Usable() {
			if _, err := c.Exec("UNLOCK TABLES"); err == nil {
				c.Release()
				continue
			}
		}
		c.Discard()
	}
}
