package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/pause"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// killStatement is KILL, whose operand is any expression without tables, read as a number without a sign.
func (s *Session) killStatement(p *plan.Plan) error {
	tokens := s.stmt.Tokens()
	tok := tokens.Next()
	for s.stmt.Is(tok, "KILL") || s.stmt.Is(tok, "HARD") || s.stmt.Is(tok, "SOFT") || s.stmt.Is(tok, "CONNECTION") || s.stmt.Is(tok, "QUERY") {
		tok = tokens.Next()
	}
	expr := s.args.AppendSpan(nil, sqlparse.Span{Start: tok.Start, End: len(s.stmt.SQL())})
	id, err := strconv.ParseUint(string(expr), 10, 64)
	if err != nil {
		_, value, err := s.evaluate(slices.Concat([]byte("CAST("), expr, []byte("\n"+asNumber)))
		if err != nil {
			return withoutTail(err, asNumber)
		}
		id = parseUint(value)
	}
	return s.kill(id, p.Topic == plan.KillQuery)
}

// asNumber ends the text by which the operand of KILL is computed.
const asNumber = "AS UNSIGNED)"

// withoutTail is an error of a server that has read a text with tail behind the client's: what it quotes of the text ends where the client's does.
func withoutTail(err error, tail string) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok {
		return err
	}
	at, end := strings.Index(e.Message, tail), strings.LastIndex(e.Message, "'")
	if at < 0 || end < at {
		return err
	}
	cut := *e
	cut.Message = strings.TrimSuffix(e.Message[:at], "\n") + e.Message[end:]
	return &cut
}

