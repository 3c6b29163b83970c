// Package lag knows how old what the replicas of node groups have is, and picks those that are new enough to be read from.
//
// A replica has all that its primary had at a moment once it has applied what ended the primary's binary log then:
//
//	at ── position of the primary ──► wait until the replica has applied that ──► the replica is as new as at, whenever it is read from now on
//
// That is asked again and again of every replica, while somebody wants to read there. What was written, altered or moved before at is there, so
// that a statement can be run on a replica that was planned by what the cluster was at, and find what its session had written before at.
//
// Primaries shut out a process that the cluster goes on without; replicas do not. What they have answered counts only if the process was alive then:
// others go on without it once its lease in etcd has ended, and Alive says, by what etcd has told of the lease before, that it has not.
package lag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/backend"
	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// Config is what a Meter needs.
type Config struct {
	// Most is how old what a replica has may be that Pick picks.
	Most time.Duration
	// Login is how to connect to the primary of a group.
	Login func(*catalog.NodeGroup) mysqlconn.Config
	// Remaining is for how long from now on the cluster takes the process for alive, counted from before the call.
	Remaining func(context.Context) (time.Duration, error)
	// Clock is the time since some moment, without leaps.
	Clock      func() time.Duration
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: metrics are not shown
}

// Meter measures while Run runs. Its other methods may be called from any goroutine.
type Meter struct {
	cfg     Config
	metrics metrics
	basis   atomic.Pointer[basis]
	groups  atomic.Pointer[map[placement.NodeGroupID][]*replica] // never changed in place
	wanted  atomic.Int64                                         // when Pick was last asked, on the Clock; 0: never
	alive   atomic.Int64                                         // until when the process is, at least, on the Clock
	changed chan struct{}
}

// basis is what statements are planned by, and since when the cluster is so.
type basis struct {
	schema, partitions int64 // revisions of the schema, and of the partition map: also of which node group has rows of others
	since              time.Duration
}

// replica is one server, and as of when it has all that its primary had.
type replica struct {
	group *catalog.NodeGroup
	node  catalog.Node
	fresh atomic.Int64       // on the Clock; 0: not known
	end   context.CancelFunc // Run's

	reads prometheus.Counter
}

type metrics struct {
	lag   *prometheus.GaugeVec
	reads *prometheus.CounterVec
}

// New returns a Meter that knows no cluster yet.
func New(cfg Config) *Meter {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	labels := []string{"node_group", "addr"}
	m := &Meter{cfg: cfg, changed: make(chan struct{}, 1), metrics: metrics{
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_replica_lag_seconds", Help: "How old what a replica has is, while sessions read from replicas; -1: it is not fit to be read from.",
		}, labels),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_replica_reads_total", Help: "Statements, or parts of them, that were to be read from a replica.",
		}, labels),
	}}
	if cfg.Registerer != nil {
		cfg.Registerer.MustRegister(m.metrics.lag, m.metrics.reads)
	}
	m.groups.Store(&map[placement.NodeGroupID][]*replica{})
	return m
}

