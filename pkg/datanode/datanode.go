// Package datanode owns one MariaDB or MySQL server process on this machine: it initialises the data directory,
// writes the settings, starts the process, watches it, starts it again when it dies, and stops it. It answers for the
// server's state over gRPC (proto/datanode/v1). It knows nothing of partitions, maps or clients: data goes
// straight to the server by the MySQL protocol, and a bare server without a data node is a full backend too.
//
// The directory of a node:
//
//	skarv.json   marker: format, engine, account, port (mode 0600)
//	lock         held (flock) while a process owns the directory
//	my.cnf       written at every start
//	error.log    the server's own log
//	data/        the server's data directory
//	run/         its socket and pid file
package datanode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Config describes one data node. Dir, Binary and ID are needed, the rest has defaults.
type Config struct {
	// Dir is the node's own directory; it is made if it does not exist.
	Dir    string
	Binary Binary
	// ID is the server id: unique among all servers that replicate from each other. Domain is the GTID domain of
	// MariaDB, one per node group; it defaults to ID.
	ID     uint32
	Domain uint32
	// Addr is where the server listens by TCP. Port 0 or an empty Addr: loopback and a free port, kept in the
	// marker and used again if it is still free.
	Addr string
	// User is the account Skarv logs in with, made when the directory is initialised; default skarv. An empty
	// Password is generated.
	User, Password string
	// Small trades throughput for memory: for many servers on a laptop and for tests.
	Small bool
	// Relaxed leaves flushing to the operating system: acknowledged work survives the death of any process, not
	// the loss of power. Never for production.
	Relaxed bool
	// Variables are further server settings, written to my.cnf after all others.
	Variables map[string]string
	// Templates is a directory of initialised data directories by server version, shared with other processes; a
	// new node is a copy of one. Empty: initialise every directory from nothing.
	Templates string
	// StartTimeout bounds the time until the server answers (default 60 s; crash recovery counts), StopTimeout
	// the time between asking it to stop and killing it (default 30 s).
	StartTimeout, StopTimeout time.Duration
	Log                       *slog.Logger
}

// State is where a server is in its life.
type State string

// The states. Restarting: it died and is being brought up again, with pauses; Failed: a start that was asked for
// did not succeed and is not repeated.
const (
	Uninitialised State = "uninitialised"
	Stopped       State = "stopped"
	Starting      State = "starting"
	Running       State = "running"
	Stopping      State = "stopping"
	Restarting    State = "restarting"
	Failed        State = "failed"
)

// Status is what a node answers for.
type Status struct {
	State     State
	Since     time.Time
	Pid       int    // 0 when no process runs
	Restarts  int    // unexpected deaths since Run began
	LastError string // of the last start or death; kept while running again
	Flavor    string
	Version   string
	Addr      string // HOST:PORT
	Socket    string
	Dir       string
	LogFile   string
}

// Node is one data node. Its methods may be called from any goroutine; those that change something are carried out
// by Run, one after the other, and wait for it.
type Node struct {
	cfg      Config
	dir      *directory
	requests chan request
	ended    chan struct{} // closed when Run has returned

	// Owned by Run.
	proc *process

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced at every change of status
}

type request struct {
	ctx  context.Context
	do   func(context.Context) error
	done chan error
}

// ErrEnded is returned by requests to a node whose Run has returned.
var ErrEnded = errors.New("data node has ended")

// ErrNotInitialised is returned by Start before Initialise.
var ErrNotInitialised = errors.New("data node is not initialised")

// Open takes the directory and checks it. It starts nothing. The caller must call Run, which gives the directory
// back when it returns, or Close.
func Open(cfg Config) (*Node, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.StartTimeout == 0 {
		cfg.StartTimeout = time.Minute
	}
	if cfg.StopTimeout == 0 {
		cfg.StopTimeout = 30 * time.Second
	}
	if cfg.User == "" {
		cfg.User = "skarv"
	}
	if cfg.Domain == 0 {
		cfg.Domain = cfg.ID
	}
	if cfg.ID == 0 {
		return nil, errors.New("data node needs a server id above 0")
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if _, _, err := net.SplitHostPort(cfg.Addr); err != nil {
		return nil, fmt.Errorf("address of the database server: %w", err)
	}
	for name, value := range cfg.Variables {
		if err := checkVariable(name, value); err != nil {
			return nil, err
		}
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	cfg.Dir = dir
	d, err := openDirectory(cfg)
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, dir: d,
		requests: make(chan request),
		ended:    make(chan struct{}),
		changed:  make(chan struct{}),
		status: Status{
			State: Stopped, Since: time.Now(),
			Flavor: string(cfg.Binary.Flavor), Version: cfg.Binary.Version,
			Socket: d.socket(), Dir: d.path, LogFile: d.logFile(),
		},
	}
	if !d.marker.Initialised {
		n.status.State = Uninitialised
	}
	return n, nil
}

// Close gives the directory back of a node whose Run was never called.
func (n *Node) Close() error { return n.dir.close() }

// Status returns the current state.
func (n *Node) Status() Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status
}

// Changed returns a channel that is closed at the next change of the status. Take it before reading Status.
func (n *Node) Changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

