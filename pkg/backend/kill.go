package backend

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
)

const (
	killConnection = "KILL "
	killQuery      = "KILL QUERY "
)

// Killed is what Kill has left.
type Killed struct {
	// Left are connections that may still run, because their server could not be asked in time. Who has ended already is not among them.
	Left []*Conn
	// Idle are those on which the server runs no statement. One may be on its way there, which a KILL QUERY before it would not end.
	Idle []*Conn
}

// Kill ends the statements (query true) or the connections of conns from outside: by one login to each server, to all servers at the
// same time, before ctx ends. It asks the servers that the connections are to, which need not be their groups' primaries any more. A
// connection may be named twice; the caller sees to it that no other session gets one meanwhile.
func Kill(ctx context.Context, query bool, conns ...*Conn) (out Killed) {
	verb := killConnection
	if query {
		verb = killQuery
	}
	servers := map[*pool][]*Conn{}
	for _, c := range conns {
		if !slices.Contains(servers[c.pool], c) {
			servers[c.pool] = append(servers[c.pool], c)
		}
	}
	var mu sync.Mutex
	var calls sync.WaitGroup
	for pl, conns := range servers {
		calls.Go(func() {
			k := pl.kill(ctx, verb, conns)
			mu.Lock()
			defer mu.Unlock()
			out.Left, out.Idle = append(out.Left, k.Left...), append(out.Idle, k.Idle...)
		})
	}
	calls.Wait()
	return out
}

// kill is Kill for connections of the pool.
func (p *pool) kill(ctx context.Context, verb string, conns []*Conn) (out Killed) {
	c, err := p.dial(ctx, Profile{NoDB: true})
	if err != nil {
		return Killed{Left: conns}
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	for i, victim := range conns {
		idle, err := p.killOne(c, verb, victim)
		switch {
		case err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread):
			out.Left = append(out.Left, victim)
		case idle:
			out.Idle = append(out.Idle, victim)
		}
		if err != nil && !c.Usable() {
			out.Left = append(out.Left, conns[i+1:]...)
			break
		}
	}
	return out
}

// killOne kills the victim by c, but for the statement of one that is idle. After a restart of the server its number may be another's: a later
// connection's of ours, or that of another account, and each process has its own.
func (p *pool) killOne(c *mysqlconn.Conn, verb string, victim *Conn) (idle bool, err error) {
	o := orphan{group: p.group.ID, thread: victim.ThreadID(), number: victim.number, user: victim.user, pool: p}
	if p.reused(o) {
		return false, nil
	}
	there, does, err := listed(c, o)
	if err != nil || !there {
		return false, err
	}
	if verb == killQuery {
		if does == nothing {
			return true, nil
		}
		victim.killed.Store(true)
	}
	_, err = c.Exec(fmt.Sprint(verb, o.thread))
	return false, err
}
