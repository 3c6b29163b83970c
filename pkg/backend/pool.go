package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// pool is the connections to one server.
type pool struct {
	cfg     Config
	group   *catalog.NodeGroup
	metrics *groupMetrics
	orphans *orphans
	hasher  Hasher                            // of Conn.Prepared
	latest  atomic.Pointer[catalog.NodeGroup] // group, with the mark that its server must have by now
	born    time.Time                         // where the pool's clock begins
	probes  atomic.Int64                      // probes begun: the clock of idleness, which costs nothing to read
	replica bool                              // group's Primary is one of its replicas
	down    atomic.Pointer[sqlerr.Error]      // not nil while the server is down: what statements are told

	pressed chan struct{} // someone has to wait
	suspect chan struct{} // the server refuses to write

	// of watch alone
	server string    // that the probe has met
	locked int       // statements that waited for row locks
	asked  time.Time // when the server was asked for it
	looked time.Time // when the server was asked for stalls
	tried  time.Time // when our own account was last tried

	mu sync.Mutex
	// guarded by mu; never held over I/O
	gate    gate // who may hold a connection
	idle    list // connections not in use, longest idle first
	all     map[*Conn]struct{}
	logins  uint64                           // they are numbered
	dials   map[*context.CancelFunc]struct{} // broken off when the server is found to be down
	closed  bool
	rest    *rest     // nil: connections are handed out
	since   time.Time // of the present health
	silent  time.Time // since when probes get no answer; zero: the last one did
	lastErr string

	full        time.Time // since when statements wait for space on the server's disk
	lockedSince time.Time // since when they wait for a lock of all of the server
	readOnly    time.Time // since when read_only is set
	// Connections are of the generation in which their login began. Those of an earlier one may be to a server that has been replaced, and are
	// closed when they come back; those of one before current certainly are.
	generation, current uint64
	barred              string // why the server refuses our own account
	clock               time.Duration

	crowded, crowdedLogged time.Time // when the server last had too many connections, and when that was last logged
}

func newPool(g *catalog.NodeGroup, cfg Config, m *metrics, o *orphans) *pool {
	p := &pool{
		cfg: cfg, group: g, metrics: m.group(g), orphans: o, hasher: NewHasher(), all: map[*Conn]struct{}{}, dials: map[*context.CancelFunc]struct{}{},
		since: time.Now(), born: time.Now(), pressed: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
	}
	p.follow(g)
	floor := cfg.MinPerGroup
	if cfg.FixedLimit {
		floor = cfg.MaxPerGroup
	}
	p.gate.init(cfg.MaxPerGroup, cfg.MaxQueue, floor, cfg.AcquireTimeout, p.since)
	p.gate.refused = func(r refusal) { p.metrics.refused[r].Inc() }
	return p
}

// serves reports whether the pool's connections are those to g's primary, by whatever password.
func (p *pool) serves(g *catalog.NodeGroup) bool {
	a, b := p.group.Primary, g.Primary
	return a.Addr == b.Addr && a.User == b.User && a.TLS == b.TLS && p.group.Name == g.Name && p.group.Origin() == g.Origin()
}

func (p *pool) name() string {
	if p.replica {
		return fmt.Sprintf("replica %s of node group %d", p.group.Primary.Addr, p.group.ID)
	}
	return nameOf(p.group)
}

func nameOf(g *catalog.NodeGroup) string {
	return fmt.Sprintf("node group %d (%s at %s)", g.ID, g.Name, g.Primary.Addr)
}

