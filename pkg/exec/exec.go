// Package exec runs plans: it finds the node groups of a plan's fragments, sends every group its part, and gives
// back rows or counts as one server would. It knows plans, placement and the protocol's rows; it does not know where
// connections come from, what a transaction is, or how a client is answered: those are the Conns and the Sink it is
// given.
//
// One goroutine does it all; the rows of a Reading may be read by another one (see reading.go). What several groups have
// to do is written to all of them before the first answer is read, in ascending order of their ids; answers are then
// read as the merge needs them.
package exec

import (
	"errors"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Conn is a connection to one node group, for the time of one statement. *backend.Conn is one.
type Conn interface {
	// Prepared returns the id of sql as a prepared statement of the connection, which keeps it, and notes that it is going to be
	// executed with parameters of types, by a revision of the schema (see backend.Conn.Statement). No answer may be outstanding. The server's refusal is an *sqlerr.Error and leaves
	// the connection usable.
	Prepared(sql []byte, types []wire.ParamType, revision int64) (id uint32, err error)
	// Send writes one command. Several may be outstanding; they are answered in order.
	Send(cmd wire.Command, body []byte) error
	// Ask is Send that may wait until the answer begins to arrive.
	Ask(cmd wire.Command, body []byte) error
	// ReadHead reads the beginning of the next answer. The server's refusal is an *sqlerr.Error and leaves the
	// connection usable.
	ReadHead() (mysqlconn.Head, error)
	// ReadRow returns the next row's payload, valid until the next call, or io.EOF.
	ReadRow() ([]byte, error)
	// MoreResults reports whether another result of the same command follows the one read to its end.
	MoreResults() bool
	// EndStatus is what the end of the last answer said: status and warnings.
	EndStatus() wire.OK
	// Broken reports whether the connection is of no more use: lost, or interrupted.
	Broken() bool
	// Usable reports whether a command may be sent whose answer is read next: it is not broken, and all answers are read.
	Usable() bool
	// Interrupt makes the I/O of the connection fail, now and later. Any goroutine may call it.
	Interrupt()
}

// ErrUnread is given to Conns.Release with a connection whose answer has not been read to its end: what is left must
// be read, or the connection closed.
var ErrUnread = errors.New("exec: answer not read to its end")

// Conns is where a Runner gets connections: the pool, or the transaction when there is one. It is used by one
// goroutine.
type Conns interface {
	// Admit is called before the connections to several groups are acquired. After an error none is.
	Admit(groups []placement.NodeGroupID) error
	// Acquire returns the connection to g, for this statement alone until Release. write says that the statement
	// changes rows or locks them. A statement acquires the connections to several groups in ascending order.
	Acquire(g placement.NodeGroupID, write bool) (Conn, error)
	// Release ends the use of c. err is nil when c is ready for the next command, ErrUnread, or the error that made
	// it unusable.
	Release(c Conn, err error)
	// Keep takes over the warnings of what c has run last: something else is run on it before Release.
	Keep(c Conn)
	// Enter is called before the connections of a statement are acquired that uses partitions, and perhaps again for a
	// further part of it. After an error nothing may be sent; the statement ends with it.
	Enter(t *Touched, write bool) error
	// BeginStatement is called before the connections of a statement are acquired that writes to all of groups,
	// more than one, or to groups that are not known yet (none; see JoinStatement): from here to EndStatement its work
	// stands or falls as a whole.
	BeginStatement(groups []placement.NodeGroupID) error
	// JoinStatement lets g, which need not be among BeginStatement's groups, take part in the statement that is running.
	// write says that the statement changes rows there; a group may join to read and later again to write. No answer may be
	// outstanding on the statement's connections.
	JoinStatement(g placement.NodeGroupID, write bool) error
	// EndStatement ends what BeginStatement began: the statement's work is kept when err is nil and undone else. It
	// returns what the client is told: err, or what prevented the work from being kept. All connections have been
	// released before.
	EndStatement(err error) error
	// Written are the groups on which the session's transaction may have written rows that it sees beside its snapshot; none if
	// it reads all as it is.
	Written() []placement.NodeGroupID
	// Transaction reports whether the session is in a transaction, and whether that may have written rows of which every group has a copy.
	Transaction() (open, copies bool)
	// Evaluate runs a SELECT that names no table, on whichever group, with the session's state but outside of its
	// transaction, and returns what it answers, strings of characters in UTF-8. clock, if not nil, is a statement to run before it, which sets the
	// connection's time; behind it the time goes on.
	Evaluate(sql, clock []byte) (Evaluated, error)
}

// Evaluated is the answer to a SELECT of expressions. It is the caller's.
type Evaluated struct {
	Columns []sqltypes.Column
	Row     [][]byte // nil is NULL
	// Warnings is how many the server counted, and Warned those it has kept, in their order.
	Warnings uint16
	Warned   []diagnostics.Condition
}

// Sequence gives out the cluster's AUTO_INCREMENT values.
type Sequence interface {
	// Next returns the first of n consecutive values.
	Next(table *catalog.Table, n int) (first uint64, err error)
	// Observe is told a value that a client wrote itself: values given out later are greater.
	Observe(table *catalog.Table, v uint64) error
}

// Sink takes a result with rows. An error of the Sink (the client is gone) ends the statement and is returned as it is.
type Sink interface {
	// Columns is called once, before the first row. The slice is not used again by the Runner.
	Columns(cols []sqltypes.Column) error
	// Row takes a text-protocol row's payload, which is valid until it returns.
	Row(payload []byte) error
}

// Summary is what a statement did.
type Summary struct {
	// HasRows: the Sink got a result. Else the client is to be sent an OK packet with the fields below.
	HasRows bool
	// Rows is the number of rows the Sink got.
	Rows uint64
	// Counted: the plan has counted rows that its LIMIT leaves out, and Found is how many there are.
	Counted bool
	Found   uint64
	// AffectedRows, LastInsertID, Warnings and Info are those of the OK packet.
	AffectedRows uint64
	LastInsertID uint64
	Warnings     uint16
	// Info is valid until the Runner runs again.
	Info []byte
	// Generated: LastInsertID was given out by the cluster's sequence (or LAST_INSERT_ID(expr) was called), so it is
	// also the session's LAST_INSERT_ID() from now on. When false, LAST_INSERT_ID() does not change.
	Generated bool
	// Groups is the number of node groups that took part.
	Groups int
}
