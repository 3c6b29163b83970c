package session

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/diagnostics"
	"skarv/pkg/exec"
	"skarv/pkg/flight"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
)

// conns gives the executor its connections for one statement: those the session holds, those of the statement's own
// branches, or the pool's.
type conns struct {
	s         *Session
	plan      *plan.Plan
	statement *txn.Txn              // of an autocommit statement that writes to several groups
	group     placement.NodeGroupID // the only group used, 0 if several were
	used      int
	held      []*backend.Conn // of the session's transaction
	// joined: groups joined the statement one by one. The transaction knows which of them wrote, the Runner their warnings.
	joined bool
	// joins: whatever group a connection is acquired to joins the statement.
	joins    bool
	warnings []diagnostics.Condition
	warned   placement.NodeGroupID // whose warnings came first
	pending  uint16                // warnings of the commit
	commits  bool                  // the statement commits by itself, without EndStatement
	// beside, not nil: readings of the same statement may have connections at the same time.
	beside *beside
}

// beside is what the readings of one statement that run at a time know of each other.
type beside struct {
	running int
	groups  map[placement.NodeGroupID]int // how many of them have a connection to it
}

// errBusy: there is no connection for a further reading before one that runs has ended.
var errBusy = errors.New("no connection for one more reading")

// Enter implements exec.Conns.
func (c *conns) Enter(t *exec.Touched, write bool) error {
	return c.s.announcePartitions(partitionUse{Touched: t, write: write, several: true})
}

// Admit implements exec.Conns.
func (c *conns) Admit(groups []placement.NodeGroupID) error {
	if c.s.claim().Class == backend.Started {
		return nil
	}
	return c.s.cfg.Pools.Admit(groups)
}

// Acquire implements exec.Conns.
func (c *conns) Acquire(g placement.NodeGroupID, write bool) (exec.Conn, error) {
	if c.joins {
		if err := c.JoinStatement(g, false); err != nil {
			return nil, err
		}
	}
	c.used++
	c.group = g
	if c.used > 1 {
		c.group = 0
	}
	if b := c.branch(g); b != nil {
		c.s.client.Enter(b)
		c.s.client.Flight.Note(c.s.cfg.Clients.Clock(), flight.Fragment, g, 0)
		return b, nil
	}
	if write && !c.commits && c.s.tx == nil && c.statement == nil && c.plan != nil && writes(c.plan) {
		c.commits = true
		c.s.beginCommit()
	}
	b, err := c.borrow(g)
	if err != nil {
		return nil, err
	}
	if c.s.tx != nil && c.s.tx.Holds(b) {
		c.held = append(c.held, b)
	}
	if write && !c.joined {
		if err := c.s.writing(c.plan, b); err != nil {
			c.s.done(b, nil)
			return nil, err
		}
	}
	c.s.client.Enter(b)
	c.s.client.Flight.Note(c.s.cfg.Clients.Clock(), flight.Fragment, g, 0)
	return b, nil
}

// borrow is Session.borrow. What the session itself holds to a node group (a branch of its transaction, its temporary tables) is one
// connection, on which one thing is read at a time; else a further reading takes one that is to spare. It opens no branch,
// for which others may be told something.
func (c *conns) borrow(g placement.NodeGroupID) (b *backend.Conn, err error) {
	if c.beside == nil {
		return c.s.borrow(g)
	}
	s, free := c.s, c.beside.groups[g] == 0
	switch {
	case c.beside.running == 0,
		s.tx != nil && free && s.tx.Branch(g) != nil,
		s.tx == nil && free && s.temps != nil && s.temps.conn.Group == g:
		b, err = s.borrow(g)
	case s.tx != nil, s.temps != nil && s.temps.conn.Group == g:
		return nil, errBusy
	default:
		if b, err = s.getSpare(g); err != nil {
			return nil, errBusy // when the others have ended it is asked for in the ordinary way, which tells what is wrong
		}
	}
	if err == nil {
		c.beside.groups[g]++
	}
	return b, err
}

