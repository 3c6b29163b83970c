package backend

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"skarv/pkg/catalog"
)

// metrics of all pools; nothing here is touched by a statement that finds an idle connection.
type metrics struct {
	up, open, inUse *prometheus.GaugeVec
	dialErrors      *prometheus.CounterVec
	exhausted       *prometheus.CounterVec
}

type groupMetrics struct {
	up, open, inUse       prometheus.Gauge
	dialErrors, exhausted prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	label := []string{"node_group"}
	m := &metrics{
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_up", Help: "1 while the node group's primary answers probes."}, label),
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_connections", Help: "Open connections to the node group."}, label),
		inUse: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "skarv_backend_connections_in_use", Help: "Connections to the node group held by sessions."}, label),
		dialErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_backend_dial_errors_total", Help: "Logins to the node group that failed."}, label),
		exhausted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_backend_pool_exhausted_total", Help: "Statements refused because no connection came free in time."}, label),
	}
	if r != nil {
		r.MustRegister(m.up, m.open, m.inUse, m.dialErrors, m.exhausted)
	}
	return m
}

func (m *metrics) group(g *catalog.NodeGroup) *groupMetrics {
	l := strconv.Itoa(int(g.ID))
	return &groupMetrics{
		up: m.up.WithLabelValues(l), open: m.open.WithLabelValues(l), inUse: m.inUse.WithLabelValues(l),
		dialErrors: m.dialErrors.WithLabelValues(l), exhausted: m.exhausted.WithLabelValues(l),
	}
}
