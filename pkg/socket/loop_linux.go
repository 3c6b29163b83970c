package socket

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"
)

// Loop reads and writes the sockets of many sessions by an io_uring: what all of them want next goes to the kernel in one
// system call, and they are resumed, one after the other on one goroutine, as answers come. A session on a Loop must
// not wait for anything but its sockets; for the rest there is Task.Blocking.
//
//	Serve ──► coroutine ──wants──► ring ──enter──► kernel
//	              ▲                                  │
//	              └──────────── resume ◄─────────────┘ completion
//
// A session has a coroutine from the arrival of something until it waits for its client again, and the one that was given back
// last is taken next. So idle sessions have no stack, and the stack in use is mostly one that the processor's caches still have.
type Loop struct {
	// Local is what the sessions on the Loop share: only they use it, on the Loop, so that it needs no lock.
	Local any

	file *os.File // the ring's eventfd, for the runtime's poller: that is where an idle Loop waits
	raw  syscall.RawConn
	wait func(uintptr) bool // park, made once

	mu      sync.Mutex // guards what follows; never held over anything that waits
	ring    *ring
	parked  bool
	waiters []*waiter // by number; nil: free
	turns   []uint32  // of the last one to have each number
	free    []uint32
	inbox   []func()
	closed  bool
	spare   [][]byte // of postSize, for Conns that post

	// Only the Loop's goroutine uses what follows.
	spareCoroutines []*coroutine
	gathering       []*Task // see Gather
	// See count.
	few bool
	era uint32
	// of this era
	awake  int // who was resumed
	events int
}

// waiter is one who waits for a completion: a session on the Loop, or a goroutine elsewhere.
type waiter struct {
	number, turn uint32 // in the tag; turn tells the completion awaited from one that came too late
	res          int32
	flags        uint32
	ready        chan struct{} // not nil: another goroutine, told by it
	task         *Task         // a session on the Loop
	sender       *joined       // its writing behind the session's back has ended
	era          uint32        // it was last resumed in
}

func (w *waiter) tag() uint64 { return uint64(w.number)<<32 | uint64(w.turn) }

// Task is a session on a Loop, as seen by the session itself.
type Task struct {
	loop   *Loop
	waiter *waiter
	on     *coroutine // nil while it waits for its client
	away   bool       // in Blocking
	// resume begins the session, or goes on with it when it has waited for its client, and reports whether it waits for it now; else it
	// has ended.
	resume func() (waits bool)
	after  func() // is called when it has ended, on a goroutine of its own
}

// coroutine is a stack on which sessions are served, one after the other.
type coroutine struct {
	serves *Task
	next   func() (struct{}, bool)
	yield  func(struct{}) bool
	stop   func()
}

// maxSpareCoroutines bounds those a Loop keeps for sessions to come.
const maxSpareCoroutines = 256

// NewLoop makes a Loop. The error wraps errors.ErrUnsupported where the system has no io_uring for this process.
func NewLoop() (*Loop, error) {
	r, err := newRing()
	if err != nil {
		return nil, err
	}
	l := &Loop{ring: r, file: os.NewFile(uintptr(r.events), "eventfd"), waiters: make([]*waiter, 1), turns: make([]uint32, 1), few: true, era: 1}
	l.wait = l.park
	if l.raw, err = l.file.SyscallConn(); err != nil {
		r.close()
		return nil, err
	}
	return l, nil
}

// Run drives the sessions until ctx ends. All of them must have ended before.
func (l *Loop) Run(ctx context.Context) error {
	ended := false
	stop := context.AfterFunc(ctx, func() { l.post(func() { ended = true }) })
	defer stop()
	for !ended {
		if l.few {
			era := l.era
			l.sleep()
			if l.turn(); l.era != era {
				runtime.Gosched()
			}
			continue
		}
		l.mu.Lock()
		l.parked = false
		l.ring.enter()
		l.mu.Unlock()
		if !l.turn() {
			if err := l.raw.Read(l.wait); err != nil {
				return err
			}
		}
	}
	l.close()
	return nil
}

