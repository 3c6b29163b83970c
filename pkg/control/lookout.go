package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Bounds on automatic failover; see DESIGN.md.
const (
	lookEvery = time.Second
	lookTime  = 3 * time.Second // for a server to answer
	// lookPause is how far two looks may be apart; what was seen before a longer one counts for nothing.
	lookPause = 10 * time.Second
	// lookFresh is how old the last look at a primary may be when it, or somebody who reaches it, falls silent.
	lookFresh     = 20 * time.Second
	backEvery     = 5 * time.Second  // servers that were replaced are looked at
	lookRecord    = 5 * time.Second  // and then what was seen is written again, though it is the same
	lostFor       = 8 * time.Second  // after a look by which a primary is lost
	failoverApart = 10 * time.Minute // between two automatic failovers of a node group
	failoverAgain = 10 * time.Second // before one that has failed is tried again
)

// FailoverAfter is how long a primary is silent before a replica takes its place, unless a controller is told otherwise.
const FailoverAfter = 10 * time.Second

// Failover is what the controller has seen of the primary of a node group with automatic failover last.
type Failover struct {
	// Primary is its address, and ID how servers tell it from others.
	Primary string `json:"primary"`
	ID      string `json:"id,omitempty"`
	// Replicas are the addresses of those that the cluster knew: whether it is armed is true of these, and further ones, and of no fewer.
	Replicas []string `json:"replicas,omitempty"`
	// Armed: it may be lost without anything that it has acknowledged.
	Armed bool `json:"armed"`
	// Why it is not armed; or, while it does not answer, why no replica takes its place yet.
	Why string `json:"why,omitempty"`
	// Acks is how many replicas have what it acknowledges.
	Acks int `json:"acks,omitempty"`
	// Back are the group's replaced primaries that answer and are no replicas.
	Back []string  `json:"back,omitempty"`
	At   time.Time `json:"at"`
}

// Current reports whether somebody looks.
func (f *Failover) Current(now time.Time) bool { return now.Sub(f.At).Abs() < lookFresh }

// Holds reports whether it is of the primary that a group has, and of no replica that the group has not, and somebody looks.
func (f *Failover) Holds(g *catalog.NodeGroup, now time.Time) bool {
	return f.Primary == g.Primary.Addr && knows(g, f.Replicas) && f.Current(now)
}

// Failovers is what the controller has seen last, by node group.
func Failovers(ctx context.Context, store *topology.Store) (map[placement.NodeGroupID]Failover, error) {
	records, _, err := store.Records(ctx, topology.Failovers)
	out := map[placement.NodeGroupID]Failover{}
	for _, r := range records {
		var f Failover
		if id, err := strconv.Atoi(r.ID); err == nil && json.Unmarshal(r.Value, &f) == nil {
			out[placement.NodeGroupID(id)] = f
		}
	}
	return out, err
}

// lookout watches over the primaries of node groups with automatic failover, for one leader, and has replicas take the place of those that are lost.
type lookout struct {
	leader *leader
	after  time.Duration

	mu      sync.Mutex
	watches map[placement.NodeGroupID]*watch
	back    map[placement.NodeGroupID][]string // see Failover
}

// run looks until ctx ends.
func (l *lookout) run(ctx context.Context) error {
	defer l.keep(nil)
	g, ctx := errgroup.WithContext(ctx)
	every := func(period time.Duration, look func(context.Context) error) {
		g.Go(func() error {
			tick := time.NewTicker(period)
			defer tick.Stop()
			for {
				if err := look(ctx); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-tick.C:
				}
			}
		})
	}
	every(lookEvery, l.look)
	every(backEvery, l.lookBack)
	return g.Wait()
}

