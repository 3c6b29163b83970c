package socket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/socket"
)

// newLoop runs a Loop until the test ends; nil where the kernel lets this process have none.
func newLoop(t testing.TB) *socket.Loop {
	t.Helper()
	l, err := socket.NewLoop()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		within(t, "the end of the loop", func() { require.NoError(t, <-done) })
	})
	return l
}

// relayOn serves c on l by asking server for the answer to whatever c's peer says, and returns what the session ended with.
func relayOn(t testing.TB, l *socket.Loop, c, server *socket.Conn) (ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	buf, answer := make([]byte, 64<<10), make([]byte, 64<<10)
	var readErr error
	require.True(t, c.ServeOn(l, func() bool {
		n, err := c.TryRead(buf)
		if err == nil {
			server.Use(c.Task())
			n, err = server.Exchange(buf[:n], answer)
		}
		if err == nil {
			_, err = c.Write(answer[:n])
		}
		readErr = err
		return err != nil
	}, func(err error) { ended <- errors.Join(err, readErr) }))
	return ended
}

// mirror answers what it reads with the same.
func mirror(peer net.Conn) { _, _ = io.Copy(peer, peer) }

func TestLoopRelays(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		l := newLoop(t)
		var clients errgroup.Group
		var ends []chan error
		for i := range 50 {
			c, client := pair(t, network)
			server, mirrored := pair(t, network)
			go mirror(mirrored)
			ends = append(ends, relayOn(t, l, c, server))
			clients.Go(func() error {
				defer client.Close()
				got := make([]byte, 64)
				for j := range 100 {
					said := fmt.Appendf(nil, "client %d says %d", i, j)
					if _, err := client.Write(said); err != nil {
						return err
					}
					if n, err := client.Read(got); err != nil || !bytes.Equal(got[:n], said) {
						return fmt.Errorf("%q in place of %q: %w", got[:n], said, err)
					}
				}
				return nil
			})
		}
		within(t, "relay", func() {
			require.NoError(t, clients.Wait())
			for _, e := range ends {
				require.ErrorIs(t, <-e, io.EOF)
			}
		})
	})
}

// A connection to a server is handed from a session on one Loop to a session on another, and used outside of both in between.
func TestLoopsShareServers(t *testing.T) {
	server, mirrored := pair(t, "tcp")
	go mirror(mirrored)
	var pool sync.Mutex // only one asks at a time
	var clients []net.Conn
	for range 3 {
		l := newLoop(t)
		for range 5 { // so that numbers of waiters mean different sessions on different Loops
			c, client := pair(t, "tcp")
			clients = append(clients, client)
			buf, answer := make([]byte, 64), make([]byte, 64)
			require.True(t, c.ServeOn(l, func() bool {
				n, err := c.TryRead(buf)
				if err != nil {
					return true
				}
				pool.Lock()
				server.Use(c.Task())
				n, err = server.Exchange(buf[:n], answer)
				pool.Unlock()
				if err == nil {
					_, err = c.Write(answer[:n])
				}
				return err != nil
			}, func(error) {}))
		}
	}
	within(t, "share", func() {
		got := make([]byte, 64)
		for i := range 300 {
			client := clients[i*7%len(clients)]
			said := fmt.Appendf(nil, "number %d", i)
			_, err := client.Write(said)
			require.NoError(t, err)
			n, err := client.Read(got)
			require.NoError(t, err)
			require.Equal(t, string(said), string(got[:n]))
			if i%50 == 0 {
				pool.Lock()
				server.Use(nil)
				n, err = server.Exchange([]byte("elsewhere"), got)
				pool.Unlock()
				require.NoError(t, err)
				require.Equal(t, "elsewhere", string(got[:n]))
			}
		}
	})
}