// warn takes the warnings of b's last statement. Those about rows of an INSERT are in the order of the rows.
func (c *conns) warn(b *backend.Conn) {
	before := len(c.warnings)
	c.warnings = append(c.warnings, c.s.appendWarnings(nil, b)...)
	located := false
	for i := before; i < len(c.warnings); i++ {
		w, row := &c.warnings[i], 0
		w.Message, row = c.s.runner.AtRow(w.Message, b.Group)
		located = located || row > 0
	}
	if located && before > 0 {
		slices.SortStableFunc(c.warnings, func(v, w diagnostics.Condition) int { return cmp.Compare(rowIn(v.Message), rowIn(w.Message)) })
	}
}

// rowIn is the row that a warning names, 0 for none.
func rowIn(message string) int {
	at := strings.LastIndexByte(message, ' ')
	n, _ := strconv.Atoi(message[at+1:])
	return n
}

// Release implements exec.Conns.
func (c *conns) Release(ec exec.Conn, err error) {
	b := ec.(*backend.Conn)
	if c.beside != nil {
		c.beside.groups[b.Group]--
	}
	c.s.client.Flight.Note(c.s.cfg.Clients.Clock(), flight.FragmentEnd, b.Group, fragmentCode(err))
	if err == nil {
		c.Keep(b)
	}
	if refusal := b.Refusal(); err == nil && refusal != nil && c.beside == nil {
		c.s.noteFault(b, refusal)
	}
	inTransaction := slices.Contains(c.held, b) || c.branch(b.Group) == b
	if errors.Is(err, exec.ErrUnread) {
		if inTransaction || c.s.temps != nil && c.s.temps.conn == b {
			readOut(b) // more would be lost with it than this answer
		} else {
			_ = b.Skip(maxUnread) // reading the rest may take too long
		}
		if !b.Usable() {
			b.Interrupt()
		}
	}
	c.s.client.Leave(b) // not before: what is read out can be ended by KILL and by shutdown
	if inTransaction {
		// It stays until the transaction ends, which must not happen before the other connections of the statement are
		// released: whether it is still good is looked at then.
		return
	}
	c.s.done(b, err)
}

// Keep implements exec.Conns.
func (c *conns) Keep(ec exec.Conn) {
	b := ec.(*backend.Conn)
	if c.joined || c.beside != nil || !b.Usable() || b.LastWarnings() == 0 {
		return
	}
	if c.warned == 0 {
		c.warned = b.Group
	}
	if c.warned == b.Group || c.plan == nil || !plan.Copies(c.plan.Root) { // other copies say the same
		c.warn(b)
	}
}

// fragmentCode is the error a part of a statement ended with.
func fragmentCode(err error) uint16 {
	if err == nil || errors.Is(err, exec.ErrUnread) {
		return 0
	}
	return uint16(sqlerr.From(err).Code)
}

// readOut reads everything b still has to say, unless it is lost: closing the connection instead would lose its transaction. What the server
// refuses, the rest of an answer that was killed among it, leaves that as it is.
func readOut(b *backend.Conn) {
	gone := func(err error) bool {
		return err != nil && (mysqlconn.IsLost(err) || sqlerr.HasCode(err, sqlerr.NetPacketOutOfOrder))
	}
	for {
		if gone(b.Skip(math.MaxInt)) || b.Usable() {
			return
		}
		if _, err := b.ReadHead(); gone(err) {
			return
		}
	}
}

