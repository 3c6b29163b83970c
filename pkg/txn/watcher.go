package txn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// Board is where the processes of a cluster show each other which of their transactions wait.
type Board interface {
	// Show replaces what this process shows; nil: nothing. It goes when the process dies, and never blocks.
	Show(waiters []byte)
	// Others returns what other processes show.
	Others(ctx context.Context) ([][]byte, error)
}

// The search for deadlocks begins when a statement of a transaction over several groups has been running for patience. Two
// looks in a row, lookPause apart at least, must show the same waits: what one server says is a little older than what
// another one does, so that one look may see a circle that never was.
const (
	patience  = 300 * time.Millisecond
	lookEvery = 100 * time.Millisecond
	lookPause = 150 * time.Millisecond
	lookTime  = 5 * time.Second // bounds one look
	// A server that lets a connection wait for longer than dialTime has no say in the looks of the next silence.
	dialTime = time.Second
	silence  = 5 * time.Second
)

// add shows w to the watcher.
func (c *Coordinator) add(w *watched) {
	c.mu.Lock()
	_, there := c.open[w]
	c.open[w] = struct{}{}
	c.mu.Unlock()
	if !there {
		select {
		case c.opened <- struct{}{}:
		default:
		}
	}
}

func (c *Coordinator) drop(w *watched) {
	c.mu.Lock()
	delete(c.open, w)
	c.mu.Unlock()
}

// waiting returns the transactions that may be waiting for locks, and whether any is open at all.
func (c *Coordinator) waiting() (list map[*watched]Waiter, any bool) {
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		if !w.since.IsZero() && !w.victim && time.Since(w.since) >= patience {
			if list == nil {
				list = map[*watched]Waiter{}
			}
			list[w] = Waiter{ID: w.id, Began: w.began.UnixNano(), Since: w.since.UnixNano(), Branches: slices.Clone(w.branches)}
		}
		w.mu.Unlock()
	}
	return list, len(all) > 0
}

// watcher looks for deadlocks over node groups as long as transactions over several groups of this process wait. Each
// process ends its own transactions only; all see the same graph and choose the same victim of it.
type watcher struct {
	*Coordinator
	conns map[placement.NodeGroupID]*mysqlconn.Conn
	seen  map[string]time.Time // deadlocks of the last look, and when they were first seen
	// silent are groups that could not be asked, and since when.
	silent map[placement.NodeGroupID]time.Time
}

func (c *Coordinator) watch(ctx context.Context) error {
	w := watcher{Coordinator: c, conns: map[placement.NodeGroupID]*mysqlconn.Conn{}, silent: map[placement.NodeGroupID]time.Time{}}
	defer w.quiet()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failing := false
	for {
		mine, any := c.waiting()
		if len(mine) > 0 {
			err := w.look(ctx, mine)
			if err != nil && !failing && ctx.Err() == nil {
				c.cfg.Log.WarnContext(ctx, "deadlocks over node groups cannot be looked for", "error", err)
			}
			failing = err != nil
		} else {
			w.quiet()
		}
		if any {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-c.opened:
		}
	}
}

// quiet ends an episode of looks.
func (w *watcher) quiet() {
	for g, c := range w.conns {
		_ = c.Close()
		delete(w.conns, g)
	}
	if w.seen != nil {
		w.seen = nil
		if w.cfg.Board != nil {
			w.cfg.Board.Show(nil)
		}
	}
}

// look takes one look at everybody's waits and ends transactions of this process that are victims of what was seen before,
// too.
func (w *watcher) look(ctx context.Context, mine map[*watched]Waiter) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if w.seen == nil {
		w.seen = map[string]time.Time{}
	}
	all := slices.Collect(maps.Values(mine))
	if w.cfg.Board != nil {
		shown, err := json.Marshal(all)
		if err != nil {
			return err
		}
		w.cfg.Board.Show(shown)
		others, err := w.cfg.Board.Others(ctx)
		if err != nil {
			return err
		}
		for _, text := range others {
			var list []Waiter
			if err := json.Unmarshal(text, &list); err != nil {
				return fmt.Errorf("what another process shows: %w", err)
			}
			all = append(all, list...)
		}
	}
	edges, err := w.edges(ctx, all) // what is known stands, whatever else could not be asked for
	before := w.seen
	w.seen = map[string]time.Time{}
	for _, d := range deadlocks(all, edges) {
		first, again := before[d.key]
		if !again {
			first = time.Now()
		}
		w.seen[d.key] = first
		if !again || time.Since(first) < lookPause {
			continue
		}
		for t, waiter := range mine {
			if waiter.ID == d.victim.ID {
				if err := w.end(ctx, t, &d); err != nil {
					return err
				}
			}
		}
	}
	return err
}

