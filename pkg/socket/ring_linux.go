package socket

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// ring is an io_uring instance (io_uring(7)): requests are written into memory shared with the kernel, handed over and answered
// many at a time by one system call. All but next, loanOf and giveBack are
// called under the Loop's lock.
type ring struct {
	fd     int
	events int    // an eventfd that tells of completions, while tells wants it
	shared []byte // both queues' indexes, and the completions
	memory []byte // of requests

	tail           uint32 // of the submission queue, as far as it is written
	sqHead, sqTail *uint32
	sqMask         uint32
	requests       []request

	cqHead, cqTail *uint32
	cqFlags        *uint32
	cqMask         uint32
	completions    []completion

	// Buffers that the kernel fills for those who wait without one.
	loanMemory []byte
	loans      []loan // shared with the kernel; the tail stands in the first one
	loanTail   uint16
	loaned     []byte
}

// loan is struct io_uring_buf.
type loan struct {
	addr   uint64
	length uint32
	number uint16
	tail   uint16
}

// request is struct io_uring_sqe.
type request struct {
	opcode, flags     uint8
	priority          uint16
	fd                int32
	offset, addr      uint64
	length, callFlags uint32
	tag               uint64
	_                 [24]byte // buffer group and what we have no use for
}

// completion is struct io_uring_cqe.
type completion struct {
	tag   uint64
	res   int32
	flags uint32
}

// The kernel's numbers (linux/io_uring.h).
const (
	sysRingSetup = 425
	sysRingEnter = 426

	sysRingRegister = 427

	setupAnswers     = 1 << 3 // the completion queue's size is given
	setupCoopTaskrun = 1 << 8 // completions are made when the thread enters the kernel anyway
	enterGetEvents   = 1

	opNop         = 0
	opPollAdd     = 6
	opAsyncCancel = 14
	opSend        = 26
	opRecv        = 27

	selectBuffer = 1 << 5 // of request.flags: the kernel takes a buffer of the group when bytes have come
	quietSuccess = 1 << 6 // of request.flags: no completion unless it failed
	readable     = 1      // of request.callFlags, for opPollAdd: POLLIN; errors and the end are told in any case
	pollFirst    = 1      // of request.priority: nothing can have arrived yet

	offsetRings    = 0
	offsetRequests = 0x10000000

	bufferTaken  = 1  // of completion.flags
	bufferNumber = 16 // where its number stands in completion.flags

	registerBuffers = 22
	registerEvents  = 4
	eventsOff       = 1 // of the completion queue's flags
	ringEntries     = 1024
	ringAnswers     = 32 << 10 // more than there are requests under way
	maxTries        = 1 << 20
	loanedBuffers   = 256
	loanedSize      = 4 << 10
)

type ringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFd uint32
	_                                                                  [3]uint32
	sq                                                                 struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// newRing makes a ring for the calling thread. The error wraps errors.ErrUnsupported where the kernel has none, or does not
// let this process have one.
func newRing() (*ring, error) {
	p := ringParams{flags: setupCoopTaskrun | setupAnswers, cqEntries: ringAnswers}
	fd, _, e := syscall.Syscall(sysRingSetup, ringEntries, uintptr(unsafe.Pointer(&p)), 0)
	if e != 0 {
		return nil, fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("io_uring_setup", e))
	}
	r := &ring{fd: int(fd)}
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+uint32(unsafe.Sizeof(completion{}))*p.cqEntries)
	var err error
	if r.shared, err = r.mmap(offsetRings, int(size)); err == nil {
		r.memory, err = r.mmap(offsetRequests, int(p.sqEntries)*int(unsafe.Sizeof(request{})))
	}
	if err != nil {
		r.close()
		return nil, err
	}
	at := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.shared[offset])) }
	r.sqHead, r.sqTail, r.sqMask = at(p.sq.head), at(p.sq.tail), *at(p.sq.mask)
	r.cqHead, r.cqTail, r.cqMask = at(p.cq.head), at(p.cq.tail), *at(p.cq.mask)
	r.cqFlags = at(p.cq.flags)
	r.requests = unsafe.Slice((*request)(unsafe.Pointer(&r.memory[0])), p.sqEntries)
	r.completions = unsafe.Slice((*completion)(unsafe.Pointer(&r.shared[p.cq.cqes])), p.cqEntries)
	order := unsafe.Slice(at(p.sq.array), p.sqEntries)
	for i := range order {
		order[i] = uint32(i)
	}
	if err := r.lend(); err != nil {
		r.close()
		return nil, err
	}
	r.tells(false)
	if err := r.announce(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// announce makes the eventfd.
func (r *ring) announce() error {
	fd, _, e := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if e != 0 {
		return os.NewSyscallError("eventfd2", e)
	}
	r.events = int(fd)
	number := int32(fd)
	if _, _, e = syscall.Syscall6(sysRingRegister, uintptr(r.fd), registerEvents, uintptr(unsafe.Pointer(&number)), 1, 0, 0); e != 0 {
		return os.NewSyscallError("io_uring_register", e)
	}
	return nil
}

// tells says whether completions are told by the eventfd. It is off while somebody looks for them anyway: each would wake a thread.
func (r *ring) tells(on bool) {
	var flags uint32 = eventsOff
	if on {
		flags = 0
	}
	atomic.StoreUint32(r.cqFlags, flags)
}

// lend gives the kernel its buffers.
func (r *ring) lend() (err error) {
	anonymous := func(size int) ([]byte, error) {
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		return b, os.NewSyscallError("mmap", err)
	}
	if r.loanMemory, err = anonymous(loanedBuffers * int(unsafe.Sizeof(loan{}))); err != nil {
		return err
	}
	if r.loaned, err = anonymous(loanedBuffers * loanedSize); err != nil {
		return err
	}
	r.loans = unsafe.Slice((*loan)(unsafe.Pointer(&r.loanMemory[0])), loanedBuffers)
	group := struct {
		addr          uint64
		entries       uint32
		number, flags uint16
		_             [3]uint64
	}{addr: uint64(uintptr(unsafe.Pointer(&r.loanMemory[0]))), entries: loanedBuffers}
	_, _, e := syscall.Syscall6(sysRingRegister, uintptr(r.fd), registerBuffers, uintptr(unsafe.Pointer(&group)), 1, 0, 0)
	if e != 0 {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, os.NewSyscallError("io_uring_register", e))
	}
	for i := range uint16(loanedBuffers) {
		r.giveBack(i)
	}
	return nil
}

