// Package plan is physical plans as plain immutable data. A Plan is built by the planner, kept in the plan cache,
// run by exec and printed by String, which is EXPLAIN, log line and golden-test output at once. It plans nothing
// and runs nothing.
//
// A plan is built for the shape of a statement (its fingerprint), not for its values: what differs between two
// executions is an argument, named by its number (as sqlparse.Statement numbers them, from 0).
package plan

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Plan is how one statement shape is run.
//
// An executor looks at Relay first: when its target resolves to one group, the statement goes there and the
// answer comes back unread, whatever Root says. Else Root is run. Both nil: the session answers (Kind, Topic, Change,
// Name, Txn say what), or, if Refuse is set, refuses.
type Plan struct {
	Kind Kind
	// Relay is the fragment that is the whole statement, the client's own bytes. Nil when no single group can ever
	// answer it alone (an INSERT of VALUES, see InsertRows; every AllGroups target).
	Relay *Fragment
	// Alone is how a SELECT with a Root runs while one node group owns every partition: as Relay, to that group. Its own
	// Alone and Root are nil.
	Alone *Plan
	// Root is the tree of work for more than one group. Nil when there is none; then Refuse says why.
	Root Node
	// Refuse is returned when Relay's target resolves to more than one group and Root is nil.
	Refuse *sqlerr.Error
	// Judge: what is refused may also be wrong, and a server knows better how (syntax, unknown columns): before Refuse is
	// returned, any server is asked to prepare the text (COM_STMT_PREPARE, closed at once), and if it has an error to
	// tell, that is the answer. Relay and Root are nil.
	Judge bool
	// JudgeAccess is what the account must be allowed to for that: the server would tell of what is there.
	JudgeAccess []Access
	// Unseen: what Root sends to servers may not have all of the text, or bring them to all of it. Before Root is run any server is asked to
	// prepare the text, and what it finds wrong is the answer.
	Unseen bool
	// Through: the statement writes through a view. It is to be written anew (planner.ThroughView) and planned again. Relay
	// and Root are nil.
	Through bool
	// Guards are the arguments whose text the planner looked at: the plan holds only while they read the same.
	Guards []Guard
	// Access is what the account must be allowed to.
	Access []Access
	// Rules are the names of the planner's rules that fired, in order.
	Rules []string
	// Columns of the result when the proxy composes it itself and no backend sends them. Usually nil.
	Columns []sqltypes.Column
	// Uses says what session state the statement depends on or changes.
	Uses Uses
	// Skips is how many rows the OFFSET of a SELECT leaves out, which FOUND_ROWS() counts, too. Nil: none.
	Skips *Operand
	// FindsAll: FOUND_ROWS() is all rows of the SELECT, though its LIMIT passes on some.
	FindsAll bool
	// Finds: a server counts for FOUND_ROWS() what the statement, which sends no rows, reads: by its own plan.
	Finds bool

	// Topic refines Kind, but for a DDL, whose Change does.
	Topic  Topic
	Change Change
	// Name is the database of Use, the savepoint of Savepoint, the statement of Prepared, the table or database a Show or DDL is about
	// (with Database, if it is a table).
	Name     string
	Database string
	// Operand is the thread id of Kill.
	Operand Operand
	// Txn refines Begin, Commit, Rollback and Savepoint; nil for every other kind.
	Txn *Txn
	// Inner is what Explain explains.
	Inner *Plan
	// Tables are what a DDL or Lock names, as far as they exist.
	Tables []*catalog.Table
	// Basis is what the plan was made by.
	Basis *catalog.Basis
}

// Kind is the kind of a statement: the label of metrics and the switch of the session.
type Kind uint8

// The kinds of statements.
const (
	Select Kind = iota + 1
	Insert
	Replace
	Update
	Delete
	DDL       // handed to the controller
	Show      // answered by a backend, the catalog or both
	Set       // session state
	Use       // default database
	Begin     // transaction control: Begin, Commit, Rollback, Savepoint...
	Commit    //
	Rollback  //
	Savepoint // SAVEPOINT, ROLLBACK TO, RELEASE: see Txn
	Lock      // LOCK TABLES
	Unlock    // UNLOCK TABLES
	Kill
	Explain
	Prepared // PREPARE, EXECUTE, EXECUTE IMMEDIATE, DEALLOCATE PREPARE as text: see Topic
	Call     // of a procedure, which the session runs: see Name and Database
	Compound // BEGIN NOT ATOMIC, which the session runs as it does a procedure
	Do       // DO, SIGNAL, RESIGNAL: no result and no rows
	// GetDiagnostics is GET DIAGNOSTICS, which the session answers.
	GetDiagnostics
	Flush
	TableAdmin // ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE: see Tables
	Account    // CREATE USER, GRANT and their like, which the session runs
	Other      // not planned, and refused
)

