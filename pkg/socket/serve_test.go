package socket_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/socket"
)

// echo serves c until its end: every complete message of size bytes is answered at once, as a session answers
// commands. It returns what ended the stream.
func echo(c *socket.Conn, size, bufLen int) (serveErr, readErr error) {
	buf := make([]byte, bufLen)
	var pending []byte
	serveErr = c.Serve(func() bool {
		n, err := c.TryRead(buf)
		if err == socket.ErrWouldBlock {
			return false
		}
		if err != nil {
			readErr = err
			return true
		}
		pending = append(pending, buf[:n]...)
		done := 0
		for ; len(pending)-done >= size; done += size {
			if _, err := c.Write(pending[done : done+size]); err != nil {
				readErr = err
				return true
			}
		}
		pending = pending[:copy(pending, pending[done:])]
		return false
	})
	return serveErr, readErr
}

// A client that writes several messages at once, in pieces that end anywhere, gets every answer: no readiness is lost
// whatever the buffer's size and wherever the pieces end.
func TestServePipelined(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		const size, messages = 8, 4000
		for _, bufLen := range []int{1, 5, 8, 16, 64, 4096} {
			var clients sync.WaitGroup
			for seed := range uint64(4) {
				c, peer := pair(t, network)
				clients.Go(func() {
					serveErr, readErr := echo(c, size, bufLen)
					require.NoError(t, serveErr)
					require.ErrorIs(t, readErr, io.EOF)
				})
				clients.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(bufLen)))
					all := make([]byte, size*messages)
					for i := range all {
						all[i] = byte(r.Uint32())
					}
					var writer sync.WaitGroup
					answered := make(chan int, 1)
					writer.Go(func() {
						sent, got := 0, 0
						for sent < len(all) {
							n := min(1+r.IntN(5*size), len(all)-sent)
							_, err := peer.Write(all[sent : sent+n])
							require.NoError(t, err)
							sent += n
							// Now and then wait until all is answered, so that the server comes to rest.
							for r.IntN(3) == 0 && got < sent/size*size {
								got = <-answered
							}
						}
					})
					back := make([]byte, len(all))
					for n := 0; n < len(back); {
						k, err := peer.Read(back[n:])
						require.NoError(t, err)
						n += k
						select {
						case <-answered:
						default:
						}
						answered <- n
					}
					writer.Wait()
					require.Equal(t, all, back)
					require.NoError(t, peer.Close())
				})
			}
			within(t, "pipelining clients", clients.Wait)
		}
	})
}

// The end of the stream is seen although it came together with bytes that need no answer.
func TestServeSeesCloseBehindUnansweredBytes(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		for range 300 {
			c, peer := pair(t, network)
			_, err := peer.Write([]byte("half a mess"))
			require.NoError(t, err)
			require.NoError(t, peer.Close())
			within(t, "end of stream", func() {
				_, readErr := echo(c, 100, 64)
				require.ErrorIs(t, readErr, io.EOF)
			})
			c.Close()
		}
	})
}

func TestServeEndsOnCloseAndDeadline(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		closing, _ := pair(t, network)
		go closing.Close()
		within(t, "close", func() {
			err, _ := echo(closing, 8, 64)
			require.ErrorIs(t, err, net.ErrClosed)
		})
		c, _ := pair(t, network)
		entered := make(chan struct{})
		go func() {
			<-entered
			c.SetReadDeadline(time.Unix(1, 0))
		}()
		within(t, "deadline", func() {
			first := true
			err := c.Serve(func() bool {
				_, err := c.TryRead(make([]byte, 1))
				require.ErrorIs(t, err, socket.ErrWouldBlock)
				if first {
					close(entered)
				}
				first = false
				return false
			})
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		})
	})
}

// Read inside step waits for bytes of its own, as LOAD DATA LOCAL needs it, and follows Close and deadlines.
func TestServeNestedRead(t *testing.T) {
	networks(t, func(t *testing.T, network string) {
		ask := func(c *socket.Conn, rounds int) (answers []string, err error) {
			buf := make([]byte, 64)
			serveErr := c.Serve(func() bool {
				if _, e := c.TryRead(buf); e != nil {
					return e != socket.ErrWouldBlock
				}
				for range rounds {
					if _, err = c.Write([]byte("more?")); err != nil {
						return true
					}
					var n int
					if n, err = c.Read(buf); err != nil {
						return true
					}
					answers = append(answers, string(buf[:n]))
				}
				return true
			})
			return answers, errors.Join(serveErr, err)
		}
		c, peer := pair(t, network)
		go func() {
			peer.Write([]byte("load"))
			for _, a := range []string{"one", "two", "three"} {
				io.ReadFull(peer, make([]byte, 5))
				peer.Write([]byte(a))
			}
		}()
		within(t, "nested reads", func() {
			answers, err := ask(c, 3)
			require.NoError(t, err)
			require.Equal(t, []string{"one", "two", "three"}, answers)
		})
		for name, end := range map[string]struct {
			do   func(*socket.Conn)
			want error
		}{
			"close":    {func(c *socket.Conn) { c.Close() }, net.ErrClosed},
			"deadline": {func(c *socket.Conn) { c.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		} {
			c, peer := pair(t, network)
			go func() {
				peer.Write([]byte("load"))
				io.ReadFull(peer, make([]byte, 5))
				end.do(c)
			}()
			within(t, name, func() {
				_, err := ask(c, 1)
				require.ErrorIs(t, err, end.want)
			})
		}
		// A deadline set before the nested read begins holds for it too.
		c, peer = pair(t, network) // nobody holds the first pair any more
		peer.Write([]byte("load"))
		within(t, "earlier deadline", func() {
			var err error
			require.NoError(t, c.Serve(func() bool {
				if _, e := c.TryRead(make([]byte, 8)); e == socket.ErrWouldBlock {
					return false
				}
				c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
				_, err = c.Read(make([]byte, 8))
				return true
			}))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		})
	})
}
