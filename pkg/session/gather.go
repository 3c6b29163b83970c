package session

import (
	"errors"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/workspace"
)

// gathering makes the copies of a workspace.
type gathering struct {
	s *Session
	w *workspace.Workspace
	c *backend.Conn // the workspace's
	// also are the workspaces of a broadcast on further groups: what w gets they get.
	also []*workspace.Workspace
	// first, not nil, reads the first copy: see plan.FirstRows. firstRows is how many rows it had.
	first     plan.Node
	firstRows uint64
	// conns, not nil, are those of a statement that writes: the copies are read on them, one group after the other.
	conns *conns
	uses  plan.Uses // of the reading
	// tracked are the copies that the statement changes.
	tracked []tracked
	// keys are the values that joins need, seen while their copies were made.
	keys map[source]*workspace.Keys
}

// source is a column of a copy.
type source struct{ copy, column int }

// tracked is a copy that the statement changes.
type tracked struct {
	copy *plan.Copy
	*workspace.Tracked
}

// all makes copies and gives them their names.
func (g *gathering) all(copies []plan.Copy) error {
	names := make([]string, len(copies))
	keys := g.keys
	g.keys = map[source]*workspace.Keys{}
	defer func() { g.keys = keys }()
	for _, computed := range []bool{true, false} { // the tables of views and queries must not be hidden by copies
		for i := range copies {
			if t := &copies[i]; t.Computed() == computed {
				var err error
				if names[i], err = g.one(copies, i); err != nil {
					return err
				}
			}
		}
	}
	for i := range copies {
		for _, w := range g.everywhere() {
			if err := w.Rename(copies[i].Table.Database, names[i], copies[i].TableName()); err != nil {
				return txn.Lost(g.c, err)
			}
		}
	}
	return nil
}

// everywhere are all workspaces that get the copies.
func (g *gathering) everywhere() []*workspace.Workspace {
	return append([]*workspace.Workspace{g.w}, g.also...)
}

// one makes one copy, under a name of its own.
func (g *gathering) one(all []plan.Copy, i int) (name string, err error) {
	s, w, t := g.s, g.w, &all[i]
	if t.View != nil {
		copies := t.View.Copies
		if s.private() || g.conns != nil {
			copies = slices.Concat(t.View.Copies, t.View.Local)
		}
		mark := w.Mark()
		if err := g.all(copies); err != nil {
			return "", err
		}
		if name, err = w.Select(t.Table.Database, t.Text); err == nil {
			err = w.DropBetween(mark)
		}
		if err != nil {
			return "", s.computed(txn.Lost(g.c, err))
		}
		return name, nil
	}
	if t.Query != nil {
		return g.query(all, i)
	}
	for i, w := range g.everywhere() {
		made, err := w.Create(t.Table)
		if err != nil {
			return "", txn.Lost(g.c, err)
		}
		if i > 0 && made != name {
			return "", sqlerr.Internal.New("copies of one table have different names")
		}
		name = made
	}
	var f *workspace.Filler
	if t.Written != nil {
		var tr *workspace.Tracked
		if tr, f, err = w.Track(t.Table, name, t.Columns); err != nil {
			return "", txn.Lost(g.c, err)
		}
		g.tracked = append(g.tracked, tracked{t, tr})
	} else {
		f = w.Fill(t.Table, name, t.Columns)
		f.Also(g.also)
		f.Without(t.Unused)
	}
	if (t.Written != nil || g.uses&plan.LocksRows != 0) && t.Table.Kind == catalog.Reference {
		// Whoever locks rows of a reference table locks those of its first copy first.
		defer func(home placement.NodeGroupID) { s.runner.Router.Home = home }(s.runner.Router.Home)
		s.runner.Router.Home = s.snap.Groups[0].ID
	}
	g.collect(f, all, i, t.Table, t.Columns)
	root := g.first
	if g.first = nil; root == nil {
		input := g.joined(t)
		if input == nil {
			return name, nil // no row can matter
		}
		root = &plan.Merge{Input: input}
	}
	p := &plan.Plan{Kind: plan.Select, Root: root, Uses: g.uses}
	if _, err := g.read(p, f); err != nil {
		return "", err
	}
	if i == 0 {
		g.firstRows = f.Rows()
	}
	if err := f.Finish(); err != nil {
		return "", txn.Lost(g.c, err)
	}
	return name, nil
}

