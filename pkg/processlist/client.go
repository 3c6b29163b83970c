package processlist

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/flight"
	"skarv/pkg/pause"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
)

// Conn is a client's connection: *mysqlserver.Conn.
type Conn interface {
	ID() uint32
	Task() *socket.Task
	Terminate(*sqlerr.Error)
}

// Runner is what runs a client's statements over several node groups: *exec.Runner.
type Runner interface{ Interrupt(cause *sqlerr.Error) }

// Client is one client. It is made by Init; its exported methods, and Flight's Note, are for its session's goroutine, unless they say more.
type Client struct {
	// Flight has what the client's session did last.
	Flight flight.Recorder

	conn     Conn
	runner   Runner
	activity activity
	killed   atomic.Bool
	endWait  atomic.Pointer[context.CancelFunc] // see Waits
	// lockThread is the thread of the connection with the user-level locks on its server; 0: none.
	lockThread atomic.Uint32
	// kills is how many there were of a statement, and, in evictions, how many of those Evict has made: one number, so that nobody sees
	// half of a change. A statement that takes several steps on the servers looks between them. before is kills when it began.
	kills, before atomic.Uint64

	mu         sync.Mutex
	conns      []*backend.Conn // that the statement runs on; see Enter
	committing bool
}

// Init makes c the client of a connection, whose statements over several node groups run on runner.
func (c *Client) Init(conn Conn, runner Runner) { c.conn, c.runner = conn, runner }

// Login says who the client is.
func (c *Client) Login(user, host string) { c.activity.login(user, host) }

// Begin says that the client's session does something since now, on the List's clock. sql stays as it is until Idle.
func (c *Client) Begin(command, db string, sql []byte, now time.Duration) {
	c.activity.set(command, db, sql, now)
}

// Idle says that the session waits for its client.
func (c *Client) Idle(now time.Duration) { c.activity.idle(now) }

// HasLocks says which thread of its server the connection with the session's user-level locks is; 0: it has none.
func (c *Client) HasLocks(thread uint32) { c.lockThread.Store(thread) }

// Doom has the session end behind what it does at the moment.
func (c *Client) Doom() { c.killed.Store(true) }

// Doomed reports whether the session is to end. It may be called from any goroutine.
func (c *Client) Doomed() bool { return c.killed.Load() }

// ForgetKills says that what begins now is none that a KILL until now was for.
func (c *Client) ForgetKills() { c.before.Store(c.kills.Load()) }

// Hit reports whether a KILL has come since the statement at hand began. It may be called from any goroutine.
func (c *Client) Hit() bool { return c.kills.Load() != c.before.Load() }

// MustEnd reports whether the statement at hand is not to be run, or not any more. It may be called from any goroutine.
func (c *Client) MustEnd() bool { return c.Hit() || c.Doomed() }

// Hits is how many kills have come since the statement at hand began, and how many of them Evict has made.
func (c *Client) Hits() (kills, evictions uint32) {
	since := c.kills.Load() - c.before.Load()
	return uint32(since), uint32(since >> 32)
}

// eviction is a kill that is counted as Evict's.
const eviction = 1<<32 + 1

// Evict ends the statement that runs, unless the session commits. It may be called from any goroutine. All of it is one step: no commit begins,
// and no other statement, before the KILL has arrived.
func (c *Client) Evict() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.committing {
		return
	}
	if c.kills.Add(eviction); len(c.conns) > 0 {
		killQueries(c.conns)
	}
}

// Commits begins and ends what Evict does not interrupt.
func (c *Client) Commits(on bool) {
	c.lock()
	c.committing = on
	c.mu.Unlock()
}

// Waits says that the statement waits for something that cancel ends, as a KILL does until end is called. A wait may be within another one.
func (c *Client) Waits(cancel context.CancelFunc) (end func()) {
	outer := c.endWait.Swap(&cancel)
	return func() { c.endWait.Store(outer) }
}

func (c *Client) stopWaiting() {
	if cancel := c.endWait.Load(); cancel != nil {
		(*cancel)()
	}
}

