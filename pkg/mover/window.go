package mover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// window is a place in the source's log, or a stretch of it between two watermarks in which rows of a table were read.
// Every change in the stretch is newer than what was read, or the same: rows that changed are left to the changes.
type window struct {
	seq   uint64
	table *table         // nil: only a place
	rows  map[string]row // by key
	kept  []string       // their keys in the order they were read
	// touched are the keys of rows that changed in the stretch, with the values of the key.
	touched map[string]row

	handed bool        // its last watermark has come: the workers have it; guarded by the attempt's mu
	gone   atomic.Bool // nobody waits for it any more, and its last watermark will not come

	apply *chunk // the rows are to be written
	check *check // the rows are to be compared

	asks       bool         // a place for the dispatcher alone: which branches are prepared there
	unfinished []binlog.XID // what it has found

	mu   sync.Mutex
	left int // workers that have not dealt with it
	err  error
	done chan struct{}
}

// finish is called by every worker, and once by whoever gives the window up.
func (w *window) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return
	}
	w.left--
	if err != nil {
		w.err, w.left = err, 0
	}
	if w.left == 0 {
		close(w.done)
	}
}

// deafAfter is how long a log may show nothing although something was written to it.
const deafAfter = time.Minute

// errDeaf: a server sends nothing but that it has nothing to send, and it has.
var errDeaf = errors.New("the log does not show what was committed")

// await returns when all workers have dealt with a window whose last watermark is committed. The dispatcher or a worker ends it, or, if
// one of them fails, the end of the attempt. All of them depend on what the source sends, so that is watched, too.
func (a *attempt) await(ctx context.Context, w *window) error {
	defer a.m.waits.OnText(func() string { return a.whereabouts(w) })()
	defer a.forsake(w)
	look := time.NewTicker(a.m.deafAfter())
	defer look.Stop()
	for heard := a.heard(); ; {
		select {
		case <-w.done:
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.err
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			now := a.heard()
			if now == heard && a.expected(w) && a.reading.Load() {
				a.m.mu.Lock()
				a.m.deaf++
				a.m.mu.Unlock()
				return fmt.Errorf("node group %s: %w", a.m.move.Source.Name, errDeaf)
			}
			heard = now
		}
	}
}

// deafAfter rises with every time a source was taken for deaf: it may have had to look for the beginning in a log that is very long.
func (m *Mover) deafAfter() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return deafAfter << min(m.deaf, 6)
}

// expected reports whether the last watermark of a window is still to come.
func (a *attempt) expected(w *window) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.windows[w.seq] == w && !w.handed
}

// whereabouts says where a window is that is being waited for.
func (a *attempt) whereabouts(w *window) string {
	source := a.m.move.Source.Name
	switch {
	case !a.expected(w):
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Sprintf("%d of %d targets to apply what was committed on node group %s before a mark", w.left, len(a.workers), source)
	case a.reading.Load():
		return "a mark in the log of node group " + source + ", which has not shown it yet"
	}
	return "a mark in the log of node group " + source + ", which is read up to what a target is to take first"
}

// begin registers a window; its watermarks may be written from now on. The window of an attempt that has failed has ended already.
func (a *attempt) begin(w *window) {
	w.done, w.left = make(chan struct{}), len(a.workers)
	if w.asks {
		w.left = 1
	}
	w.touched = map[string]row{}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seq++
	w.seq = a.seq
	if a.abandoned { // nobody would look at it any more
		w.finish(errInterrupted)
		return
	}
	a.windows[w.seq] = w
}

// forsake forgets a window that nobody waits for any more.
func (a *attempt) forsake(w *window) {
	w.gone.Store(true)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.windows, w.seq)
}

// setRows gives a window what was read; its second watermark comes after that.
func (a *attempt) setRows(w *window, rows map[string]row, kept []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.rows, w.kept = rows, kept
}

// take returns a window whose watermark has come; last: no other one comes. It stays known until somebody has waited for it: a worker
// that ends leaves behind what it was handed, and abandon has to end that, too.
func (a *attempt) take(seq uint64, last bool) *window {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := a.windows[seq]
	if w == nil || w.handed {
		return nil
	}
	w.handed = last
	return w
}

// abandon ends all windows of an attempt that has failed.
func (a *attempt) abandon() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.abandoned = true
	for _, w := range a.windows {
		w.finish(errInterrupted)
	}
	clear(a.windows)
}

