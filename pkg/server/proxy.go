package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/account"
	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/event"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/plancache"
	"skarv/pkg/planner"
	"skarv/pkg/processlist"
	"skarv/pkg/reorg"
	"skarv/pkg/sequence"
	"skarv/pkg/session"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/statistics"
	"skarv/pkg/variable"
	"skarv/pkg/virtualdb"
	"skarv/pkg/workspace"
)

// runProxy waits until there is a cluster to serve, then serves MySQL clients until ctx ends.
func (s *Server) runProxy(ctx context.Context) error {
	snap, fresh, err := s.refuseUntilReady(ctx)
	if err != nil {
		return nil //nolint:nilerr // the context ended first
	}
	dialect := sqlparse.NewDialect(snap.Flavor == catalog.MariaDB, snap.ServerVersion)
	plans, err := planner.New()
	if err != nil {
		return err
	}
	counted := metrics.NewStatements()
	load := metrics.NewLoadMeter(counted, s.follower.Snapshot)
	s.registry.MustRegister(counted, load)
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
		Accounts:  accountChanges{account.Store{Topology: s.store}, s.controller()},
		Clients:   s.sessions,
		Metrics:   counted,
		Digests:   s.digests,
		Replicas:  s.lag,
		SlowQuery: time.Duration(s.cfg.SlowQuery),
		PackSize:  s.cfg.Backend.PackSize,
		MaxText:   s.cfg.MySQL.MaxAllowedPacket,
		SQLMode:   fresh.sqlMode,
		Timeouts:  variable.Timeouts{Wait: time.Duration(s.cfg.MySQL.IdleTimeout), Servers: fresh.timeouts},
		Buffers:   session.NewBuffers(dialect),
		Log:       s.log,
	}
	cfg.Peers = peers{s}
	cfg.Transactions = s.coordinator
	cfg.HoldCommits, cfg.WatchCommits = s.holdCommits, s.watchCommits
	cfg.Cluster = &virtualdb.Cluster{
		Pools:           s.pools,
		Clients:         s.sessions,
		Reorganisations: s.listReorganisations,
		SchemaChanges:   s.listSchemaChanges,
		Statements:      s.listStatements,
		EventStates:     func(ctx context.Context) (map[catalog.EventKey]event.State, error) { return event.States(ctx, s.store) },
		PartitionLoad: func(ctx context.Context) ([]float64, error) {
			rates, _, _, err := s.partitionLoad(ctx, true)
			return rates, err
		},
		Transactions: s.listTransactions,
	}
	tlsConfig, _ := s.cfg.MySQL.tlsConfig(s.log)
	proxyNetworks, _ := s.cfg.MySQL.proxyNetworks()
	secret, err := s.store.Secret(ctx, "logins") // one for all processes: by their differences one could tell which users there are
	if err != nil {
		s.log.WarnContext(ctx, "the secret of logins could not be read; this process has its own", "error", err)
	}
	var loop func() *socket.Loop
	if s.loops != nil {
		loop = s.loops.Next
	}
	proxy, err := mysqlserver.Listen(mysqlserver.Config{
		Loop:             loop,
		Listeners:        s.listeners(),
		NewHandler:       func(c *mysqlserver.Conn) mysqlserver.Handler { return session.New(cfg, c) },
		Refuse:           s.refuse,
		ServerVersion:    func() string { return greeting(s.follower.Snapshot().ServerVersion) },
		TLS:              tlsConfig,
		Secret:           secret,
		RequireTLS:       s.cfg.MySQL.RequireTLS,
		ProxyNetworks:    proxyNetworks,
		IDBase:           s.idBase,
		IDBits:           slotShift,
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
	ended := make(chan struct{})
	events := s.newEvents(proxy)
	var g errgroup.Group
	g.Go(func() error { return events.Run(ctx) })
	g.Go(func() error { return s.lag.Run(ctx) })
	g.Go(func() error {
		load.Run(ctx)
		return nil
	})
	g.Go(func() error {
		s.runDrain(ctx, ended)
		return nil
	})
	err = proxy.Run(ctx)
	close(ended)
	return errors.Join(err, g.Wait())
}

// refuse tells clients that the cluster was given up: it has no accounts any more.
func (s *Server) refuse() *sqlerr.Error {
	if len(s.follower.Snapshot().Groups) == 0 {
		return session.NoCluster()
	}
	return nil
}

// drainTimeout is how long statements may go on when the process is told to stop, and every drainTold it is told who does.
const (
	drainTimeout = 10 * time.Second
	drainTold    = 3 * time.Second
)

// runDrain waits for ctx to end, then until ended for clients whose statements go on. When draining is over they must not wait for their
// servers either.
func (s *Server) runDrain(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	over := time.After(drainTimeout)
	tick := time.NewTicker(drainTold)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-over:
			s.sessions.Interrupt()
		case now := <-tick.C:
			if n, longest := working(s.sessions.Processes(), now); n > 0 {
				s.log.Warn("the stop waits for statements", "statements", n, "longest", longest)
			}
		}
	}
}

