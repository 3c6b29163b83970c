// Package backend keeps connections to the database servers: a pool for each node group, brought to the session
// state a statement needs, handed out fairly, limited, and watched. It knows which server is a group's primary and
// whether it answers. It does not know SQL, partitions or transactions.
package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// Config sets limits and times; zero values mean the defaults of DefaultConfig.
type Config struct {
	MaxPerGroup    int           // connections to one node group, all profiles together
	MinPerGroup    int           // as many may be in use however slow the group is
	FixedLimit     bool          // MaxPerGroup is the limit; how slow the group is does not matter
	MaxQueue       int           // statements that may wait for a connection to one node group
	DialTimeout    time.Duration // one login
	AcquireTimeout time.Duration // the longest wait for a connection
	ProbeInterval  time.Duration // between two health probes of a server
	FailAfter      time.Duration // a server silent for so long is down: its statements end with an error
	IdleTimeout    time.Duration // connections unused for so long are closed; others are reset as often, as SET GLOBAL is for sessions that begin
	MaxStatements  int           // prepared statements kept on one connection
	TLS            *tls.Config   // for servers whose Node.TLS asks for it
	Accounts       Accounts      // nil: the account of the node itself, for everything
	Log            *slog.Logger
	Registerer     prometheus.Registerer
}

// Accounts says how to log in for clients' statements. Health probes, KILL and Dial use the node's own account.
type Accounts interface {
	// Account returns the account to use on g's primary.
	Account(ctx context.Context, g *catalog.NodeGroup) (user, password string, err error)
	// Known returns nil if the server that c is connected to, with the node's own account, is one of g.
	Known(c *mysqlconn.Conn, g *catalog.NodeGroup) error
	// Admit decides whether a new connection, made with user's account, may be used: the server is one of g, and the account not shut out.
	Admit(c *mysqlconn.Conn, g *catalog.NodeGroup, user string) error
	// Refused is told that a login or Admit failed, and reports whether it is worth another try.
	Refused(g *catalog.NodeGroup, user string, err error) bool
}

// DefaultConfig returns the settings used where Config has zero values.
func DefaultConfig() Config {
	return Config{
		MaxPerGroup:    256,
		MinPerGroup:    8,
		MaxQueue:       10_000,
		DialTimeout:    3 * time.Second,
		AcquireTimeout: time.Second,
		ProbeInterval:  time.Second,
		FailAfter:      5 * time.Second,
		IdleTimeout:    5 * time.Minute,
		MaxStatements:  512,
	}
}

// Pools is the pools of all node groups. Its methods may be called from any goroutine.
type Pools struct {
	cfg     Config
	metrics *metrics
	pools   atomic.Pointer[[]*pool] // indexed by NodeGroupID; nil entries for ids without a group
	// replicas are those that somebody has asked for; never changed in place.
	replicas atomic.Pointer[map[placement.NodeGroupID][]*pool]
	renewed  atomic.Uint64

	mu      sync.Mutex // serialises Apply
	changed chan struct{}
	orphans orphans
}

// NewPools returns Pools without groups. Run must be running for health checks to work.
func NewPools(cfg Config) *Pools {
	d := DefaultConfig()
	orInt := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	orTime := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	orInt(&cfg.MaxPerGroup, d.MaxPerGroup)
	orInt(&cfg.MinPerGroup, d.MinPerGroup)
	orInt(&cfg.MaxQueue, d.MaxQueue)
	orInt(&cfg.MaxStatements, d.MaxStatements)
	orTime(&cfg.DialTimeout, d.DialTimeout)
	orTime(&cfg.AcquireTimeout, d.AcquireTimeout)
	orTime(&cfg.ProbeInterval, d.ProbeInterval)
	orTime(&cfg.FailAfter, d.FailAfter)
	orTime(&cfg.IdleTimeout, d.IdleTimeout)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pools{cfg: cfg, metrics: newMetrics(cfg.Registerer), changed: make(chan struct{}, 1)}
	p.orphans.change = make(chan struct{})
	p.pools.Store(&[]*pool{})
	p.replicas.Store(&map[placement.NodeGroupID][]*pool{})
	return p
}

// Add makes pools for those of groups that have none, and brings those to rest that Apply will. It is called before anybody works by what
// the groups are now.
func (p *Pools) Add(groups []*catalog.NodeGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range groups {
		if pl := p.pool(g.ID); pl != nil {
			pl.announce(g)
		}
	}
	missing := func(g *catalog.NodeGroup) bool { return p.pool(g.ID) == nil }
	if !slices.ContainsFunc(groups, missing) {
		return
	}
	next := slices.Clone(*p.pools.Load())
	for _, g := range groups {
		if more := int(g.ID) + 1 - len(next); more > 0 {
			next = append(next, make([]*pool, more)...)
		}
		if next[g.ID] == nil {
			next[g.ID] = newPool(g, p.cfg, p.metrics, &p.orphans)
		}
	}
	p.replace(next)
}

