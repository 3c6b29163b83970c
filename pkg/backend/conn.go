package backend

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Conn is a pooled connection, held by one session at a time between Get and Release or Discard.
type Conn struct {
	*mysqlconn.Conn
	Group placement.NodeGroupID

	pool   *pool
	number uint64 // of its login, among those of the pool; it never changes
	// generation: see pool
	generation uint64
	user       string // it logged in as
	profile    Profile
	state      *State
	uses       uint64 // how often it was handed out
	begun      int64  // pool.probes when its session on the server began: at login, or when it was reset
	// Dirty is set by a holder that changed the session on the server in a way its State does not say: the
	// connection is reset before its next use.
	Dirty bool
	// Started is when the server was started, in its own seconds, once a holder has found that out; 0 before.
	Started int64

	statements map[uint64]*Prepared
	clock      uint64 // of Prepared.used
	long       uint32 // the id of the statement that Prepared has given last of those with a long text

	// of the holder's statements
	turn  uint32        // they are counted, to time some of them
	began time.Duration // on the pool's clock, of one that is timed; 0 else
	took  time.Duration // the last that was timed since the connection was handed out; 0: none
	times time.Duration // how many statements the one at hand stands for
	busy  atomic.Bool   // one is running; kept only for a claim that is Held
	// killed: a KILL QUERY was sent. A server that had just ended the statement may keep it for the next one: nobody else gets the connection.
	killed atomic.Bool

	// guarded by pool.mu
	claim      Claim // it was handed out for
	idle       bool
	prev, next *Conn // in the idle list
	since      int64 // pool.probes when it became idle
	doubted    bool  // another connection to the server was lost while it was idle
}

// State is the session state the connection has.
func (c *Conn) State() *State { return c.state }

// Profile is what the connection agreed with its server at login.
func (c *Conn) Profile() Profile { return c.profile }

// timeEvery is which part of the statements is timed.
const timeEvery = 8

// Reused reports whether the connection was handed out before its present holder had it.
func (c *Conn) Reused() bool { return c.uses > 1 }

// Begin and End are called around a statement that runs on the connection, so that it is known how long statements take
// and how many connections are idle in their holders' hands.
func (c *Conn) Begin() {
	c.Settle()
	if c.claim.Held {
		c.busy.Store(true)
	}
	if c.turn++; c.turn%timeEvery == 0 && !c.claim.Wide {
		c.began = time.Since(c.pool.born)
	}
}

// Stands says that the statement between Begin and End is n of them, which the server ran one after the other.
func (c *Conn) Stands(n int) { c.times = time.Duration(n) }

// Settle lets a KILL QUERY that was for an earlier statement, and may still be to come, meet one that does nothing.
func (c *Conn) Settle() {
	if c.killed.Load() && c.Usable() {
		c.killed.Store(false)
		_, _ = c.Exec("DO 0")
	}
}

// End is the end of what Begin began.
func (c *Conn) End() {
	if c.claim.Held {
		c.busy.Store(false)
	}
	if c.began != 0 {
		c.took, c.began = (time.Since(c.pool.born)-c.began)/max(c.times, 1), 0
	}
	c.times = 0
}

// Keep says that the holder keeps the connection for more than the statement it was asked for.
func (c *Conn) Keep() {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	if !c.claim.Held {
		c.claim.Held = true
		c.pool.gate.held++
	}
}

// SetState says that the holder brought the connection to st itself.
func (c *Conn) SetState(st *State) { c.state = st }

// Release gives the connection back. It is closed when it cannot be used again, and rolled back and reset before
// its next use when Dirty.
func (c *Conn) Release() { c.pool.put(c) }

// Discard closes the connection instead of giving it back.
func (c *Conn) Discard() { c.pool.discard(c) }

// sync brings the connection to st; everything is sent at once. After an error nobody knows its state: it is Dirty.
func (c *Conn) sync(st *State) error {
	d := c.difference(st)
	c.Dirty = true
	if d.reset {
		clear(c.statements)
		c.begun = c.pool.probes.Load()
		if err := c.Send(wire.ComResetConnection, nil); err != nil {
			return err
		}
	}
	// MariaDB looks at a database when it is entered, and not again when a session that is in it enters it.
	leave := d.initDB && c.state.DB == st.DB && c.state.Collation != st.Collation
	if leave {
		if err := c.Send(wire.ComInitDB, []byte("information_schema")); err != nil {
			return err
		}
	}
	if d.initDB {
		if err := c.Send(wire.ComInitDB, []byte(st.DB)); err != nil {
			return err
		}
		c.profile.NoDB = false
	}
	if d.set != "" {
		if err := c.Send(wire.ComQuery, []byte(d.set)); err != nil {
			return err
		}
	}
	var first error
	for _, sent := range []bool{d.reset, leave, d.initDB, d.set != ""} {
		if !sent {
			continue
		}
		_, err := c.ReadHead()
		if mysqlconn.IsLost(err) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return first
	}
	c.Dirty = false
	c.state = st
	return nil
}

