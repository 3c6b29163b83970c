package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainServer(t *testing.T) {
	s := StartServer(t, Variable("max_connections", "77"))
	var version, limit string
	require.NoError(t, s.DB(t, "").QueryRow("SELECT VERSION(), @@max_connections").Scan(&version, &limit))
	require.Equal(t, "77", limit)
	require.Equal(t, s.Status().Version, version)
	require.NoError(t, openDB(t, s.TCP("")).Ping())
}
