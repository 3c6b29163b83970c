// Package slowrelay gives database servers a capacity that is known, and far below what the machine can do, for
// measurements of queues: it stands before a server and lets a few requests at a time through.
package slowrelay

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"skarv/pkg/wire"
)

// Config says what a Relay does.
type Config struct {
	To          string   // HOST:PORT of the server
	Workers     int      // requests at a time
	Marks       []string // in a request that costs time; others, such as those of a login, pass at once
	Exponential bool     // the time is random, exponentially distributed; else it is always the same
}

// Relay stands before a server: as many requests at a time as it has workers pass, after the service time each. Answers pass
// at once. New starts it, Close ends it and all its connections.
type Relay struct {
	cfg      Config
	listener net.Listener
	workers  chan struct{}
	service  atomic.Int64 // nanoseconds; 0: requests pass at once

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	group  sync.WaitGroup
}

// New starts a Relay whose requests pass at once until SetService.
func New(cfg Config) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{cfg: cfg, listener: l, workers: make(chan struct{}, cfg.Workers), conns: map[net.Conn]struct{}{}}
	r.group.Go(r.accept)
	return r, nil
}

// Addr is where the relay stands.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// SetService sets the (mean) time of a request; 0: they pass at once.
func (r *Relay) SetService(d time.Duration) { r.service.Store(int64(d)) }

func (r *Relay) accept() {
	for {
		from, err := r.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", r.cfg.To)
		if err != nil {
			_ = from.Close()
			continue
		}
		if !r.add(from, to) {
			return
		}
		r.group.Go(func() { r.requests(from, to) })
		r.group.Go(func() {
			_, _ = io.Copy(from, to)
			r.end(from, to)
		})
	}
}

func (r *Relay) add(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		if r.closed {
			_ = c.Close()
			continue
		}
		r.conns[c] = struct{}{}
	}
	return !r.closed
}

func (r *Relay) end(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
		_ = c.Close()
	}
}

// costs reports whether a request has one of the marks.
func (r *Relay) costs(request []byte) bool {
	for _, mark := range r.cfg.Marks {
		if bytes.Contains(request, []byte(mark)) {
			return true
		}
	}
	return false
}

// requests passes what the client sends, one request after the other: what can be read at once is a few small requests, or a part of a large
// one.
func (r *Relay) requests(from, to net.Conn) {
	defer r.end(from, to)
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		for rest := buf[:n]; len(rest) > 0; {
			request := first(rest)
			rest = rest[len(request):]
			if service := time.Duration(r.service.Load()); service > 0 && r.costs(request) {
				if r.cfg.Exponential {
					service = time.Duration(rand.ExpFloat64() * float64(service))
				}
				r.workers <- struct{}{}
				time.Sleep(service)
				<-r.workers
			}
			if _, err := to.Write(request); err != nil {
				return
			}
		}
	}
}

// first is the first packet of b if it is whole, else b.
func first(b []byte) []byte {
	if len(b) >= wire.HeaderLen {
		if length, _ := wire.Header(b); len(b) > wire.HeaderLen+length {
			return b[:wire.HeaderLen+length]
		}
	}
	return b
}

// Close ends the relay.
func (r *Relay) Close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
}