// old reports whether the connection's session on the server began so long ago that it may have other settings than those that begin now.
func (c *Conn) old() bool {
	return c.pool.probes.Load()-c.begun > int64(c.pool.cfg.IdleTimeout/c.pool.cfg.ProbeInterval)
}

func (c *Conn) difference(st *State) difference {
	if c.Dirty {
		return afterReset(st)
	}
	return diff(c.state, st)
}

// Prepared is a statement prepared on one connection.
type Prepared struct {
	mysqlconn.Stmt
	// BoundTypes are the parameter types the server remembers from the last execution; the holder updates them.
	BoundTypes []wire.ParamType

	sql   string
	state StateID
	used  uint64
	// On MySQL: plain that it has run with values of types that it took as it was prepared; types, not nil, that it was prepared again
	// by the server, by values of these types.
	plain bool
	types []wire.ParamType
	// spent: values may have made the server ask for other types. It is for one execution only.
	spent bool
	// revision of the schema that it was prepared by
	revision int64
}

// Statement returns sql prepared on this connection in its present state, preparing it when needed. hash is
// HashStatement(sql). types are the parameter types that it is going to be executed with, nil if it is not, or on MariaDB: MySQL
// prepares a statement again by values of types that it does not take, and keeps these types, so that such a statement is
// for values of the same types only, or, where a value may make it ask for another type, for one execution. It keeps the types of
// columns, too, when these have become others: with types a statement is for one revision of the schema, 0 being one of its own. When
// the connection keeps too many, the one unused for longest is closed. The server's refusal is returned as *sqlerr.Error and leaves the
// connection usable.
func (c *Conn) Statement(sql []byte, hash uint64, types []wire.ParamType, revision int64) (*Prepared, error) {
	key, given := c.statementKey(hash), types
	c.clock++
	p := c.kept(key, sql)
	if p != nil && types != nil && p.revision != revision {
		c.drop(key)
		p = nil
	}
	if p == nil {
		var err error
		if p, err = c.prepareAs(key, sql, revision); err != nil {
			return nil, err
		}
	}
	if types != nil && !p.suits(types) {
		if p.taken(types) {
			types = nil
		}
		key = key*31 + 1
		for _, t := range types {
			key = key*31 + uint64(t.Type)<<1 + 1
			if t.Unsigned {
				key++
			}
			key = key*31 + uint64(t.Shape)
		}
		if p = c.kept(key, sql); p != nil && (p.revision != revision || types != nil && !p.suits(types)) {
			c.drop(key)
			p = nil
		}
		if p == nil {
			var err error
			if p, err = c.prepareAs(key, sql, revision); err != nil {
				return nil, err
			}
		}
	}
	p.used = c.clock
	switch {
	case types == nil:
	case p.taken(types):
		p.plain = true
	case p.types == nil:
		p.types = slices.Clone(types)
	}
	p.spent = p.retyped(given)
	return p, nil
}

// prepareAs prepares sql by a revision of the schema, and keeps it under key.
func (c *Conn) prepareAs(key uint64, sql []byte, revision int64) (*Prepared, error) {
	st, err := c.Prepare(sql)
	if sqlerr.HasCode(err, sqlerr.TooManyStatements) && len(c.statements) > 0 && c.Usable() {
		// The limit is the server's, over all connections: give what this one keeps.
		for len(c.statements) > 0 {
			c.evictStatement()
		}
		st, err = c.Prepare(sql)
	}
	if err != nil {
		return nil, err
	}
	if c.statements == nil {
		c.statements = map[uint64]*Prepared{}
	}
	if len(c.statements) >= c.pool.cfg.MaxStatements {
		c.evictStatement()
	}
	p := &Prepared{Stmt: st, sql: string(sql), state: c.state.ID, used: c.clock, revision: revision}
	c.statements[key] = p
	return p, nil
}

// statementKey is under what a statement of the hash is kept in the present state; kept looks whether it is that one.
func (c *Conn) statementKey(hash uint64) uint64 {
	return hash ^ binary.LittleEndian.Uint64(c.state.ID[:])
}

// Forget closes the statement with the id, which was prepared by Statement: parameters of it were sent, and it is not going to be executed.
func (c *Conn) Forget(id uint32) {
	if c.Take(id) != nil {
		c.CloseStmt(id)
	}
}

// Exclusive is a prepared statement that Statement gives to nobody, as a cursor of it is open.
type Exclusive struct {
	key      uint64
	prepared *Prepared
}

// Take makes the statement with the id, which was prepared by Statement, an exclusive one; nil if there is none. Return gives it back.
func (c *Conn) Take(id uint32) *Exclusive {
	for key, p := range c.statements {
		if p.ID == id {
			delete(c.statements, key)
			return &Exclusive{key, p}
		}
	}
	return nil
}