// What is larger than a loaned buffer, or than a socket takes at once, arrives whole and in order.
func TestLoopLarge(t *testing.T) {
	l := newLoop(t)
	c, client := pair(t, "tcp")
	server, mirrored := pair(t, "tcp")
	go mirror(mirrored)
	data := make([]byte, 8<<20)
	for i := range data {
		data[i] = byte(i / 255 * 7)
	}
	ended := make(chan error, 1)
	buf, answer := make([]byte, 100_000), make([]byte, 100_000)
	left := len(data)
	require.True(t, c.ServeOn(l, func() bool {
		n, err := c.TryRead(buf)
		if err != nil {
			ended <- err
			return true
		}
		server.Use(c.Task())
		m, err := server.Exchange(buf[:n], answer)
		for got := m; err == nil; { // and the rest of what is mirrored
			if _, err = c.Write(answer[:m]); err != nil || got == n {
				break
			}
			m, err = server.Read(answer[:min(n-got, len(answer))])
			got += m
		}
		left -= n
		return err != nil || left == 0
	}, func(err error) { ended <- err }))
	go client.Write(data)
	within(t, "large", func() {
		got := make([]byte, len(data))
		_, err := io.ReadFull(client, got)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))
		require.NoError(t, <-ended)
	})
	// Off the Loop the Conn is an ordinary one.
	_, err := c.Write([]byte("bye"))
	require.NoError(t, err)
	got := make([]byte, 3)
	_, err = io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, "bye", string(got))
}

// A panic aside of the Loop is the session's, and tells where it began.
func TestLoopBlockingPanics(t *testing.T) {
	l := newLoop(t)
	c, client := pair(t, "tcp")
	told, ended := make(chan any, 1), make(chan error, 1)
	c.ServeOn(l, func() (done bool) {
		defer func() {
			told <- recover()
			done = true
		}()
		c.Task().Blocking(panics)
		return
	}, func(err error) { ended <- err })
	within(t, "panic", func() {
		_, err := client.Write([]byte("go"))
		require.NoError(t, err)
		text := fmt.Sprint(<-told)
		require.Contains(t, text, "out of order")
		require.Contains(t, text, ".panics()", "the function that did it")
		require.NoError(t, <-ended)
	})
}

func panics() { panic("out of order") }

// A session that waits for something else holds up nobody, and its sockets work meanwhile.
func TestLoopBlocking(t *testing.T) {
	l := newLoop(t)
	slow, slowClient := pair(t, "tcp")
	c, client := pair(t, "tcp")
	server, mirrored := pair(t, "tcp")
	go mirror(mirrored)
	relayOn(t, l, c, server)
	var released = make(chan struct{})
	buf := make([]byte, 64)
	slowEnded := make(chan error, 1)
	slow.ServeOn(l, func() bool {
		n, err := slow.TryRead(buf)
		if err != nil {
			return true
		}
		slow.Task().Blocking(func() {
			require.False(t, slow.Task().OnLoop())
			<-released
			_, err = slow.Write(buf[:n])
			if err == nil {
				n, err = slow.Read(buf)
			}
		})
		require.True(t, slow.Task().OnLoop())
		_, _ = slow.Write(buf[:n])
		return err != nil
	}, func(err error) { slowEnded <- err })
	within(t, "blocking", func() {
		_, err := slowClient.Write([]byte("wait"))
		require.NoError(t, err)
		got := make([]byte, 64)
		for range 10 {
			_, err = client.Write([]byte("quick"))
			require.NoError(t, err)
			_, err = io.ReadFull(client, got[:5])
			require.NoError(t, err)
		}
		close(released)
		_, err = io.ReadFull(slowClient, got[:4])
		require.NoError(t, err)
		require.Equal(t, "wait", string(got[:4]))
		_, err = slowClient.Write([]byte("more"))
		require.NoError(t, err)
		_, err = io.ReadFull(slowClient, got[:4])
		require.NoError(t, err)
		require.Equal(t, "more", string(got[:4]))
		slowClient.Close()
		require.NoError(t, <-slowEnded)
	})
}

