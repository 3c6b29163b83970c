package reorg

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/mover"
	"skarv/pkg/topology"
)

// Progress is how far a reorganisation is, all its movers together.
type Progress struct {
	At             time.Time     `json:"at"`
	Phase          string        `json:"phase,omitempty"`
	Rows           int64         `json:"rows"`
	RowsEstimated  int64         `json:"rows_estimated"`
	Bytes          int64         `json:"bytes"`
	BytesEstimated int64         `json:"bytes_estimated"`
	Table          string        `json:"table,omitempty"`
	TablesDone     int           `json:"tables_done"`
	TablesTotal    int           `json:"tables_total"`
	Applied        int64         `json:"applied"`
	Lag            time.Duration `json:"lag"`
	Throttled      string        `json:"throttled,omitempty"`
	ETA            time.Duration `json:"eta"`
	LateWrites     int64         `json:"late_writes,omitempty"`
	Compared       int64         `json:"compared,omitempty"`
	Trouble        string        `json:"trouble,omitempty"`
	// Waits are what is waited for, but for moments: when nothing seems to happen, they say why.
	Waits []mover.Wait `json:"waits,omitempty"`
}

// totals is what p tells that stays true without the movers that told it.
func (p Progress) totals() Progress {
	return Progress{
		At: p.At, Rows: p.Rows, RowsEstimated: p.RowsEstimated, Bytes: p.Bytes, BytesEstimated: p.BytesEstimated, TablesDone: p.TablesDone, TablesTotal: p.TablesTotal,
		Applied: p.Applied, Compared: p.Compared, LateWrites: p.LateWrites,
	}
}

// of is what p tells of r as it is: less if it was written in a state that is over.
func (p Progress) of(r *Record) Progress {
	if n := len(r.Steps); n > 0 && p.At.Before(r.Steps[n-1].At) {
		return p.totals()
	}
	return p
}

// shown is what report makes a Progress of; guarded by job.mu.
type shown struct {
	movers  []Mover // that run
	helpers []Mover // that do something without running
	behind  error   // why no cutover is tried yet
	close   func()  // ends the wait for that, if there is one
	// failing is since when a step has failed each time it was taken, or zero.
	failing time.Time
}

// reportEvery is how often progress is written.
const reportEvery = time.Second

// report writes how far the movers are.
func (j *job) report(ctx context.Context) error {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	defer j.metrics.show(&Progress{})
	var p Progress
	worked := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		j.mu.Lock()
		movers, helpers, failing := slices.Clone(j.shown.movers), slices.Clone(j.shown.helpers), j.shown.failing
		j.mu.Unlock()
		waited := len(p.Waits) > 0
		if p = p.totals(); len(movers) > 0 {
			p = sum(movers)
		}
		p.At, p.Waits = time.Now().UTC(), j.waits.Long()
		if !failing.IsZero() {
			p.Waits = append(p.Waits, mover.Wait{What: "a step to succeed that has failed, and is taken again and again", Since: failing})
		}
		for _, m := range slices.Concat(movers, helpers) {
			p.Waits = append(p.Waits, m.Progress().Waits...)
		}
		slices.SortFunc(p.Waits, func(a, b mover.Wait) int { return a.Since.Compare(b.Since) })
		j.metrics.show(&p)
		if len(movers) == 0 && len(p.Waits) == 0 && !waited && !worked {
			continue
		}
		worked = len(movers) > 0
		data, err := json.Marshal(p)
		if err != nil {
			return err
		}
		// Nobody depends on it: what cannot be written now is written in a second.
		_, _ = j.cfg.Store.Change(j.guard).PutRecord(topology.ReorgProgress, j.ID, data, topology.Any).Commit(ctx)
	}
}

