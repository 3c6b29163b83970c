// Package server assembles a Skarv process from its parts: it follows the topology, keeps pools to the node groups,
// serves MySQL clients, HTTP and the admin API, and takes part in the controllers' election. It decides the order in
// which things start and stop, and nothing else.
package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/admin"
	"skarv/pkg/adminaccess"
	"skarv/pkg/backend"
	"skarv/pkg/barrier"
	"skarv/pkg/catalog"
	"skarv/pkg/digest"
	"skarv/pkg/fence"
	"skarv/pkg/lag"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/processlist"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/sequence"
	"skarv/pkg/socket"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
)

// Server is one process. New binds its addresses, Run serves until its context ends.
type Server struct {
	cfg      Config
	id       string
	version  string
	log      *slog.Logger
	registry *prometheus.Registry

	mysql, http, admin net.Listener
	unix               net.Listener
	access             *adminaccess.Access

	store     *topology.Store
	follower  *topology.Follower
	loops     *socket.Loops // nil: none
	pools     *backend.Pools
	servers   schema.Dialer
	sequences *sequence.Sequences
	presence  *topology.Presence
	sessions  *processlist.List
	digests   *digest.Digests
	lag       *lag.Meter
	proxy     atomic.Pointer[mysqlserver.Server] // nil until the cluster is initialised
	load      atomic.Pointer[metrics.LoadMeter]  // nil until then, too
	started   time.Time
	schema    int64 // SchemaRevision last seen by changed

	settling sync.Mutex    // held while it is found out which statements are stale
	schemas  chan struct{} // there is another schema, for runStale

	barrier  *barrier.Barrier
	accounts *fence.Holder
	fenced   chan struct{} // a server says that the slot is lost
	maps     chan struct{} // there is another partition map
	freezes  chan struct{} // there is another partition map, for runThaw
	switches chan struct{} // there is another snapshot, for runRests
	admitted chan struct{} // closed when the first slot is taken
	slot     atomic.Pointer[topology.Slot]
	ids      atomic.Uint32 // see idBase
	options  Options

	gates     *gatekeeper
	turns     turns
	stopping  atomic.Bool // Run was told to end
	gateCount *prometheus.CounterVec

	coordinator *txn.Coordinator
	recoverer   *txn.Recoverer // nil without the controller's role
}

// Options are what the caller decides beside the configuration.
type Options struct {
	Version string
	Log     *slog.Logger
	// Failpoint, for tests, is called at the txn.Points of every commit over several node groups.
	Failpoint func(point string, id txn.ID) error
	// Patience, for tests, is txn.Config's.
	Patience time.Duration
	// Nodes starts database servers on this machine; nil: that is not possible.
	Nodes admin.Nodes
	// Reorg, for tests, may change how reorganisations are worked on.
	Reorg func(*reorg.Config)
	// ControlRetry, for tests, is the controller's pause after a failure; see control.Config.
	ControlRetry time.Duration
}

