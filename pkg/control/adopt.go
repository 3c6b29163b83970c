package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/preflight"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

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
	c.Await(ctx, j.revision)
	return j.Adopted, j.Notes, nil
}

// adoption is the job that adds a node group. Its server is ours alone until the group is in the catalog: everything
// done to it may be done again.
type adoption struct {
	leader *leader
	job    *job
	turn   *turn
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
	var names []string
	for _, g := range a.snap.Groups {
		last = max(last, g.ID)
		names = append(names, g.Name)
		if g.Primary.Addr == spec.Primary.Addr {
			return fmt.Errorf("server %s is node group %d already", spec.Primary.Addr, g.ID)
		}
	}
	if spec.Name != "" { // before anything is looked at
		if err := spec.TakeName(0, names); err != nil {
			return err
		}
	}
	f, err := spec.examine(ctx, a.leader.servers)
	if err != nil {
		return err
	}
	model := a.snap.Groups[0]
	old, err := preflight.Examine(ctx, a.leader.servers, model.Label(), model.Primary)
	if err != nil {
		return err
	}
	if err := old.Agrees(f); err != nil {
		return err
	}
	nodes := []catalog.Node{spec.Primary}
	for _, g := range a.snap.Groups {
		nodes = append(nodes, g.Primary)
	}
	if err := preflight.Distinct(ctx, a.leader.servers, nodes); err != nil {
		return err
	}
	id, err := a.nextID(ctx, last)
	if err != nil {
		return err
	}
	if spec.Name == "" {
		if err := spec.TakeName(int(id), names); err != nil {
			return err
		}
	}
	if err := spec.ownDatabase(ctx, a.leader.servers); err != nil {
		return err
	}
	if err := a.between(ctx, model, spec, schema.Copy); err != nil {
		return err
	}
	notes := append(f.Warnings, a.keyless()...)
	return a.join(ctx, model, spec.NodeGroup(id, f), func(change *topology.Change) error {
		if err := a.between(ctx, model, spec, schema.CopyTriggers); err != nil {
			return err
		}
		a.job.State, a.job.Adopted, a.job.Notes = done, id, notes
		a.job.Adopt = &GroupSpec{Name: spec.Name} // the password is in the group now
		err := a.leader.saveWith(ctx, a.job, change.PutGroup(spec.NodeGroup(id, f), topology.Absent))
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
func (a *adoption) between(ctx context.Context, model *catalog.NodeGroup, spec GroupSpec, copying func(ctx context.Context, snap *catalog.Snapshot, from, to *schema.Server) error) error {
	from, err := a.leader.servers.Dial(ctx, model.Label(), model.Primary)
	if err != nil {
		return err
	}
	defer from.Close()
	primary := spec.Primary
	primary.Flavor = a.snap.Flavor
	to, err := a.leader.servers.Dial(ctx, spec.Name, primary)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := a.leader.takeFence(ctx, to, primary.Addr, a.turn.lane); err != nil {
		return err
	}
	return copying(ctx, a.snap, from, to)
}
