package socket

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// quietRequest is how long a request may be that Exchange does not wait for to be sent: a socket at rest takes it at once.
const quietRequest = 4 << 10

// postSize is how much a session can leave to be written while it goes on: what a server sends at a time.
const postSize = 16 << 10

// maxSpare bounds the buffers a Loop keeps for that.
const maxSpare = 256

// joined is a Conn on a Loop: its socket is no more the runtime's, which would be woken for everything that arrives.
type joined struct {
	loop *Loop
	fd   int
	task *Task   // the session that has the Conn; nil: a goroutine elsewhere
	own  *waiter // for goroutines elsewhere

	got    []byte // has arrived in a loaned buffer
	number uint16 // of that buffer
	full   bool   // the last one was filled: there may be more
	eof    bool
	inRow  int  // reads without waiting, of the session on the Loop
	short  bool // the last of them brought all there was

	// What the session has posted: it is written while the session goes on. Only the Loop's goroutine uses these.
	post    *waiter // told of its end; nil before the first time
	posted  []byte  // being written
	failed  error   // how the last one ended
	waiting *waiter // the session, when it waits for that
	posting atomic.Bool

	pending uint64 // tag of the request under way or the last one; guarded by loop.mu
	writing bool   // it is one to write; guarded by loop.mu
	postTag uint64 // of what is posted, 0: nothing; guarded by loop.mu

	readOver, writeOver atomic.Bool // deadlines that have passed

	mu                    sync.Mutex // guards what follows
	readTimer, writeTimer *time.Timer
	serving, closed       bool
}

// join takes the socket of nc, which is closed.
func join(l *Loop, raw syscall.RawConn, nc net.Conn) (*joined, error) {
	fd, dupErr := -1, error(nil)
	if err := raw.Control(func(old uintptr) {
		r, _, e := syscall.Syscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
		if fd = int(r); e != 0 {
			dupErr = os.NewSyscallError("fcntl", e)
		}
	}); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	_ = nc.Close() // of the two descriptors only this one is the poller's
	return &joined{loop: l, fd: fd}, nil
}

// move brings the socket, which nobody waits for, to another Loop.
func (j *joined) move(to *Loop) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own != nil {
		j.loop.discharge(j.own)
		j.own = nil
	}
	j.loop.mu.Lock()
	j.pending, j.writing = 0, false // what it names is not known there
	j.loop.mu.Unlock()
	j.loop = to
}

// leave gives the socket back to the runtime, and with it what has been read and not been taken.
func (j *joined) leave() (_ net.Conn, unread []byte, _ error) {
	if len(j.got) > 0 {
		unread = append(unread, j.got...)
		j.consumed()
	}
	f := os.NewFile(uintptr(j.fd), "socket")
	nc, err := net.FileConn(f)
	_ = f.Close() // FileConn made its own copy
	for _, w := range [...]*waiter{j.own, j.post} {
		if w != nil {
			j.loop.discharge(w)
		}
	}
	return nc, unread, err
}

// begin says that a session is served: close leaves the descriptor to leave.
func (j *joined) begin() {
	j.mu.Lock()
	j.serving = true
	j.mu.Unlock()
}

func (j *joined) waiter() *waiter {
	if j.task.OnLoop() {
		return j.task.waiter
	}
	if j.own == nil {
		j.own = j.loop.enlist()
		j.own.ready = make(chan struct{}, 1)
	}
	return j.own
}

func (w *waiter) wait() {
	if w.ready != nil {
		<-w.ready
	} else {
		w.task.pause()
	}
}

// tell ends a wait that no completion ends.
func (w *waiter) tell() {
	if w.ready != nil {
		w.ready <- struct{}{}
	} else {
		w.task.goOn()
	}
}

// receive reads into p.
func (j *joined) receive(p []byte, how uint16) (int, error) {
	w := j.waiter()
	if err := j.ask(w, p, how); err != nil {
		return 0, err
	}
	w.wait()
	return j.received(w)
}

