package mover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"skarv/pkg/binlog"
	"skarv/pkg/placement"
)

// errInterrupted ends what waits for an attempt that has failed; it may be tried again with the next one.
var errInterrupted = errors.New("the move was interrupted")

// item is what a worker is told next, in the order of the source's log. Items are in front of one another in the log.
type item struct {
	at   binlog.Start // behind the item
	ops  []op
	win  *window
	rows []row  // of win, this worker's
	cut  uint64 // epoch of a cut that lies here
	room int64  // of the worker's queue that it takes
}

// size is about how many bytes of rows the item keeps in memory.
func (it *item) size() int64 {
	n := 0
	for i := range it.ops {
		n += rowSize(it.ops[i].key) + rowSize(it.ops[i].after)
	}
	for _, r := range it.rows {
		n += rowSize(r)
	}
	return int64(n)
}

// rowSize is about how many bytes a row takes in memory.
func rowSize(r row) int {
	n := 24 * len(r)
	for _, v := range r {
		n += len(v)
	}
	return n
}

// op is what becomes of one row on a target: after is what it is to be, or nil if it is to go. key has the values of its key.
type op struct {
	table      *table
	key, after row
}

// dispatch reads the stream and hands out what is in it.
func (a *attempt) dispatch(ctx context.Context) error {
	m := a.m
	if epoch := m.heldCut(); epoch != 0 {
		// Everything up to the cut is applied everywhere, so the cut itself will not come again.
		if err := a.hold(ctx, epoch); err != nil {
			return err
		}
	}
	for {
		a.reading.Store(true)
		t, err := a.stream.Next()
		a.reading.Store(false)
		if err == nil {
			err = a.bad
		} else {
			err = logError(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := a.transaction(ctx, t); err != nil {
			return err
		}
	}
}

// heldCut is the epoch of a cut that all targets have reached and nobody has decided on, or 0.
func (m *Mover) heldCut() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for epoch, opened := range m.cut.opened {
		if epoch == m.cut.last && len(opened) == len(m.groups) && m.cut.held(epoch) {
			return epoch
		}
	}
	return 0
}

// transaction deals with one transaction of the source.
func (a *attempt) transaction(ctx context.Context, t *binlog.Transaction) error {
	if label, ok := a.m.changesTable(t.Statement, t.Schema); ok {
		return fmt.Errorf("%w: %s", ErrSchema, label)
	}
	// A branch that is rolled back has no rows to miss: a server that crashed may have forgotten that it was, and is told once more.
	if t.Unknown != nil && t.Committed && !a.knownEnd(t.GTID) {
		return fmt.Errorf("%w: the log commits branch %s, of which it had no rows", ErrRecopy, t.Unknown)
	}
	watching := a.m.watching()
	ops := map[placement.NodeGroupID][]op{}
	var marks []binlog.Row
	var cut uint64
	for i := range t.Changes {
		c := &t.Changes[i]
		if ownTable(c.Table.Schema, c.Table.Name) {
			switch {
			case c.Table.Name == posTable:
				a.position(t, false)
				return nil // some mover's own work: what it did is in the map already
			case c.After == nil:
			case c.Table.Name == wmTable:
				marks = append(marks, c.After)
			case c.Table.Name == journalTab:
				epoch, err := a.journal(c)
				if err != nil {
					return err
				}
				cut = max(cut, epoch)
			}
			continue
		}
		o, err := a.place(c)
		if err != nil {
			return err
		}
		if watching {
			if err := a.late(ctx, t, o); err != nil {
				return err
			}
			continue
		}
		a.touch(o.table, o.before)
		a.touch(o.table, o.after)
		if o.from != 0 {
			ops[o.from] = append(ops[o.from], op{table: o.table, key: o.before})
		}
		if o.to != 0 {
			ops[o.to] = append(ops[o.to], op{table: o.table, key: o.after, after: o.after})
		}
	}
	at := binlog.Start{Applied: t.After, Reread: t.Reread}
	for g, list := range ops {
		if err := a.workers[g].send(ctx, item{at: at, ops: list}, t.GTID); err != nil {
			return err
		}
	}
	for _, r := range marks {
		if err := a.watermark(ctx, t, r); err != nil {
			return err
		}
	}
	if cut != 0 {
		return a.reach(ctx, t, cut)
	}
	a.position(t, len(marks) == 0)
	return nil
}

// position tells workers that have nothing to do how far the stream is, now and then.
func (a *attempt) position(t *binlog.Transaction, worth bool) {
	for _, w := range a.workers {
		w.pass(binlog.Start{Applied: t.After, Reread: t.Reread}, worth)
	}
}

// watermark opens or closes the window of a watermark of ours.
func (a *attempt) watermark(ctx context.Context, t *binlog.Transaction, r binlog.Row) error {
	if len(r) != 5 || string(r[0]) != a.m.move.Reorg || string(r[1]) != strconv.Itoa(int(a.m.move.Source.Group)) || string(r[2]) != a.run {
		return nil
	}
	seq, err := strconv.ParseUint(string(r[3]), 10, 64)
	if err != nil {
		return err
	}
	low := string(r[4]) == "L"
	w := a.take(seq, !low)
	switch {
	case w == nil: // of an attempt that is over
		return nil
	case low:
		a.open = slices.DeleteFunc(a.open, func(o *window) bool { return o.gone.Load() })
		a.open = append(a.open, w)
		return nil
	}
	if w.asks {
		w.unfinished = a.unfinished()
		w.finish(nil)
		return nil
	}
	a.open = slices.DeleteFunc(a.open, func(o *window) bool { return o == w })
	if w.table != nil {
		if err := a.counts(w); err != nil {
			w.finish(err)
			return err
		}
	}
	for _, g := range a.m.groups {
		it := item{at: binlog.Start{Applied: t.After, Reread: t.Reread}, win: w}
		if w.table != nil {
			it.rows = a.share(w, g)
		}
		if err := a.workers[g].send(ctx, it, t.GTID); err != nil {
			w.finish(err)
			return err
		}
	}
	return nil
}

// counts makes sure that every row that was read has a place: the server's opinion, by which it was read, and ours must agree.
func (a *attempt) counts(w *window) error {
	for _, r := range w.rows {
		p, err := a.placer.partition(w.table, r)
		if err != nil {
			return err
		}
		if a.m.target(p) == 0 {
			return fmt.Errorf("%w: table %s: the server counts the row %s to another partition than %d", ErrPlacement, w.table.label,
				w.table.describe(r), p)
		}
	}
	return nil
}

// journal returns the epoch of a cut of this move, if the row is one.
func (a *attempt) journal(c *binlog.Change) (uint64, error) {
	r := c.After
	if len(r) < 4 || string(r[0]) != a.m.move.Reorg || string(r[1]) != strconv.Itoa(int(a.m.move.Source.Group)) || string(r[3]) != journalCut {
		return 0, nil
	}
	return strconv.ParseUint(string(r[2]), 10, 64)
}

// reach has the workers apply everything up to a cut, and waits for what becomes of it.
func (a *attempt) reach(ctx context.Context, t *binlog.Transaction, epoch uint64) error {
	m := a.m
	m.cfg.Hit("cut.seen")
	m.mu.Lock()
	held := m.cut.held(epoch)
	m.cut.last = max(m.cut.last, epoch)
	m.mu.Unlock()
	if !held {
		a.position(t, true)
		return nil // an old one, known to be cancelled, or published and seen again
	}
	for _, g := range m.groups {
		it := item{at: binlog.Start{Applied: t.After, Reread: t.Reread}, cut: epoch}
		if err := a.workers[g].send(ctx, it, t.GTID); err != nil {
			return err
		}
	}
	return a.hold(ctx, epoch)
}

// hold waits until a cut is cancelled or published.
func (a *attempt) hold(ctx context.Context, epoch uint64) error {
	m := a.m
	m.update(func() { m.is.Phase = Cutting })
	defer m.waits.On(fmt.Sprintf("what becomes of the cutover of epoch %d: nothing behind it is applied before", epoch))()
	err := m.await(ctx, func() (bool, error) { return !m.cut.held(epoch), nil })
	if err != nil { // the next attempt finds out whether the cut is held still
		m.update(func() { m.is.Phase = Interrupted })
		return err
	}
	m.update(func() {
		m.is.Phase = Following
		if m.cut.published >= epoch {
			m.is.Phase = Watching
		}
	})
	return nil
}

// watching reports whether the partitions are the targets' now.
func (m *Mover) watching() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cut.published > 0 && m.is.Phase != Watching {
		m.is.Phase = Watching
	}
	return m.cut.published > 0
}

// late notes a change that came too late.
func (a *attempt) late(ctx context.Context, t *binlog.Transaction, o placed) error {
	r := o.after
	if r == nil {
		r = o.before
	}
	l := LateWrite{GTID: t.GTID.String(), Table: o.table.label, Key: o.table.describe(r), Partition: o.part}
	a.m.cfg.Log.ErrorContext(ctx, "late write: a row was changed on a node group that no longer owns it", "reorg", a.m.move.Reorg,
		"gtid", l.GTID, "table", l.Table, "partition", int(l.Partition))
	a.m.update(func() { a.m.is.LateWrites++ })
	a.m.cfg.LateWrite(l)
	return a.m.once(ctx, a.m.move.Source, func(c *conn) error {
		_, err := c.Exec(fmt.Sprintf("INSERT INTO `_skarv`.`late_write` (reorg, source, gtid, tbl, part, row_key, at) VALUES (%s,%s,%s,%d,%s,UTC_TIMESTAMP(6))",
			a.m.values(), quote(l.GTID), quote(l.Table), l.Partition, quote(l.Key)))
		return err
	})
}