// query makes the copy of a query's rows. The error is errAnotherWay where it is not sure that they would be those that one
// server stores: for the types of its columns, and where it warned or failed, which one server may not have done.
func (g *gathering) query(all []plan.Copy, i int) (name string, err error) {
	t := &all[i]
	made, err := g.w.Result(t.Table.Database, string(g.s.args.AppendText(nil, t.Query.Text)), t.Query.Keys)
	switch {
	case err != nil && g.c.Usable():
		return "", errAnotherWay
	case err != nil:
		return "", txn.Lost(g.c, err)
	case !made.Exact:
		return "", errAnotherWay
	}
	f := g.w.FillResult(made)
	g.collect(f, all, i, made.Table, made.Columns)
	sum, err := g.read(&plan.Plan{Kind: plan.Select, Root: t.Query.Root, Uses: t.Query.Uses}, f)
	switch e := (*sqlerr.Error)(nil); {
	case errors.As(err, &e) && (strings.HasPrefix(e.State, "22") || strings.HasPrefix(e.State, "21")), err == nil && sum.Warnings > 0:
		return "", errAnotherWay
	case err != nil:
		return "", err
	}
	if err := f.Finish(); err != nil {
		return "", txn.Lost(g.c, err)
	}
	return made.Name, nil
}

// collect makes f take note of the values by which copies after copy i are read.
func (g *gathering) collect(f *workspace.Filler, all []plan.Copy, i int, t *catalog.Table, columns []int) {
	for n := range all {
		for _, j := range all[n].Joins {
			at := source{i, j.Source}
			if j.From == i && g.keys[at] == nil {
				if k := f.Collect(t, columns, j.Source, plan.MaxKeys); k != nil {
					g.keys[at] = k
				}
			}
		}
	}
}

// joined is the fragment that reads t by what is known of its joins; nil if no row can matter.
func (g *gathering) joined(t *plan.Copy) *plan.Fragment {
	if len(t.Joins) == 0 {
		return t.Input
	}
	lists := make([]exec.List, len(t.Joins))
	for i, j := range t.Joins {
		k := g.keys[source{j.From, j.Source}]
		if k == nil {
			continue
		}
		sql, values, ok := k.List()
		if ok && len(sql) == 0 {
			return nil
		}
		lists[i] = exec.List{Values: values, SQL: sql}
	}
	g.s.args.Lists = lists
	return t.Joined(func(i int) bool { return lists[i].SQL != nil })
}

// read reads the rows of one copy.
func (g *gathering) read(p *plan.Plan, sink exec.Sink) (exec.Summary, error) {
	s := g.s
	s.runner.Router.Touched.Forget()
	if g.conns != nil {
		s.runner.Conns, s.runner.Sequence = g.conns, s.cfg.Sequences
		sum, err := s.runner.Run(p, s.snap, &s.args, sink)
		return sum, asServerLost(err)
	}
	conns := conns{s: s, plan: p}
	s.runner.Conns, s.runner.Sequence = &conns, s.cfg.Sequences
	sum, err := s.runner.Run(p, s.snap, &s.args, sink)
	if err != nil {
		if err == errMoved {
			return sum, err
		}
		conns.end()
		return sum, s.failed(asServerLost(err))
	}
	conns.keep()
	return sum, nil
}

// asServerLost makes an error that no client can see one that it can.
func asServerLost(err error) error {
	var e *sqlerr.Error
	if err == nil || err == errMoved || errors.As(err, &e) {
		return err
	}
	return sqlerr.ServerLost.New(err.Error())
}
