package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/wire"
)

// series is one of what Prometheus is shown: its labels' values, and its value or, of a histogram, sum and count.
type series struct {
	labels []string
	value  float64
	count  uint64
}

// gathered is what Prometheus is shown of c, by name.
func gathered(t *testing.T, c prometheus.Collector) map[string][]series {
	t.Helper()
	r := prometheus.NewRegistry()
	require.NoError(t, r.Register(c))
	families, err := r.Gather()
	require.NoError(t, err)
	all := map[string][]series{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			s := series{value: m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum(), count: m.GetHistogram().GetSampleCount()}
			for _, l := range m.GetLabel() {
				s.labels = append(s.labels, l.GetValue())
			}
			all[f.GetName()] = append(all[f.GetName()], s)
		}
	}
	return all
}

func TestStatementsAreAddedUpOverStripes(t *testing.T) {
	m := NewStatements()
	m.Stripe(1).Record(2, plan.Select, Relay, time.Millisecond, &wire.ResultSummary{Rows: 3, Bytes: 100}, false)
	m.Stripe(2).Record(2, plan.Select, Relay, 3*time.Millisecond, nil, true)
	m.Stripe(3).Record(maxGroups+7, plan.Select, Scatter, 0, nil, false)
	m.Stripe(1).Planned(true)
	m.Stripe(4).Planned(false)
	m.Held()
	all := gathered(t, m)
	require.Equal(t, []series{{labels: []string{"select", "2"}, value: 2}, {labels: []string{"select", "255"}, value: 1}}, all["skarv_statements_total"],
		"node groups beyond the last one that has cells share it")
	require.Equal(t, 1.0, all["skarv_statement_errors_total"][0].value)
	require.Equal(t, 3.0, all["skarv_statement_rows_total"][0].value)
	require.Equal(t, 100.0, all["skarv_statement_bytes_total"][0].value)
	require.InDelta(t, 0.004, all["skarv_statement_seconds"][0].value, 1e-9)
	require.Equal(t, uint64(2), all["skarv_statement_seconds"][0].count)
	require.Equal(t, 1.0, all["skarv_statements_held_total"][0].value)
	require.Equal(t, []series{{labels: []string{"hit"}, value: 1}, {labels: []string{"miss"}, value: 1}}, all["skarv_plan_cache_total"])
	require.Len(t, all["skarv_statement_strategy_total"], int(strategies))
}

func TestBuckets(t *testing.T) {
	for took, want := range map[time.Duration]int{
		0: 0, 32 * time.Microsecond: 0, 32*time.Microsecond + 1: 1, 64 * time.Microsecond: 1, 64*time.Microsecond + 1: 2, time.Hour: bucketCount - 1,
	} {
		require.Equal(t, want, bucket(took), took)
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	s, touched, sum := NewStatements().Stripe(1), &exec.Touched{Partitions: []placement.Partition{1, 1, 2}}, &wire.ResultSummary{Rows: 1}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s.Record(1, plan.Select, Relay, time.Millisecond, sum, false)
		s.Touch(touched)
		s.Planned(true)
	}))
}

func TestRatesOfPartitions(t *testing.T) {
	m := NewStatements()
	owners, err := placement.NewMap([]placement.NodeGroupID{5})
	require.NoError(t, err)
	l := NewLoadMeter(m, func() *catalog.Snapshot { return &catalog.Snapshot{Map: owners} })
	began := l.last
	for range 100 {
		m.Stripe(0).Touch(&exec.Touched{Partitions: []placement.Partition{7, 7, 8}})
		m.Stripe(1).Touch(&exec.Touched{All: true})
	}
	l.look(began.Add(10 * time.Second))
	require.InDelta(t, 10, l.sum[7]/l.weight, 1e-9, "rows of one partition that follow each other count once")
	require.InDelta(t, 10, l.sum[placement.Partitions]/l.weight, 1e-9)
	l.look(began.Add(10*time.Second + loadHalfLife))
	require.Less(t, l.sum[7]/l.weight, 5.0, "what is a minute old counts less than half")
	hot := gathered(t, l)["skarv_partition_statements_per_second"]
	require.Len(t, hot, 2)
	require.Equal(t, []string{"5", "7"}, hot[0].labels)
}
