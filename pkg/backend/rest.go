package backend

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// A pool is at rest while its group's primary is changed (catalog.Switchover): nobody gets a connection, and who asks for one waits for
// the end of the rest, unless he has one already. Those who have one keep it until they give it back, or for as long as they may; then their work is rolled back, and
// whoever keeps a connection all the same, for a lock or a temporary table, loses it.
//
// rest is one such time. Whoever asks looks for it under the lock under which places are taken: once AwaitRest has seen the pool without
// any, nothing is sent to the server until the rest is over.
type rest struct {
	id      string
	until   time.Time     // nobody waits for longer
	over    chan struct{} // closed at its end
	severed bool          // the connections in use are of no use any more
}

// Owner is who asks for connections and has them (Claim).
type Owner interface {
	// Evict asks it to give up its transaction, on another goroutine and perhaps repeatedly. One that commits does not.
	Evict()
	// UntilKilled returns a context for the time in which it waits: it ends with a KILL, after most at the latest. done must be called; it returns
	// what a statement fails with that a KILL has ended, nil without one.
	UntilKilled(most time.Duration) (ctx context.Context, done func() error)
}

const (
	evictEvery = 20 * time.Millisecond // owners are asked
	evictFor   = 2 * time.Second       // and then lose their connections
)

// announce takes notice of what the catalog is about to say of the group: a rest begins before anybody works by it.
func (p *pool) announce(g *catalog.NodeGroup) {
	if g.Switchover == nil || !p.serves(g) {
		return
	}
	p.latest.Store(g)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beginRest(g.Switchover)
}

// follow takes notice of what the catalog says of the group by now.
func (p *pool) follow(g *catalog.NodeGroup) {
	p.latest.Store(g)
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := g.Switchover; s != nil {
		p.beginRest(s)
	} else {
		p.endRest()
	}
}

// beginRest begins the rest for a switchover, in place of that for another one; p.mu is held.
func (p *pool) beginRest(s *catalog.Switchover) {
	if p.rest != nil && p.rest.id != s.ID {
		p.endRest()
	}
	if p.rest == nil && !p.closed {
		p.rest = &rest{id: s.ID, until: time.Now().Add(s.Patience), over: make(chan struct{})}
	}
}

// serving reports whether an owner has a connection already: without a further one it might not give that back. p.mu is held.
func (p *pool) serving(owner Owner) bool {
	if owner == nil {
		return false
	}
	for c := range p.all {
		if !c.idle && c.claim.Owner == owner {
			return true
		}
	}
	return false
}

// endRest ends the rest, if there is one; p.mu is held.
func (p *pool) endRest() {
	if p.rest != nil {
		close(p.rest.over)
		p.rest = nil
	}
}

// wait returns when the rest is over, or a KILL ends the wait of owner. limit is the statement's own limit of time, 0 without one.
func (r *rest) wait(p *pool, owner Owner, limit time.Duration) error {
	patience := time.Until(r.until)
	if limit > 0 {
		patience = min(patience, limit)
	}
	ctx, done := waiting(owner, patience)
	select {
	case <-r.over:
		return done()
	case <-ctx.Done():
		if err := done(); err != nil {
			return err
		}
		return sqlerr.ServerLost.New(fmt.Sprintf("%s: another server is being made its primary, which takes too long; try again", p.name()))
	}
}

// waiting is owner's UntilKilled; nobody can end the wait of nil.
func waiting(owner Owner, most time.Duration) (ctx context.Context, done func() error) {
	if owner != nil {
		return owner.UntilKilled(most)
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	return ctx, func() error { cancel(); return nil }
}

// errNoRest: the group's primary is not being changed any more.
var errNoRest = errors.New("backend: the node group is not at rest")

// AwaitRest returns when, of a node group whose primary is being changed, no connection is in use any more, and no statement can be running
// on its server whose connection this process has closed; it sees to that. It returns an error if the rest, or ctx, ends before.
func (p *Pools) AwaitRest(ctx context.Context, g *catalog.NodeGroup) error {
	pl, s := p.pool(g.ID), g.Switchover
	if pl == nil || s == nil {
		return errNoRest
	}
	err := pl.awaitRest(ctx, s.ID, s.Drain)
	for end := time.Now().Add(evictFor); errors.Is(err, errInUse) && time.Now().Before(end); {
		pl.evictOwners()
		err = pl.awaitRest(ctx, s.ID, evictEvery)
	}
	if errors.Is(err, errInUse) {
		err = pl.sever(s.ID)
	}
	if err != nil || s.Lost {
		return err
	}
	return p.AwaitOrphans(ctx, []placement.NodeGroupID{g.ID})
}

// errInUse: connections are in use still.
var errInUse = errors.New("backend: connections of the node group are in use")

// awaitRest waits until no connection is in use, for as long as patience; then it returns errInUse.
func (p *pool) awaitRest(ctx context.Context, id string, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		p.mu.Lock()
		if p.rest == nil || p.rest.id != id {
			p.mu.Unlock()
			return errNoRest
		}
		if p.gate.empty() {
			p.mu.Unlock()
			return nil
		}
		if p.gate.emptied == nil {
			p.gate.emptied = make(chan struct{})
		}
		emptied, over := p.gate.emptied, p.rest.over
		p.mu.Unlock()
		select {
		case <-emptied:
		case <-over:
		case <-timer.C:
			return errInUse
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// evictOwners asks those who have connections to give up their transactions.
func (p *pool) evictOwners() {
	owners := map[Owner]bool{}
	p.mu.Lock()
	for c := range p.all {
		if c.claim.Owner != nil && !c.idle {
			owners[c.claim.Owner] = true
		}
	}
	p.mu.Unlock()
	var calls sync.WaitGroup
	for owner := range owners {
		calls.Go(owner.Evict)
	}
	calls.Wait()
}

// sever makes the connections that are in use useless: what was sent on them is ended as that of orphans.
func (p *pool) sever(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rest == nil || p.rest.id != id {
		return errNoRest
	}
	p.rest.severed = true
	p.severAll()
	return nil
}

// severAll interrupts what is in use and being made; p.mu is held.
func (p *pool) severAll() {
	for c := range p.all {
		if !c.idle {
			p.orphans.add(orphan{p.group.ID, c.ThreadID(), c.number, c.user, p})
			c.Interrupt()
		}
	}
	for cancel := range p.dials {
		(*cancel)()
	}
}
