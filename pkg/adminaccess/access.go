// Package adminaccess is who may call the admin API, and how callers show who they are: TLS, certificates, a shared token. It
// knows gRPC's credentials and nothing of what is called.
//
// Whoever reaches the API rules the cluster: it kills sessions, shows statements and gives out accounts. So beyond
// loopback it is served only with TLS, to callers that present a certificate of a known authority, or the token.
package adminaccess

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"skarv/pkg/certfile"
)

// Files name what an Access is made of; all are PEM but the token's. Empty: there is none.
type Files struct {
	Cert, Key string // who we are, to callers and to those we call
	CA        string // the authority of others' certificates
	Token     string // what callers without a certificate must know
}

// minToken is the shortest token accepted, in bytes.
const minToken = 16

// Access is the way in and out of the admin API. It does not change once made and may be used concurrently.
type Access struct {
	cert  *certfile.Pair // nil: none
	roots *x509.CertPool // nil: the system's
	token string         // empty: none
}

// Load reads the files. The certificate is read again when it is renewed, which log is told of, nil: nobody.
func Load(f Files, log *slog.Logger) (*Access, error) {
	a := new(Access)
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("certificate and key go together")
	}
	if f.Cert != "" {
		var err error
		if a.cert, err = certfile.Load(f.Cert, f.Key, log); err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
	}
	if f.CA != "" {
		var err error
		if a.roots, err = certfile.Authorities(f.CA); err != nil {
			return nil, fmt.Errorf("authority: %w", err)
		}
	}
	if f.Token != "" {
		b, err := os.ReadFile(f.Token)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		a.token = strings.TrimSpace(string(b))
		if len(a.token) < minToken || strings.ContainsFunc(a.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("token: %s must hold one line of at least %d printable ASCII characters without spaces", f.Token, minToken)
		}
	}
	return a, nil
}

// Serves says what is missing for the API to be served at addr, HOST:PORT.
func (a *Access) Serves(addr string) error {
	switch {
	case a.cert == nil && a.roots != nil:
		return errors.New("an authority of callers' certificates needs a certificate of its own")
	case IsLoopback(addr):
		return nil
	case a.cert == nil:
		return fmt.Errorf("%s is open to other machines: it needs a certificate and key", addr)
	case a.roots == nil && a.token == "":
		return fmt.Errorf("%s is open to other machines: callers need a certificate, of an authority that is given, or a token", addr)
	}
	return nil
}

// IsLoopback reports whether only this machine reaches addr.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ServerOptions are those of a gRPC server that admits the right callers.
func (a *Access) ServerOptions() []grpc.ServerOption {
	var options []grpc.ServerOption
	if a.cert != nil {
		t := &tls.Config{MinVersion: tls.VersionTLS12}
		a.cert.Serve(t)
		if a.roots != nil {
			t.ClientCAs, t.ClientAuth = a.roots, tls.RequireAndVerifyClientCert
			if a.token != "" {
				t.ClientAuth = tls.VerifyClientCertIfGiven
			}
		}
		options = append(options, grpc.Creds(credentials.NewTLS(t)))
	}
	if a.token != "" {
		options = append(options, grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := a.admits(ctx); err != nil {
				return nil, err
			}
			return handler(ctx, req)
		}), grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := a.admits(s.Context()); err != nil {
				return err
			}
			return handler(srv, s)
		}))
	}
	return options
}

// admits returns an error for callers that have neither a certificate nor the token.
func (a *Access) admits(ctx context.Context) error {
	if a.certified(ctx) || a.knowsToken(ctx) {
		return nil
	}
	return status.Error(codes.Unauthenticated, "the admin API needs the token of this cluster, or a client certificate: see skarvctl --token-file, --tls-cert")
}

// certified reports whether the caller has presented a certificate, which was verified if so.
func (a *Access) certified(ctx context.Context) bool {
	if a.roots == nil {
		return false
	}
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	return ok && len(info.State.VerifiedChains) > 0
}

const authorization, bearer = "authorization", "Bearer "

func (a *Access) knowsToken(ctx context.Context) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	values := md.Get(authorization)
	if len(values) != 1 {
		return false
	}
	token, ok := strings.CutPrefix(values[0], bearer)
	// Digests, so that not even the length shows in the time it takes.
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.token))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// DialOptions are those of a client; useTLS asks for TLS even if no file does. A token is never sent in the clear to another
// machine: that is an error.
func (a *Access) DialOptions(addr string, useTLS bool, serverName string) ([]grpc.DialOption, error) {
	useTLS = useTLS || a.cert != nil || a.roots != nil || serverName != ""
	var options []grpc.DialOption
	if useTLS {
		t := &tls.Config{RootCAs: a.roots, ServerName: serverName, MinVersion: tls.VersionTLS12}
		if a.cert != nil {
			a.cert.Call(t)
		}
		options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(t)))
	} else {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if a.token != "" {
		if !useTLS && !IsLoopback(addr) {
			return nil, fmt.Errorf("the token would be sent to %s in the clear: use TLS", addr)
		}
		options = append(options, grpc.WithPerRPCCredentials(tokenCredentials{a.token, useTLS}))
	}
	return options, nil
}

// tokenCredentials sends the token with every call.
type tokenCredentials struct {
	token  string
	secure bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (t tokenCredentials) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{authorization: bearer + t.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (t tokenCredentials) RequireTransportSecurity() bool { return t.secure }
