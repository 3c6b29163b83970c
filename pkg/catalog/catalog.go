// Package catalog is the logical schema of the cluster as an immutable Snapshot: databases, tables, their
// distribution, accounts, node groups and the partition map. It knows neither etcd nor SQL text: topology builds
// snapshots from what is stored, control writes what is stored, the planner and sessions read snapshots.
//
// Nothing reachable from a Snapshot changes once it is published; a statement loads one snapshot and uses it to
// its end.
package catalog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// Snapshot is everything a statement needs to know of the cluster at one moment.
type Snapshot struct {
	// Revision orders snapshots; it is the etcd revision the snapshot was read at.
	Revision int64
	// SchemaRevision is the Revision of the first snapshot with these Databases and Routines: plans made for one snapshot
	// hold for another with the same SchemaRevision.
	SchemaRevision int64
	// ClusterID names the cluster for its whole life; empty before it was initialised.
	ClusterID string
	Map       *placement.PartitionMap
	// MapRevision is the etcd revision of Map's last change.
	MapRevision int64
	Groups      []*NodeGroup // sorted by ID
	Databases   map[string]*Database
	Routines    map[RoutineKey]*Routine // stored functions and procedures
	Events      map[EventKey]*Event
	// EventsOff: no event runs, whatever its status (event_scheduler = OFF).
	EventsOff bool
	Accounts  Accounts
	Hosted    Hosted // of Accounts, made when they change
	// Flavor is the kind of all backends; a cluster does not mix kinds.
	Flavor Flavor
	// ServerVersion is what clients are told in the handshake, taken from the backends.
	ServerVersion string
	// LowerCaseTableNames is the backends' setting of that name (0, 1 or 2), equal on all of them.
	LowerCaseTableNames int
}

// Flavor is the kind of a database server.
type Flavor string

// The kinds of servers Skarv knows.
const (
	MariaDB Flavor = "mariadb"
	MySQL   Flavor = "mysql"
)

// NodeGroup is one primary and its replicas holding the same partitions.
type NodeGroup struct {
	ID       placement.NodeGroupID `json:"id"`
	Name     string                `json:"name"`
	Primary  Node                  `json:"primary"`
	Replicas []Node                `json:"replicas,omitempty"`
	Term     uint64                `json:"term"`
	// Mark is what its servers have in _skarv.node_group, by which they are told from others, and from what they were before partitions were moved to
	// them or from them (see pkg/fence); "" for a group that was made without.
	Mark string `json:"mark,omitempty"`
	// Switchover stands while another server is made the primary; nil: none is.
	Switchover *Switchover `json:"switchover,omitempty"`
	// AutomaticFailover: when the primary is lost, and nothing that it has acknowledged would be, a replica takes its place without being told to.
	AutomaticFailover bool `json:"automatic_failover,omitempty"`
	// FailedOver is when one last did.
	FailedOver time.Time `json:"failed_over,omitzero"`
	// Replaced were its primaries, were given up for lost, and are no replicas again.
	Replaced []Node `json:"replaced,omitempty"`
}

// Switchover is the change of a node group's primary. While it stands no process hands out connections to the group.
type Switchover struct {
	ID string `json:"id"`
	To string `json:"to"` // the address of the primary to be
	// Lost: the present primary is gone for good, and nobody waits for what it was sent last.
	Lost bool `json:"lost,omitempty"`
	// Drain is how long work that has begun there may go on.
	Drain time.Duration `json:"drain"`
	// Patience is for how long it may stand: any process takes it back then.
	Patience time.Duration `json:"patience"`
}

// Origin is what of the mark stays, whatever is moved.
func (g *NodeGroup) Origin() string {
	origin, _, _ := strings.Cut(g.Mark, "/")
	return origin
}

// Label is what messages call the group: its name, or its id.
func (g *NodeGroup) Label() string {
	if g.Name != "" {
		return g.Name
	}
	return strconv.Itoa(int(g.ID))
}

// Node is one database server.
type Node struct {
	Addr     string `json:"addr"`                // HOST:PORT or unix:/path, MySQL protocol
	DataNode string `json:"data_node,omitempty"` // gRPC address of its data node, if it has one
	User     string `json:"user"`                // account Skarv logs in with
	Password string `json:"password,omitempty"`
	TLS      string `json:"tls,omitempty"` // "", "preferred", "required", "verify"
	Version  string `json:"version"`       // as the server reports it
	Flavor   Flavor `json:"flavor"`
}

// Database is one schema, present on every node group.
type Database struct {
	Name      string `json:"name"`
	Charset   string `json:"charset"`
	Collation string `json:"collation"`
	// Single: tables created here live on one node group unless they say otherwise.
	Single bool              `json:"single,omitempty"`
	Tables map[string]*Table `json:"-"`
}

// TableKind says how a table's rows are placed.
type TableKind string

// The kinds of tables.
const (
	Sharded   TableKind = "sharded"   // rows spread by Distribution
	Reference TableKind = "reference" // a full copy on every node group
	Single    TableKind = "single"    // all rows on Group
	View      TableKind = "view"
)

