package event

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
)

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Running   Outcome = "running"
	Succeeded Outcome = "ok"
	Failed    Outcome = "failed"
	// Unknown: the process that ran it is gone, or has not been heard of since another one took over.
	Unknown Outcome = "unknown"
)

// State is what an event did last. It is kept in etcd, written before a run and behind it.
type State struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	// Tick is when the newest run was due. No run of the same schedule for this time or an earlier one begins any more.
	Tick time.Time `json:"tick"`
	// Scheduled is that of the event that ran.
	Scheduled time.Time `json:"scheduled,omitzero"`

	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Outcome Outcome   `json:"outcome,omitempty"`
	Error   string    `json:"error,omitempty"`
	// Process ran it, in a leadership.
	Process string `json:"process,omitempty"`
	Term    int64  `json:"term,omitempty"`
	Runs    uint64 `json:"runs,omitempty"`
	// Failures counts runs that failed.
	Failures uint64 `json:"failures,omitempty"`

	revision int64
}

// recordID is the id of an event's state.
func recordID(k catalog.EventKey) string {
	return url.PathEscape(k.Database) + "/" + k.Name
}

// States reads what all events did last.
func States(ctx context.Context, store *topology.Store) (map[catalog.EventKey]State, error) {
	records, _, err := store.Records(ctx, topology.EventRuns)
	if err != nil {
		return nil, err
	}
	out := map[catalog.EventKey]State{}
	for _, r := range records {
		var s State
		if err := json.Unmarshal(r.Value, &s); err != nil {
			return nil, fmt.Errorf("state of event %s: %w", r.ID, err)
		}
		s.revision = r.Revision
		out[catalog.NewEventKey(s.Database, s.Name)] = s
	}
	return out, nil
}

// write stores a state over the one it was made from. With a guard only while that leadership lasts.
func write(ctx context.Context, store *topology.Store, guard *topology.Guard, s *State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	s.revision, err = store.Change(guard).
		PutRecord(topology.EventRuns, recordID(catalog.NewEventKey(s.Database, s.Name)), data, s.revision).Commit(ctx)
	return err
}

// ended stores how a run ended, unless a later one has begun since.
func ended(ctx context.Context, store *topology.Store, run *State) error {
	for {
		err := write(ctx, store, nil, run)
		if !errors.Is(err, topology.ErrConflict) {
			return err
		}
		r, ok, err := store.Record(ctx, topology.EventRuns, recordID(catalog.NewEventKey(run.Database, run.Name)))
		if err != nil || !ok {
			return err // dropped
		}
		var now State
		if err := json.Unmarshal(r.Value, &now); err != nil {
			return err
		}
		if !now.Tick.Equal(run.Tick) || now.Term != run.Term {
			return nil
		}
		run.revision = r.Revision
	}
}
