package session

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// flight is a session's flight recorder: its last steps, for whoever wants to know afterwards what led to an error, or what a
// session that hangs has done last. It is always on. The session writes; anybody may read.
//
// A step is one word, so that a reader sees it whole or not at all, without locks and without a count of writers. The ring has
// no index that others read either: steps are written in the order of time, so the oldest follows where time falls.
//
//	63                            28 27    24 23        16 15            0
//	│ microseconds, 36 bits (19 h)  │  step  │ node group │ code or kind │
type flight struct {
	ring [flightSteps]atomic.Uint64 // 0: never written
	next uint32                     // the session's own
}

// flightSteps is a power of two. 32 steps are 256 bytes, which every connection has.
const flightSteps = 32

const flightClock = 1<<36 - 1

// flightStep is what a session did.
type flightStep uint8

const (
	_               flightStep = iota
	stepStatement              // a statement has arrived
	stepSent                   // the whole statement goes to a node group; code: its kind
	stepSeveral                // it is run over several node groups; code: its kind
	stepFragment               // a connection for a part of it was acquired
	stepFragmentEnd            // and given back; code: the error
	stepHeld                   // it waits for partitions that are being handed over
	stepCommit                 // a commit over several node groups begins
	stepEnd                    // the statement has ended; node group: the only one used; code: the error
	stepCommand                // a command other than a statement; code: which
)

func (s flightStep) String() string {
	names := [...]string{"", "statement", "sent", "several", "fragment", "fragment end", "held", "commit", "end", "command"}
	if int(s) >= len(names) {
		return fmt.Sprint(uint8(s))
	}
	return names[s]
}

// note records a step. now is on the Registry's clock, and must not go back.
func (f *flight) note(now time.Duration, step flightStep, g placement.NodeGroupID, code uint16) {
	word := (uint64(now/time.Microsecond)&flightClock)<<28 | uint64(step)<<24 | uint64(min(g, 0xff))<<16 | uint64(code)
	f.ring[f.next%flightSteps].Store(word)
	f.next++
}

// Step is one step of a session.
type Step struct {
	At    time.Time
	Name  string
	Group int // 255: that or a higher one
	Code  int // of the error a step ended with; 0: none
	Kind  string
}

// steps returns what was recorded, the oldest first. now and at are the same moment, on the Registry's clock and as a time.
func (f *flight) steps(now time.Duration, at time.Time) []Step {
	var words [flightSteps]uint64
	for i := range f.ring {
		words[i] = f.ring[i].Load()
	}
	// Ages, because the clock of a step begins anew every 19 hours. Where the age rises is the boundary between the newest
	// step and the oldest. Steps written while this reads are newer than all others, and may stand at that boundary only.
	us := uint64(now/time.Microsecond) & flightClock
	age := func(w uint64) uint64 {
		a := (us - w>>28) & flightClock
		if a > flightClock/2 {
			return 0 // written after now was read
		}
		return a
	}
	first := 0
	for i := 1; i < flightSteps; i++ {
		if words[i] != 0 && words[i-1] != 0 && age(words[i]) > age(words[i-1]) {
			first = i
		}
	}
	var list []Step
	for i := range flightSteps {
		w := words[(first+i)%flightSteps]
		if w == 0 {
			continue
		}
		s := Step{
			At: at.Add(-time.Duration(age(w)) * time.Microsecond), Name: flightStep(w >> 24 & 0xf).String(),
			Group: int(w >> 16 & 0xff), Code: int(w & 0xffff),
		}
		switch flightStep(w >> 24 & 0xf) {
		case stepSent, stepSeveral:
			s.Kind, s.Code = plan.Kind(s.Code).String(), 0
		case stepCommand:
			s.Kind, s.Code = fmt.Sprintf("command %d", s.Code), 0
		}
		list = append(list, s)
	}
	// A session that wrote the whole ring while this read has left more than one boundary.
	slices.SortStableFunc(list, func(a, b Step) int { return a.At.Compare(b.At) })
	return list
}

// String is the step in a line of the log.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Name)
	if s.Kind != "" {
		b.WriteString(" " + s.Kind)
	}
	if s.Group != 0 {
		fmt.Fprintf(&b, " group=%d", s.Group)
	}
	if s.Code != 0 {
		fmt.Fprintf(&b, " error=%d", s.Code)
	}
	return b.String()
}

// traceText is the steps in one line, each with how long ago it was.
func (s *Session) traceText() string {
	now := time.Now()
	var b strings.Builder
	for _, step := range s.flight.steps(s.cfg.Registry.clock(), now) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "-%s %s", now.Sub(step.At), step)
	}
	return b.String()
}

// codeOf is the error a statement ended with, 0 without one.
func (s *Session) codeOf(err error) uint16 {
	switch {
	case err != nil:
		return uint16(sqlerr.From(err).Code)
	case s.usedSummary.Failed():
		return uint16(s.usedSummary.ErrCode)
	}
	return 0
}

// Trace returns the last steps of a session, the oldest first; ok is false if there is no such session.
func (r *Registry) Trace(id uint32) (user string, steps []Step, ok bool) {
	s := r.get(id)
	if s == nil {
		return "", nil, false
	}
	return s.activity.process().User, s.flight.steps(r.clock(), time.Now()), true
}

// sessionTraceTable is skarv.session_trace: the last steps of this process's sessions that the account may see.
func (s *Session) sessionTraceTable() *table {
	t := newTable("#session", "user", "#step", "at", "#ago_us", "what", "kind", "#node_group", "#error")
	all := s.account.Privilege("*") >= catalog.Admin
	for _, p := range s.cfg.Registry.Processes() {
		if !all && p.User != s.user {
			continue
		}
		_, steps, _ := s.cfg.Registry.Trace(p.ID)
		now := time.Now()
		for i, step := range steps {
			t.add(p.ID, p.User, i+1, step.At.UTC().Format("2006-01-02 15:04:05.000000"), now.Sub(step.At).Microseconds(), step.Name,
				step.Kind, step.Group, step.Code)
		}
	}
	return t
}
