package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

func TestClusterMeter(t *testing.T) {
	e := etcdtest.Start(t)
	open := func(timeout time.Duration) *topology.Store {
		s, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, RequestTimeout: timeout})
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	store, hasty := open(time.Minute), open(time.Second)
	leads := false
	shown := func(store *topology.Store) map[string]float64 {
		m := newClusterMeter(store, func() bool { return leads })
		registry := prometheus.NewRegistry()
		registry.MustRegister(m)
		m.look(t.Context())
		families, err := registry.Gather()
		require.NoError(t, err)
		values := map[string]float64{}
		for _, f := range families {
			for _, x := range f.GetMetric() {
				name := f.GetName()
				for _, l := range x.GetLabel() {
					name += " " + l.GetValue()
				}
				values[strings.TrimPrefix(name, "skarv_")] = x.GetGauge().GetValue()
			}
		}
		return values
	}
	require.Equal(t, map[string]float64{"etcd_up": 1, "controller_leads": 0}, shown(store))

	job := func(id, more string) {
		created := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		_, err := store.Change(nil).PutRecord(topology.DDLJobs, id, fmt.Appendf(nil, `{"state":"running","created":%q%s}`, created, more), topology.Any).Commit(t.Context())
		require.NoError(t, err)
	}
	job("a", "")
	job("b", `,"problem":"a server is down"`)
	_, err := store.TakeSlot(t.Context(), "gone", "h:1")
	require.NoError(t, err)
	leads = true
	got := shown(store)
	require.InDelta(t, 3600, got["schema_change_oldest_seconds"], 100)
	delete(got, "schema_change_oldest_seconds")
	require.Equal(t, map[string]float64{
		"etcd_up": 1, "controller_leads": 1, "schema_changes waiting": 1, "schema_changes stuck": 1,
		"slots active": 0, "slots fenced": 0, "slots gone": 1,
	}, got)

	e.Stop(t)
	require.Equal(t, map[string]float64{"etcd_up": 0, "controller_leads": 1}, shown(hasty))
}
