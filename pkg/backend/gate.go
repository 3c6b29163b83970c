package backend

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/socket"
)

// Class is what decides whether a statement may have a place on a node group at once, must wait, or is refused.
type Class uint8

// The classes.
const (
	// New begins work: a statement outside of a transaction, or the first of one. It is what the limit is for.
	New Class = iota
	// Started belongs to work that holds connections, locks or rows already: it is not refused while the group has a
	// connection for it, because refusing it would waste what has been done and keep what it holds.
	Started
	// Admin is an administrator at work: a few of them get a place whatever the limit is.
	Admin
	// Spare asks for one connection more than a statement needs, to do two things at a time: it gets a place only while the
	// group has much room, and waits for nothing.
	Spare
)

// Claim is for what a connection is asked.
type Claim struct {
	User  string // queues are fair between users
	Class Class
	Held  bool // the connection is kept for more than one statement, and idle in between
	Wide  bool // the statement uses other node groups at the same time
	// Owner is who asks for the connection, and holds it; nil: nobody who could be asked for it, or killed.
	Owner Owner
	// Task is the session on its Loop, nil if it is on none: the connection comes to that Loop.
	Task *socket.Task
}

// refusal is why a claim gets no place.
type refusal string

const (
	refusedFull  refusal = "queue"   // the queue is full
	refusedEarly refusal = "early"   // its turn would come too late
	refusedLate  refusal = "timeout" // its turn did not come in time
)

func (r refusal) Error() string { return string(r) }

const (
	// adminPlaces is how many administrators at a time are let in beyond the limit.
	adminPlaces = 4
	// maxDials is how many connections new work has made at a time: a server that is asked for hundreds at once has no time for
	// those it has.
	maxDials = 16
	// impatience divides the time to wait once the queue is a standing one.
	impatience = 10
)

// gate decides who may use a node group: it counts places, and queues and refuses those who ask for one. It knows nothing of
// connections. The caller locks; nothing here waits but wait, which unlocks meanwhile.
//
// As long as there is room, entering and leaving are a comparison and a few additions under the lock that the pool takes anyway.
type gate struct {
	max      int           // places, the reserve included
	reserve  int           // places for work that has started
	maxQueue int           // claims that may wait
	patience time.Duration // how long one may wait

	limiter   limiter
	idle      int // places whose holders had no statement running when they were last counted, or waited for a row lock
	allowance int // inUse up to which new work may enter: the limit, and idle

	inUse   int
	free    int // connections that are idle
	dialing int // places whose connection is being made
	wide    int // of them, new work over several node groups
	admins  int // of them, Class Admin
	held    int // of them, Held

	emptied chan struct{} // closed when there is nobody left; nil: nobody waits for that

	queue queue
	// standing: someone was refused because the queue has not been empty for longer than patience. It is written when that
	// changes, and read without the lock.
	standing atomic.Bool

	// what happened since the window began
	window measured
	last   measured // the window before

	refusals uint64
	refused  func(refusal) // is told of each
}

// measured is what a gate saw in a window of time.
type measured struct {
	began  time.Time
	took   time.Duration // 0: the window is not over
	left   uint64        // places given back
	peak   int           // most places in use
	waited bool          // someone had to queue

	samples [64]time.Duration // how long statements took, the newest ones
	sampled int
}

// init sets the limits. places is all there are.
func (g *gate) init(places, maxQueue, floor int, patience time.Duration, now time.Time) {
	g.max, g.reserve, g.maxQueue, g.patience = places, places/8, maxQueue, patience
	g.limiter = newLimiter(min(floor, places-g.reserve), places-g.reserve)
	g.window.began = now
	g.allow()
}

// allow computes the allowance.
func (g *gate) allow() { g.allowance = min(g.limiter.limit()+g.idle, g.max-g.reserve) }

// room reports whether there is a place for c, were there no queue.
func (g *gate) room(c Claim) bool {
	switch {
	case c.Class == Started, c.Class == Admin && g.admins < adminPlaces:
		return g.inUse < g.max
	case c.Class == Spare:
		return g.queue.n == 0 && 2*g.inUse < g.allowance && (g.free > 0 || g.dialing < maxDials)
	case c.Wide && g.wide > 0 && 2*g.wide >= g.allowance:
		return false // half of the group is for statements that need no other one
	}
	return g.inUse < g.allowance && (g.free > 0 || g.dialing < maxDials)
}

// enter takes a place for c if there is one. It need not look at the queue: for those who wait there is no room, or they
// would have been given it.
func (g *gate) enter(c Claim) bool {
	if !g.room(c) {
		return false
	}
	g.take(c)
	return true
}

func (g *gate) take(c Claim) {
	g.inUse++
	if g.inUse > g.window.peak {
		g.window.peak = g.inUse
	}
	if c.Class == Admin {
		g.admins++
	}
	if c.Held {
		g.held++
	}
	if c.Wide && c.Class == New {
		g.wide++
	}
}

