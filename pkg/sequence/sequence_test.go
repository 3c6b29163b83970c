package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sequence"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// fakeStore is etcd's part: one counter a sequence, and an outage on demand.
type fakeStore struct {
	mu       sync.Mutex
	next     map[uint64]uint64
	down     error
	requests int
}

func newStore() *fakeStore { return &fakeStore{next: map[uint64]uint64{}} }

func (f *fakeStore) Allocate(ctx context.Context, id, n uint64) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.down != nil {
		return 0, f.down
	}
	first := max(f.next[id], 1)
	if first > math.MaxUint64-n {
		return 0, topology.ErrUsedUp
	}
	f.next[id] = first + n
	return first, ctx.Err()
}

func (f *fakeStore) Raise(_ context.Context, id, atLeast uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	if f.down == nil {
		f.next[id] = max(f.next[id], atLeast)
	}
	return f.down
}

func (f *fakeStore) GiveBack(_ context.Context, id, first, end uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down == nil && f.next[id] == end {
		f.next[id] = first
	}
	return f.down
}

func (f *fakeStore) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *fakeStore) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// run runs s until stop is called, which waits for its end.
func run(t *testing.T, s *sequence.Sequences) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func TestOneProcessHasNoGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sequence.New(sequence.Config{Store: newStore()})
		stop := run(t, s)
		defer stop()
		want := uint64(1)
		for i := range 5000 {
			n := i%7 + 1
			first, err := s.Next(t.Context(), 1, n)
			require.NoError(t, err)
			require.Equal(t, want, first)
			want += uint64(n)
		}
		first, err := s.Next(t.Context(), 1, 1_000_000)
		require.NoError(t, err)
		require.Equal(t, want, first, "larger than any block")
	})
}

func TestBlocksGrowWithDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		s := sequence.New(sequence.Config{Store: store})
		defer run(t, s)()
		for range 1_000_000 {
			_, err := s.Next(t.Context(), 1, 1)
			require.NoError(t, err)
		}
		require.Less(t, store.count(), 50)
		time.Sleep(time.Hour) // the bubble's clock
		before := store.count()
		for range 200_000 {
			_, err := s.Next(t.Context(), 1, 1)
			require.NoError(t, err)
		}
		require.Greater(t, store.count(), before)
	})
}

func TestManyClientsOfManyProcessesNeverMeet(t *testing.T) {
	store := newStore()
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var wg sync.WaitGroup
	for range 3 {
		s := sequence.New(sequence.Config{Store: store})
		defer run(t, s)()
		for c := range 4 {
			wg.Go(func() {
				last := uint64(0)
				for range 500 {
					n := c + 1
					first, err := s.Next(t.Context(), 9, n)
					require.NoError(t, err)
					require.Greater(t, first, last)
					last = first + uint64(n) - 1
					mu.Lock()
					for v := first; v <= last; v++ {
						require.False(t, seen[v], "%d twice", v)
						seen[v] = true
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
}

func TestOutageIsBridgedByWhatIsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore()
		s := sequence.New(sequence.Config{Store: store})
		defer run(t, s)()
		_, err := s.Next(t.Context(), 1, 1)
		require.NoError(t, err)
		store.fail(topology.ErrUnavailable)
		for want := uint64(2); want <= 100; want++ {
			first, err := s.Next(t.Context(), 1, 1)
			require.NoError(t, err)
			require.Equal(t, want, first)
		}
		synctest.Wait()
		_, err = s.Next(t.Context(), 1, 1)
		require.ErrorIs(t, err, topology.ErrUnavailable)
		require.True(t, sqlerr.HasCode(err, sqlerr.AutoIncrementFailed), "a client is told, not thrown out: %v", err)
		err = s.Observe(t.Context(), 1, 5000)
		require.True(t, sqlerr.HasCode(err, sqlerr.AutoIncrementFailed), "%v", err)
		store.fail(nil)
		first, err := s.Next(t.Context(), 1, 1)
		require.NoError(t, err)
		require.EqualValues(t, 101, first)
	})
}

func TestObservedValuesArePassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		store := newStore()
		s := sequence.New(sequence.Config{Store: store})
		next := func(want uint64) {
			t.Helper()
			first, err := s.Next(ctx, 1, 1)
			require.NoError(t, err)
			require.Equal(t, want, first)
		}
		require.NoError(t, s.Observe(ctx, 1, 5))
		next(6)
		require.NoError(t, s.Observe(ctx, 1, 3))
		next(7)
		require.False(t, s.Pass(1, 1<<40), "etcd has to know of it")
		require.NoError(t, s.Observe(ctx, 1, 50))
		require.True(t, s.Pass(1, 50))
		next(51)
		require.True(t, s.Pass(1, 52))
		next(53)
		require.NoError(t, s.Observe(ctx, 1, 123_456))
		next(123_457)
		before := store.count()
		for v := uint64(200_000); v < 210_000; v++ {
			require.NoError(t, s.Observe(ctx, 1, v))
		}
		require.Less(t, store.count()-before, 30, "a load with rising values does not ask etcd each time")
		next(210_000)

		other := sequence.New(sequence.Config{Store: store})
		first, err := other.Next(ctx, 1, 1)
		require.NoError(t, err)
		require.Greater(t, first, uint64(210_000))
	})
}