// Txn is what transaction control says beside its first word.
type Txn struct {
	ReadOnly, ReadWrite, Snapshot bool // START TRANSACTION READ ONLY, READ WRITE, WITH CONSISTENT SNAPSHOT
	Chain, NoChain                bool // COMMIT AND [NO] CHAIN
	Release, NoRelease            bool // COMMIT [NO] RELEASE; with Savepoint: RELEASE SAVEPOINT
	RollbackTo                    bool // Savepoint: ROLLBACK TO
}

// Uses is a set of bits about session state.
type Uses uint16

// What a statement may use or change.
const (
	ReadsUserVariable  Uses = 1 << iota // @x
	WritesUserVariable                  // @x := , SELECT ... INTO @x
	ReadsLastInsertID                   // LAST_INSERT_ID(), @@identity
	ReadsDiagnostics                    // SHOW WARNINGS, FOUND_ROWS(), ROW_COUNT(), @@warning_count
	LocksRows                           // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE
	CalcFoundRows                       // SQL_CALC_FOUND_ROWS
	SetsLastInsertID                    // LAST_INSERT_ID(expr)
	Nondeterministic                    // RAND, UUID, ...: one evaluation is not like another
	// ReadsClock: NOW() and its like, or a column default or ON UPDATE that reads the clock. When more than one
	// group takes part, all of them must be given one time (SET timestamp = ... before, DEFAULT after).
	ReadsClock
	// PinsSession: GET_LOCK, LOCK TABLES and what else lives in one backend connection.
	PinsSession
	Matches // MATCH ... AGAINST
	// MovesMatched: rows of a table with FULLTEXT keys may move to other node groups, where MATCH finds them once they are committed.
	MovesMatched
)

// Guard ties a plan to the text of one argument, or of the select list.
type Guard struct {
	Arg  int    // or ArgSelectList
	Text string // as written in the statement
}

// Access is what a statement needs on a table, on a database as a whole (Table is ""), or everywhere ("*"), or to call a routine; no Privilege: any.
type Access struct {
	Database, Table, Routine string
	Function                 bool // Routine is one, else a procedure
	Privilege                catalog.Privilege
	// As is the account that needs it: the definer of the view or function that reads there. "": the session's.
	As catalog.AccountName
	// View, not nil: it is needed behind this view of the statement, which is what clients are told of if it is lacking.
	View *catalog.Table
	// Tells: the account is to be told how View is made (EXPLAIN).
	Tells bool
}

// Over reports whether a and b are about the same for the same account.
func (a Access) Over(b Access) bool {
	a.Privilege = b.Privilege
	return a == b
}

// Operand is a value known when the plan runs: argument Arg of the statement, or Const when Arg is negative.
// An argument may be a list (IN (?, ?, ?)): then it stands for any of its values.
type Operand struct {
	Arg   int
	Const sqltypes.Value
}

// TargetKind says how the node groups of a fragment are found.
type TargetKind uint8

// The kinds of targets.
const (
	// AnyGroup is one group, no matter which: no tables, or reference tables only.
	AnyGroup TargetKind = iota + 1
	// OneGroup is Target.Group: single tables.
	OneGroup
	// ByKey is the groups that own the partitions of Target.Key's values.
	ByKey
	// AllGroups is every group.
	AllGroups
	// ByIndex is the group of the row that the entry of Target.Index with Target.Key's values is for; where there is no entry
	// there is no row.
	ByIndex
)

// Target finds the node groups of a fragment from arguments and a partition map.
type Target struct {
	Kind  TargetKind
	Group placement.NodeGroupID // OneGroup
	Table *catalog.Table        // ByKey: whose distribution key
	Index *catalog.GlobalIndex  // ByIndex
	// Key has one operand for each distribution column, in order. A list operand means each of its values;
	// a value that cannot be compared by hash (see placement.Key) makes the target AllGroups, which is always right
	// for Root because the fragment's own predicates still hold. When no value can match any row, one group is
	// asked, no matter which: it answers "no rows" as one server would.
	Key []Operand
	// Store: the values are written, not compared (INSERT ... SET): they convert as a column's do.
	Store bool
	// Also are further targets (of kinds OneGroup and ByKey) of Relay: it holds only when all of them and this one
	// resolve to one and the same group.
	Also []Target
}

