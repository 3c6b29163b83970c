package adminaccess

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// authority signs certificates for tests.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key, a.file, _ = a.make("authority", nil)
	return a
}

// sign returns the files of a certificate for 127.0.0.1.
func (a *authority) sign(name string) (cert, key string) {
	_, _, cert, key = a.make(name, a)
	return cert, key
}

func (a *authority) make(name string, by *authority) (*x509.Certificate, *ecdsa.PrivateKey, string, string) {
	t := a.t
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: by == nil, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	write := func(suffix, kind string, b []byte) string {
		path := filepath.Join(a.dir, name+suffix)
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
		return path
	}
	return cert, key, write(".pem", "CERTIFICATE", der), write(".key", "PRIVATE KEY", private)
}

func token(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func load(t *testing.T, f Files) *Access {
	a, err := Load(f, nil)
	require.NoError(t, err)
	return a
}

// call serves with one Access and calls with another, for one answer and for a stream of them, which must get in alike.
func call(t *testing.T, server, client *Access, useTLS bool) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(server.ServerOptions()...)
	healthv1.RegisterHealthServer(s, health.NewServer())
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	defer func() {
		s.Stop()
		require.NoError(t, <-done)
	}()
	options, err := client.DialOptions(l.Addr().String(), useTLS, "")
	require.NoError(t, err)
	conn, err := grpc.NewClient(l.Addr().String(), options...)
	require.NoError(t, err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	api := healthv1.NewHealthClient(conn)
	_, err = api.Check(ctx, &healthv1.HealthCheckRequest{})
	stream, serr := api.Watch(ctx, &healthv1.HealthCheckRequest{})
	if serr == nil {
		_, serr = stream.Recv()
	}
	require.Equal(t, status.Code(err), status.Code(serr), "%v", serr)
	return err
}

func TestWhoGetsIn(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	serverCert, serverKey := ours.sign("server")
	clientCert, clientKey := ours.sign("client")
	strangerCert, strangerKey := others.sign("stranger")
	right, wrong := token(t, "0123456789abcdef\n"), token(t, "0123456789abcdeg")
	files := func(cert, key, ca, token string) Files { return Files{Cert: cert, Key: key, CA: ca, Token: token} }
	byToken := load(t, files(serverCert, serverKey, "", right))
	byCert := load(t, files(serverCert, serverKey, ours.file, ""))
	byEither := load(t, files(serverCert, serverKey, ours.file, right))
	onLoopback := load(t, files("", "", "", right))
	open := load(t, Files{})
	for _, c := range []struct {
		name           string
		server, client *Access
		code           codes.Code
	}{
		{"nothing is asked", open, open, codes.OK},
		{"token", byToken, load(t, files("", "", ours.file, right)), codes.OK},
		{"wrong token", byToken, load(t, files("", "", ours.file, wrong)), codes.Unauthenticated},
		{"no token", byToken, load(t, files("", "", ours.file, "")), codes.Unauthenticated},
		{"a certificate, but no authority was given to judge it", byToken, load(t, files(clientCert, clientKey, ours.file, "")), codes.Unauthenticated},
		{"certificate", byCert, load(t, files(clientCert, clientKey, ours.file, "")), codes.OK},
		{"no certificate", byCert, load(t, files("", "", ours.file, "")), codes.Unavailable},
		{"another authority's certificate", byCert, load(t, files(strangerCert, strangerKey, ours.file, "")), codes.Unavailable},
		{"the token where only certificates count", byCert, load(t, files("", "", ours.file, right)), codes.Unavailable},
		{"either: token", byEither, load(t, files("", "", ours.file, right)), codes.OK},
		{"either: certificate", byEither, load(t, files(clientCert, clientKey, ours.file, "")), codes.OK},
		{"either: none", byEither, load(t, files("", "", ours.file, "")), codes.Unauthenticated},
		{"either: another authority's certificate, and the token", byEither, load(t, files(strangerCert, strangerKey, ours.file, right)), codes.Unavailable},
		{"a server that is not known", byToken, load(t, files("", "", others.file, right)), codes.Unavailable},
		{"no TLS", byToken, open, codes.Unavailable},
		{"token on loopback", onLoopback, onLoopback, codes.OK},
		{"no token on loopback", onLoopback, open, codes.Unauthenticated},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.code, status.Code(call(t, c.server, c.client, false)))
		})
	}
}

func TestWhatIsNeededBeyondLoopback(t *testing.T) {
	ours := newAuthority(t)
	cert, key := ours.sign("server")
	right := token(t, "0123456789abcdef")
	for _, addr := range []string{"127.0.0.1:9306", "[::1]:9306", "localhost:9306"} {
		require.NoError(t, load(t, Files{}).Serves(addr))
	}
	for _, addr := range []string{"0.0.0.0:9306", ":9306", "10.0.0.1:9306", "db1.example:9306"} {
		require.ErrorContains(t, load(t, Files{}).Serves(addr), "certificate and key")
		require.ErrorContains(t, load(t, Files{Token: right}).Serves(addr), "certificate and key")
		require.ErrorContains(t, load(t, Files{Cert: cert, Key: key}).Serves(addr), "or a token")
		require.NoError(t, load(t, Files{Cert: cert, Key: key, Token: right}).Serves(addr))
		require.NoError(t, load(t, Files{Cert: cert, Key: key, CA: ours.file}).Serves(addr))
		_, err := load(t, Files{Token: right}).DialOptions(addr, false, "")
		require.ErrorContains(t, err, "in the clear")
		_, err = load(t, Files{Token: right}).DialOptions(addr, true, "")
		require.NoError(t, err)
	}
	require.Error(t, load(t, Files{CA: ours.file}).Serves("127.0.0.1:9306"))
	for _, f := range []Files{
		{Cert: cert}, {Key: key}, {Cert: ours.file, Key: key}, {CA: key}, {CA: "/nonexistent"}, {Token: "/nonexistent"},
		{Token: token(t, "short")}, {Token: token(t, "two words are not one")},
	} {
		_, err := Load(f, nil)
		require.Error(t, err, "%+v", f)
	}
}
