package backend

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

// A node group that is out of the cluster is not shown any more.
func TestMetricsOfGroupThatIsGone(t *testing.T) {
	r := prometheus.NewRegistry()
	m := newMetrics(r)
	m.group(&catalog.NodeGroup{ID: 5})
	shown, err := r.Gather()
	require.NoError(t, err)
	require.Len(t, shown, 12)
	m.forget(&catalog.NodeGroup{ID: 5})
	shown, err = r.Gather()
	require.NoError(t, err)
	require.Empty(t, shown)
}