// With few sessions at work, what they want is handed over by the system call that waits for it as well: nothing else costs
// less. With many, the Loop waits in the runtime's poller: until that has found out, more answers have come, and what they
// bring about goes to the kernel in one. So it does while long answers stream: more of them has come then.
//
// A goroutine that waits in the kernel again and again, and never in the runtime, looks to the runtime's monitor like one that
// runs for too long: it would be told to make room, and its processor be taken from it in each wait. So it makes room by itself.

const (
	// fewSessions is how many sessions at work are few, and eraEvents how many completions are looked back on to count them.
	fewSessions = 2
	eraEvents   = 64
)

// count notes that w is resumed.
func (l *Loop) count(w *waiter) {
	if w.era != l.era {
		w.era = l.era
		l.awake++
	}
	if l.events++; l.events == eraEvents {
		l.few = l.awake <= fewSessions
		l.era, l.awake, l.events = l.era+1, 0, 0
	}
}

// sleep hands over what was added and waits, in the kernel, until there is something to do.
func (l *Loop) sleep() {
	l.mu.Lock()
	if l.ring.due() || len(l.inbox) > 0 {
		l.ring.enter()
		l.mu.Unlock()
		return
	}
	l.parked = true // whoever adds something enters: see kick
	n := l.ring.handOver()
	l.mu.Unlock()
	l.ring.enterAndWait(n)
	l.mu.Lock()
	l.parked = false
	l.mu.Unlock()
}

// close ends the ring. Who still waits is told that its request was cancelled.
func (l *Loop) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.spareCoroutines {
		c.stop()
	}
	_ = l.file.Close()
	l.ring.close()
	for _, w := range l.waiters {
		if w != nil && w.ready != nil {
			w.res = -int32(syscall.ECANCELED)
			select {
			case w.ready <- struct{}{}:
			default:
			}
		}
	}
}

// park is called by the runtime's poller; it returns true when there is something to do.
func (l *Loop) park(uintptr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring.tells(true)
	l.ring.enter()
	l.parked = !l.ring.due() && len(l.inbox) == 0
	if !l.parked {
		l.ring.tells(false)
	}
	return !l.parked
}

// turn resumes everybody whose completion has come, and reports whether there was anything to do.
func (l *Loop) turn() (any bool) {
	l.mu.Lock()
	inbox := l.inbox
	l.inbox = nil
	l.mu.Unlock()
	for _, f := range inbox {
		f()
		any = true
	}
	for {
		c, ok := l.ring.next()
		if !ok && l.gathered() {
			continue
		}
		if !ok {
			return any
		}
		any = true
		switch w := l.woken(c); {
		case w == nil:
		case w.sender != nil:
			w.sender.sent(w.res)
		case w.task != nil:
			l.count(w)
			w.task.goOn()
		default:
			w.ready <- struct{}{}
		}
	}
}

// woken returns who waits for c, with its result in it.
func (l *Loop) woken(c completion) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	number := uint32(c.tag >> 32)
	var w *waiter
	if int(number) < len(l.waiters) {
		w = l.waiters[number]
	}
	if w == nil || number == 0 || w.turn != uint32(c.tag) {
		if c.flags&bufferTaken != 0 {
			l.ring.giveBack(uint16(c.flags >> bufferNumber))
		}
		return nil
	}
	w.turn++
	w.res, w.flags = c.res, c.flags
	return w
}

// post lets the Loop's goroutine call f.
func (l *Loop) post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.inbox = append(l.inbox, f)
	l.kick()
}

// kick wakes a parked Loop, which is found idle by the runtime's poller; l.mu is held.
func (l *Loop) kick() {
	if l.parked {
		q := l.ring.add()
		q.opcode = opNop
		l.ring.enter()
	}
}

func (l *Loop) enlist() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiter{}
	if n := len(l.free); n > 0 {
		w.number = l.free[n-1]
		l.free = l.free[:n-1]
		l.waiters[w.number] = w
		w.turn = l.turns[w.number]
	} else {
		w.number = uint32(len(l.waiters))
		l.waiters = append(l.waiters, w)
		l.turns = append(l.turns, 0)
	}
	return w
}

