// Package sequence hands out the values of cluster-wide AUTO_INCREMENT columns. Values are reserved in etcd in blocks
// ahead of use, so that handing one out costs a short lock and no I/O, and goes on while etcd is down as long as a
// block lasts. It knows nothing of tables or statements: a sequence is a number.
//
// One process alone hands out 1, 2, 3, ... without gaps while it lives; a process that is killed loses the rest of
// its block. Several processes never hand out the same value, but what each hands out rises only within itself.
package sequence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Store is where values are reserved; topology.Store is one.
type Store interface {
	// Allocate reserves n consecutive values and returns the first, or topology.ErrUsedUp.
	Allocate(ctx context.Context, id, n uint64) (first uint64, err error)
	// Raise makes later Allocates return atLeast or more.
	Raise(ctx context.Context, id, atLeast uint64) error
	// GiveBack returns [first, end) if nothing was allocated after it.
	GiveBack(ctx context.Context, id, first, end uint64) error
}

// Config says how sequences reserve. Zero values mean the defaults.
type Config struct {
	Store Store
	// MinBlock and MaxBlock bound how many values are reserved at once: a block doubles when it lasts less than
	// Steady and halves when it lasts more than ten times that. Defaults: 100, 100,000 and 10 s.
	MinBlock, MaxBlock uint64
	Steady             time.Duration
	Log                *slog.Logger
}

// Sequences is all sequences of one process. Next, Observe and Forget may be called concurrently.
type Sequences struct {
	cfg    Config
	refill chan *sequence // those running low; a full channel is no harm, Next then reserves itself

	mu  sync.RWMutex
	all map[uint64]*sequence
}

// sequence is what this process has reserved of one sequence.
type sequence struct {
	id uint64

	mu      sync.Mutex
	spans   []span // rising, not empty; all of it is this process's own
	block   uint64 // size of the next reservation
	filled  time.Time
	filling *fill // the reservation under way, or nil
	dropped bool  // Forget came: nothing is to be reserved any more
}

// span is the values first, first+1, ... end-1.
type span struct{ first, end uint64 }

// fill is one reservation that others may wait for.
type fill struct {
	done chan struct{}
	// Set before done is closed.
	err    error
	usedUp bool // err says that there are no values left
}

// New returns Sequences that hold nothing yet.
func New(cfg Config) *Sequences {
	if cfg.MinBlock == 0 {
		cfg.MinBlock = 100
	}
	if cfg.MaxBlock == 0 {
		cfg.MaxBlock = 100_000
	}
	if cfg.Steady == 0 {
		cfg.Steady = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Sequences{cfg: cfg, refill: make(chan *sequence, 64), all: map[uint64]*sequence{}}
}

// Run reserves blocks ahead of their use until ctx ends, then gives back what was not used. Without it everything
// works, but whoever takes the last value of a block makes the next one wait for etcd.
func (s *Sequences) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			s.giveBack()
			return nil
		case q := <-s.refill:
			q.mu.Lock()
			if !q.low() { // it was queued more than once
				q.mu.Unlock()
				continue
			}
			f, _ := q.begin()
			q.mu.Unlock()
			if s.fill(ctx, q, f, 1); f.err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("cannot reserve AUTO_INCREMENT values ahead", "sequence", q.id, "error", f.err)
			}
		}
	}
}

// Take is Next that waits for nothing: false if what is reserved does not suffice.
func (s *Sequences) Take(id uint64, n int) (uint64, bool) {
	q := s.get(id)
	q.mu.Lock()
	defer q.mu.Unlock()
	return s.takeLocked(q, n)
}

// takeLocked takes n values of q, whose lock is held, and lets more be reserved when few are left.
func (s *Sequences) takeLocked(q *sequence, n int) (first uint64, ok bool) {
	if first, ok = q.take(uint64(n)); ok && q.low() {
		select {
		case s.refill <- q:
		default:
		}
	}
	return first, ok
}

// Next returns the first of n consecutive values that nobody else gets. It waits for etcd only when what is reserved
// does not suffice. n must be at least 1. A sequence at its end, or without etcd at the end of what is reserved, is
// sqlerr.AutoIncrementFailed.
func (s *Sequences) Next(ctx context.Context, id uint64, n int) (uint64, error) {
	q := s.get(id)
	for {
		q.mu.Lock()
		if first, ok := s.takeLocked(q, n); ok {
			q.mu.Unlock()
			return first, nil
		}
		f, mine := q.begin()
		q.mu.Unlock()
		if mine {
			s.fill(ctx, q, f, uint64(n))
		} else if err := f.wait(ctx); err != nil {
			return 0, err
		}
		if f.err != nil && (mine || !isContext(f.err)) {
			return 0, f.err
		}
	}
}

// Pass is Observe that waits for nothing: false if etcd has to know of v.
func (s *Sequences) Pass(id, v uint64) bool {
	q := s.get(id)
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.skip(v)
}

// Observe makes all values that this process hands out later greater than v, and those of other processes as well
// except what they have reserved already. It is called with values that clients gave themselves.
func (s *Sequences) Observe(ctx context.Context, id, v uint64) error {
	q := s.get(id)
	for {
		q.mu.Lock()
		if q.skip(v) {
			q.mu.Unlock()
			return nil
		}
		f, mine := q.begin()
		q.mu.Unlock()
		if !mine {
			if err := f.wait(ctx); err != nil {
				return err
			}
			if f.err != nil && !f.usedUp && !isContext(f.err) {
				return f.err
			}
			continue
		}
		if v == math.MaxUint64 {
			f.err = clientError(s.cfg.Store.Raise(ctx, id, v))
			s.end(q, f, span{})
			return f.err
		}
		if err := s.cfg.Store.Raise(ctx, id, v+1); err != nil {
			f.err = clientError(err)
			s.end(q, f, span{})
			return f.err
		}
		// Reserve what follows v: the next statement of a load with rising values then finds it here.
		if s.fill(ctx, q, f, 1); f.err != nil {
			if f.usedUp { // nothing can be handed out any more
				return nil
			}
			return f.err
		}
	}
}

