package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"skarv/pkg/catalog"
)

// Slot is a proxy's place in the cluster: a number that names its account on the database servers, and whose holder every
// barrier waits for. Unlike the announcement of a process it is not bound to a lease: a process that fell silent keeps it,
// and may be writing to servers, until it has been shut out there.
//
//	absent ──TakeSlot──► active ──Release, by its holder when nothing of it is left on the servers──► absent
//	                     active ──PutSlot(fenced), by the leader──► fenced ──DeleteSlot, once it is shut out everywhere──► absent
type Slot struct {
	N    int    `json:"n"` // from 1
	Addr string `json:"addr,omitempty"`
	// Member is the process that took it.
	Member string `json:"member"`
	// Incarnation is greater than that of every holder of this number before.
	Incarnation int64 `json:"incarnation"`
	// Fenced: its holder is being shut out, and must take another slot.
	Fenced bool `json:"fenced,omitempty"`

	Revision int64 `json:"-"` // of its last change
}

// MaxSlots bounds the proxies of a cluster.
const MaxSlots = 1024

func (s *Store) slotsKey() string { return s.prefix + kindSlot + "/" }

func (s *Store) slotKey(n int) string { return fmt.Sprintf("%s%04d", s.slotsKey(), n) }

// Slots returns all slots, and the revision they were read at.
func (s *Store) Slots(ctx context.Context) ([]Slot, int64, error) {
	r, err := s.ask(ctx, s.slotsKey(), clientv3.WithPrefix())
	if err != nil {
		return nil, 0, err
	}
	out := make([]Slot, 0, len(r.Kvs))
	for _, kv := range r.Kvs {
		var slot Slot
		if err := json.Unmarshal(kv.Value, &slot); err != nil {
			return nil, 0, fmt.Errorf("decode %s: %w", kv.Key, err)
		}
		slot.Revision = kv.ModRevision
		out = append(out, slot)
	}
	return out, r.Header.Revision, nil
}

// lastSlotKey is written whenever a slot is taken.
func (s *Store) lastSlotKey() string { return s.prefix + "lastslot" }

// LastSlot returns the revision at which a slot was taken last.
func (s *Store) LastSlot(ctx context.Context) (revision int64, err error) {
	_, revision, err = s.get(ctx, s.lastSlotKey())
	return revision, err
}