// HiddenKey is the column that a sharded table without a primary key gets. Clients never see it.
const HiddenKey = "my_row_id"

// Table is one table as it is on every node group.
type Table struct {
	Database     string                `json:"database"`
	Name         string                `json:"name"`
	Kind         TableKind             `json:"kind"`
	Group        placement.NodeGroupID `json:"group,omitempty"` // Single only
	Columns      []Column              `json:"columns"`         // in ordinal order, the hidden key included
	Distribution []int                 `json:"distribution,omitempty"`
	Primary      []int                 `json:"primary,omitempty"`
	Lengths      []int                 `json:"lengths,omitempty"` // of Primary, as of an Index
	Unique       []Index               `json:"unique,omitempty"`  // unique keys other than the primary
	Indexes      []Index               `json:"indexes,omitempty"`
	ForeignKeys  []ForeignKey          `json:"foreign_keys,omitempty"`
	// AutoIncrement is the column filled from the cluster's sequence, or -1. ID names that sequence.
	AutoIncrement int    `json:"auto_increment"`
	ID            uint64 `json:"id"`
	// HiddenKey: the primary key is the invisible column HiddenKey, and the distribution key may be it.
	HiddenKey bool `json:"hidden_key,omitempty"`
	// Checks: the table has CHECK constraints.
	Checks bool `json:"checks,omitempty"`
	// Partitioned: servers keep its rows in partitions of their own.
	Partitioned bool `json:"partitioned,omitempty"`
	// Charset and Collation are those of columns that name none; of a view, of its string literals: "" where these have others, too, which
	// ViewText does not tell.
	Charset   string `json:"charset,omitempty"`
	Collation string `json:"collation,omitempty"`
	// Triggers in the order in which those of one time and event fire.
	Triggers []Trigger `json:"triggers,omitempty"`
	// ViewText is the SELECT of a view, with all names qualified.
	ViewText string `json:"view_text,omitempty"`
	// Updatable: servers write through the view. CheckOption is LOCAL, CASCADED or empty.
	Updatable   bool   `json:"updatable,omitempty"`
	CheckOption string `json:"check_option,omitempty"`
	// Apart: the view says ALGORITHM=TEMPTABLE. Servers compute all its rows, and then what a statement asks of them.
	Apart    bool `json:"apart,omitempty"`
	Security      // of a view

	// Temporary is what stands behind the name in the CREATE TEMPORARY TABLE of a session's temporary table; "" for all
	// others.
	Temporary string `json:"-"`
	// Building are unique keys that are being added and kept by global indexes: no part of Unique yet.
	Building []Index `json:"building,omitempty"`
	// Closed: the table's definition is being changed in a way that statements planned by this one must not meet. No statement
	// may read or write it meanwhile.
	Closed bool `json:"closed,omitempty"`

	// Key is the distribution key ready for hashing; set by Prepare, nil for tables that are not sharded.
	Key placement.Key `json:"-"`
	// Global are the global indexes of Unique and Building; set by Prepare.
	Global []*GlobalIndex `json:"-"`
	// hidden are the expressions of keys that Global keeps; set by Prepare.
	hidden []KeyExpression
}

// Column is one column of a table.
type Column struct {
	Name       string        `json:"name"`
	DataType   string        `json:"data_type"`   // information_schema.columns.data_type: "bigint", "varchar"
	ColumnType string        `json:"column_type"` // the whole type: "bigint(20) unsigned", "enum('a','b')"
	Type       sqltypes.Type `json:"type"`
	Unsigned   bool          `json:"unsigned,omitempty"`
	Nullable   bool          `json:"nullable,omitempty"`
	Length     int64         `json:"length,omitempty"` // characters of strings, bytes of binaries
	Precision  int           `json:"precision,omitempty"`
	Scale      int           `json:"scale,omitempty"` // decimals, or fractional seconds
	Charset    string        `json:"charset,omitempty"`
	Collation  string        `json:"collation,omitempty"`
	HasDefault bool          `json:"has_default,omitempty"`
	Default    string        `json:"default,omitempty"` // expression text as the server shows it
	// NullDefault: the default is NULL because none is given. MySQL shows nothing for it, as it does for an empty string.
	NullDefault bool `json:"null_default,omitempty"`
	// ComputedDefault: Default is an expression. MariaDB quotes other defaults, MySQL says it beside them.
	ComputedDefault bool `json:"computed_default,omitempty"`
	Generated       bool `json:"generated,omitempty"`
	Invisible       bool `json:"invisible,omitempty"`
	OnUpdate        bool `json:"on_update,omitempty"`
	// Expression, not "", is that of a part of a key: a server has a column for it that has no name. See sqlparse.Parser.KeyExpression.
	Expression string `json:"expression,omitempty"`
}

// SetByServer reports whether servers may give the column another value in a row that changes, though no assignment names it.
func (c *Column) SetByServer() bool { return c.OnUpdate || c.Generated }

