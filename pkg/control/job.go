package control

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"skarv/pkg/ddl"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// What bounds a job.
const (
	maxAttempts = 5 // of a step on a group, when the error may pass
	keptJobs    = 100
)

// DDLRequest is a statement that changes the schema, and what of the client's session decides its meaning.
type DDLRequest struct {
	SQL string `json:"sql"`
	schema.Session
	User string `json:"user,omitempty"` // for messages, and the definer of events
	// EventSince, if not zero: nothing is done if the event that the statement is about was changed since.
	EventSince time.Time `json:"event_since,omitzero"`
}

// DDLResult is what the client is told of a schema change that succeeded.
type DDLResult struct {
	Affected uint64           `json:"affected,omitempty"`
	Warnings []schema.Warning `json:"warnings,omitempty"`
}

// jobState is where a job stands: queued -> running -> done or failed. A job that is running was planned; whoever
// leads carries it to its end.
type jobState string

const (
	queued  jobState = "queued"
	running jobState = "running"
	done    jobState = "done"
	failed  jobState = "failed"
)

// job is one record under ddl/.
type job struct {
	ID      string      `json:"id"`
	State   jobState    `json:"state"`
	Created time.Time   `json:"created"`
	DDL     *DDLRequest `json:"ddl,omitempty"`
	Adopt   *GroupSpec  `json:"adopt,omitempty"` // adding a node group waits in the same queue
	Work    *work       `json:"work,omitempty"`
	Result  DDLResult   `json:"result"`
	// Error is what the client is told.
	Error *sqlerr.Error `json:"error,omitempty"`
	// Adopted is the node group that Adopt made.
	Adopted placement.NodeGroupID `json:"adopted,omitempty"`
	Notes   []string              `json:"notes,omitempty"`

	revision int64
}

// newJobID returns an id that sorts by time.
func newJobID(now time.Time) string {
	return fmt.Sprintf("%016x-%08x", now.UnixNano(), rand.Uint32())
}

func (j *job) encode() ([]byte, error) { return json.Marshal(j) }

func decodeJob(id string, value []byte, revision int64) (*job, error) {
	j := &job{}
	if err := json.Unmarshal(value, j); err != nil {
		return nil, fmt.Errorf("decode job %s: %w", id, err)
	}
	j.ID, j.revision = id, revision
	return j, nil
}

// ended reports whether nothing more will happen to it.
func (j *job) ended() bool { return j.State != queued && j.State != running }

// Unfinished are the ids of the jobs that wait or run. A record that cannot be read is none.
func Unfinished(ctx context.Context, store *topology.Store) (ids []string, err error) {
	records, _, err := store.Records(ctx, topology.DDLJobs)
	for _, r := range records {
		if j, err := decodeJob(r.ID, r.Value, r.Revision); err == nil && !j.ended() {
			ids = append(ids, j.ID)
		}
	}
	return ids, err
}

// work is the plan of a DDL job: what to run on each server and what to write into the catalog then.
type work struct {
	Step *step `json:"step,omitempty"`
	// Rehearsal, if not nil, is tried on all groups before the step runs on any.
	Rehearsal *rehearsal `json:"rehearsal,omitempty"`
	// Before is the text of each watched object on each group before the step; "" where there is none.
	Before map[placement.NodeGroupID]map[string]string `json:"before,omitempty"`
	// Watched are the objects whose text tells whether the step was run on a group.
	Watched []ddl.Object `json:"watched,omitempty"`
	// Marker, if set, is a table in our own schema that the step renames along: it tells whether it ran.
	Marker string `json:"marker,omitempty"`
	// First is the group the step runs on first.
	First placement.NodeGroupID `json:"first"`
	// OwnRows: the step is about a table of which each group has rows of its own. What it did to them is added up.
	OwnRows bool `json:"own_rows,omitempty"`

	// Indexes are the global indexes that are made, and Build, if there are rows that need entries, the table they are
	// built for while it is used. Obsolete are those that go.
	Indexes  []newIndex  `json:"indexes,omitempty"`
	Build    *ddl.Object `json:"build,omitempty"`
	Obsolete []uint64    `json:"obsolete,omitempty"`
	// Widen are statements for the tables of indexes whose columns will hold more.
	Widen []string `json:"widen,omitempty"`
	// Rebuild, if not nil: the step replaces Build by a table with another distribution key.
	Rebuild *rebuild `json:"rebuild,omitempty"`
	// Keys are foreign keys that the statement adds to Build and that no server can check by itself.
	Keys []newKey `json:"keys,omitempty"`

	Refresh []refresh    `json:"refresh,omitempty"`
	Drop    []ddl.Object `json:"drop,omitempty"`
	// Routines are the functions, procedures and events that the step creates, changes or drops. Event belongs to events.
	Routines []ddl.Object       `json:"routines,omitempty"`
	Event    *schema.EventState `json:"event,omitempty"`
	// EventsOff, if not nil, keeps all events from running, or lets them run.
	EventsOff *bool  `json:"events_off,omitempty"`
	PutDB     string `json:"put_db,omitempty"`
	Single    bool   `json:"single,omitempty"` // of PutDB
	DropDB    string `json:"drop_db,omitempty"`
	// Error is told to the client although all was done: DROP TABLE of which some did not exist.
	Error    *sqlerr.Error    `json:"error,omitempty"`
	Warnings []schema.Warning `json:"warnings,omitempty"`
	Affected uint64           `json:"affected,omitempty"`
}

// step is one statement that runs on every group.
type step struct {
	SQL string `json:"sql"`
	// Undo takes it back; empty if that cannot be.
	Undo []string `json:"undo,omitempty"`
	// Repeat: running it once more does no harm.
	Repeat bool `json:"repeat,omitempty"`
	// Drops: it drops tables one after the other and may stop between them.
	Drops []ddl.Object `json:"drops,omitempty"`
}

// refresh says how a table's catalog entry is made from what the servers have after the steps.
type refresh struct {
	ddl.Object
	sharding.Origin
	NewID       bool `json:"new_id,omitempty"`       // a new sequence, from 1
	TakeCounter bool `json:"take_counter,omitempty"` // a new sequence, from the servers' counters
}

// refreshed is the entry of a table that is the same as before but for what servers say of it.
func refreshed(o ddl.Object) refresh {
	return refresh{Object: o, Origin: sharding.Origin{Old: &o}}
}