// New checks cfg, binds every address and opens the connection to etcd. An address in use is an error that names
// its setting. The caller must call Run, which closes everything.
func New(cfg Config, o Options) (_ *Server, err error) {
	if f := cfg.faults(); len(f) > 0 {
		return nil, errors.Join(f...)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var id [6]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	sessions := processlist.New()
	s := &Server{
		cfg: cfg, id: hex.EncodeToString(id[:]), version: o.Version, log: o.Log,
		registry: prometheus.NewRegistry(), sessions: sessions, started: time.Now(),
		digests: digest.New(cfg.Digests, time.Now().Add(-sessions.Clock())),
	}
	defer func() {
		if err != nil {
			s.closeListeners()
		}
	}()
	if s.has(RoleProxy) {
		if cfg.MySQL.Addr != "" {
			if s.mysql, err = listen("mysql.addr", cfg.MySQL.Addr); err != nil {
				return nil, err
			}
		}
		if cfg.MySQL.UnixSocket != "" {
			if s.unix, err = mysqlserver.ListenUnix(cfg.MySQL.UnixSocket); err != nil {
				return nil, fmt.Errorf("mysql.unix_socket: %w", err)
			}
		}
	}
	if cfg.HTTP.Addr != "" {
		if s.http, err = listen("http.addr", cfg.HTTP.Addr); err != nil {
			return nil, err
		}
	}
	if s.admin, err = listen("admin.addr", cfg.Admin.Addr); err != nil {
		return nil, err
	}
	s.access, _ = adminaccess.Load(cfg.Admin.files(), o.Log) // faults has tried it
	tlsConfig, _ := cfg.Etcd.tlsConfig(o.Log)                // and this
	password, _ := cfg.Etcd.password()
	s.store, err = topology.Open(topology.Config{
		Endpoints: cfg.Etcd.Endpoints, TLS: tlsConfig, Username: cfg.Etcd.Username, Password: password,
		Prefix: cfg.Etcd.Prefix, DialTimeout: time.Duration(cfg.Etcd.DialTimeout), Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	backendTLS, _ := cfg.Backend.tlsConfig()
	s.servers = schema.Dialer{TLS: backendTLS}
	s.barrier, s.fenced, s.maps, s.admitted = barrier.New(), make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	s.freezes, s.schemas, s.switches, s.options = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1), o
	s.accounts = fence.NewHolder(fence.HolderConfig{Dial: s.dialGroup, Held: s.holds, Lost: func() { signal(s.fenced) }, Unfenced: func() { s.presence.Unfenced() }, Log: o.Log})
	s.pools = backend.NewPools(backend.Config{
		MaxPerGroup: cfg.Backend.MaxConnections, MinPerGroup: cfg.Backend.MinConnections, FixedLimit: cfg.Backend.FixedLimit,
		MaxQueue: cfg.Backend.MaxQueue, DialTimeout: time.Duration(cfg.Backend.DialTimeout),
		AcquireTimeout: time.Duration(cfg.Backend.AcquireTimeout), FailAfter: time.Duration(cfg.Backend.FailAfter),
		IdleTimeout: time.Duration(cfg.Backend.IdleTimeout), TLS: backendTLS, Log: o.Log, Registerer: s.registry,
		Accounts: s.accounts,
	})
	if s.has(RoleProxy) {
		s.loops = openLoops(cfg.MySQL.Loops, o.Log)
	}
	s.gates = newGatekeeper()
	s.gateCount = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "skarv_snapshots_total", Help: "Consistent snapshots over all node groups for clients of this process: held or failed at the gate, validated without it, or crossed by a commit and tried again.",
	}, []string{"outcome"})
	s.registry.MustRegister(s.gateCount)
	s.coordinator = txn.NewCoordinator(txn.Config{
		Dial: s.pools.Dial, Board: board{s}, Log: o.Log, Registerer: s.registry, Failpoint: o.Failpoint,
		Patience: o.Patience,
	})
	if s.has(RoleController) {
		s.recoverer = txn.NewRecoverer(txn.RecovererConfig{
			Dial: s.pools.Dial, Groups: s.groups, Log: o.Log, Registerer: s.registry,
		})
	}
	s.sequences = sequence.New(sequence.Config{Store: s.store, Log: o.Log})
	s.presence = s.store.NewPresence(topology.Member{
		ID: s.id, Addr: addrOf(s.mysql), AdminAddr: s.adminAddr(), Version: o.Version, Started: s.started, Proxy: s.has(RoleProxy),
	})
	s.lag = lag.New(lag.Config{Most: time.Duration(cfg.Backend.ReplicaLag), Login: s.pools.Login, Remaining: s.presence.Remaining, Clock: s.sessions.Clock, Log: o.Log, Registerer: s.registry})
	s.follower = topology.NewFollower(s.store, s.expect, s.changed)
	return s, nil
}

func listen(setting, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot listen on %s: %w", setting, addr, err)
	}
	return l, nil
}

func addrOf(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

func (s *Server) adminAddr() string {
	if s.cfg.Admin.Advertise != "" {
		return s.cfg.Admin.Advertise
	}
	return addrOf(s.admin)
}

func (s *Server) has(r Role) bool { return slices.Contains(s.cfg.Roles, r) }

// MySQLAddr, HTTPAddr and AdminAddr are the addresses listened on, "" where there is none.
func (s *Server) MySQLAddr() string { return addrOf(s.mysql) }

// HTTPAddr is the address of health, metrics and console.
func (s *Server) HTTPAddr() string { return addrOf(s.http) }

// AdminAddr is the address of the admin API.
func (s *Server) AdminAddr() string { return addrOf(s.admin) }

// Snapshot returns the newest state of the cluster, or nil before the first was read.
func (s *Server) Snapshot() *catalog.Snapshot { return s.follower.Snapshot() }

func (s *Server) closeListeners() {
	for _, l := range []net.Listener{s.mysql, s.unix, s.http, s.admin} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// expect is called with every new snapshot, before statements begin to use it.
func (s *Server) expect(snap *catalog.Snapshot) {
	s.pools.Add(snap.Groups)
	s.lag.Expect(snap)
}

// changed is called with every new snapshot, after statements have begun to use it.
func (s *Server) changed(snap *catalog.Snapshot) {
	s.pools.Apply(snap.Groups)
	if s.schema != snap.SchemaRevision {
		s.schema = snap.SchemaRevision
		s.sequences.Forget(sequencesOf(snap))
		if s.announceStale() {
			signal(s.schemas)
		}
	}
	// Statements load the snapshot anew, so every statement from now on uses this one.
	if snap.Map != nil {
		s.presence.Expect(snap.Map.Epoch())
	}
	s.presence.Ack(snap.Revision)
	signal(s.maps)
	signal(s.freezes)
	signal(s.switches)
}

// signal leaves a token in a channel of one place.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sequencesOf tells which sequences still have a table.
func sequencesOf(snap *catalog.Snapshot) func(id uint64) bool {
	ids := map[uint64]bool{}
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			ids[t.ID] = true
		}
	}
	return func(id uint64) bool { return ids[id] }
}

