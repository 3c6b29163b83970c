package mover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The model: a source with two rows, its log, clients that change them in plain transactions and in branches, a copier that reads both rows between
// two watermarks, and an applier that may crash anywhere. All orders of their steps are searched. Whenever nothing is left to do, the
// target must be equal to the source.
//
// A commit is two steps: it is in the log, then it can be seen. A watermark is committed only when everything in front of it in the log can be seen:
// that is what servers with ordered commits give. The commits of branches are not ordered so, as MariaDB's: a branch is listed until its commit can be seen.

// rule is something the design relies on; a model without it must find a fault.
type rule uint16

const (
	orderedCommits   rule = 1 << iota // a watermark's commit waits for those in front of it in the log
	waitForBranches                   // those prepared in front of the stream's beginning end before anything is read
	markBeforeAsking                  // a watermark is written before the server is asked which those are
	holdBranches                      // rows of a branch are applied at its commit, not at its PREPARE
	touchedWins                       // rows changed in the window are not taken from what was read
	touchBefore                       // both the old and the new key of a changed row count as changed
	readInside                        // rows are read after the first watermark
	applyAtHigh                       // what was read is applied at the second watermark, not when it was read
	oneTransaction                    // the position is kept in the transaction of the data
	waitUntilShown                    // nothing is read while a branch is listed whose commit is in the log before the first watermark
	rereadBranches                    // a new stream begins where the rows of unfinished branches come again
	allRules         = rereadBranches<<1 - 1
)

// Kinds of entries in the log.
const (
	logSet      = iota + 1 // row a = value
	logMove                // row a becomes row b
	logPrepare             // a branch that sets row a
	logCommit              // of the branch
	logRollback            // of the branch
	logLow
	logHigh
	logMark
)

type entry struct{ kind, value uint8 }

const (
	logSize = 11
	maxOps  = 2
)

// world is one state. It is comparable.
type world struct {
	log      [logSize]entry
	length   uint8
	a, b     uint8 // visible on the source; 0: no row
	pending  entry // in the log and not visible
	branch   uint8 // value of the branch that is prepared
	prepared uint8 // 0 none, 1 in the log, 2 listed by the server
	ops      uint8

	// The copier.
	step         uint8 // see below
	begin        uint8 // of the stream
	ends         uint8 // up to here ends of unknown branches are to be expected
	wait         bool  // for a branch that was listed
	readA, readB uint8
	tried        uint8 // how often it began

	// The target's data, and what is kept with it.
	ta, tb          uint8
	applied, reread uint8
	copied          bool

	// The applier's memory.
	at                 uint8
	held               uint8 // value of the branch it holds
	heldAt             uint8
	open               bool
	touchedA, touchedB bool
	late               bool // position kept, data not yet (a rule is missing)
	lateEntry          entry
	crashes            uint8
	stuck              bool
}

// Steps of the copier.
const (
	copyStart = iota // note where the log ends
	copyAsk          // mark, ask for branches
	copyWait
	copyEnds
	copyLow
	copyRead
	copyHigh
	copyDone
)

func (w *world) append(kind, value uint8) { w.log[w.length] = entry{kind, value}; w.length++ }

// last is where the last entry of a kind is, -1 if there is none.
func (w *world) last(kind uint8) int {
	at := int(w.length) - 1
	for at >= 0 && w.log[at].kind != kind {
		at--
	}
	return at
}

func (w *world) room() bool { return w.length < logSize-5 }

// next are all states one step away.
func (w world) next(rules rule) []world {
	var out []world
	add := func(n world) { out = append(out, n) }
	w.clients(add)
	w.copier(rules, add)
	w.applier(rules, add)
	if w.crashes < 1 && w.step > copyEnds && !w.stuck {
		n := w
		n.crashes++
		n.at = n.applied
		n.held, n.heldAt = 0, 0
		if rules&rereadBranches != 0 {
			n.at = n.reread
		}
		n.open, n.touchedA, n.touchedB = false, false, false
		n.late = false
		if !n.copied {
			n.step = copyLow // with watermarks of its own
		}
		add(n)
	}
	return out
}

// clients change the rows.
func (w world) clients(add func(world)) {
	if w.pending.kind != 0 { // it becomes visible
		n := w
		switch w.pending.kind {
		case logSet:
			n.a = w.pending.value
		case logMove:
			n.a, n.b = 0, w.pending.value
		case logPrepare:
			n.prepared = 2
		case logCommit:
			n.a, n.prepared = w.branch, 0
		}
		n.pending = entry{}
		add(n)
		return
	}
	commit := func(n world, kind, value uint8) {
		n.append(kind, value)
		n.pending = entry{kind, value}
		add(n)
	}
	if w.prepared == 2 && w.length < logSize-3 {
		commit(w, logCommit, 0)
		n := w
		n.append(logRollback, 0)
		n.prepared = 0
		add(n)
	}
	if w.ops >= maxOps || !w.room() || w.prepared != 0 { // the branch holds the lock
		return
	}
	n := w
	n.ops++
	commit(n, logSet, n.ops)
	if w.a != 0 {
		commit(n, logMove, n.ops)
	}
	n.branch, n.prepared = n.ops, 1
	commit(n, logPrepare, n.ops)
}

