package reorg

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The barrier and the cutover as small models whose states are all visited. A process may be paused for any time between
// two of its steps: that is what not taking a step means. Each rule of the design is taken away once, and the model must
// then find the lost write: else it would prove nothing.

// explore visits all states that follow from start, and returns their number and the first way to a bad one, if there is
// any.
func explore[S comparable](start S, next func(S) map[string]S, bad func(S) bool) (states int, way []string) {
	type origin struct {
		from S
		step string
	}
	seen := map[S]origin{start: {}}
	queue := []S{start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if bad(s) {
			for s != start {
				o := seen[s]
				way = append([]string{o.step}, way...)
				s = o.from
			}
			return len(seen), way
		}
		for step, n := range next(s) {
			if _, ok := seen[n]; !ok {
				seen[n] = origin{s, step}
				queue = append(queue, n)
			}
		}
	}
	return len(seen), nil
}

// barrierRules are what the barrier stands on; the zero value is the design.
type barrierRules struct {
	leaseOnly      bool // no barrier: the proxy looks at its lease, the controller waits until it is over
	lookFirst      bool // the proxy looks at the map before it announces
	noVerify       bool // a new connection is used without reading the fence row
	noRow          bool // there is no fence row
	noLock         bool // the account is not locked
	rowAfterKill   bool
	lockAfterKill  bool
	noKill         bool
	ackWithOrphans bool // statements nobody waits for do not hold the acknowledgement
	noDrain        bool // the acknowledgement does not wait for what is announced
	noXA           bool // prepared transactions are not waited for
	xaFirst        bool // they are looked at before the proxies are known to have stopped
}

// barrierState is one proxy that wants to write to a frozen partition on server A, and a controller that must know when no
// such write can happen any more.
type barrierState struct {
	// proxy
	sees, announced, acked bool
	pc                     uint8 // 0 idle, 1 announced, 2 allowed to send, 3 waits for the answer
	orphan                 bool  // it has closed a connection whose statement may be running
	// connection: 0 none, 1 in the handshake (on MariaDB nobody sees it), 2 logged in, 3 admitted
	conn uint8
	// server
	row, locked    bool
	stmt           uint8 // 0 none, 1 running
	prepared       bool
	xaSeen         bool // the scan that was too early found nothing prepared
	step           uint8
	frozen, closed bool // by the controller; closed: "nothing can be written any more"
	late           bool
}

// Steps of the controller.
const (
	waiting uint8 = iota
	evicting1
	evicting2
	evicting3
	stopped
	recovered
)

func (r barrierRules) next(s barrierState) map[string]barrierState {
	out := map[string]barrierState{}
	add := func(step string, ok bool, change func(*barrierState)) {
		if ok {
			n := s
			change(&n)
			out[step] = n
		}
	}
	commit := func(n *barrierState) {
		n.late = n.late || n.closed
	}
	// proxy
	add("proxy: sees the frozen map", s.frozen && !s.sees && !r.leaseOnly, func(n *barrierState) { n.sees = true })
	begin := s.pc == 0
	switch {
	case r.leaseOnly:
		add("proxy: checks its lease", begin && !s.frozen, func(n *barrierState) { n.pc = 2 })
	case r.lookFirst:
		add("proxy: looks", begin && !s.sees, func(n *barrierState) { n.pc = 1 })
		add("proxy: announces", s.pc == 1, func(n *barrierState) { n.pc, n.announced = 2, true })
	default:
		add("proxy: announces", begin, func(n *barrierState) { n.pc, n.announced = 1, true })
		add("proxy: looks", s.pc == 1, func(n *barrierState) {
			if n.pc = 2; n.sees {
				n.pc, n.announced = 0, false
			}
		})
	}
	add("proxy: begins to log in", s.conn == 0 && !s.locked, func(n *barrierState) { n.conn = 1 })
	add("server: lets it in", s.conn == 1, func(n *barrierState) { n.conn = 2 }) // locked or not
	add("proxy: is admitted", s.conn == 2 && (!s.row || r.noVerify), func(n *barrierState) { n.conn = 3 })
	add("proxy: is not admitted", s.conn == 2 && s.row && !r.noVerify, func(n *barrierState) { n.conn = 0 })
	add("proxy: sends", s.pc == 2 && s.conn == 3 && s.stmt == 0 && !s.prepared, func(n *barrierState) { n.stmt, n.pc = 1, 3 })
	add("proxy: loses its connection", s.conn == 3 && s.stmt == 1, func(n *barrierState) {
		n.conn, n.pc, n.announced, n.orphan = 0, 0, false, !r.ackWithOrphans
	})
	add("proxy: ends its orphan", s.orphan, func(n *barrierState) { n.stmt, n.orphan = 0, false })
	add("proxy: acknowledges", s.sees && !s.acked && (!s.announced && !s.orphan || r.noDrain), func(n *barrierState) { n.acked = true })
	// server
	answered := func(n *barrierState) {
		n.stmt = 0
		if n.pc == 3 {
			n.pc, n.announced = 0, false
		}
	}
	add("server: commits", s.stmt == 1, func(n *barrierState) { commit(n); answered(n) })
	add("server: prepares", s.stmt == 1, func(n *barrierState) { n.stmt, n.prepared = 0, true })
	add("somebody: commits what is prepared", s.prepared, func(n *barrierState) {
		commit(n)
		n.prepared = false
		answered(n)
	})
	// controller
	kill := func(n *barrierState) {
		if r.noKill {
			return
		}
		n.stmt = 0
		if n.conn >= 2 {
			n.conn = 0
			if n.pc == 3 {
				n.pc, n.announced = 0, false
			}
		}
	}
	fenceRow := func(n *barrierState) { n.row = !r.noRow }
	lock := func(n *barrierState) { n.locked = !r.noLock }
	order := []func(*barrierState){fenceRow, lock, kill}
	switch {
	case r.rowAfterKill:
		order = []func(*barrierState){lock, kill, fenceRow}
	case r.lockAfterKill:
		order = []func(*barrierState){kill, lock, fenceRow}
	}
	add("controller: freezes", !s.frozen, func(n *barrierState) { n.frozen, n.xaSeen = true, r.xaFirst && !n.prepared })
	add("controller: has the acknowledgement", s.frozen && s.step == waiting && (s.acked || r.leaseOnly), func(n *barrierState) { n.step = stopped })
	if !r.leaseOnly {
		add("controller: begins to evict", s.frozen && s.step == waiting, func(n *barrierState) { n.step = evicting1; order[0](n) })
		add("controller: evicts on", s.step == evicting1, func(n *barrierState) { n.step = evicting2; order[1](n) })
		add("controller: evicts further", s.step == evicting2, func(n *barrierState) { n.step = evicting3; order[2](n) })
		add("controller: has evicted", s.step == evicting3, func(n *barrierState) { n.step = stopped })
	}
	add("controller: finds nothing prepared", s.step == stopped && (!s.prepared || r.noXA || s.xaSeen), func(n *barrierState) { n.step = recovered })
	add("controller: writes the mark", s.step == recovered && !s.closed, func(n *barrierState) { n.closed = true })
	return out
}

