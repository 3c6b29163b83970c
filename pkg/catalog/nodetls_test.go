package catalog

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientTLS(t *testing.T) {
	trust := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	of := func(addr, mode string) (*tls.Config, bool) { return Node{Addr: addr, TLS: mode}.ClientTLS(trust) }

	cfg, _ := of("10.0.0.1:3306", "")
	require.Nil(t, cfg)
	for mode, optional := range map[string]bool{"preferred": true, "required": false} {
		cfg, o := of("10.0.0.1:3306", mode)
		require.True(t, cfg.InsecureSkipVerify)
		require.Equal(t, optional, o, mode)
	}
	for addr, name := range map[string]string{"db.example:3306": "db.example", "[::1]:3306": "::1"} {
		cfg, optional := of(addr, "verify")
		require.False(t, cfg.InsecureSkipVerify)
		require.False(t, optional)
		require.Equal(t, name, cfg.ServerName)
		require.Same(t, trust.RootCAs, cfg.RootCAs)
		require.Equal(t, uint16(tls.VersionTLS13), cfg.MinVersion)
	}
	require.Empty(t, trust.ServerName, "what is shared is not changed")
}