// Numbered is the column that the cluster's sequence fills, or -1: the hidden key, or that of AUTO_INCREMENT, of which a table on one node group has the
// numbers from its server.
func (t *Table) Numbered() int {
	switch {
	case t.Kind == Single:
		return -1
	case t.HiddenKey:
		return t.Primary[0]
	}
	return t.AutoIncrement
}

// HasFulltext reports whether the table has FULLTEXT keys.
func (t *Table) HasFulltext() bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.Fulltext })
}

// AsksSequence names a column whose DEFAULT is a value of a sequence; "": there is none.
func (t *Table) AsksSequence() string {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.HasDefault && asksSequence(c.Default) {
			return c.Name
		}
	}
	return ""
}

// asksSequence reports whether an expression, as a server shows it, calls NEXTVAL(), LASTVAL() or SETVAL(): outside of strings and quoted names.
func asksSequence(expr string) bool {
	var bare []byte
	for i, quote := 0, byte(0); i < len(expr); i++ {
		switch c := expr[i]; {
		case quote == 0 && (c == '\'' || c == '"' || c == '`'):
			quote = c
		case quote == 0:
			bare = append(bare, c)
		case c == quote:
			quote = 0
		case c == '\\' && quote != '`':
			i++
		}
	}
	text := strings.ToLower(string(bare))
	return strings.Contains(text, "nextval(") || strings.Contains(text, "lastval(") || strings.Contains(text, "setval(")
}

// Index is a key of a table; Columns are positions in Table.Columns.
type Index struct {
	Name    string `json:"name"`
	Columns []int  `json:"columns"`
	Unique  bool   `json:"unique,omitempty"`
	// Partial: the key indexes only the beginning of a column, or an expression that is not in Columns.
	Partial bool `json:"partial,omitempty"`
	// Lengths, of a key over the beginning of columns, are how much it holds of each of Columns, in characters, or bytes of binary strings; 0 for
	// all of it. Nil of a key over an expression, too, unless Expressions are known.
	Lengths []int `json:"lengths,omitempty"`
	// Expressions are, of a unique key over some that can be read in every session, all of them, in the order of the key.
	Expressions []KeyExpression `json:"expressions,omitempty"`
	// Fulltext: the key is for MATCH. Temporary tables cannot have it.
	Fulltext bool `json:"fulltext,omitempty"`
	// Global, not 0, is the id of the global index that keeps the key unique: see GlobalIndex.
	Global uint64 `json:"global,omitempty"`
}

// KeyExpression is a part of a key that is an expression.
type KeyExpression struct {
	At     int    `json:"at"` // among all parts of the key
	Column Column `json:"column"`
	Reads  []int  `json:"reads"` // the columns of the table that are in it
}

// ForeignKey is a declared reference to another table.
type ForeignKey struct {
	Name       string   `json:"name"`
	Columns    []int    `json:"columns"`
	RefDB      string   `json:"ref_db"`
	RefTable   string   `json:"ref_table"`
	RefColumns []string `json:"ref_columns"`
	OnDelete   string   `json:"on_delete,omitempty"`
	OnUpdate   string   `json:"on_update,omitempty"`
}

// Table returns the table, or nil.
func (s *Snapshot) Table(db, name string) *Table {
	d := s.Databases[db]
	if d == nil {
		return nil
	}
	return d.Tables[name]
}

// Tables lists the tables and views of all databases, ordered by name.
func (s *Snapshot) Tables() (out []*Table) {
	for _, d := range s.Databases {
		for _, t := range d.Tables {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, (*Table).Compare)
	return out
}

// SortedEvents lists the events, ordered by name.
func (s *Snapshot) SortedEvents() (out []*Event) {
	for _, e := range s.Events {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *Event) int { return strings.Compare(a.Database+"."+a.Name, b.Database+"."+b.Name) })
	return out
}

// Group returns the node group, or nil.
func (s *Snapshot) Group(id placement.NodeGroupID) *NodeGroup {
	for _, g := range s.Groups {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// SQL is its name as statements have it.
func (t *Table) SQL() string { return sqltypes.QuoteIn(t.Database, t.Name) }

// ColumnList is the names of columns as a list in a statement.
func (t *Table) ColumnList(columns []int) string {
	return strings.Join(t.QuotedColumns(columns, ""), ", ")
}

// QuotedColumns are the names of columns as statements have them, each with what is in front of it: "", or an alias and a dot.
func (t *Table) QuotedColumns(columns []int, front string) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = front + sqltypes.QuoteName(t.Columns[c].Name)
	}
	return list
}

// Column returns the position of the column called name (case does not matter), or -1.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return i
		}
	}
	return -1
}

// ColumnName is the name of the column called name as the table has it, "" if there is none.
func (t *Table) ColumnName(name string) string {
	if c := t.Column(name); c >= 0 {
		return t.Columns[c].Name
	}
	return ""
}
