// Package e2e drives the built programs as an operator does: processes on an external etcd and bare servers, clients
// that are not ours, failures that come from outside.
package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"skarv/pkg/datanode"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for something that must happen; it is long because test machines are busy.
const patience = 90 * time.Second

// programs builds skarv and skarvctl once for all tests of this package.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skarv-e2e-bin-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-pgo=off", "-o", dir+string(filepath.Separator), "skarv/cmd/...").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	runWithoutRings()
	code := m.Run()
	if dir, _ := programs(); dir != "" { // builds them if no test did, which costs little
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

// transcript is what a process has said so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed and replaced with every write
}

func newTranscript() *transcript { return &transcript{more: make(chan struct{})} }

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.more)
	s.more = make(chan struct{})
	return s.text.Write(p)
}

func (s *transcript) read() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String(), s.more
}

func (s *transcript) String() string {
	text, _ := s.read()
	return text
}

// process is one running program.
type process struct {
	*exec.Cmd
	out, errs *transcript
	ended     chan struct{}
	err       error // of Wait, once ended is closed
}

// run starts a program; it is killed at the test's end if it is still there.
func run(t testing.TB, path string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(path, args...), out: newTranscript(), errs: newTranscript(), ended: make(chan struct{})}
	p.Stdout, p.Stderr = p.out, p.errs
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal to the test is not one to it
	require.NoError(t, p.Start())
	go func() {
		defer close(p.ended)
		p.err = p.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill()
		<-p.ended
		if t.Failed() && path != "etcd" {
			t.Logf("--- %s\n%s", strings.Join(p.Args, " "), tail(p.out.String()+p.errs.String()))
		}
	})
	return p
}

// tail is the end of a text that may be long.
func tail(s string) string { return s[max(0, len(s)-3000):] }

// awaitLine waits until the process has written a line with text to its log, and returns the line.
func (p *process) awaitLine(t testing.TB, s *transcript, text string) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		have, more := s.read()
		for line := range strings.Lines(have) {
			if strings.Contains(line, text) && strings.HasSuffix(line, "\n") {
				return line
			}
		}
		select {
		case <-more:
		case <-p.ended:
			if again := s.String(); again != have {
				continue
			}
			t.Fatalf("%s ended (%v) before it said %q:\n%s%s", p.Path, p.err, text, p.out, p.errs)
		case <-timeout:
			t.Fatalf("%s did not say %q:\n%s%s", p.Path, text, p.out, p.errs)
		}
	}
}

// signal sends sig and, if it is one that ends, waits for the end; it returns the exit status.
func (p *process) end(t testing.TB, sig syscall.Signal) int {
	t.Helper()
	require.NoError(t, p.Process.Signal(sig))
	return p.await(t)
}

func (p *process) await(t testing.TB) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not end:\n%s%s", strings.Join(p.Args, " "), p.out, p.errs)
	}
	return p.ProcessState.ExitCode()
}

// result is what a command that ended said.
type result struct {
	code      int
	out, errs string
}

// command runs a program to its end.
func command(t testing.TB, stdin, path string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience) // a checksum waits for replicas
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, "%s: %v", path, err)
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// eventually waits until check holds.
func eventually(t testing.TB, within time.Duration, what string, check func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(within); !check(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// freePort is a port nobody listens on now.
func freePort(t testing.TB) int {
	t.Helper()
	port, err := datanode.FreePort("127.0.0.1")
	require.NoError(t, err)
	return port
}

func writeFile(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
