package mysqlserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"
	"time"
)

// keys are what a Server proves itself with, and what passwords are encrypted for.
type keys struct {
	tls *tls.Config
	// rsa returns the key pair for passwords without TLS, the public half as clients get it. Making one takes a while,
	// so it is made once, at first use.
	rsa func() (*rsa.PrivateKey, []byte, error)
}

func newKeys(cfg Config) (*keys, error) {
	k := &keys{tls: cfg.TLS}
	if k.tls == nil {
		cert, err := selfSigned(time.Now())
		if err != nil {
			return nil, fmt.Errorf("make a TLS certificate: %w", err)
		}
		k.tls = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	type pair struct {
		key    *rsa.PrivateKey
		public []byte
	}
	once := sync.OnceValues(func() (pair, error) {
		key := cfg.RSAKey
		if key == nil {
			var err error
			if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
				return pair{}, err
			}
		}
		der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
		if err != nil {
			return pair{}, err
		}
		return pair{key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}, nil
	})
	k.rsa = func() (*rsa.PrivateKey, []byte, error) {
		p, err := once()
		return p.key, p.public, err
	}
	return k, nil
}

// selfSigned makes a certificate that encrypts and proves nothing else, as MySQL servers make one at their first start.
func selfSigned(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "Skarv automatically generated certificate"},
		DNSNames:     []string{"localhost"},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