// Enter says that the statement begins to run on a connection; Leave ends that. A connection cannot leave while a KILL is on its way, so that it
// never hits the statement of another session. Parts of a statement may nest, so that one is there twice.
func (c *Client) Enter(conn *backend.Conn) {
	conn.Begin()
	c.lock()
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
}

// Leave ends Enter.
func (c *Client) Leave(conn *backend.Conn) {
	conn.End()
	c.lock()
	c.remove(conn)
	c.mu.Unlock()
}

// Board is Enter of a connection that another session has begun to use for this one; false, and nothing is done, while a KILL is on its way.
func (c *Client) Board(conn *backend.Conn) bool {
	if !c.mu.TryLock() {
		return false
	}
	c.conns = append(c.conns, conn)
	c.mu.Unlock()
	return true
}

// Alight ends Board; false, and nothing is done, while a KILL is on its way, which may be for that connection. Then AlightLate does it.
func (c *Client) Alight(conn *backend.Conn) bool {
	if !c.mu.TryLock() {
		return false
	}
	c.remove(conn)
	c.mu.Unlock()
	return true
}

// AlightLate is Alight that waits until the KILL has arrived.
func (c *Client) AlightLate(conn *backend.Conn) {
	c.lock()
	c.remove(conn)
	c.mu.Unlock()
}

// lock locks mu, which a KILL holds until it is done.
func (c *Client) lock() {
	if !c.mu.TryLock() {
		c.conn.Task().Blocking(c.mu.Lock)
	}
}

// remove is called with mu held.
func (c *Client) remove(conn *backend.Conn) {
	for i := range c.conns {
		if c.conns[i] == conn {
			c.conns[i] = c.conns[len(c.conns)-1]
			c.conns = c.conns[:len(c.conns)-1]
			return
		}
	}
}

// onAll calls f with the connections that the statement runs on, if there are any.
func (c *Client) onAll(f func([]*backend.Conn)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.conns) > 0 {
		f(c.conns)
	}
}

// end stops the statement that runs from another goroutine, and unless query is set the session as well. left are connections to servers
// that could not be asked.
func (c *Client) end(query bool) (left []*backend.Conn) {
	if !query {
		c.killed.Store(true)
	}
	c.kills.Add(1)
	c.stopWaiting()
	reached := false
	c.onAll(func(conns []*backend.Conn) {
		reached, left = killQueries(conns)
		for _, conn := range left {
			if !query {
				conn.Interrupt() // its server does not answer: the session ends all the same
			}
		}
	})
	if !reached {
		go c.endArriving()
	}
	if !query {
		c.runner.Interrupt(sqlerr.QueryInterrupted.New())
		c.conn.Terminate(sqlerr.QueryInterrupted.New())
	}
	return left
}

// endArriving ends the statement at hand where a KILL has hit it before it was at any server. It is at hand for as long as it has the
// connections that it is sent on.
func (c *Client) endArriving() {
	ctx, cancel := context.WithTimeout(context.Background(), arrivalTimeout)
	defer cancel()
	over := false
	for wait := time.Millisecond; !over && pause.For(ctx, wait) == nil; wait *= 2 {
		c.onAll(func(conns []*backend.Conn) {
			if over = !c.Hit(); !over {
				over, _ = killQueries(conns) // and no further one: it may undo by then what the statement has done
			}
		})
	}
}

// arrivalTimeout is how long a statement may be on its way to a server.
const arrivalTimeout = 30 * time.Second

// KillTimeout is how long Kill waits for servers.
const KillTimeout = 5 * time.Second

// killQueries ends the statements on conns, and reports whether there was any; left are those whose server could not be asked.
func killQueries(conns []*backend.Conn) (reached bool, left []*backend.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), KillTimeout)
	defer cancel()
	killed := backend.Kill(ctx, true, conns...)
	return slices.ContainsFunc(conns, func(c *backend.Conn) bool { return !slices.Contains(killed.Idle, c) }), killed.Left
}
