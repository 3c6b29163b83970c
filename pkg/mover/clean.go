package mover

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// cleanRows bounds the rows deleted in one transaction, cleanScan those looked at for it.
const (
	cleanRows = 500
	cleanScan = 5000
)

// Clean deletes the move's rows from one of its servers, in small transactions: from the source after a move that is done, from a
// target after one that was given up. It may be called again after it was interrupted; where Forget has been already, nothing is left
// to be deleted. Nobody may read or write the rows.
func (m *Mover) Clean(ctx context.Context, on placement.NodeGroupID) error {
	server, ok := m.move.Targets[on]
	var groups []placement.NodeGroupID // whose rows; all for the source
	if ok {
		groups = append(groups, on)
	} else if server = m.move.Source; server.Group != on {
		return fmt.Errorf("node group %d has no part in the move", on)
	}
	if err := m.retry(ctx, server, m.makeTables); err != nil {
		return err
	}
	k := &claim{m: m, server: server, reorg: m.move.Reorg + cleanSuffix, make: stateClean}
	for _, t := range m.tables {
		var last [][]byte
		for done := false; !done; {
			if err := m.throttle(ctx); err != nil {
				return err
			}
			if err := k.do(ctx, func(c *conn) (err error) {
				last, done, err = m.cleanSome(ctx, c, k, t, last, groups)
				return err
			}); errors.Is(err, errOver) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// cleanSuffix makes the name of a row of reorg_pos that marks what is deleted as a mover's work.
const cleanSuffix = "-clean"

// cleanSome deletes rows behind last for a while, and returns how far it came.
func (m *Mover) cleanSome(ctx context.Context, c *conn, k *claim, t *table, last [][]byte, groups []placement.NodeGroupID) ([][]byte, bool, error) {
	reader := &copier{conn: c}
	condition := m.partitionsOf(t, groups...)
	for range 20 { // then the throttle is asked again
		end, err := reader.end(t, last, cleanScan)
		if err != nil {
			return last, false, err
		}
		for {
			keys, err := t.keys(c, last, end, condition, cleanRows)
			if err != nil {
				return last, false, err
			}
			if len(keys) > 0 {
				m.cfg.Hit("clean.delete")
				if err := m.deleteKeys(c, k, t, keys); err != nil {
					return last, false, err
				}
			}
			if len(keys) < cleanRows {
				break
			}
			last = keys[len(keys)-1]
		}
		if end == nil {
			return nil, true, nil
		}
		last = end
		if err := ctx.Err(); err != nil {
			return last, false, err
		}
	}
	return last, false, nil
}

// keys reads up to limit keys behind last up to end of rows that meet a condition.
func (t *table) keys(c *conn, last, end [][]byte, condition string, limit int) ([][][]byte, error) {
	q := "SELECT " + t.keyList(true) + " FROM " + t.name + " FORCE INDEX (" + sqltypes.QuoteName(t.index) + ") WHERE " + condition
	if last != nil {
		q += " AND " + string(t.appendOrder(nil, last, false))
	}
	if end != nil {
		q += " AND " + string(t.appendOrder(nil, end, true))
	}
	_, rows, err := c.QueryAll(q+" ORDER BY "+t.keyList(false)+" LIMIT "+strconv.Itoa(limit), limit)
	return rows, err
}

// deleteKeys deletes rows in one transaction that is known as a mover's, unless somebody else has taken over.
func (m *Mover) deleteKeys(c *conn, k *claim, t *table, keys [][][]byte) error {
	w := worker{}
	set := &rowSet{}
	for _, k := range keys {
		r := make(row, len(t.columns))
		for n, i := range t.key {
			r[i] = k[n]
		}
		set.rows = append(set.rows, target{key: r})
	}
	w.deletes(t, set, true)
	return c.transaction([]byte("UPDATE `_skarv`.`reorg_pos` SET step=step+1 WHERE "+k.mine()), w.stmt...)
}

// Forget deletes what is kept about the move on all its servers, but for a note that it is over: who was paused since long before
// finds that. The move must be over.
func (m *Mover) Forget(ctx context.Context) error {
	forget := func(names []string, tables ...string) func(*conn) error {
		return func(c *conn) error {
			for _, t := range tables {
				if _, err := c.Exec("DELETE FROM `_skarv`.`" + t + "` WHERE " + m.mine()); err != nil {
					return err
				}
			}
			for _, name := range names {
				if _, err := c.Exec(fmt.Sprintf("INSERT INTO `_skarv`.`reorg_pos` VALUES (%s,%d,%d,'%s','','','',UNIX_TIMESTAMP()) ON DUPLICATE KEY "+
					"UPDATE owner=GREATEST(owner,VALUES(owner)), state=VALUES(state), applied='', reread='', xa='', step=VALUES(step)",
					quote(name), m.move.Source.Group, m.cfg.Term<<termBits, stateOver)); err != nil {
					return err
				}
			}
			_, err := c.Exec(fmt.Sprintf("DELETE FROM `_skarv`.`reorg_pos` WHERE state='%s' AND step<UNIX_TIMESTAMP()-%d", stateOver, overKept))
			return err
		}
	}
	clean := m.move.Reorg + cleanSuffix
	err := m.retry(ctx, m.move.Source, forget([]string{clean}, "wm", "journal"))
	for _, g := range m.groups {
		if err == nil {
			m.cfg.Hit("forget.server")
			err = m.retry(ctx, m.move.Targets[g], forget([]string{m.move.Reorg, clean}, "reorg_copy", "journal"))
		}
	}
	return err
}
