package mysqlconn_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// sha2Server logs one client in with caching_sha2_password the way a MySQL server does, which knows the password or only
// its hash (cached).
type sha2Server struct {
	key                *rsa.PrivateKey
	tls                *tls.Config
	cached, switchFrom bool // switchFrom: it announces another plugin first
}

const sha2Password = "a long pässword of more than twenty bytes"

// serve returns the password it was sent, "cached" if none was needed.
func (s *sha2Server) serve(nc net.Conn) (password string) {
	salt := []byte("0123456789abcdefghij")
	hello := wire.InitialHandshake{ServerVersion: "8.4.0", Plugin: wire.CachingSHA2Password, Salt: salt,
		Capabilities: wire.CapLongPassword | wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth |
			wire.CapPluginAuthLenenc | wire.CapConnectAttrs}
	if s.tls != nil {
		hello.Capabilities |= wire.CapSSL
	}
	if s.switchFrom {
		hello.Plugin = "sha256_password"
	}
	f := &fakeSession{nc: nc}
	f.send(wire.AppendInitialHandshake(nil, hello))
	payload := f.receive()
	if wire.IsSSLRequest(payload) {
		t := tls.Server(nc, s.tls)
		if t.Handshake() != nil {
			return "no TLS"
		}
		f.nc = t
		payload = f.receive()
	}
	response, err := wire.ParseHandshakeResponse(payload)
	if err != nil {
		return err.Error()
	}
	scramble := response.Auth
	if s.switchFrom {
		salt = []byte("jihgfedcba9876543210")
		f.send(wire.AppendAuthSwitch(nil, wire.CachingSHA2Password, salt))
		scramble = f.receive()
	}
	if string(scramble) != string(wire.ScrambleCachingSHA2(sha2Password, salt)) {
		f.send(wire.AppendErr(nil, sqlerr.AccessDenied.New("u", "h", "YES")))
		return "wrong scramble"
	}
	if s.cached {
		f.send(wire.AppendAuthMore(nil, []byte{wire.SHA2FastOK}))
		f.send(wire.AppendOK(nil, wire.OK{}, 0, wire.OKHeader))
		return "cached"
	}
	f.send(wire.AppendAuthMore(nil, []byte{wire.SHA2FullAuth}))
	payload = f.receive()
	if len(payload) == 1 && payload[0] == wire.SHA2RequestKey {
		der, _ := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
		f.send(wire.AppendAuthMore(nil, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
		password, _ = wire.DecryptPassword(f.receive(), salt, s.key)
		password += " encrypted"
	} else if len(payload) > 0 {
		password = string(payload[:len(payload)-1]) + " over TLS"
	}
	f.send(wire.AppendOK(nil, wire.OK{Status: wire.StatusAutocommit}, 0, wire.OKHeader))
	return password
}

func TestCachingSHA2(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	serverTLS := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}

	for name, c := range map[string]struct {
		server sha2Server
		tls    *tls.Config
		want   string
		fails  bool
	}{
		"cached":            {sha2Server{cached: true}, nil, "cached", false},
		"switched":          {sha2Server{cached: true, switchFrom: true}, nil, "cached", false},
		"RSA":               {sha2Server{key: key}, nil, sha2Password + " encrypted", false},
		"TLS":               {sha2Server{tls: serverTLS}, &tls.Config{RootCAs: pool}, sha2Password + " over TLS", false},
		"TLS, switched":     {sha2Server{tls: serverTLS, switchFrom: true}, &tls.Config{RootCAs: pool}, sha2Password + " over TLS", false},
		"TLS, not trusted":  {sha2Server{tls: serverTLS}, &tls.Config{}, "no TLS", true},
		"TLS, not verified": {sha2Server{tls: serverTLS, cached: true}, &tls.Config{InsecureSkipVerify: true}, "cached", false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			got := make(chan string, 1)
			go func() {
				nc, err := l.Accept()
				if err != nil {
					got <- err.Error()
					return
				}
				defer nc.Close()
				got <- c.server.serve(nc)
			}()
			conn, err := mysqlconn.Dial(context.Background(),
				mysqlconn.Config{Addr: l.Addr().String(), User: "u", Password: sha2Password, TLS: c.tls})
			require.Equal(t, c.fails, err != nil, err)
			require.Equal(t, c.want, <-got)
			if err == nil {
				require.True(t, conn.Usable())
				conn.Close()
			}
		})
	}
	_, err = mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: "127.0.0.1:1", User: "u"})
	require.Error(t, err)
}
