// Package certfile reads certificates and authorities from PEM files. A certificate is read again when its files are renewed, so that
// nobody need start a process anew for it.
package certfile

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// lookEvery is how often the files are looked at, at most.
const lookEvery = time.Second

// Pair is a certificate and its key in two files. It may be used concurrently.
type Pair struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamps  [2]stamp // of the files current is of, or that could not be used in its place
	looked  time.Time
}

// stamp tells a file from the one that takes its place.
type stamp struct {
	modified time.Time
	size     int64
}

// Load reads the files. What becomes of renewed ones is told to log, nil: to nobody.
func Load(certFile, keyFile string, log *slog.Logger) (*Pair, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Pair{certFile: certFile, keyFile: keyFile, log: log, looked: time.Now()}
	var err error
	if p.stamps, err = p.stamp(); err != nil {
		return nil, err
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	p.current = &cert
	return p, nil
}

// Certificate is the one in the files. While these cannot be used, because one of them is renewed and the other is not yet, it stays what it was.
func (p *Pair) Certificate() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); now.Sub(p.looked) >= lookEvery {
		p.looked = now
		p.renew()
	}
	return p.current
}

// renew reads the files if they are others than before; mu is held.
func (p *Pair) renew() {
	stamps, err := p.stamp()
	if err == nil && stamps == p.stamps {
		return
	}
	var cert tls.Certificate
	if err == nil {
		cert, err = tls.LoadX509KeyPair(p.certFile, p.keyFile)
	}
	if err != nil {
		if stamps != p.stamps { // told once
			p.log.Warn("the renewed certificate cannot be used, the one before stays", "file", p.certFile, "error", err)
		}
		p.stamps = stamps
		return
	}
	p.current, p.stamps = &cert, stamps
	p.log.Info("certificate renewed", "file", p.certFile, "ends", cert.Leaf.NotAfter)
}

// stamp is that of both files; the zero one if a file is not there.
func (p *Pair) stamp() (stamps [2]stamp, _ error) {
	for i, name := range [...]string{p.certFile, p.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return [2]stamp{}, err
		}
		stamps[i] = stamp{info.ModTime(), info.Size()}
	}
	return stamps, nil
}

// Serve lets a server with t show the certificate.
func (p *Pair) Serve(t *tls.Config) {
	t.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.Certificate(), nil }
}

// Call lets a client with t show the certificate to servers that ask for one.
func (p *Pair) Call(t *tls.Config) {
	t.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return p.Certificate(), nil }
}

// Authorities reads the certificates of authorities.
func Authorities(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", file)
	}
	return pool, nil
}