// Sessions that can go on have their turn before one that gathers goes on, and those that wait for it go on when it says so.
func TestLoopGather(t *testing.T) {
	l := newLoop(t)
	const sessions, rounds = 8, 400
	var members atomic.Int64
	var open []*socket.Task // what follows is the sessions' alone, on the Loop
	leading := false
	var g errgroup.Group
	for range sessions {
		c, client := pair(t, "tcp")
		buf := make([]byte, 64)
		ended := make(chan error, 1)
		require.True(t, c.ServeOn(l, func() bool {
			n, err := c.TryRead(buf)
			if err != nil {
				return true
			}
			switch task := c.Task(); {
			case leading:
				open = append(open, task)
				task.Wait()
			case task.Crowded():
				leading = true
				task.Gather()
				leading = false
				met := open
				open = nil
				members.Add(int64(len(met)))
				for _, m := range met {
					m.Resume()
				}
			}
			_, err = c.Write(buf[:n])
			return err != nil
		}, func(err error) { ended <- err }))
		g.Go(func() error {
			defer client.Close()
			got := make([]byte, 5)
			for i := range rounds {
				say := fmt.Sprintf("%05d", i)
				if _, err := io.WriteString(client, say); err != nil {
					return err
				}
				if _, err := io.ReadFull(client, got); err != nil {
					return err
				}
				if string(got) != say {
					return fmt.Errorf("%s in place of %s", got, say)
				}
			}
			return nil
		})
		t.Cleanup(func() { require.NoError(t, <-ended) })
	}
	within(t, "gathering", func() { require.NoError(t, g.Wait()) })
	require.Positive(t, members.Load(), "nobody was there when another one gathered")
}

func TestLoopDeadlines(t *testing.T) {
	l := newLoop(t)
	serve := func(c *socket.Conn) chan error {
		ended := make(chan error, 1)
		require.True(t, c.ServeOn(l, func() bool {
			_, err := c.TryRead(make([]byte, 64))
			return err != nil
		}, func(err error) { ended <- err }))
		return ended
	}
	for name, end := range map[string]func(c *socket.Conn, peer net.Conn){
		"past":   func(c *socket.Conn, _ net.Conn) { _ = c.SetReadDeadline(time.Unix(1, 0)) },
		"future": func(c *socket.Conn, _ net.Conn) { _ = c.SetDeadline(time.Now().Add(20 * time.Millisecond)) },
		"close":  func(c *socket.Conn, _ net.Conn) { _ = c.Close() },
		"peer":   func(_ *socket.Conn, peer net.Conn) { _ = peer.Close() },
		"taken off": func(c *socket.Conn, peer net.Conn) {
			_ = c.SetDeadline(time.Now().Add(time.Hour))
			_ = c.SetDeadline(time.Time{})
			peer.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, peer := pair(t, "tcp")
			ended := serve(c)
			end(c, peer)
			within(t, name, func() {
				err := <-ended
				if name == "past" || name == "future" {
					require.ErrorIs(t, err, os.ErrDeadlineExceeded)
					require.False(t, c.HalfClosed())
				} else {
					require.NoError(t, err)
				}
			})
		})
	}
	// A deadline that was set before the Conn came to the Loop counts there.
	c, _ := pair(t, "tcp")
	require.NoError(t, c.SetReadDeadline(time.Unix(1, 0)))
	within(t, "before", func() { require.ErrorIs(t, <-serve(c), os.ErrDeadlineExceeded) })
}

// Who waits for a server that says nothing is woken by a deadline, on the Loop and off it.
func TestLoopInterruptedExchange(t *testing.T) {
	l := newLoop(t)
	for _, aside := range []bool{false, true} {
		c, client := pair(t, "tcp")
		server, _ := pair(t, "tcp")
		asked, ended := make(chan struct{}), make(chan error, 1)
		require.True(t, c.ServeOn(l, func() bool {
			n, err := c.TryRead(make([]byte, 64))
			if err != nil || n == 0 {
				return true
			}
			server.Use(c.Task())
			ask := func() {
				close(asked)
				_, err = server.Exchange([]byte("?"), make([]byte, 64))
			}
			if aside {
				c.Task().Blocking(ask)
			} else {
				ask()
			}
			ended <- err
			return true
		}, func(error) {}))
		within(t, "interrupted", func() {
			_, err := client.Write([]byte("!"))
			require.NoError(t, err)
			<-asked
			require.NoError(t, server.SetDeadline(time.Unix(1, 0)))
			require.ErrorIs(t, <-ended, os.ErrDeadlineExceeded)
		})
		server.Use(nil)
		require.False(t, server.Stale())
	}
}

