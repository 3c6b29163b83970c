package exec

import (
	"time"

	"skarv/pkg/placement"
)

// Trace is what the fragments of a statement did, in the order in which they ended. It is for one goroutine.
type Trace struct {
	Fragments []FragmentTrace
}

// FragmentTrace is what one node group did for a fragment.
type FragmentTrace struct {
	Fragment int // its ID
	Group    placement.NodeGroupID
	Rows     uint64 // read from the group
	Bytes    uint64
	First    time.Duration // from the request to the beginning of the answer
	Took     time.Duration // from the request to the last row that was read
}

// traced is the part of a stream that a Trace is made of.
type traced struct {
	rows, bytes uint64
	sent        time.Time // zero without a Trace
	first, last time.Time
}

func (s *stream) traceSent() {
	if s.runner.Trace != nil {
		s.traced.sent = time.Now()
	}
}

func (s *stream) traceHead() {
	if !s.traced.sent.IsZero() {
		s.traced.first = time.Now()
		s.traced.last = s.traced.first
	}
}

func (s *stream) traceEnd() {
	if !s.traced.sent.IsZero() {
		s.traced.last = time.Now()
	}
}

// trace notes what s did.
func (r *Runner) trace(s *stream) {
	t := &s.traced
	if r.Trace == nil || t.sent.IsZero() || t.first.IsZero() {
		return
	}
	r.Trace.Fragments = append(r.Trace.Fragments, FragmentTrace{
		Fragment: r.fragment, Group: s.group, Rows: t.rows, Bytes: t.bytes, First: t.first.Sub(t.sent), Took: t.last.Sub(t.sent),
	})
}
