package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/placement"
	"skarv/pkg/preflight"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
)

// GroupSpec is a node group to be: its servers and how Skarv logs in there.
type GroupSpec struct {
	Name     string         `json:"name,omitempty"` // default: "ng" and its id
	Primary  catalog.Node   `json:"primary"`        // Addr, User, Password, TLS, DataNode; the rest is asked of the server
	Replicas []catalog.Node `json:"replicas,omitempty"`
	Mark     string         `json:"-"` // of the server, once it has one
}

// NodeGroup is the catalog entry of the group, with what its primary says of itself.
func (g GroupSpec) NodeGroup(id placement.NodeGroupID, f *preflight.Facts) *catalog.NodeGroup {
	out := &catalog.NodeGroup{ID: id, Name: g.Name, Primary: f.Node, Replicas: g.Replicas, Term: 1, Mark: g.Mark}
	for i := range out.Replicas {
		out.Replicas[i].Flavor = f.Node.Flavor
	}
	return out
}

// groupName is what a node group may be called. It begins with a letter, for operators write a name or an id.
var groupName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// TakeName gives a group without a name "ng" and the first number from n on that is free, and returns an error if the name it has stands
// for one of others, the groups that there are, or could be taken for an id.
func (g *GroupSpec) TakeName(n int, others []string) error {
	for ; g.Name == ""; n++ {
		if name := fmt.Sprintf("ng%d", n); !slices.Contains(others, name) {
			g.Name = name
		}
	}
	if !groupName.MatchString(g.Name) {
		return fmt.Errorf("%q is no name for a node group: take letters, digits, '_', '.' and '-', with a letter first, 64 at most", g.Name)
	}
	if slices.Contains(others, g.Name) {
		return fmt.Errorf("there is a node group %s already: take another name", g.Name)
	}
	return nil
}

// examine asks the group's primary whether it can be that of a new node group: a fit server without tables of others.
func (g GroupSpec) examine(ctx context.Context, servers schema.Dialer) (*preflight.Facts, error) {
	f, err := preflight.Examine(ctx, servers, g.Name, g.Primary)
	if err != nil {
		return nil, err
	}
	return f, f.Empty(ctx, g.Name)
}

// ownDatabase creates our own database, the table of decisions on transactions and the server's mark, which it notes.
func (g *GroupSpec) ownDatabase(ctx context.Context, servers schema.Dialer) error {
	s, err := servers.Dial(ctx, g.Name, g.Primary)
	if err != nil {
		return err
	}
	defer s.Close()
	if g.Mark, err = OwnTables(ctx, s); err != nil {
		return fmt.Errorf("create our own tables on %s: %w", g.Primary.Addr, err)
	}
	return nil
}

// OwnTables creates what every server of ours has in our own database, and returns the server's mark.
func OwnTables(ctx context.Context, s *schema.Server) (mark string, err error) {
	for _, q := range append(txn.Schema(), fence.Marking(rand.Text())...) {
		if _, err := s.Exec(ctx, q); err != nil {
			return "", err
		}
	}
	return s.One(ctx, fence.MarkOf)
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
var ErrExists = errors.New("this etcd prefix holds a cluster already: take another one (etcd.prefix), or give that cluster up with skarvctl leave")

// InitCluster makes a cluster of servers that hold no tables: identity, node groups and the partition map at epoch 1,
// in one transaction. An error means that etcd is unchanged; ErrExists, that there is a cluster.
func InitCluster(ctx context.Context, store *topology.Store, servers schema.Dialer, req InitRequest) (InitResult, error) {
	if len(req.Groups) == 0 {
		return InitResult{}, errors.New("a cluster needs at least one node group")
	}
	if _, revision, err := store.Cluster(ctx); err != nil {
		return InitResult{}, err
	} else if revision != topology.Absent {
		return InitResult{}, ErrExists
	}
	seen := map[string]bool{}
	for _, spec := range req.Groups {
		if seen[spec.Primary.Addr] {
			return InitResult{}, fmt.Errorf("server %s is named twice", spec.Primary.Addr)
		}
		seen[spec.Primary.Addr] = true
	}
	var names []string
	for _, unnamed := range []bool{false, true} { // those without a name take what is left
		for i := range req.Groups {
			spec := &req.Groups[i]
			if (spec.Name == "") != unnamed {
				continue
			}
			if err := spec.TakeName(i+1, names); err != nil {
				return InitResult{}, err
			}
			names = append(names, spec.Name)
		}
	}
	facts := make([]*preflight.Facts, len(req.Groups))
	g, gctx := errgroup.WithContext(ctx)
	for i, spec := range req.Groups {
		g.Go(func() (err error) {
			facts[i], err = spec.examine(gctx, servers)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return InitResult{}, err
	}
	res := InitResult{ClusterID: topology.NewClusterID()}
	change := store.Change(nil)
	ids := make([]placement.NodeGroupID, len(facts))
	for _, f := range facts {
		if err := facts[0].Agrees(f); err != nil {
			return InitResult{}, err
		}
		res.Warnings = append(res.Warnings, f.Warnings...)
	}
	nodes := make([]catalog.Node, len(req.Groups))
	for i, spec := range req.Groups {
		nodes[i] = spec.Primary
	}
	if err := preflight.Distinct(ctx, servers, nodes); err != nil {
		return InitResult{}, err
	}
	for i := range req.Groups {
		spec := &req.Groups[i]
		if err := spec.ownDatabase(ctx, servers); err != nil {
			return InitResult{}, err
		}
		ids[i] = placement.NodeGroupID(i + 1)
		group := spec.NodeGroup(ids[i], facts[i])
		res.Groups = append(res.Groups, group)
		change.PutGroup(group, topology.Absent)
	}
	m, err := placement.NewMap(ids)
	if err != nil {
		return InitResult{}, err
	}
	change.PutMap(m, topology.Absent)
	change.PutCluster(topology.Cluster{
		ID:                  res.ClusterID,
		Flavor:              facts[0].Node.Flavor,
		Created:             time.Now().UTC(),
		LowerCaseTableNames: facts[0].LowerCase,
	}, topology.Absent)
	_, err = change.Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return InitResult{}, ErrExists
	}
	return res, err
}
