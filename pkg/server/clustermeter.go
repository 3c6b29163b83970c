package server

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/control"
	"skarv/pkg/placement"
	"skarv/pkg/topology"
)

// clusterTick is how often the leading process looks at what all processes share.
const clusterTick = 5 * time.Second

// clusterMeter shows etcd as this process sees it and, on the process that leads, what the cluster waits for: schema changes and slots.
// Others show nothing of that, so that a sum over all processes is the cluster's.
type clusterMeter struct {
	store *topology.Store
	leads func() bool // nil: this process never does

	up, leading, changes, oldest, slots, armed *prometheus.Desc

	mu   sync.Mutex
	seen *clusterWaits // nil: it does not lead, or could not look
}

// clusterWaits is what there was at one moment.
type clusterWaits struct {
	waiting, stuck       int // schema changes that have not ended, without and with a problem
	oldest               time.Time
	active, fenced, gone int // slots
	armed                map[placement.NodeGroupID]bool
}

func newClusterMeter(store *topology.Store, leads func() bool) *clusterMeter {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &clusterMeter{
		store: store, leads: leads,
		up:      desc("skarv_etcd_up", "1 while etcd answers this process and takes writes."),
		leading: desc("skarv_controller_leads", "1 on the process that leads the cluster."),
		changes: desc("skarv_schema_changes", "Schema changes and new node groups that have not ended, on the leading process: those that wait or run, and those that are stuck.", "state"),
		oldest:  desc("skarv_schema_change_oldest_seconds", "Age of the oldest schema change that has not ended, on the leading process; 0: there is none."),
		slots:   desc("skarv_slots", "Places of proxies, on the leading process: in use (active), being shut out of the servers (fenced), left by a process that is gone (gone).", "state"),
		armed:   desc("skarv_failover_armed", "1 while a replica would take the place of the node group's primary if that were lost, 0 while it would not although it should, on the leading process.", "node_group"),
	}
}

// run looks until ctx ends.
func (m *clusterMeter) run(ctx context.Context) {
	tick := time.NewTicker(clusterTick)
	defer tick.Stop()
	for {
		m.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (m *clusterMeter) look(ctx context.Context) {
	var seen *clusterWaits
	if m.leads != nil && m.leads() {
		ctx, cancel := context.WithTimeout(ctx, clusterTick)
		seen, _ = waits(ctx, m.store) // then nothing is shown of it, and skarv_etcd_up tells
		cancel()
	}
	m.mu.Lock()
	m.seen = seen
	m.mu.Unlock()
}

func waits(ctx context.Context, store *topology.Store) (*clusterWaits, error) {
	jobs, err := control.Unfinished(ctx, store)
	if err != nil {
		return nil, err
	}
	w := &clusterWaits{}
	for _, j := range jobs {
		if j.Problem == "" {
			w.waiting++
		} else {
			w.stuck++
		}
		if w.oldest.IsZero() || j.Created.Before(w.oldest) {
			w.oldest = j.Created
		}
	}
	slots, _, err := store.Slots(ctx)
	if err != nil {
		return nil, err
	}
	if w.armed, err = armed(ctx, store); err != nil {
		return nil, err
	}
	members, err := store.Members(ctx)
	for _, s := range slots {
		switch {
		case s.Fenced:
			w.fenced++
		case s.Gone(members):
			w.gone++
		default:
			w.active++
		}
	}
	return w, err
}

// armed is, for each node group with automatic failover, whether a replica would take its primary's place.
func armed(ctx context.Context, store *topology.Store) (map[placement.NodeGroupID]bool, error) {
	seen, err := control.Failovers(ctx, store)
	out := map[placement.NodeGroupID]bool{}
	for id, f := range seen {
		if f.Current(time.Now()) && (f.Armed || f.Why != "") {
			out[id] = f.Armed
		}
	}
	return out, err
}

// Describe implements prometheus.Collector.
func (m *clusterMeter) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, out) }

// Collect implements prometheus.Collector. It waits for nothing.
func (m *clusterMeter) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	flag := map[bool]float64{true: 1}
	gauge(m.up, flag[m.store.Healthy().OK])
	if m.leads == nil {
		return
	}
	gauge(m.leading, flag[m.leads()])
	m.mu.Lock()
	seen := m.seen
	m.mu.Unlock()
	if seen == nil {
		return
	}
	gauge(m.changes, float64(seen.waiting), "waiting")
	gauge(m.changes, float64(seen.stuck), "stuck")
	age := 0.0
	if !seen.oldest.IsZero() {
		age = time.Since(seen.oldest).Seconds()
	}
	gauge(m.oldest, age)
	gauge(m.slots, float64(seen.active), "active")
	gauge(m.slots, float64(seen.fenced), "fenced")
	gauge(m.slots, float64(seen.gone), "gone")
	for id, is := range seen.armed {
		gauge(m.armed, flag[is], strconv.Itoa(int(id)))
	}
}
