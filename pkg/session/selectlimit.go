package session

import (
	"math"
	"strconv"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/variable"
)

// selectLimit is the variable of which statements over several node groups know: it is for the rows that a client gets.
const selectLimit = "@@session.`sql_select_limit`"

// selectLimit is the session's sql_select_limit; ok is false if that leaves out nothing.
func (s *Session) selectLimit() (limit uint64, ok bool) {
	v, ok := s.state.Get(selectLimit)
	if !ok {
		return 0, false
	}
	limit, err := strconv.ParseUint(v, 10, 64)
	return limit, err == nil && limit < math.MaxUint64
}

// withoutSelectLimit gives the connections of a statement a sql_select_limit that leaves out nothing, until back is called: neither rows
// of which others are made nor what runs in stored programs is what a client selects. It counts for connections that are got meanwhile. What
// has set it since, a stored program, is undone by back, too.
func (s *Session) withoutSelectLimit() (back func()) {
	set := func(to uint64) (was uint64) {
		if was = s.anyLimit(); was != to {
			s.state = s.state.With(s.state.DB, backend.Variable{Name: selectLimit, Value: strconv.FormatUint(to, 10)})
		}
		return was
	}
	limit := set(math.MaxUint64)
	return func() { set(limit) }
}

// anyLimit is selectLimit, the largest number if that leaves out nothing.
func (s *Session) anyLimit() uint64 {
	if limit, ok := s.selectLimit(); ok {
		return limit
	}
	return math.MaxUint64
}

// The variables by which servers refuse to read more than so many rows (1104). Whoever sets the second one sets the first, too.
const (
	bigSelects  = "@@session.`sql_big_selects`"
	maxJoinSize = "@@session.`max_join_size`"
)

// withoutLimits is withoutSelectLimit, and lets servers read as many rows as there are: by statements that no client has written.
func (s *Session) withoutLimits() (back func()) {
	limited, big := s.withoutSelectLimit(), ""
	for _, v := range s.state.Vars {
		switch {
		case v.Name == bigSelects:
			big = v.Value
		case v.Name == maxJoinSize:
			size, err := strconv.ParseUint(v.Value, 10, 64)
			big = "0"
			if err == nil && size == math.MaxUint64 {
				big = "1"
			}
		}
	}
	if big == "" || variable.IsOn(big) {
		return limited
	}
	set := func(to string) {
		s.state = s.state.With(s.state.DB, backend.Variable{Name: bigSelects, Value: to})
	}
	set("1")
	return func() {
		set(big)
		limited()
	}
}

// limitOutput is sql_select_limit for a SELECT over several node groups: the sum of what they give stops there, and each of them does if
// its rows are the client's. It holds until back is called.
func (s *Session) limitOutput(p *plan.Plan, out *output) (back func()) {
	back = func() {}
	if p.Kind != plan.Select {
		return back
	}
	limit, ok := s.selectLimit()
	if !ok {
		return back
	}
	explicit, whole := false, false
	for n := p.Root; n != nil; {
		switch t := n.(type) {
		case *plan.Limit:
			explicit, whole, n = true, whole || t.All, t.Input // counts instead of it
		case *plan.Merge:
			n = t.Input
		case *plan.Project:
			n = t.Input
		case *plan.Sort:
			n = t.Input
		case *plan.Aggregate:
			whole, n = true, t.Input
		case *plan.Distinct:
			whole, n = true, t.Input
		default:
			n = nil
		}
	}
	if !explicit {
		out.limit = limit
	}
	if whole {
		return s.withoutSelectLimit()
	}
	return back
}
