package topology

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// Member is one running process of the cluster, as it announces itself.
type Member struct {
	ID        string    `json:"id"`
	Addr      string    `json:"addr"`            // MySQL protocol; empty if it is no proxy
	AdminAddr string    `json:"admin,omitempty"` // gRPC
	Version   string    `json:"version,omitempty"`
	Started   time.Time `json:"started"`
	Proxy     bool      `json:"proxy,omitempty"` // it serves statements, so catalog changes wait for its ack
	// Acked is the revision of the snapshot that every new statement there uses.
	Acked int64 `json:"acked"`
	// Stale is what older statements that still run there stand on and that is another by that snapshot, as
	// catalog.Changes.Concern names it.
	Stale []string `json:"stale,omitempty"`
	// Drained is the epoch of a partition map: nothing works there by an older one any more.
	Drained uint64 `json:"drained,omitempty"`
	// Slot and Incarnation name the slot that the process holds; see Slot. Incarnation is 0 without one.
	Slot        int   `json:"slot,omitempty"`
	Incarnation int64 `json:"incarnation,omitempty"`
	// Gated is the revision of a Gate: while it or an older one stands nothing is committed by the process.
	Gated int64 `json:"gated,omitempty"`
	// Rests are the switchovers (catalog.Switchover.ID) of whose node groups nothing there is in use any more, nor will be while they stand.
	Rests []string `json:"rests,omitempty"`
	// Waits is what the process shows of its transactions that wait for locks.
	Waits json.RawMessage `json:"waits,omitempty"`
	// Unreached are the primaries that do not answer the process.
	Unreached []Unreached `json:"unreached,omitempty"`
	// Unfenced: the process uses a server with Skarv's own account, so that it could not be shut out there.
	Unfenced bool `json:"unfenced,omitempty"`
}

// Unreached is a node group's primary that has not answered a process since some moment.
type Unreached struct {
	Group placement.NodeGroupID `json:"group"`
	Addr  string                `json:"addr"`
	// Episode is another one whenever it has answered in between.
	Episode int64 `json:"episode"`
}

// Settled reports whether no statement about one of the tables runs at the member, or will run, by a catalog older than revision's.
func (m *Member) Settled(revision int64, tables []string) bool {
	return m.Acked >= revision && !slices.ContainsFunc(m.Stale, func(name string) bool {
		return name == catalog.Anything || slices.Contains(tables, name)
	})
}

// Presence announces this process under a lease and tells how far it has followed.
type Presence struct {
	store     *Store
	member    Member
	acked     atomic.Int64
	drained   atomic.Uint64
	expects   atomic.Uint64 // see Expect
	slot      atomic.Pointer[Slot]
	loose     atomic.Bool // Unfenced was called
	waits     atomic.Pointer[json.RawMessage]
	gated     atomic.Int64
	stale     atomic.Pointer[[]string]
	rests     atomic.Pointer[[]string]
	unreached atomic.Pointer[[]Unreached]
	wake      chan struct{}

	// Who asks this process itself is told before etcd is, see AwaitDrained.
	asked atomic.Int64 // how many wait
	born  time.Time
	later atomic.Int64 // announcements wait until this long after born: a wall clock may leap meanwhile
	lease atomic.Int64 // that announces the process; 0: none does
	mu    sync.Mutex
	acks  chan struct{} // closed at the next AckMap
}

// NewPresence returns a Presence for m; its ID must be unique among running processes.
func (s *Store) NewPresence(m Member) *Presence {
	return &Presence{store: s, member: m, wake: make(chan struct{}, 1), acks: make(chan struct{}), born: time.Now()}
}

// Ack says that from now on this process uses the snapshot of revision, or newer. It never blocks.
func (p *Presence) Ack(revision int64) {
	for {
		old := p.acked.Load()
		if revision <= old {
			return
		}
		if p.acked.CompareAndSwap(old, revision) {
			break
		}
	}
	p.announceSoon()
}

// maxStale bounds the names of one announcement; of more it says that they may be all.
const maxStale = 64

// Stands replaces what is announced as Member.Stale. For the snapshot that is acknowledged next it is to be called before Ack. It
// never blocks, and is called by one goroutine at a time.
func (p *Presence) Stands(stale []string) {
	if len(stale) > maxStale {
		stale = []string{catalog.Anything}
	}
	if was := p.stale.Swap(&stale); (was == nil && len(stale) > 0) || was != nil && !slices.Equal(*was, stale) {
		p.announceSoon()
	}
}

