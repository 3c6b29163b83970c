package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca")
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// issue writes NAME.pem and NAME.key.
func (a *authority) issue(t testing.TB, name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := c, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	} else {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	writeFile(t, a.dir, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(t, a.dir, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})))
	c, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return c, key
}

// works runs a cluster of one server on an etcd, through a restart of that if restart says so.
func works(t *testing.T, etcd *etcdServer, config string, restart bool) {
	t.Helper()
	d := deploy(t, etcd, 1, 1, config)
	db := d.admin(t, 0, "")
	exec1(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY)", "INSERT INTO shop.orders VALUES (NULL)")
	if restart {
		etcd.end(t, syscall.SIGKILL)
		exec1(t, db, "SELECT * FROM shop.orders")
		etcd.start(t)
	}
	eventually(t, patience, "DDL", func() bool {
		_, err := db.Exec("CREATE TABLE IF NOT EXISTS shop.later (id INT PRIMARY KEY)")
		return err == nil && d.proxies[0].ctl(t, "status").code == 0
	})
	exec1(t, db, "INSERT INTO shop.later VALUES (1)")
	require.Zero(t, d.proxies[0].end(t, syscall.SIGTERM))
}

func TestEtcdWithTLS(t *testing.T) {
	ca := newAuthority(t)
	ca.issue(t, "etcd")
	ca.issue(t, "skarv")
	etcd := startEtcd(t, "https", "--cert-file="+ca.path("etcd.pem"), "--key-file="+ca.path("etcd.key"),
		"--client-cert-auth", "--trusted-ca-file="+ca.path("ca.pem"))
	section := func(cert string) string {
		return fmt.Sprintf("etcd: {endpoints: ['%s'], dial_timeout: 2s, tls_ca: %s, tls_cert: %s, tls_key: %s}\n", etcd.url,
			ca.path("ca.pem"), ca.path(cert+".pem"), ca.path(cert+".key"))
	}
	works(t, etcd, section("skarv"), true)

	// Without a certificate etcd does not let us in, and that is said.
	p := serve(t, fmt.Sprintf("etcd: {endpoints: ['%s'], tls_ca: %s}\n", etcd.url, ca.path("ca.pem")))
	eventually(t, patience, "readyz says why", func() bool {
		status, body := p.get(t, "/readyz")
		return status == 503 && strings.Contains(body, " certificate")
	})
	r := p.ctl(t, "status")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, " certificate")
}

func TestEtcdWithPassword(t *testing.T) {
	etcd := startEtcd(t, "http")
	etcdctl := func(args ...string) {
		t.Helper()
		r := command(t, "", "env", append([]string{"ETCDCTL_API=3", "etcdctl", "--endpoints=" + etcd.url}, args...)...)
		require.Zero(t, r.code, r.errs)
	}
	etcdctl("user", "add", "root:rootpw")
	etcdctl("user", "add", "skarv:s3cret-of-etcd")
	etcdctl("role", "add", "skarv")
	etcdctl("role", "grant-permission", "skarv", "readwrite", "/skarv/v1/", "--prefix")
	etcdctl("user", "grant-role", "skarv", "skarv")
	etcdctl("user", "grant-role", "root", "root")
	etcdctl("auth", "enable")
	section := func(password string) string {
		return fmt.Sprintf("etcd: {endpoints: ['%s'], username: skarv, password_file: %s}\n", etcd.url, writeFile(t, t.TempDir(), "pw", password))
	}
	// No restart: etcd 3.4 has forgotten the token then and refuses a request for a new one that carries the old one.
	// It is fixed in 3.5, which we ask for; pkg/topology tests the restart.
	works(t, etcd, section("s3cret-of-etcd\n"), false)

	// A wrong password, or none, ends the process with a line that names etcd.
	wrong := writeFile(t, t.TempDir(), "skarv.yaml", section("wrong")+"mysql: {addr: '127.0.0.1:0'}\nhttp: {addr: '127.0.0.1:0'}\nadmin: {addr: '127.0.0.1:0'}\n")
	r := command(t, "", program(t, "skarv"), "serve", "--config", wrong)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "etcd")
	require.Contains(t, r.errs, "authentication failed")
	require.NotContains(t, r.errs, "wrong\n")
	p := serve(t, etcdSection(etcd))
	eventually(t, patience, "readyz says why", func() bool {
		status, body := p.get(t, "/readyz")
		return status == 503 && strings.Contains(body, "user name is empty")
	})
}
