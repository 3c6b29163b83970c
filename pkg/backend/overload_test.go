package backend

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// simServer works on a few statements at a time, for a fixed time each; the others wait in it.
type simServer struct {
	workers chan struct{}

	mu      sync.Mutex // guards the fields below
	service time.Duration
	hangs   chan struct{} // closed when it goes on; nil: it works
}

func newSimServer(workers int, service time.Duration) *simServer {
	return &simServer{workers: make(chan struct{}, workers), service: service}
}

func (s *simServer) run() {
	s.workers <- struct{}{}
	s.mu.Lock()
	service, hangs := s.service, s.hangs
	s.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	time.Sleep(service)
	<-s.workers
}

func (s *simServer) capacity() float64 { return float64(cap(s.workers)) / s.service.Seconds() }

// simGroup is a gate with a server behind it, as a pool is.
type simGroup struct {
	*simServer
	mu     sync.Mutex
	gate   gate
	turns  int
	locked int // statements that wait for row locks
	idle   int // held without a statement
	stop   chan struct{}
}

func newSimGroup(s *simServer, places int) *simGroup {
	g := &simGroup{simServer: s, stop: make(chan struct{})}
	d := DefaultConfig()
	g.gate.init(places, d.MaxQueue, d.MinPerGroup, d.AcquireTimeout, time.Now())
	g.gate.refused = func(refusal) {}
	go func() {
		for {
			select {
			case <-g.stop:
				return
			case <-time.After(adaptInterval):
			}
			g.mu.Lock()
			g.gate.adapt(time.Now(), g.idle, g.locked)
			g.mu.Unlock()
		}
	}()
	return g
}

func (g *simGroup) enter(c Claim) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate.enter(c) {
		return nil
	}
	return g.gate.wait(&g.mu, c, 0)
}

func (g *simGroup) leave(c Claim, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.turns++; g.turns%timeEvery != 0 {
		took = 0
	}
	g.gate.leave(c, took)
}

func (g *simGroup) limit() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gate.limiter.limit()
}

// call is one statement.
func (g *simGroup) call(c Claim) error {
	if err := g.enter(c); err != nil {
		return err
	}
	began := time.Now()
	g.run()
	g.leave(c, time.Since(began))
	return nil
}

// tally is what became of statements.
type tally struct {
	mu      sync.Mutex
	good    int // in time
	late    int
	refused int
	took    []time.Duration // of those that were served
}

func (t *tally) add(took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.refused++
	case took > time.Second:
		t.late++
	default:
		t.good++
	}
	if err == nil {
		t.took = append(t.took, took)
	}
}

func (t *tally) String() string {
	sort.Slice(t.took, func(i, j int) bool { return t.took[i] < t.took[j] })
	at := func(q float64) time.Duration {
		if len(t.took) == 0 {
			return 0
		}
		return t.took[int(q*float64(len(t.took)-1))]
	}
	return fmt.Sprintf("good %d, late %d, refused %d, median %s, p99 %s", t.good, t.late, t.refused, at(0.5), at(0.99))
}

// offer sends statements at random times, perSecond of them in the mean, whether others have been answered or not.
func offer(g *simGroup, r *rand.Rand, perSecond float64, length time.Duration, c Claim) *tally {
	t := new(tally)
	var wg sync.WaitGroup
	for end := time.Now().Add(length); time.Now().Before(end); {
		time.Sleep(time.Duration(r.ExpFloat64() / perSecond * 1e9))
		wg.Go(func() {
			began := time.Now()
			err := g.call(c)
			t.add(time.Since(began), err)
		})
	}
	wg.Wait()
	return t
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// Three times what the group can do is offered: what is answered in time is nearly all it can do, and soon.
func TestGoodputUnderOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
		defer close(g.stop)
		r := random()
		first := offer(g, r, 3*g.capacity(), 3*time.Second, Claim{})
		t.Log("first", first)
		steady := offer(g, r, 3*g.capacity(), 6*time.Second, Claim{})
		t.Log("then", steady, "limit", g.limit())
		require.Greater(t, float64(first.good), 0.6*3*g.capacity())
		require.Greater(t, float64(steady.good), 0.9*6*g.capacity())
		require.Less(t, steady.took[len(steady.took)/2], 500*time.Millisecond)
		require.Less(t, g.limit(), 60, "places that only wait inside of the server")
		require.Greater(t, g.limit(), 9)
	})
}

// Below its capacity nothing is refused, whatever the limit was before.
func TestNothingRefusedBelowCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
		defer close(g.stop)
		r := random()
		offer(g, r, 3*g.capacity(), 3*time.Second, Claim{})
		after := offer(g, r, 0.7*g.capacity(), 5*time.Second, Claim{})
		t.Log(after)
		require.Zero(t, after.refused)
		require.False(t, g.gate.standing.Load())
	})
}

