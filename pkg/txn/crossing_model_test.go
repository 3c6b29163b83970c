package txn

import (
	"strings"
	"testing"
)

// A validated snapshot (Crossings, and pkg/server/crossing.go) as a state machine, searched to its end: a transaction T over a first
// branch f and another one j, whose process may come late, pause, die at any step and lose the connection on which f is being
// committed; a Recoverer; and a reader that takes a snapshot of each group. What the reader accepts must show all of T or
// nothing. Every rule can be taken out, and then the search must find a half.

// watchRules are what the reader insists on.
type watchRules struct {
	slots    bool // every slot's process must answer, or its accounts be shut out first
	quiet    bool // none it has begun is running: best effort prepares nothing
	prepared bool // nothing is prepared after they have said so
	again    bool // they have begun none until the end
	same     bool // no slot was taken meanwhile
}

// watched states.
const (
	slotAbsent = iota
	slotTaken
	slotGone // its accounts were shut out of the servers, and it was removed
)

const (
	tActive   = iota
	tPrepared // of j only
	tDone     // committed
	tUndone
)

type watchState struct {
	// the process of T
	slot    int
	alive   bool
	paused  bool // it does not answer
	best    bool // T is committed as far as possible, one group after the other; then nothing goes wrong
	began   bool // counted
	ended   bool // counted as over
	sent    bool // decision and commit are on their way to f
	orphan  bool // it has given up the connection they were sent on
	f, j    int
	asking  bool // the Recoverer knows that T is committed
	steps   int  // of the reader
	seenF   bool
	seenJ   bool
	lookedF bool
	lookedJ bool
	last    bool // the slot had been taken when the reader began
	listed  bool // the slot was there when the slots were read
	count   bool // began, when it was asked
}

// Steps of the reader.
const (
	readLast = iota
	readSlots
	readAsk
	readPreparedF
	readPreparedJ
	readLook
	readAgain
	readSame
	readAccepted
	readRefused
)