func TestModelOfTheBarrier(t *testing.T) {
	late := func(s barrierState) bool { return s.late }
	states, way := explore(barrierState{}, barrierRules{}.next, late)
	assert.Empty(t, way, "the design loses a write")
	assert.Greater(t, states, 500, "the model has hardly any states: it says nothing")
	for name, r := range map[string]barrierRules{
		"lease only":                        {leaseOnly: true},
		"look, then announce":               {lookFirst: true},
		"acknowledged without draining":     {noDrain: true},
		"orphans are forgotten":             {ackWithOrphans: true},
		"no fence row":                      {noRow: true},
		"connections are not verified":      {noVerify: true},
		"fence row after the kill":          {rowAfterKill: true},
		"kill, then lock":                   {lockAfterKill: true},
		"no kill":                           {noKill: true},
		"prepared is not waited for":        {noXA: true},
		"prepared is looked at too early":   {xaFirst: true},
		"neither row nor lock, only a kill": {noRow: true, noLock: true},
	} {
		_, way := explore(barrierState{}, r.next, late)
		assert.NotEmpty(t, way, name)
	}
	// The lock alone only shortens the eviction: with the row it is not needed.
	_, way = explore(barrierState{}, barrierRules{noLock: true}.next, late)
	assert.Empty(t, way)
}

// publishRules are what the cutover's end stands on; the zero value is the design.
type publishRules struct {
	compareState bool // publishing asks whether the partitions are frozen, not whether it is the same freeze
	thawLocally  bool // proxies thaw by themselves when the deadline is over
	keepGoing    bool // a controller that finds the freeze gone publishes what it has captured
}

// publishState is two controllers, one of them perhaps paused for long, and rows of which only the number of changes counts.
type publishState struct {
	rev, version uint8
	frozen, open bool
	at           [2]uint8 // revision of the freeze of each controller, 0: none
	captured     [2]uint8 // version its targets have, plus 1
	late         bool     // the deadline is over
	opened       uint8    // version the targets have as owners, plus 1
}

