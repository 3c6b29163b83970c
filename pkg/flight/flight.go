// Package flight is the flight recorder of a session: what it did last, for whoever asks after an error or while it hangs. It knows
// steps and when they were, and nothing of statements but their kind.
package flight

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
)

// Recorder has the last steps of one session. It is always on, and ready for use as it is. The session writes; anybody may read.
//
// A step is one word, so that a reader sees it whole or not at all, without locks and without a count of writers. The ring has
// no index that others read either: steps are written in the order of time, so the oldest follows where time falls.
//
//	63                            28 27    24 23        16 15            0
//	│ microseconds, 36 bits (19 h)  │  step  │ node group │ code or kind │
type Recorder struct {
	ring [size]atomic.Uint64 // 0: never written
	next uint32              // the session's own
}

// size is a power of two. 32 steps are 256 bytes, which every connection has.
const size = 32

const clockMask = 1<<36 - 1

// Event is what a session did.
type Event uint8

const (
	_           Event = iota
	Statement         // a statement has arrived
	Sent              // the whole statement goes to a node group; code: its kind
	Several           // it is run over several node groups; code: its kind
	Fragment          // a connection for a part of it was acquired
	FragmentEnd       // and given back; code: the error
	Held              // it waits for partitions that are being handed over
	Commit            // a commit over several node groups begins
	End               // the statement has ended; node group: the only one used; code: the error
	Command           // a command other than a statement; code: which
)

func (s Event) String() string {
	names := [...]string{"", "statement", "sent", "several", "fragment", "fragment end", "held", "commit", "end", "command"}
	if int(s) >= len(names) {
		return fmt.Sprint(uint8(s))
	}
	return names[s]
}

// Note records a step. now is on a monotonic clock of the caller's, and must not go back.
func (f *Recorder) Note(now time.Duration, step Event, g placement.NodeGroupID, code uint16) {
	word := (uint64(now/time.Microsecond)&clockMask)<<28 | uint64(step)<<24 | uint64(min(g, 0xff))<<16 | uint64(code)
	f.ring[f.next%size].Store(word)
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

// Steps returns what was recorded, the oldest first. now and at are the same moment, on
// the clock of note and as a time. It may be called from any goroutine.
func (f *Recorder) Steps(now time.Duration, at time.Time) []Step {
	var words [size]uint64
	for i := range f.ring {
		words[i] = f.ring[i].Load()
	}
	// Ages, because the clock of a step begins anew every 19 hours. Where the age rises is the boundary between the newest
	// step and the oldest. Steps written while this reads are newer than all others, and may stand at that boundary only.
	us := uint64(now/time.Microsecond) & clockMask
	age := func(w uint64) uint64 {
		a := (us - w>>28) & clockMask
		if a > clockMask/2 {
			return 0 // written after now was read
		}
		return a
	}
	first := 0
	for i := 1; i < size; i++ {
		if words[i] != 0 && words[i-1] != 0 && age(words[i]) > age(words[i-1]) {
			first = i
		}
	}
	var list []Step
	for i := range size {
		w := words[(first+i)%size]
		if w == 0 {
			continue
		}
		s := Step{
			At: at.Add(-time.Duration(age(w)) * time.Microsecond), Name: Event(w >> 24 & 0xf).String(),
			Group: int(w >> 16 & 0xff), Code: int(w & 0xffff),
		}
		switch Event(w >> 24 & 0xf) {
		case Sent, Several:
			s.Kind, s.Code = plan.Kind(s.Code).String(), 0
		case Command:
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
