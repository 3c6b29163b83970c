// Package txn is what a session's statements run in: nothing (autocommit), or a transaction over node groups. A
// transaction holds the backend connections that belong to it from the first statement that needs them to the end, and
// decides what of several groups' work stands: all or nothing, whatever dies meanwhile. DESIGN.md tells how. The
// package knows no SQL but that of transaction control and never looks at rows.
package txn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Pool is where branches get their connections, and give them back: backend.Pools with the session's profile and
// state applied.
type Pool interface {
	Get(g placement.NodeGroupID) (*backend.Conn, error)
	// Put takes a connection that Get returned, in whatever condition it is.
	Put(c *backend.Conn)
	// Map is the partition map that the statement at hand runs by.
	Map() *placement.PartitionMap
}

// Txn is one transaction, from BEGIN to COMMIT or ROLLBACK, or that of one autocommit statement over several groups.
// It belongs to one session and is not safe for concurrent use.
//
//	begun ──first statement──► open ──COMMIT, ROLLBACK, deadlock──► over
//	                           open ──connection lost──► lost ──COMMIT (an error), ROLLBACK──► over
//
// A lost transaction refuses every statement until the client has ended it: else what follows would run outside of it.
type Txn struct {
	// Begin is the statement that opens the first branch, the client's own text or one of that sense.
	Begin string
	// Isolation, not empty, is a SET TRANSACTION statement sent before a branch is opened.
	Isolation string
	// ReadOnly: its servers let it write nothing, so there is nothing to be atomic: every branch is opened by Begin.
	ReadOnly bool
	// Repeatable: all reads of a branch show what was there at its first one, as with REPEATABLE READ.
	Repeatable bool
	// BestEffort: the branches are committed one after the other, without a decision.
	BestEffort bool
	// Coordinator is the process's.
	Coordinator *Coordinator
	// Aside, not nil, runs what may wait for anything but the branches' connections, and returns when that is done.
	Aside func(func())

	pool       Pool // where the branches came from
	id         ID
	branches   []*branch // in the order they were opened; the first one keeps the decision
	savepoints []string  // names of those that are set, oldest first: a branch that comes later gets them too
	statement  []*branch // of the statement that BeginStatement began
	undo       bool      // it has a savepoint
	lost       *sqlerr.Error
	began      time.Time // when its first branch was opened
	watched    *watched  // nil while it is in one group
}

// branch is a transaction's part on one node group.
type branch struct {
	conn *backend.Conn
	// since is the partition map by which the statement ran that opened it. Branches are opened one after the other: none has an older one
	// than the first.
	since *placement.PartitionMap
	xid   string // as XA statements take it; empty for a plain transaction
	// wrote: a statement that may write was sent here, whatever became of it: part of its work may stand. Only such
	// branches are prepared: MariaDB does not keep a prepared branch that changed nothing once its connection is gone.
	wrote          bool
	prepared       bool
	readOnly       bool // its server was, when it was asked
	shortRowWait   bool // it waits less for row locks than its session
	shortTableWait bool // and for those of tables
	limited        bool // a deadline is set on the connection
	asked          int  // statements sent whose answers are to be read
	warnings       uint16
}

func (t *Txn) aside(f func()) {
	if t.Aside != nil {
		t.Aside(f)
	} else {
		f()
	}
}

// lock locks mu, which a watcher holds while it looks, or ends somebody's statement.
func (t *Txn) lock(mu *sync.Mutex) {
	if !mu.TryLock() {
		t.aside(mu.Lock)
	}
}

// Group returns the node group of the first branch, or 0 before the first statement.
func (t *Txn) Group() placement.NodeGroupID {
	if len(t.branches) == 0 {
		return 0
	}
	return t.branches[0].conn.Group
}

// Anew is a transaction like t, which has no branches yet.
func (t *Txn) Anew() *Txn {
	anew := *t
	anew.savepoints = slices.Clone(t.savepoints)
	return &anew
}

// Keep gives t, which has none, the savepoints of another transaction, if that is not nil.
func (t *Txn) Keep(of *Txn) {
	if of != nil {
		t.savepoints = slices.Clone(of.savepoints)
	}
}

// Open reports whether any branch is open.
func (t *Txn) Open() bool { return len(t.branches) > 0 }

