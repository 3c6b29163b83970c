package etcdtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
)

// Wire is a way to an etcd on which nothing arrives while it is held, although it takes connections, as with an etcd that is slow or
// frozen.
type Wire struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	pass sync.Cond // held, or over
	held bool
	over bool
	open []net.Conn
}

// Wire returns a way to e that ends with the test.
func (e *Etcd) Wire(t testing.TB) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	w := &Wire{listener: l, to: e.client.Host}
	w.pass.L = &w.mu
	var running sync.WaitGroup
	running.Go(func() { w.run(&running) })
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		w.over = true
		for _, c := range w.open {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.pass.Broadcast()
		running.Wait()
	})
	return w
}

// Endpoint is the address clients connect to.
func (w *Wire) Endpoint() string {
	return (&url.URL{Scheme: "http", Host: w.listener.Addr().String()}).String()
}

// Hold begins or ends that nothing arrives.
func (w *Wire) Hold(held bool) {
	w.mu.Lock()
	w.held = held
	w.mu.Unlock()
	w.pass.Broadcast()
}

func (w *Wire) run(running *sync.WaitGroup) {
	for {
		in, err := w.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, in, out)
		w.mu.Unlock()
		running.Go(func() { w.copy(in, out) })
		running.Go(func() { w.copy(out, in) })
	}
}

// copy passes on what arrives until either side ends.
func (w *Wire) copy(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		for w.held && !w.over {
			w.pass.Wait()
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