// Account returns the login Skarv uses on the server; empty before Initialise.
func (n *Node) Account() (user, password string) {
	n.dir.mu.Lock()
	defer n.dir.mu.Unlock()
	return n.dir.marker.User, n.dir.marker.Password
}

func (n *Node) update(change func(*Status)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.status.State
	change(&n.status)
	if n.status.State != before {
		n.status.Since = time.Now()
	}
	close(n.changed)
	n.changed = make(chan struct{})
}

// request has Run carry out do. do's context ends with ctx and with Run.
func (n *Node) request(ctx context.Context, do func(context.Context) error) error {
	r := request{ctx: ctx, do: do, done: make(chan error, 1)}
	select {
	case n.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ended:
		return ErrEnded
	}
	return <-r.done
}

// Initialise makes the data directory and the account. A directory that is initialised already is left as it is.
// An attempt that was broken off is begun anew.
func (n *Node) Initialise(ctx context.Context) error {
	return n.request(ctx, n.initialise)
}

// Start brings the server up and returns when it answers. It is no error if it runs already.
func (n *Node) Start(ctx context.Context) error {
	return n.request(ctx, func(ctx context.Context) error {
		if n.proc != nil && !n.proc.ended() {
			return nil
		}
		if !n.dir.marker.Initialised {
			return ErrNotInitialised
		}
		err := n.start(ctx)
		if err != nil {
			n.update(func(s *Status) { s.State, s.LastError = Failed, err.Error() })
		}
		return err
	})
}

// Stop ends the server: it is asked first and killed after StopTimeout. It is no error if none runs.
func (n *Node) Stop(ctx context.Context) error {
	return n.request(ctx, func(context.Context) error {
		n.stop(false)
		return nil
	})
}

// Erase ends the server and deletes its data for good; the node is uninitialised afterwards.
func (n *Node) Erase(ctx context.Context) error {
	return n.request(ctx, func(context.Context) error {
		n.stop(false)
		err := n.dir.change(func(m *marker) { m.Initialised, m.Discard, m.Account = false, true, false })
		if err == nil {
			err = os.RemoveAll(n.dir.dataDir())
		}
		if err == nil {
			err = n.dir.change(func(m *marker) { m.Discard = false })
		}
		n.update(func(s *Status) { s.State = Uninitialised })
		return err
	})
}

// Kill ends the server at once, as a crash would, and leaves it down until Start. For tests of failure.
func (n *Node) Kill(ctx context.Context) error {
	return n.request(ctx, func(context.Context) error {
		n.stop(true)
		return nil
	})
}

// Crash kills the server process behind the node's back; Run brings it up again.
func (n *Node) Crash() error {
	pid := n.Status().Pid
	if pid == 0 {
		return errors.New("no server is running")
	}
	return killProcess(pid)
}

// Run carries out requests and watches the server until ctx ends; then it stops the server, gives the directory
// back and returns. Call it once.
func (n *Node) Run(ctx context.Context) error {
	defer close(n.ended)
	var pause backoff
	retry := time.NewTimer(time.Hour)
	retry.Stop()
	defer retry.Stop()
	// again tells of deaths more and of their cause in one change: a count without its state would be read as a
	// server that runs again.
	again := func(cause string, deaths int) {
		wait := pause.next()
		n.update(func(s *Status) {
			s.State, s.Pid, s.LastError = Restarting, 0, cause
			s.Restarts += deaths
		})
		n.cfg.Log.Warn("database server is down", "dir", n.dir.path, "cause", cause, "restart_in", wait)
		retry.Reset(wait)
	}
	for {
		var exited <-chan struct{}
		if n.proc != nil {
			exited = n.proc.done
		}
		select {
		case <-ctx.Done():
			n.stop(false)
			return n.dir.close()
		case r := <-n.requests:
			// What was asked for replaces a restart that is due.
			retry.Stop()
			rctx, cancel := context.WithCancel(r.ctx)
			undo := context.AfterFunc(ctx, cancel)
			err := r.do(rctx)
			undo()
			cancel()
			if n.proc != nil && err == nil {
				pause = backoff{}
			}
			r.done <- err
		case <-exited:
			up := n.proc.uptime()
			cause := fmt.Sprintf("server ended unexpectedly (%s); see %s", n.proc.cause(), n.dir.logFile())
			n.proc = nil
			pause.survived(up)
			again(cause, 1)
		case <-retry.C:
			if err := n.start(ctx); err != nil && ctx.Err() == nil {
				again(err.Error(), 0)
			}
		}
	}
}

// stop ends the process if there is one. Only Run's goroutine calls it.
func (n *Node) stop(kill bool) {
	if n.proc != nil {
		n.update(func(s *Status) { s.State = Stopping })
		if !kill {
			n.proc.terminate()
			patience := time.NewTimer(n.cfg.StopTimeout)
			select {
			case <-n.proc.done:
			case <-patience.C:
				n.cfg.Log.Warn("database server does not stop and is killed", "dir", n.dir.path, "pid", n.proc.pid)
			}
			patience.Stop()
		}
		n.proc.kill()
		<-n.proc.done
		n.proc = nil
	}
	n.update(func(s *Status) {
		s.Pid = 0
		s.State = Stopped
		if !n.dir.marker.Initialised {
			s.State = Uninitialised
		}
	})
}