func (r publishRules) next(s publishState) map[string]publishState {
	out := map[string]publishState{}
	add := func(step string, ok bool, change func(*publishState)) {
		if ok {
			n := s
			change(&n)
			out[step] = n
		}
	}
	const most = 6
	for i, name := range []string{"first", "second"} {
		add(name+" controller: freezes", !s.frozen && !s.open && s.rev < most, func(n *publishState) {
			n.rev++
			n.frozen, n.late, n.at[i], n.captured[i] = true, false, n.rev, 0
		})
		add(name+" controller: captures", s.at[i] != 0 && s.captured[i] == 0 && s.frozen && s.at[i] == s.rev, func(n *publishState) { n.captured[i] = n.version + 1 })
		may := s.frozen && s.rev == s.at[i]
		switch {
		case r.compareState:
			may = s.frozen
		case r.keepGoing:
			may = true
		}
		add(name+" controller: publishes", s.captured[i] != 0 && !s.open && may, func(n *publishState) {
			n.rev++
			n.open, n.frozen, n.opened = true, false, n.captured[i]
		})
	}
	add("deadline", s.frozen && !s.late, func(n *publishState) { n.late = true })
	add("anybody: thaws", s.frozen && s.rev < most, func(n *publishState) { n.rev++; n.frozen = false })
	add("client: writes", !s.open && s.version < 3 && (!s.frozen || r.thawLocally && s.late), func(n *publishState) { n.version++ })
	return out
}

func TestModelOfPublishing(t *testing.T) {
	lost := func(s publishState) bool { return s.open && s.opened != s.version+1 }
	_, way := explore(publishState{rev: 1}, publishRules{}.next, lost)
	assert.Empty(t, way, "the design opens targets that lack a write")
	for name, r := range map[string]publishRules{
		"publishing compares the state":          {compareState: true},
		"proxies thaw by themselves":             {thawLocally: true},
		"publishing does not look at the freeze": {keepGoing: true},
	} {
		_, way := explore(publishState{rev: 1}, r.next, lost)
		assert.NotEmpty(t, way, name)
	}
}

// readRules are what reads over all groups stand on; the zero value is the design.
type readRules struct {
	readFrozen   bool // such a read begins while partitions are frozen
	lookFirst    bool // it looks at the map before it is announced
	noCleanDrain bool // cleaning does not wait for reads by an older map
	noAck        bool // publishing does not wait for the acknowledgement of the freeze
}

// readState is a partition that moves, a process whose clients write a row to it, and one that may hear of every map late and whose
// client reads all groups after it was told of the row.
type readState struct {
	known   uint8 // the map: 0 the old owner's, 1 frozen, 2 the new owner's, 3 cleaned
	sees    uint8 // the same, as the reading process knows it
	acked   bool
	written uint8 // 0 no row, 1 on the old owner, 2 on the new one
	moved   bool  // what was on the old owner when it was frozen is on the new one
	read    uint8 // 0 not begun, 1 has looked too early, 2 runs
	by      uint8 // the map it runs by
	owed    bool  // the row was there before it began
	late    bool
}

func (r readRules) next(s readState) map[string]readState {
	out := map[string]readState{}
	add := func(step string, ok bool, change func(*readState)) {
		if ok {
			n := s
			change(&n)
			out[step] = n
		}
	}
	add("writer: writes to the old owner", s.written == 0 && s.known == 0, func(n *readState) { n.written = 1 })
	add("writer: writes to the new owner", s.written == 0 && s.known >= 2, func(n *readState) { n.written = 2 })
	add("reader's process: hears of a map", s.sees < s.known, func(n *readState) { n.sees++ })
	add("reader's process: acknowledges the freeze", s.sees >= 1 && !s.acked, func(n *readState) { n.acked = true })
	begin := func(n *readState) { n.read, n.by, n.owed = 2, n.sees, n.written != 0 }
	may := s.sees != 1 || r.readFrozen
	if r.lookFirst {
		add("reader: looks", s.read == 0 && may, func(n *readState) { begin(n); n.read = 1 })
		add("reader: announces", s.read == 1, func(n *readState) { n.read = 2 })
	} else {
		add("reader: announces and looks", s.read == 0 && may, begin)
	}
	// What it does not find although it was there before it began: on the other owner by its map, or cleaned away.
	add("reader: reads", s.read == 2, func(n *readState) {
		old := s.by < 2
		found := old && s.written == 1 && s.known < 3 || !old && (s.written == 2 || s.written == 1 && s.moved)
		n.read, n.late = 0, s.owed && !found
	})
	add("controller: freezes", s.known == 0, func(n *readState) { n.known = 1 })
	add("controller: publishes", s.known == 1 && (s.acked || r.noAck), func(n *readState) { n.known, n.moved = 2, true })
	add("controller: cleans", s.known == 2 && (r.noCleanDrain || s.sees >= 2 && !(s.read == 2 && s.by < 2)), func(n *readState) { n.known = 3 })
	return out
}

func TestModelOfReading(t *testing.T) {
	missing := func(s readState) bool { return s.late }
	states, way := explore(readState{}, readRules{}.next, missing)
	assert.Empty(t, way, "the design misses a row")
	assert.Greater(t, states, 30, "the model has hardly any states: it says nothing")
	for name, r := range map[string]readRules{
		"reads begin while partitions are frozen": {readFrozen: true},
		"look, then announce":                     {lookFirst: true},
		"cleaning does not wait for reads":        {noCleanDrain: true},
		"publishing does not wait for anybody":    {noAck: true},
	} {
		_, way := explore(readState{}, r.next, missing)
		assert.NotEmpty(t, way, name)
	}
}
