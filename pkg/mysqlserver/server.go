package mysqlserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"skarv/pkg/pause"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Server accepts client connections and runs them. It is made by Listen and lives in Run.
type Server struct {
	cfg       Config
	listeners []net.Listener
	keys      *keys
	passwords *passwordCache
	costly    chan struct{} // limits how many password digests are computed at once
	buffers   buffers
	compress  *wire.Compression
	metrics   *metrics

	conns sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	byID     map[uint32]*Conn
	nextID   uint32
	draining bool
}

// Listen opens the listeners of cfg. Clients can connect from then on; they are served once Run runs. A Server that is never
// run must be closed with Close.
func Listen(cfg Config) (*Server, error) {
	cfg.setDefaults()
	if cfg.NewHandler == nil || cfg.ServerVersion == nil {
		return nil, errors.New("mysqlserver: NewHandler and ServerVersion must be given")
	}
	if cfg.AuthPlugin != wire.CachingSHA2Password && cfg.AuthPlugin != wire.NativePassword {
		return nil, fmt.Errorf("mysqlserver: authentication plugin %q is not supported", cfg.AuthPlugin)
	}
	if len(cfg.Secret) == 0 {
		cfg.Secret = []byte(rand.Text())
	}
	keys, err := newKeys(cfg)
	if err != nil {
		return nil, err
	}
	s := &Server{
		cfg:       cfg,
		keys:      keys,
		passwords: newPasswordCache(),
		// Half of the processors go on serving those who are logged in, however many strangers knock.
		costly:   make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		compress: wire.NewCompression(),
		byID:     make(map[uint32]*Conn),
	}
	if s.metrics, err = newMetrics(cfg.Registerer); err != nil {
		return nil, err
	}
	s.listeners = append(s.listeners, cfg.Listeners...)
	if err := s.listen(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) listen() error {
	if s.cfg.Addr != "" {
		l, err := net.Listen("tcp", s.cfg.Addr)
		if err != nil {
			return err // it names the address
		}
		s.listeners = append(s.listeners, l)
	}
	if path := s.cfg.UnixSocket; path != "" {
		l, err := ListenUnix(path)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
	}
	if len(s.listeners) == 0 {
		return errors.New("mysqlserver: nothing to listen on")
	}
	return nil
}

// ListenUnix listens on path. A socket file that a dead process left there is replaced; one that answers is not.
func ListenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		nc, dialErr := net.Dial("unix", path)
		if dialErr == nil {
			_ = nc.Close()
			return nil, err
		}
		if !errors.Is(dialErr, syscall.ECONNREFUSED) {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, err
	}
	// Whoever can reach the file may try to log in, as on a TCP port.
	if err := os.Chmod(path, 0o777); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// Refuse answers whoever connects to listeners with an error in place of a greeting until ctx ends; then they can be used for Listen.
// Without it clients would wait for a greeting, and load balancers take the process for one that serves.
func Refuse(ctx context.Context, listeners []net.Listener, why func() *sqlerr.Error) {
	var g sync.WaitGroup
	for _, l := range listeners {
		deadline, ok := l.(interface{ SetDeadline(time.Time) error })
		if !ok {
			continue // it could not be taken back from Accept
		}
		broken := make(chan struct{})
		stop := context.AfterFunc(ctx, func() {
			_ = deadline.SetDeadline(time.Unix(1, 0))
			close(broken)
		})
		g.Go(func() {
			defer func() {
				if !stop() {
					<-broken
				}
				_ = deadline.SetDeadline(time.Time{})
			}()
			for {
				nc, err := l.Accept()
				if err != nil {
					if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
						return
					}
					_ = pause.For(ctx, 5*time.Millisecond)
					continue
				}
				var seq byte
				_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
				_, _ = nc.Write(wire.AppendPacket(nil, &seq, wire.AppendErr(nil, why())))
				_ = nc.Close()
			}
		})
	}
	g.Wait()
}

// Addr is the address of the first listener: the one of Config.Listeners, Addr, UnixSocket that comes first.
func (s *Server) Addr() net.Addr { return s.listeners[0].Addr() }

// Close closes the listeners of a Server that will not be run.
func (s *Server) Close() {
	for _, l := range s.listeners {
		_ = l.Close()
	}
}