// ask requests to read into p, or into a loaned buffer when p is nil.
func (j *joined) ask(w *waiter, p []byte, how uint16) error {
	l := j.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := j.refuses(j.readOver.Load()); err != nil {
		return err
	}
	j.request(w, p, how)
	return nil
}

// refuses is why nothing may be requested now; the Loop's lock is held.
func (j *joined) refuses(over bool) error {
	switch {
	case over:
		return os.ErrDeadlineExceeded
	case j.loop.closed:
		return net.ErrClosed
	}
	return nil
}

// request adds a request to read; the Loop's lock is held.
func (j *joined) request(w *waiter, p []byte, how uint16) {
	l := j.loop
	q := l.submit(opRecv, j.fd, p)
	q.priority = how
	if p == nil {
		q.flags = selectBuffer
	}
	q.tag = w.tag()
	j.pending, j.writing = q.tag, false
	if l.parked {
		l.ring.enter()
	}
}

// received is what a request to read has brought.
func (j *joined) received(w *waiter) (int, error) {
	res, flags := w.res, w.flags
	if flags&bufferTaken != 0 {
		j.number = uint16(flags >> bufferNumber)
		if res > 0 {
			j.got = j.loop.ring.loanOf(j.number)[:res]
			j.full = res == loanedSize
		} else {
			j.loop.takeBack(j.number)
		}
	}
	switch {
	case res > 0:
		return int(res), nil
	case res == 0:
		return 0, io.EOF
	default:
		return 0, errnoError("recv", res)
	}
}

func (l *Loop) takeBack(number uint16) {
	l.mu.Lock()
	l.ring.giveBack(number)
	l.mu.Unlock()
}

// consumed gives back the loaned buffer.
func (j *joined) consumed() {
	j.got = nil
	j.loop.takeBack(j.number)
}

// Read is Conn.Read.
func (j *joined) read(p []byte) (int, error) {
	if len(j.got) > 0 {
		n := copy(p, j.got)
		if j.got = j.got[n:]; len(j.got) == 0 {
			j.consumed()
		}
		return n, nil
	}
	if j.eof {
		return 0, io.EOF
	}
	if !j.task.OnLoop() {
		return j.readElsewhere(p)
	}
	// More of an answer that has begun. What is there already costs one call, but behind a read that brought all there was
	// another one would mostly be for nothing. Then the kernel is asked to tell, not to read: until the session is resumed more may
	// have come.
	if j.inRow >= maxInRow || j.short {
		if err := j.awaitReadable(); err != nil {
			return 0, err
		}
	}
	for {
		if j.readOver.Load() {
			return 0, os.ErrDeadlineExceeded
		}
		if n, err := sysRead(uintptr(j.fd), p); err != ErrWouldBlock {
			j.inRow++
			j.short = n < len(p)
			return n, err
		}
		if err := j.awaitReadable(); err != nil {
			return 0, err
		}
	}
}

// maxInRow is how often a session reads what is there already before others have their turn.
const maxInRow = 4

// readElsewhere is read of a goroutine elsewhere, which is told of what comes in two steps: what is there already is had for less.
func (j *joined) readElsewhere(p []byte) (int, error) {
	if !j.readOver.Load() {
		if n, err := sysRead(uintptr(j.fd), p); err != ErrWouldBlock {
			return n, err
		}
	}
	return j.receive(p, pollFirst)
}

// awaitReadable lets others have their turn until there is something to read.
func (j *joined) awaitReadable() error {
	j.inRow, j.short = 0, false
	w, l := j.task.waiter, j.loop
	l.mu.Lock()
	if err := j.refuses(j.readOver.Load()); err != nil {
		l.mu.Unlock()
		return err
	}
	q := l.submit(opPollAdd, j.fd, nil)
	q.callFlags = readable
	q.tag = w.tag()
	j.pending, j.writing = q.tag, false
	l.mu.Unlock()
	w.wait()
	if w.res < 0 {
		return errnoError("poll", w.res)
	}
	return nil
}