// look looks once at every group.
func (l *lookout) look(ctx context.Context) error {
	snap := l.leader.follower.Snapshot()
	if snap == nil {
		return nil
	}
	var groups []*catalog.NodeGroup
	for _, g := range snap.Groups {
		if g.AutomaticFailover || len(g.Replaced) > 0 {
			groups = append(groups, g)
		}
	}
	watches := l.keep(groups)
	if len(groups) == 0 {
		return nil
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	members, err := l.leader.store.Members(bounded)
	cancel()
	if err != nil {
		members = nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range watches {
		l.mu.Lock()
		back := l.back[groups[i].ID]
		l.mu.Unlock()
		g.Go(func() error { return w.look(ctx, began, groups[i], snap.Map, members, back) })
	}
	return g.Wait()
}

// keep makes the watches those of groups.
func (l *lookout) keep(groups []*catalog.NodeGroup) (watches []*watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.watches
	l.watches = map[placement.NodeGroupID]*watch{}
	for _, g := range groups {
		w := old[g.ID]
		if w == nil {
			w = &watch{leader: l.leader, after: l.after, servers: watched{login: l.leader.login}}
		}
		l.watches[g.ID] = w
		watches = append(watches, w)
		delete(old, g.ID)
	}
	for _, w := range old {
		w.begin("")
	}
	return watches
}

// lost returns an error unless the primary of a node group was found lost just now, and when that look began.
func (l *lookout) lost(g *catalog.NodeGroup) (acks int, look time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watches[g.ID]
	if w == nil {
		return 0, look, fmt.Errorf("automatic failover of node group %s is off", g.Label())
	}
	return w.isLost(g)
}

// watch is what is known of one node group's servers. Its methods but isLost are called by one goroutine at a time.
type watch struct {
	leader *leader
	after  time.Duration

	servers watched
	seen

	saved   Failover
	savedAt time.Time
	job     string    // that was asked for
	again   time.Time // not before this another one

	mu      sync.Mutex
	primary string    // whose watch it is
	lostAt  time.Time // when it was last found lost, and
	lostBy  time.Time // when the look began by which it was
	lostOf  []string  // the replicas that it had then
	acks    int
}

// seen is what was seen of one primary without a break.
type seen struct {
	last  time.Time // look
	state Failover  // of the last one that has reached the primary, of this leader or the one before
	// reached is when the primary was last reached, by this process or another one; zero: not since the watch began.
	looked, reached time.Time
	missing         time.Time                 // since when this process does not reach it
	members         map[string]presence       // by ID
	silent          time.Time                 // since when nobody does
	began           time.Time                 // the last look
	had             map[string]*failover.View // the replicas when they were last looked at, by address
	// goal is what the primary had at goalAt, when it waited for its replicas already; zero: at no look.
	goal   binlog.Position
	goalAt time.Time
}

// presence is a process as others see it.
type presence struct {
	since   time.Time
	episode int64 // 0: it reaches the primary, or has not said otherwise
}

// begin begins anew, with a primary.
func (w *watch) begin(primary string) {
	w.servers.end()
	w.seen = seen{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.primary, w.lostAt, w.acks = primary, time.Time{}, 0
}

// look looks once. members is nil if they are not known; they were looked at since began.
func (w *watch) look(ctx context.Context, began time.Time, g *catalog.NodeGroup, m *placement.PartitionMap, members []topology.Member, back []string) error {
	now := time.Now()
	if w.primary != g.Primary.Addr || now.Sub(w.last) > lookPause || !knows(g, w.state.Replicas) {
		w.begin(g.Primary.Addr)
	}
	w.last, w.began = now, began
	if !g.AutomaticFailover {
		return w.save(ctx, g, Failover{Primary: g.Primary.Addr, Back: back, At: now.UTC()})
	}
	primary, replicas, err := w.servers.views(ctx, g)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f Failover
	_, told := errors.AsType[*sqlerr.Error](err)
	switch {
	case err == nil:
		f = w.present(ctx, g, m, primary, replicas)
	case told && !mysqlconn.IsLost(err) && !sqlerr.HasCode(err, sqlerr.ServerShutdown):
		w.comesBack()
		f = Failover{Why: "the primary cannot be looked at: " + err.Error()}
	default:
		if err := w.inherit(ctx, g); err != nil {
			return nil // what it has seen is not to be written over
		}
		f = w.absent(ctx, g, err, replicas, members)
	}
	f.Primary, f.Back, f.At = g.Primary.Addr, back, time.Now().UTC()
	return w.save(ctx, g, f)
}

// addrs are the addresses of servers.
func addrs(nodes []catalog.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Addr)
	}
	return out
}

// knows reports whether all of these servers are replicas of a group.
func knows(g *catalog.NodeGroup, replicas []string) bool {
	named := addrs(g.Replicas)
	return !slices.ContainsFunc(replicas, func(addr string) bool { return !slices.Contains(named, addr) })
}

// save writes what was seen.
func (w *watch) save(ctx context.Context, g *catalog.NodeGroup, f Failover) error {
	same := w.saved.Primary == f.Primary && w.saved.Armed == f.Armed && w.saved.Why == f.Why && w.saved.Acks == f.Acks && w.saved.ID == f.ID &&
		slices.Equal(w.saved.Back, f.Back) && slices.Equal(w.saved.Replicas, f.Replicas)
	if same && time.Since(w.savedAt) < lookRecord {
		return nil
	}
	switch {
	case same || !g.AutomaticFailover:
	case f.Armed && f.Why == "":
		w.leader.log.InfoContext(ctx, "a primary may be lost: a replica takes its place then", "group", g.ID, "addr", f.Primary)
	case !f.Armed && (w.saved.Armed || w.saved.Why != f.Why):
		w.leader.log.WarnContext(ctx, "no replica would take a primary's place", "group", g.ID, "addr", f.Primary, "reason", f.Why)
	case f.Why != w.saved.Why && w.missing.Equal(w.last):
		w.leader.log.WarnContext(ctx, "a primary does not answer", "group", g.ID, "addr", f.Primary, "reason", f.Why)
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = w.leader.store.Change(w.leader.guard).PutRecord(topology.Failovers, strconv.Itoa(int(g.ID)), data, topology.Any).Commit(ctx)
	if errors.Is(err, topology.ErrNotLeader) {
		return err
	}
	if err == nil {
		w.saved, w.savedAt = f, time.Now()
	}
	return nil
}
