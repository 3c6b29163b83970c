package session

import (
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/wire"
)

// Metrics counts what statements did. It is striped: sessions of different stripes write different cache lines, and
// the stripes are added up when they are read. It implements prometheus.Collector.
type Metrics struct {
	stripes [stripeCount]stripe
	frozen  atomic.Uint64 // statements that waited for partitions being handed over

	held                                     *prometheus.Desc
	statements, errors, rows, bytes, latency *prometheus.Desc
	planCache, strategy                      *prometheus.Desc
}

const (
	stripeCount = 16
	maxGroups   = 256 // node groups with cells of their own; the rest share the last
	kindCount   = int(plan.Other) + 1
	// buckets of latency: powers of two from 32 us (bucket 0) to about 67 s.
	bucketCount   = 22
	firstBucketNs = 32_000
)

type stripe struct {
	cells      [maxGroups]atomic.Pointer[[kindCount]cell]
	hits       atomic.Uint64
	misses     atomic.Uint64
	strategies [strategyCount]atomic.Uint64
	load       *partitionCounts
	_          [64]byte
}

// cell is the counters of one node group and one kind of statement.
type cell struct {
	count, errors, rows, bytes, nanos atomic.Uint64
	buckets                           [bucketCount]atomic.Uint64
}

// strategy is how a statement was run.
type strategy uint8

const (
	strategyLocal strategy = iota // answered by the session or the controller
	strategyRelay
	strategyScatter
	strategySplit // INSERT of rows to their groups
	strategyWorkspace
	strategyBroadcast // copies of small tables on every group, then scatter
	strategyCount
)

func (s strategy) String() string {
	return [...]string{"local", "relay", "scatter", "split", "workspace", "broadcast"}[s]
}

// NewMetrics returns Metrics; register it to expose it.
func NewMetrics() *Metrics {
	labels := []string{"node_group", "kind"}
	m := &Metrics{
		held: prometheus.NewDesc("skarv_statements_held_total",
			"Statements that waited because partitions they use were being handed over to another node group.", nil, nil),
		statements: prometheus.NewDesc("skarv_statements_total", "Statements by node group (0: several or none) and kind.", labels, nil),
		errors:     prometheus.NewDesc("skarv_statement_errors_total", "Statements that ended with an error.", labels, nil),
		rows:       prometheus.NewDesc("skarv_statement_rows_total", "Rows returned to clients.", labels, nil),
		bytes:      prometheus.NewDesc("skarv_statement_bytes_total", "Bytes of answers sent to clients.", labels, nil),
		latency:    prometheus.NewDesc("skarv_statement_seconds", "Time from a statement's arrival to the end of its answer.", labels, nil),
		planCache:  prometheus.NewDesc("skarv_plan_cache_total", "Look-ups of the plan cache.", []string{"result"}, nil),
		strategy:   prometheus.NewDesc("skarv_statement_strategy_total", "Statements by the strategy that ran them.", []string{"strategy"}, nil),
	}
	for i := range m.stripes {
		m.stripes[i].load = &partitionCounts{}
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.held, m.statements, m.errors, m.rows, m.bytes, m.latency, m.planCache, m.strategy} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	var hits, misses uint64
	var strategies [strategyCount]uint64
	for i := range m.stripes {
		s := &m.stripes[i]
		hits += s.hits.Load()
		misses += s.misses.Load()
		for j := range strategies {
			strategies[j] += s.strategies[j].Load()
		}
	}
	counter := func(d *prometheus.Desc, v uint64, l ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), l...)
	}
	counter(m.held, m.frozen.Load())
	counter(m.planCache, hits, "hit")
	counter(m.planCache, misses, "miss")
	for i, v := range strategies {
		counter(m.strategy, v, strategy(i).String())
	}
	for g := range maxGroups {
		var sum [kindCount]struct {
			count, errors, rows, bytes, nanos uint64
			buckets                           [bucketCount]uint64
		}
		for i := range m.stripes {
			cells := m.stripes[i].cells[g].Load()
			if cells == nil {
				continue
			}
			for k := range cells {
				c, t := &cells[k], &sum[k]
				t.count += c.count.Load()
				t.errors += c.errors.Load()
				t.rows += c.rows.Load()
				t.bytes += c.bytes.Load()
				t.nanos += c.nanos.Load()
				for b := range c.buckets {
					t.buckets[b] += c.buckets[b].Load()
				}
			}
		}
		for k := range sum {
			t := &sum[k]
			if t.count == 0 {
				continue
			}
			group, kind := strconv.Itoa(g), plan.Kind(k).String()
			counter(m.statements, t.count, group, kind)
			counter(m.errors, t.errors, group, kind)
			counter(m.rows, t.rows, group, kind)
			counter(m.bytes, t.bytes, group, kind)
			buckets := make(map[float64]uint64, bucketCount)
			var below uint64
			for b, n := range t.buckets[:bucketCount-1] {
				below += n
				buckets[float64(uint64(firstBucketNs)<<b)/1e9] = below
			}
			ch <- prometheus.MustNewConstHistogram(m.latency, t.count, float64(t.nanos)/1e9, buckets, group, kind)
		}
	}
}

// record counts one statement.
func (s *stripe) record(g placement.NodeGroupID, k plan.Kind, st strategy, took time.Duration, sum *wire.ResultSummary, failed bool) {
	i := min(int(g), maxGroups-1)
	cells := s.cells[i].Load()
	if cells == nil {
		s.cells[i].CompareAndSwap(nil, new([kindCount]cell))
		cells = s.cells[i].Load()
	}
	c := &cells[min(int(k), kindCount-1)]
	c.count.Add(1)
	if failed {
		c.errors.Add(1)
	}
	if sum != nil {
		c.rows.Add(sum.Rows)
		c.bytes.Add(sum.Bytes)
	}
	c.nanos.Add(uint64(took))
	c.buckets[bucket(took)].Add(1)
	s.strategies[st].Add(1)
}

// bucket returns the first bucket whose bound is not below d.
func bucket(d time.Duration) int {
	if d <= firstBucketNs {
		return 0
	}
	return min(bits.Len64(uint64(d-1)/firstBucketNs), bucketCount-1)
}
