package certfile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// write makes a certificate that has signed itself, and its key.
func write(t *testing.T, name, certFile, keyFile string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"db"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for _, f := range []struct {
		file, kind string
		der        []byte
	}{{certFile, "CERTIFICATE", der}, {keyFile, "PRIVATE KEY", private}} {
		if f.file != "" {
			require.NoError(t, os.WriteFile(f.file, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der}), 0o600))
			// Whatever the file system's clock makes of two writings in a row.
			require.NoError(t, os.Chtimes(f.file, time.Time{}, time.Now().Add(time.Duration(len(name))*time.Hour)))
		}
	}
}

// shown is the name in the certificate that a server with p shows, a second after it has looked at the files last.
func shown(t *testing.T, p *Pair) string {
	p.mu.Lock()
	p.looked = p.looked.Add(-lookEvery)
	p.mu.Unlock()
	here, there := net.Pipe()
	server, client := &tls.Config{}, &tls.Config{InsecureSkipVerify: true, ServerName: "db"} //nolint:gosec // whatever it shows
	p.Serve(server)
	done := make(chan error, 1)
	go func() { done <- tls.Server(there, server).Handshake() }()
	c := tls.Client(here, client)
	require.NoError(t, c.Handshake())
	require.NoError(t, <-done)
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestRenewed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	write(t, "a", cert, key)
	var told strings.Builder
	p, err := Load(cert, key, slog.New(slog.NewTextHandler(&told, nil)))
	require.NoError(t, err)
	require.Equal(t, "a", shown(t, p))
	require.Empty(t, told.String())

	write(t, "bb", cert, key)
	require.Equal(t, "bb", shown(t, p))
	require.Equal(t, 1, strings.Count(told.String(), "certificate renewed"))

	write(t, "ccc", cert, "") // its key comes later
	for range 3 {
		require.Equal(t, "bb", shown(t, p))
	}
	require.Equal(t, 1, strings.Count(told.String(), "cannot be used"), "told once: %s", told.String())
	write(t, "dddd", cert, key)
	require.Equal(t, "dddd", shown(t, p))

	require.NoError(t, os.Remove(key))
	require.Equal(t, "dddd", shown(t, p))
	require.Equal(t, 2, strings.Count(told.String(), "cannot be used"), told.String())
	write(t, "eeeee", cert, key)
	require.Equal(t, "eeeee", shown(t, p))
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	_, err := Load(cert, key, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	write(t, "a", cert, key)
	write(t, "b", cert, "")
	_, err = Load(cert, key, nil)
	require.ErrorContains(t, err, "does not match")
}

func TestAuthorities(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	write(t, "a", cert, key)
	_, err := Authorities(cert)
	require.NoError(t, err)
	_, err = Authorities(key)
	require.ErrorContains(t, err, "no certificate")
	_, err = Authorities(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
