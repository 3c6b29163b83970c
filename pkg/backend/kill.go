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

// Kill ends the statements (query true) or the connections of conns from outside: by one login to each server, to all servers at the
// same time. It asks the servers that the connections are to, which need not be their groups' primaries any more. left are those
// that may still run, because their server could not be asked before ctx ended; who has ended already is not among them. A
// connection may be named twice; the caller sees to it that no other session gets one meanwhile.
func Kill(ctx context.Context, query bool, conns ...*Conn) (left []*Conn) {
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
			alive := pl.kill(ctx, verb, conns)
			mu.Lock()
			defer mu.Unlock()
			left = append(left, alive...)
		})
	}
	calls.Wait()
	return left
}

// kill is Kill for connections of the pool.
func (p *pool) kill(ctx context.Context, verb string, conns []*Conn) (left []*Conn) {
	c, err := p.dial(ctx, Profile{NoDB: true})
	if err != nil {
		return conns
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	for i, victim := range conns {
		err := p.killOne(c, verb, victim)
		if err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
			left = append(left, victim)
		}
		if err != nil && !c.Usable() {
			return append(left, conns[i+1:]...)
		}
	}
	return left
}

// killOne kills the victim by c. After a restart of the server its number may be another's: a later connection's of ours, or that of
// another account, and each process has its own.
func (p *pool) killOne(c *mysqlconn.Conn, verb string, victim *Conn) error {
	o := orphan{group: p.group.ID, thread: victim.ThreadID(), number: victim.number, user: victim.user, pool: p}
	if p.reused(o) {
		return nil
	}
	if there, _, err := listed(c, o); err != nil || !there {
		return err
	}
	if verb == killQuery {
		victim.killed.Store(true)
	}
	_, err := c.Exec(fmt.Sprint(verb, o.thread))
	return err
}