// Expect says that AckMap of epoch will follow, most often at once: what is to be announced until then is announced together with
// it if that takes no longer than a moment. Statements may be waiting for it, and each announcement is a write to etcd's disk.
func (p *Presence) Expect(epoch uint64) { p.expects.Store(epoch) }

// together is the moment of Expect.
const together = 5 * time.Millisecond

// AckMap says that nothing in this process works by a partition map older than epoch any more, nor will: epochs only
// rise. It never blocks and is called by one goroutine.
func (p *Presence) AckMap(epoch uint64) {
	if epoch > p.drained.Load() {
		p.drained.Store(epoch)
		if p.asked.Load() > 0 {
			p.later.Store(int64(time.Since(p.born) + afterAsked))
		}
		p.mu.Lock()
		close(p.acks)
		p.acks = make(chan struct{})
		p.mu.Unlock()
		p.announceSoon()
	}
}

// afterAsked is for how long etcd is not told what somebody has asked this process for: he is about to write there himself, and
// would have to wait for that.
const afterAsked = 30 * time.Millisecond

// AwaitDrained waits until AckMap was called with epoch or a later one, and returns the last one with the slot that this process
// holds; nil: none. It is a way to know it without a write to etcd, whose disk may be slow.
func (p *Presence) AwaitDrained(ctx context.Context, epoch uint64) (uint64, *Slot, error) {
	p.asked.Add(1)
	defer p.asked.Add(-1)
	for {
		p.mu.Lock()
		acks := p.acks
		p.mu.Unlock()
		if drained := p.drained.Load(); drained >= epoch {
			return drained, p.slot.Load(), nil
		}
		select {
		case <-acks:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// Hold says which slot this process holds from now on; nil: none.
func (p *Presence) Hold(s *Slot) {
	p.slot.Store(s)
	p.announceSoon()
}

// Unfenced says that this process has connections to a server that no fence ends.
func (p *Presence) Unfenced() {
	p.loose.Store(true)
	p.announceSoon()
}

// AckGate says that nothing is being committed by this process and nothing will be while the gate of revision or an older one
// stands. It never blocks and is called by one goroutine.
func (p *Presence) AckGate(revision int64) {
	if revision > p.gated.Load() {
		p.gated.Store(revision)
		p.announceSoon()
	}
}

// Rests replaces what is announced as Member.Rests. It never blocks, and is called by one goroutine at a time.
func (p *Presence) Rests(switchovers []string) {
	if was := p.rests.Swap(&switchovers); (was == nil && len(switchovers) > 0) || was != nil && !slices.Equal(*was, switchovers) {
		p.announceSoon()
	}
}

// Reaches replaces what is announced as Member.Unreached. It never blocks, and is called by one goroutine at a time.
func (p *Presence) Reaches(allBut []Unreached) {
	if was := p.unreached.Swap(&allBut); (was == nil && len(allBut) > 0) || was != nil && !slices.Equal(*was, allBut) {
		p.announceSoon()
	}
}

// ShowWaits replaces what the process shows of its transactions that wait for locks, a JSON value; nil: nothing. It never blocks.
func (p *Presence) ShowWaits(waits []byte) {
	if waits == nil && p.waits.Load() == nil {
		return
	}
	if waits == nil {
		p.waits.Store(nil)
	} else {
		raw := json.RawMessage(waits)
		p.waits.Store(&raw)
	}
	p.announceSoon()
}

func (p *Presence) announceSoon() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run keeps the process announced until ctx ends, through outages of etcd; then it takes the announcement back.
func (p *Presence) Run(ctx context.Context) error {
	for wait := (backoff{}); ctx.Err() == nil; {
		if err := p.announce(ctx); err != nil && ctx.Err() == nil {
			p.store.log.Warn("cannot announce this process", "error", err)
			if wait.pause(ctx) != nil {
				break
			}
			continue
		}
		wait = backoff{}
	}
	return nil
}

// announce lives as long as one lease does.
func (p *Presence) announce(ctx context.Context) error {
	bounded, cancel := p.store.request(ctx)
	lease, err := p.store.client.Grant(bounded, leaseSeconds)
	cancel()
	if err = p.store.observe(ctx, err); err != nil {
		return err
	}
	session, err := concurrency.NewSession(p.store.client, concurrency.WithLease(lease.ID), concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer p.store.resign(lease.ID, session)
	defer p.lease.Store(0)
	for wait := (backoff{}); ; {
		if err := p.put(ctx, lease.ID); err != nil {
			// What was announced before stands as long as the lease does: it is better than nothing, and an etcd that is full gives no other
			// lease.
			select {
			case <-session.Done():
				return err
			default:
			}
			p.store.log.Warn("cannot announce what is new of this process", "error", err)
			if wait.pause(ctx) != nil {
				return nil
			}
			continue
		}
		wait = backoff{}
		p.lease.Store(int64(lease.ID))
		select {
		case <-ctx.Done():
			return nil
		case <-session.Done():
			return fmt.Errorf("lease of %s ran out", p.member.ID)
		case <-p.wake:
		}
		if p.expects.Load() > p.drained.Load() {
			select {
			case <-ctx.Done():
				return nil
			case <-p.wake:
			case <-time.After(together):
			}
		}
		if d := time.Duration(p.later.Load()) - time.Since(p.born); d > 0 {
			if pause.For(ctx, d) != nil {
				return nil
			}
		}
	}
}

// Remaining is for how long from now on, at least, nobody takes the process for dead: counted from before the call. It asks etcd.
func (p *Presence) Remaining(ctx context.Context) (time.Duration, error) {
	lease := p.lease.Load()
	if lease == 0 {
		return 0, nil
	}
	bounded, cancel := p.store.request(ctx)
	defer cancel()
	r, err := p.store.client.TimeToLive(bounded, clientv3.LeaseID(lease))
	if err = p.store.observe(ctx, err); err != nil {
		return 0, err
	}
	return time.Duration(max(r.TTL, 0)) * time.Second, nil
}

func (p *Presence) put(ctx context.Context, lease clientv3.LeaseID) error {
	m := p.member
	m.Unfenced = p.loose.Load()
	m.Acked, m.Drained = p.acked.Load(), p.drained.Load()
	if stale := p.stale.Load(); stale != nil { // behind Acked: see Stands
		m.Stale = *stale
	}
	if rests := p.rests.Load(); rests != nil {
		m.Rests = *rests
	}
	if unreached := p.unreached.Load(); unreached != nil {
		m.Unreached = *unreached
	}
	m.Gated = p.gated.Load()
	if waits := p.waits.Load(); waits != nil {
		m.Waits = *waits
	}
	if slot := p.slot.Load(); slot != nil {
		m.Slot, m.Incarnation = slot.N, slot.Incarnation
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	bounded, cancel := p.store.request(ctx)
	defer cancel()
	_, err = p.store.client.Put(bounded, p.store.liveKey(m.ID), string(data), clientv3.WithLease(lease))
	return p.store.observe(ctx, err)
}

// Members returns the processes that are alive, ordered by id.
func (s *Store) Members(ctx context.Context) ([]Member, error) {
	members, _, err := s.members(ctx)
	return members, err
}

func (s *Store) members(ctx context.Context) ([]Member, int64, error) {
	r, err := s.ask(ctx, s.prefix+kindLive+"/", clientv3.WithPrefix())
	if err != nil {
		return nil, 0, err
	}
	out := make([]Member, 0, len(r.Kvs))
	for _, kv := range r.Kvs {
		var m Member
		if err := json.Unmarshal(kv.Value, &m); err != nil {
			return nil, 0, fmt.Errorf("decode %s: %w", kv.Key, err)
		}
		out = append(out, m)
	}
	return out, r.Header.Revision, nil
}

// WaitAcked waits until every live proxy uses the state of revision, or a newer one. When ctx ends first it returns
// the ids of those that do not, and ctx's error.
func (s *Store) WaitAcked(ctx context.Context, revision int64) (behind []string, err error) {
	for {
		members, at, err := s.members(ctx)
		if err != nil {
			return behind, err
		}
		behind = behind[:0]
		for _, m := range members {
			if m.Proxy && m.Acked < revision {
				behind = append(behind, m.ID)
			}
		}
		if len(behind) == 0 {
			return nil, nil
		}
		watch, cancel := context.WithCancel(ctx)
		changes := s.client.Watch(watch, s.prefix+kindLive+"/", clientv3.WithPrefix(), clientv3.WithRev(at+1))
		select {
		case <-changes:
			cancel()
		case <-ctx.Done():
			cancel()
			return behind, ctx.Err()
		}
	}
}