// Apply makes the pools those of groups. Pools of groups that are gone, or whose primary is another server now,
// are closed; connections in use end with their statement, and are watched until then. Pools of groups whose primary is being changed
// are at rest: see AwaitRest.
func (p *Pools) Apply(groups []*catalog.NodeGroup) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := *p.pools.Load()
	size := 0
	for _, g := range groups {
		size = max(size, int(g.ID)+1)
	}
	next := make([]*pool, size)
	for _, g := range groups {
		if int(g.ID) < len(old) && old[g.ID] != nil && old[g.ID].serves(g) {
			next[g.ID] = old[g.ID]
			next[g.ID].follow(g)
			continue
		}
		next[g.ID] = newPool(g, p.cfg, p.metrics, &p.orphans)
	}
	p.applyReplicas(groups)
	p.replace(next)
}

// Renew makes every pool anew: connections are of no more use, because the process has other accounts now, or none.
func (p *Pools) Renew() {
	p.renewed.Add(1) // before anybody gets a connection of the new accounts
	p.mu.Lock()
	defer p.mu.Unlock()
	next := slices.Clone(*p.pools.Load())
	for i, o := range next {
		if o != nil {
			next[i] = newPool(o.latest.Load(), p.cfg, p.metrics, &p.orphans)
		}
	}
	p.replace(next)
}

// Renewals counts the calls of Renew. Who has read it before he got a connection, and reads the same afterwards, has one by the
// accounts that the process had when he read it first.
func (p *Pools) Renewals() uint64 { return p.renewed.Load() }

// replace makes next the pools, and closes those that are not among them. The caller holds mu.
func (p *Pools) replace(next []*pool) {
	old := *p.pools.Load()
	p.pools.Store(&next)
	for id, o := range old {
		if o != nil && (id >= len(next) || next[id] != o) {
			if id >= len(next) || next[id] == nil {
				p.metrics.forget(o.group)
			}
			o.close()
		}
	}
	p.signal()
}

// signal has Run look for new pools.
func (p *Pools) signal() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *Pools) pool(g placement.NodeGroupID) *pool {
	pools := *p.pools.Load()
	if int(g) >= len(pools) {
		return nil
	}
	return pools[g]
}

// ErrNoSpare is what Get returns for a Spare connection where there is not much room.
var ErrNoSpare = errors.New("backend: no connection to spare")

// Get returns a connection to node group g with the profile and the session state asked for. hint is a connection
// this session used before, which is preferred when it is free; it may be nil. claim decides whether it must wait. The
// caller must call Release or Discard. Errors are *sqlerr.Error: ServerLost when the group's server is down or refuses,
// TooManyUserConns when no connection came free in time or, as far as one can tell, will. Who claims a Spare one gets
// ErrNoSpare where there is none.
func (p *Pools) Get(g placement.NodeGroupID, profile Profile, st *State, hint *Conn, claim Claim) (*Conn, error) {
	pl := p.pool(g)
	if pl == nil {
		return nil, sqlerr.ServerLost.New(fmt.Sprintf("node group %d is not in the topology", g))
	}
	for {
		c, err := pl.ready(profile, st, hint, claim)
		if now := p.pool(g); err != nil && now != nil && now != pl { // it has another primary since
			pl, hint = now, nil
			continue
		}
		return c, err
	}
}

// ready is get of a connection that is in the state asked for, and is not known to be of no use.
func (p *pool) ready(profile Profile, st *State, hint *Conn, claim Claim) (*Conn, error) {
	for {
		c, err := p.get(profile, st, hint, claim)
		if err != nil {
			return nil, err
		}
		if !c.Use(claim.Task) && claim.Task.OnLoop() {
			c.Discard() // waiting for it would hold up all sessions of the Loop
			return nil, sqlerr.ServerLost.New(p.name() + ": this process has no file descriptor left for the connection")
		}
		if c.uses > 1 && (c.doubted || p.probes.Load()-c.since > 1) && c.Stale() {
			c.Discard() // its server was restarted, or ended it, while it was idle
			hint = nil
			continue
		}
		if c.old() {
			c.Dirty = true
		}
		if c.state.ID == st.ID && !c.Dirty {
			return c, nil
		}
		fresh := c.uses == 1
		err = c.sync(st)
		if err == nil {
			return c, nil
		}
		lost := mysqlconn.IsLost(err)
		c.Release() // closed when it was lost, reset before its next use when the server refused
		if fresh || !lost {
			return nil, p.lost(err)
		}
		hint = nil // a connection that died while idle: try the next one, at last a new one
	}
}

