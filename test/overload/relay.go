package main

import (
	"bytes"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// relay stands before a server and gives it a capacity: as many requests at a time as it has workers, each of which takes
// service. Answers pass at once.
type relay struct {
	listener net.Listener
	to       string
	workers  chan struct{}
	service  atomic.Int64 // nanoseconds; 0: requests pass at once

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	group  sync.WaitGroup
}

func newRelay(to string, workers int, service time.Duration) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, to: to, workers: make(chan struct{}, workers), conns: map[net.Conn]struct{}{}}
	r.service.Store(int64(service))
	r.group.Go(r.accept)
	return r, nil
}

func (r *relay) accept() {
	for {
		from, err := r.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", r.to)
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

func (r *relay) add(conns ...net.Conn) bool {
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

func (r *relay) end(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
		_ = c.Close()
	}
}

// requests passes what the client sends: it asks one thing at a time, so what can be read is one request, or a part of a
// large one. Only the statements that are offered cost time, not logins.
func (r *relay) requests(from, to net.Conn) {
	defer r.end(from, to)
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if service := time.Duration(r.service.Load()); service > 0 && bytes.Contains(buf[:n], []byte("FROM t WHERE")) {
			r.workers <- struct{}{}
			time.Sleep(service)
			<-r.workers
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (r *relay) close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.group.Wait()
}
