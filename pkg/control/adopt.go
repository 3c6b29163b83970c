package control

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
)

// GroupSpec is a node group to be: its servers and how Skarv logs in there.
type GroupSpec struct {
	Name     string         `json:"name,omitempty"` // default: "ng" and its id
	Primary  catalog.Node   `json:"primary"`        // Addr, User, Password, TLS, DataNode; the rest is asked of the server
	Replicas []catalog.Node `json:"replicas,omitempty"`
}

// InitRequest is a cluster to be.
type InitRequest struct {
	Groups []GroupSpec // at least one; the partitions are spread over all of them
}

// InitResult tells what was made.
type InitResult struct {
	ClusterID string
	Groups    []*catalog.NodeGroup
	// Warnings are settings of the servers that should be changed, each with its fix.
	Warnings []string
}

// ErrExists: the prefix holds a cluster already.
var ErrExists = errors.New("this etcd prefix holds a cluster already")

// InitCluster makes a cluster of servers that hold no tables: identity, node groups and the partition map at epoch 1,
// in one transaction. An error means that etcd is unchanged; ErrExists, that there is a cluster.
func InitCluster(ctx context.Context, store *topology.Store, req InitRequest) (InitResult, error) {
	if len(req.Groups) == 0 {
		return InitResult{}, errors.New("a cluster needs at least one node group")
	}
	if _, revision, err := store.Cluster(ctx); err != nil {
		return InitResult{}, err
	} else if revision != topology.Absent {
		return InitResult{}, ErrExists
	}
	seen := map[string]bool{}
	for i, spec := range req.Groups {
		if seen[spec.Primary.Addr] {
			return InitResult{}, fmt.Errorf("server %s is named twice", spec.Primary.Addr)
		}
		seen[spec.Primary.Addr] = true
		if spec.Name == "" {
			req.Groups[i].Name = fmt.Sprintf("ng%d", i+1)
		}
	}
	facts := make([]*facts, len(req.Groups))
	g, gctx := errgroup.WithContext(ctx)
	for i, spec := range req.Groups {
		g.Go(func() (err error) {
			facts[i], err = examine(gctx, spec)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return InitResult{}, err
	}
	res := InitResult{ClusterID: newClusterID()}
	change := store.Change(nil)
	ids := make([]placement.NodeGroupID, len(facts))
	for i, f := range facts {
		if err := facts[0].agrees(f); err != nil {
			return InitResult{}, err
		}
		ids[i] = placement.NodeGroupID(i + 1)
		group := f.group(ids[i])
		res.Groups = append(res.Groups, group)
		res.Warnings = append(res.Warnings, f.warnings...)
		change.PutGroup(group, topology.Absent)
	}
	for _, f := range facts {
		if err := f.ownDatabase(ctx); err != nil {
			return InitResult{}, err
		}
	}
	m, err := placement.NewMap(ids)
	if err != nil {
		return InitResult{}, err
	}
	change.PutMap(m, topology.Absent)
	change.PutCluster(topology.Cluster{
		ID:                  res.ClusterID,
		Flavor:              facts[0].flavor,
		Created:             time.Now().UTC(),
		LowerCaseTableNames: facts[0].lowerCase,
	}, topology.Absent)
	_, err = change.Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return InitResult{}, ErrExists
	}
	return res, err
}

func newClusterID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// AddGroup has the controller add a node group: it gets all databases and tables, and owns no partitions until they
// are moved to it.
func (c *Client) AddGroup(ctx context.Context, spec GroupSpec) (placement.NodeGroupID, []string, error) {
	j, err := c.request(ctx, &job{Adopt: &spec})
	if err != nil {
		return 0, nil, err
	}
	if j.Error != nil {
		return 0, nil, errors.New(j.Error.Message)
	}
	c.await(ctx, j.revision)
	return j.Adopted, j.Notes, nil
}

// adoption is the job that adds a node group. Its server is ours alone until the group is in the catalog: everything
// done to it may be done again.
type adoption struct {
	leader *leader
	job    *job
	snap   *catalog.Snapshot
}

func (a *adoption) run(ctx context.Context) error {
	err := a.adopt(ctx)
	if err == nil || fatal(err) {
		return err
	}
	a.job.State, a.job.Error = failed, sqlerr.UnknownError.New(err.Error())
	return a.leader.save(ctx, a.job)
}

func (a *adoption) adopt(ctx context.Context) error {
	spec := *a.job.Adopt
	if len(a.snap.Groups) == 0 {
		return errors.New("there is no cluster yet: use skarvctl cluster init")
	}
	var last placement.NodeGroupID
	for _, g := range a.snap.Groups {
		last = max(last, g.ID)
		if g.Primary.Addr == spec.Primary.Addr {
			return fmt.Errorf("server %s is node group %d already", spec.Primary.Addr, g.ID)
		}
		if spec.Name != "" && g.Name == spec.Name {
			return fmt.Errorf("node group %s exists already", spec.Name)
		}
	}
	f, err := examine(ctx, spec)
	if err != nil {
		return err
	}
	model := a.snap.Groups[0]
	old, err := examineServer(ctx, GroupSpec{Name: groupName(model), Primary: model.Primary})
	if err != nil {
		return err
	}
	if err := old.agrees(f); err != nil {
		return err
	}
	id, err := a.nextID(ctx, last)
	if err != nil {
		return err
	}
	if spec.Name == "" {
		spec.Name = fmt.Sprintf("ng%d", id)
		f.spec.Name = spec.Name
	}
	if err := f.ownDatabase(ctx); err != nil {
		return err
	}
	if err := a.between(ctx, model, spec, a.copySchema); err != nil {
		return err
	}
	notes := append(f.warnings, a.keyless()...)
	return a.join(ctx, model, f.group(id), func(change *topology.Change) error {
		if err := a.between(ctx, model, spec, a.copyTriggers); err != nil {
			return err
		}
		a.job.State, a.job.Adopted, a.job.Notes = done, id, notes
		a.job.Adopt = &GroupSpec{Name: spec.Name} // the password is in the group now
		err := a.leader.saveWith(ctx, a.job, change.PutGroup(f.group(id), topology.Absent))
		if err != nil {
			a.job.State, a.job.Adopted, a.job.Notes, a.job.Adopt = queued, 0, nil, &spec
		}
		return err
	})
}

// keyless names the tables without a primary key, which only single tables can be.
func (a *adoption) keyless() (warnings []string) {
	for _, d := range a.snap.Databases {
		for _, t := range d.Tables {
			if t.Kind == catalog.Single && len(t.Primary) == 0 {
				warnings = append(warnings, fmt.Sprintf("table %s.%s has no primary key: a transaction that began on another node group than %d cannot write to it; give it one",
					d.Name, t.Name, t.Group))
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// nextID hands out ids that no group has or had.
func (a *adoption) nextID(ctx context.Context, last placement.NodeGroupID) (placement.NodeGroupID, error) {
	for {
		id, err := a.leader.store.NextID(ctx, "node_group")
		if err != nil {
			return 0, err
		}
		if id > 65535 {
			return 0, errors.New("all 65535 node group ids were used")
		}
		if placement.NodeGroupID(id) > last {
			return placement.NodeGroupID(id), nil
		}
	}
}

// between runs copying with connections to the server of model and to the new one, on which nobody else changes the schema then.
func (a *adoption) between(ctx context.Context, model *catalog.NodeGroup, spec GroupSpec, copying func(ctx context.Context, from, to *server) error) error {
	from, err := dial(ctx, groupName(model), model.Primary)
	if err != nil {
		return err
	}
	defer from.close()
	primary := spec.Primary
	primary.Flavor = a.snap.Flavor
	to, err := dial(ctx, spec.Name, primary)
	if err != nil {
		return err
	}
	defer to.close()
	if err := to.takeFence(ctx); err != nil {
		return err
	}
	if err := a.leader.store.Verify(ctx, a.leader.guard); err != nil {
		return err
	}
	return copying(ctx, from, to)
}

// copySchema creates every database and table.
func (a *adoption) copySchema(ctx context.Context, from, to *server) error {
	plain := DDLRequest{Session: []string{"SET SESSION foreign_key_checks = 0"}}
	for _, s := range []*server{from, to} {
		if err := s.settings(ctx, plain); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(a.snap.Databases))
	for name := range a.snap.Databases {
		names = append(names, name)
	}
	slices.Sort(names)
	var views []object1
	functions := sortedRoutines(a.snap, true)
	for _, name := range names {
		d := a.snap.Databases[name]
		q := fmt.Sprintf("CREATE DATABASE IF NOT EXISTS %s CHARACTER SET %s COLLATE %s", quoteName(name), d.Charset, d.Collation)
		if _, err := to.exec(ctx, q); err != nil {
			return err
		}
		for _, f := range functions { // views may call them
			if f.DB == name {
				if err := copyProgram(ctx, from, to, f); err != nil {
					return err
				}
			}
		}
		if err := to.settings(ctx, plain); err != nil {
			return err
		}
		for _, t := range d.Tables {
			o := object1{DB: name, Name: t.Name}
			if t.Kind == catalog.View {
				views = append(views, o)
				continue
			}
			if err := copyOne(ctx, from, to, o); err != nil {
				return err
			}
			for _, g := range t.Global {
				if err := copyOne(ctx, from, to, object1{DB: ownDB, Name: g.Entries.Name}); err != nil {
					return err
				}
			}
		}
	}
	if err := copyViews(ctx, from, to, views); err != nil {
		return err
	}
	for _, p := range sortedRoutines(a.snap, false) {
		if err := copyProgram(ctx, from, to, p); err != nil {
			return err
		}
	}
	return copyEvents(ctx, a.snap, from, to)
}

// copyTriggers creates every trigger, once the new server has its rows.
func (a *adoption) copyTriggers(ctx context.Context, from, to *server) error {
	var triggers []object1
	for _, d := range a.snap.Databases {
		for _, t := range d.Tables {
			if t.Kind == catalog.Single {
				continue // they are where its rows are
			}
			for _, tr := range t.Triggers { // of one table in the order in which they fire
				triggers = append(triggers, object1{DB: d.Name, Name: tr.Name, Kind: routine.Trigger})
			}
		}
	}
	for _, t := range triggers {
		if err := copyProgram(ctx, from, to, t); err != nil {
			return err
		}
	}
	return nil
}

// copyViews creates views in an order in which each finds those it reads.
func copyViews(ctx context.Context, from, to *server, views []object1) error {
	for len(views) > 0 {
		var left []object1
		var last error
		for _, v := range views {
			if err := copyOne(ctx, from, to, v); err != nil {
				left, last = append(left, v), err
			}
		}
		if len(left) == len(views) {
			return last
		}
		views = left
	}
	return nil
}

// copyOne creates a table or view as another server has it.
func copyOne(ctx context.Context, from, to *server, o object1) error {
	create, err := readCreate(ctx, from, o.DB, o.Name)
	if err != nil {
		return err
	}
	if create == "" {
		return fmt.Errorf("node group %s has no table %s", from.group, o)
	}
	if there, err := readCreate(ctx, to, o.DB, o.Name); err != nil || there != "" {
		return err
	}
	if at := strings.Index(create, " DEFINER="); at >= 0 && strings.HasPrefix(create, "CREATE ALGORITHM") {
		if end := strings.Index(create, " SQL SECURITY"); end > at {
			create = create[:at] + create[end:]
		}
	}
	if _, err := to.exec(ctx, "USE "+quoteName(o.DB)); err != nil {
		return err
	}
	_, err = to.exec(ctx, create)
	return err
}

// facts is what a server says of itself.
type facts struct {
	spec      GroupSpec
	flavor    catalog.Flavor
	version   string
	lowerCase int
	vars      map[string]string
	warnings  []string
}

// group is the catalog entry of the examined node group.
func (f *facts) group(id placement.NodeGroupID) *catalog.NodeGroup {
	g := &catalog.NodeGroup{ID: id, Name: f.spec.Name, Primary: f.spec.Primary, Replicas: f.spec.Replicas, Term: 1}
	g.Primary.Version, g.Primary.Flavor = f.version, f.flavor
	for i := range g.Replicas {
		g.Replicas[i].Flavor = f.flavor
	}
	return g
}

// examine asks a server whether it can be a new node group: a fit server without tables of others.
func examine(ctx context.Context, spec GroupSpec) (*facts, error) {
	f, err := examineServer(ctx, spec)
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, spec.Name, spec.Primary)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var found []string
	err = s.rows(ctx, func(r *sql.Rows) error {
		var db, name string
		if err := r.Scan(&db, &name); err != nil {
			return err
		}
		found = append(found, db+"."+name)
		return nil
	}, "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN"+
		" ('mysql','information_schema','performance_schema','sys','"+ownDB+"') ORDER BY 1, 2 LIMIT 6")
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		if len(found) > 5 {
			found[5] = "..."
		}
		return nil, fmt.Errorf("server %s holds tables already (%s): take a server without tables, and load the data through Skarv",
			spec.Primary.Addr, strings.Join(found, ", "))
	}
	return f, nil
}

// ownDatabase creates our own database and the table of decisions on transactions.
func (f *facts) ownDatabase(ctx context.Context) error {
	s, err := dial(ctx, f.spec.Name, f.spec.Primary)
	if err != nil {
		return err
	}
	defer s.close()
	for _, q := range txn.Schema() {
		if _, err := s.exec(ctx, q); err != nil {
			return fmt.Errorf("create our own tables on %s: %w", f.spec.Primary.Addr, err)
		}
	}
	return nil
}