// arrived takes what the session has been waiting for without a buffer.
func (j *joined) arrived() error {
	switch _, err := j.received(j.task.waiter); {
	case err == nil:
		return nil
	case err == io.EOF:
		j.eof = true
		return nil
	default:
		if e, ok := err.(*os.SyscallError); ok && e.Err == syscall.ENOBUFS {
			j.full = true // all buffers are lent: one's own is read into
			return nil
		}
		return err
	}
}

func (j *joined) write(p []byte) (n int, err error) {
	here := j.task.OnLoop()
	switch {
	case !j.serving:
	case here:
		err = j.settle()
	default:
		err = j.settleAside()
	}
	if err != nil {
		return 0, err
	}
	if here && j.serving && !j.loop.few && len(p) <= postSize {
		return j.leaveToPost(p)
	}
	if n, err = j.writeNow(p); n == len(p) || err != nil {
		return n, err
	}
	w, l := j.waiter(), j.loop
	for n < len(p) {
		l.mu.Lock()
		if err := j.refuses(j.writeOver.Load()); err != nil {
			l.mu.Unlock()
			return n, err
		}
		q := l.submit(opSend, j.fd, p[n:])
		q.callFlags = syscall.MSG_NOSIGNAL | syscall.MSG_WAITALL
		q.tag = w.tag()
		j.pending, j.writing = q.tag, true
		if l.parked {
			l.ring.enter()
		}
		l.mu.Unlock()
		w.wait()
		if w.res < 0 {
			return n, errnoError("send", w.res)
		}
		n += int(w.res)
	}
	return n, nil
}

// writeNow writes what the socket takes at once.
func (j *joined) writeNow(p []byte) (n int, err error) {
	if j.writeOver.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	if n, err = sysWrite(uintptr(j.fd), p); err == ErrWouldBlock {
		err = nil
	}
	return n, err
}

