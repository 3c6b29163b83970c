package mysqlconn_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
)

// testServer is a real mariadbd with an empty data directory, for one test or the whole package.
type testServer struct {
	dir, socket, tcp string
	cmd              *exec.Cmd
	drained          chan struct{}
}

// startServer initialises and starts a server below dir and returns when it accepts connections.
func startServer(dir string, args ...string) (*testServer, error) {
	s := &testServer{dir: dir, socket: filepath.Join(dir, "sock"), drained: make(chan struct{})}
	data := filepath.Join(dir, "data")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal",
		"--skip-test-db", "--user=root", "--datadir="+data)
	// A starting MariaDB clears the temporary directory, so it must not be shared.
	install.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.tcp = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(s.tcp)
	s.cmd = exec.Command("mariadbd", append([]string{"--no-defaults", "--user=root", "--datadir=" + data, "--socket=" + s.socket,
		"--bind-address=127.0.0.1", "--port=" + port, "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-buffer-pool-size=64M", "--innodb-fast-shutdown=2", "--max-allowed-packet=256M", "--local-infile=1",
		"--performance-schema=off"}, args...)...)
	s.cmd.Env = install.Env
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	var text strings.Builder
	go func() {
		defer close(s.drained)
		lines := bufio.NewScanner(log)
		for up := false; lines.Scan(); {
			if !up {
				text.WriteString(lines.Text() + "\n")
				if up = strings.Contains(lines.Text(), "ready for connections"); up {
					close(ready)
				}
			}
		}
		io.Copy(io.Discard, log)
	}()
	select {
	case <-ready:
		return s, nil
	case <-s.drained:
		return nil, fmt.Errorf("mariadbd does not start: %w\n%s", s.cmd.Wait(), text.String())
	case <-time.After(time.Minute):
		s.kill()
		return nil, fmt.Errorf("mariadbd is not ready after a minute\n%s", text.String())
	}
}

func (s *testServer) kill() {
	s.cmd.Process.Kill()
	<-s.drained
	s.cmd.Wait()
}

// shared is the server most tests use; TestMain owns it.
var shared *testServer

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "mysqlconn")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if shared, err = startServer(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer shared.kill()
		return m.Run()
	}())
}

// dial connects to the shared server's socket, as root if cfg does not say otherwise.
func dial(t testing.TB, cfg mysqlconn.Config) *mysqlconn.Conn {
	t.Helper()
	if cfg.Addr == "" {
		cfg.Addr = "unix:" + shared.socket
	}
	if cfg.User == "" {
		cfg.User = "root"
	}
	if cfg.DB == "" {
		cfg.DB = "mysql"
	}
	c, err := mysqlconn.Dial(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// forms are the two ways a result can end, which every test of results goes through.
var forms = map[string]wire.Capability{"eof": 0, "deprecate_eof": wire.CapDeprecateEOF}

func eachForm(t *testing.T, test func(t *testing.T, caps wire.Capability)) {
	for name, caps := range forms {
		t.Run(name, func(t *testing.T) { test(t, caps) })
	}
}

func mustExec(t testing.TB, c *mysqlconn.Conn, sql ...string) {
	t.Helper()
	for _, q := range sql {
		_, err := c.Exec(q)
		require.NoError(t, err, q)
	}
}

// command is one command as packets.
func command(cmd wire.Command, body string) []byte {
	var seq byte
	return wire.AppendPacket(nil, &seq, append([]byte{byte(cmd)}, body...))
}
