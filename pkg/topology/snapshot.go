package topology

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// Cluster is what was decided when the cluster was made and holds for its whole life.
type Cluster struct {
	ID                  string         `json:"id"`
	Flavor              catalog.Flavor `json:"flavor"`
	Created             time.Time      `json:"created"`
	LowerCaseTableNames int            `json:"lower_case_table_names"`
}

// NewClusterID returns an id that no other cluster has.
func NewClusterID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Cluster reads what the cluster is. Its revision is Absent, and the error nil, if there is none yet.
func (s *Store) Cluster(ctx context.Context) (c Cluster, revision int64, err error) {
	revision, err = s.read(ctx, s.clusterKey(), &c)
	return c, revision, err
}

// Map reads the partition map as it is now, not as a snapshot had it. Like all that follow, it returns nil, Absent and
// no error if there is none.
func (s *Store) Map(ctx context.Context) (m *placement.PartitionMap, revision int64, err error) {
	return readObject[placement.PartitionMap](ctx, s, s.mapKey())
}

// Group reads a node group as it is now.
func (s *Store) Group(ctx context.Context, id placement.NodeGroupID) (g *catalog.NodeGroup, revision int64, err error) {
	return readObject[catalog.NodeGroup](ctx, s, s.groupKey(id))
}

// Account reads an account as it is now.
func (s *Store) Account(ctx context.Context, name catalog.AccountName) (a *catalog.Account, revision int64, err error) {
	return readObject[catalog.Account](ctx, s, s.accountKey(name))
}

// Table reads a table as it is now.
func (s *Store) Table(ctx context.Context, db, name string) (t *catalog.Table, revision int64, err error) {
	return readObject[catalog.Table](ctx, s, s.tableKey(db, name))
}

// readObject decodes one key; the object is nil and the revision Absent if it does not exist.
func readObject[T any](ctx context.Context, s *Store, key string) (*T, int64, error) {
	v := new(T)
	revision, err := s.read(ctx, key, v)
	if err != nil || revision == Absent {
		return nil, Absent, err
	}
	return v, revision, nil
}

// read decodes one key into v. The revision is Absent if it does not exist.
func (s *Store) read(ctx context.Context, key string, v any) (int64, error) {
	data, revision, err := s.get(ctx, key)
	if err != nil || data == nil {
		return Absent, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return 0, fmt.Errorf("decode %s: %w", key, err)
	}
	return revision, nil
}

// builder makes snapshots one after the other. It decodes what changed and shares everything else with the
// snapshot before; nothing that was published is ever written to.
type builder struct {
	store    *Store
	log      *slog.Logger
	snap     catalog.Snapshot // the next one; its maps are published ones unless listed in owned
	groups   map[placement.NodeGroupID]*catalog.NodeGroup
	orphans  map[string]map[string]*catalog.Table // tables whose database is not known (yet)
	owned    map[string]bool                      // databases copied since the last snapshot
	maps     bool                                 // Databases copied since the last snapshot
	routines bool                                 // Routines copied since the last snapshot
	events   bool                                 // Events copied since the last snapshot
	accounts bool                                 // Accounts copied since the last snapshot
	hosted   catalog.Flavor                       // of whose servers Hosted is
}

func newBuilder(s *Store) *builder {
	return &builder{
		store: s,
		log:   s.log,
		snap: catalog.Snapshot{
			Databases: map[string]*catalog.Database{},
			Routines:  map[catalog.RoutineKey]*catalog.Routine{},
			Events:    map[catalog.EventKey]*catalog.Event{},
			Accounts:  catalog.Accounts{},
		},
		groups:  map[placement.NodeGroupID]*catalog.NodeGroup{},
		orphans: map[string]map[string]*catalog.Table{},
		owned:   map[string]bool{},
	}
}

// snapshot publishes what was applied so far as of revision.
func (b *builder) snapshot(revision int64) *catalog.Snapshot {
	if b.maps || b.routines || b.snap.SchemaRevision == 0 {
		b.snap.SchemaRevision = revision
	}
	if b.accounts || b.hosted != b.snap.Flavor {
		b.snap.Hosted, b.hosted = b.snap.Accounts.Hosted(b.snap.Flavor), b.snap.Flavor
	}
	out := b.snap
	out.Revision = revision
	b.owned, b.maps, b.routines, b.events, b.accounts = map[string]bool{}, false, false, false, false
	return &out
}