// get takes a place, and for it an idle connection of the profile or a new one.
func (p *pool) get(profile Profile, st *State, hint *Conn, claim Claim) (*Conn, error) {
	if e := p.down.Load(); e != nil {
		return nil, e
	}
	p.mu.Lock()
	if r := p.rest; r != nil && (r.severed || !p.serving(claim.Owner)) {
		p.mu.Unlock()
		switch {
		case claim.Class == Spare:
			return nil, ErrNoSpare
		case claim.Task.OnLoop():
			return p.getAside(profile, st, hint, claim)
		}
		if err := r.wait(p, claim.Owner, st.timeLimit()); err != nil {
			return nil, err
		}
		return p.get(profile, st, hint, claim)
	}
	if !p.gate.enter(claim) {
		if claim.Class == Spare {
			p.mu.Unlock()
			return nil, ErrNoSpare
		}
		if claim.Task.OnLoop() {
			p.mu.Unlock()
			return p.getAside(profile, st, hint, claim)
		}
		if err := p.wait(claim, st); err != nil {
			p.mu.Unlock()
			return nil, err
		}
		if p.rest != nil && p.rest.severed { // it has begun meanwhile
			p.gate.leave(claim, 0)
			p.mu.Unlock()
			return p.get(profile, st, hint, claim)
		}
		if e := p.down.Load(); e != nil {
			p.gate.leave(claim, 0)
			p.mu.Unlock()
			return nil, e
		}
	}
	if hint != nil && hint.pool == p && hint.idle && hint.profile == profile {
		p.take(hint, claim)
		p.mu.Unlock()
		return hint, nil
	}
	if c := p.idle.find(profile); c != nil {
		p.take(c, claim)
		p.mu.Unlock()
		return c, nil
	}
	return p.connectAside(profile, claim)
}

// getAside is get where it may wait.
func (p *pool) getAside(profile Profile, st *State, hint *Conn, claim Claim) (c *Conn, err error) {
	claim.Task.Blocking(func() { c, err = p.get(profile, st, hint, claim) })
	return c, err
}

// connectAside is connect where it may wait.
func (p *pool) connectAside(profile Profile, claim Claim) (c *Conn, err error) {
	claim.Task.Blocking(func() { c, err = p.connect(profile, claim) })
	return c, err
}

// unidle takes a connection out of the idle ones, for whoever has it as his hint, too; p.mu is held.
func (p *pool) unidle(c *Conn) {
	p.idle.remove(c)
	p.gate.free--
	c.idle = false
}

// take marks an idle connection as in use; p.mu is held.
func (p *pool) take(c *Conn, claim Claim) {
	p.unidle(c)
	c.uses++
	c.claim = claim
}

// wait queues for a place; p.mu is held at the call and at return.
func (p *pool) wait(claim Claim, st *State) error {
	select {
	case p.pressed <- struct{}{}:
	default:
	}
	err := p.gate.wait(&p.mu, claim, st.timeLimit())
	if err == nil || !isRefusal(err) {
		return err
	}
	return p.overloadedLocked()
}

// overloaded is what a statement is told that is refused.
func (p *pool) overloaded() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.overloadedLocked()
}

func (p *pool) overloadedLocked() error {
	e := sqlerr.TooManyUserConns.New("")
	e.Message = fmt.Sprintf("%s is overloaded: %d connections to it are in use and %d statements wait for one; try again later",
		p.name(), p.gate.inUse, p.gate.queue.n)
	return e
}

// connect makes a connection for a place that was taken; p.mu is held when it is called, not when it returns.
func (p *pool) connect(profile Profile, claim Claim) (*Conn, error) {
	if p.closed {
		p.gate.leave(claim, 0)
		p.mu.Unlock()
		return nil, sqlerr.ServerLost.New(p.name() + " has left the topology")
	}
	p.gate.dialing++
	var victim *Conn
	if len(p.all)+p.gate.dialing > p.cfg.MaxPerGroup && p.idle.front != nil {
		// Idle connections of another profile only: one of them makes room.
		victim = p.idle.front
		p.unidle(victim)
		delete(p.all, victim)
	}
	p.mu.Unlock()
	if victim != nil {
		_ = victim.Close()
	}
	return p.dialCounted(profile, claim)
}

