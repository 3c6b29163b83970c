package socket_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/socket"
)

// The peer of an Exchange that closes, dies or stays away gives an error, not an answer.
func TestExchangeFailures(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		buf := make([]byte, 16)
		for name, failure := range map[string]struct {
			do   func(c *socket.Conn, peer net.Conn) // once the request has arrived
			want error
		}{
			"close without answer": {func(_ *socket.Conn, peer net.Conn) { peer.Close() }, io.EOF},
			"interrupt":            {func(c *socket.Conn, _ net.Conn) { c.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
			"close":                {func(c *socket.Conn, _ net.Conn) { c.Close() }, net.ErrClosed},
		} {
			c, peer := pair(t, network)
			go func() {
				io.ReadFull(peer, make([]byte, 3))
				failure.do(c, peer)
			}()
			within(t, name, func() {
				_, err := c.Exchange([]byte("req"), buf)
				require.ErrorIs(t, err, failure.want)
			})
		}
		c, peer := pair(t, network)
		require.NoError(t, peer.Close())
		within(t, "closed before", func() {
			_, err := c.Exchange([]byte("req"), buf)
			require.Error(t, err)
		})
		c.Close()
		within(t, "after close", func() {
			_, err := c.Exchange([]byte("req"), buf)
			require.ErrorIs(t, err, net.ErrClosed)
			_, err = c.Write([]byte("x"))
			require.ErrorIs(t, err, net.ErrClosed)
			_, err = c.Read(buf)
			require.ErrorIs(t, err, net.ErrClosed)
		})
	})
}

func TestExchange(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		c, peer := pair(t, network)
		go io.Copy(peer, peer)
		buf := make([]byte, 64)
		within(t, "ping pong", func() {
			for i := range 2000 {
				req := []byte{byte(i), byte(i >> 8), 'x'}
				n, err := c.Exchange(req, buf)
				require.NoError(t, err)
				require.Equal(t, req, buf[:n])
			}
		})
		// An answer longer than the buffer goes on with Read.
		within(t, "long answer", func() {
			req := bytes.Repeat([]byte("abc"), 1000)
			n, err := c.Exchange(req, buf)
			got := append([]byte(nil), buf[:n]...)
			for err == nil && len(got) < len(req) {
				n, err = c.Read(buf)
				got = append(got, buf[:n]...)
			}
			require.NoError(t, err)
			require.Equal(t, req, got)
		})
	})
}

// A request larger than the socket's buffers waits for the peer to read it.
func TestLargeRequest(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		c, peer := pair(t, network)
		req := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
		go func() {
			got, err := io.ReadAll(io.LimitReader(peer, int64(len(req))))
			if err == nil && bytes.Equal(got, req) {
				peer.Write([]byte("all there"))
			}
			peer.Close()
		}()
		buf := make([]byte, 64)
		within(t, "exchange of 8 MB", func() {
			n, err := c.Exchange(req, buf)
			require.NoError(t, err)
			require.Equal(t, "all there", string(buf[:n]))
		})

		stuck, _ := pair(t, network)
		time.AfterFunc(time.Millisecond, func() { stuck.Close() })
		within(t, "write to a peer that does not read", func() {
			n, err := stuck.Write(req)
			require.ErrorIs(t, err, net.ErrClosed)
			require.Less(t, n, len(req))
		})
		late, _ := pair(t, network)
		late.SetDeadline(time.Now().Add(time.Millisecond))
		within(t, "deadline of a write", func() {
			_, err := late.Write(req)
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		})
	})
}

func TestStale(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		c, peer := pair(t, network)
		require.False(t, c.Stale())
		peer.Write([]byte("x"))
		within(t, "unasked bytes", func() {
			for !c.Stale() {
			}
		})
		n, err := c.Read(make([]byte, 8)) // looking has taken nothing and lost no readiness
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.False(t, c.Stale())
		peer.Close()
		within(t, "close", func() {
			for !c.Stale() {
			}
		})
	})
}

// What is no plain socket behaves the same, through its net.Conn.
func TestThroughNetConn(t *testing.T) {
	c, peer := pair(t, "tcp")
	cert := selfSigned(t)
	server := tls.Server(c.NetConn(), &tls.Config{Certificates: []tls.Certificate{cert}})
	client := tls.Client(peer, &tls.Config{InsecureSkipVerify: true})
	shaken := make(chan error, 1)
	go func() { shaken <- client.Handshake() }()
	require.NoError(t, server.Handshake())
	require.NoError(t, <-shaken)
	c.Upgrade(server)
	require.Equal(t, server, c.NetConn())
	require.False(t, c.Stale())
	go func() {
		for i := range 100 {
			client.Write([]byte("12345678"[:1+i%8]))
		}
		client.Close()
	}()
	within(t, "echo over TLS", func() {
		serveErr, readErr := echo(c, 1<<20, 7)
		require.NoError(t, serveErr)
		require.ErrorIs(t, readErr, io.EOF)
	})

	a, b := net.Pipe()
	c = socket.New(a)
	go io.Copy(b, b)
	n, err := c.Exchange([]byte("ping"), make([]byte, 8))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	_, err = c.Dup()
	require.Error(t, err)
	require.NoError(t, c.Close())
	b.Close()
}

func selfSigned(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// The whole way of a query, a client's session served and a backend exchanged with, allocates nothing.
func TestNoAllocations(t *testing.T) {
	client, session := dialed(t)
	backend, server := dialed(t)
	done := make(chan struct{}, 2)
	go func() { echo(server, 4, 64); done <- struct{}{} }()
	go func() {
		buf, answer := make([]byte, 64), make([]byte, 64)
		session.Serve(func() bool {
			n, err := session.TryRead(buf)
			if err != nil {
				return err != socket.ErrWouldBlock
			}
			n, err = backend.Exchange(buf[:n], answer)
			if err != nil {
				return true
			}
			_, err = session.Write(answer[:n])
			return err != nil
		})
		done <- struct{}{}
	}()
	req, buf := []byte("ping"), make([]byte, 64)
	n := testing.AllocsPerRun(2000, func() {
		if n, err := client.Exchange(req, buf); n != 4 || err != nil {
			t.Error(n, err)
		}
	})
	require.Zero(t, n)
	client.Close()
	<-done
	backend.Close()
	<-done
}

func dialed(t testing.TB) (client, server *socket.Conn) {
	server, peer := pair(t, "tcp")
	return socket.New(peer), server
}

func BenchmarkExchange(b *testing.B) {
	client, server := dialed(b)
	done := make(chan struct{})
	go func() { defer close(done); echo(server, 64, 4096) }()
	req, buf := make([]byte, 64), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Exchange(req, buf); err != nil {
			b.Fatal(err)
		}
	}
	client.Close()
	<-done
}
