package session

import (
	"errors"
	"slices"

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
	// conns, not nil, are those of a statement that writes: the copies are read on them, one group after the other.
	conns *conns
	uses  plan.Uses // of the reading
	// tracked are the copies that the statement changes.
	tracked []tracked
}

// tracked is a copy that the statement changes.
type tracked struct {
	copy *plan.Copy
	*workspace.Tracked
}

// all makes copies and gives them their names.
func (g *gathering) all(copies []plan.Copy) error {
	names := make([]string, len(copies))
	for _, views := range []bool{true, false} { // a view's tables must not be hidden by copies
		for i := range copies {
			if t := &copies[i]; (t.View != nil) == views {
				var err error
				if names[i], err = g.one(t); err != nil {
					return err
				}
			}
		}
	}
	for i := range copies {
		if err := g.w.Rename(copies[i].Table.Database, names[i], copies[i].TableName()); err != nil {
			return txn.Lost(g.c, err)
		}
	}
	return nil
}

// one makes one copy, under a name of its own.
func (g *gathering) one(t *plan.Copy) (name string, err error) {
	s, w := g.s, g.w
	if t.View != nil {
		copies := t.View.Copies
		if s.tx != nil || g.conns != nil {
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
	if name, err = w.Create(t.Table); err != nil {
		return "", txn.Lost(g.c, err)
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
	}
	if t.Written != nil && t.Table.Kind == catalog.Reference {
		// Every write to the copies of a reference table locks the first one first.
		defer func(home placement.NodeGroupID) { s.runner.Router.Home = home }(s.runner.Router.Home)
		s.runner.Router.Home = s.snap.Groups[0].ID
	}
	p := &plan.Plan{Kind: plan.Select, Root: &plan.Merge{Input: t.Input}, Uses: g.uses}
	if err := g.read(p, f); err != nil {
		return "", err
	}
	if err := f.Finish(); err != nil {
		return "", txn.Lost(g.c, err)
	}
	return name, nil
}

// read reads the rows of one table.
func (g *gathering) read(p *plan.Plan, sink exec.Sink) error {
	s := g.s
	s.runner.Router.Touched.Forget()
	if g.conns != nil {
		s.runner.Conns, s.runner.Sequence = g.conns, s.cfg.Sequences
		_, err := s.runner.Run(p, s.snap, &s.args, sink)
		return asServerLost(err)
	}
	conns := conns{s: s, plan: p}
	s.runner.Conns, s.runner.Sequence = &conns, s.cfg.Sequences
	if _, err := s.runner.Run(p, s.snap, &s.args, sink); err != nil {
		if err == errMoved {
			return err
		}
		conns.end()
		return s.failed(asServerLost(err))
	}
	conns.keep()
	return nil
}

// asServerLost makes an error that no client can see one that it can.
func asServerLost(err error) error {
	var e *sqlerr.Error
	if err == nil || err == errMoved || errors.As(err, &e) {
		return err
	}
	return sqlerr.ServerLost.New(err.Error())
}