// Return makes e, which is at rest, one of those that Statement gives; if another one has its place, it is closed.
func (c *Conn) Return(e *Exclusive) {
	switch {
	case e == nil:
	case c.statements == nil || c.statements[e.key] != nil || len(c.statements) >= c.pool.cfg.MaxStatements:
		c.CloseStmt(e.prepared.ID)
	default:
		c.statements[e.key] = e.prepared
	}
}

// kept is the statement kept under key, if it is sql in the present state, and not spent; another one is closed.
func (c *Conn) kept(key uint64, sql []byte) *Prepared {
	p := c.statements[key]
	if p == nil || p.sql == string(sql) && p.state == c.state.ID && !p.spent {
		return p
	}
	c.drop(key)
	return nil
}

// drop closes the statement kept under key.
func (c *Conn) drop(key uint64) {
	c.CloseStmt(c.statements[key].ID)
	delete(c.statements, key)
}

// Describe is Statement for what a client is told of sql: a statement that was prepared by another revision of the schema is prepared
// again, for the columns may be others. A revision of 0 is none that was before.
func (c *Conn) Describe(sql []byte, hash uint64, revision int64) (*Prepared, error) {
	key := c.statementKey(hash)
	if p := c.kept(key, sql); p != nil && (p.revision != revision || revision == 0) {
		c.drop(key)
	}
	return c.Statement(sql, hash, nil, revision)
}

// Prepared is Statement for a text that is made anew for each execution. It returns the statement's id, and notes that it is
// going to be executed with parameters of types, which MySQL minds; none on MariaDB.
func (c *Conn) Prepared(sql []byte, types []wire.ParamType, revision int64) (id uint32, err error) {
	p, err := c.Statement(sql, c.pool.hasher.Hash(sql), types, revision)
	if err != nil {
		return 0, err
	}
	p.BoundTypes = p.BoundTypes[:0] // whoever comes next brings his own
	if len(sql) > longText {
		if c.long != p.ID {
			c.Forget(c.long)
		}
		c.long = p.ID
	}
	return p.ID, nil
}

// longText is how long a text of Prepared is that is not kept beside another such one: a server may need a megabyte for the statement, and
// the rows of an INSERT that are a group's seldom are as many again.
const longText = 4 << 10

func (c *Conn) evictStatement() {
	var oldest uint64
	var victim *Prepared
	for k, p := range c.statements {
		if victim == nil || p.used < victim.used {
			oldest, victim = k, p
		}
	}
	c.drop(oldest)
}

// SameTypes reports whether types are those the server remembers.
func (p *Prepared) SameTypes(types []wire.ParamType) bool { return slices.Equal(p.BoundTypes, types) }

// Steady reports whether a server that is given any number of executions of p, with values of types as now, takes each as it would take it alone.
func (p *Prepared) Steady(types []wire.ParamType) bool { return !p.spent && p.SameTypes(types) }

// Hasher hashes statement texts for Statement; the zero Hasher is not usable, NewHasher makes one for the process.
type Hasher struct{ seed maphash.Seed }

// NewHasher returns a Hasher with a random seed.
func NewHasher() Hasher { return Hasher{maphash.MakeSeed()} }

// Hash returns the hash of a statement's text.
func (h Hasher) Hash(sql []byte) uint64 { return maphash.Bytes(h.seed, sql) }

// lost turns an error of the connection into what the client is told.
func (p *pool) lost(err error) error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return e
	}
	return sqlerr.ServerLost.New(p.name() + ": " + err.Error())
}

// LastStatus is the server's state at the end of the last answer that was not an error.
func (c *Conn) LastStatus() wire.Status { return c.Status() }

// LastWarnings is the number of warnings the end of the last answer reported.
func (c *Conn) LastWarnings() uint16 { return c.EndStatus().Warnings }

// Extend brings a connection its holder keeps to a state with more variables, other values or another database. What
// needs a reset is refused: it would end the holder's transaction. An error that leaves the connection usable is
// the server's; if more than one thing was to change, some of it may have, and the connection is Dirty.
func (c *Conn) Extend(st *State) error {
	if c.state.ID == st.ID && !c.Dirty {
		return nil
	}
	d := c.difference(st)
	if d.reset {
		return errNeedsReset
	}
	alone := d.initDB && d.set == "" && c.state.DB != st.DB // else it has left the database before
	err := c.sync(st)
	if err != nil && alone && c.Usable() {
		c.Dirty = false // the one thing it was told it has refused
	}
	return err
}

var errNeedsReset = errors.New("the connection's session state cannot be restored inside a transaction")

// Skip reads what is left of the present answer if that is at most limit bytes, and fails otherwise; then the
// connection must be discarded.
func (c *Conn) Skip(limit int) error {
	for {
		row, err := c.ReadRow()
		if errors.Is(err, io.EOF) && !c.MoreResults() {
			return nil
		}
		if err != nil {
			return err
		}
		if limit -= len(row); limit < 0 {
			return errTooMuch
		}
	}
}

var errTooMuch = errors.New("the rest of the answer is too long to be read")
