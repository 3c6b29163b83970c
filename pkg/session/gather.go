package session

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

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
	// careful: see plan.Workspace.Moments.
	careful bool
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
	for i := range copies { // first, for the tables that views and queries read must not be hidden by copies
		if copies[i].View == nil {
			continue
		}
		var err error
		if names[i], err = g.view(&copies[i]); err != nil {
			return err
		}
	}
	if err := g.gather(copies, names); err != nil {
		return err
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

// store computes what is read from several places, over the copies.
func (g *gathering) store(list []plan.Stored) error {
	s := g.s
	s.beforehand = s.beforehand[:0] // of a way that was given up
	for _, st := range list {
		begin := time.Now()
		warned, err := g.w.Store(st.Database, st.Names, string(s.args.AppendText(nil, st.Text)), func() {
			s.beforehand = s.appendWarnings(s.beforehand, g.c)
		})
		switch {
		case err != nil:
			return s.computed(txn.Lost(g.c, err))
		case warned && g.conns != nil: // it may be an error there
			return sqlerr.Unsupported("a common table expression that is read from several places, and warns, in a write over several node groups", "select its rows first")
		}
		s.traced.Stage(fmt.Sprintf("rows of a common table expression on node group %d", g.c.Group), begin, 0, 0)
	}
	return nil
}

// gather makes the copies that are read from node groups, and notes what they are called.
func (g *gathering) gather(copies []plan.Copy, names []string) error {
	var list []*copying
	for _, computed := range []bool{true, false} { // queries, which have few rows, first
		for i := range copies {
			if t := &copies[i]; t.View == nil && t.Computed() == computed {
				list = append(list, &copying{g: g, all: copies, at: i})
			}
		}
	}
	var err error
	if g.conns != nil || g.uses&plan.LocksRows != 0 {
		err = g.inTurn(list)
	} else {
		err = g.atOnce(list)
	}
	for _, c := range list {
		names[c.at] = c.name
	}
	return err
}

// inTurn makes one copy after the other: rows are locked in an order that all statements follow.
func (g *gathering) inTurn(list []*copying) error {
	for _, c := range list {
		if err := c.begin(); err != nil {
			return err
		}
		if c.plan == nil {
			continue
		}
		c.began = time.Now()
		sum, err := g.read(c)
		if err := c.end(sum, err); err != nil {
			return err
		}
	}
	return nil
}

// everywhere are all workspaces that get the copies.
func (g *gathering) everywhere() []*workspace.Workspace {
	return append([]*workspace.Workspace{g.w}, g.also...)
}

// view makes the copy of a view's rows, under a name of its own.
func (g *gathering) view(t *plan.Copy) (name string, err error) {
	copies, text := t.View.Copies, t.Text
	if g.s.hasOwnRows() || g.conns != nil {
		copies, text = t.View.ForOwnRows().Copies, cmp.Or(t.OwnText, t.Text)
	}
	mark := g.w.Mark()
	if err := g.all(copies); err != nil {
		return "", err
	}
	begin := time.Now()
	if name, err = g.w.Select(t.Table.Database, text, t.Table.Collation); err == nil {
		g.s.traced.Stage(fmt.Sprintf("rows of view %s.%s on node group %d", t.Table.Database, t.Table.Name, g.c.Group), begin, 0, 0)
		err = g.w.DropBetween(mark)
	}
	if err != nil {
		return "", g.s.computed(txn.Lost(g.c, err))
	}
	return name, nil
}

// copying is the making of one copy that is read from node groups:
//
//	begin ──► plan is run, its rows go to filler ──► end
type copying struct {
	g    *gathering
	all  []plan.Copy
	at   int    // in all
	name string // of the table that gets the rows, until all copies are there
	// plan finds the rows; nil: no row can matter.
	plan   *plan.Plan
	lists  []exec.List // arguments of plan, for which those of other copies may have been put since
	filler *workspace.Filler
	began  time.Time // to be read
	busy   bool      // there was no connection for it, and none has been given back since
}

func (c *copying) copy() *plan.Copy { return &c.all[c.at] }

// begin makes the table.
func (c *copying) begin() error {
	if c.copy().Query != nil {
		return c.beginQuery()
	}
	g, t := c.g, c.copy()
	for i, w := range g.everywhere() {
		var made string
		var err error
		if t.Different {
			made, err = w.CreatePart(t.Table, t.Columns, t.Keys)
		} else {
			made, err = w.Create(t.Table)
		}
		if err != nil {
			return txn.Lost(g.c, err)
		}
		if i > 0 && made != c.name {
			return sqlerr.Internal.New("copies of one table have different names")
		}
		c.name = made
	}
	if t.Written != nil {
		tr, f, err := g.w.Track(t.Table, c.name, t.Columns)
		if err != nil {
			return txn.Lost(g.c, err)
		}
		g.tracked = append(g.tracked, tracked{t, tr})
		c.filler = f
	} else {
		c.filler = g.w.Fill(t.Table, c.name, t.Columns)
		c.filler.Also(g.also)
		c.filler.Without(t.Unused)
	}
	g.collect(c.filler, c.all, c.at, t.Table, t.Columns)
	root := g.first
	if g.first = nil; root == nil {
		var input *plan.Fragment
		if input, c.lists = g.joined(t); input == nil {
			return nil
		}
		root = &plan.Merge{Input: input}
	}
	c.plan = &plan.Plan{Kind: plan.Select, Root: root, Uses: g.uses}
	return nil
}

// beginQuery is begin for the rows of a query. The error is errAnotherWay where it is not sure that they would be those that one
// server stores: for the types of its columns.
func (c *copying) beginQuery() error {
	g, t := c.g, c.copy()
	made, err := g.w.Result(t.Table.Database, string(g.s.args.AppendText(nil, t.Query.Text)), t.Query.Keys)
	switch {
	case err != nil && g.c.Usable():
		return errAnotherWay
	case err != nil:
		return txn.Lost(g.c, err)
	case !made.Exact:
		return errAnotherWay
	}
	c.name, c.filler = made.Name, g.w.FillResult(made, t.Query.Operand)
	g.collect(c.filler, c.all, c.at, made.Table, made.Columns)
	c.plan = &plan.Plan{Kind: plan.Select, Root: t.Query.Root, Uses: t.Query.Uses}
	return nil
}

// end is told how the reading of the rows has ended. A query that warned or failed is errAnotherWay: one server may not have done so.
func (c *copying) end(sum exec.Summary, err error) error {
	if c.copy().Query != nil {
		if e, ok := errors.AsType[*sqlerr.Error](err); ok && (strings.HasPrefix(e.State, "22") || strings.HasPrefix(e.State, "21")) ||
			err == nil && sum.Warnings > 0 {
			return errAnotherWay
		}
	}
	if err != nil {
		return err
	}
	if c.at == 0 {
		c.g.firstRows = c.filler.Rows()
	}
	if err := c.filler.Finish(); err != nil {
		return txn.Lost(c.g.c, err)
	}
	t := c.copy().Table
	c.g.s.traced.Stage("copy of "+t.Database+"."+t.Name+c.g.whereto(), c.began, c.filler.Rows(), c.filler.Bytes())
	return nil
}

// whereto names the node groups that get copies.
func (g *gathering) whereto() string {
	if len(g.also) > 0 {
		return fmt.Sprintf(" to %d node groups", 1+len(g.also))
	}
	return fmt.Sprintf(" to node group %d", g.c.Group)
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

// joined is the fragment that reads t by what is known of its joins, with the lists that it takes as arguments; nil if no row can matter.
func (g *gathering) joined(t *plan.Copy) (*plan.Fragment, []exec.List) {
	if g.careful {
		return cmp.Or(t.Careful, t.Input), nil
	}
	if len(t.Joins) == 0 {
		return t.Input, nil
	}
	lists := make([]exec.List, len(t.Joins))
	for i, j := range t.Joins {
		k := g.keys[source{j.From, j.Source}]
		if k == nil {
			continue
		}
		sql, values, ok := k.List()
		if ok && len(sql) == 0 && !j.Always {
			return nil, nil
		}
		if j.Op != "" && len(sql) != 1 || len(sql) == 0 {
			continue
		}
		lists[i] = exec.List{Values: values, SQL: sql}
	}
	return t.Joined(func(i int) bool { return lists[i].SQL != nil }), lists
}

// read reads the rows of one copy, which may be locked.
func (g *gathering) read(c *copying) (exec.Summary, error) {
	s := g.s
	if t := c.copy(); (t.Written != nil || g.uses&plan.LocksRows != 0) && t.Query == nil && t.Table.Kind == catalog.Reference {
		// Whoever locks rows of a reference table locks those of its first copy first.
		defer func(home placement.NodeGroupID) { s.runner.Router.Home = home }(s.runner.Router.Home)
		s.runner.Router.Home = s.snap.Groups[0].ID
	}
	s.runner.Router.Touched.Forget()
	s.args.Lists = c.lists
	if g.conns != nil {
		sum, err := s.runner.Run(s.execution(g.conns), c.plan, s.snap, &s.args, c.filler)
		return sum, asServerLost(err)
	}
	conns := conns{s: s, plan: c.plan}
	sum, err := s.runner.Run(s.execution(&conns), c.plan, s.snap, &s.args, c.filler)
	if err == errReplan {
		return sum, err
	}
	if err != nil {
		return sum, s.failed(asServerLost(err))
	}
	conns.keep()
	return sum, nil
}

// asServerLost makes an error that no client can see one that it can.
func asServerLost(err error) error {
	if _, ok := errors.AsType[*sqlerr.Error](err); ok || err == nil || err == errReplan {
		return err
	}
	return sqlerr.ServerLost.New(err.Error())
}