// leave gives c's place back. took is how long a statement took, or 0.
func (g *gate) leave(c Claim, took time.Duration) {
	g.inUse--
	g.window.left++
	if took > 0 {
		g.window.samples[g.window.sampled%len(g.window.samples)] = took
		g.window.sampled++
	}
	if c.Class == Admin {
		g.admins--
	}
	if c.Held {
		g.held--
	}
	if c.Wide && c.Class == New {
		g.wide--
	}
	if g.queue.n > 0 {
		g.dispatch()
	}
	if g.emptied != nil && g.empty() {
		close(g.emptied)
		g.emptied = nil
	}
}

// empty reports whether nobody has a place, or waits for one.
func (g *gate) empty() bool { return g.inUse == 0 && g.queue.n == 0 }

// dialed tells that a connection has been made, or could not be.
func (g *gate) dialed() {
	g.dialing--
	if g.queue.n > 0 {
		g.dispatch()
	}
}

// dispatch gives free places to those who wait.
func (g *gate) dispatch() {
	for {
		w := g.queue.next(g.room)
		if w == nil {
			break
		}
		g.take(w.claim)
		w.ready <- nil
	}
	if g.queue.n == 0 && g.standing.Load() {
		g.standing.Store(false)
	}
}

// wait queues for a place until it is given, or refuses. limit is the statement's own limit of time, 0 without one. mu is held at
// the call and at return, and guards the gate.
//
// A queue that is empty now and then takes up bursts; one that is not only makes everybody late. So whoever comes to a
// queue that has stood for as long as anyone may wait is given a tenth of that time: B. Maurer, Fail at Scale, ACM
// Queue 13(8), 2015, after K. Nichols and V. Jacobson, Controlling Queue Delay, ACM Queue 10(5), 2012. And whoever can be
// told now that the turn will not come in time is told now.
func (g *gate) wait(mu sync.Locker, c Claim, limit time.Duration) error {
	now := time.Now()
	patience := g.patience
	if limit > 0 {
		patience = min(patience, limit)
	}
	if c.Class != Started {
		standing := g.queue.n > 0 && now.Sub(g.queue.since) >= g.patience
		if standing {
			patience = min(patience, g.patience/impatience)
		}
		var why refusal
		switch rate := g.rate(now); {
		case g.queue.n >= g.maxQueue && !g.makeRoom(c):
			why = refusedFull
		case rate > 0 && float64(g.queue.ahead(c))/rate > patience.Seconds():
			why = refusedEarly
		}
		if why != "" {
			if standing && !g.standing.Load() {
				g.standing.Store(true)
			}
			return g.refuse(why)
		}
	}
	if g.queue.n == 0 {
		g.queue.since, g.queue.left = now, g.window.left
	}
	w := g.queue.push(c)
	g.window.waited = true
	mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-w.ready:
		mu.Lock()
		return err
	case <-timer.C:
	}
	mu.Lock()
	if g.queue.remove(w) {
		g.dispatch() // it may have stood before one for whom there is room
		return g.refuse(refusedLate)
	}
	return <-w.ready // it came at the last moment
}

// makeRoom takes the last one out of the longest line of a full queue if c's own is shorter: who asks for much does not keep
// those out who ask for little.
func (g *gate) makeRoom(c Claim) bool {
	var longest *line
	for _, l := range g.queue.lines {
		if longest == nil || len(l.waiters) > len(longest.waiters) {
			longest = l
		}
	}
	own := 1
	if l := g.queue.line(c); l != nil {
		own += len(l.waiters)
	}
	if longest == nil || own >= len(longest.waiters) {
		return false
	}
	last := longest.waiters[len(longest.waiters)-1]
	g.queue.remove(last)
	last.ready <- g.refuse(refusedFull)
	return true
}

func (g *gate) refuse(why refusal) error {
	g.refusals++
	g.refused(why)
	return why
}

// rate is how many places per second are given back while there is a queue, or 0 if that is not known. What was given back
// before does not count: without a queue that tells what was asked for, not what the group is capable of.
func (g *gate) rate(now time.Time) float64 {
	if g.queue.n == 0 {
		return 0
	}
	left, took := g.window.left, now.Sub(g.window.began)
	switch {
	case g.queue.since.After(g.window.began):
		left, took = left-g.queue.left, now.Sub(g.queue.since)
	case !g.queue.since.After(g.last.began):
		left, took = left+g.last.left, took+g.last.took
	}
	if took < g.patience/2 { // a burst: connections are still being made, and statements may be slow for another moment
		return 0
	}
	return float64(left) / took.Seconds()
}

// close ends the queue: all who wait get err.
func (g *gate) close(err error) {
	for w := g.queue.next(func(Claim) bool { return true }); w != nil; w = g.queue.next(func(Claim) bool { return true }) {
		w.ready <- err
	}
	g.standing.Store(false)
}

