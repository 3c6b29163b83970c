package server

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/event"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/placement"
	"skarv/pkg/plancache"
	"skarv/pkg/planner"
	"skarv/pkg/reorg"
	"skarv/pkg/sequence"
	"skarv/pkg/session"
	"skarv/pkg/socket"
	"skarv/pkg/sqlparse"
	"skarv/pkg/statistics"
	"skarv/pkg/workspace"
)

// runProxy waits until there is a cluster to serve, then serves MySQL clients until ctx ends.
func (s *Server) runProxy(ctx context.Context) error {
	snap, err := s.waitInitialised(ctx)
	if err != nil {
		return nil //nolint:nilerr // the context ended first
	}
	select {
	case <-s.admitted:
	case <-ctx.Done():
		return nil
	}
	dialect := sqlparse.NewDialect(snap.Flavor == catalog.MariaDB, snap.ServerVersion)
	plans, err := planner.New()
	if err != nil {
		return err
	}
	metrics := session.NewMetrics()
	load := newLoadMeter(metrics, s.follower.Snapshot)
	s.registry.MustRegister(metrics, load)
	s.load.Store(load)
	cfg := &session.Config{
		Snapshot:     s.follower.Snapshot,
		NextSnapshot: s.follower.Wait,
		Barrier:      s.barrier,
		Dialect:      dialect,
		Planner:      plans,
		Plans:        plancache.New(s.cfg.PlanCache),
		Pools:        s.pools,
		Hasher:       backend.NewHasher(),
		Sequences:    sequences{s.sequences},
		Workspace: workspace.NewBudget(workspace.Limits{
			Rows: s.cfg.Workspace.MaxRows, Bytes: s.cfg.Workspace.MaxBytes, Total: s.cfg.Workspace.TotalBytes,
		}),
		Estimates: statistics.New(),
		DDL:       s.ddl(),
		Registry:  s.sessions,
		Metrics:   metrics,
		SlowQuery: time.Duration(s.cfg.SlowQuery),
		SQLMode:   s.defaultSQLMode(ctx, snap),
		Buffers:   session.NewBuffers(),
		Log:       s.log,
	}
	cfg.Peers = peers{s}
	cfg.Transactions, cfg.ListTransactions = s.coordinator, s.listTransactions
	cfg.HoldCommits, cfg.WatchCommits = s.holdCommits, s.watchCommits
	cfg.ListReorganisations = s.listReorganisations
	cfg.EventStates = func(ctx context.Context) (map[catalog.EventKey]event.State, error) { return event.States(ctx, s.store) }
	cfg.PartitionLoad = func(ctx context.Context) ([]float64, error) {
		rates, _, _, err := s.partitionLoad(ctx, true)
		return rates, err
	}
	tlsConfig, _ := s.cfg.MySQL.tlsConfig()
	var listeners []net.Listener
	for _, l := range []net.Listener{s.mysql, s.unix} {
		if l != nil {
			listeners = append(listeners, l)
		}
	}
	var loop func() *socket.Loop
	if s.loops != nil {
		loop = s.loops.Next
	}
	proxy, err := mysqlserver.Listen(mysqlserver.Config{
		Loop:             loop,
		Listeners:        listeners,
		NewHandler:       func(c *mysqlserver.Conn) mysqlserver.Handler { return session.New(cfg, c) },
		ServerVersion:    func() string { return greeting(s.follower.Snapshot().ServerVersion) },
		TLS:              tlsConfig,
		RequireTLS:       s.cfg.MySQL.RequireTLS,
		IDBase:           s.idBase,
		IDBits:           20,
		MaxConnections:   s.cfg.MySQL.MaxConnections,
		MaxAllowedPacket: s.cfg.MySQL.MaxAllowedPacket,
		HandshakeTimeout: time.Duration(s.cfg.MySQL.HandshakeTimeout),
		IdleTimeout:      time.Duration(s.cfg.MySQL.IdleTimeout),
		DrainTimeout:     drainTimeout,
		Log:              s.log,
		Registerer:       s.registry,
	})
	if err != nil {
		return err
	}
	s.proxy.Store(proxy)
	// Clients whose statements have not ended when draining is over must not wait for their servers either.
	ended := make(chan struct{})
	events := s.newEvents(proxy)
	var g errgroup.Group
	g.Go(func() error { return events.Run(ctx) })
	g.Go(func() error {
		load.run(ctx)
		return nil
	})
	g.Go(func() error {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
		}
		select {
		case <-ended:
		case <-time.After(drainTimeout):
			s.sessions.Interrupt()
		}
		return nil
	})
	err = proxy.Run(ctx)
	close(ended)
	return errors.Join(err, g.Wait())
}

