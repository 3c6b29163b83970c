// Package reorg moves partitions between node groups while clients read and write them. It decides: what moves, what
// comes next, when to cut over, when to give up. The rows are moved by pkg/mover; what statements see of it is decided by the
// partition map, which this package alone changes. DESIGN.md has the way of one reorganisation and why it is safe.
//
// A reorganisation is a record in etcd. Only the elected controller works on it, one step after the other, and any other
// one goes on where it left off. What people want of it is written into the record too, by any process.
package reorg

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// State is how far a reorganisation is.
//
//	PLANNED ─► IN ─► COPY ─► CATCHUP ─► VERIFY ─► FROZEN ─► REVERSE ─► CLEANING ─► DONE
//	                            ▲          │         │          │          ▲
//	                            └──────────┴─────────┘          └─ROLLBACK─┤
//	   before FROZEN: abort ───────────────────────────────────────────────┘
type State string

// The states. FROZEN lasts milliseconds, and so does ROLLBACK once it succeeds: it is FROZEN the other way round.
const (
	Planned  State = "PLANNED"  // checked before anything is touched
	In       State = "IN"       // all proxies learn that the targets will have rows that are not theirs yet
	Copy     State = "COPY"     // rows are copied, changes follow
	CatchUp  State = "CATCHUP"  // everything is copied; what changes is applied at once
	Verify   State = "VERIFY"   // sources and targets are compared
	Frozen   State = "FROZEN"   // the cutover
	Reverse  State = "REVERSE"  // the targets are the owners; the sources follow them, for a way back
	Rollback State = "ROLLBACK" // the cutover backwards
	Cleaning State = "CLEANING" // rows that are no longer, or never were, their group's are deleted
	Done     State = "DONE"
)

// Outcome is how a reorganisation that is DONE has ended.
type Outcome string

// The outcomes.
const (
	Moved      Outcome = "moved"
	Aborted    Outcome = "aborted"     // nothing has moved
	RolledBack Outcome = "rolled back" // everything is where it was
	Refused    Outcome = "refused"     // it was never begun
)

// Wish is what somebody wants of a reorganisation that runs.
type Wish string

// The wishes.
const (
	None         Wish = ""
	WishAbort    Wish = "abort"    // before the cutover: give up
	WishRollback Wish = "rollback" // after it: go back
	WishComplete Wish = "complete" // after it: no way back is needed any more
)

// Transfer is the partitions that move from one node group to another one.
type Transfer struct {
	From       placement.NodeGroupID `json:"from"`
	To         placement.NodeGroupID `json:"to"`
	Partitions placement.Set         `json:"partitions"`
}

// Record is one reorganisation.
type Record struct {
	ID string `json:"id"`
	// Name is what it is called on the servers, which may have notes of reorganisations of the same ID: ids begin anew with every
	// cluster that adopts them. Empty: ID.
	Name      string     `json:"name,omitempty"`
	Kind      string     `json:"kind"` // rebalance, move, drain
	Created   time.Time  `json:"created"`
	Transfers []Transfer `json:"transfers"`
	State     State      `json:"state"`
	Outcome   Outcome    `json:"outcome,omitempty"`
	// Window is how long the way back stays open after the cutover.
	Window time.Duration `json:"window"`
	Paused bool          `json:"paused,omitempty"`
	Wish   Wish          `json:"wish,omitempty"`
	// Undo: nothing is to be moved any more, or everything back; CLEANING is that of the targets.
	Undo bool `json:"undo,omitempty"`
	// Epoch is that of the last freeze; Attempts counts the cutovers tried.
	Epoch    uint64 `json:"epoch,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	// Opened is when the targets became the owners, Pause how long statements were held for it.
	Opened time.Time     `json:"opened,omitzero"`
	Pause  time.Duration `json:"pause,omitempty"`
	// Rows and Bytes are those that were copied, once all are.
	Rows  int64 `json:"rows,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
	// Again: the copy has to begin anew.
	Again bool `json:"again,omitempty"`
	// Reason is why it was given up, and stays.
	Reason string `json:"reason,omitempty"`
	// Problem is why it does not go on, and Reason while nothing hinders.
	Problem string `json:"problem,omitempty"`
	Steps   []Step `json:"steps,omitempty"`

	Revision int64 `json:"-"`
}

// Step is a state that was reached.
type Step struct {
	State State     `json:"state"`
	At    time.Time `json:"at"`
}

// Partitions is the number of partitions that move.
func (r *Record) Partitions() int {
	n := 0
	for i := range r.Transfers {
		n += r.Transfers[i].Partitions.Len()
	}
	return n
}

// Active reports whether r is not over.
func (r *Record) Active() bool { return r.State != Done }

// moving is the transfers as the map has them.
func (r *Record) moving(phase placement.Phase, drain, deadline time.Duration) []placement.Moving {
	out := make([]placement.Moving, len(r.Transfers))
	for i, t := range r.Transfers {
		out[i] = placement.Moving{Reorg: r.ID, A: t.From, B: t.To, Partitions: t.Partitions, Phase: phase}
		if phase == placement.Frozen {
			out[i].Drain, out[i].Deadline = drain, deadline
		}
	}
	return out
}

// moves is the transfers as changes of owners; back turns them round.
func (r *Record) moves(back bool) []placement.Move {
	var out []placement.Move
	for _, t := range r.Transfers {
		if back {
			t.From, t.To = t.To, t.From
		}
		for _, p := range t.Partitions.Members() {
			out = append(out, placement.Move{Partition: p, From: t.From, To: t.To})
		}
	}
	return out
}

// sources are the groups that lose partitions, rising.
func (r *Record) sources() []placement.NodeGroupID {
	var out []placement.NodeGroupID
	for _, t := range r.Transfers {
		if !slices.Contains(out, t.From) {
			out = append(out, t.From)
		}
	}
	slices.Sort(out)
	return out
}