// dialCounted dials for a place that was taken, and counted in gate.dialing. Without success the place is given back.
func (p *pool) dialCounted(profile Profile, claim Claim) (_ *Conn, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.DialTimeout)
	defer cancel()
	p.mu.Lock()
	p.dials[&cancel] = struct{}{}
	generation := p.generation
	p.mu.Unlock()
	if p.down.Load() != nil {
		cancel() // setDown may have looked before this dial was there to be found
	}
	mc, user, err := p.login(ctx, profile)
	crowded := sqlerr.HasCode(err, sqlerr.TooManyConnections, sqlerr.TooManyUserConns)
	if crowded {
		p.noteCrowded(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.dials, &cancel)
	defer func() {
		if err != nil {
			p.gate.leave(claim, 0)
		}
		p.gate.dialed()
	}()
	if err != nil {
		p.metrics.dialErrors.Inc()
		if crowded {
			p.gate.crowded()
		}
		if e := p.down.Load(); e != nil {
			return nil, e
		}
		return nil, sqlerr.ServerLost.New(p.name() + ": " + err.Error())
	}
	if p.closed {
		mc.Interrupt() // Close would write to the server, under the lock
		_ = mc.Close()
		return nil, sqlerr.ServerLost.New(p.name() + " has left the topology")
	}
	if e := p.down.Load(); e != nil { // found out meanwhile: nobody would interrupt this connection
		mc.Interrupt()
		_ = mc.Close()
		return nil, e
	}
	if p.rest != nil && p.rest.severed {
		mc.Interrupt()
		_ = mc.Close()
		return nil, sqlerr.ServerLost.New(p.name() + ": another server is being made its primary")
	}
	p.lastErr = "" // it is there again, before the next probe
	p.logins++
	c := &Conn{Conn: mc, Group: p.group.ID, number: p.logins, user: user, pool: p, profile: profile, state: NewState("", nil), uses: 1, begun: p.probes.Load(), claim: claim, generation: generation}
	p.all[c] = struct{}{}
	return c, nil
}

// crowdedAgain is how long after it was logged that the server has too many connections it is logged again.
const crowdedAgain = time.Minute

// noteCrowded notes that the server has too many connections.
func (p *pool) noteCrowded(err error) {
	now := time.Now()
	p.mu.Lock()
	again := now.Sub(p.crowdedLogged) >= crowdedAgain
	if p.crowded = now; again {
		p.crowdedLogged = now
	}
	p.mu.Unlock()
	if again {
		p.cfg.Log.Warn("a server takes no more connections: raise its max_connections, or lower backend.max_connections", "group", p.group.ID, "addr", p.group.Primary.Addr, "error", err)
	}
}

// login is dial with the account for clients' statements, which it returns.
func (p *pool) login(ctx context.Context, profile Profile) (c *mysqlconn.Conn, user string, err error) {
	a := p.cfg.Accounts
	if a == nil {
		c, err = p.dial(ctx, profile)
		return c, p.group.Primary.User, err
	}
	for first := true; ; first = false {
		var password string
		if user, password, err = a.Account(ctx, p.latest.Load()); err != nil {
			return nil, "", err
		}
		if c, err = p.dialAs(ctx, profile, user, password); err == nil {
			return c, user, nil
		}
		if !a.Refused(p.group, user, err) || !first {
			return nil, "", err
		}
	}
}

// dial logs in to the primary with Skarv's own account.
func (p *pool) dial(ctx context.Context, profile Profile) (*mysqlconn.Conn, error) {
	n := p.latest.Load().Primary
	return p.dialAs(ctx, profile, n.User, n.Password)
}

func (p *pool) dialAs(ctx context.Context, profile Profile, user, password string) (*mysqlconn.Conn, error) {
	g := p.latest.Load()
	cfg := p.cfg.login(g)
	cfg.Name = p.name()
	if user != cfg.User {
		cfg.Check = func(c *mysqlconn.Conn) error { return p.cfg.Accounts.Admit(c, g, user) }
	}
	cfg.User, cfg.Password, cfg.Caps = user, password, profile.Caps
	return mysqlconn.Dial(ctx, cfg)
}

// login is how to connect to a group's primary with Skarv's own account.
func (c *Config) login(g *catalog.NodeGroup) mysqlconn.Config {
	n := g.Primary
	cfg := mysqlconn.Config{
		Addr: n.Addr, Name: nameOf(g), User: n.User, Password: n.Password, Timeout: c.DialTimeout,
	}
	cfg.TLS, cfg.PlainWithoutTLS = n.ClientTLS(c.TLS)
	if c.Accounts != nil {
		cfg.Check = func(s *mysqlconn.Conn) error { return c.Accounts.Known(s, g) }
	}
	return cfg
}

