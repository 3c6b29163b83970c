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

// Pool is where branches get their connections, and give them back: backend.Pools with the session's profile and
// state applied.
type Pool interface {
	Get(g placement.NodeGroupID) (*backend.Conn, error)
	// Put takes a connection that Get returned, in whatever condition it is.
	Put(c *backend.Conn)
}

// Txn is one transaction, from BEGIN to COMMIT or ROLLBACK. It belongs to one session and is not safe for
// concurrent use.
//
//	begun ──first statement──► open ──COMMIT, ROLLBACK, deadlock──► over
//	                           open ──connection lost──► lost ──COMMIT (an error), ROLLBACK──► over
//
// A lost transaction refuses every statement until the client has ended it: else what follows would run outside of it.
type Txn struct {
	// Begin is the statement that opens a branch, the client's own text or "BEGIN".
	Begin string
	// Isolation, not empty, is a SET TRANSACTION statement sent before Begin.
	Isolation string

	pool       Pool // where branch came from
	branch     *backend.Conn
	savepoints []savepoint // of the client while there is no branch
	lost       *sqlerr.Error
}

type savepoint struct{ name, sql string }

// maxSavepoints bounds the savepoints set before the first statement.
const maxSavepoints = 1000

// Group returns the node group the transaction is in, or 0 before its first statement.
func (t *Txn) Group() placement.NodeGroupID {
	if t.branch == nil {
		return 0
	}
	return t.branch.Group
}

// Conn returns the transaction's connection, nil before the first statement.
func (t *Txn) Conn() *backend.Conn { return t.branch }

// Err is why the transaction can only be rolled back, or nil.
func (t *Txn) Err() error {
	if t.lost == nil {
		return nil
	}
	return t.lost
}

// Acquire returns the connection of the transaction's branch on g, opening it if this is the first statement.
func (t *Txn) Acquire(pool Pool, g placement.NodeGroupID) (*backend.Conn, error) {
	if t.lost != nil {
		return nil, t.lost
	}
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
	for _, sp := range t.savepoints {
		open = append(open, sp.sql)
	}
	if err := execAll(c, open); err != nil {
		c.Discard()
		return nil, Lost(c, err)
	}
	t.pool, t.branch = pool, c
	return c, nil
}

// Retreat undoes the opening of a branch that nothing was sent to: a statement that needed a second node group was
// refused, and the next one may go anywhere.
func (t *Txn) Retreat() { t.Rollback() }

// Savepoint is SAVEPOINT name, the client's text being sql. Without a branch the next one opened gets it.
func (t *Txn) Savepoint(name, sql string) error {
	if t.branch != nil || t.lost != nil {
		return t.exec(sql)
	}
	if i := t.find(name); i >= 0 {
		t.savepoints = slices.Delete(t.savepoints, i, i+1) // the same name again replaces it
	}
	if len(t.savepoints) >= maxSavepoints {
		return sqlerr.Unsupported(fmt.Sprintf("more than %d savepoints before the first statement", maxSavepoints), "")
	}
	t.savepoints = append(t.savepoints, savepoint{name, sql})
	return nil
}

// RollbackTo is ROLLBACK TO name.
func (t *Txn) RollbackTo(name, sql string) error {
	if t.branch != nil || t.lost != nil {
		return t.exec(sql)
	}
	i := t.find(name)
	if i < 0 {
		return UnknownSavepoint(name)
	}
	t.savepoints = t.savepoints[:i+1] // itself stays
	return nil
}