func (l *Loop) discharge(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiters[w.number] = nil
	l.turns[w.number] = w.turn + 1
	l.free = append(l.free, w.number)
}

// start lets t begin.
func (l *Loop) start(t *Task) {
	l.post(func() {
		t.waiter = l.enlist()
		t.waiter.task = t
		t.goOn()
	})
}

// goOn runs the session on the Loop until it waits for something, or has ended.
func (t *Task) goOn() {
	if t.on == nil {
		t.on = t.loop.coroutine()
		t.on.serves = t
	}
	t.on.next()
}

// pause waits on the Loop until goOn is called.
func (t *Task) pause() { t.on.yield(struct{}{}) }

// coroutine takes one that serves nobody.
func (l *Loop) coroutine() *coroutine {
	if n := len(l.spareCoroutines); n > 0 {
		c := l.spareCoroutines[n-1]
		l.spareCoroutines = l.spareCoroutines[:n-1]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for {
			c.serve()
			if len(l.spareCoroutines) == maxSpareCoroutines {
				return
			}
			l.spareCoroutines = append(l.spareCoroutines, c)
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return c
}

// serve serves the session at hand until it waits for its client.
func (c *coroutine) serve() {
	t, waits := c.serves, false
	c.serves = nil
	defer func() {
		if t.on = nil; !waits {
			t.away = true // whoever ends what it has left is on no Loop
			t.loop.discharge(t.waiter)
			go t.after()
		}
	}()
	waits = t.resume()
}

// Blocking runs f, which may wait for anything, on a goroutine of its own, and returns when it has ended. Other sessions
// go on meanwhile. A nil Task runs f at once.
func (t *Task) Blocking(f func()) {
	if t == nil || t.away {
		f()
		return
	}
	t.away = true
	var panicked error
	go func() {
		defer func() {
			if r := recover(); r != nil {
				panicked = fmt.Errorf("%v, aside of a loop:\n%s", r, debug.Stack()) // where it began, which nobody else can tell
			}
			t.loop.post(t.goOn)
		}()
		f()
	}()
	t.pause()
	t.away = false
	if panicked != nil {
		panic(panicked)
	}
}

// Crowded reports whether others can go on at this moment, so that Gather may be worth its while.
func (t *Task) Crowded() bool { return t.OnLoop() && !t.loop.few && t.loop.ring.due() }

// Gather lets everybody on the Loop go on who can, then returns, before anything that they want goes to the kernel. The
// caller must be on the Loop.
func (t *Task) Gather() {
	t.loop.gathering = append(t.loop.gathering, t)
	t.pause()
}

// gathered resumes those who wait in Gather.
func (l *Loop) gathered() (any bool) {
	for i := 0; i < len(l.gathering); i++ { // who goes on may let others wait
		l.gathering[i].goOn()
		any = true
	}
	clear(l.gathering)
	l.gathering = l.gathering[:0]
	return any
}

// Wait lets others have their turn until one of them, on the same Loop, calls Resume. The caller must be on the Loop.
func (t *Task) Wait() { t.pause() }

// Resume lets t, which must be in Wait, go on; it returns when t waits for something else. The caller must be on t's Loop.
func (t *Task) Resume() { t.goOn() }

// Loop is where the session is.
func (t *Task) Loop() *Loop { return t.loop }

// OnLoop reports whether the caller, t's session, holds up others when it waits.
func (t *Task) OnLoop() bool { return t != nil && !t.away }

// errnoError is a completion's result below 0 as an error.
func errnoError(call string, res int32) error {
	switch e := syscall.Errno(-res); e {
	case syscall.ECANCELED, syscall.EINTR:
		return os.ErrDeadlineExceeded
	default:
		return os.NewSyscallError(call, e)
	}
}

// submit adds one request; l.mu is held.
func (l *Loop) submit(code uint8, fd int, p []byte) *request {
	q := l.ring.add()
	q.opcode, q.fd = code, int32(fd)
	if len(p) > 0 {
		q.addr, q.length = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), uint32(min(len(p), maxCall))
	}
	return q
}
