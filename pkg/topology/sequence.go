package topology

import (
	"context"
	"fmt"
	"math"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxSwaps bounds how often a compare-and-swap is tried again before the caller hears of it.
const maxSwaps = 100

// Allocate reserves n consecutive values of a sequence for the caller alone and returns the first. A sequence
// that does not exist begins at 1.
func (s *Store) Allocate(ctx context.Context, id, n uint64) (first uint64, err error) {
	first, err = s.allocate(ctx, s.seqKey(id), n)
	if err != nil {
		return 0, fmt.Errorf("allocate from sequence %d: %w", id, err)
	}
	return first, nil
}

// Raise makes the sequence hand out only values of atLeast and more from now on.
func (s *Store) Raise(ctx context.Context, id, atLeast uint64) error {
	err := s.swap(ctx, s.seqKey(id), func(next uint64) (uint64, error) { return max(next, atLeast), nil })
	if err != nil {
		return fmt.Errorf("raise sequence %d: %w", id, err)
	}
	return nil
}

// GiveBack returns the unused values from first up to but not including end, which were the end of an Allocate.
// They are lost, which does no harm, if someone allocated after that.
func (s *Store) GiveBack(ctx context.Context, id, first, end uint64) error {
	err := s.swap(ctx, s.seqKey(id), func(next uint64) (uint64, error) {
		if next == end {
			return first, nil
		}
		return next, nil
	})
	if err != nil {
		return fmt.Errorf("give back to sequence %d: %w", id, err)
	}
	return nil
}

// Sequence returns the next value that Allocate would hand out.
func (s *Store) Sequence(ctx context.Context, id uint64) (next uint64, err error) {
	value, _, err := s.get(ctx, s.seqKey(id))
	if err != nil {
		return 0, err
	}
	return parseNext(value)
}

func (s *Store) allocate(ctx context.Context, key string, n uint64) (first uint64, err error) {
	err = s.swap(ctx, key, func(next uint64) (uint64, error) {
		if next > math.MaxUint64-n {
			return 0, ErrUsedUp
		}
		first = next
		return next + n, nil
	})
	return first, err
}

// swap replaces a counter by what f makes of it. f may be called more than once.
func (s *Store) swap(ctx context.Context, key string, f func(next uint64) (uint64, error)) error {
	for range maxSwaps {
		value, rev, err := s.get(ctx, key)
		if err != nil {
			return err
		}
		next, err := parseNext(value)
		if err != nil {
			return err
		}
		want, err := f(next)
		if err != nil {
			return err
		}
		if want == next && value != nil {
			return nil
		}
		done, err := s.swapOnce(ctx, key, rev, want)
		if err != nil || done {
			return err
		}
	}
	return ErrConflict
}

func (s *Store) swapOnce(ctx context.Context, key string, rev int64, want uint64) (bool, error) {
	bounded, cancel := s.request(ctx)
	defer cancel()
	r, err := s.client.Txn(bounded).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", rev)).
		Then(clientv3.OpPut(key, strconv.FormatUint(want, 10))).
		Commit()
	if err = s.observe(ctx, err); err != nil {
		return false, err
	}
	return r.Succeeded, nil
}

func parseNext(value []byte) (uint64, error) {
	if value == nil {
		return 1, nil
	}
	next, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil || next == 0 {
		return 0, fmt.Errorf("sequence holds %q, not a number", value)
	}
	return next, nil
}
