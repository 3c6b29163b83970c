package mover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"skarv/pkg/pause"
)

// check is a comparison of the rows of a window with those of the targets.
type check struct {
	// where selects the rows, but for their partition.
	where string

	mu      sync.Mutex
	equal   int64
	differs []Difference
}

const (
	// verifyPasses is how often rows that change while they are compared are compared again.
	verifyPasses = 20
	// maxDifferences bounds the list of a Report.
	maxDifferences = 100
)

// Verify compares source and targets, row by row, while clients write. It needs Run, and a finished copy. Rows are read between two
// watermarks, as for the copy; what changed meanwhile is compared again. It goes on where a comparison before it, of this Mover or of one that
// died, was interrupted; after one of this Mover that came to its end it begins anew.
func (m *Mover) Verify(ctx context.Context) (Report, error) {
	var rep Report
	select {
	case <-m.Copied():
	default:
		return rep, errors.New("the copy is not finished")
	}
	v := &verifier{m: m, report: &rep}
	defer v.close()
	again := false
	m.update(func() {
		m.is.Compared = 0
		again, m.compared = m.compared, false
	})
	if again {
		if err := v.forget(ctx); err != nil {
			return rep, err
		}
	}
	for _, t := range m.tables {
		if err := v.table(ctx, t); err != nil {
			return rep, err
		}
	}
	m.update(func() { m.compared = true })
	return rep, nil
}

// verifier is one comparison.
type verifier struct {
	m      *Mover
	a      *attempt // of the last window
	copier *copier
	report *Report
}

func (v *verifier) close() {
	if v.copier != nil {
		v.copier.conn.close()
	}
}

// noteEvery is how often it is noted how far a comparison is.
const noteEvery = 2 * time.Second

// table compares one table, from where a comparison before this one came to.
func (v *verifier) table(ctx context.Context, t *table) error {
	last, done, err := v.load(ctx, t)
	if err != nil {
		return err
	}
	var again []row // that changed, by their keys
	for noted := time.Now(); !done; {
		if err := v.m.throttle(ctx); err != nil {
			return err
		}
		w, end, err := v.window(ctx, t, func() (string, [][]byte, error) { return v.stretch(t, last) })
		if err != nil {
			return err
		}
		for _, r := range w.touched {
			again = append(again, r)
		}
		if last, done = end, end == nil; !done && time.Since(noted) < noteEvery {
			continue
		}
		if err := v.settle(ctx, t, again); err != nil {
			return err
		}
		again = nil
		if err := v.note(ctx, t, last, done); err != nil {
			return err
		}
		noted = time.Now()
	}
	return nil
}

// settle compares rows again that changed while they were compared.
func (v *verifier) settle(ctx context.Context, t *table, again []row) error {
	v.report.Changed += int64(len(again))
	for pass := 0; len(again) > 0; pass++ {
		if pass == verifyPasses {
			v.report.Unverified = append(v.report.Unverified, fmt.Sprintf("%d rows of table %s change all the time", len(again), t.label))
			return nil
		}
		now := again
		again = nil
		for part := range slices.Chunk(now, deleteRows) {
			w, _, err := v.window(ctx, t, func() (string, [][]byte, error) { return t.oneOf(part), nil, nil })
			if err != nil {
				return err
			}
			asked := map[string]bool{}
			for _, r := range part {
				asked[string(t.keyOf(nil, r))] = true
			}
			for key, r := range w.touched { // others will be, or were, compared on their own
				if asked[key] {
					again = append(again, r)
				}
			}
		}
	}
	return nil
}

// How far a comparison is stands on the first target, beside how far the copy is and as long as that, so that a Mover that comes next need not
// begin anew: with large tables none might ever come to the end. Rows that were equal once stay so, or the move has a fault that comparing
// them earlier would not have found either.
func (v *verifier) notes() Server { return v.m.move.Targets[v.m.groups[0]] }

// verified begins the names of tables in reorg_copy in rows that say how far they are compared.
const verified = "compared "

// load reads how far a table is compared.
func (v *verifier) load(ctx context.Context, t *table) (last [][]byte, done bool, err error) {
	err = v.m.retry(ctx, v.notes(), func(c *conn) error {
		_, rows, err := c.QueryAll("SELECT last, done FROM `_skarv`.`reorg_copy` WHERE "+v.m.mine()+" AND tbl="+quote(verified+t.label), 1)
		if err != nil || len(rows) == 0 {
			return err
		}
		done = string(rows[0][1]) == "1"
		last, err = decodeBounds(string(rows[0][0]), len(t.key))
		return err
	})
	return last, done, err
}

// forget has the next comparison begin anew.
func (v *verifier) forget(ctx context.Context) error {
	return v.m.retry(ctx, v.notes(), func(c *conn) error {
		_, err := c.Exec("DELETE FROM `_skarv`.`reorg_copy` WHERE " + v.m.mine() + " AND tbl LIKE '" + verified + "%'")
		return err
	})
}

// note writes how far a table is compared, unless something was found that is not to be forgotten.
func (v *verifier) note(ctx context.Context, t *table, last [][]byte, done bool) error {
	if !v.report.Equal() {
		return nil
	}
	ended := 0
	if done {
		ended = 1
	}
	return v.m.retry(ctx, v.notes(), func(c *conn) error {
		_, err := c.Exec(fmt.Sprintf("REPLACE INTO `_skarv`.`reorg_copy` VALUES (%s,%s,0,%s,%d,0,0)", v.m.values(), quote(verified+t.label),
			quote(encodeBounds(last)), ended))
		return err
	})
}