// put takes a connection back.
func (p *pool) put(c *Conn) {
	if !c.Usable() || c.killed.Load() || p.down.Load() != nil {
		p.discard(c)
		return
	}
	if c.ReadOnly() {
		// Another server may be the primary by now: connections are to be made to where the group's address leads.
		p.discard(c)
		select {
		case p.suspect <- struct{}{}:
		default:
		}
		return
	}
	if c.LastStatus()&wire.StatusInTrans != 0 {
		// Nobody commits what its holder did not: closing the connection rolls it back.
		p.discard(c)
		return
	}
	p.mu.Lock()
	if c.idle {
		// Two sessions would hold it, and the list of idle connections would become a ring.
		p.mu.Unlock()
		p.cfg.Log.Error("connection released twice", "group", p.group.ID)
		return
	}
	if p.closed || c.generation < p.generation {
		p.mu.Unlock()
		p.discard(c)
		return
	}
	c.Use(nil) // it is nobody's now
	c.idle, c.doubted = true, false
	c.since = p.probes.Load()
	p.idle.push(c)
	p.gate.free++
	p.gate.leave(c.claim, c.took)
	c.took, c.claim.Owner = 0, nil
	p.mu.Unlock()
}

func (p *pool) discard(c *Conn) {
	lost := !c.Usable()
	if lost {
		// Registered before whoever used it goes on: its server may still be busy with what it was sent.
		p.orphans.add(orphan{p.group.ID, c.ThreadID(), c.number, c.user, p})
	}
	_ = c.Close()
	p.mu.Lock()
	for o := p.idle.front; lost && o != nil; o = o.next {
		o.doubted = true
	}
	if _, there := p.all[c]; there {
		delete(p.all, c)
		p.gate.leave(c.claim, c.took)
	}
	p.mu.Unlock()
}

// renew gives up the connections there are, for their server may have been replaced: idle ones now, those in use when they come back. replaced: it
// certainly has been, so those that sessions keep are ended, too, but for what was made since the last time.
func (p *pool) renew(replaced bool) {
	p.mu.Lock()
	if replaced {
		if p.readOnly.IsZero() { // else those of this generation were made after the old server had become read-only
			p.generation++
		}
		p.current = p.generation
	}
	p.generation++
	var victims []*Conn
	for c := p.idle.front; c != nil; {
		next := c.next
		p.unidle(c)
		delete(p.all, c)
		victims = append(victims, c)
		c = next
	}
	p.mu.Unlock()
	for _, c := range victims {
		_ = c.Close()
	}
}

// endReplaced ends the connections to a server that was replaced and whose sessions keep them: their transactions, locks and temporary tables are of
// no more use. What a statement runs on is ended when the statement has ended.
func (p *pool) endReplaced() {
	p.mu.Lock()
	var victims []*Conn
	for c := range p.all {
		if c.generation < p.current && c.claim.Held && !c.busy.Load() {
			victims = append(victims, c)
		}
	}
	p.mu.Unlock()
	for _, c := range victims {
		c.InterruptFor(errReplaced)
	}
}

var errReplaced = errors.New("another server is the primary of its node group")

// close ends the pool: idle connections now, those in use when they come back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	var victims []*Conn
	for c := p.idle.front; c != nil; c = c.next {
		victims = append(victims, c)
		c.idle = false
		delete(p.all, c)
	}
	p.idle, p.gate.free = list{}, 0
	p.gate.close(sqlerr.ServerLost.New(p.name() + " has left the topology"))
	p.endRest()
	p.mu.Unlock()
	for _, c := range victims {
		_ = c.Close()
	}
}

// list is a doubly linked list of idle connections, longest idle first.
type list struct{ front, back *Conn }

func (l *list) push(c *Conn) {
	c.prev, c.next = l.back, nil
	if l.back == nil {
		l.front = c
	} else {
		l.back.next = c
	}
	l.back = c
}

func (l *list) remove(c *Conn) {
	if c.prev == nil {
		l.front = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.back = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}

// find returns the connection of the profile that has been idle for longest.
func (l *list) find(profile Profile) *Conn {
	for c := l.front; c != nil; c = c.next {
		if c.profile == profile {
			return c
		}
	}
	return nil
}
