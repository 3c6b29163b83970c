package exec

import (
	"bytes"
	"strconv"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
)

// Trace is what the fragments of a statement did, and what was made of them, in the order in which they ended. It is for one
// goroutine.
type Trace struct {
	Fragments []FragmentTrace
	Stages    []StageTrace
}

// StageTrace is what the proxy, or a server that it has given copies to, did with what fragments brought.
type StageTrace struct {
	Name        string
	Rows, Bytes uint64 // that came out of it; no bytes where they were not counted
	Took        time.Duration
}

// Stage notes a stage that has begun at begin and has ended now. Without a Trace it does nothing.
func (t *Trace) Stage(name string, begin time.Time, rows, bytes uint64) {
	if t != nil {
		t.Stages = append(t.Stages, StageTrace{Name: name, Rows: rows, Bytes: bytes, Took: time.Since(begin)})
	}
}

// FragmentTrace is what one node group did for a fragment.
type FragmentTrace struct {
	Fragment int // its ID
	Group    placement.NodeGroupID
	Rows     uint64 // read from the group
	Bytes    uint64
	First    time.Duration // from the request to the beginning of the answer
	Took     time.Duration // from the request to the last row that was read
	Text     []byte        // that was sent
}

// traced is the part of a stream that a Trace is made of.
type traced struct {
	text        []byte
	rows, bytes uint64
	sent        time.Time // zero without a Trace
	first, last time.Time
	waited      time.Duration // for rows
}

// traceText notes the text that s is sent.
func (r *Runner) traceText(s *stream) {
	if r.Trace != nil {
		s.traced.text = bytes.Clone(r.body)
	}
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

// mergeTrace is the time that joining the streams of a fragment took, without that of reading them and of whoever got the rows.
type mergeTrace struct {
	merges bool
	rows   uint64
	took   time.Duration
}

// traceMerge makes sink one whose time is not that of joining rows as root says, if there is a Trace and something to be joined.
// done notes the time.
func (r *Runner) traceMerge(root plan.Node, sink Sink) (_ Sink, done func(rows uint64)) {
	if r.Trace == nil || !joinsRows(root) {
		return sink, func(uint64) {}
	}
	timed, begin := &timedSink{Sink: sink}, time.Now()
	return timed, func(rows uint64) {
		took := time.Since(begin) - timed.took
		for i := range r.streams {
			took -= r.streams[i].traced.waited
		}
		r.merged = mergeTrace{true, rows, max(0, took)}
	}
}

// joinsRows reports whether there is a step over the fragment that looks at rows.
func joinsRows(n plan.Node) bool {
	for ; n != nil; n = plan.Input(n) {
		switch n := n.(type) {
		case *plan.Merge:
			if len(n.Order) > 0 {
				return true
			}
		case *plan.Aggregate, *plan.Distinct, *plan.Sort:
			return true
		}
	}
	return false
}

// timedSink is a Sink that measures what its Sink takes.
type timedSink struct {
	Sink
	took time.Duration
}

func (t *timedSink) Row(row []byte) error {
	begin := time.Now()
	err := t.Sink.Row(row)
	t.took += time.Since(begin)
	return err
}

// traceMerged notes what traceMerge has measured.
func (r *Runner) traceMerged() {
	if m := r.merged; m.merges {
		r.merged = mergeTrace{}
		r.Trace.Stages = append(r.Trace.Stages, StageTrace{Name: "merge of fragment #" + strconv.Itoa(r.fragment), Rows: m.rows, Took: m.took})
	}
}

// trace notes what s did.
func (r *Runner) trace(s *stream) {
	t := &s.traced
	if r.Trace == nil || t.sent.IsZero() || t.first.IsZero() {
		return
	}
	r.Trace.Fragments = append(r.Trace.Fragments, FragmentTrace{
		Fragment: r.fragment, Group: s.group, Rows: t.rows, Bytes: t.bytes, First: t.first.Sub(t.sent), Took: t.last.Sub(t.sent), Text: t.text,
	})
}