// edges asks the servers on which one of the waiters has a branch who waits for whom. With an error it returns what the others have said.
func (w *watcher) edges(ctx context.Context, waiters []Waiter) ([]edge, error) {
	var groups []placement.NodeGroupID
	for i := range waiters {
		for _, b := range waiters[i].Branches {
			if !slices.Contains(groups, b.Group) {
				groups = append(groups, b.Group)
			}
		}
	}
	var mu sync.Mutex
	var all []edge
	var faults []error
	var calls sync.WaitGroup
	asked := map[placement.NodeGroupID]*mysqlconn.Conn{}
	for _, g := range groups {
		if since, silent := w.silent[g]; silent && time.Since(since) < silence {
			faults = append(faults, fmt.Errorf("node group %d has not answered", g))
			continue
		}
		asked[g] = w.conns[g]
	}
	for g, c := range asked {
		calls.Go(func() {
			c, some, err := w.ask(ctx, g, c)
			mu.Lock()
			defer mu.Unlock()
			delete(w.conns, g)
			delete(w.silent, g)
			if err == nil {
				w.conns[g] = c
				all = append(all, some...)
				return
			}
			if errors.Is(err, errOldCopy) {
				w.conns[g] = c
			} else {
				w.silent[g] = time.Now()
			}
			faults = append(faults, fmt.Errorf("node group %d: %w", g, err))
		})
	}
	calls.Wait()
	return all, errors.Join(faults...)
}

// ask asks one server by c, or by another connection if that is of no use, and returns the one that is left.
func (w *watcher) ask(ctx context.Context, g placement.NodeGroupID, c *mysqlconn.Conn) (*mysqlconn.Conn, []edge, error) {
	if c != nil && (c.Stale() || within(c, lookTime) != nil) {
		_ = c.Close()
		c = nil
	}
	if c == nil {
		ctx, cancel := context.WithTimeout(ctx, dialTime)
		defer cancel()
		var err error
		if c, err = reserved(ctx, w.cfg.Dial, g); err != nil {
			return nil, nil, err
		}
	}
	edges, err := lockWaits(c, g)
	if errors.Is(err, errOldCopy) {
		return c, nil, err
	}
	if err != nil {
		_ = c.Close() // and with it the turn
		return nil, nil, fmt.Errorf("lock waits: %w", err)
	}
	return c, edges, nil
}

// One reads who waits at a time, whatever process it is of, and the next one after a pause: see transactions.
const (
	takeTurn = "SELECT GET_LOCK('_skarv_lock_waits', 2)"
	endTurn  = "SELECT SLEEP(0.11), RELEASE_LOCK('_skarv_lock_waits')"

	mariaDBWaits = "SELECT r.trx_mysql_thread_id AS waits, h.trx_mysql_thread_id AS holds FROM information_schema.INNODB_LOCK_WAITS w" +
		" JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id" +
		" JOIN information_schema.INNODB_TRX h ON h.trx_id = w.blocking_trx_id"
	mysqlWaits = "SELECT r.trx_mysql_thread_id AS waits, h.trx_mysql_thread_id AS holds FROM performance_schema.data_lock_waits w" +
		" JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID" +
		" JOIN information_schema.INNODB_TRX h ON h.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID"
	// maxWaits bounds the waits of one server that are read.
	maxWaits = 100_000
)

// lockWaits reads who waits for whom on one server. A prepared transaction without a connection waits for nobody and is
// left out.
func lockWaits(c *mysqlconn.Conn, g placement.NodeGroupID) ([]edge, error) {
	turn, err := number(c, takeTurn)
	if err != nil || turn != 1 {
		return nil, err // it is not ours yet: the next look tries again
	}
	sql := mysqlWaits
	if isMariaDB(c) {
		sql = mariaDBWaits
	}
	rows, err := transactions(c, sql, maxWaits)
	if err == nil || errors.Is(err, errOldCopy) {
		_, _, ended := c.QueryAll(endTurn, 1)
		err = cmp.Or(ended, err)
	}
	if err != nil {
		return nil, err
	}
	var edges []edge
	for _, r := range rows {
		from, err1 := strconv.ParseUint(string(r[0]), 10, 32)
		to, err2 := strconv.ParseUint(string(r[1]), 10, 32)
		if err1 == nil && err2 == nil && from != 0 && to != 0 {
			edges = append(edges, edge{Branch{g, uint32(from)}, Branch{g, uint32(to)}})
		}
	}
	return edges, nil
}

// end makes t the victim of d: its statement is ended on the server, and its session rolls it back. While that lasts the
// statement cannot end, so that no other one is hit.
func (w *watcher) end(ctx context.Context, t *watched, d *deadlock) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.victim || t.since.IsZero() || t.since.UnixNano() != d.victim.Since {
		return nil // it goes on
	}
	for _, b := range d.waits {
		c := w.conns[b.Group]
		if c == nil {
			continue
		}
		if _, err := c.Exec("KILL QUERY " + strconv.FormatUint(uint64(b.Thread), 10)); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
			return err
		}
		t.victim = true
	}
	if t.victim {
		w.metrics.deadlocks.WithLabelValues("found").Inc()
		w.cfg.Log.InfoContext(ctx, "deadlock over node groups", "victim", string(d.victim.ID), "transactions", d.key)
	}
	return nil
}