// drainTimeout is how long statements may go on when the process is told to stop.
const drainTimeout = 10 * time.Second

// waitInitialised returns the first snapshot of a cluster with node groups.
func (s *Server) waitInitialised(ctx context.Context) (*catalog.Snapshot, error) {
	for revision := int64(0); ; {
		snap, err := s.follower.Wait(ctx, revision)
		if err != nil {
			return nil, err
		}
		if snap.Flavor != "" && len(snap.Groups) > 0 && snap.Map != nil {
			return snap, nil
		}
		revision = snap.Revision + 1
	}
}

// defaultSQLMode asks a server for the sql_mode a fresh session has there; when none answers yet, the servers'
// own default is taken.
func (s *Server) defaultSQLMode(ctx context.Context, snap *catalog.Snapshot) string {
	for _, g := range snap.Groups {
		if ctx.Err() != nil {
			break
		}
		if mode, err := s.sqlMode(g.ID); err == nil {
			return mode
		}
	}
	return strings.Join([]string{"STRICT_TRANS_TABLES", "ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"}, ",")
}

func (s *Server) sqlMode(g placement.NodeGroupID) (string, error) {
	c, err := s.pools.Get(g, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{Class: backend.Started})
	if err != nil {
		return "", err
	}
	defer c.Release()
	_, rows, err := c.QueryAll("SELECT @@global.sql_mode", 1)
	if err != nil || len(rows) != 1 {
		return "", err
	}
	return string(rows[0][0]), nil
}

// sequences gives sessions their AUTO_INCREMENT values. Reserving a block is bounded by the store's own timeout.
type sequences struct{ of *sequence.Sequences }

// Next implements exec.Sequence.
func (q sequences) Next(t *catalog.Table, n int) (uint64, error) {
	return q.of.Next(context.Background(), t.ID, n)
}

// Take implements session.Sequences.
func (q sequences) Take(t *catalog.Table, n int) (uint64, bool) { return q.of.Take(t.ID, n) }

// Pass implements session.Sequences.
func (q sequences) Pass(t *catalog.Table, v uint64) bool { return q.of.Pass(t.ID, v) }

// Observe implements exec.Sequence.
func (q sequences) Observe(t *catalog.Table, v uint64) error {
	return q.of.Observe(context.Background(), t.ID, v)
}

// greeting is the version clients are greeted with, the servers' own: MariaDB 10 puts 5.5.5 before its version, and
// clients that know only MySQL then leave alone what MySQL 8 has and it has not (@@transaction_isolation, utf8mb4_0900_ai_ci).
func greeting(version string) string {
	if strings.HasPrefix(version, "10.") && strings.Contains(version, "MariaDB") {
		return "5.5.5-" + version
	}
	return version
}

// listReorganisations returns the reorganisations for skarv.reorganisations.
func (s *Server) listReorganisations(ctx context.Context) ([]session.Reorganisation, error) {
	list, err := reorg.List(ctx, s.store)
	if err != nil {
		return nil, err
	}
	out := make([]session.Reorganisation, len(list))
	for i, r := range list {
		st, err := reorg.StatusOf(ctx, s.store, r, control.Role)
		if err != nil {
			return nil, err
		}
		out[i] = session.Reorganisation{
			ID: r.ID, Kind: r.Kind, State: string(r.State), Outcome: string(r.Outcome), Problem: r.Problem, Partitions: r.Partitions(),
			Paused: r.Paused, Created: r.Created, Pause: r.Pause, Rows: r.Rows, RowsEstimated: r.Rows, Bytes: r.Bytes, Advice: st.Advice,
		}
		if p := st.Progress; p != nil {
			out[i].Rows, out[i].RowsEstimated, out[i].Bytes = p.Rows, p.RowsEstimated, p.Bytes
			out[i].Lag, out[i].ETA, out[i].Throttled = p.Lag, p.ETA, p.Throttled
			if len(p.Waits) > 0 {
				out[i].Waiting = p.Waits[0].What
			}
		}
	}
	return out, nil
}