// Text is the SQL of a fragment where it is not the client's own: pieces to be joined with arguments.
type Text []Piece

// Piece is literal SQL followed by an argument's text.
type Piece struct {
	SQL string
	// Arg is the argument that follows SQL, or NoArg. A list argument is written with its parentheses.
	Arg int
	// Part: Arg is an IN list of the target's key, and only the values that belong to the group need be written.
	Part bool
	// Plus, when not nil, is added to the argument, both being counts: offset + row count of a LIMIT. The sum
	// saturates at 2^64-1.
	Plus *Operand
}

// NoArg is the Arg of a Piece that ends without one, and of an Operand that is Const.
const NoArg = -1

// ArgSelectList is what the Arg of a Piece or a Guard may be beside a statement's arguments: the text of the outermost
// select list as the client wrote it (sqlparse's SelectList), its parameters filled in. Unaliased columns are named by
// their text, which the shape does not tell.
const ArgSelectList = -2

// ArgList is the first of the list arguments whose values are found while the statement runs; the others count down.
const ArgList = -3

// Node is a step of a plan: Fragment, Merge, Aggregate, Distinct, Limit, Project, Sort, InsertRows, ChangeRows, Workspace,
// Choice, Broadcast, RowByRow.
type Node interface {
	node()
}

// Fragment is a piece of a statement that one node group can answer alone. A Write fragment to several groups
// answers with the sum of their OK packets.
type Fragment struct {
	ID     int
	Target Target
	// Text is nil when the client's own bytes are sent.
	Text  Text
	Write bool
	// Same: every group does the same to its copy of a reference table, and the answer of one is the answer of all.
	Same bool
	// Brief: it reads at most one short row, by its primary key, and does nothing else: it may share a connection, and what it is sent with, with
	// others of its shape (a session's pack).
	Brief bool
	// Tables the fragment touches, for metrics and locks.
	Tables []*catalog.Table
	// Numbered, not nil, is a table into which rows are written that bring values of its AUTO_INCREMENT column; its sequence must learn of
	// them. Such a fragment is a plan's Root, never its Relay.
	Numbered *catalog.Table
}

// Order is one key of a sort order over result columns. NULL sorts first, last when Desc.
type Order struct {
	Column int
	Desc   bool
	// Collation compares strings; empty for numbers and times (which kind, the column's definition in the result
	// says). "binary" for weight strings and byte strings. Where it is named, the values arrive as utf8mb4.
	Collation string
	// Weight is the hidden result column holding the WEIGHT_STRING of Column, to be compared by bytes instead of it,
	// or -1.
	Weight int
}

// Merge joins the streams of a fragment's groups: sorted by Order, which every stream already is, or one stream
// after the other when Order is empty.
type Merge struct {
	Input Node
	Order []Order
}

// AggregateFunc is how partial results of groups combine.
type AggregateFunc uint8

// The aggregate functions.
const (
	First AggregateFunc = iota + 1 // grouping column, or any value of the group
	Sum
	Min
	Max
	// Count sums partial counts; never NULL.
	Count
	// Avg is column Sum divided by column Count, NULL when Count is 0. Column is the fragment's own AVG(x), which
	// gives the definition (name, type, decimals) and nothing else.
	Avg
)

// AggregateColumn is one output column of Aggregate. It has the definition of input Column and, but for Avg, is
// computed from it.
type AggregateColumn struct {
	Func   AggregateFunc
	Column int
	// Collation and Weight for Min and Max of strings, as in Order. The weight of the chosen value is kept with it
	// if it is an output column too.
	Collation string
	Weight    int
	// Sum and Count are the input columns of Avg. Sum is also, if not 0, the input column of partial sums for Sum that have more
	// digits than Column, whose decimals the result has.
	Sum, Count int
}

// Aggregate combines rows that agree in GroupBy (input columns, by which the input is sorted) into one. Without
// GroupBy there is exactly one row, even of no input. Columns stands for output columns 0, 1, ...: hidden input
// columns that nobody needs above are left out.
type Aggregate struct {
	Input   Node
	GroupBy []Order
	Columns []AggregateColumn
}

// Distinct drops rows equal to the one before in all of Columns; the input is sorted by them.
type Distinct struct {
	Input   Node
	Columns []Order
}