// Expect takes notice of what the cluster is by now. It is called with every snapshot before statements are planned by it.
func (m *Meter) Expect(snap *catalog.Snapshot) {
	if b := m.basis.Load(); b == nil || b.schema != snap.SchemaRevision || b.partitions != snap.MapRevision {
		m.basis.Store(&basis{snap.SchemaRevision, snap.MapRevision, m.cfg.Clock()})
	}
	old, next := *m.groups.Load(), map[placement.NodeGroupID][]*replica{}
	for _, g := range snap.Groups {
		for _, n := range g.Replicas {
			same := func(r *replica) bool { return r.node == n && r.group.Primary == g.Primary && r.group.Mark == g.Mark }
			if i := slices.IndexFunc(old[g.ID], same); i >= 0 {
				next[g.ID] = append(next[g.ID], old[g.ID][i])
				continue
			}
			next[g.ID] = append(next[g.ID], &replica{group: g, node: n, reads: m.metrics.reads.WithLabelValues(labels(g.ID, n.Addr)...)})
		}
	}
	m.groups.Store(&next)
	for id, list := range old {
		for _, r := range list {
			if !slices.ContainsFunc(next[id], func(n *replica) bool { return n.node.Addr == r.node.Addr }) {
				m.metrics.reads.DeleteLabelValues(labels(id, r.node.Addr)...)
			}
		}
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Pick picks a replica of node group g from which a statement may read that was planned by snap, and which has all that the primary had at
// least, on the Clock; false if there is none. Of several it is the same one for the same session, as long as it is new enough.
func (m *Meter) Pick(snap *catalog.Snapshot, g placement.NodeGroupID, least time.Duration, session uint32) (addr string, ok bool) {
	list := (*m.groups.Load())[g]
	if len(list) == 0 {
		return "", false
	}
	now := m.cfg.Clock()
	m.wanted.Store(int64(now))
	b := m.basis.Load()
	if snap.SchemaRevision != b.schema || snap.MapRevision != b.partitions || !m.Alive() {
		return "", false
	}
	least = max(least, b.since, now-m.cfg.Most, 1)
	for i := range list {
		r := list[(int(session%uint32(len(list)))+i)%len(list)]
		if time.Duration(r.fresh.Load()) >= least {
			r.reads.Inc()
			return r.node.Addr, true
		}
	}
	return "", false
}

// Alive reports whether nobody has taken the process for dead until now: the cluster is what it knows, or waits for it.
func (m *Meter) Alive() bool { return m.cfg.Clock() < time.Duration(m.alive.Load()) }

func labels(g placement.NodeGroupID, addr string) []string {
	return []string{strconv.Itoa(int(g)), addr}
}

const (
	unfit = -1 // in place of the lag

	// often is between two looks at a replica that is up to date, and seldom while nobody wants to read from replicas.
	often  = 50 * time.Millisecond
	seldom = time.Second
	// wantedFor is for how long somebody who has read from a replica is expected to do so again.
	wantedFor = time.Minute
	// patience is for one answer.
	patience = 5 * time.Second
	// fitness is how often a replica is asked how it replicates, and tryAgain when one that is not fit, or does not answer, is.
	fitness  = 5 * time.Second
	tryAgain = 2 * time.Second
)

// Run measures until ctx ends.
func (m *Meter) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { m.live(ctx) })
	running := map[*replica]bool{}
	for {
		current := map[*replica]bool{}
		for _, list := range *m.groups.Load() {
			for _, r := range list {
				current[r] = true
				if running[r] {
					continue
				}
				var own context.Context
				own, r.end = context.WithCancel(ctx)
				all.Go(func() { m.follow(own, r) })
			}
		}
		for r := range running {
			if !current[r] {
				r.end()
			}
		}
		running = current
		select {
		case <-ctx.Done():
			return nil
		case <-m.changed:
		}
	}
}

// live notes until ctx ends how long the process is alive.
func (m *Meter) live(ctx context.Context) {
	for ctx.Err() == nil {
		wait := seldom
		if m.isWanted() {
			at := m.cfg.Clock()
			if left, err := m.cfg.Remaining(ctx); err == nil {
				m.alive.Store(int64(at + left))
			}
			wait = seldom / 2
		}
		_ = pause.For(ctx, wait)
	}
}

// follow measures one replica until ctx ends.
func (m *Meter) follow(ctx context.Context, r *replica) {
	defer m.hide(r)
	said := ""
	for ctx.Err() == nil {
		if !m.isWanted() {
			m.hide(r)
			_ = pause.For(ctx, seldom)
			continue
		}
		err := m.measure(ctx, r)
		r.fresh.Store(0)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			said = ""
			continue
		}
		m.metrics.lag.WithLabelValues(labels(r.group.ID, r.node.Addr)...).Set(unfit)
		if why := err.Error(); why != said {
			m.cfg.Log.Warn("a replica cannot be read from", "group", r.group.ID, "addr", r.node.Addr, "error", why)
			said = why
		}
		_ = pause.For(ctx, tryAgain)
	}
}