// One group becomes ten times slower. The sessions are limited, as those of any client: the others keep what they had.
func TestSlowGroupLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions, groups = 400, 4
		var all [groups]*simGroup
		for i := range all {
			all[i] = newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
			defer close(all[i].stop)
		}
		r := random()
		measure := func(length time.Duration) (done [groups]int) {
			var mu sync.Mutex
			var wg sync.WaitGroup
			free := make(chan struct{}, sessions)
			for end := time.Now().Add(length); time.Now().Before(end); {
				time.Sleep(time.Duration(r.ExpFloat64() / (groups * 500) * 1e9)) // half of their capacity
				n := r.IntN(groups)
				select {
				case free <- struct{}{}:
				default:
					continue // no session is left: the client's loss
				}
				wg.Go(func() {
					defer func() { <-free }()
					if all[n].call(Claim{}) == nil {
						mu.Lock()
						done[n]++
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			return done
		}
		before := measure(4 * time.Second)
		all[0].simServer.mu.Lock()
		all[0].service *= 10
		all[0].simServer.mu.Unlock()
		measure(3 * time.Second)
		after := measure(4 * time.Second)
		t.Log("before", before, "after", after)
		for i := 1; i < groups; i++ {
			require.Greater(t, float64(after[i]), 0.9*float64(before[i]))
		}
		require.Greater(t, float64(after[0]), 0.8*4*all[0].capacity(), "the slow one does what it can")
	})
}

// Work that has started gets a place where new work gets none, and two transactions that want each other's group both do.
func TestStartedWorkIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSimGroup(newSimServer(4, 10*time.Millisecond), 32), newSimGroup(newSimServer(4, 10*time.Millisecond), 32)
		defer close(a.stop)
		defer close(b.stop)
		var wg sync.WaitGroup
		for i := range 200 { // holds one and wants the other
			first, second := a, b
			if i%2 == 1 {
				first, second = b, a
			}
			wg.Go(func() {
				if first.enter(Claim{Held: true}) != nil {
					return // refused before it began
				}
				first.run()
				if err := second.enter(Claim{Class: Started, Held: true}); err != nil {
					t.Error(err)
					return
				}
				second.run()
				second.leave(Claim{Class: Started, Held: true}, 0)
				first.leave(Claim{Held: true}, 0)
			})
		}
		wg.Wait()
		for _, g := range []*simGroup{a, b} {
			g.mu.Lock()
			require.Zero(t, g.gate.inUse)
			require.Zero(t, g.gate.held)
			g.mu.Unlock()
		}
	})
}

// Statements that wait for a row lock, and transactions whose clients think, take nothing of the limit.
func TestWaitingElsewhereIsNotOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
		defer close(g.stop)
		r := random()
		var waiting sync.WaitGroup
		end := make(chan struct{})
		for i := range 100 {
			own := rand.New(rand.NewPCG(5, uint64(i)))
			waiting.Go(func() { // one after the other gets the lock
				for {
					if g.enter(Claim{}) != nil {
						continue
					}
					g.mu.Lock()
					g.locked++
					g.mu.Unlock()
					began := time.Now()
					select {
					case <-end:
					case <-time.After(time.Duration(own.IntN(2000)) * time.Millisecond):
					}
					g.mu.Lock()
					g.locked--
					g.mu.Unlock()
					g.leave(Claim{}, time.Since(began))
					select {
					case <-end:
						return
					default:
					}
				}
			})
		}
		before := g.limit()
		others := offer(g, r, 0.6*g.capacity(), 5*time.Second, Claim{})
		close(end)
		waiting.Wait()
		require.Equal(t, before, g.limit())
		require.Zero(t, others.refused, others.String())

		g.mu.Lock()
		g.gate.limiter.value = 8 // after an overload
		g.gate.adapt(time.Now(), 0, 0)
		g.mu.Unlock()
		held := 0
		for range 60 {
			if g.enter(Claim{Held: true}) == nil {
				held++
			}
			g.mu.Lock()
			g.idle = held
			g.mu.Unlock()
			time.Sleep(adaptInterval)
		}
		require.Equal(t, 60, held)
		others = offer(g, r, 0.4*g.capacity(), 5*time.Second, Claim{})
		require.Zero(t, others.refused, others.String())
	})
}

// Statements become ten times as costly, and more run at a time: that is not overload for ever.
func TestAnotherMixOfStatements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(64, 5*time.Millisecond), 256)
		defer close(g.stop)
		r := random()
		offer(g, r, 2*g.capacity(), 2*time.Second, Claim{})
		g.simServer.mu.Lock()
		g.service *= 10
		g.simServer.mu.Unlock()
		offer(g, r, 2*g.capacity(), baseAge+5*time.Second, Claim{})
		then := offer(g, r, 2*g.capacity(), 5*time.Second, Claim{})
		t.Log(then, "limit", g.limit())
		require.Greater(t, float64(then.good), 0.85*5*g.capacity())
	})
}

// Many statements at a time that take long, and no longer than they would alone, are no overload: nothing is refused, not
// even for a moment.
func TestManyAtATimeAreNoOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(1000, 500*time.Millisecond), 256)
		defer close(g.stop)
		many := offer(g, random(), 300, 2*baseAge, Claim{})
		require.Zero(t, many.refused, many.String())
		require.Equal(t, 224, g.limit())
	})
}

