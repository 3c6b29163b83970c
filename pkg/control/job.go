package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/migration"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
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
	User catalog.AccountName `json:"user,omitempty"` // for messages, and the definer of events
	// Roles of User are active.
	Roles []catalog.AccountName `json:"roles,omitempty"`
	// EventSince, if not zero: nothing is done if the event that the statement is about was changed since.
	EventSince time.Time `json:"event_since,omitzero"`
	// Made, if not zero: nothing is dropped but the table of that DDLResult.Made.
	Made uint64 `json:"made,omitempty"`
}

// DDLResult is what the client is told of a schema change that succeeded.
type DDLResult struct {
	Affected uint64           `json:"affected,omitempty"`
	Warnings []schema.Warning `json:"warnings,omitempty"`
	// Made is the catalog's number of the table that was created, whatever its name is later.
	Made uint64 `json:"made,omitempty"`
}

// jobState is where a job stands: queued -> running -> done or failed. A job that is running was planned; whoever
// leads carries it to its end.
type jobState string

const (
	queued  jobState = "queued"
	running jobState = "running"
	done    jobState = "done"
	failed  jobState = "failed"
	// withdrawn is a record in the place of a job that may still come to etcd: see Client.withdraw.
	withdrawn jobState = "withdrawn"
)

// job is one record under ddl/.
type job struct {
	ID      string      `json:"id"`
	State   jobState    `json:"state"`
	Created time.Time   `json:"created"`
	From    string      `json:"from,omitempty"` // the member that waits for it; "": it is begun whether anybody waits or not
	DDL     *DDLRequest `json:"ddl,omitempty"`
	Adopt   *GroupSpec  `json:"adopt,omitempty"` // adding a node group waits in the same queue
	// Switchover waits there, too; it is running once the catalog shows the new primary.
	Switchover *Switchover `json:"switchover,omitempty"`
	// Replicas is the change of a node group's replicas.
	Replicas *ReplicaChange  `json:"replicas,omitempty"`
	Work     *migration.Work `json:"work,omitempty"`
	Result   DDLResult       `json:"result"`
	// Error is what the client is told.
	Error *sqlerr.Error `json:"error,omitempty"`
	// Problem is why it did not get on when it was last tried.
	Problem string `json:"problem,omitempty"`
	// Progress is how far it was a moment ago, of what takes long.
	Progress string `json:"progress,omitempty"`
	// Adopted is the node group that Adopt made.
	Adopted placement.NodeGroupID `json:"adopted,omitempty"`
	// Changed are the servers that Replicas has made replicas, or none.
	Changed []string `json:"changed,omitempty"`
	Notes   []string `json:"notes,omitempty"`

	revision int64
}

// newJobID returns an id that sorts by time.
func newJobID(now time.Time) string {
	return fmt.Sprintf("%016x-%08x", now.UnixNano(), rand.Uint32())
}

func (j *job) encode() ([]byte, error) { return json.Marshal(j) }

var errUndecoded = errors.New("decode job")

func decodeJob(r topology.Record) (*job, error) {
	j := &job{}
	if err := json.Unmarshal(r.Value, j); err != nil {
		return nil, fmt.Errorf("%w %s: %w", errUndecoded, r.ID, err)
	}
	j.ID, j.revision = r.ID, r.Revision
	return j, nil
}

// storedJob reads a job; nil if there is none by that id.
func storedJob(ctx context.Context, store *topology.Store, id string) (*job, error) {
	r, ok, err := store.Record(ctx, topology.DDLJobs, id)
	if err != nil || !ok {
		return nil, err
	}
	return decodeJob(r)
}

// forgottenID is the id of the only record of kind topology.DDLForgotten.
const forgottenID = "last"

// lastForgotten is the greatest id of the jobs that have ended and of which there is no record any more, "" if there is none, and the revision of that.
func lastForgotten(ctx context.Context, store *topology.Store) (id string, revision int64, err error) {
	r, _, err := store.Record(ctx, topology.DDLForgotten, forgottenID)
	return string(r.Value), r.Revision, err
}

// urgent reports whether it waits for no other: what has begun may be waiting for the very server that is lost.
func (j *job) urgent() bool { return j.State == queued && j.Switchover != nil && j.Switchover.Lost }

// ended reports whether nothing more will happen to it.
func (j *job) ended() bool { return j.State != queued && j.State != running }

// Job is a schema change, a new node group, a switchover or a change of replicas.
type Job struct {
	ID      string
	State   string // queued, running, done or failed
	Created time.Time
	// What is its statement, or what else it does, for whom in which database.
	What, User, Database string
	// Progress is how far it is, "" where nobody says; Problem why it does not get on, "" while it does; Error how it failed.
	Progress, Problem, Error string
}

// Unfinished are the jobs that wait or run, the oldest first. A record that cannot be read is none.
func Unfinished(ctx context.Context, store *topology.Store) ([]Job, error) {
	return jobs(ctx, store, func(j *job) bool { return !j.ended() })
}

// Jobs are those that wait or run, and the last that have ended, the oldest first. A record that cannot be read is none.
func Jobs(ctx context.Context, store *topology.Store) ([]Job, error) {
	return jobs(ctx, store, func(j *job) bool { return j.State != withdrawn })
}

func jobs(ctx context.Context, store *topology.Store, keep func(*job) bool) (out []Job, err error) {
	records, _, err := store.Records(ctx, topology.DDLJobs)
	for _, r := range records {
		j, err := decodeJob(r)
		if err != nil || !keep(j) {
			continue
		}
		o := Job{ID: j.ID, State: string(j.State), Created: j.Created, What: "adding a node group", Progress: j.Progress, Problem: j.Problem}
		if j.Switchover != nil {
			o.What = fmt.Sprintf("making %s the primary of node group %d", j.Switchover.To, j.Switchover.Group)
		}
		if j.Replicas != nil {
			o.What = j.Replicas.what()
		}
		if j.DDL != nil {
			o.What, o.User, o.Database = j.DDL.SQL, j.DDL.User.String(), j.DDL.DB
		}
		if j.Error != nil {
			o.Error = j.Error.Error()
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b Job) int { return strings.Compare(a.ID, b.ID) })
	return out, err
}
