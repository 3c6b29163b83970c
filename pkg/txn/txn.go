// Package txn is what a session's statements run in: nothing (autocommit), a transaction over node groups, or
// locked tables. It holds the backend connections that belong to it from the first statement that needs them to
// the end, and decides what of several groups' work stands. It knows no SQL but that of transaction control and
// never looks at rows.
//
// A transaction stays inside one node group for now: a statement that would take it to a second one is refused and
// the transaction goes on. A single statement that writes to several groups runs in one branch for each of them,
// committed one after the other once all have succeeded.
package txn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Pool is where branches get their connections: backend.Pools with the session's profile and state applied.
type Pool interface {
	Get(g placement.NodeGroupID) (*backend.Conn, error)
}

// Txn is one transaction, from BEGIN to COMMIT or ROLLBACK. It belongs to one session and is not safe for
// concurrent use.
type Txn struct {
	// Begin is the statement that opens a branch, the client's own text or "BEGIN".
	Begin string
	// Isolation, not empty, is a SET TRANSACTION statement sent before Begin.
	Isolation string

	branch     *backend.Conn
	savepoints []string // statements since Begin that a new branch needs
}

// Group returns the node group the transaction is in, or 0 before its first statement.
func (t *Txn) Group() placement.NodeGroupID {
	if t.branch == nil {
		return 0
	}
	return t.branch.Group
}

// Conn returns the transaction's connection, nil before the first statement.
func (t *Txn) Conn() *backend.Conn { return t.branch }

// Acquire returns the connection of the transaction's branch on g, opening it if this is the first statement.
func (t *Txn) Acquire(pool Pool, g placement.NodeGroupID) (*backend.Conn, error) {
	if t.branch != nil {
		if t.branch.Group != g {
			return nil, sqlerr.Unsupported(
				fmt.Sprintf("a transaction over more than one node group (it is in group %d, this statement needs group %d)", t.branch.Group, g),
				"commit first, or distribute the tables by a key that keeps the transaction's rows together")
		}
		return t.branch, nil
	}
	c, err := pool.Get(g)
	if err != nil {
		return nil, err
	}
	open := []string{t.Begin}
	if t.Isolation != "" {
		open = []string{t.Isolation, t.Begin}
	}
	if err := execAll(c, append(open, t.savepoints...)); err != nil {
		c.Discard()
		return nil, Lost(c, err)
	}
	t.branch = c
	return c, nil
}

// Savepoint remembers a SAVEPOINT statement sent before the first branch is open. With a branch it runs there.
func (t *Txn) Savepoint(sql string) error {
	if t.branch == nil {
		t.savepoints = append(t.savepoints, sql)
		return nil
	}
	_, err := t.branch.Exec(sql)
	return t.check(err)
}

// Commit ends the transaction by the client's COMMIT statement, or by its ROLLBACK, and gives the connection back.
// When the connection is lost meanwhile the outcome of a COMMIT is unknown and the error says so.
func (t *Txn) Commit(sql string) (wire.OK, error) {
	c := t.branch
	if c == nil {
		return wire.OK{}, nil
	}
	t.branch = nil
	ok, err := c.Exec(sql)
	if err == nil {
		ok.Info, ok.SessionState = nil, nil
		c.Release()
		return ok, nil
	}
	c.Discard()
	var e *sqlerr.Error
	if errors.As(err, &e) && c.Usable() {
		return wire.OK{}, e
	}
	return wire.OK{}, sqlerr.ServerLost.New(fmt.Sprintf("node group %d was lost during COMMIT: the outcome is unknown", c.Group))
}

// Rollback ends the transaction without an answer: the client is gone, or the server rolled back itself.
func (t *Txn) Rollback() {
	c := t.branch
	if c == nil {
		return
	}
	t.branch = nil
	if c.Usable() {
		if _, err := c.Exec("ROLLBACK"); err == nil {
			c.Release()
			return
		}
	}
	c.Discard()
}

