package isolation

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/txn"
	"skarv/test/cluster"
	"skarv/test/history"
)

// scenario is a schedule of up to three transactions over two lists, x and y, and what it is to show. A step is
//
//	1 r x       transaction 1 reads x; "r p" reads both by a condition that is not their key
//	1 w x       it appends to x; "i x": it inserts the row of x with a value
//	1 c         it commits; "a": it rolls back
//
// and a transaction begins with its first step. "pause" lets the next commit stop when its first node group shows it and
// the others do not yet, "resume" lets it go on. The rows of x and y are there unless absent.
type scenario struct {
	name, steps string
	absent      bool
	shows       []history.Kind
	// apart: with REPEATABLE READ it occurs on rows of two node groups, though not on one server, unless skarv_read_atomicity is set.
	apart bool
}

var scenarios = [...]scenario{
	{name: "G0: dirty write", steps: "1 w x, 2 w x, 1 w y, 1 c, 2 w y, 2 c", shows: []history.Kind{history.G0}},
	{name: "G1a: aborted read", steps: "1 w x, 2 r x, 1 a, 2 r x, 2 c", shows: []history.Kind{history.G1a}},
	{name: "G1b: intermediate read", steps: "1 w x, 2 r x, 1 w x, 1 c, 2 c", shows: []history.Kind{history.G1b}},
	{name: "G1c: circular information flow", steps: "1 w x, 2 w y, 1 r y, 2 r x, 1 c, 2 c", shows: []history.Kind{history.G1c}},
	{name: "PMP: a predicate finds other rows", steps: "1 r p, 2 i x, 2 c, 1 r p, 1 c", absent: true, shows: []history.Kind{history.FuzzyRead}},
	{name: "P2: non-repeatable read", steps: "1 r x, 2 w x, 2 c, 1 r x, 1 c", shows: []history.Kind{history.FuzzyRead}},
	{name: "P4: lost update", steps: "1 r x, 2 r x, 1 w x, 2 w x, 1 c, 2 c", shows: []history.Kind{history.LostUpdate}},
	{name: "G-single: read skew", steps: "1 r x, 2 w x, 2 w y, 2 c, 1 r y, 1 c", shows: []history.Kind{history.FracturedRead}, apart: true},
	{name: "G-single: read skew, found by writing", steps: "1 r x, 2 w x, 2 w y, 2 c, 1 w y, 1 c", shows: []history.Kind{history.GSingle}},
	{name: "G2-item: write skew", steps: "1 r x, 1 r y, 2 r x, 2 r y, 1 w x, 2 w y, 1 c, 2 c", shows: []history.Kind{history.G2}},
	{name: "G2: write skew over a predicate", steps: "1 r p, 2 r p, 1 i x, 2 i y, 1 c, 2 c", absent: true, shows: []history.Kind{history.G2}},
}

// commits are the scenarios in which another transaction is seen in the middle of its commit.
var commits = [...]scenario{
	{name: "two queries in a transaction", steps: "1 w x, 1 w y, pause, 1 c, 2 r x, 2 r y, 2 c, resume", shows: []history.Kind{history.FracturedRead}},
	{name: "one query over both", steps: "1 w x, 1 w y, pause, 1 c, 2 q p, resume", shows: []history.Kind{history.FracturedAnswer, history.FracturedRead}},
}

// pauser stops the next commit over several node groups once it is armed.
type pauser struct {
	mu               sync.Mutex
	reached, resumed chan struct{} // nil: nobody stops
}

func (p *pauser) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reached, p.resumed = make(chan struct{}), make(chan struct{})
}

func (p *pauser) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed != nil {
		close(p.resumed)
		p.resumed = nil
	}
}

// hit is the failpoint.
func (p *pauser) hit(point string, _ txn.ID) error {
	p.mu.Lock()
	reached, wait := p.reached, p.resumed
	if point == txn.PointDecided {
		p.reached = nil
	}
	p.mu.Unlock()
	if wait != nil && reached != nil && point == txn.PointDecided {
		close(reached)
		<-wait
	}
	return nil
}

// actor runs one transaction of a scenario: its steps in their order, each when the one before has ended.
type actor struct {
	client
	steps   chan func()
	stopped bool // it is in the middle of its commit

	mu   sync.Mutex
	left int // steps that have not ended

	txn   history.Txn
	begun bool
	over  bool
}

func (a *actor) do(step func()) {
	a.mu.Lock()
	a.left++
	a.mu.Unlock()
	a.steps <- func() {
		step()
		a.mu.Lock()
		a.left--
		a.mu.Unlock()
	}
}

func (a *actor) waiting() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left > 0
}

// fail notes an error of a statement: the transaction is rolled back.
func (a *actor) fail(err error) bool {
	if err != nil {
		_ = a.exec("ROLLBACK")
		a.txn.Outcome, a.over = history.Aborted, true
	}
	return err != nil
}

// stage is where a scenario is run.
type stage struct {
	place    *place
	pauser   *pauser // nil on one server, where nobody is seen in the middle of a commit
	level    string
	settings []string
	apart    bool
}

