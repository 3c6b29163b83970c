package mover

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// conn is a connection to one of the move's servers, in the state in which rows are read and written byte by byte. It ends
// with the context it was made for.
type conn struct {
	*mysqlconn.Conn
	release func() bool
}

// settings of every connection. Values come from row images, so nothing may be checked or changed on the way. A connection that
// is cut off is not to hold its locks for hours.
func settings(flavor catalog.Flavor) []string {
	s := []string{
		"SET NAMES binary",
		"SET SESSION character_set_results = NULL, time_zone = '+00:00', sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', " +
			"foreign_key_checks = 0, unique_checks = 1, autocommit = 1, wait_timeout = " + strconv.Itoa(idle) + ", net_write_timeout = 600, " +
			"net_read_timeout = 600, innodb_lock_wait_timeout = 10, sql_safe_updates = 0, sql_select_limit = DEFAULT, sql_big_selects = 1",
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET @skarv_mover = 1",
	}
	if flavor == catalog.MariaDB {
		return append(s, "SET SESSION max_statement_time = 0")
	}
	return append(s, "SET SESSION max_execution_time = 0")
}

// dial connects to s until ctx ends.
func dial(ctx context.Context, s Server) (*conn, error) {
	cfg := s.Conn
	cfg.Caps |= wire.CapFoundRows // rows found, not rows changed, say whether this mover still owns the move
	cfg.Init = append(settings(s.Flavor), cfg.Init...)
	if cfg.Name == "" {
		cfg.Name = s.Name
	}
	c, err := mysqlconn.Dial(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("node group %s: %w", s.Name, err)
	}
	return &conn{c, context.AfterFunc(ctx, c.Interrupt)}, nil
}

func (c *conn) close() {
	c.release()
	_ = c.Close()
}

// value returns the one value a query gives; "" for NULL or no row.
func (c *conn) value(q string) (string, error) {
	_, rows, err := c.QueryAll(q, 1)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return string(rows[0][0]), nil
}

// all runs statements that have no rows, sent at once. It returns the first error; those behind it were executed all the same.
func (c *conn) all(statements ...[]byte) ([]wire.OK, error) {
	for _, q := range statements {
		if err := c.Send(wire.ComQuery, q); err != nil {
			return nil, err
		}
	}
	var first error
	oks := make([]wire.OK, len(statements))
	for i := range statements {
		head, err := c.ReadHead()
		if err != nil {
			if first == nil {
				first = err
			}
			if !isServer(err) {
				return nil, first
			}
			continue
		}
		if head.OK == nil {
			return nil, fmt.Errorf("a statement without rows gave some: %.60s", statements[i])
		}
		oks[i] = wire.OK{AffectedRows: head.OK.AffectedRows, Warnings: head.OK.Warnings}
	}
	return oks, first
}

// leaveAutocommit is sent in place of BEGIN where a transaction is sent at once: when the server rolls it back in the middle,
// for a deadlock, what is behind does not commit by itself but is part of a next transaction, which is rolled back, too.
const leaveAutocommit = "SET autocommit = 0"

// transaction runs statements that have no rows, sent at once, as one transaction, in which the first one must find one row: that
// of whoever may do this. If it does not, nothing is done, and the error is ErrSuperseded.
func (c *conn) transaction(owner []byte, statements ...[]byte) error {
	oks, err := c.all(append([][]byte{[]byte(leaveAutocommit), owner}, statements...)...)
	if err == nil && oks[1].AffectedRows != 1 {
		err = ErrSuperseded
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if !c.Usable() {
		return err
	}
	if _, e := c.Exec(end); e != nil {
		c.Interrupt() // what is open is not to be committed by anything else
		return errors.Join(err, e)
	}
	_, e := c.Exec("SET autocommit = 1")
	return errors.Join(err, e)
}

// isServer reports whether err is a server's refusal, which leaves the connection usable.
func isServer(err error) bool {
	if mysqlconn.IsLost(err) {
		return false
	}
	_, ok := errors.AsType[*sqlerr.Error](err)
	return ok
}

// code is the number of a server's refusal, or 0.
func code(err error) sqlerr.Code {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && isServer(err) {
		return e.Code
	}
	return 0
}

// passing reports whether err may be gone when the same is tried again: a lost connection, a server that starts or is full, a lock.
func passing(err error) bool {
	for _, final := range []error{ErrSuperseded, ErrRecopy, ErrSchema, ErrCollision, ErrPlacement, ErrPacket, ErrLog} {
		if errors.Is(err, final) {
			return false
		}
	}
	switch code(err) {
	case 0:
		return true
	case sqlerr.LockWaitTimeout, sqlerr.LockDeadlock,
		1040, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1203, 1226, 1317, 1927, 3168, 3572, // connections and shutdown
		1180, 1290, 1836, 1021, 1114, 1030: // commit failed, read-only, disk full
		return true
	}
	return false
}

// retryPause is between two tries of what waits for an interrupted move.
const retryPause = 50 * time.Millisecond

func quote(s string) string { return string(sqltypes.AppendQuoted(nil, []byte(s), false)) }

// dial connects to s until ctx ends, and asks then whether this process may still work on the move.
func (m *Mover) dial(ctx context.Context, s Server) (*conn, error) {
	c, err := dial(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := m.cfg.Entitled(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// once runs f on a connection of its own.
func (m *Mover) once(ctx context.Context, s Server, f func(*conn) error) error {
	c, err := m.dial(ctx, s)
	if err != nil {
		return err
	}
	defer c.close()
	if err := f(c); err != nil {
		return fmt.Errorf("node group %s: %w", s.Name, err)
	}
	return nil
}

// desk is a connection that several use for single statements, one after the other. It is made when it is used first.
type desk struct {
	dial func() (*conn, error)

	mu     sync.Mutex
	conn   *conn
	closed bool
}

// use runs f, whose statements must be such that they may be run twice, on the connection, which is given up when ctx ends.
func (d *desk) use(ctx context.Context, f func(*conn) error) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for try := 0; ; try++ {
		if d.closed {
			return errInterrupted
		}
		if d.conn == nil || !d.conn.Usable() {
			if d.conn != nil {
				d.conn.close()
			}
			if d.conn, err = d.dial(); err != nil {
				d.conn = nil
				return err
			}
		}
		stop := context.AfterFunc(ctx, d.conn.Interrupt)
		err = f(d.conn)
		stop()
		if err == nil || ctx.Err() != nil || d.conn.Usable() || try > 0 {
			return err
		}
	}
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed = true; d.conn != nil {
		d.conn.close()
	}
}

// retry runs f on connections to s until it succeeds, fails for good, or ctx ends.
func (m *Mover) retry(ctx context.Context, s Server, f func(*conn) error) error {
	return m.again(ctx, s, func() error { return m.once(ctx, s, f) })
}

// again calls f, which works on s, until it succeeds, fails for good, or ctx ends.
func (m *Mover) again(ctx context.Context, s Server, f func() error) error {
	var last atomic.Pointer[error]
	defer m.waits.OnText(func() string {
		if err := last.Load(); err != nil {
			return fmt.Sprintf("node group %s, which is tried again and again: %v", s.Name, *err)
		}
		return "an answer of node group " + s.Name
	})()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if err == nil || ctx.Err() != nil || !passing(err) {
			return err
		}
		last.Store(&err)
		if pause.For(ctx, wait) != nil {
			return err
		}
	}
}

func join[T any](list []T, sep string, f func(T) string) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = f(x)
	}
	return strings.Join(parts, sep)
}
