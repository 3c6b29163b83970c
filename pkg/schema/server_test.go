package schema

import (
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/nodes"
)

var servers []*nodes.Server

func TestMain(m *testing.M) { os.Exit(nodes.Main(m, 1, &servers)) }

// A server that hangs is noticed, at login and in the middle of a statement; one that works for long is not taken for one.
func TestSilentServer(t *testing.T) {
	node := servers[0].Node()
	r := startRelay(t, strings.TrimPrefix(node.Addr, "unix:"))
	node.Addr = r.listener.Addr().String()
	d := Dialer{patience: patience{login: time.Minute, attend: 100 * time.Millisecond}}
	dial := func() *Server {
		s, err := d.Dial(t.Context(), "g", node)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	_, err := dial().Exec(t.Context(), "DO SLEEP(1)")
	require.NoError(t, err)

	s := dial()
	d.patience.login = 3 * time.Second
	s.dialer = d
	ended := make(chan error, 1)
	go func() {
		_, err := s.Exec(t.Context(), "DO SLEEP(600)")
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return servers[0].Value(t, "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'DO SLEEP(600)'") == "1"
	}, time.Minute, time.Millisecond)
	r.hang()
	require.ErrorIs(t, <-ended, ErrSilent)

	_, err = d.Dial(t.Context(), "g", node)
	require.ErrorContains(t, err, "no answer within 3s")
}

// relay passes bytes to a server and back, until it hangs: then it takes connections and says nothing.
type relay struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	hangs bool
	conns []net.Conn
}

func startRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{listener: l, to: to}
	var g sync.WaitGroup
	g.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			g.Go(func() { r.pass(from) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			_ = c.Close()
		}
		r.mu.Unlock()
		g.Wait()
	})
	return r
}

func (r *relay) hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hangs = true
}

func (r *relay) pass(from net.Conn) {
	r.mu.Lock()
	r.conns = append(r.conns, from)
	silent := r.hangs
	r.mu.Unlock()
	if silent {
		return
	}
	to, err := net.Dial("unix", r.to)
	if err != nil {
		_ = from.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, to)
	r.mu.Unlock()
	var g sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		g.Go(func() {
			buffer := make([]byte, 4096)
			for {
				n, err := way[0].Read(buffer)
				r.mu.Lock()
				silent := r.hangs
				r.mu.Unlock()
				if silent {
					return
				}
				if n > 0 {
					_, _ = way[1].Write(buffer[:n])
				}
				if err != nil {
					_ = way[1].Close()
					return
				}
			}
		})
	}
	g.Wait()
}