// play runs a scenario and returns what was found wrong with it.
func (s *stage) play(t *testing.T, sc *scenario) []history.Anomaly {
	x, y := s.place.lists(t, s.apart)
	lists := map[string]int{"x": x, "y": y}
	admin := dial(t, s.place)
	if !sc.absent {
		require.NoError(t, admin.exec(fmt.Sprintf("INSERT INTO lists VALUES (%d, %d, ''), (%d, %d, '')", x, x, y, x)))
	}
	actors := map[string]*actor{}
	var all []*actor
	var work sync.WaitGroup
	value := 0
	stops := false
	for step := range strings.SplitSeq(sc.steps, ", ") {
		switch step {
		case "pause":
			if s.pauser != nil {
				s.pauser.arm()
				stops = true
			}
			continue
		case "resume":
			if s.pauser != nil {
				s.pauser.resume()
			}
			continue
		}
		f := strings.Fields(step)
		a := actors[f[0]]
		if a == nil {
			settings := append([]string{"SET SESSION TRANSACTION ISOLATION LEVEL " + s.level}, s.settings...)
			a = &actor{client: dial(t, s.place, settings...), steps: make(chan func(), 20)}
			actors[f[0]], all = a, append(all, a)
			work.Go(func() {
				for step := range a.steps {
					step()
				}
			})
		}
		value++
		var reached chan struct{}
		if stops && f[1] == "c" {
			reached, stops, a.stopped = s.pauser.reached, false, true
		}
		now := value
		a.do(func() { s.step(a, f[1:], lists, now) })
		if reached != nil {
			select {
			case <-reached:
			case <-time.After(stepLong):
				t.Fatal("the commit does not come to its decision")
			}
		}
		s.settle(t, all, admin)
	}
	for _, a := range all {
		close(a.steps)
	}
	work.Wait()
	var txns []history.Txn
	for _, a := range all {
		txns = append(txns, a.txn)
	}
	found := history.Check(txns, final(t, s.place, x, y))
	if testing.Verbose() && len(found) > 0 {
		t.Logf("%s, %s, %v: %v\n%+v", sc.name, s.level, s.settings, found, txns)
	}
	return found
}

// step runs one step.
func (s *stage) step(a *actor, f []string, lists map[string]int, value int) {
	if a.over {
		return
	}
	if !a.begun && f[0] != "q" {
		a.begun = true
		if a.fail(a.exec("BEGIN")) {
			return
		}
	}
	switch f[0] {
	case "r", "q":
		keys, condition := []int{lists["x"], lists["y"]}, fmt.Sprintf("pair = %d", lists["x"])
		if f[1] != "p" {
			keys = []int{lists[f[1]]}
			condition = inKeys(keys)
		}
		ops, err := a.read(condition, keys...)
		if a.fail(err) {
			return
		}
		for i := range ops {
			ops[i].Statement = value
		}
		a.txn.Ops = append(a.txn.Ops, ops...)
		if f[0] == "q" {
			a.txn.Outcome, a.over = history.Committed, true
		}
	case "w":
		if !a.fail(a.append(lists[f[1]], value)) {
			a.txn.Ops = append(a.txn.Ops, history.Op{Key: lists[f[1]], Append: value})
		}
	case "i":
		if !a.fail(a.exec(fmt.Sprintf("INSERT INTO lists VALUES (%d, %d, ',%d')", lists[f[1]], lists["x"], value))) {
			a.txn.Ops = append(a.txn.Ops, history.Op{Key: lists[f[1]], Append: value})
		}
	case "c":
		a.txn.Outcome, a.over = outcome(a.exec("COMMIT")), true
	case "a":
		a.fail(errRollback)
	}
}

var errRollback = fmt.Errorf("the scenario wants it")

const (
	// heldFor is how many queries of somebody else, one after the other, are waited for while a commit is stopped: a step that has not ended
	// by then waits for that, out of the servers' sight.
	heldFor = 100
	// stepLong bounds a step.
	stepLong = 60 * time.Second
)

// settle returns when no actor can go on: each is idle, waits for a lock, or, while one is stopped, for that. other is nobody's connection.
func (s *stage) settle(t *testing.T, all []*actor, other client) {
	next, asked := time.Now().Add(cluster.LockTick), 0
	require.Eventually(t, func() bool {
		busy, stopped := 0, false
		for _, a := range all {
			switch {
			case a.stopped:
				stopped = true
			case a.waiting():
				busy++
			}
		}
		if busy == 0 || asked == heldFor {
			return true
		}
		if stopped {
			asked++
			_, err := other.read("pair = 0") // of all node groups
			assert.NoError(t, err)
		}
		if time.Now().Before(next) {
			return false
		}
		next = time.Now().Add(cluster.LockTick)
		return cluster.LockWaits(t, s.place.servers) >= busy
	}, stepLong, time.Millisecond, "a step neither ends nor waits for a lock")
}