// A Conn that stays on a Loop is used by goroutines elsewhere, and the end of the Loop is an error to them.
func TestLoopElsewhere(t *testing.T) {
	l, err := socket.NewLoop()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	c, client := pair(t, "tcp")
	server, mirrored := pair(t, "tcp")
	go mirror(mirrored)
	ended := relayOn(t, l, c, server)
	within(t, "elsewhere", func() {
		got := make([]byte, 64)
		_, err := client.Write([]byte("join"))
		require.NoError(t, err)
		_, err = io.ReadFull(client, got[:4])
		require.NoError(t, err)
		client.Close()
		<-ended
		server.Use(nil)
		n, err := server.Exchange([]byte("from elsewhere"), got)
		require.NoError(t, err)
		require.Equal(t, "from elsewhere", string(got[:n]))
		read := make(chan error, 1)
		go func() {
			_, err := server.Read(got)
			read <- err
		}()
		cancel()
		require.NoError(t, <-done)
		require.Error(t, <-read)
		_, err = server.Exchange([]byte("x"), got)
		require.Error(t, err)
	})
}

func TestLoopNoAllocations(t *testing.T) {
	l := newLoop(t)
	c, client := pair(t, "tcp")
	server, mirrored := pair(t, "tcp")
	go mirror(mirrored)
	relayOn(t, l, c, server)
	said, got := []byte("hello"), make([]byte, 5)
	run := func() {
		if _, err := client.Write(said); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, got); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		run()
	}
	require.Less(t, testing.AllocsPerRun(300, run), 0.5)
}

// What a session has not taken is there for whoever reads after it.
func TestLoopLeavesUnreadBytes(t *testing.T) {
	l := newLoop(t)
	c, client := pair(t, "tcp")
	ended := make(chan error, 1)
	_, err := client.Write([]byte("taken, left"))
	require.NoError(t, err)
	require.True(t, c.ServeOn(l, func() bool {
		n, err := c.TryRead(make([]byte, 5))
		require.NoError(t, err)
		require.Equal(t, 5, n)
		return true
	}, func(err error) { ended <- err }))
	within(t, "unread", func() {
		require.NoError(t, <-ended)
		got := make([]byte, 6)
		_, err = io.ReadFull(readerOf{c}, got)
		require.NoError(t, err)
		require.Equal(t, ", left", string(got))
	})
}

type readerOf struct{ c *socket.Conn }

func (r readerOf) Read(p []byte) (int, error) { return r.c.Read(p) }

// What a session has left to be sent, and its client does not take, is seen from outside, and ended by a deadline for writes.
func TestLoopSending(t *testing.T) {
	l := newLoop(t)
	socket.KeepMany(l)
	c, client := pair(t, "unix") // whose buffers are full after few answers
	said, ended := make(chan struct{}, 1), make(chan error, 1)
	require.True(t, c.ServeOn(l, func() bool {
		n, err := c.TryRead(make([]byte, 1))
		if err == nil && n > 0 {
			_, err = c.Write(make([]byte, 16<<10))
		}
		said <- struct{}{}
		return err != nil
	}, func(err error) { ended <- err }))
	stuck := func() bool {
		for range 200 {
			if !c.Sending() {
				return false
			}
			time.Sleep(time.Millisecond)
		}
		return true
	}
	within(t, "an answer that is not taken", func() {
		for asked := 0; !stuck(); asked++ {
			_, err := client.Write([]byte("x"))
			require.NoError(t, err)
			<-said
		}
	})
	require.NoError(t, c.SetWriteDeadline(time.Unix(1, 0)))
	within(t, "the end of sending", func() {
		for c.Sending() {
			time.Sleep(time.Millisecond)
		}
	})
	require.NoError(t, client.Close())
	within(t, "the end of the session", func() { <-ended })
}