// Limit passes Count rows after Offset. A nil Offset is 0.
type Limit struct {
	Input  Node
	Offset *Operand
	Count  Operand
	// All: the rows of Input are all counted, for FOUND_ROWS(); else those are that are read.
	All bool
	// Skips: what Offset leaves out is read, and counted, even where Count is 0.
	Skips bool
}

// Sort is all rows of Input, sorted: as many as there are, on disk where they are more than memory should hold.
type Sort struct {
	Input Node
	Order []Order
}

// Project keeps the first Keep columns: it drops the hidden ones the fragments added.
type Project struct {
	Input Node
	Keep  int
}

// InsertRows is INSERT or REPLACE with a VALUES list (or SET, see Row): rows go to the groups of their keys, each as
// written by the client, joined with Before and After. When all rows go to one group and no value of the sequence is
// put in, the client's bytes are sent as they are.
type InsertRows struct {
	Table *catalog.Table
	// Key has, for each distribution column, where its value comes from (to be hashed in placement's Store mode).
	// Empty: a reference table, all rows go to every group (Same), or a single table, all go to Table.Group.
	Key []InsertValue
	// Same: see Fragment.
	Same bool
	// Sequence: the table's AUTO_INCREMENT (or hidden key) column gets its value from the cluster's sequence. It is
	// the value at position AutoIncrement of a row where that reads NULL, DEFAULT or (unless ZeroIsValue) 0; when
	// AutoIncrement is -1, it is added as the last value of every row and Before's column list already names it.
	Sequence      bool
	AutoIncrement int
	// ZeroIsValue: sql_mode has NO_AUTO_VALUE_ON_ZERO.
	ZeroIsValue bool
	// Ignore: it is INSERT IGNORE. Update: it has ON DUPLICATE KEY UPDATE, which, with Renumbers, may give the AUTO_INCREMENT column of a
	// row another value. Returning: it has RETURNING.
	Ignore, Update, Renumbers, Returning bool
	// HiddenKey: the sequence's column is the hidden key: LAST_INSERT_ID() and the OK packet do not show it.
	HiddenKey bool
	// Columns is the number of values in a row as written: another number is error 1136 with the row's number.
	Columns int
	// Before and After are the statement's text around the rows: "INSERT INTO t (a, b) VALUES " and
	// " ON DUPLICATE KEY UPDATE ..." or nil.
	Before, After Text
	// Row, not nil for INSERT ... SET, is the one row's values, to be used instead of the statement's rows. A value
	// that is one Piece without SQL is its argument.
	Row []Text
	// Several is the reason why rows may not go to more than one group, or nil: then they may.
	Several *sqlerr.Error
	// Indexed, not nil: the table has global indexes.
	Indexed *Indexed
	// NotNull are the positions in a row as written of columns, other than the sequence's, that hold no NULL.
	NotNull []int
	// Reads: values of a row may come from tables.
	Reads bool
	// Given are values that ON DUPLICATE KEY UPDATE assigns to columns of the distribution key. Every row must bring just these, so that the key of the row
	// that is met becomes the row's own; else the statement is refused with Otherwise.
	Given     []GivenValue
	Otherwise *sqlerr.Error
	// Else is how the statement runs when the text alone does not tell where a row belongs; nil if there is no other way.
	Else *Workspace
}

// GivenValue is a value that rows bring at position Column.
type GivenValue struct {
	Column int
	Value  Operand
}

// InsertValue finds a column's value in a row of VALUES.
type InsertValue struct {
	// Column is the position in the row as written, or -1 when it is not written.
	Column int
	// Const is the column's default, used when Column is -1 or the value reads DEFAULT. NoDefault: the default is an
	// expression, so that DEFAULT in a row is refused (1235).
	Const     sqltypes.Value
	NoDefault bool
	// Sequence: this is the column that InsertRows.Sequence speaks of.
	Sequence bool
}

// Copies reports that every node group does the same to its copy of a table.
func Copies(root Node) bool {
	switch n := root.(type) {
	case *InsertRows:
		return n.Same
	case *Fragment:
		return n.Same
	}
	return false
}

func (*Fragment) node()   {}
func (*Merge) node()      {}
func (*Aggregate) node()  {}
func (*Distinct) node()   {}
func (*Limit) node()      {}
func (*Project) node()    {}
func (*Sort) node()       {}
func (*InsertRows) node() {}
