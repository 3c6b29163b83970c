package txn

import (
	"fmt"
	"strings"
	"testing"
)

// The commit of commit.go and the recovery of recoverer.go as a state machine, searched to its end: a client's commit
// over a first branch c and two others, a proxy that may die or be paused between any two steps, messages to servers
// that arrive late or never, two Recoverers that may stop anywhere, servers that are MySQL or MariaDB. Every rule of
// the protocol can be taken out, and then the search must find what it is there for.

// rules are what the protocol insists on.
type rules struct {
	mariadb bool
	// tombstone: who finds no decision writes that it is rolled back before acting on it.
	tombstone bool
	// recheck: XAER_NOTA is believed only when XA RECOVER no longer lists the branch (MariaDB), and the connection that
	// holds it is ended.
	recheck bool
	// letGo: a branch whose connection has gone is ended only when the server has let go of it (MariaDB). Before, the server answers OK, logs
	// the end and does nothing.
	letGo bool
	// keep: a decision is deleted by its own proxy only, and only when every branch has said that it committed.
	keep bool
	// ask: a proxy that lost the first branch's connection asks for the decision instead of guessing.
	ask bool
	// prepareAll: the decision is written only when every other branch has prepared.
	prepareAll bool
	// stopAtError: the server does not go on to COMMIT when the decision's INSERT fails.
	stopAtError bool
}

func all(mariadb bool) rules { return rules{mariadb, true, true, true, true, true, true, true} }

// Branch states.
const (
	active     = iota // work done, XA START
	isPrepared        // survives its connection
	isCommitted
	isRolledBack
	isLost // prepared and locked, and no server lists it
)

// Decision states of the row on c.
const (
	none = iota
	rowC
	rowA
	forgotten // there was a 'C'
)

// What the client has been told.
const (
	waiting = iota
	toldOK
	toldRolledBack
	toldUnknown
)

// Steps of the proxy.
const (
	stepPrepare = iota
	stepAwaitPrepared
	stepDecide
	stepAwaitDecision
	stepAsk
	stepFinish
	stepAbort
	stepEnd
)

const others = 2

// state is everything, comparable.
type state struct {
	step    int
	alive   bool
	branch  [others]int
	held    [others]bool // the proxy's connection to the branch is open
	leaving [others]bool // the server still holds the branch for a connection that has gone
	c       int          // the first branch: active, isCommitted or isRolledBack
	cOpen   bool         // the proxy's connection to c is open
	sent    bool         // INSERT; COMMIT is on its way to c
	row     int
	client  int
	asked   [others]bool // PREPARE is on its way
	failed  bool         // the proxy knows of a failed prepare
	phase2  [others]bool // the proxy sent its XA COMMIT
	believe [others]bool // a recoverer believes the branch to be finished

	rec [2]recoverer
}

// recoverer is one Recoverer at work on one branch: it has seen it prepared, then has an answer.
type recoverer struct {
	at     int // 0 idle, 1 has seen the branch, 2 has the answer commit, 3 has the answer roll back
	branch int
}

// next calls visit for every state that can follow s.
func (r rules) next(s state, visit func(string, state)) {
	if s.alive {
		d := s
		d.alive = false
		if d.client == waiting {
			d.client = toldUnknown
		}
		for i := range others {
			d.leaving[i] = d.leaving[i] || r.mariadb && d.held[i]
		}
		visit("proxy dies", d)
		for i := range others { // a connection breaks: messages on their way may still arrive
			if s.held[i] {
				d := s
				d.held[i], d.leaving[i] = false, r.mariadb
				visit(fmt.Sprintf("connection to %d breaks", i), d)
			}
		}
		if s.cOpen {
			d := s
			d.cOpen = false
			visit("connection to c breaks", d)
		}
		r.proxy(s, visit)
	}
	r.servers(s, visit)
	for i := range s.rec {
		r.recover(s, i, visit)
	}
}