func (m *Meter) isWanted() bool {
	at := m.wanted.Load()
	return at != 0 && m.cfg.Clock()-time.Duration(at) < wantedFor
}

// measure measures one replica until ctx ends, nobody wants to read there any more, or something is wrong.
func (m *Meter) measure(ctx context.Context, r *replica) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dial := func(g *catalog.NodeGroup) (*failover.Server, error) {
		return failover.Dial(ctx, m.cfg.Login(g), g.Primary.Addr, g.Primary.Flavor)
	}
	primary, err := dial(r.group)
	if err != nil {
		return err
	}
	defer primary.Close()
	own, err := dial(backend.AsReplica(r.group, r.node))
	if err != nil {
		return err
	}
	defer own.Close()
	// Whoever says nothing is given up, with both connections.
	silence := time.AfterFunc(patience, cancel)
	defer silence.Stop()
	answered := func(err error) error {
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("%s or its primary does not answer", r.node.Addr)
		}
		silence.Reset(patience)
		return err
	}
	var judged time.Duration
	var last binlog.Position
	newest := m.cfg.Clock() // as of when r has all, or as far as is known since when it has not
	for m.isWanted() {
		at := m.cfg.Clock()
		goal, err := primary.Position()
		if err := answered(err); err != nil {
			return err
		}
		if goal.Empty() || !goal.Covers(last) {
			return errors.New("its primary's binary log is not what it was: it is off, was reset, or is another server's")
		}
		last = goal
		for behind := true; behind; {
			if now := m.cfg.Clock(); judged == 0 || now-judged >= fitness {
				if err := answered(fit(primary, own)); err != nil {
					return err
				}
				judged = now
			}
			err := own.Reach(goal, often)
			if behind = errors.Is(err, failover.ErrBehind); behind {
				err = nil
			}
			if err := answered(err); err != nil {
				return err
			}
			if behind && !m.isWanted() {
				return nil
			}
			m.show(r, newest)
		}
		newest = at
		r.fresh.Store(int64(newest))
		m.show(r, newest)
		if err := pause.For(ctx, often); err != nil {
			return err
		}
	}
	return nil
}

// show shows that r has nothing newer than newest.
func (m *Meter) show(r *replica, newest time.Duration) {
	m.metrics.lag.WithLabelValues(labels(r.group.ID, r.node.Addr)...).Set((m.cfg.Clock() - newest).Seconds())
}

// hide shows none.
func (m *Meter) hide(r *replica) { m.metrics.lag.DeleteLabelValues(labels(r.group.ID, r.node.Addr)...) }

// fit returns why a server is not to be read from: it is no whole replica of the primary, or somebody else may write there.
func fit(primary, own *failover.Server) error {
	id, err := primary.ID()
	if err != nil {
		return err
	}
	how, err := own.Replication()
	if err != nil {
		return err
	}
	switch {
	case how == nil:
		return errors.New("it is no replica: set up replication from its node group's primary")
	case how.Filters:
		return errors.New("it leaves out databases or tables (Replicate_...): take its filters away")
	case !how.GTID:
		return errors.New("it does not replicate by global transaction ids: set MASTER_USE_GTID = slave_pos, on MySQL SOURCE_AUTO_POSITION = 1")
	case how.SourceID != id:
		return errors.New("it replicates from another server than its node group's primary")
	case !how.Receives || !how.Applies:
		return errors.New(cmp.Or(how.Error, "replication is stopped: START REPLICA there"))
	}
	_, rows, err := own.QueryAll("SELECT @@global.read_only", 1)
	if err == nil && len(rows) == 1 && (string(rows[0][0]) == "0" || string(rows[0][0]) == "OFF") {
		err = errors.New("read_only is off there: set it")
	}
	return err
}
