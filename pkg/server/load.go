package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/session"
	adminv1 "skarv/proto/admin/v1"
)

const (
	loadTick     = 5 * time.Second
	loadHalfLife = time.Minute // a statement counts half as much after that time
	loadShown    = 10          // partitions that metrics show
)

// loadMeter makes rates of the counts of statements on partitions: means over the last minutes in which what is older counts
// less.
type loadMeter struct {
	counts   func([]uint64) uint64
	snapshot func() *catalog.Snapshot
	desc     *prometheus.Desc

	mu     sync.Mutex
	last   time.Time
	before []uint64 // counts at last; the last element is of statements on all partitions
	sum    []float64
	weight float64 // of what sum has
}

func newLoadMeter(m *session.Metrics, snapshot func() *catalog.Snapshot) *loadMeter {
	l := &loadMeter{
		counts: m.PartitionCounts, snapshot: snapshot, last: time.Now(),
		before: make([]uint64, placement.Partitions+1), sum: make([]float64, placement.Partitions+1),
		desc: prometheus.NewDesc("skarv_partition_statements_per_second",
			"Statements on the hottest partitions of this process, over the last minutes.", []string{"partition", "node_group"}, nil),
	}
	return l
}

// run keeps the rates up to date until ctx ends.
func (l *loadMeter) run(ctx context.Context) {
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
func (l *loadMeter) look(now time.Time) {
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

// rates are the statements per second on each partition, and on all.
func (l *loadMeter) rates() (rates []float64, all float64) {
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
func (l *loadMeter) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements prometheus.Collector.
func (l *loadMeter) Collect(ch chan<- prometheus.Metric) {
	snap := l.snapshot()
	if snap == nil || snap.Map == nil {
		return
	}
	rates, _ := l.rates()
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

// partitionLoad is the load of this process's statements, with cluster of those of all processes. missing are the processes that
// do not answer.
func (s *Server) partitionLoad(ctx context.Context, cluster bool) (rates []float64, all float64, missing []string, err error) {
	rates = make([]float64, placement.Partitions)
	if l := s.load.Load(); l != nil {
		rates, all = l.rates()
	}
	if !cluster {
		return rates, all, nil, nil
	}
	members, err := peers{s}.others(ctx)
	if err != nil {
		return nil, 0, nil, err
	}
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(maxPeerCalls)
	for _, m := range members {
		g.Go(func() error {
			var r *adminv1.PartitionLoadResponse
			err := s.ask(m, func(c adminv1.AdminClient) (err error) {
				r, err = c.PartitionLoad(ctx, &adminv1.PartitionLoadRequest{})
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || len(r.GetRates()) != len(rates) {
				missing = append(missing, m.AdminAddr)
				return nil //nolint:nilerr // told as missing
			}
			for p, n := range r.GetRates() {
				rates[p] += n
			}
			all += r.GetScattered()
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	slices.Sort(missing)
	return rates, all, missing, nil
}