// Over reports whether the server itself ended the transaction: after a deadlock, or because its connection broke.
func (t *Txn) Over(err error) bool {
	if t.branch == nil {
		return false
	}
	return !t.branch.Usable() || sqlerr.HasCode(err, sqlerr.LockDeadlock)
}

func (t *Txn) check(err error) error {
	if err == nil || t.branch.Usable() {
		return err
	}
	return Lost(t.branch, err)
}

// Lost turns a failure of a connection into what the client is told. Errors the server itself sent stay as they are.
func Lost(c *backend.Conn, err error) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e
	}
	return sqlerr.ServerLost.New(fmt.Sprintf("node group %d: %v", c.Group, err))
}

func execAll(c *backend.Conn, sqls []string) error {
	for _, sql := range sqls {
		if err := c.Send(wire.ComQuery, []byte(sql)); err != nil {
			return err
		}
	}
	var first error
	for range sqls {
		_, err := c.ReadHead()
		if errors.As(err, new(*mysqlconn.LostError)) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Statement is one autocommit statement over several node groups. A statement that writes to more than one opens a
// branch on each before it sends anything, and all of them are committed or rolled back together at its end.
type Statement struct {
	pool     Pool
	begin    string
	branches []*backend.Conn
}

// NewStatement returns a Statement whose connections come from pool.
func NewStatement(pool Pool) *Statement { return &Statement{pool: pool, begin: "BEGIN"} }

// Begin opens a branch on each of groups, in ascending order.
func (s *Statement) Begin(groups []placement.NodeGroupID) error {
	sorted := slices.Sorted(slices.Values(groups))
	for _, g := range sorted {
		c, err := s.pool.Get(g)
		if err != nil {
			s.Rollback()
			return err
		}
		s.branches = append(s.branches, c)
	}
	for _, c := range s.branches {
		if err := c.Send(wire.ComQuery, []byte(s.begin)); err != nil {
			s.Rollback()
			return Lost(c, err)
		}
	}
	for _, c := range s.branches {
		if _, err := c.ReadHead(); err != nil {
			s.Rollback()
			return Lost(c, err)
		}
	}
	return nil
}

// Branch returns the open branch on g, or nil.
func (s *Statement) Branch(g placement.NodeGroupID) *backend.Conn {
	for _, c := range s.branches {
		if c.Group == g {
			return c
		}
	}
	return nil
}

// Open reports whether branches are open.
func (s *Statement) Open() bool { return len(s.branches) > 0 }

// End commits all branches when err is nil, or rolls all back. A commit that fails after another succeeded leaves
// the statement half done: the error says so and names the groups.
func (s *Statement) End(err error) error {
	if err != nil {
		s.Rollback()
		return err
	}
	var done, failed []string
	var cause error
	for _, c := range s.branches {
		if len(failed) > 0 && len(done) == 0 {
			break // nothing stands yet: the rest is rolled back
		}
		if _, cerr := c.Exec("COMMIT"); cerr != nil {
			failed = append(failed, fmt.Sprint(c.Group))
			if cause == nil {
				cause = Lost(c, cerr)
			}
			continue
		}
		done = append(done, fmt.Sprint(c.Group))
	}
	s.Rollback()
	switch {
	case cause == nil:
		return nil
	case len(done) == 0:
		return cause
	default:
		e := sqlerr.From(cause)
		return &sqlerr.Error{Code: e.Code, State: e.State, Message: fmt.Sprintf(
			"statement committed on node groups %s but the outcome on %s is unknown: %s",
			strings.Join(done, ", "), strings.Join(failed, ", "), e.Message)}
	}
}

// Rollback gives all branches back, rolled back where they still have a transaction open.
func (s *Statement) Rollback() {
	for _, c := range s.branches {
		if c.Usable() && c.LastStatus().Has(wire.StatusInTrans) {
			if _, err := c.Exec("ROLLBACK"); err != nil {
				c.Discard()
				continue
			}
		}
		if c.Usable() {
			c.Release()
		} else {
			c.Discard()
		}
	}
	s.branches = s.branches[:0]
}
