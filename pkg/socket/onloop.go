package socket

import "net"

// ServeOn is Serve on a Loop. It returns at once; when the session has ended, and the Conn has left the Loop, after is called on
// a goroutine of its own. false: the Conn cannot be on a Loop (it is encrypted, or no plain socket), and after is not called.
func (c *Conn) ServeOn(l *Loop, step func() (done bool), after func(error)) bool {
	if !c.join(l) {
		return false
	}
	j := c.ring.Load()
	j.begin()
	j.serve(step, func(err error) {
		c.leave(j)
		after(err)
	})
	return true
}

// Use says which session has the Conn from now on, nil for none. A Conn that a session on a Loop uses comes to that Loop, and
// stays, until a session on another one uses it: reading and writing then holds up the session and nobody else. false: it
// cannot; on a Loop the session must not use it outside of Blocking.
func (c *Conn) Use(t *Task) bool {
	j := c.ring.Load()
	switch {
	case j == nil && t == nil:
		return true
	case j == nil:
		if !c.join(t.loop) {
			return false
		}
		j = c.ring.Load()
	case t != nil && j.loop != t.loop:
		j.move(t.loop)
	}
	j.task = t
	return true
}

// Task is the session that has the Conn; nil when it is on no Loop.
func (c *Conn) Task() *Task {
	if j := c.ring.Load(); j != nil {
		return j.task
	}
	return nil
}

func (c *Conn) join(l *Loop) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raw == nil || c.closed.Load() {
		return false
	}
	j, err := join(l, c.raw, c.base)
	if err != nil {
		return false
	}
	if t, set := c.readDeadline(); set {
		j.readDeadline(t)
	}
	c.ring.Store(j)
	return true
}

// leave takes the Conn back from its Loop.
func (c *Conn) leave(j *joined) {
	c.mu.Lock()
	defer c.mu.Unlock()
	nc, unread, err := j.leave()
	c.unread = unread
	c.ring.Store(nil)
	if err != nil || c.closed.Load() {
		if err == nil {
			_ = nc.Close()
		}
		return // base is closed: so are we
	}
	c.base, c.via = nc, nc
	switch s := nc.(type) {
	case *net.TCPConn:
		c.raw, _ = s.SyscallConn()
	case *net.UnixConn:
		c.raw, _ = s.SyscallConn()
	}
	if t, set := c.readDeadline(); set {
		_ = nc.SetReadDeadline(t)
	}
}