// Several reports whether the transaction is in more than one node group.
func (t *Txn) Several() bool { return len(t.branches) > 1 }

// Branch returns the connection of the branch on g, or nil.
func (t *Txn) Branch(g placement.NodeGroupID) *backend.Conn {
	if b := t.branch(g); b != nil {
		return b.conn
	}
	return nil
}

func (t *Txn) branch(g placement.NodeGroupID) *branch {
	for _, b := range t.branches {
		if b.conn.Group == g {
			return b
		}
	}
	return nil
}

// Wrote reports whether anything may have been written.
func (t *Txn) Wrote() bool {
	return slices.ContainsFunc(t.branches, func(b *branch) bool { return b.wrote })
}

// WroteOn are the groups on which something may have been written.
func (t *Txn) WroteOn() (groups []placement.NodeGroupID) {
	for _, b := range t.branches {
		if b.wrote {
			groups = append(groups, b.conn.Group)
		}
	}
	return groups
}

// Misses reports whether a statement that runs by map m, and uses partitions, or all of them, would not see rows that are there: those of
// a partition that came to its node group when the transaction had begun to read there.
func (t *Txn) Misses(m *placement.PartitionMap, partitions []placement.Partition, all bool) bool {
	if !t.Repeatable || len(t.branches) == 0 || t.branches[0].since == m {
		return false
	}
	for _, b := range t.branches {
		came := func(p placement.Partition) bool {
			return m.Owner(p) == b.conn.Group && b.since.Owner(p) != b.conn.Group
		}
		if slices.ContainsFunc(partitions, came) || all && slices.ContainsFunc(m.Owned(b.conn.Group), came) {
			return true
		}
	}
	return false
}

// readView is a statement that makes a transaction of REPEATABLE READ see the present until its end. DO would not, nor a
// SELECT for which the client's sql_select_limit leaves nothing to do.
const readView = "SELECT COUNT(*) FROM `_skarv`.`dt` WHERE id = '' LIMIT 1"

// Snapshot opens branches on groups, before anything else is done in the transaction, whose reads show all of them at one
// moment. One that is open already is the first. hold runs a function while nothing is committed anywhere. After an error the caller rolls back.
func (t *Txn) Snapshot(pool Pool, groups []placement.NodeGroupID, hold func(look func() error) error) error {
	more := slices.DeleteFunc(slices.Sorted(slices.Values(groups)), func(g placement.NodeGroupID) bool { return t.branch(g) != nil })
	if err := t.open(pool, more, false); err != nil {
		return err
	}
	defer t.Rest()
	return hold(func() error {
		for _, b := range t.branches {
			b.limit(readViewTimeout)
		}
		for _, b := range t.branches {
			if err := b.conn.Send(wire.ComQuery, []byte(readView)); err != nil {
				return Lost(b.conn, err)
			}
		}
		for _, b := range t.branches {
			_, err := b.conn.ReadHead()
			if err == nil {
				err = b.conn.DiscardRows()
			}
			if err == nil {
				b.limited = false
				err = b.conn.SetDeadline(time.Time{})
			}
			if err != nil {
				return Lost(b.conn, err)
			}
		}
		return nil
	})
}

// readViewTimeout bounds the wait for servers while commits are held.
const readViewTimeout = 2 * time.Second

// Holds reports whether c is the connection of one of the branches.
func (t *Txn) Holds(c *backend.Conn) bool { return t.Branch(c.Group) == c }

// Err is why the transaction can only be rolled back, or nil.
func (t *Txn) Err() error {
	if t.lost == nil {
		return nil
	}
	return t.lost
}

// Acquire returns the connection of the transaction's branch on g, opening it if this is the first statement there.
// Before a statement that may change something is sent there, Writes must be called.
func (t *Txn) Acquire(pool Pool, g placement.NodeGroupID) (*backend.Conn, error) {
	if t.lost != nil {
		return nil, t.lost
	}
	if b := t.branch(g); b != nil {
		return b.conn, t.doubt(b)
	}
	if err := t.open(pool, []placement.NodeGroupID{g}, false); err != nil {
		return nil, err
	}
	return t.Branch(g), nil
}

