package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigNamesEveryFault(t *testing.T) {
	_, err := ParseConfig("skarv.yaml", []byte(`
mysql:
  adr: 127.0.0.1:3306
  max_connections: 0
  proxy_protocol_networks: [10.0.0.0/8, 10.1.2.3, "::1", balancer]
admin:
  addr: 0.0.0.0:9306
backend:
  fail_after: soon
log:
  level: loud
roles: [proxy, cook]
`))
	require.Error(t, err)
	for _, want := range []string{
		"unknown key adr", "admin: 0.0.0.0:9306 is open to other machines: it needs a certificate and key", "mysql.max_connections: must be greater than 0",
		`mysql.proxy_protocol_networks: "balancer" is no network`, `"soon" is not a duration`,
		`log.level: "loud" is none of`, `"cook" is neither`,
	} {
		require.ErrorContains(t, err, want)
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		require.Contains(t, line, "skarv.yaml: ")
	}
}

func TestEmptyConfigIsTheDefault(t *testing.T) {
	cfg, err := ParseConfig("skarv.yaml", nil)
	require.NoError(t, err)
	require.Equal(t, DefaultConfig(), cfg)
}