// TakeSlot takes the lowest free slot for a process. The caller must use no partition map older than the one that is
// current when it returns.
func (s *Store) TakeSlot(ctx context.Context, member, addr string) (*Slot, error) {
	for {
		all, at, err := s.Slots(ctx)
		if err != nil {
			return nil, err
		}
		n := 1
		for slices.ContainsFunc(all, func(o Slot) bool { return o.N == n }) {
			n++
		}
		if n > MaxSlots {
			return nil, fmt.Errorf("all %d slots for proxies are taken", MaxSlots)
		}
		// The revision read is greater than that of any earlier holder's taking.
		slot := &Slot{N: n, Addr: addr, Member: member, Incarnation: at}
		revision, err := s.Change(nil).put(s.slotKey(n), slot, Absent).put(s.lastSlotKey(), n, Any).Commit(ctx)
		if err == nil {
			slot.Revision = revision
			return slot, nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
}

// ReleaseSlot gives a slot back that has nothing left on any server. A slot that was fenced meanwhile stays.
func (s *Store) ReleaseSlot(ctx context.Context, slot *Slot) error {
	_, err := s.Change(nil).remove(s.slotKey(slot.N), slot.Revision).Commit(ctx)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// PutSlot writes a slot.
func (c *Change) PutSlot(slot *Slot, revision int64) *Change {
	return c.put(c.store.slotKey(slot.N), slot, revision)
}

// DeleteSlot removes a slot.
func (c *Change) DeleteSlot(n int, revision int64) *Change {
	return c.remove(c.store.slotKey(n), revision)
}

// AwaitFenced returns when slot is not its holder's any more, or should be looked at for another reason.
func (s *Store) AwaitFenced(ctx context.Context, slot *Slot) (fenced bool, err error) {
	value, revision, err := s.get(ctx, s.slotKey(slot.N))
	if err != nil {
		return false, err
	}
	if revision != slot.Revision || value == nil {
		return true, nil
	}
	return false, s.waitChange(ctx, s.slotKey(slot.N), revision)
}

// HoldsSlot reports whether a slot is the one of an incarnation as it is now, and not being fenced.
func (s *Store) HoldsSlot(ctx context.Context, n int, incarnation int64) (bool, error) {
	value, _, err := s.get(ctx, s.slotKey(n))
	if err != nil || value == nil {
		return false, err
	}
	var slot Slot
	if err := json.Unmarshal(value, &slot); err != nil {
		return false, fmt.Errorf("decode slot %d: %w", n, err)
	}
	return slot.Incarnation == incarnation && !slot.Fenced, nil
}

// Silent is a slot whose holder has not acknowledged what was waited for.
type Silent struct {
	Slot Slot
	// Gone: nobody uses it any more; see Slot.Gone.
	Gone bool
}

// Gone reports whether, going by those who announce themselves, nobody uses s: its process is not among them, or has taken another
// slot since. That happens when the answer was lost to the write that took s.
func (s *Slot) Gone(members []Member) bool {
	i := slices.IndexFunc(members, func(m Member) bool { return m.ID == s.Member })
	return i < 0 || members[i].Incarnation > s.Incarnation
}

func (s Silent) String() string {
	state := "is behind"
	if s.Gone {
		state = "is gone"
	}
	return "proxy " + s.Slot.Member + " at " + s.Slot.Addr + " (slot " + strconv.Itoa(s.Slot.N) + ") " + state
}

// Heard is what processes have said themselves, and not by their announcement, about the slots they hold.
type Heard struct {
	mu      sync.Mutex
	drained map[int64]uint64 // by incarnation
	wake    chan struct{}    // has a token after Drained
}

// NewHeard returns a Heard with nothing in it.
func NewHeard() *Heard { return &Heard{drained: map[int64]uint64{}, wake: make(chan struct{}, 1)} }

// Drained notes that the holder of an incarnation has said that nothing works there by a partition map older than epoch.
func (h *Heard) Drained(incarnation int64, epoch uint64) {
	h.mu.Lock()
	h.drained[incarnation] = max(h.drained[incarnation], epoch)
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *Heard) has(incarnation int64, epoch uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.drained[incarnation] >= epoch
}

// AwaitDrained waits until no proxy works by a partition map older than epoch. The map must have been written before. When ctx
// ends first it returns the slots of those that may, and ctx's error.
func (s *Store) AwaitDrained(ctx context.Context, epoch uint64) (silent []Silent, err error) {
	return s.AwaitSlots(ctx, func(m Member) bool { return m.Drained >= epoch })
}

// AwaitDrainedOrHeard is AwaitDrained that goes by what was heard, too.
func (s *Store) AwaitDrainedOrHeard(ctx context.Context, epoch uint64, heard *Heard) (silent []Silent, err error) {
	return s.awaitSlots(ctx, func(slot *Slot, m *Member) bool {
		return m != nil && m.Drained >= epoch || heard.has(slot.Incarnation, epoch)
	}, heard.wake)
}

// AwaitSettled waits until no proxy runs, or will run, a statement about one of the tables that was planned by a catalog older than
// revision's, which must be that of a change that snapshots show. When ctx ends first it returns the slots of those that may, and
// ctx's error.
func (s *Store) AwaitSettled(ctx context.Context, revision int64, tables []string) (silent []Silent, err error) {
	return s.AwaitSlots(ctx, func(m Member) bool { return m.Settled(revision, tables) })
}

// AwaitRest waits until no proxy uses a node group any more whose primary is being changed. The switchover must have been written before.
// When ctx ends first it returns the slots of those that may, and ctx's error.
func (s *Store) AwaitRest(ctx context.Context, sw *catalog.Switchover) (silent []Silent, err error) {
	return s.AwaitSlots(ctx, func(m Member) bool { return slices.Contains(m.Rests, sw.ID) })
}

// AwaitSlots waits until there is, for every slot, its holder's announcement and ok says yes to it. When ctx ends first it
// returns the slots of which that is not so, and ctx's error. What is waited for must have been written to etcd before: who
// takes a slot later has seen it.
func (s *Store) AwaitSlots(ctx context.Context, ok func(Member) bool) (silent []Silent, err error) {
	return s.awaitSlots(ctx, func(_ *Slot, m *Member) bool { return m != nil && ok(*m) }, nil)
}

// awaitSlots calls ok with every slot and its holder's announcement, nil if there is none, and again after something was announced or
// wake has a token.
func (s *Store) awaitSlots(ctx context.Context, ok func(*Slot, *Member) bool, wake <-chan struct{}) (silent []Silent, err error) {
	for {
		slots, _, err := s.Slots(ctx)
		if err != nil {
			return silent, err
		}
		members, at, err := s.members(ctx)
		if err != nil {
			return silent, err
		}
		silent = silent[:0]
		for _, slot := range slots {
			i := slices.IndexFunc(members, func(m Member) bool {
				return m.ID == slot.Member && m.Slot == slot.N && m.Incarnation == slot.Incarnation
			})
			var holder *Member
			if i >= 0 {
				holder = &members[i]
			}
			if !ok(&slot, holder) {
				silent = append(silent, Silent{slot, slot.Gone(members)})
			}
		}
		if len(silent) == 0 {
			return nil, nil
		}
		watch, cancel := context.WithCancel(ctx)
		changes := s.client.Watch(watch, s.prefix+kindLive+"/", clientv3.WithPrefix(), clientv3.WithRev(at+1))
		select {
		case <-changes:
			cancel()
		case <-wake:
			cancel()
		case <-ctx.Done():
			cancel()
			return silent, ctx.Err()
		}
	}
}
