package backend

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/catalog"
)

// metrics of all pools; nothing here is touched by a statement that finds an idle connection.
type metrics struct {
	up, full, locked, readOnly, barred, clock, open, inUse, limit, queue *prometheus.GaugeVec
	dialErrors, refused                                                  *prometheus.CounterVec
}

type groupMetrics struct {
	up, full, locked, readOnly, barred, clock, open, inUse, limit, queue prometheus.Gauge
	dialErrors                                                           prometheus.Counter
	refused                                                              map[refusal]prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	label := []string{"node_group"}
	m := &metrics{
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_up", Help: "1 while the node group's primary answers probes."}, label),
		full: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_disk_full", Help: "1 while statements wait for space on the disk of the node group's primary."}, label),
		locked: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_locked", Help: "1 while statements wait for a lock of the node group's whole primary."}, label),
		readOnly: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_read_only", Help: "1 while read_only is set on the node group's primary."}, label),
		barred: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_account_refused", Help: "1 while the node group's primary refuses a login with Skarv's own account."}, label),
		clock: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_clock_offset_seconds", Help: "How far the clock of the node group's primary is ahead of that of this process."}, label),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_connections", Help: "Open connections to the node group."}, label),
		inUse: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_connections_in_use", Help: "Connections to the node group held by sessions."}, label),
		dialErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_backend_dial_errors_total", Help: "Logins to the node group that failed."}, label),
		limit: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_limit", Help: "Connections to the node group that new work may use at present."}, label),
		queue: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_queue", Help: "Statements that wait for a connection to the node group."}, label),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_backend_refused_total",
			Help: "Statements refused because the node group is overloaded: its queue was full (queue), their turn would have come too late (early), or did not come in time (timeout).",
		}, append(label, "reason")),
	}
	if r != nil {
		r.MustRegister(m.up, m.full, m.locked, m.readOnly, m.barred, m.clock, m.open, m.inUse, m.limit, m.queue, m.dialErrors, m.refused)
	}
	return m
}

func (m *metrics) group(g *catalog.NodeGroup) *groupMetrics {
	l := strconv.Itoa(int(g.ID))
	gm := &groupMetrics{
		up: m.up.WithLabelValues(l), full: m.full.WithLabelValues(l), locked: m.locked.WithLabelValues(l), readOnly: m.readOnly.WithLabelValues(l), barred: m.barred.WithLabelValues(l), clock: m.clock.WithLabelValues(l), open: m.open.WithLabelValues(l), inUse: m.inUse.WithLabelValues(l),
		limit: m.limit.WithLabelValues(l), queue: m.queue.WithLabelValues(l),
		dialErrors: m.dialErrors.WithLabelValues(l), refused: map[refusal]prometheus.Counter{},
	}
	for _, r := range []refusal{refusedFull, refusedEarly, refusedLate} {
		gm.refused[r] = m.refused.WithLabelValues(l, string(r))
	}
	return gm
}

// forget takes away what is shown of a group that is out of the cluster.
func (m *metrics) forget(g *catalog.NodeGroup) {
	l := prometheus.Labels{"node_group": strconv.Itoa(int(g.ID))}
	for _, v := range []interface{ DeletePartialMatch(prometheus.Labels) int }{m.up, m.full, m.locked, m.readOnly, m.barred, m.clock, m.open, m.inUse, m.limit, m.queue, m.dialErrors, m.refused} {
		v.DeletePartialMatch(l)
	}
}
