package catalog

import (
	"crypto/tls"
	"net"
)

// ClientTLS is how a client of the node uses TLS, nil: not at all; optional says that a server without it will do. What is left open by the
// node's mode is as trust has it, which may be nil: authorities of certificates above all.
func (n Node) ClientTLS(trust *tls.Config) (cfg *tls.Config, optional bool) {
	if n.TLS == "" {
		return nil, false
	}
	cfg = &tls.Config{MinVersion: tls.VersionTLS12}
	if trust != nil {
		cfg = trust.Clone()
	}
	if n.TLS != "verify" {
		cfg.InsecureSkipVerify = true //nolint:gosec // encryption without a known authority was asked for
	} else if cfg.ServerName == "" {
		cfg.ServerName, _, _ = net.SplitHostPort(n.Addr)
	}
	return cfg, n.TLS == "preferred"
}
