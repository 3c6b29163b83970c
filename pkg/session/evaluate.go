package session

// Expressions whose values decide where rows go are computed ahead, by a server.

import (
	"bytes"
	"math"

	"skarv/pkg/backend"
	"skarv/pkg/diagnostics"
	"skarv/pkg/exec"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
)

// Evaluate implements exec.Conns.
func (c *conns) Evaluate(sql, clock []byte) (out exec.Evaluated, err error) {
	b, err := c.s.Get(c.s.anyGroup())
	if err != nil {
		return out, err
	}
	defer func() { c.s.done(b, err) }()
	if clock != nil {
		defer func() {
			if e := resumeClock(b); err == nil {
				err = e
			}
		}()
	}
	if !c.s.Info.UTF8Results {
		var restore func() error
		if restore, err = c.s.utf8Results(b, sql); err != nil {
			return out, err
		}
		defer func() {
			if e := restore(); err == nil {
				err = e
			}
		}()
	}
	return c.s.evaluateOn(b, sql, clock)
}

// utf8Results makes b answer in UTF-8, in which every string can be told, until restore is called: nobody may get the connection before.
func (s *Session) utf8Results(b *backend.Conn, sql []byte) (restore func() error, err error) {
	const name = variable.Results
	if bytes.Contains(bytes.ToLower(sql), []byte(name)) {
		return nil, sqlerr.Unsupported("@@"+name+" in the value of a column by which the row is placed", "write the value itself")
	}
	if _, err := b.Exec("SET " + name + " = utf8mb4"); err != nil {
		return nil, txn.Lost(b, err)
	}
	was, _ := s.state.Get("@@session.`" + name + "`")
	return func() error { return reset(b, "SET "+name+" = "+was) }, nil
}

// resumeClock ends what a SET timestamp began on b. A connection whose time stands still nobody may get.
func resumeClock(b *backend.Conn) error { return reset(b, "SET timestamp = DEFAULT") }

// reset takes back by a SET what another one has done on b. If that fails, nobody may get the connection.
func reset(b *backend.Conn, set string) error {
	if !b.Usable() {
		return nil // which has been told
	}
	if _, err := b.Exec(set); err != nil {
		b.Interrupt()
		return txn.Lost(b, err)
	}
	return nil
}

// evaluateOn is conns.Evaluate on b, whose time is left as clock sets it.
func (s *Session) evaluateOn(b *backend.Conn, sql, clock []byte) (out exec.Evaluated, err error) {
	if err := s.computeOn(b, sql, clock, &out); err != nil {
		return out, err
	}
	if s.client.Hit() { // servers may give a value for what a KILL has ended
		return out, sqlerr.QueryInterrupted.New()
	}
	if out.Warnings = b.LastWarnings(); out.Warnings == 0 {
		return out, nil
	}
	_, rows, err := b.QueryAll("SHOW WARNINGS", math.MaxUint16)
	if err != nil {
		return out, txn.Lost(b, err)
	}
	out.Warned = diagnostics.AppendRows(nil, rows, math.MaxUint16)
	return out, nil
}

// computeOn runs the SELECT, which a KILL reaches.
func (s *Session) computeOn(b *backend.Conn, sql, clock []byte, out *exec.Evaluated) error {
	s.client.Enter(b)
	defer s.client.Leave(b)
	if s.client.Hit() { // by a KILL that met no statement on a server
		return sqlerr.QueryInterrupted.New()
	}
	if clock != nil {
		if _, err := b.Exec(string(clock)); err != nil {
			return txn.Lost(b, err)
		}
	}
	cols, rows, err := b.QueryAll(string(sql), 1)
	if err != nil {
		return txn.Lost(b, err)
	}
	if len(rows) != 1 {
		return sqlerr.Internal.New("an expression gave no row")
	}
	out.Columns, out.Row = cols, rows[0]
	return nil
}