func TestEndOfTheSequence(t *testing.T) {
	ctx := t.Context()
	s := sequence.New(sequence.Config{Store: newStore()})
	require.NoError(t, s.Observe(ctx, 1, math.MaxUint64-4))
	for v := uint64(math.MaxUint64 - 3); v < math.MaxUint64; v++ {
		first, err := s.Next(ctx, 1, 1)
		require.NoError(t, err)
		require.Equal(t, v, first)
	}
	_, err := s.Next(ctx, 1, 1)
	require.True(t, sqlerr.HasCode(err, sqlerr.AutoIncrementFailed), "%v", err)
	require.NoError(t, s.Observe(ctx, 2, math.MaxUint64))
	_, err = s.Next(ctx, 2, 1)
	require.True(t, sqlerr.HasCode(err, sqlerr.AutoIncrementFailed), "%v", err)
	for range 2 {
		require.NoError(t, s.Observe(ctx, 3, math.MaxUint64-1), "what comes behind it nobody has asked for")
	}
	_, err = s.Next(ctx, 3, 1)
	require.True(t, sqlerr.HasCode(err, sqlerr.AutoIncrementFailed), "%v", err)
}

func TestShutdownGivesBack(t *testing.T) {
	store := newStore()
	s := sequence.New(sequence.Config{Store: store})
	stop := run(t, s)
	for range 3 {
		_, err := s.Next(t.Context(), 1, 1)
		require.NoError(t, err)
	}
	stop()
	s = sequence.New(sequence.Config{Store: store})
	first, err := s.Next(t.Context(), 1, 1)
	require.NoError(t, err)
	require.EqualValues(t, 4, first)
}

func TestForgottenSequencesBeginAnew(t *testing.T) {
	store := newStore()
	s := sequence.New(sequence.Config{Store: store})
	for _, id := range []uint64{1, 2} {
		_, err := s.Next(t.Context(), id, 1)
		require.NoError(t, err)
	}
	s.Forget(func(id uint64) bool { return id == 2 })
	first, err := s.Next(t.Context(), 2, 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, first)
	first, err = s.Next(t.Context(), 1, 1)
	require.NoError(t, err)
	require.EqualValues(t, 101, first)
}

func TestOneGivenUpStatementDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{fakeStore: newStore(), gate: make(chan struct{})}
		s := sequence.New(sequence.Config{Store: store})
		given, cancel := context.WithCancel(t.Context())
		errs := make(chan error, 1)
		go func() {
			_, err := s.Next(given, 1, 1)
			errs <- err
		}()
		synctest.Wait()
		got := make(chan uint64, 1)
		go func() {
			first, err := s.Next(t.Context(), 1, 1)
			require.NoError(t, err)
			got <- first
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-errs, context.Canceled)
		close(store.gate)
		require.EqualValues(t, 1, <-got)
	})
}

// Whoever waits for a reservation that etcd does not answer does not wait for a second one.
func TestOutageIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{fakeStore: newStore(), gate: make(chan struct{})}
		store.fail(fmt.Errorf("%w: %w", topology.ErrUnavailable, context.DeadlineExceeded))
		s := sequence.New(sequence.Config{Store: store})
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.Next(t.Context(), 1, 1)
				errs <- err
			}()
		}
		synctest.Wait()
		close(store.gate)
		require.ErrorIs(t, <-errs, topology.ErrUnavailable)
		require.ErrorIs(t, <-errs, topology.ErrUnavailable)
		require.Equal(t, 1, store.count())
	})
}

// slowStore answers when its gate is opened.
type slowStore struct {
	*fakeStore
	gate chan struct{}
}

func (s *slowStore) Allocate(ctx context.Context, id, n uint64) (uint64, error) {
	select {
	case <-s.gate:
		return s.fakeStore.Allocate(ctx, id, n)
	case <-ctx.Done():
		return 0, errors.Join(errors.New("allocate"), ctx.Err())
	}
}

func BenchmarkNext(b *testing.B) {
	s := sequence.New(sequence.Config{Store: newStore()})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(b.Context(), 1, 1); err != nil {
			b.Fatal(err)
		}
	}
}
