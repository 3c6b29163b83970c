package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/dev"
)

// The test binary doubles as skarv.
func TestMain(m *testing.M) {
	if os.Getenv("SKARV_TEST_COMMAND") != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func skarv(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SKARV_TEST_COMMAND=1")
	return cmd
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("mysql: {adr: 1}\nlog: {level: loud}\nbackend: {fail_after: soon}\n"), 0o600))
	good := filepath.Join(dir, "good.yaml")
	require.NoError(t, os.WriteFile(good, []byte("mysql:\n  addr: 0.0.0.0:3306\n"), 0o600))
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{"version", 0, []string{"skarv "}},
		{"--version", 0, []string{"skarv "}},
		{"--help", 0, []string{"dev", "serve", "node", "version"}},
		{"", 0, []string{"Usage:"}},
		{"serv", 2, []string{"skarv: unknown command"}},
		{"version now", 2, []string{`unknown argument "now"`}},
		{"dev --nodes 3", 2, []string{"unknown flag: --nodes"}},
		{"dev --engine oracle", 2, []string{`unknown engine "oracle"`}},
		{"dev --replicas 4", 1, []string{"must be 0 to 3"}},
		{"serve --config /no/such.yaml", 1, []string{"/no/such.yaml"}},
		{"serve --check-config --config " + bad, 1, []string{"adr", "loud", "soon"}},
		{"serve --check-config --config " + good, 0, []string{"configuration is good"}},
		{"serve --print-config --config " + good, 0, []string{"addr: 0.0.0.0:3306", "plan_cache:"}},
		{"serve --print-config --admin-advertise pod-1.pods:9306 --config " + good, 0, []string{"advertise: pod-1.pods:9306"}},
		{"node", 1, []string{"data-dir", "server-id"}},
		{"node --server-id 1 --listen 0.0.0.0:0 --data-dir " + dir, 2, []string{"open to other machines"}},
		{"node --server-id 1 --tls-cert x --data-dir " + dir, 2, []string{"go together"}},
		{"node --server-id 1 --listen 127.0.0.1:0 --data-dir " + dir, 1, []string{"is not a data node's directory"}},
	} {
		cmd := skarv(strings.Fields(c.args)...)
		both, err := cmd.CombinedOutput()
		if c.status == 0 {
			require.NoError(t, err, "%s: %s", c.args, both)
		}
		require.Equal(t, c.status, cmd.ProcessState.ExitCode(), "%s: %s", c.args, both)
		for _, want := range c.want {
			require.Contains(t, string(both), want, c.args)
		}
	}
}

func TestPrintedConfigurationIsTaken(t *testing.T) {
	text, err := skarv("serve", "--print-config").Output()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "skarv.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	again, err := skarv("serve", "--print-config", "--config", file).Output()
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

func TestDevJSON(t *testing.T) {
	engine := "mariadb"
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		engine = e
	}
	dir := t.TempDir()
	cmd := skarv("dev", "--json", "--engine", engine, "--node-groups", "2", "--data-dir", dir,
		"--mysql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0")
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(out)
	line, err := r.ReadBytes('\n')
	require.NoError(t, err, problems.String())
	var info dev.Info
	require.NoError(t, json.Unmarshal(line, &info))
	require.Equal(t, cmd.Process.Pid, info.Pid)
	require.NotEmpty(t, info.MySQLAddr)
	require.NotEmpty(t, info.HTTPAddr)
	require.NotEmpty(t, info.AdminAddr)
	require.Len(t, info.NodeGroups, 2)

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, string(rest), "one line and nothing else")
	require.NoError(t, cmd.Wait())
	for _, g := range info.NodeGroups {
		require.ErrorIs(t, syscall.Kill(g.Pid, 0), syscall.ESRCH)
	}
}

func TestNodeStartsAndStops(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "n")
	cmd := skarv("node", "--initialise", "--listen", "127.0.0.1:0", "--mysql-addr", "127.0.0.1:0", "--server-id", "5", "--data-dir", dir, "--log-format", "json")
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "database server is up") {
			break
		}
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, log)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
}