// BeginStatement implements exec.Conns: the statement will write to several groups.
func (c *conns) BeginStatement(groups []placement.NodeGroupID) error {
	if c.s.locks != nil {
		if c.s.ours.BestEffort {
			return c.s.beginLocked()
		}
		if err := c.s.suspend(c.plan); err != nil {
			return err
		}
		if !c.s.Autocommit {
			c.s.begin(startTransaction, nil)
		}
	}
	if c.s.tx != nil {
		if err := c.s.beginPinned(c.s.tx); err != nil {
			return err
		}
		return c.s.tx.BeginStatement(c.s, groups, true)
	}
	if err := c.Admit(groups); err != nil {
		return err
	}
	c.statement = c.s.newTxn()
	c.s.own = c.statement
	if err := c.s.beginPinned(c.statement); err != nil {
		return err
	}
	return c.statement.BeginStatement(c.s, groups, false)
}

// JoinStatement implements exec.Conns.
func (c *conns) JoinStatement(g placement.NodeGroupID, write bool) error {
	c.joined = true
	switch {
	case c.s.locks != nil:
		return nil // LOCK TABLES has reached it, or Acquire refuses
	case c.statement != nil:
		return c.statement.JoinStatement(c.s, g, write)
	case c.s.tx == nil:
		return sqlerr.Internal.New("a statement over several node groups without a transaction")
	}
	return c.s.tx.JoinStatement(c.s, g, write)
}

// savepointsOfFulltext is why on MariaDB no statement is undone by a savepoint that has changed a table with FULLTEXT keys. Behind ROLLBACK TO
// SAVEPOINT, MATCH finds rows no more that are there, and servers have crashed (10.11.19: BEGIN, an UPDATE, SAVEPOINT, a DELETE, ROLLBACK TO).
const savepointsOfFulltext = "it may have changed a table with FULLTEXT keys, on several node groups"

// EndStatement implements exec.Conns.
func (c *conns) EndStatement(err error) error {
	switch {
	case c.s.locks != nil:
		return c.s.commitLocked(err)
	case c.statement == nil && c.s.tx != nil && err != nil && c.s.cfg.Dialect.MariaDB() && c.plan != nil && c.plan.Basis != nil && c.plan.Basis.ReachesFulltext():
		return c.s.tx.LoseStatement(err, savepointsOfFulltext)
	case c.statement == nil && c.s.tx != nil:
		return c.s.tx.EndStatement(err)
	case c.statement == nil:
		return err
	case err != nil:
		told, _ := c.statement.Judge(err)
		c.end()
		return told
	}
	tx := c.statement
	c.statement, c.s.own = nil, nil
	_ = tx.EndStatement(nil) // what it did is kept
	c.s.client.Flight.Note(c.s.cfg.Clients.Clock(), flight.Commit, 0, 0)
	out, err := c.s.commit(tx)
	if out.Pending != "" {
		c.warnings, c.pending = append(c.warnings, c.s.pendingNote(out.Pending)), 1
	}
	return err
}

// Written implements exec.Conns.
func (c *conns) Written() []placement.NodeGroupID {
	if c.s.tx == nil || !c.s.tx.Repeatable {
		return nil
	}
	return c.s.tx.WroteOn()
}

// Transaction implements exec.Conns.
func (c *conns) Transaction() (open, copies bool) {
	return c.s.tx != nil, c.s.tx != nil && (c.s.snap.Map == nil || len(c.s.tx.WroteOn()) >= len(c.s.snap.Map.Groups()))
}

// keep ends a statement that has succeeded.
func (c *conns) keep() {
	for _, b := range c.held {
		c.s.held(b)
	}
}

// committed is called when the statement has ended, however.
func (c *conns) committed() {
	if c.commits {
		c.commits = false
		c.s.endCommit()
	}
}

// end undoes an autocommit statement that was not ended.
func (c *conns) end() {
	if c.statement != nil {
		c.statement.Rollback()
		c.statement, c.s.own = nil, nil
	}
}

// branch returns the connection of the statement's own transaction on g, or nil.
func (c *conns) branch(g placement.NodeGroupID) *backend.Conn {
	if c.statement == nil {
		return nil
	}
	return c.statement.Branch(g)
}

// maxUnread is how many bytes of an unwanted answer are read before the connection is closed instead.
const maxUnread = 1 << 20