func (r watchRules) next(s watchState, visit func(string, watchState)) {
	do := func(name string, when bool, change func(*watchState)) {
		if when {
			d := s
			change(&d)
			visit(name, d)
		}
	}
	// The process of T, whose branch j it has prepared before it is counted.
	do("takes its slot", s.slot == slotAbsent && s.alive, func(d *watchState) { d.slot = slotTaken })
	do("pauses", s.alive && !s.paused, func(d *watchState) { d.paused = true })
	do("goes on", s.alive && s.paused, func(d *watchState) { d.paused = false })
	up := s.alive && !s.paused && s.slot == slotTaken
	ready := tPrepared
	if s.best {
		ready = tActive
	}
	do("prepares", up && s.j == tActive && !s.best, func(d *watchState) { d.j = tPrepared })
	do("begins to commit", up && s.j == ready && !s.began, func(d *watchState) { d.began = true })
	do("sends the decision", up && s.began && !s.sent && s.f == tActive, func(d *watchState) { d.sent = true })
	do("loses the connection, and does not get to know", up && s.sent && s.f == tActive && !s.orphan && !s.best, func(d *watchState) { d.orphan, d.ended = true, true })
	do("commits j", up && s.f == tDone && s.j == ready && !s.ended, func(d *watchState) { d.j = tDone })
	do("gives j up to the Recoverer", up && s.f == tDone && s.j == tPrepared && !s.ended, func(d *watchState) { d.ended = true })
	do("has committed", up && s.f == tDone && s.j == tDone && !s.ended, func(d *watchState) { d.ended = true })
	do("dies", s.alive && !s.best, func(d *watchState) { d.alive = false })
	// Servers.
	do("f commits", s.sent && s.f == tActive, func(d *watchState) { d.f, d.orphan = tDone, false })
	do("the slot's accounts are shut out", s.slot == slotTaken && !s.alive, func(d *watchState) {
		d.slot, d.sent, d.orphan = slotGone, false, false
		if d.f == tActive {
			d.f = tUndone
		}
		if d.j == tActive {
			d.j = tUndone
		}
	})
	// A Recoverer, which finds no decision only when none can come any more: see model_test.go.
	do("the Recoverer asks", s.f == tDone && s.j == tPrepared, func(d *watchState) { d.asking = true })
	do("the Recoverer commits j", s.asking && s.j == tPrepared, func(d *watchState) { d.j = tDone })
	do("the Recoverer rolls j back", s.f == tUndone && s.j == tPrepared, func(d *watchState) { d.j = tUndone })
	// The reader.
	step := func(name string, ok bool, change func(*watchState)) {
		d := s
		d.steps++
		if change != nil {
			change(&d)
		}
		if !ok {
			d.steps = readRefused
		}
		visit("reader: "+name, d)
	}
	// A slot that is there must answer, and so must one that has gone since the slots were read; who passes over the silent
	// passes over these.
	silent := s.listed && (!s.alive || s.paused)
	passed := !s.listed || silent && !r.slots
	switch s.steps {
	case readLast:
		step("reads when a slot was taken last", true, func(d *watchState) { d.last = s.slot != slotAbsent })
	case readSlots:
		step("reads the slots", true, func(d *watchState) { d.listed = s.slot == slotTaken })
	case readAsk:
		ok := passed || !silent && (!r.quiet || s.began == s.ended)
		step("asks", ok, func(d *watchState) { d.count = s.began })
	case readPreparedF:
		step("f has nothing prepared", true, nil)
	case readPreparedJ:
		step("j has nothing prepared", !r.prepared || s.j != tPrepared, nil)
	case readLook:
		if !s.lookedF {
			do("reader: looks at f", true, func(d *watchState) { d.lookedF, d.seenF = true, s.f == tDone })
		}
		if !s.lookedJ {
			do("reader: looks at j", true, func(d *watchState) { d.lookedJ, d.seenJ = true, s.j == tDone })
		}
		if s.lookedF && s.lookedJ {
			step("has looked", true, nil)
		}
	case readAgain:
		step("asks again", passed || !silent && (!r.again || s.began == s.count), nil)
	case readSame:
		step("reads when a slot was taken last, again", !r.same || s.last == (s.slot != slotAbsent), nil)
	}
}

// half searches for an accepted snapshot with half of T, and returns how it came about.
func (r watchRules) half() (trace []string, states int) {
	type from struct {
		state watchState
		step  string
	}
	seen := map[watchState]from{}
	var queue []watchState
	for _, best := range []bool{false, true} {
		start := watchState{alive: true, best: best}
		seen[start] = from{}
		queue = append(queue, start)
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.steps == readAccepted && s.seenF != s.seenJ {
			for at := s; seen[at].step != ""; at = seen[at].state {
				trace = append([]string{seen[at].step}, trace...)
			}
			return trace, len(seen)
		}
		r.next(s, func(step string, d watchState) {
			if _, known := seen[d]; !known {
				seen[d] = from{s, step}
				queue = append(queue, d)
			}
		})
	}
	return nil, len(seen)
}

func TestValidatedSnapshotModel(t *testing.T) {
	all := watchRules{true, true, true, true, true}
	trace, states := all.half()
	if trace != nil {
		t.Fatalf("half of a transaction is seen:\n%s", strings.Join(trace, "\n"))
	}
	t.Logf("%d states", states)
	for name, without := range map[string]watchRules{
		"every slot":       {false, true, true, true, true},
		"quiet":            {true, false, true, true, true},
		"nothing prepared": {true, true, false, true, true},
		"asked again":      {true, true, true, false, true},
		"no new slot":      {true, true, true, true, false},
	} {
		if trace, _ := without.half(); trace == nil {
			t.Errorf("without %q nothing goes wrong: what is it for?", name)
		} else {
			t.Logf("without %q: %s", name, strings.Join(trace, ", "))
		}
	}
}