// Release is RELEASE SAVEPOINT name.
func (t *Txn) Release(name, sql string) error {
	if t.branch != nil || t.lost != nil {
		return t.exec(sql)
	}
	i := t.find(name)
	if i < 0 {
		return UnknownSavepoint(name)
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

func (t *Txn) find(name string) int {
	return slices.IndexFunc(t.savepoints, func(s savepoint) bool { return strings.EqualFold(s.name, name) })
}

// UnknownSavepoint is the servers' error for a savepoint that was not set.
func UnknownSavepoint(name string) error {
	return &sqlerr.Error{Code: 1305, State: "42000", Message: "SAVEPOINT " + name + " does not exist"}
}

// exec runs a statement of savepoints on the branch.
func (t *Txn) exec(sql string) error {
	if t.lost != nil {
		return t.lost
	}
	_, err := t.branch.Exec(sql)
	if err == nil {
		return nil
	}
	return Lost(t.branch, err)
}

// Commit is the client's COMMIT. When the connection is lost meanwhile the outcome is unknown and the error says so. In
// any case the transaction is over and its connection given back.
func (t *Txn) Commit() (wire.OK, error) {
	if t.lost != nil {
		return wire.OK{}, t.lost
	}
	c := t.branch
	if c == nil {
		return wire.OK{}, nil
	}
	defer t.putBranch()
	ok, err := c.Exec("COMMIT")
	if err == nil {
		ok.Info, ok.SessionState = nil, nil
		return ok, nil
	}
	var e *sqlerr.Error
	if errors.As(err, &e) && c.Usable() {
		return wire.OK{}, e
	}
	return wire.OK{}, sqlerr.ServerLost.New(fmt.Sprintf("node group %d was lost during COMMIT: the outcome is unknown", c.Group))
}

// Rollback is the client's ROLLBACK, or the end of a client or a transaction that the server has ended itself. It cannot
// fail: what is not committed goes with its connection.
func (t *Txn) Rollback() (ok wire.OK) {
	c := t.branch
	t.lost = nil
	if c == nil {
		return ok
	}
	defer t.putBranch()
	if !c.Usable() {
		return ok
	}
	ok, err := c.Exec("ROLLBACK")
	if err != nil {
		c.Interrupt() // whatever it refuses: closing the connection rolls back
		return wire.OK{}
	}
	ok.Info, ok.SessionState = nil, nil
	return ok
}

func (t *Txn) putBranch() {
	c := t.branch
	t.branch = nil
	t.pool.Put(c)
}

// Lose notes, after an error, that the branch's connection is lost, if it is.
func (t *Txn) Lose() {
	c := t.branch
	if c == nil || c.Usable() {
		return
	}
	t.lost = sqlerr.ServerLost.New(fmt.Sprintf(
		"the transaction was lost with its connection to node group %d and has been rolled back: ROLLBACK before the next statement", c.Group))
	t.putBranch()
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

// End commits all branches when err is nil, or rolls all back. A commit that fails leaves the statement half done if
// another succeeded before, or perhaps if its own outcome is unknown: the error then names the groups.
func (s *Statement) End(err error) error {
	if err != nil {
		s.Rollback()
		return err
	}
	var done, undone, unknown []string
	var cause error
	for _, c := range s.branches {
		group := fmt.Sprint(c.Group)
		if cause != nil && len(done) == 0 {
			undone = append(undone, group) // nothing stands for certain: better that nothing does
			continue
		}
		_, cerr := c.Exec("COMMIT")
		switch {
		case cerr == nil:
			done = append(done, group)
			continue
		case c.Usable():
			undone = append(undone, group) // refused
		default:
			unknown = append(unknown, group)
		}
		if cause == nil {
			cause = Lost(c, cerr)
		}
	}
	s.Rollback()
	if cause == nil || len(done) == 0 && len(unknown) == 0 {
		return cause
	}
	e := sqlerr.From(cause)
	message := "part of the statement may stand:"
	for _, part := range []struct {
		groups []string
		what   string
	}{{done, "committed"}, {undone, "rolled back"}, {unknown, "outcome unknown"}} {
		if len(part.groups) > 0 {
			message += " " + part.what + " on node groups " + strings.Join(part.groups, ", ") + ";"
		}
	}
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: message + " " + e.Message}
}

// Rollback gives all branches back, rolled back where they still have a transaction open.
func (s *Statement) Rollback() {
	for _, c := range s.branches {
		if c.Usable() && c.LastStatus().Has(wire.StatusInTrans) {
			if _, err := c.Exec("ROLLBACK"); err != nil {
				c.Interrupt()
			}
		}
		s.pool.Put(c)
	}
	s.branches = nil
}
