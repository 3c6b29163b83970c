// Package binlog reads the binary log of one server as an ordered stream of committed transactions of row changes. Rows
// of prepared XA branches are held back until their XA COMMIT and dropped at their XA ROLLBACK. It speaks to MariaDB and
// MySQL, from the position the caller has kept. It knows nothing of partitions or of what changes are for.
package binlog

import (
	"errors"
	"fmt"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
)

// Config says what to read.
type Config struct {
	Conn   mysqlconn.Config
	Flavor catalog.Flavor
	Start  Start
	// ServerID is what the reader calls itself; the server ends an older reader of the same number. 0: chosen at random.
	ServerID uint32
	// Tables says of which tables changes are wanted; nil: all. Rows of others are not decoded.
	Tables func(schema, table string) bool
	// Keep is asked for every change of a wanted table whether it is to be part of its transaction; nil: all are. The change is
	// valid during the call only, unless the answer is yes. Keep must not call back into the Stream.
	Keep func(*Change) bool
	// MaxBuffer bounds the bytes of rows held: of branches that are prepared, and of the transaction being read
	// (default 512 MB). Beyond it Next fails with ErrTooLarge.
	MaxBuffer int
}

// Start is where to begin reading.
type Start struct {
	// Applied is what the caller has dealt with: none of it is returned again.
	Applied Position
	// Reread is a subset of Applied without what must be read again for the rows of branches that were prepared in Applied
	// and not finished there: Transaction.Reread as it was kept with Applied. Empty flavor-less: Applied.
	Reread Position
}

// Errors of a Stream that trying again does not help with. All others are of the connection.
var (
	// ErrPurged: the server no longer has the log from Start on, or never had it.
	ErrPurged = errors.New("binary log does not go back to the position asked for")
	// ErrFormat: the log holds changes as statements, or as incomplete rows.
	ErrFormat = errors.New("binary log does not hold whole rows")
	// ErrTooLarge: more rows than MaxBuffer had to be held.
	ErrTooLarge = errors.New("transaction too large to be held in memory")
	// ErrDamaged: an event is not what its format says.
	ErrDamaged = errors.New("damaged event in the binary log")
)

// Transaction is one transaction, or one statement outside of transactions such as a DDL.
type Transaction struct {
	GTID GTID
	// Time is when the server wrote it, to the second.
	Time time.Time
	// After is the position behind it; with Reread, it is a Start. Both are the reader's and must not be changed.
	After, Reread Position
	// Changes are in the order they were made. There are none if no wanted table is concerned, or if the transaction is a
	// branch being prepared.
	Changes []Change
	// Statement is the text of a DDL or of another statement logged as text; Schema is its default database.
	Statement, Schema string
	// Prepared is the branch whose PREPARE this is; its rows come with its commit.
	Prepared *XID
	// Unknown is the branch that this finished (Committed or rolled back) without its rows being known: it was prepared
	// before Start.
	Unknown   *XID
	Committed bool
}

// Change is one row inserted (no Before), updated or deleted (no After).
type Change struct {
	Table         *Table
	Before, After Row
}

// Row is the values of all columns, nil for NULL, as SELECT gives them as text to a connection with character_set_results NULL
// and time_zone +00:00, except for: ENUM, SET and BIT are unsigned numbers; FLOAT is the text of the same number as a
// DOUBLE; MySQL's JSON has the form of pkg/jsondoc.
type Row [][]byte

// Table is a table as the log describes it. Changes with the same *Table have the same columns.
type Table struct {
	Schema, Name string
	Columns      []Column
}

// Column is a column of a Table.
type Column struct {
	Name      string
	Type      byte // of the log
	meta      uint16
	Unsigned  bool
	Collation uint32 // number; of strings only
}

// Index returns the position of the column called name, or -1. Column names are compared as the server wrote them.
func (t *Table) Index(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// XID names a branch of an XA transaction.
type XID struct {
	Format       uint32
	GTRID, BQUAL string
}

// String is the xid as in XA RECOVER FORMAT='SQL'.
func (x XID) String() string { return fmt.Sprintf("X'%x',X'%x',%d", x.GTRID, x.BQUAL, x.Format) }