// workingShown bounds the clients that are named.
const workingShown = 5

// working is how many of clients have a statement that runs, and which have had it for the longest time. The text of statements is left
// out, for it has values.
func working(clients []processlist.Process, now time.Time) (n int, longest []string) {
	clients = slices.DeleteFunc(clients, func(p processlist.Process) bool { return p.Command == "Sleep" || p.Command == "" })
	slices.SortFunc(clients, func(a, b processlist.Process) int { return a.Since.Compare(b.Since) })
	for _, p := range clients[:min(len(clients), workingShown)] {
		longest = append(longest, fmt.Sprintf("client %d of %s at %s: %s for %v", p.ID, p.User, p.Host, p.Command, now.Sub(p.Since).Round(time.Second)))
	}
	return len(clients), longest
}

// listeners are those of MySQL clients.
func (s *Server) listeners() (list []net.Listener) {
	for _, l := range []net.Listener{s.mysql, s.unix} {
		if l != nil {
			list = append(list, l)
		}
	}
	return list
}

// refuseUntilReady waits for a cluster, a slot in it and a server that answers, and tells clients meanwhile what is waited for.
func (s *Server) refuseUntilReady(ctx context.Context) (snap *catalog.Snapshot, fresh freshSession, err error) {
	refusing, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error {
		mysqlserver.Refuse(refusing, s.listeners(), func() *sqlerr.Error {
			why := "starting"
			if err := s.Ready(); err != nil {
				why = err.Error()
			}
			e := sqlerr.UnknownError.New("no clients are served yet: " + why)
			return e
		})
		return nil
	})
	defer func() {
		stop()
		_ = g.Wait()
	}()
	if snap, err = s.waitInitialised(ctx); err != nil {
		return nil, fresh, err
	}
	select {
	case <-s.admitted:
	case <-ctx.Done():
		return nil, fresh, ctx.Err()
	}
	fresh, err = s.freshSession(ctx, snap.Flavor)
	return snap, fresh, err
}

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

// sqlModeRetry is the pause before the servers are asked for their sql_mode again.
const sqlModeRetry = 200 * time.Millisecond

// freshSession is what a session has of the servers' settings that has set nothing.
type freshSession struct {
	sqlMode  string
	timeouts [5]string // variable.Timeouts.Servers
}

// freshSession asks the servers for the sql_mode of a fresh session until one of them tells. Every session begins with it, on
// whatever server: no other could be taken in its place, for clients wrote their statements for this one.
func (s *Server) freshSession(ctx context.Context, flavor catalog.Flavor) (fresh freshSession, err error) {
	for told := false; ; {
		var last error
		for _, g := range s.groups() {
			fresh, err := s.askFresh(g, flavor)
			if err == nil {
				return fresh, nil
			}
			last = err
		}
		if !told && last != nil {
			told = true
			s.log.WarnContext(ctx, "no node group answers yet: clients are served when one does", "error", last)
		}
		if err := pause.For(ctx, sqlModeRetry); err != nil {
			return fresh, err
		}
	}
}

func (s *Server) askFresh(g placement.NodeGroupID, flavor catalog.Flavor) (fresh freshSession, err error) {
	c, err := s.pools.Get(g, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{Class: backend.Started})
	if err != nil {
		return fresh, err
	}
	defer c.Release()
	ask := "SELECT @@global.sql_mode, @@global.net_read_timeout, @@global.net_write_timeout"
	if flavor == catalog.MariaDB {
		ask += ", @@global.idle_transaction_timeout, @@global.idle_readonly_transaction_timeout, @@global.idle_write_transaction_timeout"
	}
	_, rows, err := c.QueryAll(ask, 1)
	if err != nil {
		return fresh, err
	}
	if len(rows) != 1 {
		return fresh, errors.New("no sql_mode")
	}
	fresh.sqlMode = string(rows[0][0])
	for i, v := range rows[0][1:] {
		fresh.timeouts[i] = string(v)
	}
	return fresh, nil
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
func (s *Server) listReorganisations(ctx context.Context) ([]virtualdb.Reorganisation, error) {
	list, err := reorg.List(ctx, s.store)
	if err != nil {
		return nil, err
	}
	out := make([]virtualdb.Reorganisation, len(list))
	for i, r := range list {
		st, err := reorg.StatusOf(ctx, s.store, r, control.Role)
		if err != nil {
			return nil, err
		}
		out[i] = virtualdb.Reorganisation{
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

// listSchemaChanges returns the schema changes for skarv.schema_changes.
func (s *Server) listSchemaChanges(ctx context.Context) ([]virtualdb.SchemaChange, error) {
	jobs, err := control.Jobs(ctx, s.store)
	out := make([]virtualdb.SchemaChange, len(jobs))
	for i, j := range jobs {
		out[i] = virtualdb.SchemaChange{
			ID: j.ID, State: j.State, Statement: j.What, User: j.User, Database: j.Database, Progress: j.Progress, Problem: j.Problem, Error: j.Error, Created: j.Created,
		}
	}
	return out, err
}
