package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// RecovererConfig is what a Recoverer works on.
type RecovererConfig struct {
	Dial Dialer
	// Groups returns the cluster's present node groups.
	Groups func() []placement.NodeGroupID
	// Interval is between two looks at a node group, default 1 s. Age is how long a prepared branch is left to its own
	// proxy, default 2 s: less only makes slow commits fail.
	Interval, Age time.Duration
	Log           *slog.Logger
	Registerer    prometheus.Registerer
}

// Recoverer ends prepared branches whose proxy does not: after it died, or while it is paused or cut off. Any number of
// them may work on the same groups at a time; every answer they act on is final.
type Recoverer struct {
	cfg       RecovererConfig
	inDoubt   *prometheus.GaugeVec
	recovered *prometheus.CounterVec

	mu    sync.Mutex
	doubt map[placement.NodeGroupID][]Doubt
}

// Doubt is a prepared branch that waits for its end.
type Doubt struct {
	ID     ID
	Group  placement.NodeGroupID
	Since  time.Time // when the Recoverer saw it first
	Reason string    // why it is not ended yet
}

// NewRecoverer returns a Recoverer; Run makes it work.
func NewRecoverer(cfg RecovererConfig) *Recoverer {
	if cfg.Interval <= 0 {
		cfg.Interval = time.Second
	}
	if cfg.Age <= 0 {
		cfg.Age = 2 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Recoverer{
		cfg:   cfg,
		doubt: map[placement.NodeGroupID][]Doubt{},
		inDoubt: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_transactions_in_doubt", Help: "Prepared branches on a node group that wait for their end.",
		}, []string{"node_group"}),
		recovered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_transactions_recovered_total", Help: "Prepared branches ended in place of their proxy.",
		}, []string{"node_group", "outcome"}),
	}
	if cfg.Registerer != nil {
		cfg.Registerer.MustRegister(r.inDoubt, r.recovered)
	}
	return r
}

// InDoubt returns the prepared branches that the last look at each group found, oldest first.
func (r *Recoverer) InDoubt() []Doubt {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Doubt
	for _, list := range r.doubt {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b Doubt) int { return a.Since.Compare(b.Since) })
	return all
}

// Run looks at every node group again and again until ctx ends. A group that does not answer holds up no other.
func (r *Recoverer) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		tick := time.NewTicker(r.cfg.Interval)
		defer tick.Stop()
		workers := map[placement.NodeGroupID]context.CancelFunc{}
		for {
			groups := r.cfg.Groups()
			for _, id := range groups {
				if workers[id] == nil {
					wctx, cancel := context.WithCancel(ctx)
					workers[id] = cancel
					g.Go(func() error { r.work(wctx, id); return nil })
				}
			}
			for id, cancel := range workers {
				if !slices.Contains(groups, id) {
					cancel()
					delete(workers, id)
				}
			}
			select {
			case <-ctx.Done():
				for _, cancel := range workers {
					cancel()
				}
				return nil
			case <-tick.C:
			}
		}
	})
	return g.Wait()
}

// worker is the recovery of one node group.
type worker struct {
	*Recoverer
	group placement.NodeGroupID
	conns map[placement.NodeGroupID]*mysqlconn.Conn // to this group, and to those that keep decisions
	seen  map[xid]sighting
	swept time.Time
	// old are the commits that the last sweep found old, and since when they are.
	old map[ID]time.Time
}

// sighting is what is known of a prepared branch.
type sighting struct {
	since time.Time // when it was first seen
	left  time.Time // when it was first seen without the connection that prepared it; zero: that is there
	known bool      // it was decided how it ends, at an earlier look
}

// newWorker returns a worker that has not looked yet.
func (r *Recoverer) newWorker(id placement.NodeGroupID) *worker {
	return &worker{Recoverer: r, group: id, conns: map[placement.NodeGroupID]*mysqlconn.Conn{}, seen: map[xid]sighting{}, swept: time.Now(),
		old: map[ID]time.Time{}}
}