// AcquireUnopened is Acquire for a statement that changes nothing: if it is the transaction's first, the branch's opening
// statement is returned, for the caller to send together with it (mysqlconn.Conn.RelayBehind). A server that refused the
// opening would run the statement all the same.
func (t *Txn) AcquireUnopened(pool Pool, g placement.NodeGroupID) (c *backend.Conn, opening string, err error) {
	if t.lost != nil || t.Open() || t.Isolation != "" || len(t.savepoints) > 0 {
		c, err = t.Acquire(pool, g)
		return c, "", err
	}
	if c, err = pool.Get(g); err != nil {
		return nil, "", err
	}
	t.pool, t.began = pool, time.Now()
	t.branches = append(t.branches, &branch{conn: c, since: pool.Map()})
	c.Doubt(true)
	return c, t.Begin, nil
}

// Writes notes, before it is sent, that a statement that may write will run on c, if c is one of the branches. Its
// answer does not say that it has left nothing behind: what a procedure did before it failed stands.
func (t *Txn) Writes(c *backend.Conn) {
	if b := t.branch(c.Group); b != nil && b.conn == c {
		b.wrote = !t.ReadOnly
	}
}

// MayPrepare reports whether c is a branch that will be prepared if it and another one write.
func (t *Txn) MayPrepare(c *backend.Conn) bool {
	b := t.branch(c.Group)
	return b != nil && b.conn == c && b.xid != ""
}

// statementSavepoint is where a statement over several groups is rolled back to. No client's savepoint has its name.
const statementSavepoint = "SAVEPOINT `_skarv_statement`"

// BeginStatement opens the branches on groups that are not open yet. What the statement that follows does on them
// stands or falls as a whole; undo says that it may have to be undone alone, without the transaction.
func (t *Txn) BeginStatement(pool Pool, groups []placement.NodeGroupID, undo bool) error {
	if t.lost != nil {
		return t.lost
	}
	var old []*branch
	var missing []placement.NodeGroupID
	for _, g := range slices.Sorted(slices.Values(groups)) {
		if b := t.branch(g); b != nil {
			old = append(old, b)
		} else {
			missing = append(missing, g)
		}
	}
	if err := t.doubt(old...); err != nil {
		return err
	}
	if undo {
		if err := t.all(old, func(*branch) []string { return []string{statementSavepoint} }); err != nil {
			return err
		}
	}
	if err := t.open(pool, missing, undo); err != nil {
		return err
	}
	t.statement, t.undo = t.statement[:0], undo
	for _, g := range groups {
		b := t.branch(g)
		b.wrote = !t.ReadOnly
		t.statement = append(t.statement, b)
	}
	return nil
}

// JoinStatement lets g take part in the statement that BeginStatement began, as if it had been among its groups. write
// says that the statement changes something there; a branch that only reads or locks rows is not prepared.
func (t *Txn) JoinStatement(pool Pool, g placement.NodeGroupID, write bool) error {
	if t.lost != nil {
		return t.lost
	}
	b := t.branch(g)
	if b != nil {
		if err := t.doubt(b); err != nil {
			return err
		}
	}
	if !slices.Contains(t.statement, b) || b == nil {
		if b != nil && t.undo {
			if err := t.all([]*branch{b}, func(*branch) []string { return []string{statementSavepoint} }); err != nil {
				return err
			}
		}
		if b == nil {
			if err := t.open(pool, []placement.NodeGroupID{g}, t.undo); err != nil {
				return err
			}
			b = t.branch(g)
		}
		t.statement = append(t.statement, b)
	}
	if write && !t.ReadOnly {
		b.wrote = true
	}
	return nil
}

// EndStatement ends what BeginStatement began. When err is not nil the statement's work is undone on all groups, if that
// was asked for.
func (t *Txn) EndStatement(err error) error {
	if err == nil {
		return nil
	}
	if !t.undo || t.overWith(err) {
		return err // there is nothing to go back to
	}
	if uerr := t.all(t.statement, func(*branch) []string { return []string{"ROLLBACK TO " + statementSavepoint} }); uerr != nil {
		t.lose("a statement that failed could not be undone on all node groups")
	}
	return err
}

// overWith reports whether the transaction has ended, or can only be rolled back, with a statement that failed with err.
func (t *Txn) overWith(err error) bool {
	return t.Deadlocked(sqlerr.From(err).Code) || !t.usable() || rolledBackBy(t.statement) != nil
}