// loanOf is the buffer a completion brought.
func (r *ring) loanOf(number uint16) []byte {
	return r.loaned[int(number)*loanedSize : (int(number)+1)*loanedSize]
}

// giveBack lets the kernel use a buffer again.
func (r *ring) giveBack(number uint16) {
	l := &r.loans[r.loanTail%loanedBuffers]
	l.addr, l.length, l.number = uint64(uintptr(unsafe.Pointer(&r.loaned[int(number)*loanedSize]))), loanedSize, number
	r.loanTail++
	// The tail is two bytes of a word of four, with the first loan's number before it.
	first := &r.loans[0]
	word := (*uint32)(unsafe.Pointer(&first.number))
	atomic.StoreUint32(word, uint32(first.number)|uint32(r.loanTail)<<16)
}

func (r *ring) mmap(offset int64, size int) ([]byte, error) {
	b, err := syscall.Mmap(r.fd, offset, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return b, nil
}

// close ends the ring and all requests in it.
func (r *ring) close() {
	if r.shared != nil {
		_ = syscall.Munmap(r.shared)
	}
	if r.memory != nil {
		_ = syscall.Munmap(r.memory)
	}
	if r.loanMemory != nil {
		_ = syscall.Munmap(r.loanMemory)
	}
	if r.loaned != nil {
		_ = syscall.Munmap(r.loaned)
	}
	_ = syscall.Close(r.fd)
}

// add returns the next request, to be filled in at once. It goes to the kernel with the next enter.
func (r *ring) add() *request {
	for tries := 0; r.added() == uint32(len(r.requests)); tries++ {
		if r.enter(); tries > maxTries {
			panic("io_uring takes no requests")
		}
	}
	q := &r.requests[r.tail&r.sqMask]
	*q = request{}
	r.tail++
	return q
}

// added is how many requests the kernel has not taken yet.
func (r *ring) added() uint32 { return r.tail - atomic.LoadUint32(r.sqHead) }

// handOver lets the kernel see what was added, and returns how many requests these are.
func (r *ring) handOver() uint32 {
	atomic.StoreUint32(r.sqTail, r.tail)
	return r.added()
}

// enter hands over what was added, and lets completions come that are due. It does not wait.
func (r *ring) enter() {
	_, _, e := syscall.RawSyscall6(sysRingEnter, uintptr(r.fd), uintptr(r.handOver()), 0, enterGetEvents, 0, 0)
	r.entered(e)
}

// enterAndWait tells the kernel of n requests that were handed over, and waits for a completion unless one is due; it may return
// without. The Loop's lock must not be held: others may enter meanwhile.
func (r *ring) enterAndWait(n uint32) {
	_, _, e := syscall.Syscall6(sysRingEnter, uintptr(r.fd), uintptr(n), 1, enterGetEvents, 0, 0)
	r.entered(e)
}

func (r *ring) entered(e syscall.Errno) {
	switch e {
	case 0, syscall.EINTR, syscall.EAGAIN, syscall.EBUSY: // what was not taken the next enter hands over
	default:
		panic(os.NewSyscallError("io_uring_enter", e)) // the ring is misused
	}
}

// due reports whether there are completions.
func (r *ring) due() bool { return *r.cqHead != atomic.LoadUint32(r.cqTail) }

// next returns the next completion that has come, if any.
func (r *ring) next() (c completion, ok bool) {
	head := *r.cqHead
	if head == atomic.LoadUint32(r.cqTail) {
		return c, false
	}
	c = r.completions[head&r.cqMask]
	atomic.StoreUint32(r.cqHead, head+1)
	return c, true
}