// A group that comes and goes: each time it is back it soon does what it can.
func TestFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
		defer close(g.stop)
		r := random()
		for range 3 {
			hangs := make(chan struct{})
			g.simServer.mu.Lock()
			g.hangs = hangs
			g.simServer.mu.Unlock()
			var hanging *tally
			var wg sync.WaitGroup
			wg.Go(func() { hanging = offer(g, r, 2*g.capacity(), 3*time.Second, Claim{}) })
			time.Sleep(3 * time.Second)
			g.simServer.mu.Lock()
			g.hangs = nil
			g.simServer.mu.Unlock()
			close(hangs)
			g.mu.Lock()
			g.gate.restart()
			g.mu.Unlock()
			wg.Wait()
			t.Log("hanging", hanging)
			back := offer(g, r, 2*g.capacity(), 3*time.Second, Claim{})
			t.Log("back", back, "limit", g.limit())
			require.Greater(t, float64(back.good), 0.8*3*g.capacity())
		}
	})
}

// A user with few statements is not made to wait behind one with many.
func TestUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newSimGroup(newSimServer(10, 10*time.Millisecond), 256)
		defer close(g.stop)
		var greedy, modest *tally
		var wg sync.WaitGroup
		wg.Go(func() {
			greedy = offer(g, rand.New(rand.NewPCG(3, 4)), 4*g.capacity(), 5*time.Second, Claim{User: "greedy"})
		})
		wg.Go(func() { modest = offer(g, random(), 0.2*g.capacity(), 5*time.Second, Claim{User: "modest"}) })
		wg.Wait()
		t.Log("greedy", greedy, "- modest", modest)
		require.Less(t, modest.refused, len(modest.took)/10)
		require.Greater(t, greedy.refused, len(greedy.took))
	})
}

// Statements over several groups leave half of the places to others, and administrators get in.
func TestWideAndAdministrators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		var mu sync.Mutex
		g.init(16, 10, 4, time.Second, time.Now())
		g.refused = func(refusal) {}
		wide := Claim{Wide: true}
		for range 7 {
			require.True(t, g.enter(wide))
		}
		require.False(t, g.enter(wide), "half of 14")
		for range 7 {
			require.True(t, g.enter(Claim{}))
		}
		require.False(t, g.enter(Claim{}))
		require.True(t, g.enter(Claim{Class: Admin}))
		require.True(t, g.enter(Claim{Class: Started}))
		require.False(t, g.enter(Claim{Class: Started}), "there are no more places")
		g.leave(Claim{Class: Started}, 0)

		// Who waits gets the place that suits, and a wide one in front does not stand in the way.
		var got sync.WaitGroup
		results := make(chan string, 2)
		for name, c := range map[string]Claim{"wide": wide, "plain": {}} {
			got.Go(func() {
				mu.Lock()
				err := g.wait(&mu, c, 0)
				mu.Unlock()
				results <- fmt.Sprint(name, err)
			})
		}
		synctest.Wait()
		require.Equal(t, 2, g.queue.n)
		mu.Lock()
		g.leave(Claim{Class: Admin}, 0)
		g.leave(Claim{}, 0)
		mu.Unlock()
		require.Equal(t, "plain<nil>", <-results)
		mu.Lock()
		g.leave(wide, 0)
		mu.Unlock()
		require.Equal(t, "wide<nil>", <-results)
		got.Wait()
	})
}

// What is to spare is less than half of what new work may use, and nothing while somebody waits.
func TestSpare(t *testing.T) {
	var g gate
	g.init(16, 10, 4, time.Second, time.Now())
	spare := Claim{Class: Spare}
	for range 7 {
		require.True(t, g.enter(spare))
	}
	require.False(t, g.enter(spare), "half of 14")
	require.True(t, g.enter(Claim{}))
	g.leave(Claim{}, 0)
	g.leave(spare, 0)
	w := g.queue.push(Claim{})
	require.False(t, g.enter(spare), "somebody waits")
	require.True(t, g.queue.remove(w))
	require.True(t, g.enter(spare))
}

// The queue is bounded, and whoever waits learns of the group's end.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &simGroup{}
		g.gate.init(1, 5, 1, time.Minute, time.Now())
		g.gate.refused = func(refusal) {}
		require.NoError(t, g.enter(Claim{}))
		errs := make(chan error, 10)
		for range 5 {
			go func() { errs <- g.enter(Claim{}) }()
		}
		synctest.Wait()
		require.ErrorIs(t, g.enter(Claim{}), refusedFull)
		g.mu.Lock()
		g.gate.close(refusal("gone"))
		g.mu.Unlock()
		for range 5 {
			require.ErrorIs(t, <-errs, refusal("gone"))
		}
		require.Zero(t, g.gate.queue.n)
		require.Equal(t, 1, g.gate.inUse)
	})
}