// LoseStatement is EndStatement for one that has failed with err, and cannot be undone alone: the transaction is rolled back with it, for the
// reason that what names.
func (t *Txn) LoseStatement(err error, what string) error {
	if t.overWith(err) {
		return err
	}
	t.lose("a statement that has failed cannot be undone alone: " + what)
	return sqlerr.Unsupported(fmt.Sprintf("undoing a statement alone in a transaction: %s; it has failed with: %v", what, err), "run the transaction again, which is rolled back")
}

// open opens branches on groups at once: all or none.
func (t *Txn) open(pool Pool, groups []placement.NodeGroupID, undo bool) (err error) {
	if len(groups) == 0 {
		return nil
	}
	t.pool = pool
	var fresh []*branch
	defer func() {
		if err != nil {
			for _, b := range fresh {
				t.free(b, err)
			}
			if len(t.branches) == 0 {
				t.id = "" // it names the group that was to be the first, and the next one to be opened may be another
			}
		}
	}()
	for _, g := range groups {
		c, err := pool.Get(g)
		if err != nil {
			return err
		}
		c.Doubt(true)
		fresh = append(fresh, &branch{conn: c, since: pool.Map()})
	}
	first := fresh[0]
	if len(t.branches) > 0 {
		first = t.branches[0]
	}
	several := len(t.branches)+len(fresh) > 1
	openings := make(map[*branch][]string, len(fresh))
	for _, b := range fresh {
		if openings[b], err = t.opening(b, first, several, undo); err != nil {
			return err
		}
	}
	asked := fresh
	if len(t.branches) == 1 {
		if q := t.branches[0].hurry(); q != nil {
			openings[t.branches[0]] = q
			asked = append(slices.Clone(fresh), t.branches[0])
		}
	}
	if err := t.all(asked, func(b *branch) []string { return openings[b] }); err != nil {
		return err
	}
	if len(t.branches) == 0 {
		t.began = time.Now()
	}
	t.branches = append(t.branches, fresh...)
	if len(t.branches) > 1 {
		t.watch()
	}
	return nil
}

// opening is the statements that open b: undo, if the statement it is opened for may have to be undone alone. first is the transaction's
// first branch, b itself perhaps, and several says that there are others.
func (t *Txn) opening(b, first *branch, several, undo bool) (q []string, err error) {
	if t.Isolation != "" {
		q = append(q, t.Isolation)
	}
	if b == first || t.ReadOnly || t.BestEffort {
		q = append(q, t.Begin)
	} else {
		if t.id == "" {
			t.id = t.Coordinator.newID(first.conn.Group)
		}
		if err := fit(b.conn); err != nil {
			return nil, err
		}
		b.xid = newXID(t.id, b.conn.Group, b.conn.ThreadID(), b.conn.Started).String()
		q = append(q, "XA START "+b.xid)
	}
	if several {
		q = append(q, b.hurry()...)
	}
	for _, name := range t.savepoints {
		q = append(q, "SAVEPOINT "+sqltypes.QuoteName(name))
	}
	if undo {
		q = append(q, statementSavepoint)
	}
	return q, nil
}

const (
	// lockWait is the variable for how long a statement waits for a row lock, and tableWait that for how long it waits for
	// the lock of a table that DDL or LOCK TABLES takes.
	lockWait  = "@@session.`innodb_lock_wait_timeout`"
	tableWait = "@@session.`lock_wait_timeout`"
	// shortRowWait is how long a branch of a transaction over several node groups waits for a row lock.
	shortRowWait = 5 * time.Second
)

// hurry is what makes a branch give up sooner on locks: transactions that wait for each other on different groups are
// seen by no server. The search for deadlocks sees row locks only: a circle with a table's lock in it ends with the wait for
// that, for which servers take hours by default. A client that set a variable itself knows better.
func (b *branch) hurry() []string {
	if b.shortRowWait || b.shortTableWait {
		return nil
	}
	var assigned []string
	if _, ok := b.conn.State().Get(lockWait); !ok {
		b.shortRowWait = true
		assigned = append(assigned, lockWait+" = "+strconv.Itoa(int(shortRowWait/time.Second)))
	}
	if _, ok := b.conn.State().Get(tableWait); !ok {
		b.shortTableWait = true
		assigned = append(assigned, tableWait+" = 50")
	}
	return set(assigned)
}