// Held returns the connections that owner's claims got and that were not given back: of an owner that has lost track of them. It looks
// at all connections there are.
func (p *Pools) Held(owner any) (held []*Conn) {
	p.eachHeld(owner, func(c *Conn) { held = append(held, c) })
	return held
}

// InterruptHeld interrupts them, and none that owner gives back meanwhile to be another's. It may be called from any goroutine.
func (p *Pools) InterruptHeld(owner any) { p.eachHeld(owner, func(c *Conn) { c.Interrupt() }) }

// eachHeld calls f, which must not wait, with each of them.
func (p *Pools) eachHeld(owner any, f func(*Conn)) {
	p.every(func(pl *pool) {
		pl.mu.Lock()
		defer pl.mu.Unlock()
		for c := range pl.all {
			if !c.idle && c.claim.Owner == owner {
				f(c)
			}
		}
	})
}

// Admit is asked before connections to several groups are taken: it refuses when one of them is down or refuses
// statements, so that nothing is held while waiting for it. It costs a load per group.
func (p *Pools) Admit(groups []placement.NodeGroupID) error {
	for _, g := range groups {
		pl := p.pool(g)
		if pl == nil {
			continue // Get says it
		}
		if e := pl.down.Load(); e != nil {
			return e
		}
		if pl.gate.standing.Load() {
			pl.metrics.refused[refusedEarly].Inc()
			return pl.overloaded()
		}
	}
	return nil
}

// Has reports whether c is a connection to what is the primary of its node group by now, which answers.
func (p *Pools) Has(c *Conn) bool {
	pl := p.pool(c.Group)
	return pl == c.pool && pl.down.Load() == nil
}

// Health is what the last probes said of a node group's primary.
type Health struct {
	Up        bool
	Since     time.Time
	LastError string
	Open      int // connections
	InUse     int
	Limit     int    // of InUse, at present
	Queue     int    // statements that wait for a connection
	Refused   uint64 // statements that got none, since the process was started
	Pressed   bool   // statements wait for a connection, or did in the last moments, because the group is slow
	// Crowded is when the server last refused a connection because it has too many.
	Crowded time.Time
	// Full is since when statements there wait for space on the server's disk; zero: none does.
	Full time.Time
	// Locked is since when statements there wait for the end of a lock of the whole server; zero: none does.
	Locked time.Time
	// ReadOnly is since when read_only is set on the server; zero: it is not.
	ReadOnly time.Time
	// Clock is how far the server's clock is ahead of ours, to the second.
	Clock time.Duration
	// Barred is what the server says that refuses a login with Skarv's own account; "" if it does not.
	Barred string
}

// Up reports whether node group g is not known to be down.
func (p *Pools) Up(g placement.NodeGroupID) bool {
	pl := p.pool(g)
	return pl != nil && pl.down.Load() == nil
}

// Health tells how node group g is.
func (p *Pools) Health(g placement.NodeGroupID) Health {
	pl := p.pool(g)
	if pl == nil {
		return Health{LastError: "not in the topology"}
	}
	return pl.health()
}

// Dial connects to node group g's primary for the caller alone: the connection is not counted, and the caller closes
// it. It works on a group that is down or whose pool is full.
func (p *Pools) Dial(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
	pl := p.pool(g)
	if pl == nil {
		return nil, sqlerr.ServerLost.New(fmt.Sprintf("node group %d is not in the topology", g))
	}
	return pl.dial(ctx, Profile{NoDB: true})
}

// Login is how to connect to a group's primary with Skarv's own account; the group need not have a pool.
func (p *Pools) Login(g *catalog.NodeGroup) mysqlconn.Config { return p.cfg.login(g) }

// Run probes the servers and closes idle connections until ctx ends; then it closes all pools.
func (p *Pools) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { p.endOrphans(ctx); return nil })
	g.Go(func() error {
		watched := map[*pool]bool{}
		for {
			current := map[*pool]bool{}
			p.every(func(pl *pool) {
				current[pl] = true
				if !watched[pl] {
					g.Go(func() error { pl.watch(ctx); return nil })
				}
			})
			watched = current // a pool that left is never back; its watch ends by itself
			select {
			case <-ctx.Done():
				return nil
			case <-p.changed:
			}
		}
	})
	err := g.Wait()
	p.Apply(nil)
	return err
}
