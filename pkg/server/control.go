package server

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/session"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
)

// runControl takes part in the controllers' election, if that is this process's role.
func (s *Server) runControl(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if s.has(RoleController) {
		cfg := reorg.Config{
			Store: s.store, Follower: s.follower, Login: s.pools.Login, Log: s.log, Registerer: s.registry,
			Ask: s.askDrained, Times: reorg.Times{ReplicaLag: time.Duration(s.cfg.Move.ReplicaLag)},
		}
		if s.options.Reorg != nil {
			s.options.Reorg(&cfg)
		}
		c := control.New(control.Config{
			Store: s.store, Follower: s.follower, Addr: s.adminAddr(), Member: s.id, Log: s.log, Reorg: reorg.New(cfg), Login: s.pools.Login, Servers: s.servers,
			Retry: s.options.ControlRetry, FailoverAfter: time.Duration(s.cfg.Failover.After),
		})
		g.Go(func() error { return c.Run(ctx) })
		meter := newClusterMeter(s.store, c.Leads)
		s.registry.MustRegister(meter)
		g.Go(func() error { meter.run(ctx); return nil })
		// Every controller looks after prepared transactions, not the elected one alone: it is safe, and locks are not
		// held until a dead leader's lease is over.
		g.Go(func() error { return s.recoverer.Run(ctx) })
	}
	if !s.has(RoleController) {
		s.registry.MustRegister(newClusterMeter(s.store, nil))
	}
	g.Go(func() error { return s.runThaw(ctx) })
	return g.Wait()
}

// askDrained asks a process when nothing works there by a partition map older than epoch.
func (s *Server) askDrained(ctx context.Context, m topology.Member, epoch uint64) (a reorg.Answer, err error) {
	if m.ID == s.id {
		return s.awaitDrained(ctx, epoch)
	}
	err = s.ask(m, func(c adminv1.AdminClient) error {
		r, err := c.AwaitDrained(ctx, &adminv1.AwaitDrainedRequest{Epoch: epoch})
		a = reorg.Answer{Incarnation: r.GetIncarnation(), Drained: r.GetEpoch(), Locked: int(r.GetLocked())}
		for _, g := range r.GetPressed() {
			a.Pressed = append(a.Pressed, placement.NodeGroupID(g))
		}
		return err
	})
	return a, err
}

// awaitDrained is askDrained of this process.
func (s *Server) awaitDrained(ctx context.Context, epoch uint64) (a reorg.Answer, err error) {
	drained, slot, err := s.presence.AwaitDrained(ctx, epoch)
	a = reorg.Answer{Drained: drained, Locked: s.barrier.Kept()}
	if slot != nil {
		a.Incarnation = slot.Incarnation
	}
	if snap := s.follower.Snapshot(); snap != nil {
		for _, g := range snap.Groups {
			if s.pools.Health(g.ID).Pressed {
				a.Pressed = append(a.Pressed, g.ID)
			}
		}
	}
	return a, err
}

// ddl is the sessions' way to the controller.
func (s *Server) ddl() session.DDL {
	return schemaChanges{s.controller()}
}

// controller is this process's way to the controller, wherever that runs.
func (s *Server) controller() *control.Client {
	return &control.Client{Store: s.store, Follower: s.follower, Servers: s.servers, Log: s.log, Member: s.id, LockHolders: s.lockHolders, Reaches: s.reaches}
}

// schemaChanges are the requests of sessions to the controller.
type schemaChanges struct{ client *control.Client }

// DDL implements session.DDL.
func (d schemaChanges) DDL(ctx context.Context, r session.DDLRequest) (session.DDLResult, error) {
	res, err := d.client.DDL(ctx, control.DDLRequest{
		SQL: r.SQL, User: r.User, Roles: r.Roles, Made: r.Made,
		Session: schema.Session{DB: r.Database, SQLMode: r.SQLMode, Charset: r.Charset, Collation: r.Collation, Set: r.Session},
	})
	out := session.DDLResult{Affected: res.Affected, Made: res.Made}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, diagnostics.Condition{Level: w.Level, Code: w.Code, Message: w.Message})
	}
	return out, err
}

// accountChanges are the statements of sessions about accounts.
type accountChanges struct {
	store  account.Store
	client *control.Client
}

// Run implements session.Accounts.
func (a accountChanges) Run(ctx context.Context, st *account.Statement, by account.Session) (notes []*sqlerr.Error, err error) {
	notes, revision, err := a.store.Run(ctx, st, by)
	return notes, a.shown(ctx, revision, err)
}

// Own implements session.Accounts.
func (a accountChanges) Own(ctx context.Context, name catalog.AccountName, k catalog.RoutineKey) error {
	revision, err := a.store.Own(ctx, name, k)
	return a.shown(ctx, revision, err)
}

// Forget implements session.Accounts.
func (a accountChanges) Forget(ctx context.Context, k catalog.RoutineKey, snap *catalog.Snapshot) error {
	revision, err := a.store.Forget(ctx, k, snap)
	return a.shown(ctx, revision, err)
}

// shown waits for the state of the revision, and makes an *sqlerr.Error of err.
func (a accountChanges) shown(ctx context.Context, revision int64, err error) error {
	if revision != 0 {
		a.client.Await(ctx, revision) // a login just after it is answered right
	}
	if _, told := errors.AsType[*sqlerr.Error](err); err == nil || told {
		return err
	}
	if errors.Is(err, context.Canceled) {
		e := sqlerr.QueryInterrupted.New()
		if errors.Is(err, account.ErrOpen) {
			e.Message += "; " + account.ErrOpen.Error()
		}
		return e
	}
	return sqlerr.UnknownError.New("accounts cannot be changed now: " + err.Error())
}
