package topology

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// RecordKind is a kind of record that this package stores without knowing its content.
type RecordKind string

// The kinds of records.
const (
	DDLJobs RecordKind = "ddl"
	// DDLForgotten says up to which id records of jobs have been removed.
	DDLForgotten RecordKind = "ddlforgotten"
	Reorgs       RecordKind = "reorg"
	// ReorgLock names the one that runs; ReorgProgress has how far it is.
	ReorgLock     RecordKind = "reorglock"
	ReorgProgress RecordKind = "reorgprogress"
	Secrets       RecordKind = "secret"
	Gates         RecordKind = "gate" // see Gate
	// Claims say who is at work on something that only one may do; Leavings, which servers of a cluster that was given up are
	// not clean yet.
	Claims   RecordKind = "claim"
	Leavings RecordKind = "leaving"
	// EventRuns have what each event did last.
	EventRuns RecordKind = "eventrun"
	// Failovers have, by node group, what the controller has seen of its primary last.
	Failovers RecordKind = "failover"
)

// Record is one stored record.
type Record struct {
	ID       string
	Value    []byte // nil in a watch: the record was deleted
	Revision int64  // of its last change, for PutRecord and DeleteRecord
}

// Record reads one record; ok is false if there is none.
func (s *Store) Record(ctx context.Context, kind RecordKind, id string) (r Record, ok bool, err error) {
	value, rev, err := s.get(ctx, s.recordKey(kind, id))
	if err != nil || value == nil {
		return Record{}, false, err
	}
	return Record{ID: id, Value: value, Revision: rev}, true, nil
}

// Records reads all records of a kind, ordered by id, and the revision they were read at.
func (s *Store) Records(ctx context.Context, kind RecordKind) ([]Record, int64, error) {
	r, err := s.ask(ctx, s.recordsKey(kind), clientv3.WithPrefix())
	if err != nil {
		return nil, 0, err
	}
	out := make([]Record, 0, len(r.Kvs))
	for _, kv := range r.Kvs {
		if _, names := s.splitKey(kv.Key); len(names) == 1 {
			out = append(out, Record{ID: names[0], Value: kv.Value, Revision: kv.ModRevision})
		}
	}
	return out, r.Header.Revision, nil
}

// WatchRecords calls fn for each record of a kind as it is now and then for each change, until ctx ends or fn
// returns an error, which it returns. It outlives etcd outages and compactions: after those the records are read
// again, so fn may see a state twice and may miss states between two it sees, but never misses the last one.
func (s *Store) WatchRecords(ctx context.Context, kind RecordKind, fn func(Record) error) error {
	known := map[string]bool{}
	see := func(r Record) error {
		if r.Value == nil {
			delete(known, r.ID)
		} else {
			known[r.ID] = true
		}
		return fn(r)
	}
	for wait := (backoff{}); ; {
		records, rev, err := s.Records(ctx, kind)
		if err != nil {
			if err := wait.pause(ctx); err != nil {
				return err
			}
			continue
		}
		wait = backoff{}
		gone := known
		known = map[string]bool{}
		for _, r := range records {
			delete(gone, r.ID)
			if err := see(r); err != nil {
				return err
			}
		}
		for id := range gone {
			if err := see(Record{ID: id}); err != nil {
				return err
			}
		}
		if err := s.watchFrom(ctx, s.recordsKey(kind), rev+1, func(events []*clientv3.Event, _ int64) error {
			for _, e := range events {
				_, names := s.splitKey(e.Kv.Key)
				if len(names) != 1 {
					continue
				}
				r := Record{ID: names[0], Value: e.Kv.Value, Revision: e.Kv.ModRevision}
				if e.Type == clientv3.EventTypeDelete {
					r.Value = nil
				}
				if err := see(r); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := wait.pause(ctx); err != nil {
			return err
		}
	}
}

// NextIDs hands out n ids of a kind of object in a row, and returns the first.
func (s *Store) NextIDs(ctx context.Context, what string, n uint64) (uint64, error) {
	first, err := s.allocate(ctx, s.nextKey(what), n)
	if err != nil {
		return 0, fmt.Errorf("next ids of %s: %w", what, err)
	}
	return first, nil
}

// NextID hands out the ids 1, 2, 3, ... of a kind of object, each once.
func (s *Store) NextID(ctx context.Context, what string) (uint64, error) {
	first, err := s.allocate(ctx, s.nextKey(what), 1)
	if err != nil {
		return 0, fmt.Errorf("next id of %s: %w", what, err)
	}
	return first, nil
}

// AwaitRecord calls fn with a record as it is now and after each change until fn says that it has seen enough. A
// record that does not exist (any more) has a nil Value.
func (s *Store) AwaitRecord(ctx context.Context, kind RecordKind, id string, fn func(Record) (enough bool, err error)) error {
	for wait := (backoff{}); ; {
		value, revision, at, err := s.getAt(ctx, s.recordKey(kind, id))
		if err != nil {
			if err := wait.pause(ctx); err != nil {
				return err
			}
			continue
		}
		wait = backoff{}
		if enough, err := fn(Record{ID: id, Value: value, Revision: revision}); enough || err != nil {
			return err
		}
		if err := s.waitChange(ctx, s.recordKey(kind, id), at); err != nil {
			return err
		}
	}
}

// waitChange returns when key was changed after revision, or when it should be read again for another reason.
func (s *Store) waitChange(ctx context.Context, key string, revision int64) error {
	watch, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	select {
	case <-s.client.Watch(watch, key, clientv3.WithRev(revision+1)):
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Secret returns the cluster's secret of that name, which is made when it is asked for first.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	for {
		r, ok, err := s.Record(ctx, Secrets, name)
		if err != nil || ok {
			return r.Value, err
		}
		fresh := make([]byte, 32)
		if _, err := rand.Read(fresh); err != nil {
			return nil, err
		}
		_, err = s.Change(nil).PutRecord(Secrets, name, fresh, Absent).Commit(ctx)
		if err != nil && !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
}