func (r *Recoverer) work(ctx context.Context, id placement.NodeGroupID) {
	w := r.newWorker(id)
	defer w.end()
	tick := time.NewTicker(r.cfg.Interval)
	defer tick.Stop()
	failing := false
	for {
		err := w.round(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			r.cfg.Log.WarnContext(ctx, "prepared transactions cannot be looked after", "group", int(id), "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *worker) end() {
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.mu.Lock()
	delete(w.doubt, w.group)
	w.mu.Unlock()
	w.inDoubt.DeleteLabelValues(strconv.Itoa(int(w.group)))
}

// conn returns a usable connection to g's primary, which is not read-only, with reservedTimeout to live.
func (w *worker) conn(ctx context.Context, g placement.NodeGroupID) (*mysqlconn.Conn, error) {
	if c := w.conns[g]; c != nil {
		if !c.Stale() && within(c, reservedTimeout) == nil && writable(c) == nil {
			return c, nil
		}
		_ = c.Close()
		delete(w.conns, g)
	}
	c, err := reserved(ctx, w.cfg.Dial, g)
	if err != nil {
		return nil, err
	}
	if err := writable(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	w.conns[g] = c
	return c, nil
}

// round looks once.
func (w *worker) round(ctx context.Context) error {
	c, err := w.conn(ctx, w.group)
	if err != nil {
		return err
	}
	list, err := prepared(c)
	if err != nil {
		return err
	}
	if err := w.look(c, list); err != nil {
		return err
	}
	now := time.Now()
	told := map[ID]string{}
	w.mu.Lock()
	for _, d := range w.doubt[w.group] {
		told[d.ID] = d.Reason
	}
	w.mu.Unlock()
	var doubt []Doubt
	for _, x := range list {
		since := w.seen[x].since
		if now.Sub(since) < w.cfg.Age {
			doubt = append(doubt, Doubt{x.id, w.group, since, "its proxy is given time"})
			continue
		}
		if err := w.settle(ctx, x); err != nil {
			doubt = append(doubt, Doubt{x.id, w.group, since, err.Error()})
			if told[x.id] == err.Error() {
				continue
			}
			level := slog.LevelWarn
			if errors.Is(err, errHeld) || errors.Is(err, errLeaving) { // which are steps to its end
				level = slog.LevelInfo
			}
			w.cfg.Log.Log(ctx, level, "transaction stays in doubt", "group", int(w.group), "transaction", string(x.id), "error", err)
		}
	}
	w.inDoubt.WithLabelValues(strconv.Itoa(int(w.group))).Set(float64(len(doubt)))
	w.mu.Lock()
	w.doubt[w.group] = doubt
	w.mu.Unlock()
	if now.Sub(w.swept) >= sweepInterval {
		w.swept = now
		return w.sweep(ctx)
	}
	return nil
}

// look notes what is seen of the prepared branches.
func (w *worker) look(c *mysqlconn.Conn, list []xid) error {
	held, err := holders(c, list)
	if err != nil {
		return err
	}
	now := time.Now()
	seen := make(map[xid]sighting, len(list))
	for _, x := range list {
		s, known := w.seen[x]
		if !known {
			s.since = now
		}
		switch {
		case held[x]:
			s.left = time.Time{}
		case s.left.IsZero():
			s.left = now
		}
		seen[x] = s
	}
	w.seen = seen
	return nil
}

// holders tells which of the branches are held by the connection that prepared them: on MariaDB, while it lives. MySQL's hold none.
func holders(c *mysqlconn.Conn, list []xid) (map[xid]bool, error) {
	if len(list) == 0 || !isMariaDB(c) {
		return nil, nil
	}
	started, err := startedAt(c)
	if err != nil {
		return nil, err
	}
	var threads []string
	for _, x := range list {
		if thread, of := x.holder(); of == started { // after a start of the server the thread is somebody else's
			threads = append(threads, strconv.FormatUint(thread, 10))
		}
	}
	if len(threads) == 0 {
		return nil, nil
	}
	rows, err := mysqlconn.Processes(c, "id", "id IN ("+strings.Join(threads, ",")+")", len(threads))
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, r := range rows {
		alive[string(r[0])] = true
	}
	held := map[xid]bool{}
	for _, x := range list {
		thread, of := x.holder()
		held[x] = of == started && alive[strconv.FormatUint(thread, 10)]
	}
	return held, nil
}

// settle ends a prepared branch as its transaction was decided. nil means that the branch is no more.
func (w *worker) settle(ctx context.Context, x xid) error {
	home, _ := x.id.Group()
	if !slices.Contains(w.cfg.Groups(), home) {
		return fmt.Errorf("node group %d, which keeps the decision, is not in the cluster", home)
	}
	dc, err := w.conn(ctx, home)
	if err != nil {
		return err
	}
	commit, err := resolve(dc, x.id)
	if err != nil {
		return fmt.Errorf("ask node group %d for the decision: %w", home, err)
	}
	verb, outcome := "XA ROLLBACK ", "rolled_back"
	if commit {
		verb, outcome = "XA COMMIT ", "committed"
	} else if there, err := w.confirm(ctx, x); err != nil || !there {
		return err
	}
	if err = w.finish(ctx, x, verb); err == nil {
		w.recovered.WithLabelValues(strconv.Itoa(int(w.group)), outcome).Inc()
		w.cfg.Log.InfoContext(ctx, "transaction recovered", "group", int(w.group), "transaction", string(x.id), "outcome", outcome)
	}
	return err
}

// letGo is how long after the connection that prepared a branch has gone MariaDB is given before another one ends it. The server makes a branch
// known to others a moment before InnoDB lets go of it: an XA COMMIT in between is logged and answered with OK, and the branch
// stays prepared and locked, and is not listed again before the server's next start (DESIGN.md).
const letGo = time.Second

// unheard is after how long that is believed without InnoDB's word, which cannot be had.
const unheard = 10 * letGo

var (
	// errHeld: MariaDB lets no other connection finish a branch while the one that prepared it lives.
	errHeld = errors.New("the connection that prepared it is still there, and is ended if it stays")
	// errLeaving: the connection has gone a moment ago.
	errLeaving = errors.New("its server is given a second to let go of it")
	// errEnding: the server lists the branch, and says that it does not know it.
	errEnding = errors.New("another process is ending it, or a connection holds it that is not the one that it names")
)

// confirm looks whether x is still prepared now that a tombstone says that it is not committed, and notes it there.
func (w *worker) confirm(ctx context.Context, x xid) (there bool, err error) {
	c, err := w.conn(ctx, w.group)
	if err != nil {
		return false, err
	}
	list, err := prepared(c)
	if err != nil || !slices.Contains(list, x) {
		return false, err // its proxy, or another Recoverer, has ended it meanwhile
	}
	home, _ := x.id.Group()
	dc, err := w.conn(ctx, home)
	if err != nil {
		return true, err
	}
	return true, confirm(dc, x.id, w.group)
}

// finish runs verb, XA COMMIT or XA ROLLBACK, on a prepared branch that was looked at. nil means that the branch is no more.
func (w *worker) finish(ctx context.Context, x xid, verb string) error {
	c, err := w.conn(ctx, w.group)
	if err != nil {
		return err
	}
	if free, err := w.free(c, x); err != nil || !free {
		return err
	}
	_, err = c.Exec(verb + x.String())
	switch {
	case sqlerr.HasCode(err, sqlerr.UnknownXID):
		list, err := prepared(c)
		if err == nil && slices.Contains(list, x) {
			return errEnding
		}
		return err
	case sqlerr.HasCode(err, 1402, 1613, 1614) && !mysqlconn.IsLost(err):
		return nil // the server has rolled back a branch that had changed nothing
	}
	return err
}

// free reports whether another connection may end x. On MariaDB the one that prepared it has to be gone: its proxy has had its time, and if it is still
// there at the look behind the one at which the end was known, it is ended. An error says what is waited for; neither: the branch is no more.
func (w *worker) free(c *mysqlconn.Conn, x xid) (bool, error) {
	if !isMariaDB(c) {
		return true, nil
	}
	seen := w.seen[x]
	if !seen.left.IsZero() {
		if time.Since(seen.left) < letGo {
			return false, errLeaving
		}
		thread, of := x.holder()
		if started, err := startedAt(c); err != nil || started != of {
			return err == nil, err
		}
		// InnoDB's own word for it.
		rows, err := transactions(c, fmt.Sprintf("SELECT 1 AS there FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = %d LIMIT 1", thread), 1)
		if errors.Is(err, errOldCopy) && time.Since(seen.left) > unheard {
			return true, nil
		}
		if err == nil && len(rows) > 0 {
			err = errLeaving
		}
		return err == nil, err
	}
	if !seen.known {
		seen.known = true
		w.seen[x] = seen
		return false, errHeld
	}
	// What was seen at the beginning of the round may be over: the connection may be another transaction's now.
	list, err := prepared(c)
	if err != nil || !slices.Contains(list, x) {
		return false, err
	}
	held, err := holders(c, []xid{x})
	if err != nil || !held[x] {
		return false, cmp.Or(err, errLeaving)
	}
	thread, _ := x.holder()
	if _, err := c.Exec("KILL " + strconv.FormatUint(thread, 10)); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
		return false, err
	}
	return false, errHeld
}

const (
	// sweepInterval is between two deletions of old decisions.
	sweepInterval = 10 * time.Minute
	// keepHours is how long a decision may be asked for.
	keepHours = 24
	// sweepAtOnce bounds one sweep.
	sweepAtOnce = 1000
)

// sweep deletes old decisions of this group. A tombstone stays while a transaction is open on the group that is older
// than it and could still try to commit; a commit stays until every participant says that it has nothing prepared,
// nor anything open that is as old, and for as long as its process may still ask for it: that one's clock, by which it is old, may be wrong.
func (w *worker) sweep(ctx context.Context) error {
	c, err := w.conn(ctx, w.group)
	if err != nil {
		return err
	}
	oldest, err := oldestHours(c)
	if err != nil {
		return err
	}
	if oldest < keepHours-1 {
		_, err = c.Exec(fmt.Sprintf("DELETE FROM `_skarv`.`dt` WHERE state = 'A' AND at < UTC_TIMESTAMP() - INTERVAL %d HOUR LIMIT %d",
			keepHours, sweepAtOnce))
		if err != nil {
			return err
		}
	}
	_, rows, err := c.QueryAll(fmt.Sprintf("SELECT id, participants FROM `_skarv`.`dt` WHERE state = 'C' AND at < UTC_TIMESTAMP() - INTERVAL %d HOUR LIMIT %d",
		keepHours, sweepAtOnce), sweepAtOnce)
	if err != nil {
		return err
	}
	pending := map[placement.NodeGroupID]map[ID]bool{} // read after the decisions were
	groups := w.cfg.Groups()
	was := w.old
	w.old = map[ID]time.Time{}
	for _, r := range rows {
		id, unfinished := ID(r[0]), false
		since, known := was[id]
		if !known {
			since = time.Now()
		}
		if w.old[id] = since; time.Since(since) < staleDecision {
			continue
		}
		for _, text := range strings.Split(string(r[1]), ",") {
			n, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return fmt.Errorf("decision %s names participants %q", id, r[1])
			}
			g := placement.NodeGroupID(n)
			if !slices.Contains(groups, g) {
				continue // it has left the cluster, which it did not do with anything prepared
			}
			ids, asked := pending[g]
			if !asked {
				if ids, err = w.preparedOn(ctx, g); err != nil {
					return err
				}
				pending[g] = ids
			}
			unfinished = unfinished || ids == nil || ids[id]
		}
		if unfinished || !plain(string(id)) {
			continue
		}
		if c, err = w.conn(ctx, w.group); err != nil {
			return err
		}
		if _, err := c.Exec("DELETE FROM `_skarv`.`dt` WHERE id = '" + string(id) + "'"); err != nil {
			return err
		}
	}
	return nil
}

// oldestHours is how old the oldest open transaction on a server is.
func oldestHours(c *mysqlconn.Conn) (int64, error) {
	rows, err := transactions(c, "SELECT COALESCE(MAX(TIMESTAMPDIFF(HOUR, trx_started, NOW())), 0) AS hours FROM information_schema.INNODB_TRX", 1)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(rows[0][0]), 10, 64)
}

// preparedOn are the transactions prepared on a node group; nil: something is open there that is as old as decisions get, and may be a branch that
// the server does not list (letGo).
func (w *worker) preparedOn(ctx context.Context, g placement.NodeGroupID) (map[ID]bool, error) {
	c, err := w.conn(ctx, g)
	if err != nil {
		return nil, err
	}
	list, err := prepared(c)
	if err != nil {
		return nil, err
	}
	oldest, err := oldestHours(c)
	if err != nil {
		return nil, err
	}
	if oldest >= keepHours-1 {
		return nil, nil
	}
	ids := map[ID]bool{}
	for _, x := range list {
		ids[x.id] = true
	}
	return ids, nil
}