// stretch is the condition for the next rows of a table, and the key it ends with.
func (v *verifier) stretch(t *table, last [][]byte) (string, [][]byte, error) {
	end, err := v.copier.end(t, last, v.m.cfg.ChunkRows)
	if err != nil {
		return "", nil, err
	}
	where := []string{"TRUE"}
	if last != nil {
		where = append(where, string(t.appendOrder(nil, last, false)))
	}
	if end != nil {
		where = append(where, string(t.appendOrder(nil, end, true)))
	}
	return strings.Join(where, " AND "), end, nil
}

// oneOf is the condition that a row has one of the keys.
func (t *table) oneOf(rows []row) string {
	var q []byte
	for i, r := range rows {
		if i > 0 {
			q = append(q, " OR "...)
		}
		q = t.appendIs(q, r)
	}
	return "(" + string(q) + ")"
}

// window compares the rows that meet a condition, and tries again when the move is interrupted meanwhile.
// An attempt that goes on although windows fail in it is not what is the matter: then it gives up.
func (v *verifier) window(ctx context.Context, t *table, next func() (string, [][]byte, error)) (*window, [][]byte, error) {
	const most = 20
	var last *attempt
	for tries := 0; ; tries++ {
		w, end, err := v.windowOnce(ctx, t, next)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return w, end, err
		}
		if v.a != last {
			last, tries = v.a, 0
		}
		if tries == most {
			return nil, nil, fmt.Errorf("table %s cannot be compared: %w", t.label, err)
		}
		if err := pause.For(ctx, retryPause); err != nil {
			return nil, nil, err
		}
	}
}

func (v *verifier) windowOnce(ctx context.Context, t *table, next func() (string, [][]byte, error)) (*window, [][]byte, error) {
	a, err := v.m.present(ctx)
	if err != nil {
		return nil, nil, err
	}
	v.a = a
	defer v.m.waits.On("the rows of a stretch of table " + t.label + " to be compared")()
	if v.copier == nil || v.copier.a != a || !v.copier.conn.Usable() {
		c, err := newCopier(ctx, v.m.dial, v.m.move.Source, v.m.cfg.ChunkBytes)
		if err != nil {
			return nil, nil, err
		}
		v.close()
		c.a, c.limit = a, v.m.cfg.ChunkRows
		v.copier = c
	}
	where, end, err := next()
	if err != nil {
		return nil, nil, err
	}
	w, err := a.low(ctx, v.copier.conn, func() *window { return &window{table: t, check: &check{where: where}} })
	if err != nil {
		return nil, nil, err
	}
	marked := false
	defer func() {
		if !marked {
			a.forsake(w)
		}
	}()
	read, err := v.copier.rows(ctx, t, "SELECT "+t.reads+" FROM "+t.name+" WHERE "+v.m.partitionsOf(t)+" AND "+where+" ORDER BY "+t.keyList(false))
	if err != nil {
		return nil, nil, err
	}
	if read.cut != nil { // too large for one window: only up to where reading stopped
		end = read.cut
		w.check.where += " AND " + string(t.appendOrder(nil, end, true))
	}
	a.setRows(w, read.rows, read.kept)
	if err := a.mark(v.copier.conn, w.seq, "H"); err != nil {
		return nil, nil, err
	}
	marked = true
	if err := a.await(ctx, w); err != nil {
		return nil, nil, err
	}
	v.m.update(func() { v.m.is.Compared += w.check.equal + int64(len(w.touched)) })
	v.report.Compared += w.check.equal
	v.report.Differs += int64(len(w.check.differs))
	v.report.Differing = append(v.report.Differing, w.check.differs...)
	v.report.Differing = v.report.Differing[:min(len(v.report.Differing), maxDifferences)]
	return w, end, nil
}

// compare reads the target's rows of a window and compares them with the source's, which are those in want. The target has everything up to
// the window's end, and nothing behind it.
func (w *worker) compare(ctx context.Context, win *window, want []row) error {
	t := win.table
	reader, err := newCopier(ctx, w.a.m.dial, w.server, w.a.m.cfg.ChunkBytes)
	if err != nil {
		return err
	}
	defer func() { reader.conn.close() }()
	source := map[string]row{}
	for _, r := range want {
		source[string(t.keyOf(nil, r))] = r
	}
	where := w.a.m.partitionsOf(t, w.server.Group) + " AND " + win.check.where
	var equal int64
	var differs []Difference
	differ := func(r row, what string) {
		differs = append(differs, Difference{Table: t.label, Key: t.describe(r), Target: w.server.Group, What: what})
	}
	for last := [][]byte(nil); ; {
		q := "SELECT " + t.reads + " FROM " + t.name + " WHERE " + where
		if last != nil {
			q += " AND " + string(t.appendOrder(nil, last, false))
		}
		got, err := reader.rows(ctx, t, q+" ORDER BY "+t.keyList(false))
		if err != nil {
			return err
		}
		for _, key := range got.kept {
			r := got.rows[key]
			if _, changed := win.touched[key]; changed {
				continue
			}
			s, ok := source[key]
			delete(source, key)
			if !ok {
				differ(r, "unexpected")
			} else if names := t.different(s, r); names != "" {
				differ(r, names)
			} else {
				equal++
			}
		}
		if last = got.cut; last == nil {
			break
		}
	}
	for _, r := range source {
		differ(r, "missing")
	}
	win.check.mu.Lock()
	defer win.check.mu.Unlock()
	win.check.equal += equal
	win.check.differs = append(win.check.differs, differs...)
	return nil
}

// different names the columns in which two rows differ.
func (t *table) different(a, b row) string {
	var names []string
	for i := range t.columns {
		if !bytes.Equal(a[i], b[i]) || (a[i] == nil) != (b[i] == nil) {
			names = append(names, t.columns[i].raw)
		}
	}
	return strings.Join(names, ", ")
}