// Run accepts and serves connections until ctx is done. It then accepts no more, lets statements that run come to their end, for
// DrainTimeout at most, ends all connections and returns nil once everything it started has ended. It returns
// an error only if a listener fails.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var own sync.WaitGroup
	for _, l := range s.listeners {
		own.Go(func() {
			if err := s.accept(ctx, l); err != nil {
				cancel(err)
			}
		})
	}
	stopWatching := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { s.watch(stopWatching) })
	own.Go(func() { _, _, _ = s.keys.rsa() }) // so that the first login need not wait for it

	<-ctx.Done()
	s.Close()
	own.Wait()
	s.drain()
	close(stopWatching)
	watching.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return nil
}

// drain ends all connections: those that wait for their client now, others when their statement has been answered.
func (s *Server) drain() {
	s.mu.Lock()
	s.draining = true
	for _, c := range s.byID {
		c.stop(shutdown)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { // ends with the last connection, which is awaited below in any case
		s.conns.Wait()
		close(done)
	}()
	timer := time.NewTimer(s.cfg.DrainTimeout)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	s.mu.Lock()
	for _, c := range s.byID {
		_ = c.sock.Close()
	}
	s.mu.Unlock()
	<-done
}

// accept takes connections from l until it is closed.
func (s *Server) accept(ctx context.Context, l net.Listener) error {
	var wait time.Duration
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			wait = 0
			s.open(nc)
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM):
			// Trouble that passes when connections end.
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			s.cfg.Log.WarnContext(ctx, "accept failed", "error", err, "retry_in", wait)
			_ = pause.For(ctx, wait)
		default:
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		}
	}
}

// open starts a connection, or refuses it when there are too many.
func (s *Server) open(nc net.Conn) {
	c := &Conn{server: s, nc: nc, remote: nc.RemoteAddr(), sock: socket.New(nc), status: wire.StatusAutocommit}
	_, tcp := nc.(*net.TCPConn)
	c.unix = nc.RemoteAddr().Network() == "unix"
	if tcp {
		// Answers are written whole; there is nothing to wait for. It is Go's default, but not of every listener.
		_ = nc.(*net.TCPConn).SetNoDelay(true)
	}
	s.metrics.accepted.Inc()
	if refusal := s.register(c); refusal != nil {
		s.metrics.refused.Inc()
		// A new socket's buffer takes this much without waiting.
		_ = nc.SetWriteDeadline(time.Now().Add(time.Second))
		_ = c.WriteErr(refusal)
		_ = c.Flush()
		c.release()
		_ = nc.Close()
	}
}

// spare is how many clients beyond MaxConnections may log in: those stay who turn out to be administrators, who may have
// come to see why there are so many.
const spare = 4

// register gives c an id and starts it, unless that would be one too many.
func (s *Server) register(c *Conn) *sqlerr.Error {
	if refusal := s.admit(c); refusal != nil {
		return refusal
	}
	go func() {
		defer s.conns.Done()
		c.logIn()
	}()
	return nil
}

// admit gives c an id and counts it among the connections that Run waits for, unless that would be one too many.
func (s *Server) admit(c *Conn) *sqlerr.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return sqlerr.ServerShutdown.New()
	}
	if s.cfg.Refuse != nil {
		if e := s.cfg.Refuse(); e != nil {
			return e
		}
	}
	if len(s.byID) >= s.cfg.MaxConnections+spare {
		return sqlerr.TooManyConnections.New()
	}
	c.surplus = len(s.byID) >= s.cfg.MaxConnections
	for {
		s.nextID++
		c.id = s.cfg.IDBase() | s.nextID&uint32(1<<s.cfg.IDBits-1)
		if _, taken := s.byID[c.id]; !taken && c.id != 0 {
			break
		}
	}
	s.byID[c.id] = c
	s.metrics.open.Inc()
	s.conns.Add(1)
	return nil
}

func (s *Server) unregister(c *Conn) {
	s.mu.Lock()
	delete(s.byID, c.id)
	s.mu.Unlock()
	s.metrics.open.Dec()
}

// Conn returns the open connection with that id, or nil.
func (s *Server) Conn(id uint32) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// EndOthers ends the connections whose ids are not of what IDBase is now: those that wait for their client now, others when their statement has
// been answered.
func (s *Server) EndOthers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	base := s.cfg.IDBase() >> s.cfg.IDBits
	for id, c := range s.byID {
		if id>>s.cfg.IDBits != base {
			c.stop(shutdown)
		}
	}
}

// Len returns the number of open connections, those that are logging in included.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// all returns the open connections, appended to dst.
func (s *Server) all(dst []*Conn) []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.byID {
		dst = append(dst, c)
	}
	return dst
}
