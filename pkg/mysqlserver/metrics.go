package mysqlserver

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	open     prometheus.Gauge
	accepted prometheus.Counter
	refused  prometheus.Counter
	logins   *prometheus.CounterVec // result
	ended    *prometheus.CounterVec // reason
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "skarv_client_connections", Help: "Client connections that are open, logging in included.",
		}),
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "skarv_client_connections_accepted_total", Help: "Client connections accepted.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "skarv_client_connections_refused_total", Help: "Client connections refused because there were too many.",
		}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_client_logins_total", Help: "Logins by result: ok, denied, or failed for any other reason.",
		}, []string{"result"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "skarv_client_connections_ended_total", Help: "Client connections that ended after login, by reason.",
		}, []string{"reason"}),
	}
	if r == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.open, m.accepted, m.refused, m.logins, m.ended} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