// set is one SET, if anything is assigned.
func set(assigned []string) []string {
	if len(assigned) == 0 {
		return nil
	}
	return []string{"SET " + strings.Join(assigned, ", ")}
}

// all sends every branch its text, reads all answers, and returns the first error.
func (t *Txn) all(branches []*branch, statements func(*branch) []string) error {
	var first error
	for _, err := range ask(branches, statements) {
		if first == nil && err != nil {
			first = err
		}
	}
	return first
}

// ask is one round: all branches are sent their statements before the first answer is read. The result has an error or
// nil for each branch; those of lost connections are *mysqlconn.LostError, others the server's.
func ask(branches []*branch, statements func(*branch) []string) []error {
	errs := make([]error, len(branches))
	for i, b := range branches {
		b.conn.Settle()
		if !b.conn.Broken() && !b.conn.Usable() { // what is read next would be taken for the answer
			errs[i] = sqlerr.Internal.New("a transaction is to go on where an answer is outstanding")
			continue
		}
		packets := b.packets(statements(b))
		if len(branches) == 1 {
			errs[i] = b.conn.AskRaw(packets)
		} else {
			errs[i] = b.conn.SendRaw(packets)
		}
	}
	for i, b := range branches {
		if errs[i] == nil {
			errs[i] = b.answers()
		}
	}
	return errs
}

// send sends statements, one behind the other and all at once. The server runs all of them, even those after one that
// fails.
func (b *branch) send(statements ...string) error { return b.conn.SendRaw(b.packets(statements)) }

// packets is statements as they are sent; the branch owes their answers from now on.
func (b *branch) packets(statements []string) (packets []byte) {
	for _, q := range statements {
		packets = wire.AppendCommand(packets, wire.ComQuery, []byte(q))
	}
	b.asked = len(statements)
	return packets
}

// answers reads the answers to what was sent, which have no rows but for asksReadOnly, and returns the first error.
func (b *branch) answers() (first error) {
	b.warnings = 0
	for ; b.asked > 0; b.asked-- {
		head, err := b.conn.ReadHead()
		if err == nil && head.OK == nil {
			err = b.readReadOnly()
		}
		switch {
		case err == nil:
			b.warnings += b.conn.LastWarnings()
		case mysqlconn.IsLost(err):
			return err
		case first == nil:
			first = err
		}
	}
	return first
}

// asksReadOnly is sent behind what servers do although read_only is set. What whoever set it has then waited for, to have it on the server that is to be
// the primary, may be without that: it counts only if read_only was not set afterwards.
const asksReadOnly = "SELECT @@GLOBAL.read_only LIMIT 1" // whatever a session's sql_select_limit is

// readReadOnly reads the answer.
func (b *branch) readReadOnly() error {
	b.readOnly = true
	for {
		row, err := b.conn.ReadRow()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		b.readOnly = bytes.IndexByte(row, '1') >= 0 // in any character set
	}
}

// maxSavepoints bounds the savepoints of a transaction.
const maxSavepoints = 1000

// Lend lets another goroutine than the session's use the transaction, to end it.
func (t *Txn) Lend() {
	t.Aside = nil
	for _, b := range t.branches {
		b.conn.Use(nil)
	}
}

// Savepoint is SAVEPOINT name: in all branches, and in those to come.
func (t *Txn) Savepoint(name string) error {
	if len(t.savepoints) >= maxSavepoints && t.find(name) < 0 {
		return sqlerr.Unsupported(fmt.Sprintf("more than %d savepoints in a transaction", maxSavepoints), "release some")
	}
	if err := t.everywhere("SAVEPOINT " + sqltypes.QuoteName(name)); err != nil {
		return err
	}
	if i := t.find(name); i >= 0 {
		t.savepoints = slices.Delete(t.savepoints, i, i+1) // the same name again replaces it
	}
	t.savepoints = append(t.savepoints, name)
	return nil
}

// RollbackTo is ROLLBACK TO name.
func (t *Txn) RollbackTo(name string) error {
	i := t.find(name)
	if i < 0 && t.lost == nil {
		return UnknownSavepoint(name)
	}
	if err := t.everywhere("ROLLBACK TO SAVEPOINT " + sqltypes.QuoteName(name)); err != nil {
		return err
	}
	t.savepoints = t.savepoints[:i+1] // itself stays
	return nil
}