// leaveToPost lets p be written while the session goes on: mostly it waits for its client next, and both go to the kernel in one.
func (j *joined) leaveToPost(p []byte) (int, error) {
	l := j.loop
	if j.post == nil {
		j.post = l.enlist()
		j.post.sender = j
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := j.refuses(j.writeOver.Load()); err != nil {
		return 0, err
	}
	var b []byte
	if n := len(l.spare); n > 0 {
		b = l.spare[n-1]
		l.spare = l.spare[:n-1]
	} else {
		b = make([]byte, postSize)
	}
	j.posted = b[:copy(b, p)]
	q := l.submit(opSend, j.fd, j.posted)
	q.callFlags = syscall.MSG_NOSIGNAL | syscall.MSG_WAITALL
	q.tag = j.post.tag()
	j.postTag = q.tag
	j.posting.Store(true)
	return len(p), nil
}

// sent is called by the Loop when what was posted has been written, or cannot be.
func (j *joined) sent(res int32) {
	l := j.loop
	switch {
	case res < 0:
		j.failed = errnoError("send", res)
	case int(res) < len(j.posted):
		j.failed = io.ErrShortWrite
	}
	l.mu.Lock()
	if len(l.spare) < maxSpare {
		l.spare = append(l.spare, j.posted[:postSize])
	}
	j.posted, j.postTag = nil, 0
	l.mu.Unlock()
	j.posting.Store(false)
	if w := j.waiting; w != nil {
		j.waiting = nil
		w.tell()
	}
}

// sending reports whether something is posted.
func (j *joined) sending() bool { return j.posting.Load() }

// settle waits, on the Loop, until what was posted is written.
func (j *joined) settle() error {
	if j.posted != nil {
		j.waiting = j.task.waiter
		j.waiting.wait()
	}
	return j.failed
}

// settleAside is settle for goroutines elsewhere.
func (j *joined) settleAside() error {
	if !j.posting.Load() {
		return j.failed
	}
	w := &waiter{ready: make(chan struct{}, 1)}
	j.loop.post(func() {
		if j.posted == nil {
			w.tell()
			return
		}
		j.waiting = w
	})
	w.wait()
	return j.failed
}

func (j *joined) exchange(req, p []byte) (int, error) {
	here := j.task.OnLoop()
	if len(req) > quietRequest || len(j.got) > 0 || !here {
		if _, err := j.write(req); err != nil {
			return 0, err
		}
		if here || len(j.got) > 0 {
			return j.read(p)
		}
		return j.receive(p, pollFirst)
	}
	w, l := j.waiter(), j.loop
	l.mu.Lock()
	if err := j.refuses(j.readOver.Load() || j.writeOver.Load()); err != nil {
		l.mu.Unlock()
		return 0, err
	}
	j.inRow, j.short = 0, false
	q := l.submit(opSend, j.fd, req)
	q.callFlags = syscall.MSG_NOSIGNAL | syscall.MSG_WAITALL
	q.flags = quietSuccess // a failure is that of reading, too
	j.request(w, p, pollFirst)
	l.mu.Unlock()
	w.wait()
	return j.received(w)
}

// serve is Conn.Serve on a Loop; after is called, on a goroutine of its own, when it has ended.
func (j *joined) serve(step func() (done bool), after func(error)) {
	var err error
	t := &Task{loop: j.loop, after: func() { after(err) }}
	waited := false
	t.resume = func() (waits bool) {
		if waited {
			err = j.arrived()
		}
		for err == nil {
			if len(j.got) == 0 && !j.eof && !j.full {
				if err = j.ask(t.waiter, nil, pollFirst); err == nil {
					waited = true
					return true
				}
				break
			}
			j.full = j.full && len(j.got) > 0
			if step() {
				break
			}
		}
		_ = j.settle()
		return false
	}
	j.task = t
	j.loop.start(t)
}

func (j *joined) stale() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return true
	}
	_, err := sysPeek(uintptr(j.fd))
	return err != ErrWouldBlock
}

func (j *joined) halfClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return false
	}
	n, err := sysPeek(uintptr(j.fd))
	return n == 0 && err == nil
}

func (j *joined) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return net.ErrClosed
	}
	j.closed = true
	_ = syscall.Shutdown(j.fd, syscall.SHUT_RDWR)
	if j.serving {
		return nil // leave closes it
	}
	if j.own != nil {
		j.loop.discharge(j.own)
	}
	return syscall.Close(j.fd)
}

func (j *joined) readDeadline(t time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.limit(t, &j.readTimer, &j.readOver, false)
}

func (j *joined) writeDeadline(t time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.limit(t, &j.writeTimer, &j.writeOver, true)
}

func (j *joined) limit(t time.Time, timer **time.Timer, over *atomic.Bool, write bool) {
	if *timer != nil {
		(*timer).Stop()
		*timer = nil
	}
	over.Store(false)
	if t.IsZero() {
		return
	}
	wait := time.Until(t)
	if wait <= 0 {
		j.expire(over, write)
		return
	}
	var mine *time.Timer
	mine = time.AfterFunc(wait, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if *timer == mine {
			j.expire(over, write)
		}
	})
	*timer = mine
}

// expire lets the reading or writing that is under way, and all that follows, fail.
func (j *joined) expire(over *atomic.Bool, write bool) {
	over.Store(true)
	l := j.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tag := range [...]uint64{j.pending, j.postTag} {
		if tag == 0 || l.closed || (tag == j.postTag || j.writing) != write {
			continue
		}
		q := l.ring.add()
		q.opcode, q.addr = opAsyncCancel, tag
	}
	if l.parked && !l.closed {
		l.ring.enter()
	}
}
