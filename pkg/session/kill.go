package session

import (
	"context"
	"sync"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

func (s *Session) killStatement(p *plan.Plan) error {
	id := p.Operand.Const
	if p.Operand.Arg >= 0 {
		id = s.argument(p.Operand.Arg)
	}
	return s.kill(parseUint(id.Raw), p.Topic == "query")
}

// kill ends another session of this process, or only its statement.
func (s *Session) kill(id uint64, query bool) error {
	t := s.cfg.Registry.get(uint32(id))
	if t == nil || uint64(uint32(id)) != id {
		return sqlerr.UnknownThread.New(id)
	}
	if t.activity.process().User != s.user && s.account.Privilege("*") < catalog.Admin {
		return sqlerr.KillDenied.New(id)
	}
	if t == s {
		if err := s.fail(sqlerr.QueryInterrupted.New()); err != nil || query {
			return err
		}
		return errKilled
	}
	t.end(query)
	return s.ok(wire.OK{})
}

// end stops the session's running statement from another goroutine, and unless query is set the session as well.
func (s *Session) end(query bool) {
	if !query {
		s.killed.Store(true)
	}
	s.kills.Add(1)
	s.running.each(func(c *backend.Conn) {
		ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
		defer cancel()
		// The statement may end meanwhile; then there is nothing to kill.
		if err := s.cfg.Pools.Kill(ctx, c.Group, c.ThreadID(), true); err != nil && !query {
			c.Interrupt() // its server does not answer: the session ends all the same
		}
	})
	if !query {
		s.runner.Interrupt(sqlerr.QueryInterrupted.New())
		s.conn.Terminate(sqlerr.QueryInterrupted.New())
	}
}

const killTimeout = 5 * time.Second

// running is the connections a session's statement runs on. A connection cannot leave while a KILL is on its way, so
// that it never hits the statement of another session.
type running struct {
	mu    sync.Mutex
	conns []*backend.Conn
}

func (r *running) enter(c *backend.Conn) {
	r.mu.Lock()
	r.conns = append(r.conns, c)
	r.mu.Unlock()
}

func (r *running) leave(c *backend.Conn) {
	r.mu.Lock()
	for i := range r.conns {
		if r.conns[i] == c {
			r.conns[i] = r.conns[len(r.conns)-1]
			r.conns = r.conns[:len(r.conns)-1]
			break
		}
	}
	r.mu.Unlock()
}

func (r *running) each(f func(*backend.Conn)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		f(c)
	}
}
