// Package plan is physical plans as plain immutable data. A Plan is built by the planner, kept in the plan cache,
// run by exec and printed by String, which is EXPLAIN, log line and golden-test output at once. It plans nothing
// and runs nothing.
//
// A plan is built for the shape of a statement (its fingerprint), not for its values: what differs between two
// executions is an argument, named by its number.
package plan

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// Plan is how one statement shape is run.
type Plan struct {
	Kind Kind
	// Root is the tree of work. Nil for statements the session answers itself (Kind says which).
	Root Node
	// Guards are the arguments whose text the planner looked at: the plan holds only while they read the same.
	Guards []Guard
	// Access is what the account must be allowed to, database by database.
	Access []Access
	// Rules are the names of the planner's rules that fired, in order.
	Rules []string
	// Columns of the result when the proxy composes it itself and no backend sends them. Usually nil.
	Columns []sqltypes.Column
	// Uses says what session state the statement depends on or changes.
	Uses Uses
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
	Savepoint // SAVEPOINT, ROLLBACK TO, RELEASE
	Lock      // LOCK TABLES, UNLOCK TABLES
	Kill
	Explain
	Other // relayed to one group as it is
)

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
	Nondeterministic                    // NOW, RAND, UUID, ...: must be evaluated once
)

// Guard ties a plan to the text of one argument.
type Guard struct {
	Arg  int
	Text string // as written in the statement
}

// Access is one privilege a statement needs.
type Access struct {
	Database  string
	Privilege catalog.Privilege
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
)

// Target finds the node groups of a fragment from arguments and a partition map.
type Target struct {
	Kind  TargetKind
	Group placement.NodeGroupID // OneGroup
	Table *catalog.Table        // ByKey: whose distribution key
	// Key has one operand for each distribution column, in order. A list operand means each of its values;
	// a value that cannot be compared by hash (see placement.Key) makes the target AllGroups, which is always right
	// because the fragment's own predicates still hold.
	Key []Operand
}

// Text is the SQL of a fragment where it is not the client's own: pieces to be joined with arguments.
type Text []Piece

// Piece is literal SQL followed by an argument's text.
type Piece struct {
	SQL string
	// Arg is the argument that follows SQL, or NoArg.
	Arg int
	// Part: Arg is the IN list of the target's key, and only the values that belong to the group are written.
	Part bool
}

// NoArg is the Arg of a Piece that ends without one.
const NoArg = -1

// Node is a step of a plan: Fragment, Merge, Aggregate, Distinct, Limit, Project, InsertRows.
type Node interface {
	node()
}

// Fragment is a piece of a statement that one node group can answer alone.
type Fragment struct {
	ID     int
	Target Target
	// Text is nil when the client's own bytes are sent.
	Text  Text
	Write bool
	// Tables the fragment touches, for metrics and locks.
	Tables []*catalog.Table
}

// Order is one key of a sort order over result columns.
type Order struct {
	Column int
	Desc   bool
	// Collation compares strings; empty for numbers and times. "binary" for weight strings and byte strings.
	Collation string
	// Weight is the hidden result column holding WEIGHT_STRING of Column, or -1.
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
	// Avg divides the Sum of Column by the Count of Column+1; the fragment sends both.
	Avg
)

// AggregateColumn is one output column of Aggregate, computed from input Column.
type AggregateColumn struct {
	Func   AggregateFunc
	Column int
	// Collation for Min and Max of strings, as in Order.
	Collation string
	Weight    int
}

// Aggregate combines rows that agree in GroupBy (input columns, by which the input is sorted) into one. Without
// GroupBy there is exactly one row, even of no input.
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
}

// Project keeps the first Keep columns: it drops the hidden ones the fragments added.
type Project struct {
	Input Node
	Keep  int
}

// InsertRows is INSERT or REPLACE with a VALUES list: rows go to the groups of their keys, each as written by the
// client, joined with the statement's own beginning and end.
type InsertRows struct {
	Table *catalog.Table
	// Key has, for each distribution column, where its value comes from.
	Key []InsertValue
	// AutoIncrement is where the AUTO_INCREMENT (or hidden key) value goes; Sequence false when there is none.
	Sequence      bool
	AutoIncrement InsertValue
	// AddColumn, not empty, is a column the proxy adds to the column list, its values coming from the sequence.
	AddColumn string
	// HiddenKey: the hidden key is added the same way.
	AddHiddenKey bool
	// NoColumnList: the statement names no columns, the planner's list is written out: the text of "(a, b, c)".
	ColumnList string
	// Columns is the number of values in a row as written.
	Columns int
}

// InsertValue finds a column's value in a row of VALUES.
type InsertValue struct {
	// Column is the position in the row as written, or -1 when it is not written.
	Column int
	// Const is the column's default, used when Column is -1 and Sequence is false.
	Const sqltypes.Value
	// Sequence: the value is taken from the cluster's sequence when not written, or written as NULL, 0 or DEFAULT.
	Sequence bool
}

func (*Fragment) node()   {}
func (*Merge) node()      {}
func (*Aggregate) node()  {}
func (*Distinct) node()   {}
func (*Limit) node()      {}
func (*Project) node()    {}
func (*InsertRows) node() {}