// sum adds the movers' progress up.
func sum(movers []Mover) Progress {
	var out Progress
	order := []mover.Phase{mover.Preparing, mover.Interrupted, mover.Waiting, mover.Copying, mover.Following, mover.Cutting, mover.Watching}
	least := len(order)
	for _, m := range movers {
		p := m.Progress()
		if at := slices.Index(order, p.Phase); at < least {
			least, out.Phase = at, string(p.Phase)
		}
		out.Rows += p.Rows
		out.RowsEstimated += p.RowsEstimated
		out.Bytes += p.Bytes
		out.BytesEstimated += p.BytesEstimated
		out.TablesDone += p.TablesDone
		out.TablesTotal += p.TablesTotal
		out.Applied += p.Applied
		out.Compared += p.Compared
		out.LateWrites += p.LateWrites
		out.Lag, out.ETA = max(out.Lag, p.Lag), max(out.ETA, p.ETA)
		for _, text := range []struct {
			to   *string
			from string
		}{{&out.Table, p.Table}, {&out.Throttled, p.Throttled}, {&out.Trouble, p.Err}} {
			if *text.to == "" {
				*text.to = text.from
			}
		}
	}
	return out
}

// ProgressOf reads how far a reorganisation is; ok is false when nothing is known.
func ProgressOf(ctx context.Context, store *topology.Store, id string) (p Progress, ok bool, err error) {
	rec, ok, err := store.Record(ctx, topology.ReorgProgress, id)
	if err != nil || !ok {
		return p, false, err
	}
	return p, true, json.Unmarshal(rec.Value, &p)
}

// metrics are the controller's.
type metrics struct {
	outcomes       *prometheus.CounterVec
	pauses         prometheus.Histogram
	attemptsFailed prometheus.Counter
	evictions      prometheus.Counter
	lateWrites     prometheus.Counter
	rows, lag      prometheus.Gauge
	waiting        prometheus.Gauge
	throttled      prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "skarv_reorganisations_total", Help: "Reorganisations that have ended, by outcome."}, []string{"outcome"}),
		pauses: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "skarv_cutover_pause_seconds", Help: "How long statements on moving partitions were held at a cutover.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 10)}),
		attemptsFailed: prometheus.NewCounter(prometheus.CounterOpts{Name: "skarv_cutovers_failed_total", Help: "Cutovers that were taken back and tried again."}),
		evictions:      prometheus.NewCounter(prometheus.CounterOpts{Name: "skarv_evictions_total", Help: "Proxies that were shut out of the servers."}),
		lateWrites:     prometheus.NewCounter(prometheus.CounterOpts{Name: "skarv_late_writes_total", Help: "Rows written on a node group that had lost their partition. Each is a lost write: alert on any."}),
		rows:           prometheus.NewGauge(prometheus.GaugeOpts{Name: "skarv_reorg_rows", Help: "Rows copied by the reorganisation that runs."}),
		lag:            prometheus.NewGauge(prometheus.GaugeOpts{Name: "skarv_reorg_lag_seconds", Help: "How far the copy of the reorganisation that runs is behind its source."}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{Name: "skarv_reorg_waiting_seconds",
			Help: "For how long the reorganisation that runs has been waiting for one and the same thing: skarvctl reorg show says for what."}),
		throttled: prometheus.NewGauge(prometheus.GaugeOpts{Name: "skarv_reorg_throttled",
			Help: "1 while the reorganisation that runs goes slowly for the sake of clients, replicas or servers: skarvctl reorg show says whose."}),
	}
	if reg != nil {
		reg.MustRegister(m.outcomes, m.pauses, m.attemptsFailed, m.evictions, m.lateWrites, m.rows, m.lag, m.waiting, m.throttled)
	}
	return m
}

func (m *metrics) ended(o Outcome)       { m.outcomes.WithLabelValues(string(o)).Inc() }
func (m *metrics) pause(d time.Duration) { m.pauses.Observe(d.Seconds()) }
func (m *metrics) show(p *Progress) {
	m.rows.Set(float64(p.Rows))
	m.lag.Set(p.Lag.Seconds())
	m.throttled.Set(0)
	if p.Throttled != "" {
		m.throttled.Set(1)
	}
	m.waiting.Set(0)
	if len(p.Waits) > 0 {
		m.waiting.Set(p.At.Sub(p.Waits[0].Since).Seconds())
	}
}
