// Package takeover makes a cluster of a server with tables, and a plain server of a cluster that is left. Both are done by whichever process is
// asked, without the controller: at first there is none yet, and at the end none any more.
package takeover

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/ddl"
	"skarv/pkg/placement"
	"skarv/pkg/preflight"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
)

// A server with tables becomes a cluster of one node group that owns all partitions. None of its tables is changed and no row
// moves; what is written is the catalog in etcd, and, in the server's database _skarv, the entries of global indexes:
//
//	read      every definition; decide where each table's rows are to live; report            (a dry run ends here)
//	claim     a record in etcd: an import that began earlier and still runs ends at its next step
//	lock      LOCK TABLES ... READ on all tables with counters or global indexes: writers past Skarv wait
//	fill      the entries of global indexes, from the server to itself
//	publish   tables first, some at a time; then, if the locks still stand, cluster, node group and map in one transaction
//	unlock
//
// Before the last transaction there is no cluster: an import that dies leaves tables in etcd that nobody looks at, and entries
// that the next attempt drops.

// ImportRequest is a server with tables that is to become a cluster.
type ImportRequest struct {
	Group   control.GroupSpec
	Servers schema.Dialer
	// Keys are distribution keys by table ("db.table"), for tables that are not to be distributed by what they say themselves.
	Keys map[string][]string
	// References and Singles are tables ("db.table", or "db.*") with a copy on every node group to come, or that stay whole.
	References, Singles []string
	// DryRun: nothing is written anywhere.
	DryRun bool
	// Accounts: accounts of the server are made accounts of the cluster, as far as that can be.
	Accounts bool
	// Connected: go on although clients are connected to the server.
	Connected bool
}

// Level tells how much a Finding matters.
type Level string

// The levels.
const (
	LevelNote    Level = "note"    // good to know
	LevelWarning Level = "warning" // works, but keeps partitions from being moved later, or is not as it could be
	LevelRefused Level = "refused" // the import is not done as long as it is so
)

// Finding is something about the server or a table that does not fit, and what can be done about it.
type Finding struct {
	Level Level
	What  string
	Fix   string
}

// ImportedTable is what becomes of a table or view.
type ImportedTable struct {
	Database, Name string
	// Kind is where its rows live, as the catalog has it; "" for what Skarv leaves alone.
	Kind catalog.TableKind
	// Key are the columns of the distribution key.
	Key []string
	// Why says why it is this kind and this key.
	Why         string
	Rows, Bytes uint64 // about
	// Global are the unique keys that get a global index.
	Global   []string
	Findings []Finding
}

// ImportReport is what an import does, or would do.
type ImportReport struct {
	ClusterID string // "" if it was not done
	Flavor    catalog.Flavor
	Version   string
	Tables    []ImportedTable
	Accounts  []ImportedAccount
	// Findings are those about the server.
	Findings []Finding
	// Clients are those connected to the server, as "user@host (n)".
	Clients []string
}

// Refusals lists what keeps the import from being done.
func (r *ImportReport) Refusals() (out []string) {
	add := func(where string, list []Finding) {
		for _, f := range list {
			if f.Level == LevelRefused {
				text := f.What
				if f.Fix != "" {
					text += "; " + f.Fix
				}
				out = append(out, where+text)
			}
		}
	}
	add("", r.Findings)
	for _, t := range r.Tables {
		add(t.Database+"."+t.Name+": ", t.Findings)
	}
	return out
}

// ErrImport: the import was refused; its report says why.
var ErrImport = errors.New("the server cannot be imported as it is")

// Import makes a cluster of a server with tables, or says what that would be like. progress, which may be nil, is told what is being
// done. With an error the cluster was not made, unless it is that etcd did not answer: then another attempt says
// ErrExists if it was.
func Import(ctx context.Context, store *topology.Store, req ImportRequest, progress func(string)) (*ImportReport, error) {
	if _, revision, err := store.Cluster(ctx); err != nil {
		return nil, err
	} else if revision != topology.Absent {
		return nil, control.ErrExists
	}
	if progress == nil {
		progress = func(string) {}
	}
	if err := req.Group.TakeName(1, nil); err != nil {
		return nil, err
	}
	i := &importer{store: store, req: req, progress: progress}
	defer i.close()
	if err := i.read(ctx); err != nil {
		return nil, err
	}
	i.decide()
	report := i.report()
	if refusals := report.Refusals(); len(refusals) > 0 && !req.DryRun {
		return report, fmt.Errorf("%w:\n%s", ErrImport, strings.Join(refusals, "\n"))
	}
	if req.DryRun {
		return report, nil
	}
	if err := i.do(ctx); err != nil {
		return report, err
	}
	report.ClusterID = i.cluster
	return report, nil
}

// importer is one import.
type importer struct {
	store    *topology.Store
	req      ImportRequest
	progress func(string)

	s         *schema.Server
	facts     *preflight.Facts
	snap      *catalog.Snapshot // what the cluster will be
	databases []*catalog.Database
	tables    []*importedTable
	bodies    []*body
	routines  []*catalog.Routine
	events    []*body // taken over
	accounts  []ImportedAccount
	undefined []string // views and programs whose definers are no accounts of the cluster
	clients   []string
	findings  []Finding
	cluster   string
	claim     int64
}

