package mysqlserver

import (
	"cmp"
	"time"
)

// watched is what the watcher remembers of a connection.
type watched struct {
	activity uint64
	since    time.Time // activity is unchanged since
	peeked   bool
}

// watch ends connections that take too long until stop is closed. One goroutine looks at all connections now and
// then, so that commands need no timers; a timeout is therefore late by up to a second.
func (s *Server) watch(stop <-chan struct{}) {
	shortest := min(s.cfg.IdleTimeout, s.cfg.ReadTimeout, s.cfg.WriteTimeout)
	ticker := time.NewTicker(min(max(shortest/4, 5*time.Millisecond), time.Second))
	defer ticker.Stop()
	var conns []*Conn
	for {
		select {
		case <-stop:
			return
		case now := <-ticker.C:
			conns = s.all(conns[:0])
			for _, c := range conns {
				s.look(c, now)
			}
			clear(conns)
		}
	}
}

// look decides on one connection. A connection that is busy is its Handler's; one that logs in has a deadline.
func (s *Server) look(c *Conn, now time.Time) {
	w := &c.watched
	if a := c.activity.Load(); a != w.activity || w.since.IsZero() {
		*w = watched{activity: a, since: now}
		return
	}
	age := now.Sub(w.since)
	what := doing(w.activity & 3)
	if what == idle && c.sock.Sending() {
		what = writing // the end of the last answer
	}
	switch what {
	case idle:
		if age >= cmp.Or(time.Duration(c.idleTimeout.Load()), s.cfg.IdleTimeout) {
			c.stop(idleTooLong)
		} else if !w.peeked {
			// A client that closes its sending half together with its last bytes may leave no readiness behind that
			// would wake the connection: look once.
			w.peeked = true
			if c.sock.HalfClosed() {
				c.stop(halfClosed)
			}
		}
	case reading:
		if age >= cmp.Or(time.Duration(c.readTimeout.Load()), s.cfg.ReadTimeout) {
			c.stop(readTooSlow)
		}
	case writing:
		if age >= cmp.Or(time.Duration(c.writeTimeout.Load()), s.cfg.WriteTimeout) {
			c.stop(writeTooSlow)
		}
	}
}