// proxy is the next step of Commit.
func (r rules) proxy(s state, visit func(string, state)) {
	d := s
	switch s.step {
	case stepPrepare:
		d.asked = [others]bool{true, true}
		d.step = stepAwaitPrepared
		visit("sends PREPARE", d)
	case stepAwaitPrepared:
		ready := true
		for i := range others {
			if s.branch[i] != isPrepared || !s.held[i] {
				ready = false
			}
			if !s.held[i] || s.branch[i] == isRolledBack {
				f := s
				f.failed, f.step = true, stepAbort
				visit("finds a prepare failed", f)
			}
		}
		if ready || !r.prepareAll {
			d.step = stepDecide
			visit("has all prepared", d)
		}
	case stepDecide:
		d.sent, d.step = s.cOpen, stepAwaitDecision
		visit("sends the decision", d)
	case stepAwaitDecision:
		switch {
		case s.cOpen && !s.sent && s.c == isCommitted:
			d.step = stepFinish
			visit("reads that it is committed", d)
		case s.cOpen && !s.sent && s.c == isRolledBack:
			d.step = stepAbort
			visit("reads that the decision was refused", d)
		case !s.cOpen && r.ask:
			d.step = stepAsk
			visit("lost c", d)
		case !s.cOpen:
			d.step = stepAbort
			visit("lost c and guesses that it rolled back", d)
		}
	case stepAsk:
		if s.sent || s.c == active && s.cOpen {
			return // INSERT IGNORE waits, or c has not noticed yet
		}
		commit, e := r.resolve(s)
		if commit {
			e.step = stepFinish
		} else {
			e.step = stepAbort
		}
		visit("asks", e)
	case stepAbort:
		if s.c == active {
			d.c = isRolledBack
		}
		d.sent = false
		for i := range others {
			if s.held[i] && s.branch[i] != isCommitted {
				d.branch[i], d.asked[i] = isRolledBack, false
			}
		}
		d.client, d.step = toldRolledBack, stepEnd
		visit("rolls back and says so", d)
	case stepFinish:
		d.client, d.step = toldOK, stepEnd
		done := true
		for i := range others {
			if s.held[i] {
				d.phase2[i] = true
			} else {
				done = false
			}
		}
		visit("sends COMMIT and says OK", d)
		_ = done
	case stepEnd:
		confirmed := s.client == toldOK
		for i := range others {
			if s.phase2[i] || !s.held[i] || s.branch[i] != isCommitted {
				confirmed = false
			}
		}
		if confirmed && s.row == rowC {
			d.row = forgotten
			visit("forgets the decision", d)
		}
	}
}

// servers act on what has been sent, and notice closed connections.
func (r rules) servers(s state, visit func(string, state)) {
	for i := range others {
		d := s
		if s.asked[i] {
			d.asked[i] = false
			if s.branch[i] == active {
				d.branch[i] = isPrepared
			}
			visit(fmt.Sprintf("%d prepares", i), d)
			f := s // 1205, a full disk, ...
			f.asked[i] = false
			if s.branch[i] == active {
				f.branch[i] = isRolledBack
				visit(fmt.Sprintf("%d fails to prepare", i), f)
			}
		}
		if d := s; s.phase2[i] {
			d.phase2[i] = false
			if s.branch[i] == isPrepared {
				d.branch[i] = isCommitted
			}
			visit(fmt.Sprintf("%d commits", i), d)
		}
		if d := s; s.leaving[i] && !s.asked[i] && !s.phase2[i] {
			d.leaving[i] = false
			visit(fmt.Sprintf("the server lets go of %d", i), d)
		}
		if d := s; (!s.alive || !s.held[i]) && s.branch[i] == active && !s.asked[i] {
			d.branch[i] = isRolledBack
			visit(fmt.Sprintf("%d notices the closed connection", i), d)
		}
	}
	if s.sent {
		d := s
		d.sent = false
		if s.row == none && s.c == active {
			d.row, d.c = rowC, isCommitted
			visit("c commits with the decision", d)
		} else if s.c == active {
			if r.stopAtError {
				d.c = isRolledBack
			} else {
				d.c = isCommitted
			}
			visit("c finds a decision there", d)
		}
	}
	if d := s; (!s.alive || !s.cOpen) && s.c == active && !s.sent {
		d.c = isRolledBack
		visit("c notices the closed connection", d)
	}
}

// resolve is resolve() of decision.go.
func (r rules) resolve(s state) (commit bool, after state) {
	if s.row == none || s.row == forgotten {
		if r.tombstone {
			s.row = rowA
		}
		return false, s
	}
	return s.row == rowC, s
}