// Warned reports whether a server has warned of the last statement of savepoints.
func (t *Txn) Warned() bool {
	return slices.ContainsFunc(t.branches, func(b *branch) bool { return b.warnings > 0 })
}

// Release is RELEASE SAVEPOINT name: it and those set after it are forgotten.
func (t *Txn) Release(name string) error {
	i := t.find(name)
	if i < 0 && t.lost == nil {
		return UnknownSavepoint(name)
	}
	if err := t.everywhere("RELEASE SAVEPOINT " + sqltypes.QuoteName(name)); err != nil {
		return err
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

func (t *Txn) find(name string) int {
	return slices.IndexFunc(t.savepoints, func(s string) bool { return sameSavepoint(s, name) })
}

// sameSavepoint reports whether two names are one to the servers, which compare them by the collation of identifiers.
func sameSavepoint(a, b string) bool {
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	if !strings.ContainsFunc(a+b, beyond) {
		return strings.EqualFold(a, b)
	}
	c, err := sqltypes.LookupCollation("utf8mb3_general_ci", false)
	if err != nil {
		return a == b
	}
	const end = "." // spaces before it count
	x, known := c.AppendKey(nil, []byte(a+end))
	y, also := c.AppendKey(nil, []byte(b+end))
	return known && also && bytes.Equal(x, y)
}

// everywhere runs a statement of savepoints in all branches. What one of them refuses ends the transaction: the others
// have done it.
func (t *Txn) everywhere(sql string) error {
	if t.lost != nil {
		return t.lost
	}
	err := t.all(t.branches, func(*branch) []string { return []string{sql} })
	if err != nil && t.usable() && len(t.branches) > 1 {
		t.lose("savepoints differ between node groups")
	}
	return err
}

// UnknownSavepoint is the servers' error for a savepoint that was not set.
func UnknownSavepoint(name string) error {
	return sqlerr.NoSuchRoutine.New("SAVEPOINT", name)
}

func (t *Txn) usable() bool {
	return !slices.ContainsFunc(t.branches, func(b *branch) bool { return !b.conn.Usable() })
}

// Failed is called after a statement inside the transaction has failed, and reports whether the transaction is over: some
// errors end it on a server (deadlocks, sometimes lock wait timeouts), and an answer that is an error does not say
// so; the servers are asked. The caller then rolls back what is left. With a lost connection the transaction is lost.
func (t *Txn) Failed() (over bool) {
	if t.Lose() {
		return false
	}
	gone := ended(t.branches)
	if t.Lose() {
		return false
	}
	return gone
}

// ended asks the servers of branches whether one is in no transaction any more.
func ended(branches []*branch) (gone bool) {
	errs := ask(branches, func(*branch) []string { return []string{"DO 0"} })
	for i, b := range branches {
		b.conn.Doubt(true)
		gone = gone || errs[i] != nil || !b.conn.LastStatus().Has(wire.StatusInTrans)
	}
	return gone
}

// rolledBackBy returns a branch whose server has rolled the transaction back; only those are asked that have told an error by which servers do.
func rolledBackBy(branches []*branch) *branch {
	for _, b := range branches {
		if b.conn.Doubt(false) && (!b.conn.Usable() || ended([]*branch{b})) {
			return b
		}
	}
	return nil
}

// doubt asks, before branches are used again, whether a server has rolled the transaction back by an error that nobody has taken for the statement's:
// it stood among rows that were not needed. What follows would be transactions of its own there.
func (t *Txn) doubt(branches ...*branch) error {
	if b := rolledBackBy(branches); b != nil {
		t.lose(fmt.Sprintf("node group %d has rolled its part of it back", b.conn.Group))
		return t.lost
	}
	return nil
}

// Doubt looks at a branch's connection behind a statement that has succeeded. If its server has rolled the transaction back meanwhile, all of it
// is lost.
func (t *Txn) Doubt(c *backend.Conn) {
	if b := t.branch(c.Group); b != nil && b.conn == c {
		_ = t.doubt(b) // told by the next statement
	}
}

// Ended is called after a statement on c, one of the branches, when its server says that c is in no transaction any more
// although the statement succeeded: the server has committed what c had. That is the transaction's end if c is all
// of it, and over is true; else what is left of it can only be rolled back, and every further statement says so.
func (t *Txn) Ended(c *backend.Conn) (over bool) {
	if !t.Several() {
		return true
	}
	t.lose(fmt.Sprintf("node group %d has ended its part of it by itself", c.Group))
	return false
}

// Lose notes that a connection of the transaction is lost, if one is, and reports it. What other node groups have of
// the transaction is rolled back.
func (t *Txn) Lose() bool {
	for _, b := range t.branches {
		if !b.conn.Usable() {
			t.lose(fmt.Sprintf("its connection to node group %d is gone", b.conn.Group))
			return true
		}
	}
	return t.lost != nil
}

func (t *Txn) lose(why string) {
	t.abort()
	t.lost = sqlerr.ServerLost.New("the transaction was lost and has been rolled back, because " + why + ": ROLLBACK before the next statement")
}

// Rollback is the client's ROLLBACK, or the end of a client or a transaction that a server has ended itself. It cannot
// fail: what is not committed goes with its connection. It returns the number of warnings.
func (t *Txn) Rollback() (warnings uint16) {
	warnings = t.abort()
	t.id, t.lost = "", nil
	return warnings
}

// abort rolls all branches back, prepared ones too, at once. What cannot be reached rolls itself back when its server
// sees the connection gone, or is found by a Recoverer if it is prepared; so does what says nothing for as long as the Coordinator's Patience.
func (t *Txn) abort() (warnings uint16) {
	t.unwatch()
	var usable []*branch
	for _, b := range t.branches {
		if b.conn.Usable() {
			b.limit(t.Coordinator.Patience())
			usable = append(usable, b)
		} else {
			t.free(b, errNotUsable)
		}
	}
	for i, err := range ask(usable, (*branch).rollback) {
		warnings += usable[i].warnings
		t.free(usable[i], err)
	}
	t.forget()
	return warnings
}

var errNotUsable = errors.New("the connection is not usable")

// forget makes t one without branches.
func (t *Txn) forget() {
	t.unwatch()
	t.branches, t.statement, t.savepoints = nil, nil, nil
}

// rollback is the statements that undo a branch.
func (b *branch) rollback() []string {
	switch {
	case b.xid == "":
		return b.patient("ROLLBACK")
	case b.prepared:
		return b.patient("XA ROLLBACK " + b.xid)
	}
	return b.patient("XA END "+b.xid, "XA ROLLBACK "+b.xid)
}

// commit is the statements that commit a branch: the second phase if it is prepared, else all of it.
func (b *branch) commit() []string {
	switch {
	case b.xid == "":
		return b.patient("COMMIT")
	case b.prepared && isMariaDB(b.conn.Conn): // a server that is read-only refuses it
		return b.patient("XA COMMIT " + b.xid)
	case b.prepared:
		return b.patient("XA COMMIT "+b.xid, asksReadOnly)
	}
	return b.patient("XA END "+b.xid, "XA COMMIT "+b.xid+" ONE PHASE") // the second is refused if the first is
}

// patient returns the statements, and those that give the connection its lock waits back.
func (b *branch) patient(statements ...string) []string {
	var assigned []string
	if b.shortRowWait {
		assigned = append(assigned, b.restoring(lockWait))
	}
	if b.shortTableWait {
		assigned = append(assigned, b.restoring(tableWait))
	}
	return append(statements, set(assigned)...)
}

// restoring is the assignment that gives a variable the session's value.
func (b *branch) restoring(name string) string {
	value, ok := b.conn.State().Get(name)
	if !ok {
		value = "DEFAULT"
	}
	return name + " = " + value
}

// free gives a branch's connection back after the branch has ended; err is how that went.
func (t *Txn) free(b *branch, err error) {
	if err == nil && b.limited {
		err = b.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = b.conn.Close() // whatever is left of the branch on it ends with the connection
	}
	t.pool.Put(b.conn)
}

// Lost turns a failure of a connection into what the client is told. Errors the server itself sent stay as they are.
func Lost(c *backend.Conn, err error) error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return e
	}
	return sqlerr.ServerLost.New(fmt.Sprintf("node group %d: %v", c.Group, err))
}