// pressed reports whether the limit may soon decide over something, or does already.
func (g *gate) pressed() bool {
	return g.queue.n > 0 || g.window.waited || 2*(g.window.peak-g.idle) >= g.limiter.limit()
}

// adapt is called now and then: it ends the window, if enough was seen in it, and lets the limiter decide. idle is how many places are held by whoever has nothing running, and
// locked how many statements of the server wait for row locks, which takes no capacity: neither count.
func (g *gate) adapt(now time.Time, idle, locked int) {
	g.idle = min(idle+locked, g.inUse)
	if w := &g.window; w.sampled >= minSamples || now.Sub(w.began) >= maxWindow {
		g.endWindow(now, idle, locked)
	}
	g.allow()
	g.dispatch()
}

func (g *gate) endWindow(now time.Time, idle, locked int) {
	w := &g.window
	w.took = now.Sub(w.began)
	g.limiter.next(sight{
		latency: w.median(), samples: w.sampled, peak: w.peak - min(idle, w.peak), inUse: g.inUse - min(idle, g.inUse),
		locked: locked, left: w.left, waited: w.waited, took: w.took,
	})
	g.last = *w
	*w = measured{began: now, peak: g.inUse, waited: g.queue.n > 0}
}

const (
	minSamples = 8           // with which a window may end
	maxWindow  = time.Second // after which it ends all the same
)

// median is the median of the samples.
func (w *measured) median() time.Duration {
	n := min(w.sampled, len(w.samples))
	if n == 0 {
		return 0
	}
	s := w.samples
	slices.Sort(s[:n])
	return s[n/2]
}

// crowded tells that the server itself has refused a connection because it has too many.
func (g *gate) crowded() {
	g.limiter.crowded()
	g.allow()
}

// restart is for a server that is back: its caches are cold, and all its clients come at once.
func (g *gate) restart() {
	g.limiter.restart()
	g.allow()
}

// waiter is one who queues.
type waiter struct {
	claim Claim
	ready chan error // nil: the place is counted and its own
}

// lineKey names a line of the queue: statements over several node groups must not stand in the way of others.
type lineKey struct {
	user string
	wide bool
}

// line is those of one user, first come, first served.
type line struct {
	key     lineKey
	waiters []*waiter
}

// queue is those who wait. Users take turns, whoever comes first within one user goes first, and work that has started goes
// before all others.
type queue struct {
	n      int
	since  time.Time // n has not been 0
	left   uint64    // of the window, at that time
	urgent []*waiter
	lines  []*line // in the order of their turns
}

func (q *queue) push(c Claim) *waiter {
	w := &waiter{claim: c, ready: make(chan error, 1)}
	q.n++
	if c.Class == Started {
		q.urgent = append(q.urgent, w)
		return w
	}
	l := q.line(c)
	if l == nil {
		l = &line{key: lineKey{c.User, c.Wide}}
		q.lines = append(q.lines, l)
	}
	l.waiters = append(l.waiters, w)
	return w
}

func (q *queue) line(c Claim) *line {
	for _, l := range q.lines {
		if l.key == (lineKey{c.User, c.Wide}) {
			return l
		}
	}
	return nil
}

// ahead is how many places must come free until one is c's.
func (q *queue) ahead(c Claim) int {
	lines, own := len(q.lines), 1
	if l := q.line(c); l != nil {
		own = len(l.waiters) + 1
	} else {
		lines++
	}
	return min(q.n+1, len(q.urgent)+own*lines)
}

// next takes out the one whose turn it is among those for whom there is room.
func (q *queue) next(room func(Claim) bool) *waiter {
	if len(q.urgent) > 0 {
		w := q.urgent[0]
		if !room(w.claim) {
			return nil
		}
		q.urgent = q.urgent[1:]
		q.n--
		return w
	}
	for i, l := range q.lines {
		w := l.waiters[0]
		if !room(w.claim) {
			continue
		}
		l.waiters = l.waiters[1:]
		q.n--
		q.lines = slices.Delete(q.lines, i, i+1)
		if len(l.waiters) > 0 {
			q.lines = append(q.lines, l)
		}
		return w
	}
	return nil
}

// remove takes w out; it reports false if w is not waiting any more.
func (q *queue) remove(w *waiter) bool {
	if i := slices.Index(q.urgent, w); i >= 0 {
		q.urgent = slices.Delete(q.urgent, i, i+1)
		q.n--
		return true
	}
	for i, l := range q.lines {
		if j := slices.Index(l.waiters, w); j >= 0 {
			l.waiters = slices.Delete(l.waiters, j, j+1)
			if len(l.waiters) == 0 {
				q.lines = slices.Delete(q.lines, i, i+1)
			}
			q.n--
			return true
		}
	}
	return false
}

// isRefusal reports whether err is that of a gate.
func isRefusal(err error) bool {
	_, ok := errors.AsType[refusal](err)
	return ok
}