// recover is a step of Recoverer i.
func (r rules) recover(s state, i int, visit func(string, state)) {
	me := s.rec[i]
	name := fmt.Sprintf("recoverer %d ", i)
	switch me.at {
	case 0:
		for b := range others {
			if s.branch[b] == isPrepared {
				d := s
				d.rec[i] = recoverer{1, b}
				visit(fmt.Sprintf("%ssees %d", name, b), d)
			}
		}
		if !r.keep && s.row == rowC { // deletes decisions of branches it believes finished
			d := s
			if s.believe[0] && s.believe[1] {
				d.row = forgotten
				visit(name+"deletes the decision", d)
			}
		}
	case 1:
		if r.tombstone && s.sent {
			return // INSERT IGNORE waits for the uncommitted decision
		}
		commit, d := r.resolve(s)
		d.rec[i].at = 3
		if commit {
			d.rec[i].at = 2
		}
		visit(name+"asks", d)
	default:
		b := me.branch
		d := s
		d.rec[i] = recoverer{}
		held := r.mariadb && s.alive && s.held[b] && s.branch[b] == isPrepared
		switch {
		case held && r.recheck: // 1397, still listed: KILL, and again next time
			d.held[b], d.phase2[b], d.leaving[b] = false, false, true
			visit(fmt.Sprintf("%sends the holder of %d", name, b), d)
		case held:
			d.believe[b] = true
			visit(fmt.Sprintf("%sbelieves %d finished", name, b), d)
		case s.branch[b] == isPrepared && s.leaving[b] && r.letGo: // it is left for the next look
			visit(fmt.Sprintf("%slets the server let go of %d", name, b), d)
		case s.branch[b] == isPrepared && s.leaving[b]:
			d.branch[b], d.believe[b] = isLost, true
			visit(fmt.Sprintf("%sends %d too early", name, b), d)
		case s.branch[b] == isPrepared && me.at == 2:
			d.branch[b], d.believe[b] = isCommitted, true
			visit(fmt.Sprintf("%scommits %d", name, b), d)
		case s.branch[b] == isPrepared:
			d.branch[b], d.believe[b] = isRolledBack, true
			visit(fmt.Sprintf("%srolls %d back", name, b), d)
		default:
			d.believe[b] = true
			visit(fmt.Sprintf("%sfinds %d finished", name, b), d)
		}
	}
}

// fault tells what is wrong with a state, "" if nothing.
func (s state) fault() string {
	var yes, no int
	var lost bool
	count := func(b int) {
		switch b {
		case isCommitted:
			yes++
		case isRolledBack:
			no++
		case isLost:
			lost = true
		}
	}
	count(s.c)
	for _, b := range s.branch {
		count(b)
	}
	switch {
	case lost:
		return "a branch stays prepared, and nobody will find it"
	case yes > 0 && no > 0:
		return "torn: some branches committed, some rolled back"
	case s.client == toldOK && no > 0:
		return "the client was told OK and a branch is rolled back"
	case s.client == toldRolledBack && yes > 0:
		return "the client was told that it rolled back and a branch is committed"
	}
	return ""
}

// stuck tells what nothing will ever end, "" if all is ended.
func (s state) stuck() string {
	for i, b := range s.branch {
		if b == isPrepared {
			return fmt.Sprintf("branch %d stays prepared", i)
		}
	}
	return ""
}

// search visits every state that can be reached and returns the way to the first fault.
func (r rules) search() (states int, fault string) {
	start := state{alive: true, held: [others]bool{true, true}, cOpen: true}
	type step struct {
		from state
		what string
	}
	came := map[state]step{start: {}}
	queue := []state{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		why := s.fault()
		moved := false
		r.next(s, func(what string, d state) {
			if d == s {
				return
			}
			moved = true
			if _, known := came[d]; !known {
				came[d] = step{s, what}
				queue = append(queue, d)
			}
		})
		if why == "" && !moved {
			why = s.stuck()
		}
		if why != "" {
			var way []string
			for at := s; at != start; at = came[at].from {
				way = append([]string{came[at].what}, way...)
			}
			return len(came), why + ": " + strings.Join(way, "; ")
		}
	}
	return len(came), ""
}

func TestModel(t *testing.T) {
	for _, mariadb := range []bool{false, true} {
		states, fault := all(mariadb).search()
		if fault != "" {
			t.Errorf("mariadb=%t: %s", mariadb, fault)
		}
		t.Logf("mariadb=%t: %d states", mariadb, states)
	}
}

// TestModelWithoutARule shows that each rule is needed, and that the model would notice.
func TestModelWithoutARule(t *testing.T) {
	for name, drop := range map[string]func(*rules){
		"presumed abort without a tombstone":              func(r *rules) { r.tombstone = false },
		"no answer from the first group, guess":           func(r *rules) { r.ask = false },
		"decide before everyone has prepared":             func(r *rules) { r.prepareAll = false },
		"COMMIT although the INSERT failed":               func(r *rules) { r.stopAtError = false },
		"MariaDB: end a branch while its connection goes": func(r *rules) { r.letGo = false },
		"MariaDB: 1397 is finished, then forget":          func(r *rules) { r.recheck, r.keep = false, false },
	} {
		t.Run(name, func(t *testing.T) {
			r := all(true)
			drop(&r)
			states, fault := r.search()
			if fault == "" {
				t.Fatalf("no fault in %d states", states)
			}
			t.Logf("%d states: %s", states, fault)
		})
	}
}