// apply takes one key's new value in (nil: deleted) and reports whether a snapshot shows it. What cannot be decoded
// is left out, so that statements on it are refused and all others work on.
func (b *builder) apply(kv *mvccpb.KeyValue, deleted bool) bool {
	kind, names := b.store.splitKey(kv.Key)
	value := kv.Value
	if deleted {
		value = nil
	}
	var err error
	switch {
	case kind == kindCluster && len(names) == 0:
		err = b.applyCluster(value)
	case kind == kindMap && len(names) == 0:
		err = b.applyMap(value, kv.ModRevision)
	case kind == kindGroup && len(names) == 1:
		err = b.applyGroup(names[0], value)
	case kind == kindDB && len(names) == 1:
		err = b.applyDatabase(names[0], value)
	case kind == kindTable && len(names) == 2:
		err = b.applyTable(names[0], names[1], value)
	case kind == kindRoutine && len(names) == 3:
		err = b.applyRoutine(catalog.NewRoutineKey(names[0], names[2], names[1] == "function"), value)
	case kind == kindEvent && len(names) == 2:
		err = b.applyEvent(catalog.NewEventKey(names[0], names[1]), value)
	case kind == kindSetting && len(names) == 1 && names[0] == eventsOff:
		b.snap.EventsOff = string(value) == "true"
	case kind == kindAccount && len(names) == 1:
		err = b.applyAccount(catalog.AccountName(names[0]), value)
	default:
		return false
	}
	if err != nil {
		b.log.Error("object in etcd cannot be used", "key", string(kv.Key), "revision", kv.ModRevision, "error", err)
	}
	return true
}

func (b *builder) applyCluster(value []byte) error {
	var c Cluster
	if value != nil {
		if err := json.Unmarshal(value, &c); err != nil {
			return err
		}
	}
	b.snap.ClusterID = c.ID
	b.snap.LowerCaseTableNames = c.LowerCaseTableNames
	if b.snap.Flavor == c.Flavor {
		return nil
	}
	b.snap.Flavor = c.Flavor
	return b.prepareAll()
}

// prepareAll makes every table ready for a flavor that came after them; that happens once in a cluster's life.
func (b *builder) prepareAll() error {
	for _, d := range b.snap.Databases {
		for _, t := range d.Tables {
			fresh := *t
			if err := prepare(&fresh, b.snap.Flavor); err != nil {
				return fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
			}
			b.database(d.Name).Tables[t.Name] = &fresh
		}
	}
	return nil
}

func (b *builder) applyMap(value []byte, revision int64) error {
	if value == nil {
		b.snap.Map, b.snap.MapRevision = nil, 0
		return nil
	}
	m := new(placement.PartitionMap)
	if err := json.Unmarshal(value, m); err != nil {
		return err // the last good map stays
	}
	b.snap.Map, b.snap.MapRevision = m, revision
	return nil
}

func (b *builder) applyGroup(name string, value []byte) error {
	n, err := strconv.ParseUint(name, 10, 16)
	if err != nil {
		return err
	}
	id := placement.NodeGroupID(n)
	if value == nil {
		delete(b.groups, id)
	} else {
		g := new(catalog.NodeGroup)
		if err := json.Unmarshal(value, g); err != nil {
			return err
		}
		b.groups[id] = g
	}
	b.snap.Groups = slices.SortedFunc(maps.Values(b.groups), func(x, y *catalog.NodeGroup) int {
		return int(x.ID) - int(y.ID)
	})
	b.snap.ServerVersion = lowestVersion(b.snap.Groups)
	return nil
}

// databases returns the map of databases, ready to be written to.
func (b *builder) databases() map[string]*catalog.Database {
	if !b.maps {
		b.snap.Databases = maps.Clone(b.snap.Databases)
		b.maps = true
	}
	return b.snap.Databases
}

// database returns the database, ready to be written to, or nil.
func (b *builder) database(name string) *catalog.Database {
	d := b.snap.Databases[name]
	if d == nil || b.owned[name] {
		return d
	}
	fresh := *d
	fresh.Tables = maps.Clone(d.Tables)
	b.databases()[name] = &fresh
	b.owned[name] = true
	return &fresh
}

