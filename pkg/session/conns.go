package session

import (
	"errors"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// conns gives the executor its connections for one statement: those the session holds, those of the statement's own
// branches, or the pool's.
type conns struct {
	s         *Session
	statement *txn.Statement
	group     placement.NodeGroupID // the only group used, 0 if several were
	used      int
	refused   bool // the transaction is in another node group; nothing was sent
	warnings  []Warning
}

// Acquire implements exec.Conns.
func (c *conns) Acquire(g placement.NodeGroupID, _ bool) (exec.Conn, error) {
	c.used++
	c.group = g
	if c.used > 1 {
		c.group = 0
	}
	if b := c.statement.Branch(g); b != nil {
		c.s.running.enter(b)
		return b, nil
	}
	b, err := c.s.acquire(g)
	if err != nil {
		c.refused = sqlerr.HasCode(err, sqlerr.NotSupportedYet)
		return nil, err
	}
	c.s.running.enter(b)
	return b, nil
}

// Release implements exec.Conns.
func (c *conns) Release(ec exec.Conn, err error) {
	b := ec.(*backend.Conn)
	c.s.running.leave(b)
	if err == nil && b.Usable() && b.LastWarnings() > 0 {
		c.warnings = appendWarnings(c.warnings, b)
	}
	if errors.Is(err, exec.ErrUnread) && b.Skip(maxUnread) != nil {
		b.Interrupt() // reading the rest would take too long
	}
	if c.statement.Branch(b.Group) == b {
		return // until EndStatement
	}
	c.s.done(b, err)
}

// BeginStatement implements exec.Conns: the statement will write to several groups.
func (c *conns) BeginStatement(groups []placement.NodeGroupID) error {
	if c.s.locks != nil {
		return c.s.beginLocked()
	}
	if c.s.tx != nil {
		for _, g := range groups {
			if _, err := c.s.tx.Acquire(c.s, g); err != nil {
				c.refused = sqlerr.HasCode(err, sqlerr.NotSupportedYet)
				return err
			}
		}
		return nil
	}
	return c.statement.Begin(groups)
}

// EndStatement implements exec.Conns.
func (c *conns) EndStatement(err error) error {
	if c.s.locks != nil {
		return c.s.commitLocked(err)
	}
	if !c.statement.Open() {
		return err
	}
	return c.statement.End(err)
}

// maxUnread is how many bytes of an unwanted answer are read before the connection is closed instead.
const maxUnread = 1 << 20

// Evaluate implements exec.Conns.
func (c *conns) Evaluate(sql []byte) (cols []sqltypes.Column, row [][]byte, err error) {
	b, err := c.s.Get(c.s.anyGroup())
	if err != nil {
		return nil, nil, err
	}
	defer func() { c.s.done(b, err) }()
	cols, rows, err := b.QueryAll(string(sql), 1)
	if err != nil {
		return nil, nil, txn.Lost(b, err)
	}
	if len(rows) != 1 {
		return nil, nil, sqlerr.Internal.New("an expression gave no row")
	}
	return cols, rows[0], nil
}