// Forget drops what is held of sequences that keep does not want, such as those of dropped tables.
func (s *Sequences) Forget(keep func(id uint64) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, q := range s.all {
		if !keep(id) {
			q.mu.Lock()
			q.dropped = true
			q.mu.Unlock()
			delete(s.all, id)
		}
	}
}

func (s *Sequences) get(id uint64) *sequence {
	s.mu.RLock()
	q := s.all[id]
	s.mu.RUnlock()
	if q != nil {
		return q
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q = s.all[id]; q == nil {
		q = &sequence{id: id, block: s.cfg.MinBlock}
		s.all[id] = q
	}
	return q
}

// fill reserves a block of at least n values and ends f.
func (s *Sequences) fill(ctx context.Context, q *sequence, f *fill, n uint64) {
	size := max(s.grow(q), n)
	first, err := s.cfg.Store.Allocate(ctx, q.id, size)
	if errors.Is(err, topology.ErrUsedUp) && size > n {
		size = n // there may be no room for a block, but for these
		first, err = s.cfg.Store.Allocate(ctx, q.id, size)
	}
	if f.usedUp = errors.Is(err, topology.ErrUsedUp); f.usedUp {
		err = sqlerr.AutoIncrementFailed.New()
	}
	f.err = clientError(err)
	s.end(q, f, span{first, first + size})
}

// grow adapts the size of a block to how long the last one lasted.
func (s *Sequences) grow(q *sequence) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	switch lasted := now.Sub(q.filled); {
	case q.filled.IsZero():
	case lasted < s.cfg.Steady:
		q.block = min(2*q.block, s.cfg.MaxBlock)
	case lasted > 10*s.cfg.Steady:
		q.block = max(q.block/2, s.cfg.MinBlock)
	}
	q.filled = now
	return q.block
}

// end adds got to what is reserved, unless f failed, and wakes those who wait for f.
func (s *Sequences) end(q *sequence, f *fill, got span) {
	q.mu.Lock()
	if f.err == nil && got.first < got.end {
		q.add(got)
	}
	q.filling = nil
	q.mu.Unlock()
	close(f.done)
}

// giveBack returns the unused values of every sequence, newest first, as far as etcd can be reached.
func (s *Sequences) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	s.mu.Lock()
	all := s.all
	s.all = map[uint64]*sequence{}
	s.mu.Unlock()
	for id, q := range all {
		q.mu.Lock()
		spans := q.spans
		q.spans, q.dropped = nil, true
		q.mu.Unlock()
		if len(spans) == 0 {
			continue
		}
		last := spans[len(spans)-1]
		if err := s.cfg.Store.GiveBack(ctx, id, last.first, last.end); err != nil {
			s.cfg.Log.Info("unused AUTO_INCREMENT values are lost", "sequence", id, "error", err)
			return
		}
	}
}

// begin starts a reservation, or returns the one under way. Called with mu held.
func (q *sequence) begin() (f *fill, mine bool) {
	if q.filling != nil {
		return q.filling, false
	}
	q.filling = &fill{done: make(chan struct{})}
	return q.filling, true
}

// take removes n consecutive values. A rest too short for them is dropped: what is handed out must rise.
func (q *sequence) take(n uint64) (first uint64, ok bool) {
	for i, sp := range q.spans {
		if sp.end-sp.first >= n {
			q.spans = q.spans[i:]
			q.spans[0].first += n
			q.trim()
			return sp.first, true
		}
	}
	return 0, false
}

// skip drops all values up to v; false if v is beyond everything reserved, so that etcd has to know of it.
func (q *sequence) skip(v uint64) bool {
	if len(q.spans) == 0 || v >= q.spans[len(q.spans)-1].end {
		return false
	}
	for v >= q.spans[0].end {
		q.spans = q.spans[1:]
	}
	q.spans[0].first = max(q.spans[0].first, v+1)
	q.trim()
	return true
}

// trim removes an empty first span but keeps its end when it is the last, so that Observe of a value below it need
// not ask etcd.
func (q *sequence) trim() {
	for len(q.spans) > 1 && q.spans[0].first == q.spans[0].end {
		q.spans = q.spans[1:]
	}
}

func (q *sequence) add(got span) {
	if n := len(q.spans); n > 0 && q.spans[n-1].end == got.first {
		q.spans[n-1].end = got.end
		return
	}
	q.spans = append(q.spans, got)
	q.trim()
}

// low tells whether it is time to reserve ahead.
func (q *sequence) low() bool {
	return q.filling == nil && !q.dropped && q.left() < q.block/2
}

func (q *sequence) left() (n uint64) {
	for _, sp := range q.spans {
		n += sp.end - sp.first
	}
	return n
}

func (f *fill) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clientError adds to an outage of etcd what the client is told of it.
func clientError(err error) error {
	if !errors.Is(err, topology.ErrUnavailable) {
		return err
	}
	e := sqlerr.AutoIncrementFailed.New()
	e.Message = "No AUTO_INCREMENT values are left in this process, and more cannot be reserved: etcd is not reachable"
	return fmt.Errorf("%w: %w", e, err)
}

// isContext tells whether a reservation failed only because the statement that made it was given up. An etcd that
// does not answer in time is not that.
func isContext(err error) bool {
	return !errors.Is(err, topology.ErrUnavailable) && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
