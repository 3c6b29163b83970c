package txn

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
)

// Config is what transactions of a process share.
type Config struct {
	Dial Dialer
	Log  *slog.Logger
	// Registerer takes the metrics; nil: none.
	Registerer prometheus.Registerer
	// Board shows waiting transactions to the other processes; nil: there are none.
	Board Board
	// Failpoint, for tests, is called at the Points of a commit over several groups. It may kill the process; an error
	// of it is as if it had.
	Failpoint func(point string, id ID) error
	// Patience is how long ROLLBACK waits for servers, 0: 30 s.
	Patience time.Duration
}

// defaultPatience is as long as a commit waits for a server's word.
const defaultPatience = answerTimeout

// Coordinator gives transactions their ids, ends those that wait for each other in several groups, and forgets decisions
// that nobody needs any more. Its methods may be called
// from any goroutine.
type Coordinator struct {
	cfg     Config
	process string
	last    atomic.Uint64
	ended   chan ID
	metrics *metrics
	opened  chan struct{} // has a token when there is something to watch
	// crossings are the commits that others could see by half.
	crossings crossings

	mu   sync.Mutex
	open map[*watched]struct{} // transactions over several groups
}

// Patience is how long a server is waited for that is to undo something: what it has not said by then ends with its connection.
func (c *Coordinator) Patience() time.Duration { return c.cfg.Patience }

// NewCoordinator returns a Coordinator. Run must be running for deadlocks to be found and decisions to be forgotten.
func NewCoordinator(cfg Config) *Coordinator {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Patience = cmp.Or(cfg.Patience, defaultPatience)
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return &Coordinator{
		cfg: cfg, process: hex.EncodeToString(b[:]), ended: make(chan ID, maxEnded), metrics: newMetrics(cfg.Registerer),
		opened: make(chan struct{}, 1), open: map[*watched]struct{}{},
	}
}

// newID names a transaction whose first branch is on g.
func (c *Coordinator) newID(g placement.NodeGroupID) ID {
	return ID(strconv.Itoa(int(g)) + "-" + c.process + "-" + strconv.FormatUint(c.last.Add(1), 10))
}

const (
	// maxEnded is how many decisions may wait to be forgotten. What does not fit stays until it is old.
	maxEnded = 4096
	// forgetAtOnce is how many decisions one DELETE takes.
	forgetAtOnce = 256
	// forgetPause is how long a decision may wait for others to be forgotten with.
	forgetPause = time.Second
)

// finished is told that every branch of a transaction has said it is committed: its decision is not needed.
func (c *Coordinator) finished(id ID) {
	select {
	case c.ended <- id:
	default:
	}
}

// Run works until ctx ends.
func (c *Coordinator) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.watch(ctx) })
	g.Go(func() error { return c.forgetEnded(ctx) })
	return g.Wait()
}

// forgetEnded forgets decisions until ctx ends.
func (c *Coordinator) forgetEnded(ctx context.Context) error {
	tick := time.NewTicker(forgetPause)
	defer tick.Stop()
	waiting := map[placement.NodeGroupID][]ID{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case id := <-c.ended:
			g, _ := id.Group()
			waiting[g] = append(waiting[g], id)
			if len(waiting[g]) >= forgetAtOnce {
				c.forget(ctx, g, waiting[g])
				delete(waiting, g)
			}
		case <-tick.C:
			for g, ids := range waiting {
				c.forget(ctx, g, ids)
				delete(waiting, g)
			}
		}
	}
}

// forget deletes decisions. What fails is left to the Recoverer's sweep of old rows.
func (c *Coordinator) forget(ctx context.Context, g placement.NodeGroupID, ids []ID) {
	conn, err := reserved(ctx, c.cfg.Dial, g)
	if err == nil {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = "'" + string(id) + "'"
		}
		_, err = conn.Exec("DELETE FROM `_skarv`.`dt` WHERE state = 'C' AND id IN (" + strings.Join(list, ",") + ")")
		_ = conn.Close()
	}
	if err != nil && ctx.Err() == nil {
		c.cfg.Log.WarnContext(ctx, "decisions are kept longer than needed", "group", int(g), "count", len(ids), "error", err)
	}
}

// metrics count transactions.
type metrics struct {
	commits          *prometheus.CounterVec
	unknown, pending prometheus.Counter
	deadlocks        *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		commits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_transactions_committed_total", Help: "Commits begun of transactions over several node groups, by protocol.",
		}, []string{"protocol"}),
		unknown: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "skarv_transactions_unknown_total", Help: "Commits whose client had to be told that the outcome is unknown.",
		}),
		pending: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "skarv_transactions_pending_total", Help: "Commits that were answered before every node group had finished.",
		}),
		deadlocks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_transactions_deadlocks_total", Help: "Transactions over several node groups ended for a deadlock, found or taken for one after a timeout.",
		}, []string{"how"}),
	}
	if r != nil {
		r.MustRegister(m.commits, m.unknown, m.pending, m.deadlocks)
	}
	return m
}

// committed counts a commit over groups branches.
func (m *metrics) committed(protocol string, groups int) {
	if groups > 1 {
		m.commits.WithLabelValues(protocol).Inc()
	}
}