// kill ends another session of the cluster, or only its statement.
func (s *Session) kill(id uint64, query bool) error {
	if uint64(uint32(id)) != id {
		return sqlerr.UnknownThread.New(id)
	}
	onlyUser := s.account.Name
	if s.account.Administers() {
		onlyUser = ""
	}
	if uint32(id) == s.conn.ID() {
		if query {
			return sqlerr.QueryInterrupted.New()
		}
		killed := sqlerr.QueryInterrupted
		if s.cfg.Dialect.MariaDB() {
			killed = sqlerr.ConnectionKilled
		}
		if err := s.fail(killed.New()); err != nil {
			return err
		}
		if err := s.conn.Flush(); err != nil {
			return err
		}
		return errKilled
	}
	err := s.cfg.Registry.Kill(uint32(id), query, onlyUser)
	if sqlerr.HasCode(err, sqlerr.UnknownThread) && s.cfg.Peers != nil {
		ctx, cancel := context.WithTimeout(context.Background(), peerTimeout+killTimeout) // for as long as it waits for its servers
		defer cancel()
		err = s.cfg.Peers.Kill(ctx, uint32(id), query, onlyUser)
	}
	if err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// peerTimeout bounds the wait for other processes.
const peerTimeout = 5 * time.Second

// Kill ends the session with the given id, or only its statement; onlyUser is empty if it may be anybody's.
func (r *Registry) Kill(id uint32, query bool, onlyUser string) error {
	t := r.get(id)
	if t == nil {
		return sqlerr.UnknownThread.New(id)
	}
	if onlyUser != "" && t.activity.process(0).User != onlyUser {
		return sqlerr.KillDenied.New(id)
	}
	if left := t.end(query); query && len(left) > 0 {
		return sqlerr.UnknownError.New(fmt.Sprintf("the statement of connection %d may go on: node group %d does not answer; KILL %[1]d ends the connection", id, left[0].Group))
	}
	return nil
}

// end stops the session's running statement from another goroutine, and unless query is set the session as well. left are connections to
// servers that could not be asked.
func (s *Session) end(query bool) (left []*backend.Conn) {
	if !query {
		s.killed.Store(true)
	}
	s.kills.Add(1)
	s.stopWaiting()
	reached := false
	s.running.all(func(conns []*backend.Conn) {
		reached, left = killQueries(conns)
		for _, c := range left {
			if !query {
				c.Interrupt() // its server does not answer: the session ends all the same
			}
		}
	})
	if !reached {
		go s.endArriving()
	}
	if !query {
		s.runner.Interrupt(sqlerr.QueryInterrupted.New())
		s.conn.Terminate(sqlerr.QueryInterrupted.New())
	}
	return left
}

// endArriving ends the statement at hand where a KILL has hit it before it was at any server. It is at hand for as long as it has the
// connections that it is sent on.
func (s *Session) endArriving() {
	ctx, cancel := context.WithTimeout(context.Background(), arrivalTimeout)
	defer cancel()
	over := false
	for wait := time.Millisecond; !over && pause.For(ctx, wait) == nil; wait *= 2 {
		s.running.all(func(conns []*backend.Conn) {
			if over = !s.hit(); !over {
				over, _ = killQueries(conns) // and no further one: it may undo by then what the statement has done
			}
		})
	}
}

// arrivalTimeout is how long a statement may be on its way to a server.
const arrivalTimeout = 30 * time.Second

// killQueries ends the statements on conns, and reports whether there was any; left are those whose server could not be asked.
func killQueries(conns []*backend.Conn) (reached bool, left []*backend.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	killed := backend.Kill(ctx, true, conns...)
	return slices.ContainsFunc(conns, func(c *backend.Conn) bool { return !slices.Contains(killed.Idle, c) }), killed.Left
}

// stopWaiting ends the wait of UntilKilled, if there is one.
func (s *Session) stopWaiting() {
	if cancel := s.endWait.Load(); cancel != nil {
		(*cancel)()
	}
}

// eviction is a kill that is counted as Evict's.
const eviction = 1<<32 + 1

// notKilled begins what hit is about.
func (s *Session) notKilled() { s.killsBefore = s.kills.Load() }

// hit reports whether a KILL has come since the statement at hand began.
func (s *Session) hit() bool { return s.kills.Load() != s.killsBefore }

// mustEnd reports whether the statement at hand is not to be run, or not any more.
func (s *Session) mustEnd() bool { return s.hit() || s.killed.Load() }

// hits is how many kills have come since the statement at hand began, and how many of them Evict has made.
func (s *Session) hits() (kills, evictions uint32) {
	since := s.kills.Load() - s.killsBefore
	return uint32(since), uint32(since >> 32)
}

const killTimeout = 5 * time.Second

// running is the connections a session's statement runs on. A connection cannot leave while a KILL is on its way, so
// that it never hits the statement of another session.
type running struct {
	conn *mysqlserver.Conn // the session's

	mu         sync.Mutex
	conns      []*backend.Conn
	committing bool
}

// commits begins and ends what evict does not interrupt.
func (r *running) commits(on bool) {
	r.lock()
	r.committing = on
	r.mu.Unlock()
}

// evict ends the statement that runs, unless the session commits; counted is called before. All of it is one step: no commit begins, and
// no other statement, before the KILL has arrived.
func (r *running) evict(counted func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committing {
		return
	}
	if counted(); len(r.conns) > 0 {
		killQueries(r.conns)
	}
}

func (r *running) enter(c *backend.Conn) {
	c.Begin()
	r.lock()
	r.conns = append(r.conns, c)
	r.mu.Unlock()
}

func (r *running) leave(c *backend.Conn) {
	c.End()
	r.lock()
	r.remove(c)
	r.mu.Unlock()
}

// board is enter of a pack's connection; false, and nothing is done, while a KILL is on its way.
func (r *running) board(pk *pack) bool {
	if !r.mu.TryLock() {
		return false
	}
	r.conns = append(r.conns, pk.conn)
	r.mu.Unlock()
	return true
}

// alight is leave of a pack's connection, which its leader may give back as soon as the session waits. A KILL that is on its way may be for
// it: so that it meets nobody else, the connection is ended first.
func (r *running) alight(pk *pack) {
	c := pk.conn
	if !r.mu.TryLock() {
		pk.end()
		r.lock()
	}
	r.remove(c)
	r.mu.Unlock()
}

// remove is called with mu held.
func (r *running) remove(c *backend.Conn) {
	for i := range r.conns {
		if r.conns[i] == c {
			r.conns[i] = r.conns[len(r.conns)-1]
			r.conns = r.conns[:len(r.conns)-1]
			return
		}
	}
}

// all calls f with the connections, if there are any; parts of a statement may nest, so that one is there twice.
func (r *running) all(f func([]*backend.Conn)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.conns) > 0 {
		f(r.conns)
	}
}
