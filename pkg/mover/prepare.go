package mover

import (
	"context"
	"fmt"
	"maps"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// Prepare makes the tables the mover needs in _skarv, deletes rows of the move's partitions that are left on the targets, and
// notes where the source's binary log stands if the move follows only. It may be called again; what is prepared already is left
// alone, unless again: then the copy begins anew. Run must not be running.
func (m *Mover) Prepare(ctx context.Context, again bool) error {
	m.update(func() {
		clear(m.claims)
		if again {
			m.copied = make(chan struct{})
			m.is = Progress{Phase: Preparing, TablesTotal: len(m.tables), LateWrites: m.is.LateWrites}
		}
	})
	if err := m.retry(ctx, m.move.Source, m.makeTables); err != nil {
		return err
	}
	fresh := map[placement.NodeGroupID]bool{}
	for _, g := range m.groups {
		if err := m.retry(ctx, m.move.Targets[g], m.makeTables); err != nil {
			return err
		}
		k := m.claim(g)
		k.make = stateFresh
		err := k.do(ctx, func(c *conn) error {
			if again {
				if err := m.reset(c, k); err != nil {
					return err
				}
			}
			state, err := c.value("SELECT state FROM `_skarv`.`reorg_pos` WHERE " + m.mine())
			fresh[g] = state == stateFresh
			return err
		})
		if err != nil {
			return err
		}
	}
	m.cfg.Hit("prepare.tables")
	for _, g := range m.groups {
		if !fresh[g] {
			continue
		}
		if m.move.Follow {
			if err := m.noteStart(ctx, g); err != nil {
				return err
			}
		} else if err := m.Clean(ctx, g); err != nil {
			return fmt.Errorf("delete what is left on node group %s: %w", m.move.Targets[g].Name, err)
		}
	}
	return nil
}

func (m *Mover) makeTables(c *conn) error {
	for _, q := range schema() {
		if _, err := c.Exec(q); err != nil {
			return err
		}
	}
	return nil
}

// reset forgets what was copied to a target.
func (m *Mover) reset(c *conn, k *claim) error {
	return c.transaction([]byte("UPDATE `_skarv`.`reorg_pos` SET state='"+stateFresh+"', applied='', reread='', xa='' WHERE "+k.mine()),
		[]byte("DELETE FROM `_skarv`.`reorg_copy` WHERE "+m.mine()))
}

// noteStart has the target's stream begin at the present end of the source's log.
func (m *Mover) noteStart(ctx context.Context, g placement.NodeGroupID) error {
	var p binlog.Position
	err := m.retry(ctx, m.move.Source, func(c *conn) (err error) {
		p, err = binlog.Current(c.Conn, m.move.Source.Flavor)
		return err
	})
	if err != nil {
		return err
	}
	k := m.claim(g)
	return k.do(ctx, func(c *conn) error { return m.activate(c, k, p, anyBranch) })
}

// anyBranch stands for the position up to which branches may end whose rows are not known: the stream may meet the end of branches whose rows it has not seen, because none of them
// can be about the move's partitions.
const anyBranch = "*"

// activate notes on a target where its stream begins, and up to where branches may end whose rows are not known. Nothing is copied there.
func (m *Mover) activate(c *conn, k *claim, at binlog.Position, ends string) error {
	return c.transaction([]byte("UPDATE `_skarv`.`reorg_pos` SET state='"+stateActive+"', applied="+quote(at.String())+", reread="+
		quote(at.String())+", xa="+quote(ends)+" WHERE "+k.mine()),
		[]byte("DELETE FROM `_skarv`.`reorg_copy` WHERE "+m.mine()))
}

// findStart finds a position in the source's log from which on everything is in the stream that the copy does not have. The rows of
// branches that are prepared in front of it are in neither, so it waits until those have ended, and returns a position behind
// their ends, too.
func (a *attempt) findStart(ctx context.Context) (at binlog.Position, ends string, err error) {
	m := a.m
	c, err := m.dial(ctx, m.move.Source)
	if err != nil {
		return at, "", err
	}
	defer c.close()
	if at, err = binlog.Current(c.Conn, m.move.Source.Flavor); err != nil {
		return at, "", err
	}
	// When this is committed, everything in the log up to at can be seen, or is listed. A branch that is logged as prepared a moment before it is
	// listed may be missed: its commit is ErrRecopy, or is waited for as others that are not shown.
	if err := a.mark(c, 0, "S"); err != nil {
		return at, "", err
	}
	open, err := binlog.Prepared(c.Conn)
	if err != nil {
		return at, "", err
	}
	left := setOf(open)
	defer m.waits.On("transactions that were prepared on node group " + m.move.Source.Name + " before the move began: see skarvctl transactions")()
	for len(left) > 0 {
		m.update(func() { m.is.Phase = Waiting })
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return at, "", err
		}
		now, err := binlog.Prepared(c.Conn)
		if err != nil {
			return at, "", err
		}
		still := setOf(now)
		maps.DeleteFunc(left, func(x binlog.XID, _ bool) bool { return !still[x] })
	}
	// Ends of branches up to here concern branches that have ended before anything is copied.
	if err := a.mark(c, 0, "S"); err != nil {
		return at, "", err
	}
	now, err := binlog.Current(c.Conn, m.move.Source.Flavor)
	return at, now.String(), err
}

// knownEnd reports whether the end of a branch without rows was to be expected.
func (a *attempt) knownEnd(g binlog.GTID) bool {
	if a.branches == anyBranch {
		return true
	}
	p, err := binlog.ParsePosition(a.m.move.Source.Flavor, a.branches)
	return err == nil && p.Contains(g)
}

// mark writes a watermark to the source.
func (a *attempt) mark(c *conn, seq uint64, kind string) error {
	_, err := c.Exec(fmt.Sprintf("REPLACE INTO `_skarv`.`wm` VALUES (%s,'%s',%d,'%s')", a.m.values(), a.run, seq, kind))
	return err
}