// copier reads the rows.
func (w world) copier(rules rule, add func(world)) {
	n := w
	visible := w.pending.kind == 0 || w.pending.kind == logCommit || rules&orderedCommits == 0
	switch w.step {
	case copyStart:
		n.begin, n.applied, n.reread, n.at = w.length, w.length, w.length, w.length
		n.step++
	case copyAsk:
		if rules&markBeforeAsking != 0 && !visible {
			return
		}
		n.wait = w.prepared == 2
		n.step++
	case copyWait:
		if n.wait && w.prepared != 0 && rules&waitForBranches != 0 {
			return
		}
		n.step++
	case copyEnds:
		if !visible {
			return
		}
		n.ends = w.length
		n.step++
	case copyLow:
		if rules&readInside == 0 && w.tried == 0 { // the wrong way round
			n.readA, n.readB, n.tried = w.a, w.b, 1
			break
		}
		if !visible || w.length >= logSize-1 {
			return
		}
		n.append(logLow, 0)
		n.step++
	case copyRead:
		if rules&waitUntilShown != 0 && w.pending.kind == logCommit && w.last(logCommit) < w.last(logLow) {
			return
		}
		if rules&readInside != 0 {
			n.readA, n.readB = w.a, w.b
		}
		if rules&applyAtHigh == 0 {
			n.ta, n.tb = n.readA, n.readB
		}
		n.step++
	case copyHigh:
		if !visible {
			return
		}
		n.append(logHigh, 0)
		n.step++
	default:
		return
	}
	add(n)
}

// applier takes the next entry of the log.
func (w world) applier(rules rule, add func(world)) {
	if w.step <= copyEnds || w.stuck {
		return
	}
	n := w
	if w.late { // the data follow the position
		n.late = false
		n.apply(w.lateEntry, rules)
		add(n)
		return
	}
	if w.at >= w.length {
		return
	}
	e := w.log[w.at]
	n.at++
	known := w.at < w.applied // only read again for a branch
	switch e.kind {
	case logPrepare:
		n.held, n.heldAt = e.value, w.at+1
	case logCommit, logRollback:
		if n.held == 0 && w.at >= w.ends {
			n.stuck = true
		}
	}
	if !known {
		if n.applied = n.at; rules&oneTransaction == 0 && (e.kind == logSet || e.kind == logMove) {
			n.late, n.lateEntry = true, e
			n.touch(e, rules)
		} else {
			n.touch(e, rules)
			n.apply(e, rules)
		}
	}
	if e.kind == logCommit || e.kind == logRollback {
		n.held, n.heldAt = 0, 0
	}
	if !known {
		n.reread = n.applied
		if n.held != 0 {
			n.reread = n.heldAt - 1
		}
	}
	add(n)
}

// touch notes what an entry changes.
func (n *world) touch(e entry, rules rule) {
	switch {
	case e.kind == logLow:
		n.open, n.touchedA, n.touchedB = true, false, false
	case !n.open:
	case e.kind == logSet, e.kind == logCommit && n.held != 0:
		n.touchedA = true
	case e.kind == logMove:
		n.touchedA = n.touchedA || rules&touchBefore != 0
		n.touchedB = true
	}
}

// apply changes the target.
func (n *world) apply(e entry, rules rule) {
	switch e.kind {
	case logSet:
		n.ta = e.value
	case logMove:
		n.ta, n.tb = 0, e.value
	case logPrepare:
		if rules&holdBranches == 0 {
			n.ta = e.value
		}
	case logCommit:
		if n.held != 0 && rules&holdBranches != 0 {
			n.ta = n.held
		}
	case logHigh:
		if !n.open { // of a copier that is gone
			return
		}
		n.open, n.copied = false, true
		if !n.touchedA || rules&touchedWins == 0 {
			n.ta = n.readA
		}
		if !n.touchedB || rules&touchedWins == 0 {
			n.tb = n.readB
		}
	}
}

// search returns how many states there are, and the first that is wrong.
func search(rules rule) (int, *world) {
	first := world{a: 9}
	seen := map[world]bool{first: true}
	queue := []world{first}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		done := w.copied && w.at == w.length && w.pending.kind == 0 && w.prepared == 0 && !w.late
		if w.stuck || done && (w.ta != w.a || w.tb != w.b) {
			return len(seen), &w
		}
		for _, n := range w.next(rules) {
			if !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return len(seen), nil
}

func TestModel(t *testing.T) {
	states, wrong := search(allRules)
	require.Nil(t, wrong, "%v", wrong)
	require.Greater(t, states, 10000)
	t.Logf("%d states", states)
	for r, name := range map[rule]string{
		orderedCommits: "ordered commits", waitForBranches: "wait for branches", markBeforeAsking: "mark before asking", holdBranches: "hold branches",
		touchedWins: "touched rows win", touchBefore: "touch the old key", readInside: "read inside", applyAtHigh: "apply at high",
		oneTransaction: "one transaction", waitUntilShown: "wait until shown", rereadBranches: "reread branches",
	} {
		t.Run("without: "+strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			states, wrong := search(allRules &^ r)
			require.NotNil(t, wrong, "no fault is found in %d states", states)
			t.Log(fmt.Sprintf("%d states", states), wrong.log[:wrong.length])
		})
	}
}
