package reorg

import (
	"context"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// Status is a reorganisation as people are shown it.
type Status struct {
	*Record
	Progress *Progress // nil: not known
	// Advice is what happens next, and what can be done about it; empty if there is nothing to say.
	Advice string
}

// StatusOf reads what is known of a reorganisation beside its record. leader is the election of those who carry it out.
func StatusOf(ctx context.Context, store *topology.Store, r *Record, leader string) (Status, error) {
	s := Status{Record: r}
	led := true
	if r.Active() {
		p, ok, err := ProgressOf(ctx, store, r.ID)
		if err != nil {
			return s, err
		}
		if ok {
			p = p.of(r)
			if r.Rows > 0 && r.State != Copy { // the movers of a way back copy nothing
				p.Rows, p.RowsEstimated, p.Bytes, p.BytesEstimated = r.Rows, r.Rows, r.Bytes, r.Bytes
			}
			s.Progress = &p
		}
		if _, led, err = store.Leader(ctx, leader); err != nil {
			return s, err
		}
	}
	s.Advice = r.advice(led)
	return s, nil
}

// advice says what happens next, and what can be done. led: a controller is at work.
func (r *Record) advice(led bool) string {
	reorg := func(verb string) string { return "skarvctl reorg " + verb + " " + r.ID }
	if r.Active() && !led {
		return "no process leads the cluster: this goes on, where it is, when a skarv process with the controller role runs (skarvctl status)"
	}
	switch r.State {
	case Planned, In, Copy, CatchUp, Verify:
		switch {
		case r.Undo || r.Wish == WishAbort:
			return "it is being given up: what was copied is deleted"
		case r.Paused:
			return "it is paused: " + reorg("resume") + " has it go on, " + reorg("abort") + " gives it up"
		}
		goes := "it goes on by itself: "
		if r.Problem != "" {
			goes = "it is tried again by itself: "
		}
		return goes + reorg("pause") + " stops it, " + reorg("abort") + " gives it up"
	case Frozen, Rollback:
		return "it ends by itself, in moments"
	case Reverse:
		switch {
		case r.Paused:
			return "it is paused, and the way back with it: " + reorg("resume") + " has it go on"
		case r.Wish == WishRollback:
			return "it is being taken back: " + reorg("complete") + " leaves the partitions where they are now instead"
		case r.Wish == WishComplete:
			return "the old rows are about to be deleted"
		}
		return "the partitions have moved: " + reorg("rollback") + " takes that back, until " + r.Opened.Add(r.Window).UTC().Format(time.TimeOnly+" MST") +
			"; " + reorg("complete") + " deletes the old rows now, and schema changes are possible again after that"
	case Cleaning:
		if r.Paused {
			return "it is paused: " + reorg("resume") + " has the rows deleted that are not their node group's"
		}
		return "it ends by itself, once the rows are deleted that are not their node group's"
	}
	switch r.Outcome {
	case Refused:
		return "nothing was touched: change what stands in the way, then begin another one"
	case Aborted:
		return "nothing has moved, and the copies are deleted: another one can be begun"
	}
	return ""
}

// What Expected goes by as long as nothing was measured: what one node group gives on a small machine.
const (
	assumedRows  = 20_000  // a second
	assumedBytes = 8 << 20 // a second
)

// worthMeasuring is how many rows a reorganisation must have moved for others to be judged by it.
const worthMeasuring = 10_000

// Expected is about how long moves of so many rows and bytes take from the copy's begin to the cutover: as long as past ones have taken,
// oldest first. basis says of what it is an estimate.
func Expected(past []*Record, moves []placement.Move, rows, bytes int64) (d time.Duration, basis string) {
	sources := len((&Record{Transfers: transfersOf(moves)}).sources())
	if sources == 0 {
		return 0, ""
	}
	for i := len(past) - 1; i >= 0; i-- {
		r := past[i]
		if took := r.copying(); took > 0 && r.Rows >= worthMeasuring {
			each := float64(r.Rows) / took.Seconds() / float64(len(r.sources()))
			return scale(float64(rows) / each / float64(sources)), "as fast as " + r.ID + " was"
		}
	}
	seconds := max(float64(rows)/assumedRows, float64(bytes)/assumedBytes) / float64(sources)
	return scale(seconds), "if each node group gives 20,000 rows or 8 MB a second: none has moved many rows yet"
}

func scale(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

// copying is how long it took from the copy's begin to the cutover, 0 if it has not come there.
func (r *Record) copying() time.Duration {
	var began time.Time
	for _, s := range r.Steps {
		switch {
		case s.State == Copy:
			began = s.At
		case s.State == Frozen && !began.IsZero():
			return s.At.Sub(began)
		}
	}
	return 0
}