func (b *builder) applyDatabase(name string, value []byte) error {
	if value == nil {
		if old := b.snap.Databases[name]; old != nil && len(old.Tables) > 0 {
			b.orphans[name] = maps.Clone(old.Tables) // usually deleted by the next events
		}
		delete(b.databases(), name)
		delete(b.owned, name)
		return nil
	}
	fresh := new(catalog.Database)
	if err := json.Unmarshal(value, fresh); err != nil {
		return err
	}
	fresh.Name = name
	switch old := b.snap.Databases[name]; {
	case old != nil:
		fresh.Tables = maps.Clone(old.Tables)
	case b.orphans[name] != nil:
		fresh.Tables = b.orphans[name]
		delete(b.orphans, name)
	default:
		fresh.Tables = map[string]*catalog.Table{}
	}
	b.databases()[name] = fresh
	b.owned[name] = true
	return nil
}

func (b *builder) applyTable(db, name string, value []byte) error {
	var tables map[string]*catalog.Table
	if d := b.database(db); d != nil {
		tables = d.Tables
	} else {
		// A change's events come in the order of their keys: a table may come before its database.
		if b.orphans[db] == nil {
			b.orphans[db] = map[string]*catalog.Table{}
		}
		tables = b.orphans[db]
	}
	delete(tables, name)
	if value == nil {
		if len(b.orphans[db]) == 0 {
			delete(b.orphans, db)
		}
		return nil
	}
	t := new(catalog.Table)
	if err := json.Unmarshal(value, t); err != nil {
		return err
	}
	if b.snap.Flavor != "" {
		if err := prepare(t, b.snap.Flavor); err != nil {
			return err
		}
	}
	tables[name] = t
	return nil
}

func (b *builder) applyRoutine(key catalog.RoutineKey, value []byte) error {
	if !b.routines {
		b.snap.Routines = maps.Clone(b.snap.Routines)
		b.routines = true
	}
	delete(b.snap.Routines, key)
	if value == nil {
		return nil
	}
	r := new(catalog.Routine)
	if err := json.Unmarshal(value, r); err != nil {
		return err
	}
	b.snap.Routines[key] = r
	return nil
}

func (b *builder) applyEvent(key catalog.EventKey, value []byte) error {
	if !b.events {
		b.snap.Events = maps.Clone(b.snap.Events)
		b.events = true
	}
	delete(b.snap.Events, key)
	if value == nil {
		return nil
	}
	e := new(catalog.Event)
	if err := json.Unmarshal(value, e); err != nil {
		return err
	}
	b.snap.Events[key] = e
	return nil
}

func (b *builder) applyAccount(name catalog.AccountName, value []byte) error {
	if !b.accounts {
		b.snap.Accounts = maps.Clone(b.snap.Accounts)
		b.accounts = true
	}
	delete(b.snap.Accounts, name) // an account that cannot be read lets nobody in
	if value == nil {
		return nil
	}
	a := new(catalog.Account)
	if err := json.Unmarshal(value, a); err != nil {
		return err
	}
	b.snap.Accounts[name] = a
	return nil
}

// prepare makes t ready for routing.
func prepare(t *catalog.Table, flavor catalog.Flavor) error {
	if p, ok := any(t).(interface {
		Prepare(flavor catalog.Flavor) error
	}); ok {
		return p.Prepare(flavor)
	}
	return nil
}

// lowestVersion is the version of the oldest primary: what all of them can do.
func lowestVersion(groups []*catalog.NodeGroup) string {
	lowest := ""
	for _, g := range groups {
		v := g.Primary.Version
		if v != "" && (lowest == "" || compareVersions(v, lowest) < 0) {
			lowest = v
		}
	}
	return lowest
}

// compareVersions compares the leading numbers of two server versions: 10.11.6-MariaDB is after 10.6.18-MariaDB.
func compareVersions(a, b string) int {
	x, y := versionNumbers(a), versionNumbers(b)
	return slices.Compare(x[:], y[:])
}

func versionNumbers(v string) (out [3]int) {
	for i, part := range strings.SplitN(v, ".", 3) {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end >= 0 {
			part = part[:end]
		}
		out[i], _ = strconv.Atoi(part) // a version without numbers is the oldest
	}
	return out
}
