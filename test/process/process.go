// Package process runs Skarv processes for tests that kill and stop them: each is the test's own binary, told by its
// environment what to be, and is started again whenever it dies. It knows nothing of what the tests check.
package process

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/server"
	"skarv/test/cluster"
)

// environment names the variable that holds a child's orders.
const environment = "SKARV_TEST_PROCESS"

// Orders is what a process is told.
type Orders struct {
	Etcd string
	Addr string // where MySQL clients connect, fixed over restarts
	Log  string // file; what the process says on its standard error, a dump of its goroutines for one, comes there too
	// Connections is how many it has to each node group, and how long a statement waits for one does not matter; 0: as usual.
	Connections int
	Step
}

// Step is where a process is to end by itself. The zero Step is nowhere.
type Step struct {
	Points []string // of the program: it ends at the one it comes to first
	After  int      // at which time that it comes to one; 0 and 1: at the first
	Stops  int      // at so many of them it only stops, until it is told to continue; it ends at one more
}

// Main is the tests' TestMain. A child serves with the options that are made for it; they have to call hit at every step with its
// name.
func Main(m *testing.M, options func(hit func(point string)) server.Options) {
	text := os.Getenv(environment)
	if text == "" {
		os.Exit(m.Run())
	}
	if err := serve(text, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// What a child says on its standard output.
const (
	saysReady = "ready"
	saysDies  = "dies at "
	saysStops = "stops at "
)

func serve(text string, options func(hit func(point string)) server.Options) error {
	var o Orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	cfg := server.DefaultConfig()
	cfg.Etcd.Endpoints = []string{o.Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = o.Addr, "", "127.0.0.1:0"
	if o.Connections > 0 {
		cfg.Backend.MaxConnections, cfg.Backend.MinConnections, cfg.Backend.AcquireTimeout = o.Connections, o.Connections, server.Duration(time.Hour)
	}
	opts := options(o.hit())
	opts.Version = "test"
	opts.Log = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("pid", os.Getpid())
	s, err := server.New(cfg, opts)
	if err != nil {
		return err
	}
	go func() {
		for s.Ready() != nil {
			time.Sleep(5 * time.Millisecond)
		}
		fmt.Println(saysReady)
	}()
	return s.Run(context.Background())
}

// hit makes what ends or stops the process at its steps.
func (o *Orders) hit() func(point string) {
	var mu sync.Mutex // held while the process stands still: what comes to another step then is for the next time
	hits := 0
	stopped := map[string]bool{}
	return func(point string) {
		if !slices.Contains(o.Points, point) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if stopped[point] {
			return
		}
		if hits++; hits < o.After {
			return
		}
		if len(stopped) < o.Stops {
			stopped[point] = true
			fmt.Println(saysStops + point)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			time.Sleep(200 * time.Millisecond) // any thread may be the one that takes the signal
			return
		}
		fmt.Println(saysDies + point)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// Process is a Skarv process that is started again whenever it dies. Its fields must not be changed after Run was called.
type Process struct {
	Orders Orders
	// Next is asked for the Step of each process before it is started.
	Next func() Step
	// Reached is told when a process has come to its Step: it is dead, or stopped.
	Reached func(point string, stopped bool)

	mu  sync.Mutex
	cmd *exec.Cmd
}

// Run keeps the process running until ctx ends. ready, if not nil, is closed when the first one serves.
func (p *Process) Run(ctx context.Context, ready chan<- struct{}) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.Orders.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	for ctx.Err() == nil {
		o := p.Orders
		o.Step = p.Next()
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), environment+"="+string(text))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stderr = log
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		p.mu.Lock()
		p.cmd = cmd
		p.mu.Unlock()
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		reached := p.listen(out, cmd.Process.Pid, &ready)
		_ = cmd.Wait() // it was killed
		stop()
		if reached != "" {
			p.Reached(reached, false)
		}
	}
	return nil
}

// listen follows what the process says until it is dead, and returns the point at which it died, if it was its step.
func (p *Process) listen(out io.Reader, pid int, ready *chan<- struct{}) (died string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if line == saysReady && *ready != nil {
			close(*ready)
			*ready = nil
		}
		if point, ok := strings.CutPrefix(line, saysDies); ok {
			died = point
		}
		// Whoever lets it go on before it stands still would leave it standing for ever.
		if point, ok := strings.CutPrefix(line, saysStops); ok && cluster.AwaitStopped(pid) {
			p.Reached(point, true)
		}
	}
	return died
}

// PID is the number of the process that runs, 0 if none does.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Signal sends a signal to the process that runs.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig)
	}
}

// FreeAddr is an address nobody listens on.
func FreeAddr(t testing.TB) string {
	port, err := datanode.FreePort("127.0.0.1")
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Await waits until something has happened: done is closed then.
func Await(t testing.TB, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatalf("not within three minutes: %s", what)
	}
}

// Seconds is how long a test is to work: SKARV_CHAOS_SECONDS, or as many as given.
func Seconds(t testing.TB, n int) time.Duration {
	if text := os.Getenv("SKARV_CHAOS_SECONDS"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err, "SKARV_CHAOS_SECONDS")
	}
	return time.Duration(n) * time.Second
}
