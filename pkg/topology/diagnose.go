package topology

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"skarv/pkg/reason"
)

// diagnoseTimeout bounds one look at why etcd does not answer.
const diagnoseTimeout = time.Second

// explain makes cause what Healthy tells, if etcd still does not answer.
func (s *Store) explain(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.health.OK {
		s.health.Err = cause
	}
}

// diagnose finds out why etcd does not answer, for people: the client itself reports only that time ran out. It
// returns nil if nothing is wrong with the connection to the first member.
func (s *Store) diagnose(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, diagnoseTimeout)
	defer cancel()
	endpoint := s.client.Endpoints()[0]
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", u.Host, reason.Plain(err))
	}
	defer conn.Close()
	if s.tls == nil {
		return nil
	}
	cfg := s.tls.Clone()
	cfg.NextProtos = []string{"h2"}
	if cfg.ServerName == "" {
		cfg.ServerName = u.Hostname()
	}
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS with %s: %w", endpoint, reason.Plain(err))
	}
	// A server that refuses our certificate says so after the handshake.
	_ = conn.SetReadDeadline(time.Now().Add(diagnoseTimeout / 4))
	if _, err := secure.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("TLS with %s: %w", endpoint, reason.Plain(err))
	}
	return nil
}
