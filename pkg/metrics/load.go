package metrics

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

const (
	loadTick     = 5 * time.Second
	loadHalfLife = time.Minute // a statement counts half as much after that time
	loadShown    = 10          // partitions that metrics show
)

// LoadMeter makes rates of the counts of statements on partitions: means over the last minutes in which what is older counts
// less. Its methods may be called from any goroutine. It implements prometheus.Collector: it shows the hottest partitions.
type LoadMeter struct {
	counts   func([]uint64) uint64
	snapshot func() *catalog.Snapshot
	desc     *prometheus.Desc

	mu     sync.Mutex
	last   time.Time
	before []uint64 // counts at last; the last element is of statements on all partitions
	sum    []float64
	weight float64 // of what sum has
}

// NewLoadMeter returns a LoadMeter of what m counts; snapshot may return nil as long as there is none.
func NewLoadMeter(m *Statements, snapshot func() *catalog.Snapshot) *LoadMeter {
	l := &LoadMeter{
		counts: m.PartitionCounts, snapshot: snapshot, last: time.Now(),
		before: make([]uint64, placement.Partitions+1), sum: make([]float64, placement.Partitions+1),
		desc: prometheus.NewDesc("skarv_partition_statements_per_second",
			"Statements on the hottest partitions of this process, over the last minutes.", []string{"partition", "node_group"}, nil),
	}
	return l
}

// Run keeps the rates up to date until ctx ends.
func (l *LoadMeter) Run(ctx context.Context) {
	tick := time.NewTicker(loadTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			l.look(now)
		}
	}
}

// look takes in what was counted since the last time.
func (l *LoadMeter) look(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := now.Sub(l.last).Seconds()
	if took <= 0 {
		return
	}
	counts := make([]uint64, placement.Partitions+1)
	counts[placement.Partitions] = l.counts(counts[:placement.Partitions])
	keep := math.Exp2(-took / loadHalfLife.Seconds())
	for i, n := range counts {
		l.sum[i] = l.sum[i]*keep + float64(n-l.before[i])/took*(1-keep)
	}
	l.weight = l.weight*keep + (1 - keep)
	l.last, l.before = now, counts
}

// Rates are the statements per second on each partition, and on all.
func (l *LoadMeter) Rates() (rates []float64, all float64) {
	l.look(time.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	rates = make([]float64, placement.Partitions)
	if l.weight == 0 {
		return rates, 0
	}
	for p := range rates {
		rates[p] = l.sum[p] / l.weight
	}
	return rates, l.sum[placement.Partitions] / l.weight
}

// Describe implements prometheus.Collector.
func (l *LoadMeter) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements prometheus.Collector.
func (l *LoadMeter) Collect(ch chan<- prometheus.Metric) {
	snap := l.snapshot()
	if snap == nil || snap.Map == nil {
		return
	}
	rates, _ := l.Rates()
	order := make([]int, len(rates))
	for p := range order {
		order[p] = p
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	for _, p := range order[:loadShown] {
		if rates[p] > 0 {
			ch <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, rates[p], strconv.Itoa(p),
				strconv.Itoa(int(snap.Map.Owner(placement.Partition(p)))))
		}
	}
}
