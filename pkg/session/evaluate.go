package session

// Expressions whose values decide where rows go are computed ahead, by a server.

import (
	"math"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
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
	return c.s.evaluateOn(b, sql, clock)
}

// resumeClock ends what a SET timestamp began on b. A connection whose time stands still nobody may get.
func resumeClock(b *backend.Conn) error {
	if !b.Usable() {
		return nil // which has been told
	}
	if _, err := b.Exec("SET timestamp = DEFAULT"); err != nil {
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
	if s.kills.Load() != s.killsBefore { // servers may give a value for what a KILL has ended
		return out, sqlerr.QueryInterrupted.New()
	}
	if out.Warnings = b.LastWarnings(); out.Warnings == 0 {
		return out, nil
	}
	_, rows, err := b.QueryAll("SHOW WARNINGS", math.MaxUint16)
	if err != nil {
		return out, txn.Lost(b, err)
	}
	for _, r := range rows {
		if len(r) != 3 {
			return out, sqlerr.Internal.New("SHOW WARNINGS gave other columns than expected")
		}
		out.Warned = append(out.Warned, exec.Warned{Level: string(r[0]), Code: uint16(parseUint(r[1])), Message: string(r[2])})
	}
	return out, nil
}

// computeOn runs the SELECT, which a KILL reaches.
func (s *Session) computeOn(b *backend.Conn, sql, clock []byte, out *exec.Evaluated) error {
	s.running.enter(b)
	defer s.running.leave(b)
	if s.kills.Load() != s.killsBefore { // by a KILL that met no statement on a server
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