// groups are the groups that lose or get partitions.
func (r *Record) groups() []placement.NodeGroupID {
	out := r.sources()
	for _, t := range r.Transfers {
		if !slices.Contains(out, t.To) {
			out = append(out, t.To)
		}
	}
	return out
}

// transfersOf groups moves by where they go from and to, rising.
func transfersOf(moves []placement.Move) []Transfer {
	var out []Transfer
	for _, m := range moves {
		i := slices.IndexFunc(out, func(t Transfer) bool { return t.From == m.From && t.To == m.To })
		if i < 0 {
			i = len(out)
			out = append(out, Transfer{From: m.From, To: m.To})
		}
		out[i].Partitions.Add(m.Partition)
	}
	slices.SortFunc(out, func(a, b Transfer) int {
		if a.From != b.From {
			return int(a.From) - int(b.From)
		}
		return int(a.To) - int(b.To)
	})
	return out
}

// ErrBusy: another reorganisation has not ended.
var ErrBusy = errors.New("another reorganisation is running")

// ErrUnknown: there is no reorganisation of that id.
var ErrUnknown = errors.New("no such reorganisation")

// lockID is the id of the record that names the active reorganisation, of kind topology.ReorgLock.
const lockID = "current"

// Preview is what Create would queue.
func Preview(kind string, moves []placement.Move, window time.Duration) *Record {
	return &Record{Kind: kind, Created: time.Now().UTC(), Transfers: transfersOf(moves), State: Planned, Window: window}
}

// OnServers is what servers know it by: the Reorg of its moves.
func (r *Record) OnServers() string { return cmp.Or(r.Name, r.ID) }

// Create queues a reorganisation. ErrBusy, with the other one's id, if there is one.
func Create(ctx context.Context, store *topology.Store, kind string, moves []placement.Move, window time.Duration) (*Record, error) {
	n, err := store.NextID(ctx, "reorg")
	if err != nil {
		return nil, err
	}
	r := Preview(kind, moves, window)
	r.ID = "r" + strconv.FormatUint(n, 10)
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	r.Name = r.ID + "-" + hex.EncodeToString(b[:])
	r.Steps = []Step{{Planned, r.Created}}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	r.Revision, err = store.Change(nil).PutRecord(topology.Reorgs, r.ID, data, topology.Absent).
		PutRecord(topology.ReorgLock, lockID, []byte(r.ID), topology.Absent).Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		id, _, lerr := Current(ctx, store)
		if lerr != nil {
			return nil, lerr
		}
		return nil, fmt.Errorf("%w: %s", ErrBusy, id)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Current returns the id of the reorganisation that has not ended; ok is false if there is none.
func Current(ctx context.Context, store *topology.Store) (id string, ok bool, err error) {
	rec, ok, err := store.Record(ctx, topology.ReorgLock, lockID)
	return string(rec.Value), ok, err
}

// List returns all reorganisations that are known, oldest first.
func List(ctx context.Context, store *topology.Store) ([]*Record, error) {
	recs, _, err := store.Records(ctx, topology.Reorgs)
	if err != nil {
		return nil, err
	}
	out := make([]*Record, 0, len(recs))
	for _, rec := range recs {
		r, err := decode(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int { // r2 before r10; clocks may differ
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// Get reads one reorganisation, or returns ErrUnknown.
func Get(ctx context.Context, store *topology.Store, id string) (*Record, error) {
	rec, ok, err := store.Record(ctx, topology.Reorgs, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	return decode(rec)
}

func decode(rec topology.Record) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(rec.Value, r); err != nil {
		return nil, fmt.Errorf("decode reorganisation %s: %w", rec.ID, err)
	}
	r.Revision = rec.Revision
	return r, nil
}

// Change changes a reorganisation's record by fn, which may be called several times, as often as others change it too.
func Change(ctx context.Context, store *topology.Store, id string, fn func(*Record) error) (*Record, error) {
	for {
		r, err := Get(ctx, store, id)
		if err != nil {
			return nil, err
		}
		if err := fn(r); err != nil {
			return nil, err
		}
		data, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		r.Revision, err = store.Change(nil).PutRecord(topology.Reorgs, r.ID, data, r.Revision).Commit(ctx)
		if err == nil || !errors.Is(err, topology.ErrConflict) {
			return r, err
		}
	}
}

// Pause stops the reorganisation where it is, or lets it go on.
func Pause(ctx context.Context, store *topology.Store, id string, pause bool) (*Record, error) {
	return Change(ctx, store, id, func(r *Record) error {
		if !r.Active() {
			return fmt.Errorf("reorganisation %s is over", r.ID)
		}
		r.Paused = pause
		return nil
	})
}

// Ask notes a wish, or says why it cannot be fulfilled.
func Ask(ctx context.Context, store *topology.Store, id string, w Wish) (*Record, error) {
	return Change(ctx, store, id, func(r *Record) error {
		opened := r.State == Reverse || r.State == Rollback
		switch {
		case !r.Active():
			return fmt.Errorf("reorganisation %s is over: %s", r.ID, r.Outcome)
		case r.State == Cleaning:
			return fmt.Errorf("reorganisation %s is deleting old rows: there is no way back any more; move the partitions back with skarvctl move", r.ID)
		case w == WishAbort && opened:
			return fmt.Errorf("reorganisation %s has cut over; use skarvctl reorg rollback %s", r.ID, r.ID)
		case (w == WishRollback || w == WishComplete) && !opened:
			return fmt.Errorf("reorganisation %s has not cut over yet; use skarvctl reorg abort %s", r.ID, r.ID)
		}
		r.Wish, r.Paused = w, false
		return nil
	})
}
