// Package virtualdb is the database skarv, which no server has: the cluster as tables. It makes the present contents of a table from what the
// process knows and from what it is given the means to ask for; how a query reads them it does not know.
package virtualdb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/digest"
	"skarv/pkg/event"
	"skarv/pkg/processlist"
	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// Cluster is what the tables are made from. All of it is safe for concurrent use.
type Cluster struct {
	Pools   *backend.Pools
	Clients *processlist.List
	// Reorganisations returns those that are known, oldest first.
	Reorganisations func(context.Context) ([]Reorganisation, error)
	// SchemaChanges returns those that wait or run, and the last that have ended, oldest first.
	SchemaChanges func(context.Context) ([]SchemaChange, error)
	// Statements returns what statements have cost on all processes, most time first.
	Statements func(context.Context) ([]digest.Row, error)
	// EventStates returns what events did last.
	EventStates func(context.Context) (map[catalog.EventKey]event.State, error)
	// PartitionLoad returns how many statements per second all processes run on each partition.
	PartitionLoad func(context.Context) ([]float64, error)
	// Transactions returns those that are prepared or whose end is still known; with an id only that one.
	Transactions func(ctx context.Context, id txn.ID) ([]txn.Info, error)
}

// Viewer is who reads a table.
type Viewer struct {
	Snapshot *catalog.Snapshot
	Account  *catalog.Account
	// Processes are the clients of the whole cluster that the account may see.
	Processes func() []processlist.Process
}

// table is how one is made.
type table struct {
	name string
	make func(*Cluster, *Viewer) (*rowset.Table, error)
}

// tables are those of the database, by name.
func tables() []table {
	return []table{
		{"events", (*Cluster).events},
		{"node_groups", (*Cluster).nodeGroups},
		{"partitions", (*Cluster).partitions},
		{"processlist", (*Cluster).processes},
		{"reorganisations", (*Cluster).reorganisations},
		{"schema_changes", (*Cluster).schemaChanges},
		{"session_trace", (*Cluster).sessionTrace},
		{"statements", (*Cluster).statements},
		{"tables", (*Cluster).tables},
		{"transactions", (*Cluster).transactions},
	}
}

// Table makes the present contents of a table. The error is an *sqlerr.Error.
func (c *Cluster) Table(name string, v *Viewer) (*rowset.Table, error) {
	all := tables()
	i := slices.IndexFunc(all, func(t table) bool { return strings.EqualFold(t.name, name) })
	if i < 0 {
		return nil, sqlerr.NoSuchTable.New(catalog.VirtualDB, name)
	}
	return all[i].make(c, v)
}

// Show is SHOW [FULL] TABLES FROM skarv.
func Show(full bool) *rowset.Table {
	t := rowset.New("Tables_in_" + catalog.VirtualDB)
	if full {
		t = rowset.New("Tables_in_"+catalog.VirtualDB, "Table_type")
	}
	for _, v := range tables() {
		if full {
			t.Add(v.name, "SYSTEM VIEW")
		} else {
			t.Add(v.name)
		}
	}
	return t
}

// ShowColumns is SHOW [FULL] COLUMNS, or DESCRIBE, of a table.
func ShowColumns(of *rowset.Table, full bool) *rowset.Table {
	t := rowset.New("Field", "Type", "Null", "Key", "Default", "Extra")
	if full {
		t = rowset.New("Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment")
	}
	for i := range of.Columns {
		c, kind := &of.Columns[i], "text"
		if c.Type == sqltypes.TypeLongLong {
			kind = "bigint"
		}
		if full {
			t.Add(c.Name, kind, nil, "YES", "", nil, "", "select", "")
		} else {
			t.Add(c.Name, kind, "YES", "", nil, "")
		}
	}
	return t
}

// askTimeout bounds the look at what other processes and servers know.
const askTimeout = 10 * time.Second

// ask is what question gives, in time.
func ask[T any](question func(context.Context) (T, error)) (answer T, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if answer, err = question(ctx); err == nil {
		return answer, nil
	}
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return answer, e
	}
	return answer, sqlerr.UnknownError.New(err.Error())
}

// States are what events did last. The error is an *sqlerr.Error.
func (c *Cluster) States() (map[catalog.EventKey]event.State, error) { return ask(c.EventStates) }

// shownTime is a time in UTC, or NULL.
func shownTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.DateTime)
}