// touch notes that a row has changed in all windows of its table.
func (a *attempt) touch(t *table, r row) {
	if r == nil {
		return
	}
	for _, w := range a.open {
		if w.table == t && !w.gone.Load() { // what nobody waits for need not be kept
			w.touched[string(t.keyOf(nil, r))] = r
		}
	}
}

// low begins a window at a watermark behind which everything can be read, through c, that the log has before it. MySQL, and MariaDB for plain
// transactions, answer a commit when that is so. MariaDB logs the COMMIT of a branch before InnoDB shows it, and shows it later than commits behind it in
// the log, but lists it as prepared until then. So no branch may be listed that the log had ended. Where that takes long the window begins anew: what
// changes in it is kept.
func (a *attempt) low(ctx context.Context, c *conn, begin func() *window) (*window, error) {
	for {
		w := begin()
		a.begin(w)
		if err := a.mark(c, w.seq, "L"); err != nil {
			a.forsake(w)
			return nil, err
		}
		if a.m.move.Source.Flavor == catalog.MySQL {
			return w, nil
		}
		marked := time.Now()
		if err := a.shown(ctx, c); err != nil {
			a.forsake(w)
			return nil, err
		}
		if time.Since(marked) < tooLong {
			return w, nil
		}
		a.forsake(w)
	}
}

const (
	// tooLong is how long a window may wait between its first watermark and what is read.
	tooLong = time.Second
	// passingLooks is how often the server alone is asked before the log is, which may be read with a delay: branches come and go.
	passingLooks = 10
	// slowestLook is between two looks at branches that stay.
	slowestLook = 50 * time.Millisecond
)

// shown returns when the source lists no branch that its log had ended when this was called.
func (a *attempt) shown(ctx context.Context, c *conn) error {
	var left atomic.Pointer[map[binlog.XID]bool]
	defer a.m.waits.OnText(func() string {
		what := "transactions on node group " + a.m.move.Source.Name + " that its log has committed to be shown"
		if named := left.Load(); named != nil {
			what += ", or branches to be ended that it does not have: " + someOf(*named)
		}
		return what
	})()
	return untilShown(ctx, func(now map[binlog.XID]bool) { left.Store(&now) }, func() ([]binlog.XID, error) { return binlog.Prepared(c.Conn) },
		func() ([]binlog.XID, error) {
			w := &window{asks: true}
			a.begin(w)
			if err := a.mark(c, w.seq, "H"); err != nil {
				a.forsake(w)
				return nil, err
			}
			if err := a.await(ctx, w); err != nil {
				return nil, err
			}
			return w.unfinished, nil
		})
}

// untilShown returns when the server lists none of the branches that its log had ended when it listed them first. unfinished tells which are
// prepared at a place of the log behind everything that there is when it is called. note is told of those that stay.
func untilShown(ctx context.Context, note func(map[binlog.XID]bool), listed, unfinished func() ([]binlog.XID, error)) error {
	now, err := listed()
	if err != nil {
		return err
	}
	left := setOf(now)
	wait := time.Millisecond
	for look := 1; len(left) > 0; look++ {
		if look > passingLooks {
			open, err := unfinished()
			if err != nil {
				return err
			}
			for _, x := range open {
				delete(left, x)
			}
			note(maps.Clone(left))
			wait = min(2*wait, slowestLook)
		}
		if len(left) == 0 {
			return nil
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
		if now, err = listed(); err != nil {
			return err
		}
		still := setOf(now)
		maps.DeleteFunc(left, func(x binlog.XID, _ bool) bool { return !still[x] })
	}
	return nil
}

// someOf names a few branches.
func someOf(branches map[binlog.XID]bool) string {
	var names []string
	for x := range branches {
		names = append(names, x.String())
	}
	slices.Sort(names)
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("and %d more", len(branches)-3))
	}
	return strings.Join(names, "; ")
}

func setOf(branches []binlog.XID) map[binlog.XID]bool {
	set := make(map[binlog.XID]bool, len(branches))
	for _, x := range branches {
		set[x] = true
	}
	return set
}

// share reads rows' targets: of a window's rows that did not change, those of one group.
func (a *attempt) share(w *window, g placement.NodeGroupID) []row {
	var mine []row
	for _, key := range w.kept {
		if _, changed := w.touched[key]; changed {
			continue
		}
		r := w.rows[key]
		if p, err := a.placer.partition(w.table, r); err == nil && a.m.target(p) == g {
			mine = append(mine, r)
		}
	}
	return mine
}