// listTransactions returns the transactions over several node groups that are prepared or whose end is still known, or
// one of them if id is not empty.
func (s *Server) listTransactions(ctx context.Context, id txn.ID) ([]txn.Info, error) {
	if id != "" {
		return txn.Find(ctx, s.pools.Dial, s.groups(), s.inDoubt(), id)
	}
	return txn.List(ctx, s.pools.Dial, s.groups(), s.inDoubt())
}

// inDoubt are the prepared branches that a process with the controller's role has seen.
func (s *Server) inDoubt() []txn.Doubt {
	if s.recoverer == nil {
		return nil
	}
	return s.recoverer.InDoubt()
}

// groups returns the ids of the cluster's node groups.
func (s *Server) groups() []placement.NodeGroupID {
	snap := s.follower.Snapshot()
	if snap == nil {
		return nil
	}
	ids := make([]placement.NodeGroupID, len(snap.Groups))
	for i, g := range snap.Groups {
		ids[i] = g.ID
	}
	return ids
}

// Run serves until ctx ends. Then Ready says so, for as long as the configuration wants to be served; then clients are drained, HTTP
// and the admin API end, connections to servers are closed after them, and the announcement in etcd taken back last.
func (s *Server) Run(ctx context.Context) error {
	defer s.closeListeners()
	defer s.store.Close()

	// What sessions stand on outlives them, and what moves their bytes everything.
	ground, stopGround := context.WithCancel(context.WithoutCancel(ctx))
	loops, ground := errgroup.WithContext(ground)
	if s.loops != nil {
		loops.Go(func() error { return s.loops.Run(ground) })
	}
	defer func() {
		stopGround()
		_ = loops.Wait()
	}()
	base, stopBase := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBase()
	below, base := errgroup.WithContext(base)
	for _, run := range []func(context.Context) error{
		s.follower.Run, s.pools.Run, s.presence.Run, s.sequences.Run, s.coordinator.Run, s.runReach,
	} {
		below.Go(func() error { return run(base) })
	}
	if s.has(RoleProxy) {
		below.Go(func() error { return s.runSlot(base) })
		below.Go(func() error { return s.runBarrier(base) })
		below.Go(func() error { return s.runStale(base) })
		below.Go(func() error { return s.runRests(base) })
		below.Go(func() error { return s.runGates(base) })
	}

	// By these one sees what a process that stops still does, so they end behind it.
	window, closeWindow := context.WithCancel(context.WithoutCancel(ctx))
	defer closeWindow()
	windows, window := errgroup.WithContext(window)
	api := s.newAdmin()
	windows.Go(func() error { return api.Run(window, s.admin) })
	if s.http != nil {
		windows.Go(func() error { return s.runHTTP(window, api) })
	}

	told := ctx
	above, ctx := errgroup.WithContext(ctx)
	above.Go(func() error { // the end of the floor below, or of a window, ends what stands on it
		select {
		case <-base.Done():
			return context.Cause(base)
		case <-window.Done():
			return context.Cause(window)
		case <-ctx.Done():
			return nil
		}
	})
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	above.Go(func() error {
		defer stopServing()
		<-ctx.Done()
		s.stopping.Store(true)
		s.log.Info("stopping", "clients", s.sessions.Len(), "drain_delay", time.Duration(s.cfg.DrainDelay))
		if told.Err() != nil && s.proxy.Load() != nil { // otherwise something failed, or there are no clients
			_ = pause.For(base, time.Duration(s.cfg.DrainDelay))
		}
		return nil
	})
	above.Go(func() error { return s.runControl(serving) })
	if s.has(RoleProxy) {
		above.Go(func() error { return s.runProxy(serving) })
	}
	err := above.Wait()
	closeWindow()
	if werr := windows.Wait(); err == nil {
		err = werr
	}
	stopBase()
	berr := below.Wait()
	if err == nil || errors.Is(err, context.Canceled) {
		err = berr
	}
	s.releaseSlot()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// starting is what a process with a cluster waits for before it serves clients.
func (s *Server) starting() error {
	select {
	case <-s.admitted:
		return errors.New("no node group has answered yet")
	default:
		return errors.New("the process has no slot in the cluster yet: see its log")
	}
}

// Ready reports whether clients are served, and if not, why.
func (s *Server) Ready() error {
	snap := s.follower.Snapshot()
	switch {
	case snap == nil:
		if h := s.store.Healthy(); !h.OK {
			return fmt.Errorf("etcd is not reachable: %w", h.Err)
		}
		return errors.New("the cluster's state has not been read yet")
	case s.stopping.Load():
		return errors.New("the process is stopping")
	case snap.Flavor == "" || len(snap.Groups) == 0:
		return errors.New("there is no cluster yet: skarvctl cluster init makes one, or skarvctl import of a server that has tables")
	case s.has(RoleProxy) && s.proxy.Load() == nil:
		return s.starting()
	}
	return nil
}