func (i *importer) close() {
	if i.s != nil {
		i.s.Close()
	}
}

// importedTable is a table on its way into the catalog.
type importedTable struct {
	ImportedTable
	def       *schema.Definition
	kind      string // information_schema.tables.table_type
	engine    string
	partition string // columns of PARTITION BY KEY, as the server shows them
	table     *catalog.Table
}

func (t *importedTable) label() string { return t.Database + "." + t.Name }

func (t *importedTable) find(level Level, what, fix string) {
	t.Findings = append(t.Findings, Finding{level, what, fix})
}

func (i *importer) report() *ImportReport {
	r := &ImportReport{Flavor: i.facts.Node.Flavor, Version: i.facts.Node.Version, Findings: i.findings, Clients: i.clients, Accounts: i.accounts}
	for _, t := range i.tables {
		r.Tables = append(r.Tables, t.ImportedTable)
	}
	return r
}

// claimID is the record that the import at work holds; its revision is the claim.
const claimID = "import"

// publishedAtOnce is how many tables one transaction of etcd writes.
const publishedAtOnce = 50

// do writes what was decided.
func (i *importer) do(ctx context.Context) error {
	i.cluster = topology.NewClusterID()
	if err := i.takeClaim(ctx); err != nil {
		return err
	}
	if err := i.number(ctx); err != nil {
		return err
	}
	if err := i.ownTables(ctx); err != nil {
		return err
	}
	if err := i.lock(ctx); err != nil {
		return err
	}
	if err := i.fill(ctx); err != nil {
		return err
	}
	if err := i.publish(ctx); err != nil {
		return err
	}
	if _, err := i.s.Exec(ctx, "UNLOCK TABLES"); err != nil { // the connection has ended, and the locks with it
		return fmt.Errorf("the cluster is made, but the tables may have been written past Skarv in its last moments: skarvctl index check --repair, and stop who writes there: %w", err)
	}
	if err := i.takeEvents(ctx); err != nil {
		return fmt.Errorf("the cluster is made, but its events are still run by the server (SET GLOBAL event_scheduler = ON takes them over): %w", err)
	}
	_, err := i.s.Exec(ctx, "UPDATE "+importMark+" SET done = 1")
	if err != nil {
		return fmt.Errorf("the cluster is made, but its mark on the server could not be set: %w", err)
	}
	return nil
}

// takeClaim ends whatever import began before, and drops what it wrote.
func (i *importer) takeClaim(ctx context.Context) (err error) {
	i.claim, err = i.store.Change(nil).PutRecord(topology.Claims, claimID, []byte(i.cluster), topology.Any).
		ExpectNoCluster().Commit(ctx)
	if err != nil {
		return i.lost(err)
	}
	_, err = i.change().DropCatalog().Commit(ctx)
	return i.lost(err)
}

// change is one that is applied only while the claim stands and there is no cluster.
func (i *importer) change() *topology.Change {
	return i.store.Change(nil).ExpectRecord(topology.Claims, claimID, i.claim).ExpectNoCluster()
}

func (i *importer) lost(err error) error {
	if errors.Is(err, topology.ErrConflict) {
		return fmt.Errorf("another import has begun, or %w", control.ErrExists)
	}
	return err
}

// number gives tables their ids, and those of their global indexes.
func (i *importer) number(ctx context.Context) error {
	n := uint64(0)
	for _, t := range i.tables {
		if t.table != nil && t.table.Kind != catalog.View {
			n += 1 + uint64(len(t.table.Global))
		}
	}
	if n == 0 {
		return nil
	}
	next, err := i.store.NextIDs(ctx, "table", n)
	if err != nil {
		return err
	}
	for _, t := range i.tables {
		if t.table == nil || t.table.Kind == catalog.View {
			continue
		}
		t.table.ID = next
		next++
		if len(t.table.Global) == 0 {
			continue
		}
		for x := range t.table.Unique {
			if t.table.Unique[x].Global != 0 {
				t.table.Unique[x].Global = next
				next++
			}
		}
		if err := t.table.Prepare(i.facts.Node.Flavor); err != nil {
			return err
		}
	}
	return nil
}

// importMark is a table on the server that tells an import that did not come to its end from a server of a cluster.
const importMark = "`" + catalog.OwnDB + "`.`import`"

