package session

import (
	"errors"
	"math"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/variable"
)

// ways are the ways of n that can be taken now, the one to take first.
func (s *Session) ways(n *plan.Choice) []plan.Way {
	c := &plan.Circumstances{Groups: len(s.snap.Map.Groups())}
	c.Size, c.Distinct = s.sizes(n)
	if f := n.First; f != nil {
		c.Limit = s.wants(f.First)
	}
	broadcast := func(w plan.Way) bool {
		_, ok := w.Node.(*plan.Broadcast)
		return ok
	}
	var prefer func(plan.Way) bool
	switch s.ours.Joins {
	case variable.JoinWorkspace:
		prefer = func(plan.Way) bool { return false }
	case variable.JoinBroadcast:
		prefer = broadcast
	case variable.JoinFirst:
		prefer = func(w plan.Way) bool { return w.First > 0 }
	case variable.JoinQueries:
		prefer = func(w plan.Way) bool { return w.Queries }
	}
	_, limited := s.selectLimit() // connections with copies have it before it is known which rows are the client's
	ways := n.Order(c, prefer, func(w plan.Way) bool {
		return !broadcast(w) || !s.hasOwnRows() && s.locks == nil && !limited && !(s.binary && n.Floats)
	})
	if s.ours.Joins == variable.JoinFirst && ways[0].First > 0 {
		ways[0].First = max(1, uint64(c.Limit)) // no more than must be
	}
	return ways
}

// wants is how many rows a LIMIT asks for, those left out by its OFFSET included.
func (s *Session) wants(f *plan.FirstRows) float64 {
	count, ok := s.args.Count(f.Count)
	if !ok {
		return math.Inf(1)
	}
	rows := float64(count)
	if f.Offset != nil {
		offset, ok := s.args.Count(*f.Offset)
		if !ok {
			return math.Inf(1)
		}
		rows += float64(offset)
	}
	return rows
}

// choose runs a query in the way that is expected to be cheapest, and in the next one if that cannot be.
func (s *Session) choose(p *plan.Plan, n *plan.Choice) error {
	s.newOutput() // whether something has been sent is asked of this statement's
	way, began := s.ways(n)[0], time.Now()
	var err error = sqlerr.Internal.New("a way that is not known")
	switch node := way.Node.(type) {
	case *plan.Broadcast:
		err = s.broadcast(p, node)
	case *plan.Workspace:
		err = s.workspace(p, node, way.First)
	}
	if err == errAnotherWay || way.Queries && mistaken(err) && s.out.columns == nil {
		s.traced.Stage("what led nowhere, so that the workspace follows", began, 0, 0)
		return s.workspace(p, n.Workspace, 0)
	}
	return err
}

// mistaken reports whether a server takes exception to the text of a statement: if it is not the client's own, that should judge.
// Of two collations in it none may be stronger: a column that holds a literal is stronger than the literal.
func mistaken(err error) bool {
	e, ok := errors.AsType[*sqlerr.Error](err)
	return ok && e.Code != sqlerr.NotSupportedYet && (e.Code == sqlerr.MixedCollations || strings.HasPrefix(e.State, "42") || strings.HasPrefix(e.State, "22") || strings.HasPrefix(e.State, "21"))
}

// sizes tells how many rows the tables of n have, and how many values their columns.
func (s *Session) sizes(n *plan.Choice) (plan.Size, plan.Values) {
	tables := n.Tables()
	known := s.cfg.Estimates.Of(tables, s.countRows)
	size := func(t *catalog.Table) (float64, bool) {
		c, ok := known[catalog.TableName{Database: t.Database, Name: t.Name}]
		return c.Rows, ok
	}
	distinct := func(t *catalog.Table, column int) float64 {
		c := known[catalog.TableName{Database: t.Database, Name: t.Name}]
		return c.Distinct[strings.ToLower(t.Columns[column].Name)]
	}
	return size, distinct
}
