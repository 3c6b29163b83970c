package socket_test

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/socket"
)

// patience is how long a test waits for what must happen; nothing in a passing run takes it.
const patience = time.Minute

// pair returns the two ends of a connection, the server's wrapped.
func pair(t testing.TB, network string) (*socket.Conn, net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, addr)
	require.NoError(t, err)
	defer l.Close()
	type accepted struct {
		nc  net.Conn
		err error
	}
	ch := make(chan accepted, 1)
	go func() {
		nc, err := l.Accept()
		ch <- accepted{nc, err}
	}()
	peer, err := net.Dial(network, l.Addr().String())
	require.NoError(t, err)
	a := <-ch
	require.NoError(t, a.err)
	c := socket.New(a.nc)
	t.Cleanup(func() { c.Close(); peer.Close() })
	return c, peer
}

// within fails the test if fn does not return in time.
func within(t testing.TB, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: still waiting after %v", what, patience)
	}
}

func networks(t *testing.T, test func(t *testing.T, network string)) {
	for _, n := range []string{"tcp", "unix"} {
		t.Run(n, func(t *testing.T) { test(t, n) })
	}
}