// ownTables makes the tables in _skarv that a node group has, and empty ones for global indexes.
func (i *importer) ownTables(ctx context.Context) error {
	mark, err := control.OwnTables(ctx, i.s)
	if err != nil {
		return fmt.Errorf("create our own tables on %s: %w", i.req.Group.Primary.Addr, err)
	}
	i.req.Group.Mark = mark
	stmts := []string{
		"CREATE TABLE IF NOT EXISTS " + importMark + " (cluster CHAR(16) CHARACTER SET ascii NOT NULL PRIMARY KEY, done TINYINT NOT NULL) ENGINE=InnoDB",
		"DELETE FROM " + importMark,
		"INSERT INTO " + importMark + " VALUES ('" + i.cluster + "', 0)",
	}
	for _, q := range stmts {
		if _, err := i.s.Exec(ctx, q); err != nil {
			return fmt.Errorf("create our own tables on %s: %w", i.req.Group.Primary.Addr, err)
		}
	}
	left, err := i.s.Made(ctx)
	if err == nil {
		err = i.s.DropMade(ctx, left)
	}
	if err != nil {
		return err
	}
	for _, t := range i.tables {
		if t.table == nil {
			continue
		}
		for _, g := range t.table.Global {
			if _, err := i.s.Exec(ctx, ddl.CreateEntries(g.Entries)); err != nil {
				return fmt.Errorf("table of unique key %s of %s: %w", g.Name, t.label(), err)
			}
		}
	}
	return nil
}

// lock keeps others from writing to the tables whose counters or indexes are taken over, until the cluster stands.
func (i *importer) lock(ctx context.Context) error {
	var names []string
	for _, t := range i.tables {
		if t.table == nil || t.table.Kind != catalog.Sharded && t.table.Kind != catalog.Reference {
			continue
		}
		names = append(names, t.table.SQL()+" READ")
		for _, g := range t.table.Global {
			names = append(names, g.Entries.SQL()+" WRITE")
		}
	}
	if len(names) == 0 {
		return nil
	}
	i.progress("waiting until nobody writes to the tables")
	if _, err := i.s.Exec(ctx, "LOCK TABLES "+strings.Join(names, ", ")); err != nil {
		return fmt.Errorf("transactions of clients of the server do not end: %w", err)
	}
	// Definitions as they are now, that nobody can change them any more.
	for _, t := range i.tables {
		if t.table == nil || t.table.Kind != catalog.Sharded && t.table.Kind != catalog.Reference {
			continue
		}
		now, err := schema.ReadCreate(ctx, i.s, ddl.Object{DB: t.Database, Name: t.Name})
		if err != nil {
			return err
		}
		if now != t.def.Create {
			return fmt.Errorf("table %s was changed meanwhile: run it again", t.label())
		}
		if t.table.AutoIncrement < 0 {
			continue
		}
		if err := t.def.ReadCounter(ctx, i.s); err != nil {
			return err
		}
	}
	return nil
}

// stillLocked fails if the connection that holds the locks has ended since: who waited for them may have written.
func (i *importer) stillLocked(ctx context.Context) error {
	if _, err := i.s.Exec(ctx, "DO 1"); err != nil {
		return fmt.Errorf("the locks of the tables were lost before the cluster was made: run it again: %w", err)
	}
	return nil
}

// publish writes the catalog, and with its last transaction makes the cluster.
func (i *importer) publish(ctx context.Context) error {
	i.progress("writing the catalog")
	change, n := i.change(), 0
	flush := func() error {
		if n == 0 {
			return nil
		}
		_, err := change.Commit(ctx)
		change, n = i.change(), 0
		return i.lost(err)
	}
	room := func() error {
		if n < publishedAtOnce {
			n++
			return nil
		}
		err := flush()
		n++
		return err
	}
	for _, d := range i.databases {
		if err := room(); err != nil {
			return err
		}
		change.PutDatabase(d, topology.Any)
	}
	for _, t := range i.tables {
		if t.table == nil {
			continue
		}
		if err := room(); err != nil {
			return err
		}
		change.PutTable(t.table, topology.Any)
		if t.table.AutoIncrement >= 0 && t.def.Next > 1 {
			change.PutSequence(t.table.ID, t.def.Next)
		}
	}
	for _, r := range i.routines {
		if err := room(); err != nil {
			return err
		}
		change.PutRoutine(r, topology.Any)
	}
	for _, b := range i.events {
		if err := room(); err != nil {
			return err
		}
		change.PutEvent(b.event, topology.Any)
	}
	for _, a := range i.accounts {
		if !a.Imported {
			continue
		}
		if err := room(); err != nil {
			return err
		}
		change.PutAccount(a.account, topology.Any)
	}
	if err := flush(); err != nil {
		return err
	}
	m, err := placement.NewMap([]placement.NodeGroupID{firstGroup})
	if err != nil {
		return err
	}
	if err := i.stillLocked(ctx); err != nil {
		return err
	}
	_, err = i.change().
		PutGroup(i.req.Group.NodeGroup(firstGroup, i.facts), topology.Absent).
		PutMap(m, topology.Absent).
		PutCluster(topology.Cluster{
			ID: i.cluster, Flavor: i.facts.Node.Flavor, Created: time.Now().UTC(), LowerCaseTableNames: i.facts.LowerCase,
		}, topology.Absent).
		PutEventsOff(len(i.events) > 0). // until no server runs them
		DeleteRecord(topology.Claims, claimID, i.claim).
		Commit(ctx)
	return i.lost(err)
}

// firstGroup is the id of the node group that an import makes.
const firstGroup placement.NodeGroupID = 1
