// Package metrics counts what the statements of a process do, for Prometheus: how many there were of each kind on each node group, how long they
// took, how they were run, and which partitions they used.
//
//	session ──Record, Touch──► Stripe ┐
//	session ──Record, Touch──► Stripe ┴─summed when read─► Statements ──► Prometheus
//	                                                          └──counts of partitions──► LoadMeter: rates of the last minutes
package metrics

import (
	"math/bits"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/wire"
)

// Statements counts what statements did. It is striped: sessions of different stripes write different cache lines, and
// the stripes are added up when they are read. It implements prometheus.Collector.
type Statements struct {
	stripes [stripeCount]Stripe
	held    atomic.Uint64 // statements that waited for partitions being handed over

	count, errors, rows, bytes, latency *prometheus.Desc
	planCache, strategy, wait           *prometheus.Desc
}

const (
	stripeCount = 16
	maxGroups   = 256 // node groups with cells of their own; the rest share the last
	kindCount   = int(plan.Other) + 1
	// buckets of latency: powers of two from 32 us (bucket 0) to about 67 s.
	bucketCount   = 22
	firstBucketNs = 32_000
)

// Stripe is what a part of the sessions counts into. Its methods may be called from any goroutine, and allocate nothing once there were
// statements on a node group.
type Stripe struct {
	cells      [maxGroups]atomic.Pointer[[kindCount]cell]
	hits       atomic.Uint64
	misses     atomic.Uint64
	strategies [strategies]atomic.Uint64
	partitions *partitionCounts
	_          [64]byte
}

// cell is the counters of one node group and one kind of statement.
type cell struct {
	count, errors, rows, bytes, nanos atomic.Uint64
	buckets                           [bucketCount]atomic.Uint64
}

// partitionCounts counts the statements on each partition.
type partitionCounts struct {
	partitions [placement.Partitions]atomic.Uint64
	all        atomic.Uint64 // statements on all partitions
}

// Strategy is how a statement was run.
type Strategy uint8

// The strategies.
const (
	Local Strategy = iota // answered by the session or the controller
	Relay
	Scatter
	Split // INSERT of rows to their groups
	Workspace
	Broadcast // copies of small tables on every group, then scatter
	Packed    // relayed together with statements of other sessions
	strategies
)

// String is the strategy's name in metrics and in the log.
func (s Strategy) String() string {
	return [...]string{"local", "relay", "scatter", "split", "workspace", "broadcast", "packed"}[s]
}

// Ways are the names of the strategies in a set of them that has bit 1<<Strategy for each.
func Ways(set uint32) (names []string) {
	for s := range strategies {
		if set&(1<<s) != 0 {
			names = append(names, s.String())
		}
	}
	return names
}

// NewStatements returns Statements; register it to expose it.
func NewStatements() *Statements {
	labels := []string{"node_group", "kind"}
	m := &Statements{
		wait: prometheus.NewDesc("skarv_statements_held_total",
			"Statements that waited because partitions they use were being handed over to another node group.", nil, nil),
		count:     prometheus.NewDesc("skarv_statements_total", "Statements by node group (0: several or none) and kind.", labels, nil),
		errors:    prometheus.NewDesc("skarv_statement_errors_total", "Statements that ended with an error.", labels, nil),
		rows:      prometheus.NewDesc("skarv_statement_rows_total", "Rows returned to clients.", labels, nil),
		bytes:     prometheus.NewDesc("skarv_statement_bytes_total", "Bytes of answers sent to clients.", labels, nil),
		latency:   prometheus.NewDesc("skarv_statement_seconds", "Time from a statement's arrival to the end of its answer.", labels, nil),
		planCache: prometheus.NewDesc("skarv_plan_cache_total", "Look-ups of the plan cache.", []string{"result"}, nil),
		strategy:  prometheus.NewDesc("skarv_statement_strategy_total", "Statements by the strategy that ran them.", []string{"strategy"}, nil),
	}
	for i := range m.stripes {
		m.stripes[i].partitions = &partitionCounts{}
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *Statements) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.wait, m.count, m.errors, m.rows, m.bytes, m.latency, m.planCache, m.strategy} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *Statements) Collect(ch chan<- prometheus.Metric) {
	var hits, misses uint64
	var ways [strategies]uint64
	for i := range m.stripes {
		s := &m.stripes[i]
		hits += s.hits.Load()
		misses += s.misses.Load()
		for j := range ways {
			ways[j] += s.strategies[j].Load()
		}
	}
	counter := func(d *prometheus.Desc, v uint64, l ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), l...)
	}
	counter(m.wait, m.held.Load())
	counter(m.planCache, hits, "hit")
	counter(m.planCache, misses, "miss")
	for i, v := range ways {
		counter(m.strategy, v, Strategy(i).String())
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
			counter(m.count, t.count, group, kind)
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

// Stripe is that of the session with this id.
func (m *Statements) Stripe(session uint32) *Stripe { return &m.stripes[session%stripeCount] }

// Held counts a statement that waits for partitions being handed over.
func (m *Statements) Held() { m.held.Add(1) }

// PartitionCounts adds to counts how many statements used each partition since the process began, and returns how many
// used all of them. counts has placement.Partitions elements.
func (m *Statements) PartitionCounts(counts []uint64) (all uint64) {
	for i := range m.stripes {
		l := m.stripes[i].partitions
		for p := range counts {
			counts[p] += l.partitions[p].Load()
		}
		all += l.all.Load()
	}
	return all
}

// Planned counts a look-up of the plan cache.
func (s *Stripe) Planned(hit bool) {
	if hit {
		s.hits.Add(1)
	} else {
		s.misses.Add(1)
	}
}

// Touch counts the partitions that a statement, or a part of one, uses.
func (s *Stripe) Touch(t *exec.Touched) {
	if t.All {
		s.partitions.all.Add(1)
		return
	}
	for i, p := range t.Partitions {
		if i == 0 || p != t.Partitions[i-1] { // rows of one partition often come together
			s.partitions.partitions[p].Add(1)
		}
	}
}

// Record counts one statement of kind k on g, 0 for several or none. sum is what its client was sent, nil if that is not known.
func (s *Stripe) Record(g placement.NodeGroupID, k plan.Kind, st Strategy, took time.Duration, sum *wire.ResultSummary, failed bool) {
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
